//! Redeclared and passively declared queues: what is compared, in which order, and what stands before the comparison.

use super::{ask, queue, values};
use crate::recorder::Case;
use acemq_core::value::Value;

pub(super) fn cases() -> Vec<Case> {
    [arguments(), types_of_values(), queue_types(), order(), flags(), guards(), passive(), default_types(), rights()]
        .concat()
}

/// For each type, arguments with two values that it takes.
fn pairs(kind: &str) -> Vec<(&'static str, Value, Value)> {
    let number = |name, one: i32, other: i32| (name, Value::I32(one), Value::I32(other));
    let text = |name, one, other| (name, Value::text(one), Value::text(other));
    let flag = |name| (name, Value::Bool(true), Value::Bool(false));
    match kind {
        "classic" => vec![
            number("x-expires", 600_000, 700_000),
            number("x-message-ttl", 1000, 2000),
            text("x-dead-letter-exchange", "a", "b"),
            number("x-max-length", 1, 2),
            number("x-max-length-bytes", 1, 2),
            number("x-max-priority", 1, 2),
            text("x-overflow", "drop-head", "reject-publish"),
            text("x-queue-mode", "default", "lazy"),
            number("x-queue-version", 1, 2),
            flag("x-single-active-consumer"),
            text("x-queue-leader-locator", "client-local", "balanced"),
            text("x-queue-master-locator", "client-local", "min-masters"),
            number("x-consumer-timeout", 60_000, 70_000),
            number("x-delivery-limit", 1, 2),
            text("x-unknown", "a", "b"),
            number("message-ttl", 1, 2),
        ],
        "quorum" => vec![
            text("x-dead-letter-exchange", "a", "b"),
            text("x-dead-letter-strategy", "at-most-once", "at-least-once"),
            number("x-expires", 600_000, 700_000),
            number("x-max-length", 1, 2),
            number("x-max-length-bytes", 1, 2),
            number("x-max-in-memory-length", 1, 2),
            number("x-max-in-memory-bytes", 1, 2),
            text("x-overflow", "drop-head", "reject-publish"),
            flag("x-single-active-consumer"),
            number("x-quorum-initial-group-size", 1, 3),
            number("x-delivery-limit", 1, 2),
            number("x-message-ttl", 1000, 2000),
            text("x-queue-leader-locator", "client-local", "balanced"),
            number("x-consumer-timeout", 60_000, 70_000),
            number("x-consumer-disconnected-timeout", 60_000, 70_000),
            text("x-delayed-retry-type", "all", "failed"),
            number("x-delayed-retry-min", 1000, 2000),
            number("x-delayed-retry-max", 3000, 4000),
            number("x-stream-filter-size-bytes", 16, 17),
            text("x-unknown", "a", "b"),
        ],
        _ => vec![
            number("x-max-length-bytes", 1000, 2000),
            text("x-max-age", "1D", "2D"),
            number("x-stream-max-segment-size-bytes", 1000, 2000),
            number("x-stream-filter-size-bytes", 16, 17),
            number("x-initial-cluster-size", 1, 2),
            text("x-queue-leader-locator", "client-local", "balanced"),
            number("x-consumer-timeout", 60_000, 70_000),
            text("x-unknown", "a", "b"),
        ],
    }
}

fn arguments() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in ["classic", "quorum", "stream"] {
        let plain = queue("q").of_type(kind);
        for (name, one, other) in pairs(kind) {
            let (with_one, with_other) = (plain.clone().with(name, one), plain.clone().with(name, other));
            let id = |what| format!("redeclare.{kind}.{name}.{what}");
            cases.extend([
                ask(id("first"), with_one.clone()),
                ask(id("same"), with_one.clone()).after(with_one.clone()),
                ask(id("other"), with_other).after(with_one.clone()),
                ask(id("without"), plain.clone()).after(with_one.clone()),
                ask(id("added"), with_one).after(plain.clone()),
            ]);
        }
    }
    let letters = |key: &str| queue("q").with("x-dead-letter-exchange", "x").with("x-dead-letter-routing-key", key);
    cases.push(ask("redeclare.dead-letter-routing-key.other", letters("b")).after(letters("a")));
    let only_exchange = queue("q").with("x-dead-letter-exchange", "x");
    cases.push(ask("redeclare.dead-letter-routing-key.without", only_exchange.clone()).after(letters("a")));
    cases.push(ask("redeclare.dead-letter-routing-key.added", letters("")).after(only_exchange));
    // Since 4.3.6 ages are compared as durations.
    let age = |age: &str| queue("q").of_type("stream").with("x-max-age", age);
    for (there, asked) in [("1D", "24h"), ("1D", "1440m"), ("12M", "1Y"), ("1D", "bogus"), ("1M", "1m")] {
        cases.push(ask(format!("redeclare.stream.x-max-age.{there}-{asked}"), age(asked)).after(age(there)));
    }
    cases
}

