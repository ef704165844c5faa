//! `migrate`: replacing live queues by versioned files.

use crate::broker::Target;
use crate::cli::{BrokerArguments, FormatArgument};
use crate::failure::{BAD_INPUT, DIFFERS, Failure, STOPPED};
use crate::input;
use crate::live::Address;
use crate::output::{Report, json};
use acemq_core::migration::{FileName, MigrationError, MigrationFile, MigrationPlan};
use acemq_core::topology::{Format, shown_name};
use acemq_migrate::{Ending, Progress};
use clap::{Args, Subcommand};
use std::io::Write as _;
use std::path::Path;

/// What to do with migrations.
#[derive(Debug, Subcommand)]
pub enum MigrateCommand {
    /// Print the steps of a migration, the proof that they lose and double nothing, and how many are done; changes nothing
    Plan(PlanArguments),
    /// Replace the queue: every step checked before and verified after; may be repeated, and goes on where the broker says
    Run(PlanArguments),
}

/// A migration file and a broker.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// Migration file, such as V42__orders_to_quorum.yaml; - for standard input
    pub file: String,
    #[command(flatten)]
    pub broker: BrokerArguments,
    #[command(flatten)]
    pub format: FormatArgument,
}

/// Runs a command.
pub fn migrate(command: &MigrateCommand) -> Result<Report, Failure> {
    match command {
        MigrateCommand::Plan(arguments) => plan(arguments),
        MigrateCommand::Run(arguments) => run(arguments),
    }
}

/// The plan; exit code 3 when the migration must not run.
fn plan(arguments: &PlanArguments) -> Result<Report, Failure> {
    let file = read(&arguments.file)?;
    let state = Target::resolve(&arguments.broker, None)?.state()?;
    let plan = MigrationPlan::new(&file, &state).map_err(|error| refused(&arguments.file, &error))?;
    let text = if arguments.format.is_json() { json(&plan.to_json()) } else { plan.to_text() };
    Ok(Report::done(text).with_code(if plan.refusal().is_some() { DIFFERS } else { 0 }))
}

/// The migration, run. Exit code 3 when it must not go on, 6 when it is to be run again.
fn run(arguments: &PlanArguments) -> Result<Report, Failure> {
    let file = read(&arguments.file)?;
    let is_json = arguments.format.is_json();
    let mut lines = String::new();
    let ending = Address::of(&arguments.broker)?.migrate(&file, |progress| match progress {
        Progress::Step { number, of, action } if is_json => {
            let line = serde_json::json!({ "step": number, "of": of, "did": action });
            lines.push_str(&format!("{line}\n"));
        }
        Progress::Step { number, of, action } => lines.push_str(&format!("{number}/{of}  {action}\n")),
        Progress::Left { messages } => {
            let _ = writeln!(std::io::stderr(), "{messages} messages left");
        }
        Progress::Note(note) => {
            let _ = writeln!(std::io::stderr(), "note: {note}");
        }
    });
    let (outcome, why) = match ending {
        Ok(Ending::Finished) => ("finished", String::new()),
        Ok(Ending::Waiting(why)) => ("waiting", why),
        Ok(Ending::Stopped(why)) => ("stopped", why),
        Err(failure) => return Err(Failure { document: Some(lines), ..failure }),
    };
    if is_json {
        lines.push_str(&format!("{}\n", serde_json::json!({ "outcome": outcome, "why": why })));
    }
    let code = match outcome {
        "finished" => {
            if !is_json {
                lines.push_str("finished: every step is done\n");
            }
            return Ok(Report::done(lines));
        }
        "waiting" => STOPPED,
        _ => DIFFERS,
    };
    Err(Failure { document: Some(lines), ..Failure::with_code(why, code) })
}

/// A migration file, its name checked as well.
fn read(file: &str) -> Result<MigrationFile, Failure> {
    if file != "-" {
        let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        FileName::parse(&name).map_err(Failure::input)?;
    }
    let text = String::from_utf8(input::read(file)?)
        .map_err(|_| Failure::input(format!("{}: the file is not UTF-8; save it as UTF-8", shown_name(file))))?;
    MigrationFile::parse(&text, Format::of_file(file)).map_err(|error| refused(file, &error))
}

/// `V42__a.yaml:4:5: sentence; way out`
fn refused(file: &str, error: &MigrationError) -> Failure {
    let place = match &error.at {
        Some(at) => format!("{}:{}:{}", shown_name(file), at.line, at.column),
        None => shown_name(file).into_owned(),
    };
    Failure::with_code(format!("{place}: {error}"), BAD_INPUT)
}
