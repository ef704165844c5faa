//! Requests that need others before them: what is asked, step by step, until the one whose answer counts.
//!
//! ```json
//! {"vhost": "probe", "user": "limited, configure ^mine-, write ^mine-, read ^mine-", "vhost-limit": "max-queues 1",
//!  "steps": [{"by": "other", "queue.declare": "q"}, {"by": "other", "basic.publish": ["", "q"]}, {"queue.delete": "q", "if-empty": 1}]}
//! ```
//!
//! The steps of `other` come from a connection of `guest`, who may everything; the rest from a connection of the user whom the
//! request names. Each of the two has one channel. All steps but the last one succeed.
//!
//! | key | value |
//! |---|---|
//! | `queue.declare`, `exchange.declare` | the name; `durable` (1), `excl`, `auto`, `internal`, `passive` (0), `typ`, `args` as in the [replay](crate::replay) |
//! | `queue.bind`, `queue.unbind`, `exchange.bind`, `exchange.unbind` | destination, source, routing key; `args` |
//! | `queue.delete` | the name; `if-unused`, `if-empty` (0) |
//! | `exchange.delete` | the name; `if-unused` (0) |
//! | `queue.purge`, `basic.get` | the queue |
//! | `basic.publish` | exchange, routing key; `mandatory`, `immediate` (0) |
//! | `basic.consume` | the queue; `tag`, `excl` |
//! | `basic.ack` | the delivery tag |
//! | `connect` | user, password, vhost. Users are `guest` and `limited`, who has no rights anywhere; a user's password is the name |

use crate::amqp::{Consume, ExchangeRequest, QueueRequest};
use crate::recorder::{Typed, shown};
use acemq_core::rabbitmq::DestinationType;
use acemq_core::value::Table;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Steps, and the circumstances that they meet.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    /// The vhost; `probe` when absent.
    pub vhost: Option<String>,
    /// What the user `limited` may configure, write and read; the asker is `guest` when absent.
    pub rights: Option<[String; 3]>,
    /// The most queues that the vhost may hold.
    pub queue_limit: Option<u32>,
    /// At least one.
    pub steps: Vec<Step>,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Step {
    /// Whether the other connection asks.
    pub by_other: bool,
    /// What.
    pub ask: Ask,
}

/// What is asked. Names are bytes, since a request may hold bytes that are no UTF-8.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub enum Ask {
    Queue(QueueRequest),
    Exchange(ExchangeRequest),
    Binding { bind: bool, to: DestinationType, destination: Vec<u8>, source: Vec<u8>, key: Vec<u8>, arguments: Table },
    DeleteQueue { name: Vec<u8>, unused: bool, empty: bool },
    DeleteExchange { name: Vec<u8>, unused: bool },
    Purge(Vec<u8>),
    Publish { exchange: Vec<u8>, key: Vec<u8>, mandatory: bool, immediate: bool },
    Get(Vec<u8>),
    Consume(Consume),
    Ack(u64),
    Connect { user: String, password: String, vhost: String },
}

impl Ask {
    /// AMQP's name of the method.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Queue(_) => "queue.declare",
            Self::Exchange(_) => "exchange.declare",
            Self::Binding { bind: true, to: DestinationType::Queue, .. } => "queue.bind",
            Self::Binding { bind: true, to: DestinationType::Exchange, .. } => "exchange.bind",
            Self::Binding { bind: false, to: DestinationType::Queue, .. } => "queue.unbind",
            Self::Binding { bind: false, to: DestinationType::Exchange, .. } => "exchange.unbind",
            Self::DeleteQueue { .. } => "queue.delete",
            Self::DeleteExchange { .. } => "exchange.delete",
            Self::Purge(_) => "queue.purge",
            Self::Publish { .. } => "basic.publish",
            Self::Get(_) => "basic.get",
            Self::Consume(_) => "basic.consume",
            Self::Ack(_) => "basic.ack",
            Self::Connect { .. } => "connect",
        }
    }
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(vhost) = &self.vhost {
            map.serialize_entry("vhost", vhost)?;
        }
        if let Some([configure, write, read]) = &self.rights {
            map.serialize_entry("user", &format!("limited, configure {configure}, write {write}, read {read}"))?;
        }
        if let Some(most) = self.queue_limit {
            map.serialize_entry("vhost-limit", &format!("max-queues {most}"))?;
        }
        map.serialize_entry("steps", &self.steps)?;
        map.end()
    }
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if self.by_other {
            map.serialize_entry("by", "other")?;
        }
        let method = self.ask.method();
        // Flags that are set, or not set where the default is 1.
        let mut flags: Vec<(&str, bool)> = Vec::new();
        let mut arguments = None;
        match &self.ask {
            Ask::Queue(request) => {
                map.serialize_entry(method, &shown(&request.name))?;
                flags.extend([
                    ("excl", request.exclusive),
                    ("auto", request.auto_delete),
                    ("passive", request.passive),
                ]);
                if !request.durable && !request.passive {
                    map.serialize_entry("durable", &0)?;
                }
                arguments = Some(&request.arguments);
            }
            Ask::Exchange(request) => {
                map.serialize_entry(method, &shown(&request.name))?;
                map.serialize_entry("typ", &shown(&request.kind))?;
                flags.extend([
                    ("auto", request.auto_delete),
                    ("internal", request.internal),
                    ("passive", request.passive),
                ]);
                if !request.durable && !request.passive {
                    map.serialize_entry("durable", &0)?;
                }
                arguments = Some(&request.arguments);
            }
            Ask::Binding { destination, source, key, arguments: given, .. } => {
                map.serialize_entry(method, &[shown(destination), shown(source), shown(key)])?;
                arguments = Some(given);
            }
            Ask::DeleteQueue { name, unused, empty } => {
                map.serialize_entry(method, &shown(name))?;
                flags.extend([("if-unused", *unused), ("if-empty", *empty)]);
            }
            Ask::DeleteExchange { name, unused } => {
                map.serialize_entry(method, &shown(name))?;
                flags.push(("if-unused", *unused));
            }
            Ask::Purge(queue) | Ask::Get(queue) => map.serialize_entry(method, &shown(queue))?,
            Ask::Publish { exchange, key, mandatory, immediate } => {
                map.serialize_entry(method, &[shown(exchange), shown(key)])?;
                flags.extend([("mandatory", *mandatory), ("immediate", *immediate)]);
            }
            Ask::Consume(consume) => {
                map.serialize_entry(method, &shown(&consume.queue))?;
                if !consume.tag.is_empty() {
                    map.serialize_entry("tag", &shown(&consume.tag))?;
                }
                flags.push(("excl", consume.exclusive));
            }
            Ask::Ack(tag) => map.serialize_entry(method, tag)?,
            Ask::Connect { user, password, vhost } => map.serialize_entry(method, &[user, password, vhost])?,
        }
        for (name, _) in flags.into_iter().filter(|(_, set)| *set) {
            map.serialize_entry(name, &1)?;
        }
        if let Some(arguments) = arguments.filter(|arguments| !arguments.is_empty()) {
            map.serialize_entry("args", &Typed(arguments))?;
        }
        map.end()
    }
}
