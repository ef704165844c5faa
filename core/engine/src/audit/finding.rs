//! One thing that is wrong, with the message that shows it.

use super::codes::{Code, Severity};
use crate::embedded::DeathReason;
use crate::rabbitmq::BindingDeclaration;
use crate::topology::{Position, describe_binding, shown_name};
use crate::value::{Table, fingerprint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Object {
    /// Which kind.
    pub kind: ObjectKind,
    /// Its name; for a binding `source -> destination (routing key)`.
    pub name: String,
    /// The vhost that it is in.
    pub vhost: String,
}

/// The kinds of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// An exchange.
    Exchange,
    /// A queue.
    Queue,
    /// A binding.
    Binding,
    /// A policy.
    Policy,
    /// An operator policy.
    OperatorPolicy,
    /// A runtime parameter: a shovel, or a set of federation upstreams.
    Parameter,
    /// A suppression of the document.
    Suppression,
}

impl ObjectKind {
    /// The word for one, or for several.
    pub const fn word(self, several: bool) -> &'static str {
        match (self, several) {
            (Self::Exchange, false) => "exchange",
            (Self::Exchange, true) => "exchanges",
            (Self::Queue, false) => "queue",
            (Self::Queue, true) => "queues",
            (Self::Binding, false) => "binding",
            (Self::Binding, true) => "bindings",
            (Self::Policy, false) => "policy",
            (Self::Policy, true) => "policies",
            (Self::OperatorPolicy, false) => "operator policy",
            (Self::OperatorPolicy, true) => "operator policies",
            (Self::Parameter, false) => "parameter",
            (Self::Parameter, true) => "parameters",
            (Self::Suppression, false) => "suppression",
            (Self::Suppression, true) => "suppressions",
        }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(false), shown_name(&self.name))
    }
}

/// The shortest message that shows a finding: publish it, let it die as described, and see.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Example {
    /// The exchange that it is published to; empty for the default exchange.
    pub exchange: String,
    /// Its routing key.
    pub key: String,
    /// Its headers.
    pub headers: Table,
    /// Where and why it dies, in order.
    pub deaths: Vec<Death>,
    /// What becomes of it then.
    pub outcome: Outcome,
    /// All of that as a sentence.
    pub happens: String,
}

/// One death of the example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Death {
    /// The queue that it dies in.
    pub queue: String,
    /// Why.
    #[serde(serialize_with = "reason_name")]
    #[schemars(with = "String")]
    pub reason: DeathReason,
}

fn reason_name<S: serde::Serializer>(reason: &DeathReason, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(reason.name())
}

/// What becomes of the example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Outcome {
    /// No queue has it any more.
    Lost,
    /// It is kept in the queue that it died in, and stays there.
    Kept,
    /// It stands in exactly these queues.
    Reaches {
        /// Sorted.
        queues: Vec<String>,
    },
}

/// One thing that is wrong, doubtful, or worth knowing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// The stable code.
    pub code: Code,
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub object: Object,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The message that shows it, where one can.
    pub example: Option<Example>,
    /// Why it matters.
    pub why: &'static str,
    /// What to do: the argument, binding or policy.
    pub fix: String,
    /// The versions that it holds for, unless for all.
    pub versions: Option<&'static str>,
    /// Stays the same while the finding does, whatever becomes of sentences, numbers and lines: the first 32 hexadecimal
    /// digits of the SHA-256 of the JSON list of code, vhost, kind and name of the object, and what tells the finding from
    /// others of its code about the same object (mostly nothing: an empty text).
    pub fingerprint: String,
    /// Where the object is declared in the text that was audited.
    pub at: Option<Position>,
    /// Whether the baseline holds it; it counts for nothing then.
    pub known: bool,
    /// The number of the suppression that it is about, for its place.
    #[serde(skip)]
    pub(super) number: Option<usize>,
}

impl Finding {
    pub(super) fn new(code: Code, object: Object, message: impl Into<String>) -> Self {
        let about = code.about();
        Self {
            code,
            severity: about.severity,
            fingerprint: fingerprint_of(code, &object, ""),
            at: None,
            known: false,
            number: None,
            object,
            message: message.into(),
            example: None,
            why: about.why,
            fix: about.fix.to_owned(),
            versions: (about.versions != "all").then_some(about.versions),
        }
    }

    #[must_use]
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// What tells it from others of its code about the same object: names, never numbers or sentences.
    #[must_use]
    pub(super) fn told_by(mut self, distinction: &str) -> Self {
        self.fingerprint = fingerprint_of(self.code, &self.object, distinction);
        self
    }

    #[must_use]
    pub(super) fn example(mut self, example: Example) -> Self {
        self.example = Some(example);
        self
    }

    /// With an example, if there is one.
    #[must_use]
    pub(super) fn shown(mut self, example: Option<Example>) -> Self {
        self.example = example;
        self
    }
}

/// See [`Finding::fingerprint`].
pub(super) fn fingerprint_of(code: Code, object: &Object, distinction: &str) -> String {
    const DIGITS: usize = 32;
    let parts = serde_json::json!([code.as_str(), object.vhost, object.kind, object.name, distinction]);
    let mut digits = fingerprint(parts.to_string().as_bytes());
    digits.truncate(DIGITS);
    digits
}

/// The name of a binding as an object.
pub(super) fn binding_name(binding: &BindingDeclaration) -> String {
    describe_binding(binding)
}

/// A name in a sentence: `"orders"`.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", shown_name(name))
}

/// An exchange in a sentence.
pub(super) fn exchange_words(name: &str) -> String {
    if name.is_empty() { "the default exchange".to_owned() } else { format!("exchange {}", quoted(name)) }
}

/// The first few of many names, and how many more there are.
pub(super) fn few<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 3;
    let count = names.len();
    let mut words: Vec<String> = names.take(SHOWN).map(quoted).collect();
    if count > SHOWN {
        words.push(format!("{} more", count - SHOWN));
    }
    words.join(", ")
}
