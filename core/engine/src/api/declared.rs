//! Declarations, versions and documents as operations take and give them.

use super::Failure;
use crate::rabbitmq::{
    BindingDeclaration, Declaration, DestinationType, ExchangeDeclaration, QueueDeclaration, Version,
};
use crate::value::Table;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A RabbitMQ version, `4.0.5`, or `4.3` for its newest known patch.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct VersionText(String);

/// The code of a text that is no version.
pub(super) const VERSION_CODES: &[&str] = &["version_unknown"];

impl VersionText {
    /// The version; the newest known one where none is given.
    pub(super) fn read(text: Option<&Self>) -> Result<Version, Failure> {
        let Some(Self(text)) = text else { return Ok(Version::NEWEST) };
        text.parse().map_err(|_| {
            let help = "write three numbers as in \"4.0.5\", or two as in \"4.3\" for the newest known patch";
            Failure::one("version_unknown", format!("\"{}\" is no RabbitMQ version", crate::name::shown(text)), help)
                .with("version", text.as_str())
        })
    }
}

/// A JSON document exactly as it was given, so that the order of its keys is kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GivenDocument(#[schemars(with = "Json")] Box<RawValue>);

impl GivenDocument {
    pub(super) fn text(&self) -> &str {
        self.0.get()
    }
}

/// A document of this engine's: a JSON object with its name under `format`.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Document(Json);

impl Document {
    /// The document of something that serialises as an object.
    pub(super) fn of(document: &impl Serialize) -> Self {
        Self(serde_json::to_value(document).unwrap_or_default())
    }

    /// The document that is written in `text`.
    pub(super) fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }
}

impl From<Document> for Json {
    fn from(document: Document) -> Self {
        document.0
    }
}

impl JsonSchema for Document {
    fn schema_name() -> Cow<'static, str> {
        "Document".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "description": "A document with its name under `format`."})
    }
}

const fn yes() -> bool {
    true
}

/// A queue declaration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    /// Name.
    pub name: String,
    /// Survives a restart.
    #[serde(default = "yes")]
    pub durable: bool,
    /// Belongs to its connection.
    #[serde(default)]
    pub exclusive: bool,
    /// Goes with its last consumer.
    #[serde(default)]
    pub auto_delete: bool,
    /// The argument table.
    #[serde(default)]
    pub arguments: Table,
}

impl From<Queue> for QueueDeclaration {
    fn from(queue: Queue) -> Self {
        let Queue { name, durable, exclusive, auto_delete, arguments } = queue;
        Self { name, durable, exclusive, auto_delete, arguments }
    }
}

/// An exchange declaration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// Name.
    pub name: String,
    /// `direct`, `fanout`, `topic`, `headers` or a plugin's.
    pub r#type: String,
    /// Survives a restart.
    #[serde(default = "yes")]
    pub durable: bool,
    /// Goes with its last binding.
    #[serde(default)]
    pub auto_delete: bool,
    /// Clients cannot publish to it.
    #[serde(default)]
    pub internal: bool,
    /// The argument table.
    #[serde(default)]
    pub arguments: Table,
}

impl From<Exchange> for ExchangeDeclaration {
    fn from(exchange: Exchange) -> Self {
        let Exchange { name, r#type, durable, auto_delete, internal, arguments } = exchange;
        Self { name, kind: r#type, durable, auto_delete, internal, arguments }
    }
}

/// A binding.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The exchange that messages come from.
    pub source: String,
    /// The queue or exchange that they go to.
    pub destination: String,
    /// Which of the two.
    #[serde(default)]
    pub destination_type: Destination,
    /// Routing key or pattern.
    #[serde(default)]
    pub routing_key: String,
    /// Arguments.
    #[serde(default)]
    pub arguments: Table,
}

/// What a binding leads to.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Destination {
    /// A queue.
    #[default]
    Queue,
    /// An exchange.
    Exchange,
}

impl From<Binding> for BindingDeclaration {
    fn from(binding: Binding) -> Self {
        Self {
            source: binding.source,
            destination: binding.destination,
            destination_type: match binding.destination_type {
                Destination::Queue => DestinationType::Queue,
                Destination::Exchange => DestinationType::Exchange,
            },
            routing_key: binding.routing_key,
            arguments: binding.arguments,
        }
    }
}

/// Exactly one declaration.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Declared {
    /// A queue.
    Queue(Queue),
    /// An exchange.
    Exchange(Exchange),
    /// A binding.
    Binding(Binding),
}

impl From<Declared> for Declaration {
    fn from(declared: Declared) -> Self {
        match declared {
            Declared::Queue(queue) => Self::Queue(queue.into()),
            Declared::Exchange(exchange) => Self::Exchange(exchange.into()),
            Declared::Binding(binding) => Self::Binding(binding.into()),
        }
    }
}
