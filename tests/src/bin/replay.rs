//! `replay FILE [--rabbitmq VERSION] [--deny-transient]`: predicts recorded answers of real brokers.
//!
//! Exit 0 when every prediction is right, 1 on a wrong one or on bad input.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command")]

use acemq_tests::replay::{Options, Recording, Report, replay};
use std::process::ExitCode;

const USAGE: &str = "usage: replay FILE [--rabbitmq VERSION] [--deny-transient]";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(report) => {
            print!("{report}");
            if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(why) => {
            eprintln!("replay: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<Report, String> {
    let (mut file, mut options) = (None, Options::default());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rabbitmq" => options.rabbitmq = Some(arguments.next().ok_or(USAGE)?),
            "--deny-transient" => options.deny_transient = true,
            option if option.starts_with('-') => return Err(format!("unknown option {option}\n{USAGE}")),
            path if file.is_none() => file = Some(path.to_owned()),
            path => return Err(format!("one file at a time, not {path} too\n{USAGE}")),
        }
    }
    let file = file.ok_or(USAGE)?;
    let bytes = std::fs::read(&file).map_err(|error| format!("{file}: {error}"))?;
    let recording = Recording::read(&bytes).map_err(|error| format!("{file}: {error}"))?;
    replay(&recording, &options).map_err(|error| format!("{file}: {error}"))
}
