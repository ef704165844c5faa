//! The rules about single policy keys: who supports them, how an operator's value is merged, what wins against an argument.

use crate::rabbitmq::changes::{
    ALWAYS_TYPED, FOREIGN_POLICY_KEYS, PLACEMENT_TAG, QUORUM_TTL, SELECTORS, SINGLE_ACTIVE_POLICY_KEY, STREAM_FILTER,
    Since, TYPED_APPLY_TO, V4_3,
};
use crate::rabbitmq::{QueueType, Version};
use crate::value::Value;

/// Until when, or from when, a key is on a list.
#[derive(Clone, Copy)]
enum When {
    Always,
    From(Since),
    Until(Since),
}

impl When {
    fn holds(self, version: Version) -> bool {
        match self {
            Self::Always => true,
            Self::From(since) => since.holds(version),
            Self::Until(since) => !since.holds(version),
        }
    }
}

/// Keys of a classic queue's `unsupported_policies`.
const CLASSIC: &[(&str, When)] = &[
    ("max-age", When::Always),
    ("stream-max-segment-size-bytes", When::Always),
    ("initial-cluster-size", When::Always),
    ("delivery-limit", When::Always),
    ("dead-letter-strategy", When::Always),
    ("queue-leader-locator", When::Until(ALWAYS_TYPED)),
    ("max-in-memory-length", When::From(FOREIGN_POLICY_KEYS)),
    ("max-in-memory-bytes", When::From(FOREIGN_POLICY_KEYS)),
    ("target-group-size", When::From(FOREIGN_POLICY_KEYS)),
    ("selector-fields", When::From(SELECTORS)),
    ("selector-field-max-bytes", When::From(SELECTORS)),
];

/// Keys of a quorum queue's `unsupported_policies`.
const QUORUM: &[(&str, When)] = &[
    ("max-priority", When::Always),
    ("queue-mode", When::Always),
    ("ha-mode", When::Always),
    ("ha-params", When::Always),
    ("ha-sync-mode", When::Always),
    ("ha-promote-on-shutdown", When::Always),
    ("ha-promote-on-failure", When::Always),
    ("queue-master-locator", When::Always),
    ("max-age", When::Always),
    ("stream-max-segment-size-bytes", When::Always),
    ("initial-cluster-size", When::Always),
    ("single-active-consumer", When::Until(SINGLE_ACTIVE_POLICY_KEY)),
    ("message-ttl", When::Until(QUORUM_TTL)),
    ("selector-fields", When::From(SELECTORS)),
    ("selector-field-max-bytes", When::From(SELECTORS)),
];

/// Keys of a stream's `unsupported_policies`.
const STREAM: &[(&str, When)] = &[
    ("expires", When::Always),
    ("message-ttl", When::Always),
    ("dead-letter-exchange", When::Always),
    ("dead-letter-routing-key", When::Always),
    ("max-length", When::Always),
    ("max-in-memory-length", When::Always),
    ("max-in-memory-bytes", When::Always),
    ("max-priority", When::Always),
    ("overflow", When::Always),
    ("queue-mode", When::Always),
    ("delivery-limit", When::Always),
    ("ha-mode", When::Always),
    ("ha-params", When::Always),
    ("ha-sync-mode", When::Always),
    ("ha-promote-on-shutdown", When::Always),
    ("ha-promote-on-failure", When::Always),
    ("queue-master-locator", When::Always),
    ("dead-letter-strategy", When::Always),
    ("target-group-size", When::From(FOREIGN_POLICY_KEYS)),
    ("single-active-consumer", When::Until(SINGLE_ACTIVE_POLICY_KEY)),
    ("selector-fields", When::From(SELECTORS)),
    ("selector-field-max-bytes", When::From(SELECTORS)),
];

/// The keys any of which keeps a whole policy off a queue of that type.
///
/// Source: `unsupported_policies` in `capabilities/0` of `rabbit_classic_queue`, `rabbit_quorum_queue` and
/// `rabbit_stream_queue`, 3.10 to 4.3; `rabbit_amqqueue:is_policy_applicable`. Exchanges have no such list.
pub fn unsupported_keys(version: Version, kind: QueueType) -> impl Iterator<Item = &'static str> {
    let listed = match kind {
        QueueType::Classic => CLASSIC,
        QueueType::Quorum => QUORUM,
        QueueType::Stream => STREAM,
    };
    listed.iter().filter(move |(_, when)| when.holds(version)).map(|(key, _)| *key)
}

