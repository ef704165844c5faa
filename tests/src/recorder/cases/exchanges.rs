//! Exchanges.

use super::{ask, exchange, values};
use crate::amqp::ExchangeRequest;
use crate::recorder::Case;
use acemq_core::value::Value;

pub(super) fn cases() -> Vec<Case> {
    [types(), flags(), alternates(), predeclared(), passive(), rights()].concat()
}

fn types() -> Vec<Case> {
    let known = ["direct", "fanout", "topic", "headers"];
    let odd = [
        "bogus",
        "",
        "Direct",
        "di'rect",
        "queue",
        "x-local-random",
        "x-modulus-hash",
        "x-delayed-message",
        "x-consistent-hash",
        "zusätzlich",
    ];
    let mut cases = Vec::new();
    for there in known {
        cases.push(ask(format!("exchange-type.{there}"), exchange("e", there)));
        for asked in known {
            cases.push(ask(format!("exchange-type.{there}-{asked}"), exchange("e", asked)).after(exchange("e", there)));
        }
    }
    for kind in odd {
        let word = if kind.is_empty() { "empty" } else { kind };
        cases.push(ask(format!("exchange-type.{word}"), exchange("e", kind)));
        cases.push(ask(format!("exchange-type.direct-{word}"), exchange("e", kind)).after(exchange("e", "direct")));
        cases.push(ask(format!("exchange-type.{word}-direct"), exchange("e", "direct")).after(exchange("e", kind)));
    }
    let faulty = ExchangeRequest { durable: false, auto_delete: true, internal: true, ..exchange("e", "topic") };
    cases.push(ask("exchange-type.before-flags", faulty.clone()).after(exchange("e", "direct")));
    cases.push(ask("exchange-type.bogus-before-name", exchange("", "bogus")));
    cases.push(ask("exchange-type.bogus-before-right", exchange("e", "bogus")).with_rights("^$", "^$", "^$"));
    let delayed = exchange("e", "x-delayed-message").with("x-delayed-type", "direct");
    cases.push(ask("exchange-type.delayed", delayed));
    cases
}

fn flags() -> Vec<Case> {
    let all: Vec<_> = (0..8).map(|bits| (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0)).collect();
    let of =
        |(durable, auto_delete, internal)| ExchangeRequest { durable, auto_delete, internal, ..exchange("e", "topic") };
    let word = |(durable, auto_delete, internal)| {
        let letter = |set, letter| if set { letter } else { "-" };
        format!("{}{}{}", letter(durable, "d"), letter(auto_delete, "a"), letter(internal, "i"))
    };
    let mut cases = Vec::new();
    for there in &all {
        for asked in &all {
            cases.push(ask(format!("exchange-flags.{}.{}", word(*there), word(*asked)), of(*asked)).after(of(*there)));
        }
    }
    cases
}

fn alternates() -> Vec<Case> {
    let plain = exchange("e", "topic");
    let with = |name: &str| exchange("e", "topic").with("alternate-exchange", name);
    let mut cases = vec![
        ask("alternate.same", with("a")).after(with("a")),
        ask("alternate.other", with("b")).after(with("a")),
        ask("alternate.empty", with("")).after(with("a")),
        ask("alternate.without", plain.clone()).after(with("a")),
        ask("alternate.added", with("a")).after(plain.clone()),
        ask("alternate.first", with("a")),
        ask("alternate.quote", with("it's")).after(with("a")),
        ask("alternate.latin", with("zusätzlich")).after(with("日本")),
        // The guard: a number can be no exchange's name.
        ask("alternate.guard.absent", plain.clone().with("alternate-exchange", Value::I64(5))),
        ask("alternate.guard.there", plain.clone().with("alternate-exchange", Value::I64(5))).after(plain.clone()),
        ask("alternate.guard.there-with", plain.clone().with("alternate-exchange", Value::I64(5))).after(with("a")),
        ask("alternate.guard.other-type", exchange("e", "direct").with("alternate-exchange", Value::I64(5)))
            .after(with("a")),
        ask("alternate.guard.predeclared", exchange("amq.topic", "topic").with("alternate-exchange", Value::I64(5))),
        ask("alternate.guard.reserved", exchange("amq.nothing", "topic").with("alternate-exchange", Value::I64(5))),
        ask("alternate.unknown-argument", plain.clone().with("x-unknown", "b"))
            .after(plain.clone().with("x-unknown", "a")),
        ask("alternate.with-x", plain.clone().with("x-alternate-exchange", "b")).after(plain.clone()),
        ask("alternate.type-before", ExchangeRequest { durable: false, ..with("b") }).after(with("a")),
    ];
    for (word, value) in values() {
        let asked = plain.clone().with("alternate-exchange", value);
        cases.push(ask(format!("alternate.as-{word}"), asked.clone()));
        cases.push(ask(format!("alternate.as-{word}.there"), asked.clone()).after(with("5")));
        cases.push(ask(format!("alternate.as-{word}.added"), asked).after(plain.clone()));
    }
    cases
}

