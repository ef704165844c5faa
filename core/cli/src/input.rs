//! Reading the files that a command is given.

use crate::broker::Target;
use crate::cli::{BrokerArguments, StateArguments, VhostsArgument, WantedArguments};
use crate::failure::Failure;
use crate::vhosts;
use acemq_core::definitions::{self, Definitions, DefinitionsError, Overrides};
use acemq_core::embedded::EmbeddedBroker;
use acemq_core::rabbitmq::{Conditions, Version};
use acemq_core::state::State;
use acemq_core::topology::{
    DeclaredAt, Format, Problem, ProblemCode, Severity, Suppression, Tables, Topology, shown_name,
};
use std::io::{Read as _, Write as _};
use std::rc::Rc;

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
    without_problems(file, topology(file, json)?, json)
}

fn without_problems(file: &str, topology: Topology, json: bool) -> Result<Tables, Failure> {
    topology.into_tables().map_err(|problems| {
        let errors: Vec<_> = problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        Failure::problems(file, &errors, json)
    })
}

/// The tables that are wanted: of a topology document without problems, or of what another broker holds.
pub fn wanted(wanted: &WantedArguments, broker: &BrokerArguments, json: bool) -> Result<Tables, Failure> {
    let file = wanted.file.as_str();
    let vhost = wanted.from_vhost.as_deref();
    if is_management(file) {
        return tables_of(&crate::live::state_at(file, vhost.unwrap_or("/"), broker)?);
    }
    match Source::read(file)? {
        Source::Topology(_) if vhost.is_some() => Err(Failure::input(format!(
            "--from-vhost goes with a definitions export or a management API; {} is a topology document",
            shown_name(file)
        ))),
        Source::Topology(topology) => without_problems(file, topology, json),
        Source::Definitions(definitions) => {
            let state = definitions.state(vhost, &Overrides::default());
            tables_of(&state.map_err(|error| cannot_choose(file, "--from-vhost", error))?)
        }
        Source::Neither(problems) => Err(Failure::problems(file, &problems, json)),
    }
}

/// The tables that declare again what a vhost holds. What has no place in a topology is named on standard error.
fn tables_of(state: &State) -> Result<Tables, Failure> {
    let document = definitions::topology_text(state);
    for sentence in document.left_out {
        let _ = writeln!(std::io::stderr(), "acemq: left out: {sentence}");
    }
    let vhost = format!("the vhost {} of {}", shown_name(&state.vhost), state.broker);
    Topology::from_yaml(&document.text).and_then(Topology::into_tables).map_err(|problems| {
        let errors: Vec<_> = problems.into_iter().filter(|problem| problem.severity == Severity::Error).collect();
        Failure::problems(&vhost, &errors, false)
    })
}

/// What a file turned out to be.
enum Source {
    Topology(Topology),
    Definitions(Box<Definitions>),
    Neither(Vec<Problem>),
}

impl Source {
    fn read(file: &str) -> Result<Self, Failure> {
        Self::of(file, &read(file)?)
    }

    fn of(file: &str, bytes: &[u8]) -> Result<Self, Failure> {
        let problems = match Topology::parse(bytes, Format::of_file(file)) {
            Ok(topology) => return Ok(Self::Topology(topology)),
            Err(problems) => problems,
        };
        if !problems.iter().any(|problem| problem.code == ProblemCode::DocumentNotATopology) {
            return Ok(Self::Neither(problems));
        }
        let definitions = definitions::read(bytes);
        let definitions = definitions.map_err(|error| Failure::input(format!("{}: {error}", shown_name(file))))?;
        Ok(Self::Definitions(Box::new(definitions)))
    }
}

fn is_management(file: &str) -> bool {
    file.starts_with("http://") || file.starts_with("https://")
}

/// The options that choose one vhost of an export, or several.
const ONE_OR_SEVERAL: &str = "--vhost, or several (all: '*') with --vhosts";

fn cannot_choose(file: &str, option: &str, error: DefinitionsError) -> Failure {
    const SHOWN: usize = 10;
    let file = shown_name(file);
    match error {
        DefinitionsError::VhostNotChosen { vhosts } => Failure::input(format!(
            "{file}: the definitions hold {} vhosts, choose one with {option}: {}{}",
            vhosts.len(),
            vhosts.iter().take(SHOWN).map(|vhost| shown_name(vhost).into_owned()).collect::<Vec<_>>().join(", "),
            if vhosts.len() > SHOWN { ", …" } else { "" }
        )),
        error => Failure::input(format!("{file}: {error}")),
    }
}

/// The vhost that a topology document declares, that a definitions export holds, or that a broker has.
pub fn state(arguments: &StateArguments) -> Result<State, Failure> {
    look_by(arguments, "--vhost").map(|looked| looked.state)
}

/// The vhost that a topology document declares or that a definitions export holds.
pub fn state_of_file(file: &str, vhost: Option<&str>, version: Option<Version>) -> Result<State, Failure> {
    look_into_file(file, vhost, version, "--vhost").map(|looked| looked.state)
}

/// A vhost that was looked into, and what is known about where it comes from.
pub struct Looked {
    pub state: State,
    /// Whether it is only part of what a vhost will hold: what one topology document declares.
    pub partial: bool,
    /// Findings that the document says are meant.
    pub suppress: Vec<Suppression>,
    /// Where its objects stand in the file; read when somebody asks.
    origin: Origin,
    /// The file, unless it is standard input or a broker.
    pub file: Option<String>,
}

enum Origin {
    Broker,
    Topology { bytes: Vec<u8>, format: Format, tables: Box<Tables> },
    Definitions { definitions: Rc<Definitions>, vhost: Option<String> },
}

