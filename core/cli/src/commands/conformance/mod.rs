//! `conformance`: lists, runs and exports the fixtures that every library in every language has to pass.

mod adapter;
mod fixtures;
mod report;

use crate::cli::{ConformanceArguments, ConformanceCommand, ConformanceExport, ConformanceList, ConformanceRun};
use crate::failure::Failure;
use crate::output::{Report, json};
use acemq_core::api;
use adapter::Adapter;
use fixtures::Fixtures;
use report::{Outcome, RunReport};
use serde_json::Value as Json;

/// The three things that can be done with fixtures.
pub fn conformance(arguments: &ConformanceArguments) -> Result<Report, Failure> {
    match &arguments.command {
        ConformanceCommand::List(arguments) => list(arguments),
        ConformanceCommand::Run(arguments) => run(arguments),
        ConformanceCommand::Export(arguments) => export(arguments),
    }
}

fn list(arguments: &ConformanceList) -> Result<Report, Failure> {
    let fixtures = Fixtures::read(arguments.from.as_deref())?;
    if arguments.format.is_json() {
        return Ok(Report::done(json(&fixtures.listed())));
    }
    Ok(Report::done(fixtures.to_text()))
}

fn run(arguments: &ConformanceRun) -> Result<Report, Failure> {
    let mut fixtures = Fixtures::read(arguments.from.as_deref())?;
    fixtures.keep(&arguments.suite, &arguments.case)?;
    let outcomes = if arguments.adapter.is_empty() {
        fixtures.cases().map(|(operation, case)| Outcome::of(case, in_process(operation, case))).collect()
    } else {
        Adapter::new(&arguments.adapter, arguments.timeout, arguments.open)?.run(&fixtures)?
    };
    let report = RunReport::new(&fixtures, &arguments.adapter, outcomes);
    let text = if arguments.format.is_json() { json(&report) } else { report.to_string() };
    Ok(Report::done(text).with_code(report.exit_code(arguments.strict)))
}

/// The engine's own answer.
fn in_process(operation: &str, case: &api::Case) -> report::Answer {
    match api::call(operation, case.input.get()) {
        Ok(output) => match serde_json::from_str(&output) {
            Ok(output) => report::Answer::Output(output),
            Err(error) => report::Answer::Nothing(format!("the output is no JSON: {error}")),
        },
        Err(failure) => report::Answer::Error(serde_json::to_value(&failure).unwrap_or(Json::Null)),
    }
}

fn export(arguments: &ConformanceExport) -> Result<Report, Failure> {
    let written = fixtures::export(&arguments.folder)?;
    Ok(Report::done(format!("wrote {written} files to {}\n", acemq_core::topology::shown_name(&arguments.folder))))
}
