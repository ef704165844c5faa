//! `simulate`: a timeline of messages and failures, played on the embedded broker.

use crate::cli::SimulateArguments;
use crate::failure::{DIFFERS, Failure};
use crate::input;
use crate::output::{Report, json};
use acemq_core::embedded::scenario::{Base, Scenario};
use acemq_core::topology::{Format, shown_name};
use std::path::Path;

/// Plays a scenario. Exit code 3 when a step of it failed.
pub fn simulate(arguments: &SimulateArguments) -> Result<Report, Failure> {
    let bytes = input::read(&arguments.file)?;
    let placed = |error| Failure::input(format!("{}: {error}", shown_name(&arguments.file)));
    let mut scenario = Scenario::parse(&bytes, Format::of_file(&arguments.file)).map_err(placed)?;
    if let Some(version) = arguments.rabbitmq {
        scenario = scenario.for_version(version);
    }
    let base = match scenario.topology_file() {
        None => Base::Own,
        Some(file) => {
            // A scenario names its topology from where it lies itself.
            let folder = Path::new(&arguments.file).parent().filter(|_| arguments.file != "-");
            let path =
                folder.map_or_else(|| file.to_owned(), |folder| folder.join(file).to_string_lossy().into_owned());
            Base::State(Box::new(input::state_of_file(&path, None, Some(scenario.version()))?))
        }
    };
    let report = scenario.play(base).map_err(placed)?;
    let code = if report.failed > 0 { DIFFERS } else { 0 };
    let text = if arguments.format.is_json() { json(&report) } else { report.to_string() };
    Ok(Report::done(text).with_code(code))
}
