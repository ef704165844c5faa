//! How documents show what is declared, each object with its fingerprint.

use super::{BindingDeclaration, DestinationType, ExchangeDeclaration, QueueDeclaration};
use crate::value::{Table, fingerprint};
use schemars::JsonSchema;
use serde::Serialize;

/// A queue and its argument table.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueueTable<'a> {
    name: &'a str,
    durable: bool,
    exclusive: bool,
    auto_delete: bool,
    r#type: &'a str,
    arguments: &'a Table,
    fingerprint: String,
}

impl<'a> QueueTable<'a> {
    pub(crate) fn of(queue: &'a QueueDeclaration) -> Self {
        Self {
            name: &queue.name,
            durable: queue.durable,
            exclusive: queue.exclusive,
            auto_delete: queue.auto_delete,
            r#type: queue.type_name(),
            arguments: &queue.arguments,
            fingerprint: fingerprint(queue.canonical().as_bytes()),
        }
    }
}

/// An exchange.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ExchangeTable<'a> {
    name: &'a str,
    r#type: &'a str,
    durable: bool,
    auto_delete: bool,
    internal: bool,
    arguments: &'a Table,
    fingerprint: String,
}

impl<'a> ExchangeTable<'a> {
    pub(crate) fn of(exchange: &'a ExchangeDeclaration) -> Self {
        Self {
            name: &exchange.name,
            r#type: &exchange.kind,
            durable: exchange.durable,
            auto_delete: exchange.auto_delete,
            internal: exchange.internal,
            arguments: &exchange.arguments,
            fingerprint: fingerprint(exchange.canonical().as_bytes()),
        }
    }
}

/// A binding; exactly one of `queue` and `to_exchange` is there.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BindingTable<'a> {
    exchange: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_exchange: Option<&'a str>,
    routing_key: &'a str,
    arguments: &'a Table,
    fingerprint: String,
}

impl<'a> BindingTable<'a> {
    pub(crate) fn of(binding: &'a BindingDeclaration) -> Self {
        let (queue, to_exchange) = match binding.destination_type {
            DestinationType::Queue => (Some(binding.destination.as_str()), None),
            DestinationType::Exchange => (None, Some(binding.destination.as_str())),
        };
        Self {
            exchange: &binding.source,
            queue,
            to_exchange,
            routing_key: &binding.routing_key,
            arguments: &binding.arguments,
            fingerprint: fingerprint(binding.canonical().as_bytes()),
        }
    }
}

/// A binding by what identifies it, as definitions write it.
#[derive(Debug, Serialize)]
pub(crate) struct BindingIdentity<'a> {
    source: &'a str,
    destination: &'a str,
    destination_type: &'static str,
    routing_key: &'a str,
    arguments: &'a Table,
}

impl<'a> BindingIdentity<'a> {
    pub(crate) fn of(binding: &'a BindingDeclaration) -> Self {
        Self {
            source: &binding.source,
            destination: &binding.destination,
            destination_type: binding.destination_type.name(),
            routing_key: &binding.routing_key,
            arguments: &binding.arguments,
        }
    }
}