/// Whether a broker without further plugins takes a key in a policy. One that it does not know makes it refuse the whole
/// policy (`… are not recognised policy settings`), and an import of definitions that hold one.
///
/// Source: `rabbit_policies:register`, `rabbit_mirror_queue_misc` (the `ha-` keys, gone with 4.0), and the federation plugin.
pub fn recognises(version: Version, key: &str) -> bool {
    let since = match key {
        "alternate-exchange"
        | "dead-letter-exchange"
        | "dead-letter-routing-key"
        | "dead-letter-strategy"
        | "message-ttl"
        | "expires"
        | "max-length"
        | "max-length-bytes"
        | "max-in-memory-length"
        | "max-in-memory-bytes"
        | "overflow"
        | "delivery-limit"
        | "queue-mode"
        | "queue-version"
        | "max-age"
        | "stream-max-segment-size-bytes"
        | "queue-leader-locator"
        | "initial-cluster-size"
        | "queue-master-locator"
        | "federation-upstream"
        | "federation-upstream-set"
        | "federation-upstream-pattern" => When::Always,
        "ha-mode"
        | "ha-params"
        | "ha-sync-mode"
        | "ha-sync-batch-size"
        | "ha-promote-on-shutdown"
        | "ha-promote-on-failure" => When::Until(ALWAYS_TYPED),
        "consumer-timeout" | "target-group-size" => When::From(TYPED_APPLY_TO),
        "stream-filter-size-bytes" => When::From(STREAM_FILTER),
        "consumer-disconnected-timeout" | "delayed-retry-type" | "delayed-retry-min" | "delayed-retry-max" => {
            When::From(V4_3)
        }
        "member-placement-tag" => When::From(PLACEMENT_TAG),
        _ => return false,
    };
    since.holds(version)
}

/// Whether a policy can have that `apply-to`.
pub fn is_apply_to(version: Version, apply_to: &str) -> bool {
    match apply_to {
        "all" | "queues" | "exchanges" => true,
        "classic_queues" | "quorum_queues" | "streams" => TYPED_APPLY_TO.holds(version),
        _ => false,
    }
}

/// What a policy is matched against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A queue; without a type it is one that a plugin brings.
    Queue(Option<QueueType>),
    Exchange,
}

/// Whether an `apply-to` fits (`rabbit_policy:matches_type`, `matches_queue_type`). The three queue types can be named from
/// 3.12 on; before, such a policy cannot be set.
pub(super) fn applies_to(version: Version, apply_to: &str, kind: Kind) -> bool {
    let typed = TYPED_APPLY_TO.holds(version);
    match (apply_to, kind) {
        ("all", _) | ("queues", Kind::Queue(_)) | ("exchanges", Kind::Exchange) => true,
        ("classic_queues", Kind::Queue(Some(QueueType::Classic)))
        | ("quorum_queues", Kind::Queue(Some(QueueType::Quorum)))
        | ("streams", Kind::Queue(Some(QueueType::Stream))) => typed,
        _ => false,
    }
}

/// The narrowest `apply-to` for a queue of that type.
pub(super) fn apply_to_for(version: Version, kind: QueueType) -> &'static str {
    match kind {
        _ if !TYPED_APPLY_TO.holds(version) => "queues",
        QueueType::Classic => "classic_queues",
        QueueType::Quorum => "quorum_queues",
        QueueType::Stream => "streams",
    }
}

/// What holds where a policy and an operator policy set one key; `None` when no rule is known for these values.
///
/// The smaller of two limits, except: a negative delivery limit means none from 4.0 on, so there the larger; the larger
/// group size and shortest retry delay; and the operator's value of everything that is no limit.
/// Source: `merge_policy_value/3` of `rabbit_policies` and, from 4.0 on, `rabbit_quorum_queue`.
pub fn merge_operator(version: Version, key: &str, policy: &Value, operator: &Value) -> Option<Value> {
    match key {
        "expires"
        | "message-ttl"
        | "max-length"
        | "max-length-bytes"
        | "max-in-memory-length"
        | "max-in-memory-bytes"
        | "delayed-retry-max" => smaller(policy, operator),
        "delivery-limit" => delivery_limit(version, policy, operator),
        "target-group-size" | "delayed-retry-min" => larger(policy, operator),
        "overflow" | "queue-version" | "delayed-retry-type" | "member-placement-tag" => Some(operator.clone()),
        _ => matches!(operator, Value::Bool(_)).then(|| operator.clone()),
    }
}

