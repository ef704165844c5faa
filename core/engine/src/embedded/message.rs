//! A message on its way through the broker.

use super::death::Deaths;
use crate::rabbitmq::Properties;
use crate::value::Value;
use std::sync::Arc;

/// What a client publishes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Publication {
    /// The exchange; empty for the default exchange.
    pub exchange: String,
    /// The routing key.
    pub routing_key: String,
    /// Give it back when no queue gets it.
    pub mandatory: bool,
    /// Properties and headers.
    pub properties: Properties,
    /// The body.
    pub body: Vec<u8>,
}

impl Publication {
    /// A message without properties.
    pub fn new(exchange: impl Into<String>, routing_key: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { exchange: exchange.into(), routing_key: routing_key.into(), body: body.into(), ..Self::default() }
    }
}

/// The number that the broker gives to each publication. Copies and dead letters keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

/// A message inside the broker.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) id: MessageId,
    /// The exchange that it was last published to: by its publisher, or as a dead letter.
    pub(super) exchange: String,
    /// Its own routing key first, then those of `CC` and `BCC`.
    pub(super) keys: Vec<Vec<u8>>,
    /// Those of `BCC`, which nobody is to see.
    pub(super) bcc: Vec<Vec<u8>>,
    /// Without the header `BCC`; up to 3.12 with the death headers, which later versions keep apart until delivery.
    pub(super) properties: Properties,
    /// Time to live of this message, in milliseconds, while it is in its first queue.
    pub(super) ttl: Option<u64>,
    pub(super) body: Arc<[u8]>,
    pub(super) deaths: Deaths,
    /// Failed deliveries in the quorum queue that it died in (4.3), which a next quorum queue goes on counting.
    pub(super) failed: u32,
}

impl Message {
    /// The message of a publication whose `expiration` is `ttl`.
    pub(super) fn new(id: MessageId, publication: Publication, ttl: Option<u64>, deaths: Deaths) -> Self {
        let Publication { exchange, routing_key, mut properties, body, .. } = publication;
        let bcc = header_keys(&properties.headers, "BCC");
        let keys = std::iter::once(routing_key.into_bytes())
            .chain(header_keys(&properties.headers, "CC"))
            .chain(bcc.iter().cloned())
            .collect();
        properties.headers.remove("BCC");
        Self { id, exchange, keys, bcc, properties, ttl, body: body.into(), deaths, failed: 0 }
    }

    /// The routing key that a consumer sees.
    pub(super) fn routing_key(&self) -> String {
        self.keys.first().map(|key| String::from_utf8_lossy(key).into_owned()).unwrap_or_default()
    }
}

/// The routing keys in an array header; anything but texts is skipped.
pub(super) fn header_keys(headers: &crate::value::Table, name: &str) -> Vec<Vec<u8>> {
    match headers.get(name) {
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| match item {
                Value::LongStr(key) => Some(key.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}
