//! What a vhost holds, as operations take it: a topology, or a broker's own definitions.

use super::declared::{Document, GivenDocument, VERSION_CODES, VersionText};
use super::topology::{TOPOLOGY_CODES, TopologySource};
use super::{Failure, FailureProblem};
use crate::definitions::{self, Definitions, DefinitionsError, Overrides};
use crate::rabbitmq::{BindingTable, Broker, ExchangeTable, PolicyDeclaration, QueueTable, QueueType};
use crate::state::State;
use crate::topology::{DeclaredAt, Format, Suppression, Tables};
use crate::value::Table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The codes of a definitions file that cannot be used.
pub(super) const DEFINITIONS_CODES: &[&str] = &[
    "definitions_empty",
    "definitions_not_utf8",
    "definitions_not_json",
    "definitions_is_a_topology",
    "not_definitions",
    "definitions_faulty",
    "vhost_not_chosen",
    "no_such_vhost",
    "unknown_queue_type",
];

/// The code of a vhost that is given twice, or not at all.
pub(super) const SOURCE_CODES: &[&str] = &["state_not_given"];

/// All codes of a [`StateSource`].
pub(super) const STATE_CODES: [&[&str]; 4] = [SOURCE_CODES, DEFINITIONS_CODES, TOPOLOGY_CODES, VERSION_CODES];

/// A definitions export, in exactly one of two forms.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DefinitionsSource {
    /// The text of the file.
    Text(String),
    /// The document itself.
    Document(GivenDocument),
}

impl DefinitionsSource {
    pub(super) fn read(self) -> Result<Definitions, Failure> {
        let text = match &self {
            Self::Text(text) => text,
            Self::Document(document) => document.text(),
        };
        Ok(definitions::read(text.as_bytes())?)
    }
}

/// What a vhost holds: exactly one of `topology` and `definitions`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateSource {
    /// A topology: the vhost is the one in which all of it was declared.
    pub topology: Option<TopologySource>,
    /// A definitions export.
    pub definitions: Option<DefinitionsSource>,
    /// Which vhost of the export, where it holds several; for a topology the name, `/` unless said.
    pub vhost: Option<String>,
    /// The RabbitMQ version to judge by; else the export's, else the newest known one.
    pub rabbitmq: Option<VersionText>,
    /// The vhost's default queue type, where the export does not say it.
    pub default_queue_type: Option<String>,
}

/// A vhost, and what its source says beside it.
pub(super) struct Looked {
    pub(super) state: State,
    /// Findings that the topology says are meant.
    pub(super) suppress: Vec<Suppression>,
    origin: Origin,
}

enum Origin {
    /// Not a text that anybody has lines of.
    Unplaced,
    Topology {
        text: String,
        tables: Box<Tables>,
    },
    Definitions {
        definitions: Box<Definitions>,
        vhost: Option<String>,
    },
}

impl Looked {
    /// Where the text declares each object.
    pub(super) fn declared_at(&self) -> DeclaredAt {
        match &self.origin {
            Origin::Unplaced => DeclaredAt::default(),
            Origin::Topology { text, tables } => {
                DeclaredAt::of_document(text.as_bytes(), Format::Auto).unwrap_or_default().with_derived(tables)
            }
            Origin::Definitions { definitions, vhost } => definitions.declared_at(vhost.as_deref()),
        }
    }
}

impl StateSource {
    pub(super) fn state(self) -> Result<State, Failure> {
        self.look().map(|looked| looked.state)
    }

