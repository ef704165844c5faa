//! Names, types and argument tables.

use super::*;
use crate::rabbitmq::{QueueDeclaration, QueueType};
use crate::retry::RetryPolicy;
use crate::value::Table;

#[test]
fn a_dead_lettered_queue_brings_four_things() {
    let topology = Topology::builder()
        .exchange("orders", "topic")
        .queue_with_dead_letter("orders.new")
        .bind("orders.new", "orders", "order.*")
        .build();
    assert_eq!(topology.check(), []);
    assert_eq!(
        topology.intent(),
        "\
Topology: 2 exchanges, 3 queues, 3 bindings
  declare exchange orders (topic)
  declare exchange acemq.dlx (direct)
  declare queue orders.new (durable, quorum, x-dead-letter-exchange=acemq.dlx, x-dead-letter-routing-key=orders.new.dlq)
  declare queue orders.new.dlq (durable, classic)
  declare queue orders.new.parked (durable, classic)
  declare binding orders.new.dlq (from acemq.dlx on orders.new.dlq)
  declare binding orders.new.parked (from acemq.dlx on orders.new.parked)
  declare binding orders.new (from orders on order.*)
"
    );
}

#[test]
fn the_sentence_about_an_undeclared_queue_is_the_one_that_the_libraries_print() {
    let topology = Topology::builder()
        .exchange("orders-events", "topic")
        .bind("a-queue-nobody-declared", "orders-events", "order.placed")
        .build();
    let problems = topology.check();
    assert_eq!(
        problems[0].message,
        "acemq: binding orders-events -> a-queue-nobody-declared (order.placed) names queue \"a-queue-nobody-declared\", which this topology does not declare"
    );
    assert_eq!(codes(&topology), ["binding_queue_undeclared"]);
    assert!(topology.tables().is_err());
}

#[test]
fn the_order_of_builder_calls_does_not_matter() {
    let one = Topology::builder()
        .dead_letters("orders")
        .queue_arg("orders", "x-max-length", 10)
        .bind("orders", "events", "#")
        .queue("orders")
        .exchange("events", "fanout")
        .build();
    let other = Topology::builder()
        .exchange("events", "fanout")
        .queue("orders")
        .bind("orders", "events", "#")
        .queue_arg("orders", "x-max-length", 10)
        .dead_letters("orders")
        .dead_letters("orders")
        .build();
    assert_eq!(codes(&one), Vec::<&str>::new());
    assert_eq!(one.tables().unwrap(), other.tables().unwrap());
}

#[test]
fn classic_sends_no_type_and_the_dead_letter_queues_are_always_classic() {
    let arguments = Table::new().with("x-queue-type", "classic").with("x-max-priority", 5);
    let topology = Topology::builder().classic_queue_with_dead_letter("q", arguments).build();
    let tables = topology.tables().unwrap();
    assert_eq!(
        tables.queues[0].declaration.canonical(),
        r#"{"arguments":{"x-dead-letter-exchange":"acemq.dlx","x-dead-letter-routing-key":"q.dlq","x-max-priority":5},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"q"}"#
    );
    assert!(!tables.queues[0].declaration.arguments.contains("x-queue-type"));
    for (queue, name) in tables.queues[1..].iter().zip(["q.dlq", "q.parked"]) {
        assert_eq!(queue.declaration, QueueDeclaration::durable(name));
        assert_eq!(queue.derived_from.as_deref(), Some("q"));
    }
}

#[test]
fn transient_exclusive_and_auto_delete_queues_stay_classic() {
    let topology = Topology::builder()
        .queue("a")
        .transient("a")
        .exclusive("a")
        .queue("b")
        .exclusive("b")
        .queue("c")
        .auto_delete("c")
        .build();
    assert_eq!(
        topology.intent(),
        "\
Topology: 0 exchanges, 3 queues, 0 bindings
  declare queue a (transient, classic, exclusive)
  declare queue b (durable, classic, exclusive)
  declare queue c (durable, classic, auto-delete)
"
    );
    let topology =
        Topology::builder().queue("a").of_type("a", QueueType::Quorum).exclusive("a").auto_delete("a").build();
    assert_eq!(codes(&topology), ["queue_type_needs_durable"]);
    assert_eq!(topology.problems()[0].fields["flags"], serde_json::json!(["exclusive", "auto-delete"]));
}

