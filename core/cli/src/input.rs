//! Reading the files that a command is given.

use crate::failure::Failure;
use acemq_core::topology::{Format, Severity, Tables, Topology};
use std::io::Read as _;

/// The bytes of a file, or of standard input for `-`.
pub fn read(file: &str) -> Result<Vec<u8>, Failure> {
    if file == "-" {
        let mut bytes = Vec::new();
        std::io::stdin()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::input(format!("cannot read standard input: {error}")))?;
        return Ok(bytes);
    }
    std::fs::read(file).map_err(|error| {
        let file = acemq_core::topology::shown_name(file);
        Failure::input(format!("cannot read {file}: {error}; check the name, or give - for standard input"))
    })
}

/// A topology document that can be read; its problems are not looked at yet.
pub fn topology(file: &str, json: bool) -> Result<Topology, Failure> {
    let bytes = read(file)?;
    Topology::parse(&bytes, Format::of_file(file)).map_err(|problems| Failure::problems(file, &problems, json))
}

/// The tables of a topology document without problems.
pub fn tables(file: &str, json: bool) -> Result<Tables, Failure> {
    topology(file, json)?.tables().map_err(|problems| {
        let errors: Vec<_> = problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        Failure::problems(file, &errors, json)
    })
}