/// The same number or text in every wire type, against a number, a text and a flag.
fn types_of_values() -> Vec<Case> {
    let stored = [
        ("x-message-ttl", Value::I32(5)),
        ("x-dead-letter-exchange", Value::text("5")),
        ("x-single-active-consumer", Value::Bool(true)),
    ];
    let mut cases = Vec::new();
    for (name, there) in stored {
        for (word, value) in values() {
            let asked = queue("q").with(name, value);
            cases.push(ask(format!("type.{name}.{word}"), asked.clone()).after(queue("q").with(name, there.clone())));
            cases.push(ask(format!("type.{name}.{word}.added"), asked).after(queue("q")));
        }
    }
    cases.push(
        ask("type.decimal", queue("q").with("x-message-ttl", Value::Decimal { scale: 0, unscaled: 5 }))
            .after(queue("q").with("x-message-ttl", Value::I32(6))),
    );
    cases.push(
        ask("type.decimal.added", queue("q").with("x-message-ttl", Value::Decimal { scale: 2, unscaled: 314 }))
            .after(queue("q")),
    );
    cases
}

fn queue_types() -> Vec<Case> {
    let kinds = [None, Some("classic"), Some("quorum"), Some("stream"), Some("bogus"), Some("undefined"), Some("")];
    let of = |kind: Option<&str>| kind.map_or_else(|| queue("q"), |kind| queue("q").of_type(kind));
    let word = |kind: Option<&'static str>| match kind {
        None => "none",
        Some("") => "empty",
        Some(kind) => kind,
    };
    let mut cases = Vec::new();
    for there in kinds {
        cases.push(ask(format!("queue-type.{}", word(there)), of(there)));
        for asked in kinds {
            cases.push(ask(format!("queue-type.{}-{}", word(there), word(asked)), of(asked)).after(of(there)));
        }
    }
    for (word, value) in values() {
        cases.push(ask(format!("queue-type.as-{word}"), queue("q").with("x-queue-type", value.clone())));
        cases.push(
            ask(format!("queue-type.quorum-as-{word}"), queue("q").with("x-queue-type", value))
                .after(queue("q").of_type("quorum")),
        );
    }
    let binary = queue("q").with("x-queue-type", Value::Binary(b"classic".to_vec()));
    cases.push(ask("queue-type.classic-as-bytes", binary).after(queue("q").of_type("classic")));
    cases
}

/// Only the first difference is named.
fn order() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in ["classic", "quorum", "stream"] {
        let pairs = pairs(kind);
        for start in 0..pairs.len() {
            let (mut there, mut asked) = (queue("q"), queue("q"));
            // In reverse, so that neither the table's own order nor the alphabet explains the answer.
            for (name, one, other) in pairs[start..].iter().rev() {
                there = there.with(name, one.clone());
                asked = asked.with(name, other.clone());
            }
            let (there, asked) = (there.of_type(kind), asked.of_type(kind));
            cases.push(ask(format!("order.{kind}.from-{}", pairs[start].0), asked).after(there));
        }
    }
    let there = queue("q").with("x-message-ttl", Value::I32(1));
    let asked = queue("q").with("x-message-ttl", Value::I32(2));
    let of_another_type = |name: &str| ask(format!("order.{name}"), asked.clone().of_type("quorum"));
    cases.push(of_another_type("ttl-before-type").after(there.clone()));
    cases.push(ask("order.durable-before-ttl", asked.clone().transient()).after(there.clone()));
    cases.push(ask("order.auto-delete-before-ttl", asked.clone().auto_delete()).after(there.clone()));
    cases.push(ask("order.durable-before-auto-delete", asked.clone().transient().auto_delete()).after(there.clone()));
    cases.push(ask("order.exclusive-before-all", asked.transient().auto_delete().exclusive()).after(there));
    cases.push(
        ask("order.foreign-arguments-are-not-compared", queue("q").of_type("quorum").with("x-max-priority", 5))
            .after(queue("q").of_type("quorum")),
    );
    cases
}

