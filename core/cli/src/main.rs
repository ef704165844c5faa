//! The command `acemq`: reads a topology document, says what it means, and plans or applies it against a broker.
//!
//! Each command turns its arguments into a [`Report`](output::Report): what goes to standard output, and the exit code.
//! Everything that goes wrong is a [`Failure`](failure::Failure): one sentence for standard error, and the exit code of its
//! class. No rule about RabbitMQ stands here; those are the engine's.

mod baseline;
mod broker;
mod cli;
mod commands;
mod failure;
mod input;
mod live;
mod migrate;
mod output;
mod progress;
mod vhosts;

use clap::Parser as _;
use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match cli::Cli::try_parse() {
        Ok(arguments) => arguments,
        // `--help` and `--version` arrive here too; those are no errors.
        Err(error) => {
            let code = if error.use_stderr() { failure::BAD_INPUT } else { 0 };
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let (text, code) = match commands::run(arguments.command) {
        Ok(report) => (report.text, report.code),
        Err(failure) => {
            let _ = writeln!(std::io::stderr(), "{}", failure.message);
            (failure.document.unwrap_or_default(), failure.code)
        }
    };
    // A reader that closes the pipe early has what it wanted.
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::from(code)
}
