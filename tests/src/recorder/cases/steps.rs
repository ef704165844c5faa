//! Requests that need others before them: binding, deleting, publishing, consuming, rights.
//!
//! Each has the id under which the project's collection of answers describes it in words; here are its steps.

use super::{exchange, queue};
use crate::amqp::{Consume, ExchangeRequest, QueueRequest};
use crate::recorder::{Case, Question};
use crate::steps::{Ask, Step, Steps};
use acemq_core::rabbitmq::DestinationType::{self, Exchange, Queue};
use acemq_core::value::{Table, Value};

/// The requests.
pub(super) fn cases() -> Vec<Case> {
    [exclusive(), predeclared(), bindings(), headers_bindings(), deletions(), messages(), places(), rights()].concat()
}

/// The last step of each is asked by the asker; `by_other` marks the other's.
fn case(id: &str, steps: Vec<Step>) -> Case {
    with(id, Steps { steps, ..Steps::default() })
}

fn with(id: &str, steps: Steps) -> Case {
    Case { id: id.to_owned(), question: Question::Steps(steps) }
}

fn me(ask: impl Into<Ask>) -> Step {
    Step { by_other: false, ask: ask.into() }
}

fn other(ask: impl Into<Ask>) -> Step {
    Step { by_other: true, ask: ask.into() }
}

impl From<QueueRequest> for Ask {
    fn from(request: QueueRequest) -> Self {
        Self::Queue(request)
    }
}

impl From<ExchangeRequest> for Ask {
    fn from(request: ExchangeRequest) -> Self {
        Self::Exchange(request)
    }
}

fn binding(to: DestinationType, destination: &str, source: &str, key: impl AsRef<[u8]>) -> Ask {
    Ask::Binding {
        bind: true,
        to,
        destination: destination.into(),
        source: source.into(),
        key: key.as_ref().into(),
        arguments: Table::new(),
    }
}

/// A binding of a queue.
fn bind(queue: &str, source: &str, key: impl AsRef<[u8]>) -> Ask {
    binding(Queue, queue, source, key)
}

impl Ask {
    fn arguments(mut self, table: Table) -> Self {
        if let Self::Binding { arguments, .. } = &mut self {
            *arguments = table;
        }
        self
    }

    /// Unbind instead.
    fn undone(mut self) -> Self {
        if let Self::Binding { bind, .. } = &mut self {
            *bind = false;
        }
        self
    }
}

fn delete(name: &str, flags: &str) -> Ask {
    Ask::DeleteQueue { name: name.into(), unused: flags == "if-unused", empty: flags == "if-empty" }
}

fn delete_exchange(name: &str, flags: &str) -> Ask {
    Ask::DeleteExchange { name: name.into(), unused: flags == "if-unused" }
}

fn publish(exchange: &str, key: &str) -> Ask {
    Ask::Publish { exchange: exchange.into(), key: key.into(), mandatory: false, immediate: false }
}

fn consume(queue: &str) -> Consume {
    Consume::from(queue)
}

impl From<Consume> for Ask {
    fn from(consume: Consume) -> Self {
        Self::Consume(consume)
    }
}

fn exclusive() -> Vec<Case> {
    let locked = |ask: Ask| vec![other(queue("q-locked").exclusive()), me(ask)];
    vec![
        case("q.locked.delete", locked(delete("q-locked", ""))),
        case("q.locked.bind", locked(bind("q-locked", "amq.direct", "k"))),
        case("q.locked.unbind", locked(bind("q-locked", "amq.direct", "k").undone())),
        case("q.locked.consume", locked(consume("q-locked").into())),
        case("q.locked.get", locked(Ask::Get("q-locked".into()))),
        case("q.locked.purge", locked(Ask::Purge("q-locked".into()))),
        case("q.locked.publish", locked(publish("", "q-locked"))),
    ]
}

fn predeclared() -> Vec<Case> {
    vec![
        case("x.predeclared..delete-if-unused", vec![me(delete_exchange("", "if-unused"))]),
        case("x.predeclared.amq.direct.delete", vec![me(delete_exchange("amq.direct", ""))]),
        case("x.predeclared.amq.topic.delete", vec![me(delete_exchange("amq.topic", ""))]),
        case("x.predeclared.amq.topic.delete-if-unused", vec![me(delete_exchange("amq.topic", "if-unused"))]),
    ]
}

