//! The operation `routing.route`, and a router that is kept.

use super::declared::Document;
use super::request::{read, write};
use super::source::{STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::routing::{Envelope, Opaque, Router};
use crate::value::{Table, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A message as routing looks at it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutedMessage {
    /// The exchange; the default exchange unless said.
    #[serde(default)]
    pub exchange: String,
    /// The routing key.
    #[serde(default)]
    pub key: String,
    /// Headers with their types; the texts in the arrays `CC` and `BCC` are further routing keys.
    #[serde(default)]
    pub headers: Table,
    /// Further routing keys, as if they stood in the header `CC`.
    #[serde(default)]
    pub cc: Vec<String>,
    /// Further routing keys, as if they stood in the header `BCC`.
    #[serde(default)]
    pub bcc: Vec<String>,
    /// The way of every copy, dead ends and near misses as well; without it only where the message goes.
    #[serde(default = "yes")]
    pub explain: bool,
}

const fn yes() -> bool {
    true
}

/// `acemq.route/1` without explanations.
#[derive(Serialize)]
struct RouteSummary<'a> {
    format: &'static str,
    exchange: &'a str,
    exchange_exists: bool,
    queues: Vec<String>,
    opaque: Vec<OpaqueExchange>,
}

/// An exchange whose choice is not known.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OpaqueExchange {
    exchange: String,
    r#type: String,
}

impl From<Opaque> for OpaqueExchange {
    fn from(opaque: Opaque) -> Self {
        Self { exchange: opaque.exchange, r#type: opaque.kind }
    }
}

impl RoutedMessage {
    /// `acemq.route/1`: where `router` sends it.
    pub(super) fn route(mut self, router: &Router) -> Document {
        for (name, keys) in [("CC", self.cc), ("BCC", self.bcc)] {
            if keys.is_empty() {
                continue;
            }
            let mut items = match self.headers.remove(name) {
                Some(Value::Array(items)) => items,
                _ => Vec::new(),
            };
            items.extend(keys.into_iter().map(Value::from));
            self.headers.insert(name, Value::Array(items));
        }
        let envelope = Envelope::new(self.exchange.as_str(), &self.key).with_headers(&self.headers);
        if self.explain {
            return Document::of(&router.explain(&envelope).to_document());
        }
        let routed = router.route(&envelope);
        Document::of(&RouteSummary {
            format: "acemq.route/1",
            exchange: &self.exchange,
            exchange_exists: router.has_exchange(&self.exchange),
            queues: routed.queues,
            opaque: routed.opaque.into_iter().map(OpaqueExchange::from).collect(),
        })
    }
}

/// `routing.route`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteMessage {
    /// The vhost.
    pub state: StateSource,
    /// The message.
    pub message: RoutedMessage,
}

impl Request for RouteMessage {
    type Answer = Document;
    const NAME: &'static str = "routing.route";
    const ABOUT: &'static str = "Where a message goes and why, acemq.route/1.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<Document, Failure> {
        Ok(self.message.route(&Router::of(&self.state.state()?)))
    }
}

/// A vhost's exchanges, queues and bindings, ready to route many messages: the coarse form of [`Router`] that bindings hold.
#[derive(Debug)]
pub struct RouterHandle(Router);

impl RouterHandle {
    /// The name that errors give to it.
    const NAME: &'static str = "router";

    /// A router from JSON: a [`StateSource`], such as `{"topology": {"text": "…"}}`.
    ///
    /// # Errors
    /// When the JSON is no such thing, or the topology or the definitions cannot be used.
    pub fn new(input: &str) -> Result<Self, Failure> {
        let source: StateSource = read(Self::NAME, input)?;
        Ok(Self(Router::of(&source.state()?)))
    }

    /// Where a message goes: a [`RoutedMessage`] in, the document `acemq.route/1` out.
    ///
    /// # Errors
    /// When the JSON is no message.
    pub fn route(&self, message: &str) -> Result<String, Failure> {
        let message: RoutedMessage = read(Self::NAME, message)?;
        write(Self::NAME, &message.route(&self.0))
    }

    /// The router itself.
    pub fn router(&self) -> &Router {
        &self.0
    }
}
