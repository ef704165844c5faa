//! Operations on definitions files, and on what a vhost's policies make of its objects.

use super::declared::{Document, VERSION_CODES, VersionText};
use super::names::Named;
use super::source::{DEFINITIONS_CODES, DefinitionsSource, STATE_CODES, StateSource, state_document};
use super::{Failure, Request};
use crate::definitions::{self, Effect, Fault, Layout, topology_text};
use crate::policy::{Policies, Source};
use crate::state::Presence;
use crate::value::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `definitions.read`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadDefinitions {
    /// The export.
    pub definitions: DefinitionsSource,
}

/// What a definitions file holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DefinitionsAnswer {
    /// `cluster`, where entries name their vhosts, or `vhost`.
    pub layout: &'static str,
    /// The product that wrote it.
    pub product: String,
    /// The version that wrote it, where the file says so.
    pub rabbitmq: Option<String>,
    /// Its vhosts, sorted.
    pub vhosts: Vec<String>,
    /// Entries that cannot be read: `{"code", "section", "index", "vhost", "name", "message", "at"}`.
    pub faults: Vec<Document>,
}

impl Request for ReadDefinitions {
    type Answer = DefinitionsAnswer;
    const NAME: &'static str = "definitions.read";
    const ABOUT: &'static str = "What a broker's exported definitions hold, and every entry that cannot be read.";
    const CODES: &'static [&'static [&'static str]] = &[DEFINITIONS_CODES];

    fn answer(self) -> Result<DefinitionsAnswer, Failure> {
        let read = self.definitions.read()?;
        Ok(DefinitionsAnswer {
            layout: match read.layout() {
                Layout::Cluster => "cluster",
                Layout::SingleVhost => "vhost",
            },
            product: read.broker().product.name().to_owned(),
            rabbitmq: read.broker().version.map(|version| version.to_string()),
            vhosts: read.vhosts().into_iter().map(str::to_owned).collect(),
            faults: read.faults().iter().map(|fault: &Fault| Document::of(fault)).collect(),
        })
    }
}

/// `definitions.state`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadState {
    /// The vhost.
    pub state: StateSource,
}

impl Request for ReadState {
    type Answer = Document;
    const NAME: &'static str = "definitions.state";
    const ABOUT: &'static str = "Everything that one vhost holds, acemq.state/1.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<Document, Failure> {
        Ok(state_document(&self.state.state()?))
    }
}

/// `definitions.to_topology`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DefinitionsToTopology {
    /// The vhost.
    pub state: StateSource,
}

/// A topology document.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenTopology {
    /// The document, YAML.
    pub text: String,
    /// What has no place in it, as sentences.
    pub left_out: Vec<String>,
}

impl Request for DefinitionsToTopology {
    type Answer = WrittenTopology;
    const NAME: &'static str = "definitions.to_topology";
    const ABOUT: &'static str = "The topology document that stands for everything in a vhost.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<WrittenTopology, Failure> {
        let written = topology_text(&self.state.state()?);
        Ok(WrittenTopology { text: written.text, left_out: written.left_out })
    }
}

/// `topology.to_definitions`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TopologyToDefinitions {
    /// The vhost.
    pub state: StateSource,
}

/// A definitions file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WrittenDefinitions {
    /// The document, as a broker imports it.
    pub definitions: Document,
}

impl Request for TopologyToDefinitions {
    type Answer = WrittenDefinitions;
    const NAME: &'static str = "topology.to_definitions";
    const ABOUT: &'static str = "The definitions that a broker imports to hold what a vhost holds.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<WrittenDefinitions, Failure> {
        let text = definitions::write(&[&self.state.state()?]);
        Ok(WrittenDefinitions { definitions: Document::read(&text) })
    }
}

