//! Queues as teams have them, each with the migration that replaces `old` by `new` and the traffic that goes on meanwhile.

use super::{Kind, Traffic};
use crate::amqp::Channel;
use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::value::{Table, Value};

/// One arrangement around a queue.
pub struct Shape {
    /// Its name.
    pub name: &'static str,
    /// Declares everything but the new queue.
    pub prepare: fn(&Channel),
    /// What `old` becomes: `replace.with` and `options` of the migration file.
    pub with: &'static str,
    /// Further options.
    pub options: &'static str,
    /// The kinds of messages and who gets them.
    pub traffic: fn() -> Traffic,
}

impl Shape {
    /// The migration file.
    pub fn file(&self) -> String {
        format!(
            "acemq_migration: 1\nreplace: {{ queue: old, with: {{ name: new, {} }} }}\noptions: {{ drain: {{ timeout: 3m, poll: 200ms, stable: 3 }}{} }}\n",
            self.with, self.options
        )
    }

    /// The shape of that name.
    pub fn named(name: &str) -> Option<&'static Self> {
        SHAPES.iter().find(|shape| shape.name == name)
    }
}

/// All of them.
pub const SHAPES: [Shape; 7] = [
    Shape {
        name: "overlapping-patterns",
        prepare: |channel| {
            exchange(channel, "x", "topic");
            classic(channel, &["old", "neighbour"]);
            bind(channel, "x", &[("old", "a.*"), ("old", "a.#"), ("old", "*.b"), ("neighbour", "a.#")]);
        },
        with: "type: quorum",
        options: "",
        traffic: overlapping,
    },
    Shape {
        name: "policy-method",
        prepare: |channel| {
            exchange(channel, "x", "topic");
            classic(channel, &["old", "neighbour"]);
            bind(channel, "x", &[("old", "a.*"), ("old", "a.#"), ("old", "*.b"), ("neighbour", "a.#")]);
        },
        with: "type: quorum",
        options: ", method: policy",
        traffic: overlapping,
    },
    Shape {
        name: "quorum-to-quorum",
        prepare: |channel| {
            exchange(channel, "x", "direct");
            quorum(channel, QueueDeclaration::durable("old"));
            classic(channel, &["neighbour"]);
            bind(channel, "x", &[("old", "a"), ("old", "b"), ("neighbour", "b"), ("neighbour", "c")]);
        },
        with: "type: quorum, arguments: { x-delivery-limit: 5 }",
        options: "",
        traffic: || Traffic {
            kinds: vec![
                Kind::moved("x", "a"),
                Kind::moved("x", "b").and(&["neighbour"]),
                Kind { for_moved: false, ..Kind::moved("x", "c").and(&["neighbour"]) },
                Kind::unroutable("x", "d"),
            ],
            moved: &["old", "new"],
            ..Traffic::default()
        },
    },
    Shape {
        name: "dead-letters",
        prepare: |channel| {
            exchange(channel, "x", "direct");
            exchange(channel, "acemq.dlx", "direct");
            classic(channel, &["old.dlq", "neighbour"]);
            let old = QueueDeclaration::durable("old").with("x-queue-type", "classic");
            let old = old.with("x-dead-letter-exchange", "acemq.dlx").with("x-dead-letter-routing-key", "old.dlq");
            channel.declare_queue(&old).unwrap();
            bind(channel, "x", &[("old", "a"), ("neighbour", "a")]);
            bind(channel, "acemq.dlx", &[("old.dlq", "old.dlq")]);
        },
        with: "type: quorum, dead_letter: true",
        options: "",
        traffic: || Traffic {
            kinds: vec![Kind::moved("x", "a").and(&["neighbour"])],
            moved: &["old", "new", "old.dlq", "new.dlq"],
            rejecting: &["old", "new"],
            ..Traffic::default()
        },
    },
    Shape {
        name: "several-sources",
        prepare: |channel| {
            exchange(channel, "x", "topic");
            exchange(channel, "y", "direct");
            exchange(channel, "z", "headers");
            classic(channel, &["old", "neighbour"]);
            channel.bind(&BindingDeclaration::exchange("x", "y", "a.#")).unwrap();
            channel.bind(&BindingDeclaration::exchange("x", "z", "#")).unwrap();
            bind(channel, "x", &[("old", "a.b"), ("old", "*.b"), ("old", "a.#")]);
            bind(channel, "y", &[("old", "a.b"), ("old", "k"), ("neighbour", "a.c")]);
            for (mode, headers) in [("any", [("kind", "a"), ("size", "s")]), ("all", [("kind", "b"), ("size", "t")])] {
                let mut binding = BindingDeclaration::queue("z", "old", "");
                binding.arguments.insert("x-match", Value::text(mode));
                for (name, value) in headers {
                    binding.arguments.insert(name, Value::text(value));
                }
                channel.bind(&binding).unwrap();
            }
        },
        with: "type: quorum",
        options: "",
        traffic: || Traffic {
            kinds: vec![
                Kind::moved("x", "a.b"),
                Kind::moved("x", "a.c").and(&["neighbour"]),
                Kind::moved("y", "k"),
                Kind::moved("z", "").with(headers(&[("kind", "a")])),
                Kind::moved("z", "").with(headers(&[("kind", "b"), ("size", "t")])),
                // By its headers only, through the binding from x to z.
                Kind::moved("x", "q").with(headers(&[("size", "s")])).not_mandatory(),
                // One of two headers is not all.
                Kind::unroutable("z", "").with(headers(&[("kind", "b")])),
            ],
            moved: &["old", "new"],
            ..Traffic::default()
        },
    },
    Shape {
        name: "rungs-in-use",
        prepare: |channel| {
            exchange(channel, "x", "direct");
            exchange(channel, "acemq.retry", "direct");
            classic(channel, &["old", "neighbour"]);
            rung(channel, "old.retry.300ms", "acemq.retry");
            bind(channel, "x", &[("old", "a"), ("neighbour", "a")]);
            bind(channel, "acemq.retry", &[("old", "old")]);
        },
        // The new queue brings dead letters and rungs of its own.
        with: "type: quorum, dead_letter: true, retry: \"exponential(3, 1s).wait_in_broker_from(1s)\"",
        options: "",
        traffic: || Traffic {
            // As a consumer does that wants a message later: by name, to the rung.
            kinds: vec![
                Kind::moved("x", "a").and(&["neighbour"]),
                Kind::moved("x", "a").and(&["neighbour"]).not_mandatory(),
                Kind::moved("", "old.retry.300ms"),
            ],
            moved: &["old", "new"],
            ..Traffic::default()
        },
    },
    Shape {
        name: "rungs-by-name",
        prepare: |channel| {
            exchange(channel, "x", "direct");
            exchange(channel, "later", "fanout");
            rung(channel, "old.wait", "");
            let old = QueueDeclaration::durable("old").with("x-queue-type", "classic");
            channel.declare_queue(&old.with("x-dead-letter-exchange", "later")).unwrap();
            classic(channel, &["neighbour"]);
            bind(channel, "x", &[("old", "a"), ("neighbour", "a")]);
            bind(channel, "later", &[("old.wait", "")]);
        },
        with: "type: quorum",
        options: "",
        traffic: || Traffic {
            kinds: vec![Kind::moved("x", "a").and(&["neighbour"])],
            moved: &["old", "new"],
            rejecting: &["old"],
            ..Traffic::default()
        },
    },
];