fn bindings() -> Vec<Case> {
    let q = || me(queue("q-bind"));
    let x = || me(exchange("x-bind", "direct"));
    let to_exchange = |destination, source| binding(Exchange, destination, source, "k");
    let hashed = || Table::new().with("x-hash-on", "cluster");
    vec![
        case("queue.bind.missing-exchange", vec![q(), me(bind("q-bind", "nope", "k"))]),
        case("queue.bind.missing-queue", vec![me(bind("nope", "amq.direct", "k"))]),
        case("queue.bind.both-missing", vec![me(bind("nope-q", "nope-x", "k"))]),
        case("queue.bind.empty-queue-no-last", vec![me(bind("", "amq.direct", "k"))]),
        case("queue.bind.empty-queue-last", vec![q(), me(bind("", "amq.direct", ""))]),
        case("queue.unbind.missing-binding", vec![q(), me(bind("q-bind", "amq.direct", "k").undone())]),
        case("queue.unbind.missing-exchange", vec![q(), me(bind("q-bind", "nope", "k").undone())]),
        case("queue.unbind.default", vec![q(), me(bind("q-bind", "", "q-bind").undone())]),
        case("exchange.bind.missing-source", vec![x(), me(to_exchange("x-bind", "nope"))]),
        case("exchange.bind.both-missing", vec![me(to_exchange("nope-d", "nope-s"))]),
        case("exchange.bind.default-source", vec![x(), me(to_exchange("x-bind", ""))]),
        case("exchange.bind.default-dest", vec![x(), me(to_exchange("", "x-bind"))]),
        case("exchange.bind.self", vec![x(), me(to_exchange("x-bind", "x-bind"))]),
        case("exchange.unbind.missing", vec![x(), me(to_exchange("x-bind", "amq.direct").undone())]),
        case("exchange.unbind.missing-source", vec![x(), me(to_exchange("x-bind", "nope").undone())]),
        case("bind.direct.args", vec![q(), me(bind("q-bind", "amq.direct", "k").arguments(hashed()))]),
        case(
            "bind.again-same",
            vec![q(), me(bind("q-bind", "amq.direct", "k")), me(bind("q-bind", "amq.direct", "k"))],
        ),
        case(
            "bind.again-other-args",
            vec![q(), me(bind("q-bind", "amq.direct", "k")), me(bind("q-bind", "amq.direct", "k").arguments(hashed()))],
        ),
        case("bind.badutf8-key", vec![q(), me(bind("q-bind", "amq.direct", b"a\xff\xfeb"))]),
        case("bind.255-key", vec![q(), me(bind("q-bind", "amq.direct", "k".repeat(255)))]),
        case("bind.topic-odd-pattern", vec![q(), me(bind("q-bind", "amq.topic", "a*.#b.##..*"))]),
        case("bind.topic-two-hashes", vec![q(), me(bind("q-bind", "amq.topic", "#.a.#"))]),
        case("bind.topic-three-hashes", vec![q(), me(bind("q-bind", "amq.topic", "#.a.#.b.#"))]),
    ]
}

fn headers_bindings() -> Vec<Case> {
    let bound = |id: &str, arguments: Table| {
        case(id, vec![me(queue("q-bind")), me(bind("q-bind", "amq.headers", "").arguments(arguments))])
    };
    let x_match = |value: Value| Table::new().with("x-match", value);
    vec![
        bound("bind.headers.x-match-bogus", x_match(Value::text("bogus"))),
        bound("bind.headers.x-match-int", x_match(Value::I32(1))),
        bound("bind.headers.x-match-missing", Table::new().with("a", 1)),
        bound("bind.headers.no-args", Table::new()),
        bound("bind.headers.with-x", x_match(Value::text("any-with-x"))),
    ]
}