impl Looked {
    fn at_broker(state: State) -> Self {
        Self { state, partial: false, suppress: Vec::new(), origin: Origin::Broker, file: None }
    }

    fn of_definitions(
        file: &str,
        definitions: Rc<Definitions>,
        vhost: Option<&str>,
        version: Option<Version>,
        option: &str,
    ) -> Result<Self, Failure> {
        let overrides = Overrides { version, default_queue_type: None };
        let state = definitions.state(vhost, &overrides).map_err(|error| cannot_choose(file, option, error))?;
        let origin = Origin::Definitions { definitions, vhost: vhost.map(str::to_owned) };
        Ok(Self { state, partial: false, suppress: Vec::new(), origin, file: name_of(file) })
    }

    /// Where the file declares each object.
    pub fn declared_at(&self) -> DeclaredAt {
        match &self.origin {
            Origin::Broker => DeclaredAt::default(),
            Origin::Topology { bytes, format, tables } => {
                DeclaredAt::of_document(bytes, *format).unwrap_or_default().with_derived(tables)
            }
            Origin::Definitions { definitions, vhost } => definitions.declared_at(vhost.as_deref()),
        }
    }
}

/// As [`state`], with its origin, for a command that takes several vhosts as well.
pub fn look(arguments: &StateArguments) -> Result<Looked, Failure> {
    look_by(arguments, ONE_OR_SEVERAL)
}

fn look_by(arguments: &StateArguments, option: &str) -> Result<Looked, Failure> {
    let broker = &arguments.broker;
    let vhost = broker.vhost.as_deref();
    let Some(file) = arguments.file.as_deref() else {
        if !broker.is_given() {
            return Err(Failure::input(
                "which vhost? give a topology document or a definitions export, or --management for a live broker",
            ));
        }
        return Ok(Looked::at_broker(Target::resolve(broker, None)?.state()?));
    };
    if is_management(file) {
        return Ok(Looked::at_broker(crate::live::state_at(file, vhost.unwrap_or("/"), broker)?));
    }
    look_into_file(file, vhost, broker.rabbitmq, option)
}

/// A vhost that will be looked into.
pub struct Look<'a> {
    /// Its name.
    pub vhost: String,
    look: Looking<'a>,
}

/// How a vhost of that name is looked into.
type Looking<'a> = Box<dyn FnOnce(&str) -> Result<Looked, Failure> + 'a>;

impl<'a> Look<'a> {
    fn each(names: Vec<String>, look: impl Fn(&str) -> Result<Looked, Failure> + Clone + 'a) -> Vec<Self> {
        names.into_iter().map(|vhost| Self { vhost, look: Box::new(look.clone()) }).collect()
    }

    /// Its name, and what is in it or why it cannot be had.
    pub fn now(self) -> (String, Result<Looked, Failure>) {
        let looked = (self.look)(&self.vhost);
        (self.vhost, looked)
    }
}

/// As [`look`], in each of the vhosts that `--vhosts` means; `None` where it is not given.
pub fn look_into_each<'a>(
    arguments: &'a StateArguments,
    several: &VhostsArgument,
) -> Result<Option<Vec<Look<'a>>>, Failure> {
    let (broker, patterns) = (&arguments.broker, &several.vhosts);
    let Some(file) = arguments.file.as_deref() else {
        let choices = vhosts::chosen(several, broker)?;
        let look = |vhosts::Choice { vhost, target }| Look {
            vhost,
            look: Box::new(move |_: &str| target?.state().map(Looked::at_broker)),
        };
        return Ok(choices.map(|choices| choices.into_iter().map(look).collect()));
    };
    if patterns.is_empty() {
        return Ok(None);
    }
    if is_management(file) {
        let names = vhosts::select(patterns, &crate::live::vhosts_at(file, broker)?)?;
        return Ok(Some(Look::each(names, |vhost| crate::live::state_at(file, vhost, broker).map(Looked::at_broker))));
    }
    match Source::read(file)? {
        Source::Topology(_) => Err(Failure::input(format!(
            "--vhosts goes with a definitions export or a management API; {} is a topology document, which names no vhost",
            shown_name(file)
        ))),
        Source::Neither(problems) => Err(Failure::problems(file, &problems, false)),
        Source::Definitions(definitions) => {
            let there: Vec<String> = definitions.vhosts().into_iter().map(str::to_owned).collect();
            let names = vhosts::select(patterns, &there)?;
            let definitions: Rc<Definitions> = Rc::from(definitions);
            let of = move |vhost: &str| {
                let option = ONE_OR_SEVERAL;
                Looked::of_definitions(file, Rc::clone(&definitions), Some(vhost), broker.rabbitmq, option)
            };
            Ok(Some(Look::each(names, of)))
        }
    }
}

fn look_into_file(file: &str, vhost: Option<&str>, version: Option<Version>, option: &str) -> Result<Looked, Failure> {
    let bytes = read(file)?;
    match Source::of(file, &bytes)? {
        Source::Topology(topology) => {
            let mut tables = Box::new(without_problems(file, topology, false)?);
            let suppress = std::mem::take(&mut tables.suppressions);
            let state = declared(file, &tables, version.unwrap_or(Version::NEWEST))?;
            let origin = Origin::Topology { bytes, format: Format::of_file(file), tables };
            Ok(Looked { state, partial: true, suppress, origin, file: name_of(file) })
        }
        Source::Definitions(definitions) => Looked::of_definitions(file, Rc::from(definitions), vhost, version, option),
        Source::Neither(problems) => Err(Failure::problems(file, &problems, false)),
    }
}

/// The file, where it has a name.
fn name_of(file: &str) -> Option<String> {
    (file != "-").then(|| file.to_owned())
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