fn exponential() -> RetryPolicy {
    "exponential(6, 10s)".parse().unwrap()
}

#[test]
fn the_intent_of_a_retried_queue_is_the_one_of_the_contract() {
    let topology = Topology::builder().queue_with_dead_letter("orders").retries("orders", &exponential()).build();
    assert_eq!(topology.check(), []);
    assert_eq!(
        topology.intent(),
        "\
Topology: 2 exchanges, 6 queues, 3 bindings
  declare exchange acemq.dlx (direct)
  declare exchange acemq.retry (direct)
  declare queue orders (durable, quorum, x-dead-letter-exchange=acemq.dlx, x-dead-letter-routing-key=orders.dlq)
  declare queue orders.dlq (durable, classic)
  declare queue orders.parked (durable, classic)
  declare queue orders.retry.40s (durable, classic, x-dead-letter-exchange=acemq.retry, x-dead-letter-routing-key=orders, x-message-ttl=40000)
  declare queue orders.retry.80s (durable, classic, x-dead-letter-exchange=acemq.retry, x-dead-letter-routing-key=orders, x-message-ttl=80000)
  declare queue orders.retry.160s (durable, classic, x-dead-letter-exchange=acemq.retry, x-dead-letter-routing-key=orders, x-message-ttl=160000)
  declare binding orders.dlq (from acemq.dlx on orders.dlq)
  declare binding orders.parked (from acemq.dlx on orders.parked)
  declare binding orders (from acemq.retry on orders)
"
    );
}

#[test]
fn retries_without_dead_letters_bring_no_dead_letter_queues_and_short_waits_no_rungs() {
    let tables = Topology::builder().queue("q").retries("q", &exponential()).build().tables().unwrap();
    assert_eq!(tables.exchanges.len(), 1);
    assert_eq!(tables.exchanges[0].declaration.name, "acemq.retry");
    assert_eq!(tables.queues.len(), 4);
    let short: RetryPolicy = "fixed(3, 1s)".parse().unwrap();
    let tables = Topology::builder().queue("q").retries("q", &short).build().tables().unwrap();
    assert_eq!((tables.exchanges.len(), tables.queues.len(), tables.bindings.len()), (0, 1, 0));
}

#[test]
fn a_consumer_declares_what_the_topology_declares_without_the_source() {
    let topology = Topology::builder().queue_with_dead_letter("orders").retries("orders", &exponential()).build();
    let mut expected = topology.tables().unwrap();
    expected.queues.retain(|queue| queue.declaration.name != "orders");
    assert_eq!(Topology::consumer_declarations("orders", Some(&exponential())).unwrap(), expected);
    let alone = Topology::consumer_declarations("orders", Some(&RetryPolicy::none())).unwrap();
    assert_eq!(alone, Topology::consumer_declarations("orders", None).unwrap());
    assert_eq!((alone.exchanges.len(), alone.queues.len(), alone.bindings.len()), (1, 2, 2));
    let errors = Topology::consumer_declarations(&"q".repeat(250), Some(&exponential())).unwrap_err();
    assert_eq!(errors.iter().map(|error| error.code()).collect::<Vec<_>>(), ["name_too_long"; 2]);
}

