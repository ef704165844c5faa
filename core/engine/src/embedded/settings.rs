//! What a queue does with its messages: its arguments and its policy, resolved.
//!
//! Where both say something, the smaller number wins for times and lengths; the queue's own argument wins for dead-letter
//! exchange and key, and for a classic queue's overflow; the policy wins for a quorum queue's overflow.
//!
//! Source: `rabbit_amqqueue_process:process_args_policy`, `rabbit_quorum_queue:gather_policy_config`.

use crate::rabbitmq::changes::V4_QUORUM;
use crate::rabbitmq::{QueueDeclaration, QueueType, Version};
use crate::value::{Table, Value};

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

/// What a quorum queue has from 4.0 on unless it is told otherwise.
const DEFAULT_DELIVERY_LIMIT: i64 = 20;

impl Settings {
    /// The settings of `queue` under `policy`: the definition of its policy, merged with its operator policy.
    pub(super) fn of(version: Version, queue: &QueueDeclaration, policy: &Table) -> Self {
        let kind = queue.queue_type().unwrap_or(QueueType::Classic);
        let source = Source { arguments: &queue.arguments, policy };
        let is_quorum = kind == QueueType::Quorum;
        let overflow = source.overflow(is_quorum);
        let dead_letter_exchange = source.argument_first("dead-letter-exchange");
        let strategy = source.argument_first("dead-letter-strategy");
        Self {
            kind,
            message_ttl: source.smaller("message-ttl"),
            expires: if is_quorum && !V4_QUORUM.holds(version) {
                source.policy_number("expires").or_else(|| source.argument_number("expires"))
            } else {
                source.smaller("expires")
            },
            max_length: source.smaller("max-length"),
            max_bytes: source.smaller("max-length-bytes"),
            overflow,
            at_least_once: is_quorum
                && strategy.as_deref() == Some("at-least-once")
                && overflow == Overflow::RejectPublish
                && dead_letter_exchange.is_some(),
            dead_letter_exchange,
            dead_letter_key: source.argument_first("dead-letter-routing-key"),
            delivery_limit: if is_quorum { source.delivery_limit(version) } else { None },
            max_priority: source
                .argument_number("max-priority")
                .filter(|_| kind == QueueType::Classic)
                .map_or(0, |highest| u8::try_from(highest).unwrap_or(u8::MAX)),
            single_active: source.argument("single-active-consumer") == Some(&Value::Bool(true)),
        }
    }
}

/// Where a setting can come from.
struct Source<'a> {
    arguments: &'a Table,
    policy: &'a Table,
}

impl Source<'_> {
    fn argument(&self, key: &str) -> Option<&Value> {
        self.arguments.iter().find(|(name, _)| name.strip_prefix("x-") == Some(key)).map(|(_, value)| value)
    }

    fn argument_number(&self, key: &str) -> Option<u64> {
        self.argument(key).and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok())
    }

    fn policy_number(&self, key: &str) -> Option<u64> {
        self.policy.get(key).and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok())
    }

    fn smaller(&self, key: &str) -> Option<u64> {
        match (self.argument_number(key), self.policy_number(key)) {
            (Some(argument), Some(policy)) => Some(argument.min(policy)),
            (argument, policy) => argument.or(policy),
        }
    }

    fn argument_first(&self, key: &str) -> Option<String> {
        let value = self.argument(key).or_else(|| self.policy.get(key))?;
        value.as_text().map(str::to_owned)
    }

    fn overflow(&self, is_quorum: bool) -> Overflow {
        let (argument, policy) = (self.argument("overflow"), self.policy.get("overflow"));
        let value = if is_quorum { policy.or(argument) } else { argument.or(policy) };
        match value.and_then(Value::as_text) {
            Some("reject-publish") => Overflow::RejectPublish,
            Some("reject-publish-dlx") if !is_quorum => Overflow::RejectPublishDlx,
            _ => Overflow::DropHead,
        }
    }

    /// An argument of another type than integer is stored and limits nothing.
    fn delivery_limit(&self, version: Version) -> Option<i64> {
        let from_4_0 = V4_QUORUM.holds(version);
        let policy = self.policy.get("delivery-limit").and_then(Value::as_integer);
        let limit = match (self.argument("delivery-limit").map(Value::as_integer), policy) {
            (None, None) => from_4_0.then_some(DEFAULT_DELIVERY_LIMIT),
            (None, Some(policy)) => Some(policy),
            (Some(argument), None) => argument,
            (Some(None), Some(policy)) => Some(policy),
            (Some(Some(argument)), Some(policy)) if from_4_0 && (argument < 0 || policy < 0) => {
                Some(argument.max(policy))
            }
            (Some(Some(argument)), Some(policy)) => Some(argument.min(policy)),
        };
        limit.filter(|limit| !from_4_0 || *limit >= 0)
    }
}
