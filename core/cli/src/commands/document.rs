//! `check`, `show` and `tables`: what a document says, without a broker.

use crate::cli::FileArguments;
use crate::failure::{BAD_INPUT, Failure, problem_line};
use crate::input;
use crate::output::{Report, json};
use acemq_core::topology::{CheckDocument, Format, Problem, Tables, Topology};
use acemq_core::value::fingerprint;
use std::fmt::Write as _;

/// Every problem and warning. Exit code 1 when one of them is an error.
pub fn check(arguments: &FileArguments) -> Result<Report, Failure> {
    let bytes = input::read(&arguments.file)?;
    let problems = match Topology::parse(&bytes, Format::of_file(&arguments.file)) {
        Ok(topology) => topology.check(),
        Err(problems) => problems,
    };
    let text = if arguments.format.is_json() {
        json(&CheckDocument::new(&problems))
    } else {
        let mut lines: Vec<String> = problems.iter().map(|problem| problem_line(&arguments.file, problem)).collect();
        if lines.is_empty() {
            lines.push(format!("{}: no problems", acemq_core::topology::shown_name(&arguments.file)));
        }
        lines.join("\n") + "\n"
    };
    let code = if problems.iter().any(Problem::is_error) { BAD_INPUT } else { 0 };
    Ok(Report::done(text).with_code(code))
}

/// What the topology intends.
pub fn show(arguments: &FileArguments) -> Result<Report, Failure> {
    let json_wanted = arguments.format.is_json();
    let tables = input::tables(&arguments.file, json_wanted)?;
    Ok(Report::done(if json_wanted { json(&tables.to_document()) } else { tables.intent() }))
}

/// The canonical argument tables.
pub fn tables(arguments: &FileArguments) -> Result<Report, Failure> {
    let tables = input::tables(&arguments.file, arguments.format.is_json())?;
    if arguments.format.is_json() {
        return Ok(Report::done(json(&tables.to_document())));
    }
    Ok(Report::done(listing(&tables)))
}

/// A fingerprint and a canonical line for each object, the topology's own fingerprint last.
fn listing(tables: &Tables) -> String {
    let exchanges = tables.exchanges.iter().map(|exchange| exchange.declaration.canonical());
    let queues = tables.queues.iter().map(|queue| queue.declaration.canonical());
    let bindings = tables.bindings.iter().map(|binding| binding.declaration.canonical());
    let mut out = String::new();
    for line in exchanges.chain(queues).chain(bindings) {
        let _ = writeln!(out, "{}  {line}", fingerprint(line.as_bytes()));
    }
    let _ = writeln!(out, "{}  topology", tables.fingerprint());
    out
}
