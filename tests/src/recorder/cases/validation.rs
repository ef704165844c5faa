//! First declarations: what an argument may hold for which queue type, and which of several faults is named.

use super::{ask, queue, values};
use crate::recorder::Case;
use acemq_core::value::Value;

pub(super) fn cases() -> Vec<Case> {
    [every_argument(), limits(), words(), several_faults()].concat()
}

const ARGUMENTS: [&str; 33] = [
    "x-expires",
    "x-message-ttl",
    "x-dead-letter-exchange",
    "x-dead-letter-routing-key",
    "x-dead-letter-strategy",
    "x-max-length",
    "x-max-length-bytes",
    "x-max-in-memory-length",
    "x-max-in-memory-bytes",
    "x-max-priority",
    "x-overflow",
    "x-queue-mode",
    "x-queue-version",
    "x-single-active-consumer",
    "x-queue-master-locator",
    "x-queue-leader-locator",
    "x-quorum-initial-group-size",
    "x-initial-cluster-size",
    "x-delivery-limit",
    "x-max-age",
    "x-stream-max-segment-size-bytes",
    "x-stream-filter-size-bytes",
    "x-consumer-timeout",
    "x-consumer-disconnected-timeout",
    "x-delayed-retry-type",
    "x-delayed-retry-min",
    "x-delayed-retry-max",
    "x-cancel-on-ha-failover",
    "x-member-placement-tag",
    "x-name-prefix",
    "x-unknown",
    "message-ttl",
    "alternate-exchange",
];

/// Every argument on every type with a value of each kind that the brokers tell apart.
fn every_argument() -> Vec<Case> {
    let kinds = ["bool", "negative", "zero", "signedint", "double", "longstr", "void", "array"];
    let values: Vec<_> = values().into_iter().filter(|(word, _)| kinds.contains(word)).collect();
    let mut cases = Vec::new();
    for kind in ["classic", "quorum", "stream"] {
        // 3.10 never answers to a master locator that is no text.
        for name in ARGUMENTS.into_iter().filter(|name| *name != "x-queue-master-locator") {
            for (word, value) in values.clone() {
                cases.push(ask(format!("value.{kind}.{name}.{word}"), queue("q").of_type(kind).with(name, value)));
            }
        }
    }
    cases
}

/// Numbers on both sides of each limit.
fn limits() -> Vec<Case> {
    let century: i64 = 315_360_000_000;
    let numbers: [(&str, &str, &[i64]); 16] = [
        ("classic", "x-expires", &[1, century, century + 1]),
        ("quorum", "x-expires", &[1, century, century + 1]),
        ("classic", "x-message-ttl", &[4_294_967_295, century, century + 1]),
        ("quorum", "x-message-ttl", &[4_294_967_295, century, century + 1]),
        ("classic", "x-max-length", &[i64::MAX, i64::MIN]),
        ("classic", "x-max-priority", &[1, 255, 256, 1000]),
        ("classic", "x-queue-version", &[1, 2, 3]),
        ("quorum", "x-quorum-initial-group-size", &[1, 2, 3, 100]),
        ("quorum", "x-delivery-limit", &[-1, 1]),
        ("quorum", "x-consumer-timeout", &[1, i64::MAX]),
        ("quorum", "x-delayed-retry-min", &[-1, century + 1]),
        ("stream", "x-initial-cluster-size", &[1, 2, 100]),
        ("stream", "x-max-length-bytes", &[1, i64::MAX]),
        ("stream", "x-stream-max-segment-size-bytes", &[1, 3_000_000_000, 3_000_000_001]),
        ("stream", "x-stream-filter-size-bytes", &[15, 16, 255, 256]),
        ("classic", "x-consumer-timeout", &[1]),
    ];
    let mut cases = Vec::new();
    for (kind, name, values) in numbers {
        for number in values {
            cases.push(ask(format!("limit.{kind}.{name}.{number}"), queue("q").of_type(kind).with(name, *number)));
        }
    }
    cases
}

