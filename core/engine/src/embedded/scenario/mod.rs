//! Scenarios: a timeline of declarations, messages, failures and clock steps, played on the embedded broker.
//!
//! ```yaml
//! rabbitmq: "4.0.5"
//! topology:
//!   queues:
//!     work: { type: classic, arguments: { x-message-ttl: 20000, x-dead-letter-exchange: "", x-dead-letter-routing-key: dead } }
//!     dead: { type: classic }
//! steps:
//!   - publish: { key: work, body: m-1 }
//!   - at: 20s
//!     expect: { work: 0, dead: [m-1], death: { message: m-1, reason: expired, queue: work, count: 1 } }
//! ```
//!
//! A message is called by its `name`, or by its body. Each step is one action; `refused: 406` says that the broker is to refuse
//! it. The [`Report`] says what each step did, where every message is and how it got there, and which expectations failed.

mod expect;
mod form;
mod play;
mod report;
mod speed;
mod stage;
mod step;
#[cfg(test)]
mod tests;
mod text;
pub(in crate::embedded) use text::describe;

pub use report::{MessageReport, QueueReport, Refusal, Report, StepOutcome, StepReport, StoryLine};
pub use stage::Stage;

use super::EmbeddedBroker;
use crate::rabbitmq::{Conditions, Version};
use crate::state::State;
use crate::topology::{Format, Position, Tables, Topology, read_as};
use form::Form;
use std::fmt;
use step::Step;

/// A scenario that was read.
#[derive(Debug, Clone)]
pub struct Scenario {
    version: Version,
    vhost: String,
    default_queue_type: Option<String>,
    /// Seconds since 1970.
    start: u64,
    topology: Option<TopologySource>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum TopologySource {
    File(String),
    Inline(Box<Tables>),
}

/// A scenario that cannot be read or played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// What is wrong and what to do.
    pub sentence: String,
    /// Where, if it can be told.
    pub at: Option<Position>,
}

impl ScenarioError {
    fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), at: None }
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.at {
            Some(at) => write!(f, "{at}: {}", self.sentence),
            None => f.write_str(&self.sentence),
        }
    }
}

impl std::error::Error for ScenarioError {}

/// What is there before the first step.
#[derive(Debug, Clone, Default)]
pub enum Base {
    /// Nothing but what the scenario's own topology declares.
    #[default]
    Own,
    /// A topology: that of the file which [`Scenario::topology_file`] names.
    Tables(Tables),
    /// A vhost as it is, from a definitions file for example.
    State(Box<State>),
}

impl Scenario {
    /// Reads a scenario, YAML or JSON.
    ///
    /// # Errors
    /// When it is no scenario: what is wrong, with line and column where they are known.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, ScenarioError> {
        let text = std::str::from_utf8(bytes)
            .map_err(|_| ScenarioError::new("the scenario is not UTF-8; save the file as UTF-8"))?;
        if text.trim().is_empty() {
            return Err(ScenarioError::new("the scenario is empty; write rabbitmq, topology and steps"));
        }
        let form: Form = read_as(text, format)
            .map_err(|(sentence, at)| ScenarioError { sentence: format!("this is no scenario: {sentence}"), at })?;
        let version = match &form.rabbitmq {
            Some(version) => version.parse().map_err(|error| ScenarioError::new(format!("rabbitmq: {error}")))?,
            None => Version::NEWEST,
        };
        let topology = match form.topology {
            None => None,
            Some(serde_json::Value::String(file)) => Some(TopologySource::File(file)),
            Some(document) => Some(TopologySource::Inline(Box::new(tables(&document, "topology")?))),
        };
        Ok(Self {
            version,
            vhost: form.vhost.unwrap_or_else(|| "/".to_owned()),
            default_queue_type: form.default_queue_type,
            start: form.start,
            topology,
            steps: step::steps(form.steps, "steps", 0)?,
        })
    }

    /// The topology file that the scenario names, relative to the scenario's own folder.
    pub fn topology_file(&self) -> Option<&str> {
        match &self.topology {
            Some(TopologySource::File(file)) => Some(file),
            _ => None,
        }
    }

    /// The RabbitMQ version that it plays by.
    pub fn version(&self) -> Version {
        self.version
    }

    /// This scenario by the rules of another version.
    #[must_use]
    pub fn for_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// This scenario in a vhost of that name.
    #[must_use]
    pub fn for_vhost(mut self, vhost: impl Into<String>) -> Self {
        self.vhost = vhost.into();
        self
    }

    /// How many steps it has.
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// Its first steps only.
    #[must_use]
    pub fn up_to(mut self, steps: usize) -> Self {
        self.steps.truncate(steps);
        self
    }

    /// Which steps expect something, as numbers from 0.
    pub fn expectations(&self) -> Vec<usize> {
        let is_expectation = |step: &Step| matches!(step.action, Some(step::Action::Expect(_)));
        self.steps.iter().enumerate().filter(|(_, step)| is_expectation(step)).map(|(number, _)| number).collect()
    }

    /// The JSON Schema of the format.
    pub fn schema() -> serde_json::Value {
        serde_json::to_value(schemars::SchemaGenerator::default().root_schema_for::<Form>()).unwrap_or_default()
    }

    /// Plays it.
    ///
    /// # Errors
    /// When it names a topology file and `base` does not hold it, and when the broker refuses the topology. A step that
    /// fails is no error: the report says so.
    pub fn play(&self, base: Base) -> Result<Report, ScenarioError> {
        self.play_on(&mut self.broker(&base), base)
    }

    /// The embedded broker that this scenario starts with.
    pub fn broker(&self, base: &Base) -> EmbeddedBroker {
        play::broker(self, base)
    }

    /// Plays it on a stage whose embedded broker is [this one](Self::broker), untouched.
    ///
    /// # Errors
    /// As [`play`](Self::play).
    pub fn play_on(&self, stage: &mut impl Stage, base: Base) -> Result<Report, ScenarioError> {
        let own = match (&self.topology, &base) {
            (Some(TopologySource::Inline(tables)), _) => Some(tables.as_ref()),
            (Some(TopologySource::File(file)), Base::Own) => {
                let sentence = format!("the topology file \"{}\" was not given", file.escape_debug());
                return Err(ScenarioError::new(sentence));
            }
            _ => None,
        };
        play::play(self, &base, own, stage)
    }

    fn conditions(&self) -> Conditions {
        let mut conditions = Conditions::new(self.version, self.vhost.clone());
        conditions.default_queue_type.clone_from(&self.default_queue_type);
        conditions
    }
}

/// The tables of a topology document inside a scenario.
fn tables(document: &serde_json::Value, place: &str) -> Result<Tables, ScenarioError> {
    let topology = Topology::from_json(&document.to_string());
    topology.and_then(Topology::into_tables).map_err(|problems| {
        let sentences: Vec<String> = problems.iter().map(|problem| problem.message.clone()).collect();
        ScenarioError::new(format!("{place}: {}", sentences.join("; ")))
    })
}