fn predeclared() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, kind) in [
        ("", "direct"),
        ("amq.direct", "direct"),
        ("amq.fanout", "fanout"),
        ("amq.topic", "topic"),
        ("amq.headers", "headers"),
        ("amq.match", "headers"),
        ("amq.rabbitmq.trace", "topic"),
    ] {
        let id = |what| format!("predeclared.{}.{what}", if name.is_empty() { "default" } else { name });
        cases.push(ask(id("same"), exchange(name, kind)));
        cases.push(ask(id("internal"), ExchangeRequest { internal: true, ..exchange(name, kind) }));
        cases.push(ask(id("transient"), ExchangeRequest { durable: false, ..exchange(name, kind) }));
        cases.push(ask(id("other-type"), exchange(name, "x-local-random")));
        cases.push(ask(id("passive"), exchange(name, kind).passively()));
    }
    cases.push(ask("predeclared.amq.nothing", exchange("amq.nothing", "direct")));
    cases.push(ask("predeclared.amq.nothing.passive", exchange("amq.nothing", "direct").passively()));
    cases
}

fn passive() -> Vec<Case> {
    let passive = exchange("e", "direct").passively();
    let mut cases = vec![
        ask("exchange-passive.absent", passive.clone()),
        ask("exchange-passive.there", passive.clone()).after(exchange("e", "topic")),
        ask("exchange-passive.bogus-type", exchange("e", "bogus").passively()).after(exchange("e", "topic")),
        ask("exchange-passive.differs", ExchangeRequest { durable: false, internal: true, ..passive.clone() })
            .after(exchange("e", "topic").with("alternate-exchange", "a")),
    ];
    let rights = [
        ("none", "^$", "^$", "^$"),
        ("configure", ".*", "^$", "^$"),
        ("write", "^$", ".*", "^$"),
        ("read", "^$", "^$", ".*"),
    ];
    for (word, configure, write, read) in rights {
        let limited = |id: &str| ask(format!("exchange-passive.right.{word}.{id}"), passive.clone());
        cases.push(limited("absent").with_rights(configure, write, read));
        cases.push(limited("there").after(exchange("e", "direct")).with_rights(configure, write, read));
    }
    cases
}

fn rights() -> Vec<Case> {
    let plain = exchange("e", "direct");
    let with = plain.clone().with("alternate-exchange", "a");
    let number = plain.clone().with("alternate-exchange", Value::I64(5));
    vec![
        ask("exchange-right.configure", plain.clone()).with_rights("^other", ".*", ".*"),
        ask("exchange-right.configure.there", plain.clone()).after(plain.clone()).with_rights("^other", ".*", ".*"),
        ask("exchange-right.configure.only", plain).with_rights("^e$", "^$", "^$"),
        ask("exchange-right.alternate.read", with.clone()).with_rights(".*", ".*", "^a$"),
        ask("exchange-right.alternate.write", with.clone()).with_rights(".*", "^e$", ".*"),
        ask("exchange-right.alternate.both", with.clone()).with_rights(".*", "^$", "^$"),
        ask("exchange-right.alternate.there", with.clone()).after(with).with_rights(".*", "^$", "^$"),
        ask("exchange-right.alternate.number", number).with_rights(".*", "^$", "^$"),
        ask("exchange-right.default", exchange("", "direct")).with_rights("^$", "^$", "^$"),
        ask("exchange-right.reserved", exchange("amq.x", "direct")).with_rights("^$", "^$", "^$"),
    ]
}
