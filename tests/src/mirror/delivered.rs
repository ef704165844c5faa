//! A message as a client gets it, as far as two brokers can agree on it.

use crate::amqp;
use acemq_core::embedded::Delivery;
use acemq_core::value::{Table, Value};

/// What a client sees of a message, without the times of deaths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Delivered {
    body: String,
    redelivered: bool,
    exchange: String,
    routing_key: String,
    expiration: Option<String>,
    priority: Option<u8>,
    headers: String,
}

impl Delivered {
    pub(super) fn embedded(delivery: &Delivery) -> Self {
        let Delivery { body, redelivered, exchange, routing_key, properties, .. } = delivery;
        Self {
            body: text(body),
            redelivered: *redelivered,
            exchange: exchange.clone(),
            routing_key: routing_key.clone(),
            expiration: properties.expiration.clone(),
            priority: properties.priority,
            headers: comparable(&properties.headers),
        }
    }

    pub(super) fn real(delivery: &amqp::Delivery) -> Self {
        let amqp::Delivery { body, redelivered, exchange, routing_key, properties, .. } = delivery;
        Self {
            body: text(body),
            redelivered: *redelivered,
            exchange: text(exchange),
            routing_key: text(routing_key),
            expiration: properties.expiration.as_deref().map(text),
            priority: properties.priority,
            headers: comparable(&properties.headers.clone().unwrap_or_default()),
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Headers without the times of deaths, and without regard to the order inside tables.
pub fn comparable(headers: &Table) -> String {
    fn plain(value: &Value) -> Value {
        match value {
            Value::Table(table) => Value::Table(sorted(table)),
            Value::Array(items) => Value::Array(items.iter().map(plain).collect()),
            other => other.clone(),
        }
    }
    fn sorted(table: &Table) -> Table {
        let mut sorted = table.sorted();
        sorted.remove("time");
        sorted.iter().map(|(name, value)| (name, plain(value))).collect()
    }
    Value::Table(sorted(headers)).to_json()
}
