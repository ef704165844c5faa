//! The arguments of the command. Their help is the man page, so it says units and defaults.

use acemq_core::audit;
use acemq_core::plan;
use acemq_core::rabbitmq::Version;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::time::Duration;

/// What a RabbitMQ topology means, and what declaring it would change.
#[derive(Debug, Parser)]
#[command(name = "acemq", version, max_term_width = 100, after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 nothing to do, or done · 1 bad input or usage · 2 only creations are left (plan) · \
3 drift, invalid, validation failed, or findings · 4 --strict and something gave no answer · 5 no broker, or it refused the \
connection · 6 stopped half-way, run again";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say everything that is wrong with a topology document
    Check(FileArguments),
    /// Print what a topology document declares, without a broker
    Show(FileArguments),
    /// Print the canonical argument tables and their fingerprints
    Tables(FileArguments),
    /// Print the schedule of a retry policy, its retry queues, or one decision
    Retry(RetryArguments),
    /// Say what declaring a topology would change; changes nothing
    Plan(PlanArguments),
    /// Declare what is missing; refuses before anything is declared when something differs
    Apply(ApplyArguments),
    /// Print only what differs from the broker
    Drift(DriftArguments),
    /// Say whether a topic pattern matches a routing key
    Match(MatchArguments),
    /// Turn a broker's refusal into the difference that it proves
    Explain(ExplainArguments),
    /// Say which queues a message reaches, and why
    Route(RouteArguments),
    /// Say what is wrong with definitions, a topology or a live broker, with the message that shows it
    Audit(AuditArguments),
    /// Draw a topology, definitions or a live vhost, with dead letters, retries and findings
    Graph(GraphArguments),
    /// Play a timeline of messages, failures and clock steps on the embedded broker
    Simulate(SimulateArguments),
    /// List, run or export the fixtures that every library in every language has to pass
    Conformance(ConformanceArguments),
    /// Replace a live queue by a versioned file: no message lost, none doubled
    #[command(subcommand)]
    Migrate(crate::migrate::MigrateCommand),
    /// Print the JSON Schema of topology documents, for editors
    Schema,
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page
    Man,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// One JSON document
    Json,
}

#[derive(Debug, Args)]
pub struct FormatArgument {
    /// How to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

impl FormatArgument {
    pub fn is_json(&self) -> bool {
        self.format == Format::Json
    }
}

#[derive(Debug, Args)]
pub struct FileArguments {
    /// Topology document, YAML or JSON; - for standard input
    pub file: String,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct RetryArguments {
    /// The policy, such as 'exponential(6, 10s, 5m)'
    pub policy: String,
    /// Also print the retry queues of this queue
    #[arg(long, value_name = "QUEUE")]
    pub queue: Option<String>,
    /// Decide after this failed attempt; the first is 1
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Age of the message in milliseconds, for the decision
    #[arg(long, value_name = "MS", requires = "attempt")]
    pub age: Option<u64>,
    /// The random number in [0,1) that jitter uses, for the decision; 0.5 unless said
    #[arg(long, value_name = "U", requires = "attempt")]
    pub u: Option<f64>,
    /// Print the whole schedule, however long
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub format: FormatArgument,
}

/// Which broker, and how it is reached.
#[derive(Debug, Args)]
pub struct BrokerArguments {
    /// Where to look: amqp(s)://USER:PASSWORD@HOST:PORT/VHOST; definitions:FILE, with ?vhost=, ?version= and
    /// ?default_queue_type= joined by &; memory: for an empty embedded broker, or memory:FILE for one that holds another
    /// document. Better set ACEMQ_BROKER than a password on the command line
    #[arg(long, env = "ACEMQ_BROKER", hide_env_values = true, value_name = "BROKER")]
    pub broker: Option<String>,
    /// The broker's management API: http(s)://USER:PASSWORD@HOST:15672. Beside amqp:// it tells exchanges, bindings and policies
    /// and sets policies; alone it is enough to plan. Better set ACEMQ_MANAGEMENT than a password on the command line
    #[arg(long, env = "ACEMQ_MANAGEMENT", hide_env_values = true, value_name = "URL")]
    pub management: Option<String>,
    /// The vhost, where only the management API is given; / unless said
    #[arg(long, value_name = "VHOST")]
    pub vhost: Option<String>,
    /// User for amqp:// and the management API, unless the URL names one
    #[arg(long, env = "ACEMQ_USERNAME", hide_env_values = true, value_name = "USER")]
    pub username: Option<String>,
    /// File that holds the password for amqp:// and the management API; or set ACEMQ_PASSWORD
    #[arg(long, env = "ACEMQ_PASSWORD_FILE", value_name = "FILE")]
    pub password_file: Option<String>,
    /// Judge by the rules of this RabbitMQ version, where no broker tells its own
    #[arg(long, value_name = "VERSION")]
    pub rabbitmq: Option<Version>,
}

impl BrokerArguments {
    /// Whether any broker is named; an empty variable names none.
    pub fn is_given(&self) -> bool {
        self.has_management() || self.broker.as_deref().is_some_and(|broker| !broker.is_empty())
    }

