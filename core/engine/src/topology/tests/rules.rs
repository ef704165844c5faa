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