/// What holds where a queue's argument and a policy set the same thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precedence {
    /// The smaller number.
    Smaller,
    /// The argument.
    Argument,
    /// The policy.
    Policy,
    /// The smaller number; from 4.0 on, where a negative limit means none, the larger if either is negative.
    DeliveryLimit,
}

/// What holds where a queue of that type has the argument `x-KEY` and a policy sets KEY; `None` when the type does not take
/// the key as an argument and from a policy, or when no rule is known.
///
/// Source: `rabbit_queue_type_util:args_policy_lookup` as called by `rabbit_amqqueue_process:process_args_policy`,
/// `rabbit_quorum_queue:gather_policy_config` and `rabbit_stream_queue`, and `rabbit_queue_location:leader_locator`;
/// 3.10 to 4.3. A quorum queue's `expires` was the policy's before 4.0.
pub fn precedence(version: Version, kind: QueueType, key: &str) -> Option<Precedence> {
    use Precedence::{Argument, DeliveryLimit, Policy, Smaller};
    use QueueType::{Classic, Quorum, Stream};
    match (kind, key) {
        (Quorum, "expires") if !ALWAYS_TYPED.holds(version) => Some(Policy),
        (Classic | Quorum, "expires" | "message-ttl" | "max-length" | "max-length-bytes")
        | (Quorum, "max-in-memory-length" | "max-in-memory-bytes") => Some(Smaller),
        (Classic | Quorum, "dead-letter-exchange" | "dead-letter-routing-key")
        | (Quorum, "dead-letter-strategy")
        | (Classic, "overflow" | "queue-mode" | "queue-version") => Some(Argument),
        (Quorum, "overflow")
        | (Stream, "max-length-bytes" | "max-age" | "stream-max-segment-size-bytes" | "initial-cluster-size")
        | (_, "queue-leader-locator") => Some(Policy),
        (Quorum, "delivery-limit") => Some(DeliveryLimit),
        _ => None,
    }
}

/// Keys that can be an argument and in a policy, and of which no source says which holds.
pub(super) const UNCLEAR: [&str; 7] = [
    "consumer-timeout",
    "consumer-disconnected-timeout",
    "delayed-retry-type",
    "delayed-retry-min",
    "delayed-retry-max",
    "member-placement-tag",
    "stream-filter-size-bytes",
];

impl Precedence {
    /// The value that holds of an argument and a policy's value; `None` when they are no numbers where numbers are compared.
    pub fn resolve(self, version: Version, argument: &Value, policy: &Value) -> Option<Value> {
        match self {
            Self::Smaller => smaller(argument, policy),
            Self::Argument => Some(argument.clone()),
            Self::Policy => Some(policy.clone()),
            Self::DeliveryLimit => delivery_limit(version, argument, policy),
        }
    }

    /// The rule as half a sentence.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Smaller => "the smaller one holds",
            Self::Argument => "the argument holds",
            Self::Policy => "the policy holds",
            Self::DeliveryLimit => "the smaller one holds, unless a negative one says that there is no limit",
        }
    }
}

fn smaller(a: &Value, b: &Value) -> Option<Value> {
    Some(Value::I64(a.as_integer()?.min(b.as_integer()?)))
}

fn larger(a: &Value, b: &Value) -> Option<Value> {
    Some(Value::I64(a.as_integer()?.max(b.as_integer()?)))
}

fn delivery_limit(version: Version, a: &Value, b: &Value) -> Option<Value> {
    let negative = a.as_integer()? < 0 || b.as_integer()? < 0;
    if negative && ALWAYS_TYPED.holds(version) { larger(a, b) } else { smaller(a, b) }
}

