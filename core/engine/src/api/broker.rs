//! Operations on what a broker answers, and on what its answers say.

use super::declared::{Declared, Document, Exchange, Queue, VERSION_CODES, VersionText};
use super::{Failure, Request};
use crate::rabbitmq::{
    self, Conditions, Declaration, ExchangeDeclaration, ExistingQueue, Known, Owner, QueueDeclaration, Refusal,
    Refused, Scope,
};
use crate::value::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `broker.explain`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRefusal {
    /// Reply code, where it is known.
    pub code: Option<u16>,
    /// The refusal, as clients, logs and the management API show it.
    pub text: String,
    /// The name that was asked for.
    pub name: Option<String>,
    /// The vhost.
    pub vhost: Option<String>,
}

impl Request for ExplainRefusal {
    type Answer = Document;
    const NAME: &'static str = "broker.explain";
    const ABOUT: &'static str = "A broker's refusal turned into the difference that it proves, acemq.refusal/1.";
    const CODES: &'static [&'static [&'static str]] = &[];

    fn answer(self) -> Result<Document, Failure> {
        let known = Known { name: self.name.as_deref(), vhost: self.vhost.as_deref() };
        Ok(Document::of(&Refusal::read(self.code, &self.text, known).to_document()))
    }
}

/// `declaration.fingerprint`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FingerprintOf {
    /// The declaration.
    pub declaration: Declared,
}

/// What two declarations share exactly when every broker takes them as the same.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fingerprint {
    /// One line of JSON.
    pub canonical: String,
    /// Its SHA-256 in lower-case hexadecimal.
    pub fingerprint: String,
}

impl Request for FingerprintOf {
    type Answer = Fingerprint;
    const NAME: &'static str = "declaration.fingerprint";
    const ABOUT: &'static str = "The canonical line of a declaration and its fingerprint.";
    const CODES: &'static [&'static [&'static str]] = &[];

    fn answer(self) -> Result<Fingerprint, Failure> {
        let declaration = Declaration::from(self.declaration);
        Ok(Fingerprint { canonical: declaration.canonical(), fingerprint: declaration.fingerprint() })
    }
}

/// `broker.equivalence`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareQueues {
    /// The RabbitMQ version; the newest known one unless said.
    pub rabbitmq: Option<VersionText>,
    /// The vhost's default queue type.
    pub default_queue_type: Option<String>,
    /// The queue as the broker has it.
    pub stored: Queue,
    /// The declaration.
    pub wanted: Queue,
}

/// Whether a declaration is equivalent to a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Equivalence {
    /// The broker takes the declaration.
    pub equivalent: bool,
    /// Everything in which they differ: what the broker compares first, in its order.
    pub differences: Vec<DifferenceAnswer>,
}

/// One difference.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DifferenceAnswer {
    /// The argument or property.
    pub argument: String,
    /// What the declaration has.
    pub wanted: Option<Value>,
    /// What the queue has.
    pub current: Option<Value>,
    /// Whether the broker compares it.
    pub compared: bool,
}

impl Request for CompareQueues {
    type Answer = Equivalence;
    const NAME: &'static str = "broker.equivalence";
    const ABOUT: &'static str =
        "Whether a broker takes a declaration as equal to a queue that it has, and every difference.";
    const CODES: &'static [&'static [&'static str]] = &[VERSION_CODES];

    fn answer(self) -> Result<Equivalence, Failure> {
        let version = VersionText::read(self.rabbitmq.as_ref())?;
        let mut conditions = Conditions::new(version, "/");
        conditions.default_queue_type = self.default_queue_type;
        let wanted = self.wanted.into();
        let wanted = rabbitmq::effective_request(&conditions, &wanted);
        let differences = rabbitmq::queue_differences(version, &self.stored.into(), &wanted);
        Ok(Equivalence {
            equivalent: !differences.iter().any(|difference| difference.compared),
            differences: (differences.into_iter())
                .map(|difference| DifferenceAnswer {
                    argument: difference.argument,
                    wanted: difference.wanted,
                    current: difference.current,
                    compared: difference.compared,
                })
                .collect(),
        })
    }
}

/// `broker.predict`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictAnswer {
    /// The RabbitMQ version; the newest known one unless said.
    pub rabbitmq: Option<VersionText>,
    /// The vhost; `/` unless said.
    pub vhost: Option<String>,
    /// The vhost's default queue type.
    pub default_queue_type: Option<String>,
    /// The queue or exchange that is declared, with the one of that name that exists.
    pub declare: Declarable,
}

/// What is declared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Declarable {
    /// A queue.
    Queue(WantedQueue),
    /// An exchange.
    Exchange(WantedExchange),
}

/// A queue that is declared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedQueue {
    /// The declaration.
    pub wanted: Queue,
    /// The queue that exists; an exclusive one belongs to another connection.
    pub existing: Option<Queue>,
}

/// An exchange that is declared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WantedExchange {
    /// The declaration.
    pub wanted: Exchange,
    /// The exchange that exists.
    pub existing: Option<Exchange>,
}

/// What the broker answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Predicted {
    /// It accepts.
    pub accepted: bool,
    /// Or it refuses.
    pub refused: Option<PredictedRefusal>,
}

/// A refusal in the broker's own words.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PredictedRefusal {
    /// Reply code.
    pub code: u16,
    /// Reply text.
    pub text: String,
    /// `channel` or `connection`: what it closes.
    pub scope: &'static str,
}

impl From<Refused> for PredictedRefusal {
    fn from(refused: Refused) -> Self {
        Self { code: refused.code, text: refused.text, scope: scope_name(refused.scope) }
    }
}

/// The word for what a refusal closes.
pub(super) const fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Channel => "channel",
        Scope::Connection => "connection",
    }
}

impl Request for PredictAnswer {
    type Answer = Predicted;
    const NAME: &'static str = "broker.predict";
    const ABOUT: &'static str = "What a broker of a version answers to a declaration, given what exists.";
    const CODES: &'static [&'static [&'static str]] = &[VERSION_CODES];

    fn answer(self) -> Result<Predicted, Failure> {
        let version = VersionText::read(self.rabbitmq.as_ref())?;
        let mut conditions = Conditions::new(version, self.vhost.unwrap_or_else(|| "/".to_owned()));
        conditions.default_queue_type = self.default_queue_type;
        let answer = match self.declare {
            Declarable::Queue(WantedQueue { wanted, existing }) => {
                let existing = existing.map(QueueDeclaration::from);
                let existing = existing.as_ref().map(|stored| ExistingQueue {
                    declaration: stored,
                    owner: if stored.exclusive { Owner::Another } else { Owner::Nobody },
                });
                rabbitmq::declare_queue(&conditions, existing, &wanted.into()).err()
            }
            Declarable::Exchange(WantedExchange { wanted, existing }) => {
                let existing = existing.map(ExchangeDeclaration::from);
                rabbitmq::declare_exchange(&conditions, existing.as_ref(), &wanted.into()).err()
            }
        };
        Ok(Predicted { accepted: answer.is_none(), refused: answer.map(PredictedRefusal::from) })
    }
}
