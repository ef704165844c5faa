//! The canonical tables: every object of a topology as it goes over the wire, in the order in which it is declared.

use crate::rabbitmq::{
    BindingDeclaration, BindingTable, ExchangeDeclaration, ExchangeTable, PolicyDeclaration, QueueDeclaration,
    QueueTable,
};
use crate::value::{Table, fingerprint};
use schemars::JsonSchema;
use serde::Serialize;

/// An exchange that is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredExchange {
    /// What goes over the wire.
    pub declaration: ExchangeDeclaration,
    /// Whether only dead-lettering or retries brought it here (`acemq.dlx`, `acemq.retry`).
    pub derived: bool,
}

/// An exchange that somebody else declares: it is asked for, and never declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalExchange {
    /// Name.
    pub name: String,
    /// Its type, where the topology says it.
    pub kind: Option<String>,
}

/// A queue that is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredQueue {
    /// What goes over the wire.
    pub declaration: QueueDeclaration,
    /// The queue that brought it here, when it is a dead-letter queue, a parked queue or a retry rung.
    pub derived_from: Option<String>,
}

/// A binding that is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclaredBinding {
    /// What goes over the wire.
    pub declaration: BindingDeclaration,
    /// Whether only dead-lettering or retries brought it here.
    pub derived: bool,
}

/// A finding of the audit that the document says is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suppression {
    /// The code of the finding.
    pub code: String,
    /// The kind of the object that it is about.
    pub kind: SuppressedKind,
    /// The object's name; for a binding `exchange -> queue (routing key)`.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// The kinds of objects whose findings a document can suppress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SuppressedKind {
    /// A queue.
    Queue,
    /// An exchange.
    Exchange,
    /// A binding.
    Binding,
    /// A policy.
    Policy,
}

/// Everything that a topology declares, in the order in which it is declared: exchanges, policies, queues, bindings.
///
/// Inside a kind the order is the document's. Derived queues stand directly behind the queue that asked for them,
/// `acemq.dlx` and `acemq.retry` behind the declared exchanges, derived bindings before all others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tables {
    /// Exchanges to declare.
    pub exchanges: Vec<DeclaredExchange>,
    /// Exchanges that must be there already.
    pub external: Vec<ExternalExchange>,
    /// Policies to set, through the management API.
    pub policies: Vec<PolicyDeclaration>,
    /// Queues to declare.
    pub queues: Vec<DeclaredQueue>,
    /// Bindings to make.
    pub bindings: Vec<DeclaredBinding>,
    /// What the audit need not report. No part of what is declared.
    pub suppressions: Vec<Suppression>,
}

impl Tables {
    /// The fingerprint of everything that goes over AMQP: the SHA-256 of the sorted canonical lines of exchanges, queues and
    /// bindings, each ended by a line feed, in lower-case hexadecimal. Two topologies that ask for the same objects have
    /// the same one, whatever their order.
    pub fn fingerprint(&self) -> String {
        let mut lines: Vec<String> = Vec::with_capacity(self.exchanges.len() + self.queues.len() + self.bindings.len());
        lines.extend(self.exchanges.iter().map(|exchange| exchange.declaration.canonical()));
        lines.extend(self.queues.iter().map(|queue| queue.declaration.canonical()));
        lines.extend(self.bindings.iter().map(|binding| binding.declaration.canonical()));
        lines.sort_unstable();
        let mut text = lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        fingerprint(text.as_bytes())
    }

    /// The document `acemq.tables/1`.
    pub fn to_document(&self) -> TablesDocument<'_> {
        TablesDocument {
            format: "acemq.tables/1",
            queues: self.queues.iter().map(|queue| QueueTable::of(&queue.declaration)).collect(),
            exchanges: self.exchanges.iter().map(|exchange| ExchangeTable::of(&exchange.declaration)).collect(),
            bindings: self.bindings.iter().map(|binding| BindingTable::of(&binding.declaration)).collect(),
            policies: self.policies.iter().map(PolicyTable::of).collect(),
            fingerprint: self.fingerprint(),
        }
    }
}

/// `acemq.tables/1`: the canonical argument tables of a topology, each with its fingerprint.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TablesDocument<'a> {
    format: &'static str,
    queues: Vec<QueueTable<'a>>,
    exchanges: Vec<ExchangeTable<'a>>,
    bindings: Vec<BindingTable<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    policies: Vec<PolicyTable<'a>>,
    fingerprint: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PolicyTable<'a> {
    name: &'a str,
    pattern: &'a str,
    apply_to: &'a str,
    priority: i64,
    definition: &'a Table,
}

impl<'a> PolicyTable<'a> {
    fn of(policy: &'a PolicyDeclaration) -> Self {
        Self {
            name: &policy.name,
            pattern: &policy.pattern,
            apply_to: &policy.apply_to,
            priority: policy.priority,
            definition: &policy.definition,
        }
    }
}
