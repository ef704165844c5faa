//! `migrate`: replacing live queues by versioned files, with a history of what ran where.

mod folder;
mod memory;
mod new;
mod places;
mod records;
mod run;
mod teller;

use crate::cli::{BrokerArguments, FormatArgument, VhostsArgument};
use crate::failure::Failure;
use crate::output::Report;
use acemq_migrate::history::Keeping;
use clap::{Args, Subcommand};

/// What to do with migrations.
#[derive(Debug, Subcommand)]
pub enum MigrateCommand {
    /// Print the steps of what would run, the proof that they lose and double nothing, and how many are done; changes nothing
    Plan(PlanArguments),
    /// Run what has not run, in the order of the versions: every step checked before and verified after; may be repeated, and
    /// goes on where the broker says
    Run(RunArguments),
    /// Print the state of each version
    Status(FilesArguments),
    /// Say whether what the history says is still true: queues, exchanges and bindings. Exit code 3 when it is not
    Verify(SettingArguments),
    /// Take back the newest version that ran, wherever it is, as long as its old queue is there
    Undo(FilesArguments),
    /// Mend the records, and nothing but the records: accept files that were changed or are gone, pass over damage
    Repair(RepairArguments),
    /// Say that a version and every older one are done, where there is no history yet
    Baseline(BaselineArguments),
    /// Write the next file
    New(new::NewArguments),
}

/// Where the broker and the history are.
#[derive(Debug, Args)]
pub struct SettingArguments {
    #[command(flatten)]
    pub broker: BrokerArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// Where the history is kept: broker, which is a stream in the vhost that everybody shares, or sqlite:PATH
    #[arg(long, env = "ACEMQ_HISTORY", value_name = "WHERE", default_value = "broker")]
    pub history: String,
    /// The management API of a further node, for a cluster behind a load balancer; may be given several times
    #[arg(long, value_name = "URL")]
    pub node_management: Vec<String>,
    #[command(flatten)]
    pub format: FormatArgument,
}

impl SettingArguments {
    fn keeping(&self) -> Result<Keeping, Failure> {
        self.history.parse().map_err(|why| Failure::input(format!("--history: {why}")))
    }
}

/// Migration files, a broker and a history.
#[derive(Debug, Args)]
pub struct FilesArguments {
    /// Folder of migration files, or one file, such as V42__orders_to_quorum.yaml
    #[arg(value_name = "DIR|FILE", default_value = "migrations")]
    pub files: String,
    #[command(flatten)]
    pub setting: SettingArguments,
}

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub files: FilesArguments,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// Stop after one file
    #[arg(long)]
    pub one: bool,
}

#[derive(Debug, Args)]
pub struct RepairArguments {
    #[command(flatten)]
    pub files: FilesArguments,
    /// The cluster has another name now: take the records under its former name for its own
    #[arg(long)]
    pub cluster_renamed: bool,
}

#[derive(Debug, Args)]
pub struct BaselineArguments {
    /// The version, such as 42
    pub version: String,
    #[command(flatten)]
    pub setting: SettingArguments,
}

/// Runs a command.
pub fn migrate(command: &MigrateCommand) -> Result<Report, Failure> {
    match command {
        MigrateCommand::Plan(arguments) => run::plan(&arguments.files),
        MigrateCommand::Run(arguments) => run::run(&arguments.files, arguments.one),
        MigrateCommand::Status(arguments) => records::status(arguments),
        MigrateCommand::Verify(arguments) => records::verify(arguments),
        MigrateCommand::Undo(arguments) => run::undo(arguments),
        MigrateCommand::Repair(arguments) => records::repair(&arguments.files, arguments.cluster_renamed),
        MigrateCommand::Baseline(arguments) => records::baseline(arguments),
        MigrateCommand::New(arguments) => new::new(arguments),
    }
}