/// `definitions.preview`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewImport {
    /// The file that would be imported.
    pub definitions: DefinitionsSource,
    /// The RabbitMQ version of the broker; the newest known one unless said.
    pub rabbitmq: Option<VersionText>,
    /// The vhosts that the broker has; none is a fresh broker, which has `/`.
    #[serde(default)]
    pub there: Vec<StateSource>,
}

/// What an import would not simply create.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ImportPreview {
    /// In the order of the file: `{"outcome": "refused|skipped|changed", "vhost", "message", "at"}`.
    pub effects: Vec<Document>,
}

impl Request for PreviewImport {
    type Answer = ImportPreview;
    const NAME: &'static str = "definitions.preview";
    const ABOUT: &'static str = "What importing definitions would skip, refuse or change, in the order of the file.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<ImportPreview, Failure> {
        let version = VersionText::read(self.rabbitmq.as_ref())?;
        let there = self.there.into_iter().map(StateSource::state).collect::<Result<Vec<_>, _>>()?;
        let effects = definitions::preview(&self.definitions.read()?, version, &there.iter().collect::<Vec<_>>());
        Ok(ImportPreview { effects: effects.iter().map(|effect: &Effect| Document::of(effect)).collect() })
    }
}

/// `policy.effective`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EffectiveSettings {
    /// The vhost with its policies.
    pub state: StateSource,
    /// A queue or an exchange.
    pub kind: Named,
    /// Its name.
    pub name: String,
}

/// What an object really has.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EffectiveAnswer {
    /// By policy key, without `x-`.
    pub settings: BTreeMap<String, EffectiveSetting>,
    /// Why some of it cannot be told, as sentences.
    pub open: Vec<String>,
}

/// One setting.
#[derive(Debug, Serialize, JsonSchema)]
pub struct EffectiveSetting {
    /// The value; `null` when it cannot be told.
    pub value: Option<Value>,
    /// `argument`, `policy`, `operator_policy`, `default`, or `undecided`.
    pub source: &'static str,
    /// The policy's name, where one decides.
    pub policy: Option<String>,
    /// Why that value.
    pub why: String,
}

const OBJECT_CODES: &[&str] = &["no_such_object"];

impl Request for EffectiveSettings {
    type Answer = EffectiveAnswer;
    const NAME: &'static str = "policy.effective";
    const ABOUT: &'static str =
        "What a queue or an exchange really has: arguments and policies merged, with the reasons.";
    const CODES: &'static [&'static [&'static str]] = &{
        let [source, definitions, topology, _] = STATE_CODES;
        [OBJECT_CODES, VERSION_CODES, source, definitions, topology]
    };

    fn answer(self) -> Result<EffectiveAnswer, Failure> {
        let state = self.state.state()?;
        let policies = Policies::new(&state);
        let effective = match self.kind {
            Named::Queue => match state.queue(&self.name) {
                Presence::There(queue) => policies.effective(queue),
                Presence::Absent | Presence::Unknown => return Err(missing("queue", &self.name)),
            },
            Named::Exchange => match state.exchange(&self.name) {
                Presence::There(exchange) => policies.effective_exchange(&exchange),
                Presence::Absent | Presence::Unknown => return Err(missing("exchange", &self.name)),
            },
        };
        let settings = effective.settings.into_iter().map(|(key, setting)| {
            let (source, policy) = match setting.source {
                Source::Argument => ("argument", None),
                Source::Policy(name) => ("policy", Some(name)),
                Source::OperatorPolicy(name) => ("operator_policy", Some(name)),
                Source::Default => ("default", None),
                Source::Undecided => ("undecided", None),
            };
            (key, EffectiveSetting { value: setting.value, source, policy, why: setting.why })
        });
        Ok(EffectiveAnswer { settings: settings.collect(), open: effective.open })
    }
}

fn missing(kind: &str, name: &str) -> Failure {
    let sentence = format!("the vhost has no {kind} \"{}\"", crate::name::shown(name));
    Failure::one("no_such_object", sentence, "name one of its own").with("kind", kind).with("name", name)
}