fn flags() -> Vec<Case> {
    let all = [false, true]
        .map(|durable| [false, true].map(|exclusive| [false, true].map(|auto| (durable, exclusive, auto))));
    let all: Vec<_> = all.into_iter().flatten().flatten().collect();
    let of =
        |(durable, exclusive, auto_delete)| crate::amqp::QueueRequest { durable, exclusive, auto_delete, ..queue("q") };
    let word = |(durable, exclusive, auto_delete)| {
        let letter = |set, letter| if set { letter } else { "-" };
        format!("{}{}{}", letter(durable, "d"), letter(exclusive, "e"), letter(auto_delete, "a"))
    };
    let mut cases = Vec::new();
    for there in &all {
        cases.push(ask(format!("flags.{}", word(*there)), of(*there)));
        for kind in ["quorum", "stream"] {
            cases.push(ask(format!("flags.{kind}.{}", word(*there)), of(*there).of_type(kind)));
        }
        for asked in &all {
            cases.push(ask(format!("flags.{}.{}", word(*there), word(*asked)), of(*asked)).after(of(*there)));
        }
        cases.push(ask(format!("flags.elsewhere.{}", word(*there)), of(*there)).exclusive_elsewhere());
    }
    let differs = queue("q").exclusive().with("x-message-ttl", Value::I32(1));
    cases.push(ask("flags.elsewhere.differs", differs).exclusive_elsewhere());
    cases
}

/// An argument that no queue of the type may have: ignored where the queue exists, refused last where it does not.
fn guards() -> Vec<Case> {
    let mut cases = Vec::new();
    for (kind, guard, value) in [
        ("classic", "x-stream-max-segment-size-bytes", 1000),
        ("quorum", "x-stream-max-segment-size-bytes", 1000),
        ("stream", "x-delivery-limit", 1),
    ] {
        let plain = queue("q").of_type(kind);
        let guarded = plain.clone().with(guard, value);
        cases.push(ask(format!("guard.{kind}.absent"), guarded.clone()));
        cases.push(ask(format!("guard.{kind}.there"), guarded.clone()).after(plain.clone()));
        cases.push(ask(format!("guard.{kind}.transient"), guarded.clone().transient()));
        cases.push(ask(format!("guard.{kind}.auto-delete"), guarded.clone().auto_delete()));
        cases.push(ask(format!("guard.{kind}.exclusive"), guarded.clone().exclusive()));
        let (name, one, other) = &pairs(kind)[0];
        cases.push(
            ask(format!("guard.{kind}.differs"), guarded.clone().with(name, other.clone()))
                .after(plain.clone().with(name, one.clone())),
        );
        cases.push(ask(format!("guard.{kind}.invalid"), guarded.clone().with(name, Value::Void)));
        cases.push(ask(format!("guard.{kind}.no-rights"), guarded.clone()).with_rights("^$", "^$", "^$"));
        cases.push(
            ask(
                format!("guard.{kind}.no-right-on-the-dead-letter-exchange"),
                guarded.with("x-dead-letter-exchange", "x"),
            )
            .with_rights("^q", "^$", "^q"),
        );
    }
    let untyped = queue("q").with("x-stream-max-segment-size-bytes", 1000);
    for kind in ["classic", "quorum", "stream"] {
        cases.push(ask(format!("guard.untyped.default-{kind}"), untyped.clone()).in_vhost_of(kind));
    }
    cases
}