    pub(super) fn look(self) -> Result<Looked, Failure> {
        match (self.topology, self.definitions) {
            (Some(topology), None) => {
                let version = VersionText::read(self.rabbitmq.as_ref())?;
                if let Some(given) =
                    self.default_queue_type.as_ref().filter(|kind| QueueType::from_name(kind).is_none())
                {
                    return Err(DefinitionsError::UnknownQueueType { given: given.clone() }.into());
                }
                let vhost = self.vhost.unwrap_or_else(|| "/".to_owned());
                let text = topology.text().map(str::to_owned);
                let mut tables = topology.tables()?;
                let suppress = std::mem::take(&mut tables.suppressions);
                let state = State::of_tables(Broker::rabbitmq(version), vhost, self.default_queue_type, &tables);
                let origin = match text {
                    Some(text) => Origin::Topology { text, tables: Box::new(tables) },
                    None => Origin::Unplaced,
                };
                Ok(Looked { state, suppress, origin })
            }
            (None, Some(definitions)) => {
                let version = self.rabbitmq.as_ref().map(|text| VersionText::read(Some(text))).transpose()?;
                let overrides = Overrides { version, default_queue_type: self.default_queue_type };
                let is_text = matches!(definitions, DefinitionsSource::Text(_));
                let definitions = Box::new(definitions.read()?);
                let state = definitions.state(self.vhost.as_deref(), &overrides)?;
                let origin =
                    if is_text { Origin::Definitions { definitions, vhost: self.vhost } } else { Origin::Unplaced };
                Ok(Looked { state, suppress: Vec::new(), origin })
            }
            (given, _) => Err(Failure::one(
                "state_not_given",
                if given.is_some() { "two vhosts are given at once" } else { "no vhost is given" },
                "give either \"topology\" or \"definitions\"",
            )),
        }
    }
}

impl From<DefinitionsError> for Failure {
    fn from(error: DefinitionsError) -> Self {
        let sentence = error.to_string();
        let code = error.code();
        let whole = |error: &DefinitionsError| {
            let failure = Self::one(code, sentence.clone(), "");
            match error.at() {
                Some(at) => failure.with("at", json!(at)),
                None => failure,
            }
        };
        match &error {
            DefinitionsError::Faulty { faults } => Self::of(faults.iter().map(|fault| {
                let fields = [
                    ("fault", json!(fault.code)),
                    ("section", json!(fault.section)),
                    ("index", json!(fault.index)),
                    ("vhost", json!(fault.vhost)),
                    ("name", json!(fault.name)),
                    ("at", json!(fault.at)),
                ];
                FailureProblem {
                    code: code.to_owned(),
                    fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                    message: fault.to_string(),
                    help: String::new(),
                }
            }))
            .unwrap_or_else(|| whole(&error)),
            DefinitionsError::VhostNotChosen { vhosts } => whole(&error).with("vhosts", json!(vhosts)),
            DefinitionsError::NoSuchVhost { wanted, vhosts } => {
                whole(&error).with("vhost", json!(wanted)).with("vhosts", json!(vhosts))
            }
            _ => whole(&error),
        }
    }
}

/// `acemq.state/1`: one vhost as it is.
#[derive(Serialize)]
struct StateDocument<'a> {
    format: &'static str,
    product: &'a str,
    rabbitmq: Option<String>,
    vhost: &'a str,
    default_queue_type: Option<&'a str>,
    exchanges: Vec<ExchangeTable<'a>>,
    queues: Vec<QueueTable<'a>>,
    bindings: Vec<BindingTable<'a>>,
    policies: Vec<PolicyTable<'a>>,
    operator_policies: Vec<PolicyTable<'a>>,
    fingerprint: String,
}

#[derive(Serialize)]
struct PolicyTable<'a> {
    name: &'a str,
    pattern: &'a str,
    apply_to: &'a str,
    priority: i64,
    definition: &'a Table,
}

impl<'a> PolicyTable<'a> {
    fn of(policy: &'a PolicyDeclaration) -> Self {
        let PolicyDeclaration { name, pattern, apply_to, priority, definition } = policy;
        Self { name, pattern, apply_to, priority: *priority, definition }
    }
}

/// The document `acemq.state/1`.
pub(super) fn state_document(state: &State) -> Document {
    Document::of(&StateDocument {
        format: "acemq.state/1",
        product: state.broker.product.name(),
        rabbitmq: state.broker.version.map(|version| version.to_string()),
        vhost: &state.vhost,
        default_queue_type: state.default_queue_type.as_deref(),
        exchanges: state.exchanges.values().map(ExchangeTable::of).collect(),
        queues: state.queues.values().map(QueueTable::of).collect(),
        bindings: state.bindings.iter().map(BindingTable::of).collect(),
        policies: state.policies.iter().map(PolicyTable::of).collect(),
        operator_policies: state.operator_policies.iter().map(PolicyTable::of).collect(),
        fingerprint: state.fingerprint(),
    })
}
