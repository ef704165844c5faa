//! When RabbitMQ changed a rule: one named entry per change, so that no version number stands anywhere else.
//!
//! A fix is often backported, so a change holds from one patch of *each* branch on: `4.2.7` and `4.3.1` means every
//! 4.2.x from 4.2.7, every 4.3.x from 4.3.1, and everything after 4.3.

use super::Version;

/// The versions from which on a rule holds, one for each branch that got it, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Since(&'static [(u16, u16, u16)]);

impl Since {
    /// Whether `version` has the change.
    pub(crate) fn holds(self, version: Version) -> bool {
        let branch = (version.major, version.minor);
        let same_branch = self.0.iter().find(|(major, minor, _)| (*major, *minor) == branch);
        match (same_branch, self.0.last()) {
            (Some((_, _, patch)), _) => version.patch >= *patch,
            (None, Some((major, minor, _))) => branch > (*major, *minor),
            (None, None) => true,
        }
    }
}

macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident = $(($major:literal, $minor:literal, $patch:literal)),*;)*) => {
        $($(#[$doc])* pub(crate) const $name: Since = Since(&[$(($major, $minor, $patch)),*]);)*
    };
}

changes! {
    /// Streams exist, each queue type has its own list of arguments, and a bad integer or type is worded as today.
    LISTS_BY_TYPE = (3, 9, 0);
    /// Quorum queues take `x-message-ttl`, and `x-dead-letter-strategy` exists.
    QUORUM_TTL = (3, 10, 0);
    /// A headers binding may say `all-with-x` or `any-with-x`.
    MATCH_WITH_X = (3, 10, 0);
    /// Quorum queues keep no messages in memory, so `max-in-memory-…` limits nothing.
    IN_MEMORY_GONE = (3, 10, 0);
    /// `x-expires` and `x-message-ttl` have an upper limit.
    EXPIRY_LIMIT = (3, 10, 2);
    /// `x-stream-max-segment-size-bytes` has an upper limit.
    SEGMENT_SIZE_LIMIT = (3, 10, 6);
    /// A vhost has a default queue type.
    DEFAULT_QUEUE_TYPE = (3, 10, 8);
    /// `quorum_queue.property_equivalence.relaxed_checks_on_redeclaration` exists.
    RELAXED_REDECLARE = (3, 11, 16), (3, 12, 0);
    /// `access to …` became `configure access to …`, and texts are built from characters instead of bytes.
    CHARACTER_TEXTS = (3, 12, 0);
    /// A policy can be for `classic_queues`, `quorum_queues` or `streams` alone.
    TYPED_APPLY_TO = (3, 12, 0);
    /// `x-queue-mode` has no effect: every classic queue pages its messages out.
    LAZY_MODE_GONE = (3, 12, 0);
    /// More policy keys of quorum queues keep a policy off classic queues and streams.
    FOREIGN_POLICY_KEYS = (3, 12, 7);
    /// Classic queues ignore `x-queue-mode`.
    LAZY_BY_NATURE = (3, 12, 0);
    /// Queue limits are checked after the arguments, and a cluster has one too.
    LATE_QUEUE_LIMIT = (3, 13, 0);
    /// Expiration and `CC` of a message are checked before its `user_id`.
    CONTENT_BEFORE_USER = (3, 13, 0);
    /// Headers are matched by exact equality, and a message's timestamps count in milliseconds.
    EXACT_HEADERS = (3, 13, 0);
    /// Deaths are kept beside the message until delivery, and the last one is written too; `CC` survives an overriding key.
    DEATHS_BESIDE = (3, 13, 0);
    /// A quorum queue shows `x-delivery-count` only when it is above 0.
    COUNT_WHEN_COUNTED = (3, 13, 0);
    /// Deaths are scanned by age again, and an `x-death` that a client sends counts again.
    DEATHS_BY_AGE = (3, 13, 3);
    /// Features can be deprecated, and denied by the configuration.
    DEPRECATED_FEATURES = (3, 13, 0);
    /// `x-stream-filter-size-bytes` exists.
    STREAM_FILTER = (3, 13, 0);
    /// An unknown exchange type is 406 on the channel; it was 503 on the connection.
    SOFT_UNKNOWN_EXCHANGE_TYPE = (3, 13, 3);
    /// A declaration that the default type does not fit gets `x-queue-type=classic`; it was left alone.
    FALL_BACK_TO_CLASSIC = (3, 13, 4);
    /// An import of definitions fails at a binding whose exchange or queue is missing; it passed over it.
    STRICT_BINDING_IMPORT = (3, 13, 6);
    /// Every declaration gets an `x-queue-type`, from the vhost, the node, or classic; quorum `expires` and classic leader locators.
    ALWAYS_TYPED = (4, 0, 0);
    /// An `x-death` that a client sends is overwritten.
    OWN_DEATHS_ONLY = (4, 0, 0);
    /// Quorum queues limit deliveries to 20 unless told otherwise, know two priorities, take the smaller `expires`, and hand
    /// the number of failed deliveries on with a dead letter.
    V4_QUORUM = (4, 0, 0);
    /// A refused stream consumer reads `stream queue 'N' in vhost 'V'`.
    STREAM_NAMED_ONCE = (4, 0, 0);
    /// Texts are cut by characters and sent as UTF-8.
    UTF8_TEXTS = (4, 0, 5);
    /// A cluster has a limit of exchanges.
    EXCHANGE_LIMIT = (4, 1, 4);
    /// The policy key `single-active-consumer`, which sets nothing, keeps no policy off any more.
    SINGLE_ACTIVE_POLICY_KEY = (4, 2, 0);
    /// A passive declaration needs `configure`.
    PASSIVE_NEEDS_CONFIGURE = (4, 2, 6), (4, 3, 0);
    /// A passive declaration needs any of the three permissions.
    PASSIVE_NEEDS_ANY = (4, 2, 7), (4, 3, 1);
    /// `x-stream-filter-size-bytes` is compared and validated like other arguments, and a bad `x-max-age` no longer crashes.
    STREAM_ARGUMENT_FIXES = (4, 2, 7), (4, 3, 1);
    /// `x-queue-type=""` means the default type.
    EMPTY_QUEUE_TYPE = (4, 2, 8), (4, 3, 2);
    /// Transient non-exclusive queues and `x-queue-master-locator` are denied upstream; delayed retry; queue version 2 only.
    V4_3 = (4, 3, 0);
    /// A channel-wide prefetch is taken as one for each consumer.
    NO_GLOBAL_QOS = (4, 3, 0);
    /// Quorum queues know 32 priorities, count only failed deliveries against their limit, put back at the front without a
    /// limit too, count properties among a message's bytes, and classic queues count failed deliveries as well.
    V4_3_QUEUES = (4, 3, 0);
    /// The policy keys `selector-…` keep a policy off everything but their own queue type.
    SELECTORS = (4, 3, 0);
    /// `x-consumer-timeout` belongs to quorum queues.
    QUORUM_CONSUMER_TIMEOUT = (4, 3, 2);
    /// At most two `#` in a topic binding key.
    TWO_HASHES = (4, 3, 5);
    /// `x-max-age` is compared as a duration; a server-named queue of an unknown type is refused instead of crashing.
    DURATION_EQUIVALENCE = (4, 3, 6);
    /// `x-member-placement-tag` (the development version after 4.3).
    PLACEMENT_TAG = (4, 4, 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backported_change_holds_from_its_patch_of_each_branch() {
        let holds = |text: &str| PASSIVE_NEEDS_ANY.holds(text.parse().unwrap());
        assert!(!holds("4.1.8") && !holds("4.2.6") && !holds("4.3.0"));
        assert!(holds("4.2.7") && holds("4.2.9") && holds("4.3.1") && holds("4.4.0"));
    }
}
