//! What is asked for, before any rule has looked at it: the types of the document, which the builder fills as well.

use crate::retry::RetryForm;
use crate::value::{Table, Value};
use serde::Deserialize;

/// An exchange as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExchangeWish {
    /// Empty until the mapping's key, or the builder, gives it.
    pub name: String,
    pub r#type: Option<String>,
    pub durable: Option<bool>,
    pub transient: Option<bool>,
    pub auto_delete: bool,
    pub internal: bool,
    pub arguments: Table,
    pub alternate_exchange: Option<String>,
    pub external: bool,
}

/// A queue as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct QueueWish {
    /// Empty until the mapping's key, or the builder, gives it.
    pub name: String,
    pub r#type: Option<String>,
    pub durable: Option<bool>,
    pub transient: Option<bool>,
    pub exclusive: bool,
    pub auto_delete: bool,
    pub arguments: Table,
    pub dead_letter: bool,
    pub dead_letter_to: Option<String>,
    pub retry: Option<RetryForm>,
}

/// A binding as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BindingWish {
    pub queue: Option<String>,
    pub to_exchange: Option<String>,
    pub exchange: Option<String>,
    pub routing_key: String,
    pub arguments: Table,
}

/// A policy as it is asked for.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PolicyWish {
    pub name: String,
    pub pattern: Option<String>,
    pub apply_to: Option<String>,
    pub priority: i64,
    pub definition: Table,
}

/// A setting for a queue that is declared elsewhere in the same topology.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Setting {
    DeadLetters,
    DeadLetterTo(String),
    Type(String),
    Argument(String, Value),
    Transient,
    Exclusive,
    AutoDelete,
    Retries(RetryForm),
}

/// Everything that is asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Wishes {
    pub exchanges: Vec<ExchangeWish>,
    pub policies: Vec<PolicyWish>,
    pub queues: Vec<QueueWish>,
    pub bindings: Vec<BindingWish>,
    /// Settings by the queue that they are for, in the order in which they were asked for.
    pub settings: Vec<(String, Setting)>,
}