fn deletions() -> Vec<Case> {
    let quorum = || queue("qq-full").of_type("quorum");
    let used = |name: &str, kind: &str| vec![other(queue(name).of_type(kind)), other(consume(name))];
    let full = |request: QueueRequest| {
        let name = String::from_utf8(request.name.clone()).unwrap();
        vec![me(request), me(publish("", &name))]
    };
    let then = |mut steps: Vec<Step>, ask: Ask| {
        steps.push(me(ask));
        steps
    };
    vec![
        case("delete.if-empty.nonempty", then(full(queue("q-full")), delete("q-full", "if-empty"))),
        case("delete.if-unused.unused-nonempty", then(full(queue("q-full")), delete("q-full", "if-unused"))),
        case("delete.if-unused.consumed", then(used("q-used", "classic"), delete("q-used", "if-unused"))),
        case("delete.quorum.if-unused.unused", then(full(quorum()), delete("qq-full", "if-unused"))),
        case("delete.quorum.if-unused.consumed", then(used("qq-used", "quorum"), delete("qq-used", "if-unused"))),
        case("delete.quorum.if-empty.empty", then(used("qq-used", "quorum"), delete("qq-used", "if-empty"))),
        case("delete.stream.if-empty", vec![me(queue("sq").of_type("stream")), me(delete("sq", "if-empty"))]),
        case("delete.missing-queue", vec![me(delete("nope", ""))]),
        case("delete.missing-queue.if-unused", vec![me(delete("nope", "if-unused"))]),
        case("delete.missing-exchange", vec![me(delete_exchange("nope", ""))]),
        case("delete.missing-exchange.if-unused", vec![me(delete_exchange("nope", "if-unused"))]),
        case(
            "delete.exchange.if-unused.only-destination",
            vec![
                me(exchange("x-dst", "direct")),
                me(binding(Exchange, "x-dst", "amq.direct", "k")),
                me(delete_exchange("x-dst", "if-unused")),
            ],
        ),
        case(
            "delete.exchange.if-unused.is-alternate",
            vec![
                me(exchange("x-src", "direct")),
                me(exchange("x-alt", "direct").with("alternate-exchange", "x-src")),
                me(delete_exchange("x-src", "if-unused")),
            ],
        ),
        case(
            "delete.exchange.if-unused.source",
            vec![
                me(queue("q-bind")),
                me(exchange("x-src", "direct")),
                me(bind("q-bind", "x-src", "k")),
                me(delete_exchange("x-src", "if-unused")),
            ],
        ),
    ]
}

fn messages() -> Vec<Case> {
    let stream = |name: &str| me(queue(name).of_type("stream"));
    let to_direct = |mandatory, immediate| Ask::Publish {
        exchange: "amq.direct".into(),
        key: "nobody".into(),
        mandatory,
        immediate,
    };
    let internal = ExchangeRequest { internal: true, ..exchange("x-int", "direct") };
    let alone = Consume { exclusive: true, ..consume("q-ce") };
    let tagged = || Consume { tag: b"t".to_vec(), ..consume("q-tag") };
    vec![
        case("consume.missing", vec![me(consume("nope"))]),
        case("get.missing", vec![me(Ask::Get("nope".into()))]),
        case("get.empty", vec![me(queue("q-get")), me(Ask::Get("q-get".into()))]),
        case("get.one", vec![me(queue("q-get")), me(publish("", "q-get")), me(Ask::Get("q-get".into()))]),
        case("purge.missing", vec![me(Ask::Purge("nope".into()))]),
        case("purge.one", vec![me(queue("q-full")), me(publish("", "q-full")), me(Ask::Purge("q-full".into()))]),
        case("publish.missing-exchange", vec![me(publish("nope", "k"))]),
        case("publish.mandatory-unroutable", vec![me(to_direct(true, false))]),
        case("publish.unroutable", vec![me(to_direct(false, false))]),
        case("publish.immediate", vec![me(to_direct(false, true))]),
        case("publish.internal", vec![me(internal), me(publish("x-int", "k"))]),
        case("consume.when-exclusive-consumer", vec![me(queue("q-ce")), other(alone), me(consume("q-ce"))]),
        case("consume.duplicate-tag", vec![me(queue("q-tag")), me(tagged()), me(tagged())]),
        case("ack.unknown-tag", vec![me(Ask::Ack(99))]),
        case("consume.stream-without-qos", vec![stream("sq2"), me(consume("sq2"))]),
        case("get.stream", vec![stream("sq3"), me(Ask::Get("sq3".into()))]),
        case("purge.stream", vec![stream("sq4"), me(Ask::Purge("sq4".into()))]),
    ]
}

