//! One function for each command.

mod apply;
mod audit;
mod conformance;
mod document;
mod drift;
mod explain;
mod graph;
mod matching;
mod plan;
mod retry;
mod route;
mod self_description;
mod simulate;

use crate::cli::Command;
use crate::failure::Failure;
use crate::output::Report;

/// Runs a command.
pub fn run(command: Command) -> Result<Report, Failure> {
    match command {
        Command::Check(arguments) => document::check(&arguments),
        Command::Show(arguments) => document::show(&arguments),
        Command::Tables(arguments) => document::tables(&arguments),
        Command::Retry(arguments) => retry::retry(&arguments),
        Command::Plan(arguments) => plan::plan(&arguments),
        Command::Apply(arguments) => apply::apply(&arguments),
        Command::Drift(arguments) => drift::drift(&arguments),
        Command::Match(arguments) => matching::matching(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Route(arguments) => route::route(&arguments),
        Command::Audit(arguments) => audit::audit(&arguments),
        Command::Graph(arguments) => graph::graph(&arguments),
        Command::Simulate(arguments) => simulate::simulate(&arguments),
        Command::Conformance(arguments) => conformance::conformance(&arguments),
        Command::Migrate(command) => crate::migrate::migrate(&command),
        Command::Schema => self_description::schema(),
        Command::Completions { shell } => self_description::completions(shell),
        Command::Man => self_description::man(),
    }
}