fn passive() -> Vec<Case> {
    let passive = queue("q").passively();
    let odd = queue("q").transient().auto_delete().of_type("bogus").with("x-message-ttl", "x").passively();
    let mut cases = vec![
        ask("passive.absent", passive.clone()),
        ask("passive.there", passive.clone()).after(queue("q")),
        ask("passive.differs", odd).after(queue("q").of_type("quorum")),
        ask("passive.exclusive", passive.clone()).after(queue("q").exclusive()),
        ask("passive.exclusive-flag", passive.clone().exclusive()).after(queue("q")),
        ask("passive.elsewhere", passive.clone()).exclusive_elsewhere(),
    ];
    let rights = [
        ("none", "^$", "^$", "^$"),
        ("configure", ".*", "^$", "^$"),
        ("write", "^$", ".*", "^$"),
        ("read", "^$", "^$", ".*"),
    ];
    for (word, configure, write, read) in rights {
        cases.push(ask(format!("passive.right.{word}.absent"), passive.clone()).with_rights(configure, write, read));
        cases.push(
            ask(format!("passive.right.{word}.there"), passive.clone())
                .after(queue("q"))
                .with_rights(configure, write, read),
        );
    }
    cases
}

/// What a table without a type means in a vhost that has a default type.
fn default_types() -> Vec<Case> {
    let mut cases = Vec::new();
    for default in ["classic", "quorum", "stream"] {
        let id = |what: &str| format!("default-type.{default}.{what}");
        cases.push(ask(id("absent"), queue("q")).in_vhost_of(default));
        cases.push(ask(id("again"), queue("q")).after(queue("q")).in_vhost_of(default));
        for kind in ["classic", "quorum", "stream", "undefined", ""] {
            let typed = queue("q").of_type(kind);
            let word = if kind.is_empty() { "empty" } else { kind };
            cases.push(ask(id(&format!("asked-{word}")), typed.clone()).after(queue("q")).in_vhost_of(default));
            cases.push(ask(id(&format!("there-{word}")), queue("q")).after(typed).in_vhost_of(default));
        }
        for (word, flagged) in [
            ("transient", queue("q").transient()),
            ("exclusive", queue("q").exclusive()),
            ("auto-delete", queue("q").auto_delete()),
        ] {
            cases.push(ask(id(word), flagged.clone()).in_vhost_of(default));
            cases.push(ask(id(&format!("{word}-again")), flagged.clone()).after(flagged).in_vhost_of(default));
        }
        cases.push(ask(id("named-by-broker"), queue("")).in_vhost_of(default));
        cases.push(ask(id("named-by-broker-exclusive"), queue("").exclusive()).in_vhost_of(default));
        // The default type is put into the table in its alphabetical place.
        let foreign = queue("q").with("x-max-priority", 5).with("x-max-age", "1D").with("x-delivery-limit", 1);
        cases.push(ask(id("foreign"), foreign).in_vhost_of(default));
        cases.push(ask(id("priority"), queue("q").with("x-max-priority", 5)).in_vhost_of(default));
    }
    cases
}

fn rights() -> Vec<Case> {
    let letters = queue("q").with("x-dead-letter-exchange", "x");
    let mut cases = vec![
        ask("right.configure", queue("q")).with_rights("^other", ".*", ".*"),
        ask("right.configure.there", queue("q")).after(queue("q")).with_rights("^other", ".*", ".*"),
        ask("right.configure.only", queue("q")).with_rights("^q$", "^$", "^$"),
        ask("right.dead-letter.read", letters.clone()).with_rights(".*", ".*", "^x$"),
        ask("right.dead-letter.write", letters.clone()).with_rights(".*", "^q$", ".*"),
        ask("right.dead-letter.both", letters.clone()).with_rights(".*", "^$", "^$"),
        ask("right.dead-letter.there", letters.clone()).after(letters.clone()).with_rights(".*", "^$", "^$"),
        ask("right.dead-letter.default", queue("q").with("x-dead-letter-exchange", "")).with_rights(".*", "^q$", ".*"),
        ask("right.dead-letter.number", queue("q").with("x-dead-letter-exchange", 5)).with_rights(".*", "^$", "^$"),
        ask("right.before-arguments", letters.with("x-message-ttl", "x")).with_rights(".*", "^$", "^$"),
        ask("right.after-name", queue("amq.q")).with_rights("^$", "^$", "^$"),
        ask("right.empty-pattern", queue("q")).with_rights("", "", ""),
    ];
    cases.push(ask("right.quote", queue("it's")).with_rights("^$", "^$", "^$"));
    cases
}
