//! What a queue does with its messages: its [effective](crate::policy::Effective) settings, read into types.

use crate::policy::Effective;
use crate::rabbitmq::changes::V4_QUORUM;
use crate::rabbitmq::{QueueDeclaration, QueueType, Version};
use crate::value::Value;

/// What happens to a message that does not fit in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Overflow {
    /// The head goes, and dies as `maxlen`.
    DropHead,
    /// The newcomer is refused.
    RejectPublish,
    /// The newcomer is refused, and dies as `maxlen` (classic queues only).
    RejectPublishDlx,
}

/// The effective settings of a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) kind: QueueType,
    /// Milliseconds.
    pub(super) message_ttl: Option<u64>,
    /// Milliseconds without use.
    pub(super) expires: Option<u64>,
    pub(super) max_length: Option<u64>,
    pub(super) max_bytes: Option<u64>,
    pub(super) overflow: Overflow,
    pub(super) dead_letter_exchange: Option<String>,
    pub(super) dead_letter_key: Option<String>,
    /// Dead letters stay until their targets have them.
    pub(super) at_least_once: bool,
    /// A message that came back more often than this dies; `None` is no limit.
    pub(super) delivery_limit: Option<i64>,
    /// 0: no priorities.
    pub(super) max_priority: u8,
    pub(super) single_active: bool,
}

impl Settings {
    /// The settings of `queue`. What cannot be told counts as not set.
    pub(super) fn of(version: Version, queue: &QueueDeclaration, effective: &Effective) -> Self {
        let kind = queue.queue_type().unwrap_or(QueueType::Classic);
        let is_quorum = kind == QueueType::Quorum;
        let number = |key| effective.value(key).and_then(Value::as_integer);
        let limit = |key| number(key).and_then(|number| u64::try_from(number).ok());
        let text = |key| effective.value(key).and_then(Value::as_text).map(str::to_owned);
        let overflow = match text("overflow").as_deref() {
            Some("reject-publish") => Overflow::RejectPublish,
            Some("reject-publish-dlx") if !is_quorum => Overflow::RejectPublishDlx,
            _ => Overflow::DropHead,
        };
        let dead_letter_exchange = text("dead-letter-exchange");
        Self {
            kind,
            message_ttl: limit("message-ttl"),
            expires: limit("expires"),
            max_length: limit("max-length"),
            max_bytes: limit("max-length-bytes"),
            overflow,
            at_least_once: is_quorum
                && text("dead-letter-strategy").as_deref() == Some("at-least-once")
                && overflow == Overflow::RejectPublish
                && dead_letter_exchange.is_some(),
            dead_letter_exchange,
            dead_letter_key: text("dead-letter-routing-key"),
            // A negative limit is none from 4.0 on; before, nothing may come back.
            delivery_limit: number("delivery-limit").filter(|limit| *limit >= 0 || !V4_QUORUM.holds(version)),
            max_priority: limit("max-priority").map_or(0, |highest| u8::try_from(highest).unwrap_or(u8::MAX)),
            single_active: effective.value("single-active-consumer") == Some(&Value::Bool(true)),
        }
    }
}