/// Vhosts with odd names, a limit, and who may connect where.
fn places() -> Vec<Case> {
    let mut cases: Vec<Case> = ["v'h\"o", "ü-日本", "a/b"]
        .into_iter()
        .map(|name| {
            let ttl = |ttl: i32| me(queue("q").with("x-message-ttl", Value::I32(ttl)));
            let steps = Steps { vhost: Some(name.to_owned()), steps: vec![ttl(1), ttl(2)], ..Steps::default() };
            with(&format!("vhost.{name}.ttl-differs"), steps)
        })
        .collect();
    let limited = |steps| Steps { queue_limit: Some(1), steps, ..Steps::default() };
    cases.push(with("limit.max-queues.existing", limited(vec![me(queue("yours")), me(queue("yours"))])));
    cases.push(with("limit.max-queues.one-more", limited(vec![me(queue("yours")), me(queue("yours-2"))])));
    for (id, user, password, vhost) in [
        ("connect.wrong-password", "guest", "wrong", "probe"),
        ("connect.unknown-user", "nobody", "nobody", "probe"),
        ("connect.missing-vhost", "guest", "guest", "nope"),
        ("connect.missing-vhost-quote", "guest", "guest", "no'pe\""),
        ("connect.empty-vhost", "guest", "guest", ""),
        ("connect.no-vhost-permission", "limited", "limited", "probe"),
        ("connect.right", "guest", "guest", "probe"),
    ] {
        let connect = Ask::Connect { user: user.into(), password: password.into(), vhost: vhost.into() };
        cases.push(case(id, vec![me(connect)]));
    }
    cases
}

/// A user who may everything with what begins with `mine-`, and nothing else.
fn rights() -> Vec<Case> {
    let limited = |id: &str, steps: Vec<Step>| {
        let pattern = "^mine-".to_owned();
        let rights = Some([pattern.clone(), pattern.clone(), pattern]);
        with(id, Steps { rights, steps, ..Steps::default() })
    };
    let yours = || other(queue("yours"));
    let yours_x = || other(exchange("yours-x", "direct"));
    vec![
        limited("perm.queue.declare", vec![me(queue("yours-2"))]),
        limited("perm.queue.declare-existing-same", vec![yours(), me(queue("yours"))]),
        limited("perm.queue.passive", vec![yours(), me(queue("yours").passively())]),
        limited("perm.queue.delete", vec![yours(), me(delete("yours", ""))]),
        limited("perm.queue.purge", vec![yours(), me(Ask::Purge("yours".into()))]),
        limited("perm.exchange.declare", vec![me(exchange("yours-x2", "direct"))]),
        limited("perm.exchange.passive", vec![yours_x(), me(exchange("yours-x", "direct").passively())]),
        limited("perm.exchange.delete", vec![yours_x(), me(delete_exchange("yours-x", ""))]),
        limited("perm.bind.queue-write", vec![yours(), yours_x(), me(bind("yours", "yours-x", "k"))]),
        limited("perm.bind.exchange-read", vec![me(queue("mine-q")), yours_x(), me(bind("mine-q", "yours-x", "k"))]),
        limited("perm.consume", vec![yours(), me(consume("yours"))]),
        limited("perm.get", vec![yours(), me(Ask::Get("yours".into()))]),
        limited("perm.ae", vec![yours_x(), me(exchange("mine-x", "direct").with("alternate-exchange", "yours-x"))]),
        limited("perm.publish", vec![yours_x(), me(publish("yours-x", "k"))]),
        limited("perm.publish-default", vec![yours(), me(publish("", "yours"))]),
        limited("perm.quote", vec![me(queue("yo'u\"rs"))]),
    ]
}
