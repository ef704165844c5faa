//! One request, and the circumstances that it meets.

use super::table::{Typed, shown};
use crate::amqp::{ExchangeRequest, QueueRequest};
use serde::{Serialize, Serializer};

/// A declare and what it meets.
#[derive(Debug, Clone)]
pub struct Request {
    /// What was declared before under the same name.
    pub existing: Existing,
    /// The declare.
    pub asked: Asked,
    /// The default queue type of the vhost.
    pub default_queue_type: Option<&'static str>,
    /// What the user `limited` may configure, write and read; the declare comes from `guest`, who may everything, when absent.
    pub rights: Option<[&'static str; 3]>,
}

/// `queue.declare` or `exchange.declare`.
#[derive(Debug, Clone)]
pub enum Asked {
    /// `queue.declare`
    Queue(QueueRequest),
    /// `exchange.declare`
    Exchange(ExchangeRequest),
}

/// What was declared before.
#[derive(Debug, Clone)]
pub enum Existing {
    /// Nothing.
    Nothing,
    /// This, by the same connection.
    Declared(Asked),
    /// An exclusive queue without arguments, by another connection that is still open.
    ExclusiveElsewhere,
}

/// The vhost of requests that do not say another.
pub(super) const VHOST: &str = "probe";
/// The user whose rights a request can limit.
pub(super) const LIMITED: &str = "limited";

/// The vhost with a default queue type.
pub(super) fn vhost_name(default_queue_type: Option<&str>) -> String {
    default_queue_type.map_or_else(|| VHOST.to_owned(), |kind| format!("{VHOST}-{kind}"))
}

impl Asked {
    /// The name of the queue or exchange.
    pub(super) fn name(&self) -> &[u8] {
        match self {
            Self::Queue(request) => &request.name,
            Self::Exchange(request) => &request.name,
        }
    }

    fn properties(&self) -> Properties<'_> {
        match self {
            Self::Queue(request) => Properties {
                passive: request.passive.into(),
                typ: None,
                durable: request.durable.into(),
                excl: request.exclusive.into(),
                auto: request.auto_delete.into(),
                internal: 0,
                args: Typed(&request.arguments),
            },
            Self::Exchange(request) => Properties {
                passive: request.passive.into(),
                // A predeclared exchange has its own type unless said.
                typ: (request.kind != b"direct" || request.name.starts_with(b"amq.")).then(|| shown(&request.kind)),
                durable: request.durable.into(),
                excl: 0,
                auto: request.auto_delete.into(),
                internal: request.internal.into(),
                args: Typed(&request.arguments),
            },
        }
    }
}

/// What a declare carries besides its name; what is not said has its default.
#[derive(Serialize)]
struct Properties<'a> {
    #[serde(skip_serializing_if = "is_zero")]
    passive: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    typ: Option<String>,
    #[serde(skip_serializing_if = "is_one")]
    durable: u8,
    #[serde(skip_serializing_if = "is_zero")]
    excl: u8,
    #[serde(skip_serializing_if = "is_zero")]
    auto: u8,
    #[serde(skip_serializing_if = "is_zero")]
    internal: u8,
    #[serde(skip_serializing_if = "Typed::is_empty")]
    args: Typed<'a>,
}

#[derive(Serialize)]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    vhost: Option<String>,
    #[serde(rename = "default-queue-type", skip_serializing_if = "Option::is_none")]
    default_queue_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    existing: Option<WrittenExisting<'a>>,
    #[serde(rename = "queue.declare", skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    #[serde(rename = "exchange.declare", skip_serializing_if = "Option::is_none")]
    exchange: Option<String>,
    #[serde(flatten)]
    properties: Properties<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenExisting<'a> {
    Declared(Properties<'a>),
    Words(&'static str),
}

impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let name = Some(shown(self.asked.name()));
        let (queue, exchange) = match &self.asked {
            Asked::Queue(_) => (name, None),
            Asked::Exchange(_) => (None, name),
        };
        Written {
            vhost: self.default_queue_type.is_some().then(|| vhost_name(self.default_queue_type)),
            default_queue_type: self.default_queue_type,
            user: self.rights.map(|[configure, write, read]| {
                format!("{LIMITED}, configure {configure}, write {write}, read {read}")
            }),
            existing: match &self.existing {
                Existing::Nothing => None,
                Existing::Declared(asked) => Some(WrittenExisting::Declared(asked.properties())),
                Existing::ExclusiveElsewhere => Some(WrittenExisting::Words("exclusive on another connection")),
            },
            queue,
            exchange,
            properties: self.asked.properties(),
        }
        .serialize(serializer)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_one(flag: &u8) -> bool {
    *flag == 1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(flag: &u8) -> bool {
    *flag == 0
}