/// What a queue without the argument and without a policy has (from 4.0 on a quorum queue gives up on a message after 20
/// deliveries; before it never did).
pub(super) fn default_value(version: Version, kind: QueueType, key: &str) -> Option<Value> {
    match (kind, key) {
        (QueueType::Classic | QueueType::Quorum, "overflow") => Some(Value::text("drop-head")),
        (QueueType::Quorum, "delivery-limit") if ALWAYS_TYPED.holds(version) => Some(Value::I64(20)),
        (QueueType::Quorum, "dead-letter-strategy") if QUORUM_TTL.holds(version) => Some(Value::text("at-most-once")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V3_13: Version = Version::new(3, 13, 7);
    const V4_0: Version = Version::new(4, 0, 5);

    #[test]
    fn the_three_queue_types_can_be_named_from_3_12_on() {
        let classic = Kind::Queue(Some(QueueType::Classic));
        assert!(applies_to(V3_13, "classic_queues", classic));
        assert!(!applies_to(Version::new(3, 11, 28), "classic_queues", classic));
        assert!(!applies_to(V3_13, "quorum_queues", classic));
        assert!(applies_to(V3_13, "queues", Kind::Queue(None)));
        assert!(!applies_to(V3_13, "queues", Kind::Exchange));
        assert!(applies_to(V3_13, "all", Kind::Exchange));
        assert_eq!(apply_to_for(Version::new(3, 10, 8), QueueType::Quorum), "queues");
        assert_eq!(apply_to_for(V4_0, QueueType::Stream), "streams");
    }

    #[test]
    fn a_negative_delivery_limit_is_none_from_4_0_on() {
        let limit = |version, a: i64, b: i64| {
            Precedence::DeliveryLimit
                .resolve(version, &Value::I64(a), &Value::I64(b))
                .and_then(|limit| limit.as_integer())
        };
        assert_eq!(limit(V3_13, 5, -1), Some(-1));
        assert_eq!(limit(V4_0, 5, -1), Some(5));
        assert_eq!(limit(V4_0, 5, 7), Some(5));
        assert_eq!(merge_operator(V4_0, "delivery-limit", &Value::I64(-1), &Value::I64(9)), Some(Value::I64(9)));
        assert_eq!(merge_operator(V3_13, "delivery-limit", &Value::I64(3), &Value::I64(9)), Some(Value::I64(3)));
    }

    #[test]
    fn quorum_expires_is_the_policys_before_4_0_and_the_smaller_one_since() {
        assert_eq!(precedence(V3_13, QueueType::Quorum, "expires"), Some(Precedence::Policy));
        assert_eq!(precedence(V4_0, QueueType::Quorum, "expires"), Some(Precedence::Smaller));
        assert_eq!(precedence(V3_13, QueueType::Classic, "expires"), Some(Precedence::Smaller));
    }

    #[test]
    fn mirroring_keys_are_recognised_until_4_0() {
        assert!(recognises(V3_13, "ha-mode") && !recognises(V4_0, "ha-mode"));
        assert!(recognises(V4_0, "max-length") && !recognises(V4_0, "x-max-length"));
    }

    #[test]
    fn widths_of_numbers_do_not_matter() {
        assert_eq!(Precedence::Smaller.resolve(V4_0, &Value::I16(5), &Value::I64(9)), Some(Value::I64(5)));
        assert_eq!(Precedence::Smaller.resolve(V4_0, &Value::text("5"), &Value::I64(9)), None);
    }

    #[test]
    fn the_unsupported_keys_are_those_of_the_version() {
        let has = |version, kind, key| unsupported_keys(version, kind).any(|known| known == key);
        assert!(
            has(V3_13, QueueType::Classic, "queue-leader-locator")
                && !has(V4_0, QueueType::Classic, "queue-leader-locator")
        );
        assert!(has(Version::new(3, 12, 7), QueueType::Classic, "target-group-size"));
        assert!(!has(Version::new(3, 12, 6), QueueType::Classic, "target-group-size"));
        assert!(has(Version::new(4, 1, 8), QueueType::Quorum, "single-active-consumer"));
        assert!(!has(Version::new(4, 2, 0), QueueType::Quorum, "single-active-consumer"));
        assert!(has(V4_0, QueueType::Stream, "overflow") && !has(V4_0, QueueType::Quorum, "overflow"));
    }
}