    /// Whether a management API is given; an empty variable is none.
    pub fn has_management(&self) -> bool {
        self.management.as_deref().is_some_and(|url| !url.is_empty())
    }
}

/// Several vhosts in one call.
#[derive(Debug, Args)]
pub struct VhostsArgument {
    /// Do it in each of these vhosts, with a result for each: names, or patterns in which * stands for any text, separated by
    /// commas. Patterns need a management API or a definitions export
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', conflicts_with = "vhost")]
    pub vhosts: Vec<String>,
}

/// The topology that is wanted.
#[derive(Debug, Args)]
pub struct WantedArguments {
    /// Topology document, YAML or JSON; - for standard input. Or what is on another broker: its definitions export, or its
    /// management API at http(s)://…
    pub file: String,
    /// Which vhost of the other broker, where FILE names one or a definitions export of several vhosts
    #[arg(long, value_name = "VHOST")]
    pub from_vhost: Option<String>,
}

/// A vhost to look into: of a file, or of a live broker in its place.
#[derive(Debug, Args)]
pub struct StateArguments {
    /// Topology document or definitions export, - for standard input; or http(s)://…, a broker's management API. Left out, the
    /// broker of --management or --broker is looked into
    pub file: Option<String>,
    #[command(flatten)]
    pub broker: BrokerArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Report; nothing counts as a failure
    #[value(alias = "dry_run")]
    DryRun,
    /// Anything that differs or is invalid counts as a failure
    #[value(alias = "create_only")]
    CreateOnly,
    /// Anything missing counts as a failure too
    Validate,
}

impl From<Mode> for plan::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::DryRun => Self::DryRun,
            Mode::CreateOnly => Self::CreateOnly,
            Mode::Validate => Self::Validate,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// A labelled line an object
    Plan,
    /// One line an object that says everything about it
    Lines,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Extra {
    /// List every object that is there and not asked for, whoever it belongs to
    All,
}

#[derive(Debug, Args)]
pub struct PlanArguments {
    #[command(flatten)]
    pub wanted: WantedArguments,
    #[command(flatten)]
    pub broker: BrokerArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// What counts as a failure
    #[arg(long, value_enum, default_value_t = Mode::CreateOnly)]
    pub mode: Mode,
    /// How to write the plan
    #[arg(long, value_enum, default_value_t = Style::Plan)]
    pub style: Style,
    /// Ask about exchanges too
    #[arg(long)]
    pub exchanges: bool,
    /// List foreign objects instead of counting them
    #[arg(long, value_enum)]
    pub extra: Option<Extra>,
    /// Wrap lines at this many columns
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
    /// Exit with 4 when something that could be asked gave no answer
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct ApplyArguments {
    #[command(flatten)]
    pub wanted: WantedArguments,
    #[command(flatten)]
    pub broker: BrokerArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// What to do: create what is missing, or only report (dry-run), or only validate
    #[arg(long, value_enum, default_value_t = Mode::CreateOnly)]
    pub mode: Mode,
    /// Apply the rest of a topology whose policies cannot be set
    #[arg(long)]
    pub without_policies: bool,
    /// Set policies that are there with another definition
    #[arg(long)]
    pub update_policies: bool,
    /// Refuse, with exit code 4, when something that could be asked gave no answer
    #[arg(long)]
    pub strict: bool,
    /// Wrap lines at this many columns
    #[arg(long, value_name = "COLUMNS")]
    pub width: Option<usize>,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct DriftArguments {
    #[command(flatten)]
    pub wanted: WantedArguments,
    #[command(flatten)]
    pub broker: BrokerArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// Exit with 4 when something that could be asked gave no answer
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct MatchArguments {
    /// Topic pattern, such as 'orders.*.eu'
    #[arg(required_unless_present = "pairs")]
    pub pattern: Option<String>,
    /// Routing key
    #[arg(required_unless_present = "pairs")]
    pub key: Option<String>,
    /// Read JSON lines ["PATTERN", "KEY"] from this file, - for standard input, and print one answer a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pattern", "key"])]
    pub pairs: Option<String>,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The refusal, from a log, an exception or the management API; - or nothing reads one a line from standard input
    pub text: Option<String>,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct RouteArguments {
    #[command(flatten)]
    pub state: StateArguments,
    /// Exchange that the message is published to; empty for the default exchange
    #[arg(long, value_name = "EXCHANGE")]
    pub exchange: String,
    /// Routing key
    #[arg(long, value_name = "KEY", default_value = "")]
    pub key: String,
    /// A header with a text value; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub header: Vec<String>,
    /// Headers with types, such as '{"size": 5, "at": {"@T": 1700000000}}'
    #[arg(long, value_name = "JSON")]
    pub headers: Option<String>,
    /// Print the way of every copy, and what came near
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Severity {
    /// Messages are lost, held up, or refused
    Error,
    /// Messages can be lost, doubled or held up
    Warning,
    /// Worth knowing
    Info,
}

impl From<Severity> for audit::Severity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Info => Self::Info,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AuditFormat {
    /// For people
    Text,
    /// One JSON document
    Json,
    /// SARIF 2.1.0, for code scanning and editors
    Sarif,
}

#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(flatten)]
    pub state: StateArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// Also say what an upgrade to this RabbitMQ version will refuse, ignore or change
    #[arg(long, value_name = "VERSION")]
    pub target: Option<Version>,
    /// Exit with 3 when a finding is this severe, or more
    #[arg(long, value_enum, default_value_t = Severity::Error)]
    pub severity: Severity,
    /// Print only findings that are that severe
    #[arg(long)]
    pub quiet: bool,
    /// Findings that are known, from --write-baseline: only others are printed and count for the exit code
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<String>,
    /// Write everything that is found now as known; what the file says of other vhosts stays
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    pub write_baseline: Option<String>,
    /// Print also the findings that the document suppresses, with their reasons
    #[arg(long)]
    pub show_suppressed: bool,
    /// Print what a code of a finding means, or every code with its severity, and nothing else
    #[arg(long, value_name = "CODE", conflicts_with = "file", num_args = 0..=1)]
    pub explain: Option<Option<String>>,
    /// How to print
    #[arg(long, value_enum, default_value_t = AuditFormat::Text)]
    pub format: AuditFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Picture {
    /// For Graphviz
    Dot,
    /// For Mermaid
    Mermaid,
    /// A picture
    Svg,
    /// A page with a search and the findings; needs no network
    Html,
}

#[derive(Debug, Args)]
pub struct GraphArguments {
    #[command(flatten)]
    pub state: StateArguments,
    #[command(flatten)]
    pub several: VhostsArgument,
    /// What to draw for
    #[arg(long, value_enum, default_value_t = Picture::Dot)]
    pub format: Picture,
    /// Draw every queue and exchange, however many there are; else those of one shape are drawn as one
    #[arg(long)]
    pub all: bool,
    /// Also mark what an upgrade to this RabbitMQ version will refuse, ignore or change
    #[arg(long, value_name = "VERSION")]
    pub target: Option<Version>,
}

#[derive(Debug, Args)]
pub struct SimulateArguments {
    /// Scenario, YAML or JSON; - for standard input
    pub file: String,
    /// Play by the rules of this RabbitMQ version, whatever the scenario says
    #[arg(long, value_name = "VERSION")]
    pub rabbitmq: Option<Version>,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct ConformanceArguments {
    #[command(subcommand)]
    pub command: ConformanceCommand,
}

#[derive(Debug, Subcommand)]
pub enum ConformanceCommand {
    /// List the suites with their operations and how many cases they have
    List(ConformanceList),
    /// Run the cases through the engine, or through a library whose adapter is named behind --
    Run(ConformanceRun),
    /// Write the suites, their index and schemas into a folder
    Export(ConformanceExport),
}

#[derive(Debug, Args)]
pub struct ConformanceList {
    /// Fixtures from here instead of those inside the command: a folder with an index.json, or one suite
    #[arg(long, value_name = "PATH")]
    pub from: Option<String>,
    #[command(flatten)]
    pub format: FormatArgument,
}

#[derive(Debug, Args)]
pub struct ConformanceRun {
    /// Fixtures from here instead of those inside the command: a folder with an index.json, or one suite
    #[arg(long, value_name = "PATH")]
    pub from: Option<String>,
    /// Only this suite; may be given several times
    #[arg(long, value_name = "SUITE")]
    pub suite: Vec<String>,
    /// Only this case; may be given several times
    #[arg(long, value_name = "ID")]
    pub case: Vec<String>,
    /// How long an adapter may be silent while a case is open
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration)]
    pub timeout: Duration,
    /// How many cases an adapter is given before it has answered
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub open: usize,
    /// Exit with 4 when the library does not support a case
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub format: FormatArgument,
    /// The adapter's command: it reads {"id","operation","input"} line by line and answers each with a line {"id","output"},
    /// {"id","error":{"code"}} or {"id","unsupported":true}
    #[arg(last = true, value_name = "ADAPTER")]
    pub adapter: Vec<String>,
}

#[derive(Debug, Args)]
pub struct ConformanceExport {
    /// The folder; it is made where it is missing, files of the same names are replaced
    pub folder: String,
}

/// A duration as documents write it.
fn duration(text: &str) -> Result<Duration, String> {
    acemq_core::retry::parse_duration(text).map(Duration::from_millis).map_err(|error| error.to_string())
}
