//! The arguments that RabbitMQ knows: which queue type takes them, compares them, and what value each must have.
//!
//! Each queue type has one list. What stands on it is validated when a queue is created and compared when it is declared
//! again; what stands only on another type's list is refused at creation; everything else (`x-foo`) is stored and never
//! looked at. Before 3.9 there was one list for all types.

pub(crate) mod check;
mod faults;

pub use check::MAX_EXPIRY_MS;
pub use faults::{ArgumentFault, Fault, check_arguments};

use super::changes::{
    ALWAYS_TYPED, LISTS_BY_TYPE, PLACEMENT_TAG, QUORUM_CONSUMER_TIMEOUT, QUORUM_TTL, STREAM_ARGUMENT_FIXES, Since, V4_3,
};
use super::{QueueType, Version};
use crate::value::Table;

/// An argument on the list of a queue type, and since when.
type Listed = (&'static str, Option<Since>);

const fn always(name: &'static str) -> Listed {
    (name, None)
}

const fn since(name: &'static str, since: Since) -> Listed {
    (name, Some(since))
}

/// What a classic queue compares, in the broker's order.
const CLASSIC: &[Listed] = &[
    always("x-expires"),
    always("x-message-ttl"),
    always("x-dead-letter-exchange"),
    always("x-dead-letter-routing-key"),
    always("x-max-length"),
    always("x-max-length-bytes"),
    always("x-max-priority"),
    always("x-overflow"),
    always("x-queue-mode"),
    always("x-queue-version"),
    always("x-single-active-consumer"),
    always("x-queue-type"),
    always("x-queue-master-locator"),
    since("x-queue-leader-locator", ALWAYS_TYPED),
];

/// What a quorum queue compares.
const QUORUM: &[Listed] = &[
    always("x-dead-letter-exchange"),
    always("x-dead-letter-routing-key"),
    since("x-dead-letter-strategy", QUORUM_TTL),
    always("x-expires"),
    always("x-max-length"),
    always("x-max-length-bytes"),
    always("x-max-in-memory-length"),
    always("x-max-in-memory-bytes"),
    always("x-overflow"),
    always("x-single-active-consumer"),
    always("x-queue-type"),
    always("x-quorum-initial-group-size"),
    since("x-member-placement-tag", PLACEMENT_TAG),
    always("x-delivery-limit"),
    since("x-message-ttl", QUORUM_TTL),
    always("x-queue-leader-locator"),
    since("x-consumer-disconnected-timeout", V4_3),
    since("x-consumer-timeout", QUORUM_CONSUMER_TIMEOUT),
    since("x-delayed-retry-type", V4_3),
    since("x-delayed-retry-min", V4_3),
    since("x-delayed-retry-max", V4_3),
];

/// What a stream compares.
const STREAM: &[Listed] = &[
    always("x-max-length-bytes"),
    always("x-queue-type"),
    always("x-max-age"),
    always("x-stream-max-segment-size-bytes"),
    since("x-stream-filter-size-bytes", STREAM_ARGUMENT_FIXES),
    always("x-initial-cluster-size"),
    always("x-queue-leader-locator"),
];

/// What every queue compared before each type had a list of its own.
const EVERY_TYPE: &[Listed] = &[
    always("x-expires"),
    always("x-message-ttl"),
    always("x-dead-letter-exchange"),
    always("x-dead-letter-routing-key"),
    always("x-max-length"),
    always("x-max-length-bytes"),
    always("x-max-in-memory-length"),
    always("x-max-in-memory-bytes"),
    always("x-max-priority"),
    always("x-overflow"),
    always("x-queue-mode"),
    always("x-single-active-consumer"),
    always("x-queue-type"),
    always("x-quorum-initial-group-size"),
];

/// What a quorum queue refused then, in that order.
const REFUSED_BY_QUORUM: &[&str] = &["x-expires", "x-message-ttl", "x-max-priority", "x-queue-mode", "x-overflow"];

/// The arguments that a queue of `kind` knows and compares in `version`, in the order in which the broker compares them.
///
/// Source: `capabilities/0` of `rabbit_classic_queue`, `rabbit_quorum_queue` and `rabbit_stream_queue`; before 3.9
/// `rabbit_amqqueue:declare_args/0`.
pub fn known_arguments(version: Version, kind: QueueType) -> impl Iterator<Item = &'static str> {
    let listed = match kind {
        _ if !LISTS_BY_TYPE.holds(version) => EVERY_TYPE,
        QueueType::Classic => CLASSIC,
        QueueType::Quorum => QUORUM,
        QueueType::Stream => STREAM,
    };
    listed.iter().filter(move |(_, since)| since.is_none_or(|since| since.holds(version))).map(|(name, _)| *name)
}

/// Whether `argument` is one of [`known_arguments`].
pub(crate) fn is_known(version: Version, kind: QueueType, argument: &str) -> bool {
    known_arguments(version, kind).any(|known| known == argument)
}

/// The arguments of `table` for which the broker refuses a new queue of `kind` whatever their value, in the order in which
/// it looks: from 3.9 on those that other types know and this one does not, in the table's order.
pub fn foreign_arguments(version: Version, kind: QueueType, table: &Table) -> Vec<&str> {
    if !LISTS_BY_TYPE.holds(version) {
        let refused: &[&str] = if kind == QueueType::Quorum { REFUSED_BY_QUORUM } else { &[] };
        return refused.iter().copied().filter(|name| table.contains(name)).collect();
    }
    let foreign = |name: &str| {
        !is_known(version, kind, name) && QueueType::ALL.into_iter().any(|other| is_known(version, other, name))
    };
    table.iter().map(|(name, _)| name).filter(|name| foreign(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    fn foreign(version: &str, kind: QueueType, names: &[&str]) -> Vec<String> {
        let table: Table = names.iter().map(|name| (*name, Value::I64(1))).collect();
        foreign_arguments(version.parse().unwrap(), kind, &table).into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn an_argument_is_foreign_only_while_another_type_knows_it() {
        // rabbitmq.md 2.2: unknown before 4.3.0, then quorum only.
        let retry = ["x-delayed-retry-type"];
        assert!(foreign("4.2.9", QueueType::Classic, &retry).is_empty());
        assert_eq!(foreign("4.3.0", QueueType::Classic, &retry), retry);
        assert!(foreign("4.3.0", QueueType::Quorum, &retry).is_empty());
        // The leader locator came to classic queues with 4.0.
        let locator = ["x-queue-leader-locator"];
        assert_eq!(foreign("3.13.7", QueueType::Classic, &locator), locator);
        assert!(foreign("4.0.0", QueueType::Classic, &locator).is_empty());
    }

    #[test]
    fn foreign_arguments_come_in_the_order_of_the_table() {
        let names = ["x-queue-mode", "x-unknown", "x-max-priority", "x-max-age"];
        assert_eq!(foreign("3.10.8", QueueType::Quorum, &names), ["x-queue-mode", "x-max-priority", "x-max-age"]);
        // One fixed order before the types had lists.
        assert_eq!(foreign("3.8.9", QueueType::Quorum, &names), ["x-max-priority", "x-queue-mode"]);
        assert!(foreign("3.8.9", QueueType::Classic, &names).is_empty());
    }
}