/// Words that an argument takes, and near misses.
fn words() -> Vec<Case> {
    let words: [(&str, &str, &[&str]); 13] = [
        ("classic", "x-overflow", &["drop-head", "reject-publish", "reject-publish-dlx", "Drop-Head", "bogus"]),
        ("quorum", "x-overflow", &["drop-head", "reject-publish", "reject-publish-dlx", "bogus"]),
        ("quorum", "x-dead-letter-strategy", &["at-most-once", "at-least-once", "bogus"]),
        ("classic", "x-queue-mode", &["default", "lazy", "bogus"]),
        ("classic", "x-queue-master-locator", &["client-local", "min-masters", "random", "bogus"]),
        ("classic", "x-queue-leader-locator", &["client-local", "balanced", "bogus"]),
        (
            "quorum",
            "x-queue-leader-locator",
            &["client-local", "balanced", "least-leaders", "random", "min-masters", "bogus"],
        ),
        ("stream", "x-queue-leader-locator", &["client-local", "balanced", "least-leaders", "random", "bogus"]),
        (
            "stream",
            "x-max-age",
            &["1Y", "1M", "1D", "1h", "1m", "1s", "0D", "-1D", "D", "1W", "1d", "1DD", "1.5D", "10"],
        ),
        ("quorum", "x-delayed-retry-type", &["all", "failed", "returned", "disabled", "bogus"]),
        ("classic", "x-dead-letter-exchange", &["amq.direct", "no such exchange", "it's"]),
        ("quorum", "x-delivery-limit", &["5"]),
        (
            "classic",
            "x-queue-type",
            &["Classic", "QUORUM", "rabbit_classic_queue", "rabbit_quorum_queue", "bo'gus", "zusätzlich"],
        ),
    ];
    let mut cases = Vec::new();
    for (kind, name, values) in words {
        for word in values {
            cases.push(ask(format!("word.{kind}.{name}.{word}"), queue("q").of_type(kind).with(name, *word)));
        }
    }
    let key = |queue: crate::amqp::QueueRequest| queue.with("x-dead-letter-routing-key", "k");
    for kind in ["classic", "quorum", "stream"] {
        let plain = queue("q").of_type(kind);
        cases.push(ask(
            format!("word.{kind}.routing-key-with-exchange"),
            key(plain.clone().with("x-dead-letter-exchange", "x")),
        ));
        cases.push(ask(
            format!("word.{kind}.routing-key-before-exchange"),
            key(plain).with("x-dead-letter-exchange", "x"),
        ));
    }
    cases
}

/// Which of several faults is named.
fn several_faults() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in ["classic", "quorum", "stream"] {
        let id = |what: &str| format!("faults.{kind}.{what}");
        let plain = queue("q").of_type(kind);
        // One fault after the other is left out, from the front of the broker's list.
        for start in 0..ARGUMENTS.len() {
            let faulty = ARGUMENTS[start..].iter().rev().fold(queue("q"), |queue, name| queue.with(name, Value::Void));
            cases.push(ask(id(&format!("from-{}", ARGUMENTS[start])), faulty.of_type(kind)));
        }
        cases.push(ask(id("value-before-flag"), plain.clone().with("x-max-length-bytes", -1).auto_delete()));
        cases.push(ask(id("flags"), plain.clone().auto_delete().exclusive().transient()));
        let foreign = plain.clone().with("x-max-age", "1D").with("x-max-priority", 5).with("x-delivery-limit", 1);
        cases.push(ask(id("foreign-in-order"), foreign));
        let foreign = plain.clone().with("x-delivery-limit", 1).with("x-max-priority", 5).with("x-max-age", "1D");
        cases.push(ask(id("foreign-in-reverse"), foreign.clone()));
        cases.push(ask(id("foreign-before-flag"), foreign.auto_delete()));
        cases.push(ask(id("reserved-name-before-all"), queue("amq.q").of_type("bogus").with("x-message-ttl", "x")));
        cases.push(ask(id("named-by-broker"), queue("").of_type(kind)));
        cases.push(ask(id("named-by-broker-exclusive"), queue("").of_type(kind).exclusive()));
    }
    cases.push(ask("faults.type-before-value", queue("q").with("x-message-ttl", "x").of_type("bogus")));
    cases.push(ask("faults.dead-letter-before-type", queue("q").with("x-dead-letter-exchange", 5).of_type("bogus")));
    cases.push(ask("faults.named-by-broker-bogus", queue("").of_type("bogus")));
    cases.push(ask("faults.transient", queue("q").transient()));
    cases
}
