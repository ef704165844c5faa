//! The arguments that RabbitMQ knows: which queue type takes them, compares them, and what value each must have.

pub(crate) mod check;
mod faults;

pub use check::MAX_EXPIRY_MS;
pub use faults::{ArgumentFault, Fault, check_arguments};

use super::changes::{
    ALWAYS_TYPED, PLACEMENT_TAG, QUORUM_CONSUMER_TIMEOUT, QUORUM_TTL, STREAM_ARGUMENT_FIXES, Since, V4_3,
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

/// The arguments that a queue of `kind` knows and compares in `version`, in the order in which the broker compares them.
///
/// Source: `capabilities/0` of `rabbit_classic_queue`, `rabbit_quorum_queue` and `rabbit_stream_queue`.
pub fn known_arguments(version: Version, kind: QueueType) -> impl Iterator<Item = &'static str> {
    let listed = match kind {
        QueueType::Classic => CLASSIC,
        QueueType::Quorum => QUORUM,
        QueueType::Stream => STREAM,
    };
    listed.iter().filter(move |(_, since)| since.is_none_or(|since| since.holds(version))).map(|(name, _)| *name)
}

/// The arguments of `table` that `kind` does not know but another type does, in the table's order: the broker refuses a new
/// queue that carries one.
pub fn foreign_arguments(version: Version, kind: QueueType, table: &Table) -> impl Iterator<Item = &str> {
    let own: Vec<&str> = known_arguments(version, kind).collect();
    let foreign: Vec<&str> = QueueType::ALL
        .into_iter()
        .flat_map(|kind| known_arguments(version, kind))
        .filter(|a| !own.contains(a))
        .collect();
    table.iter().map(|(name, _)| name).filter(move |name| foreign.contains(name))
}