fn yaml(text: &str) -> Topology {
    Topology::from_yaml(text).unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn type_of(text: &str) -> String {
    let topology = yaml(&format!("queues: {{ q: {text} }}"));
    let tables = topology.tables().unwrap_or_else(|problems| panic!("{problems:?}"));
    tables.queues[0]
        .declaration
        .arguments
        .get("x-queue-type")
        .map_or_else(|| "absent".to_owned(), |kind| kind.to_json())
}

#[test]
fn the_type_follows_from_what_is_said_and_classic_is_never_sent() {
    for (body, sent) in [
        ("{}", "\"quorum\""),
        ("{ durable: true }", "\"quorum\""),
        ("{ transient: false }", "\"quorum\""),
        ("{ type: quorum }", "\"quorum\""),
        ("{ type: stream }", "\"stream\""),
        ("{ type: classic }", "absent"),
        ("{ arguments: { x-queue-type: classic } }", "absent"),
        ("{ type: classic, arguments: { x-queue-type: classic } }", "absent"),
        ("{ type: quorum, arguments: { x-queue-type: quorum } }", "\"quorum\""),
        ("{ arguments: { x-queue-type: stream } }", "\"stream\""),
        ("{ transient: true, exclusive: true }", "absent"),
        ("{ durable: false, exclusive: true }", "absent"),
        ("{ exclusive: true }", "absent"),
        ("{ auto_delete: true }", "absent"),
    ] {
        assert_eq!(type_of(body), sent, "{body}");
    }
}

#[test]
fn equal_duplicates_are_one_object_and_unequal_ones_a_problem() {
    let topology = yaml(
        "\
exchanges: [ { name: e, type: topic, arguments: { a: 1, b: 2 } }, { name: e, type: topic, arguments: { b: 2, a: 1 } } ]
queues:
  - { name: q, dead_letter: true, arguments: { x-max-length: 5 } }
  - { name: q.dlq, type: classic }
  - { name: q, dead_letter: true, arguments: { x-max-length: { \"@I\": 5 } } }
bindings:
  - { queue: q, exchange: e, routing_key: k }
  - { queue: q, exchange: e, routing_key: k, arguments: {} }
  - { queue: q, exchange: e, routing_key: k, arguments: { a: 1 } }
  - { queue: q.dlq, exchange: acemq.dlx, routing_key: q.dlq }
",
    );
    assert_eq!(topology.check(), []);
    let tables = topology.tables().unwrap();
    assert_eq!((tables.exchanges.len(), tables.queues.len(), tables.bindings.len()), (2, 3, 4));
    // What the document says for itself is no longer only derived, but it stays where the rules put it.
    assert_eq!(tables.queues[1].declaration.name, "q.dlq");
    assert_eq!(tables.queues[1].derived_from, None);
    assert!(!tables.bindings[0].derived && tables.bindings[1].derived);
    assert_eq!(tables.bindings[0].declaration.destination, "q.dlq");
}

#[test]
fn shared_exchanges_come_once_behind_the_declared_ones_at_first_need() {
    let names = |text: &str| {
        let tables = yaml(text).tables().unwrap_or_else(|problems| panic!("{problems:?}"));
        tables
            .exchanges
            .iter()
            .map(|exchange| (exchange.declaration.name.clone(), exchange.derived))
            .collect::<Vec<_>>()
    };
    let named =
        |list: &[(&str, bool)]| list.iter().map(|(name, derived)| ((*name).to_owned(), *derived)).collect::<Vec<_>>();
    let retried_first = "exchanges: { z: { type: topic } }\nqueues: { a: { retry: \"fixed(2, 1m)\" }, b: { dead_letter: true }, c: { dead_letter: true, retry: \"fixed(2, 1m)\" } }";
    assert_eq!(names(retried_first), named(&[("z", false), ("acemq.retry", true), ("acemq.dlx", true)]));
    let declared =
        "exchanges: { acemq.dlx: { type: direct }, z: { type: topic } }\nqueues: { b: { dead_letter: true } }";
    assert_eq!(names(declared), named(&[("acemq.dlx", false), ("z", false)]));
}

#[test]
fn derived_queues_stand_behind_their_source_and_derived_bindings_before_all_others() {
    let tables = yaml(
        "\
exchanges: { e: { type: topic } }
queues: { a: { dead_letter: true, retry: \"fixed(2, 1m)\" }, b: { retry: \"fixed(2, 90s)\" } }
bindings: [ { queue: b, exchange: e, routing_key: k } ]
",
    )
    .tables()
    .unwrap();
    let queues: Vec<_> = tables.queues.iter().map(|queue| queue.declaration.name.as_str()).collect();
    assert_eq!(queues, ["a", "a.dlq", "a.parked", "a.retry.1m", "b", "b.retry.90s"]);
    let bindings: Vec<_> = tables.bindings.iter().map(|binding| describe_binding(&binding.declaration)).collect();
    assert_eq!(
        bindings,
        [
            "acemq.dlx -> a.dlq (a.dlq)",
            "acemq.dlx -> a.parked (a.parked)",
            "acemq.retry -> a (a)",
            "acemq.retry -> b (b)",
            "e -> b (k)"
        ]
    );
}

#[test]
fn external_exchanges_are_asked_for_and_never_declared() {
    let topology = yaml(
        "\
exchanges: { billing: { external: true, type: topic }, amq.topic: , other: { external: true } }
queues: { q: { dead_letter_to: other } }
bindings: [ { queue: q, exchange: billing }, { queue: q, exchange: amq.topic }, { queue: q, exchange: amq.match }, { queue: q, exchange: amq.mine } ]
",
    );
    assert_eq!(topology.check(), []);
    let tables = topology.tables().unwrap();
    assert_eq!(tables.exchanges, []);
    let external: Vec<_> = tables.external.iter().map(|known| (known.name.as_str(), known.kind.as_deref())).collect();
    assert_eq!(
        external,
        [
            ("billing", Some("topic")),
            ("amq.topic", Some("topic")),
            ("other", None),
            ("amq.match", Some("headers")),
            ("amq.mine", None)
        ]
    );
}

#[test]
fn every_detail_is_shown_and_control_characters_are_not_sent_to_the_terminal() {
    let topology = Topology::from_json(
        r##"{
            "exchanges": {
                "a\u001b[31m": {"type": "topic", "transient": true, "auto_delete": true, "internal": true, "arguments": {"z": 1, "alternate-exchange": "amq.fanout"}}
            },
            "queues": {
                "é \"q\"\u0000": {"type": "classic", "transient": true, "auto_delete": true, "exclusive": true, "arguments": {"x-max-priority": 5, "x-expires": 60000, "x-single-active-consumer": true, "x-dead-letter-exchange": ""}}
            },
            "bindings": [
                {"queue": "é \"q\"\u0000", "exchange": "a\u001b[31m", "routing_key": "\t#", "arguments": {"y": [1, "b"], "x": "a\u0007"}}
            ]
        }"##,
    )
    .unwrap();
    assert_eq!(codes(&topology), Vec::<&str>::new());
    assert_eq!(
        topology.intent(),
        "\
Topology: 1 exchanges, 1 queues, 1 bindings
  declare exchange a\\u{1b}[31m (topic, transient, auto-delete, internal, alternate-exchange=amq.fanout, z=1)
  declare queue é \"q\"\\u{0} (transient, classic, auto-delete, exclusive, x-dead-letter-exchange=, x-expires=60000, x-max-priority=5, x-single-active-consumer=true)
  declare binding é \"q\"\\u{0} (from a\\u{1b}[31m on \\u{9}#) with x=a\\u{7}, y=[1,\"b\"]
"
    );
}

#[test]
fn the_intent_of_an_invalid_topology_says_why() {
    let topology = Topology::builder().queue("").queue("a").transient("a").build();
    assert_eq!(topology.intent(), "Topology: invalid\n  acemq: queue name is empty\n");
    let empty = Topology::builder().build();
    assert_eq!(empty.intent(), "Topology: 0 exchanges, 0 queues, 0 bindings\n");
    // printf '' | sha256sum
    assert_eq!(
        empty.tables().unwrap().fingerprint(),
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn the_fingerprint_does_not_depend_on_order_or_on_who_asked() {
    let one = yaml("exchanges: { e: { type: topic }, f: { type: topic } }\nqueues: { q: { dead_letter: true } }")
        .tables()
        .unwrap();
    let other = yaml(
        "exchanges: { f: { type: topic }, acemq.dlx: { type: direct }, e: { type: topic } }\nqueues: { q.parked: { type: classic }, q: { dead_letter: true } }",
    )
    .tables()
    .unwrap();
    assert_ne!(one, other);
    assert_eq!(one.fingerprint(), other.fingerprint());
}
