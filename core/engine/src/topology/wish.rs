//! What is asked for, before any rule has looked at it: the types of the document, which the builder fills as well.
//!
//! Their doc comments are the descriptions in the JSON Schema.

use super::strict::{flag, optional_flag, whole};
use crate::rabbitmq::QueueType;
use crate::retry::RetryForm;
use crate::value::{Table, Value};
use schemars::JsonSchema;
use serde::Deserialize;

/// The exchange types that every broker has.
pub(super) const EXCHANGE_TYPES: [&str; 4] = ["direct", "fanout", "topic", "headers"];

/// What a policy can apply to; the last three from RabbitMQ 3.12 on.
pub(super) const APPLY_TO: [&str; 6] = ["all", "queues", "exchanges", "classic_queues", "quorum_queues", "streams"];

/// One of these words, or nothing.
fn choices(words: &[&'static str]) -> Vec<Option<&'static str>> {
    words.iter().copied().map(Some).chain([None]).collect()
}

/// An exchange: durable unless something else is said.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Exchange")]
pub(super) struct ExchangeWish {
    /// The name, where the exchanges are a list.
    pub name: String,
    /// direct, fanout, topic, headers, or the type of a plugin.
    #[schemars(extend("examples" = EXCHANGE_TYPES))]
    pub r#type: Option<String>,
    /// Whether it survives a restart of the broker; true unless it is said.
    #[schemars(extend("default" = true))]
    #[serde(deserialize_with = "optional_flag")]
    pub durable: Option<bool>,
    /// The opposite of durable.
    #[serde(deserialize_with = "optional_flag")]
    pub transient: Option<bool>,
    /// Whether it goes with its last binding.
    #[serde(deserialize_with = "flag")]
    pub auto_delete: bool,
    /// Whether only other exchanges may send to it.
    #[serde(deserialize_with = "flag")]
    pub internal: bool,
    /// The argument table.
    pub arguments: Table,
    /// The exchange that gets what this one cannot route; writes the argument alternate-exchange.
    pub alternate_exchange: Option<String>,
    /// Whether somebody else declares it: it is asked for, and never declared. Exchanges that start with amq. always are.
    #[serde(deserialize_with = "flag")]
    pub external: bool,
}

/// A queue: durable and quorum unless something else is said.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Queue")]
pub(super) struct QueueWish {
    /// The name, where the queues are a list.
    pub name: String,
    /// classic, quorum or stream. Without it a queue is quorum when it is durable, shared and permanent, else classic.
    #[schemars(extend("enum" = choices(&QueueType::ALL.map(QueueType::name))))]
    pub r#type: Option<String>,
    /// Whether it survives a restart of the broker; true unless it is said.
    #[schemars(extend("default" = true))]
    #[serde(deserialize_with = "optional_flag")]
    pub durable: Option<bool>,
    /// The opposite of durable.
    #[serde(deserialize_with = "optional_flag")]
    pub transient: Option<bool>,
    /// Whether it belongs to one connection and goes with it.
    #[serde(deserialize_with = "flag")]
    pub exclusive: bool,
    /// Whether it goes with its last consumer.
    #[serde(deserialize_with = "flag")]
    pub auto_delete: bool,
    /// The argument table. The type is better said with the key type.
    pub arguments: Table,
    /// Whether messages that are given up go to {queue}.dlq, with {queue}.parked and acemq.dlx beside it.
    #[serde(deserialize_with = "flag")]
    pub dead_letter: bool,
    /// An exchange of your own for messages that are given up; writes the argument x-dead-letter-exchange.
    pub dead_letter_to: Option<String>,
    /// How often a message is tried again, as in "exponential(6, 10s, 5m)"; long waits become queues of their own.
    pub retry: Option<RetryForm>,
}

impl QueueWish {
    /// The same as settings for a queue that is declared elsewhere.
    pub fn into_settings(self) -> Vec<Setting> {
        let Self { name: _, r#type, durable, transient, exclusive, auto_delete, arguments, .. } = self;
        let mut settings: Vec<Setting> = r#type.map(Setting::Type).into_iter().collect();
        let flags = [
            (transient == Some(true) || durable == Some(false), Setting::Transient),
            (exclusive, Setting::Exclusive),
            (auto_delete, Setting::AutoDelete),
            (self.dead_letter, Setting::DeadLetters),
        ];
        settings.extend(flags.into_iter().filter_map(|(asked, setting)| asked.then_some(setting)));
        settings.extend(arguments.into_iter().map(|(name, value)| Setting::Argument(name, value)));
        settings.extend(self.dead_letter_to.map(Setting::DeadLetterTo));
        settings.extend(self.retry.map(Setting::Retries));
        settings
    }
}

/// A binding from an exchange to a queue, or to another exchange.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Binding")]
pub(super) struct BindingWish {
    /// The queue that it leads to.
    pub queue: Option<String>,
    /// The exchange that it leads to, instead of a queue.
    pub to_exchange: Option<String>,
    /// The exchange that it leads from.
    pub exchange: Option<String>,
    /// The routing key, or the pattern of a topic exchange; empty unless it is said.
    pub routing_key: String,
    /// The argument table, which headers exchanges match.
    pub arguments: Table,
}

/// A policy. Only the management API can set one.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Policy")]
pub(super) struct PolicyWish {
    /// The name, unique in the vhost.
    pub name: String,
    /// A regular expression on names; it matches anywhere in a name unless it is anchored.
    pub pattern: Option<String>,
    /// all, queues, exchanges, classic_queues, quorum_queues or streams; all unless it is said.
    #[schemars(extend("enum" = choices(&APPLY_TO), "default" = "all"))]
    pub apply_to: Option<String>,
    /// The policy with the highest one wins; 0 unless it is said.
    #[serde(deserialize_with = "whole")]
    pub priority: i64,
    /// What it sets, by keys without x-.
    pub definition: Table,
}

/// A finding of the audit that is meant: a code, the one object that it is about, and why.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Suppression")]
pub(super) struct SuppressionWish {
    /// The code of the finding, as acemq audit prints it.
    pub code: Option<String>,
    /// The queue that it is about.
    pub queue: Option<String>,
    /// The exchange that it is about, instead of a queue.
    pub exchange: Option<String>,
    /// The binding that it is about, as exchange -> queue (routing key).
    pub binding: Option<String>,
    /// The policy that it is about.
    pub policy: Option<String>,
    /// Why it is meant: for whoever reads the document later.
    pub reason: Option<String>,
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
    pub suppressions: Vec<SuppressionWish>,
    /// Settings by the queue that they are for, in the order in which they were asked for.
    pub settings: Vec<(String, Setting)>,
}
