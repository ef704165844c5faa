//! Reading documents.

use super::*;

/// The document of the format's description.
const EXAMPLE: &str = r##"acemq: 1
exchanges:
  orders: { type: topic }
  archive: { type: fanout }
  shipping-dlx: { external: true }
queues:
  orders.new:
    dead_letter: true
    retry: "exponential(6, 10s, 5m)"
  shipping: { dead_letter_to: shipping-dlx }
  audit: { type: stream, arguments: { x-max-age: 7D } }
  scratch: { type: classic, exclusive: true }
  plain:
bindings:
  - { queue: orders.new, exchange: orders, routing_key: "order.*" }
  - { to_exchange: archive, exchange: orders, routing_key: "#", arguments: {} }
policies:
  - { name: limits, pattern: "^orders\\.", apply_to: queues, priority: 1, definition: { max-length: 100000 } }
"##;

#[test]
fn a_document_and_the_builder_give_the_same_tables() {
    let read = Topology::from_yaml(EXAMPLE).unwrap();
    assert_eq!(read.check(), []);
    let policy = "exponential(6, 10s, 5m)".parse().unwrap();
    let built = Topology::builder()
        .exchange("orders", "topic")
        .exchange("archive", "fanout")
        .external_exchange("shipping-dlx")
        .queue_with_dead_letter("orders.new")
        .retries("orders.new", &policy)
        .queue("shipping")
        .dead_letter_to("shipping", "shipping-dlx")
        .queue("audit")
        .of_type("audit", crate::rabbitmq::QueueType::Stream)
        .queue_arg("audit", "x-max-age", "7D")
        .queue("scratch")
        .exclusive("scratch")
        .queue("plain")
        .bind("orders.new", "orders", "order.*")
        .bind_exchange("archive", "orders", "#")
        .build();
    let mut read = read.tables().unwrap();
    assert_eq!(read.policies.len(), 1);
    read.policies.clear();
    assert_eq!(read, built.tables().unwrap());
}
