//! Reading the files that a command is given.

use crate::failure::Failure;
use acemq_core::definitions::{self, DefinitionsError, Overrides};
use acemq_core::embedded::EmbeddedBroker;
use acemq_core::rabbitmq::{Conditions, Version};
use acemq_core::state::State;
use acemq_core::topology::{Format, ProblemCode, Severity, Tables, Topology, shown_name};
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

/// The vhost that a topology document declares, that a definitions export holds, or that a broker has.
pub fn state(file: &str, vhost: Option<&str>, version: Option<Version>) -> Result<State, Failure> {
    if file.starts_with("http://") || file.starts_with("https://") {
        return crate::live::state(file, vhost.unwrap_or("/"));
    }
    let bytes = read(file)?;
    let problems = match Topology::parse(&bytes, Format::of_file(file)).and_then(Topology::into_tables) {
        Ok(tables) => return declared(file, &tables, version.unwrap_or(Version::NEWEST)),
        Err(problems) => problems,
    };
    if !problems.iter().any(|problem| problem.code == ProblemCode::DocumentNotATopology) {
        return Err(Failure::problems(file, &problems, false));
    }
    let overrides = Overrides { version, default_queue_type: None };
    definitions::read(&bytes).and_then(|definitions| definitions.state(vhost, &overrides)).map_err(
        |error| match error {
            DefinitionsError::VhostNotChosen { vhosts } => Failure::input(format!(
                "{}: the definitions hold {} vhosts, choose one with --vhost: {}",
                shown_name(file),
                vhosts.len(),
                vhosts.iter().map(|vhost| shown_name(vhost).into_owned()).collect::<Vec<_>>().join(", ")
            )),
            error => Failure::input(format!("{}: {error}", shown_name(file))),
        },
    )
}

/// A vhost of that version in which the topology is declared.
fn declared(file: &str, tables: &Tables, version: Version) -> Result<State, Failure> {
    let mut broker = EmbeddedBroker::new(Conditions::new(version, "/"));
    let owner = broker.connect();
    broker.declare_all(owner, tables).map_err(|refused| Failure::input(format!("{}: {refused}", shown_name(file))))?;
    let mut state = broker.state();
    state.policies.clone_from(&tables.policies);
    Ok(state)
}