fn overlapping() -> Traffic {
    Traffic {
        kinds: vec![
            Kind::moved("x", "a.b").and(&["neighbour"]),
            Kind::moved("x", "a.c").and(&["neighbour"]).not_mandatory(),
            Kind::moved("x", "c.b"),
            Kind { for_moved: false, ..Kind::moved("x", "c.d") },
        ],
        moved: &["old", "new"],
        ..Traffic::default()
    }
}

fn exchange(channel: &Channel, name: &str, kind: &str) {
    channel.declare_exchange(&ExchangeDeclaration::durable(name, kind)).unwrap();
}

fn classic(channel: &Channel, names: &[&str]) {
    for name in names {
        channel.declare_queue(&QueueDeclaration::durable(*name).with("x-queue-type", "classic")).unwrap();
    }
}

fn quorum(channel: &Channel, queue: QueueDeclaration) {
    channel.declare_queue(&queue.with("x-queue-type", "quorum")).unwrap();
}

/// A queue in which messages wait for 300 ms before they go back to `old`.
fn rung(channel: &Channel, name: &str, exchange: &str) {
    let rung = QueueDeclaration::durable(name).with("x-queue-type", "classic").with("x-message-ttl", 300);
    let rung = rung.with("x-dead-letter-exchange", exchange).with("x-dead-letter-routing-key", "old");
    channel.declare_queue(&rung).unwrap();
}

fn bind(channel: &Channel, source: &str, bindings: &[(&str, &str)]) {
    for (queue, key) in bindings {
        channel.bind(&BindingDeclaration::queue(source, *queue, *key)).unwrap();
    }
}

fn headers(headers: &[(&str, &str)]) -> Table {
    headers.iter().map(|(name, value)| ((*name).to_owned(), Value::text(*value))).collect()
}
