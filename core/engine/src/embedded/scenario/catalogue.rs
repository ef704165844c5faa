//! What users of RabbitMQ ran into, each report as the smallest scenario with the right answer.
//!
//! The numbers are those of the collection of public reports that the project keeps. Each scenario states what RabbitMQ does,
//! so it is a test of the embedded broker, not of advice.

use super::{Base, Scenario};
use crate::topology::Format;

/// Plays a scenario whose every step has to succeed.
fn play(name: &str, text: &str) {
    let scenario = Scenario::parse(text.as_bytes(), Format::Yaml).unwrap_or_else(|error| panic!("{name}: {error}"));
    let report = scenario.play(Base::Own).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(report.failed, 0, "{name}:\n{report}");
}

macro_rules! reports {
    ($($(#[doc = $doc:literal])+ $name:ident: $text:literal;)+) => {
        $($(#[doc = $doc])+ #[test] fn $name() { play(stringify!($name), $text); })+
    };
}

reports! {
    /// B-18: a direct dead-letter exchange whose binding has another key than the message.
    a_dead_letter_that_keeps_its_key_and_matches_nothing_is_lost: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { dead.letter.test: { type: direct } }
  queues:
    dead.letter.queue: { type: classic }
    test1: { type: classic, arguments: { x-dead-letter-exchange: dead.letter.test } }
  bindings: [ { queue: dead.letter.queue, exchange: dead.letter.test, routing_key: "" } ]
steps:
  - publish: { key: test1, body: m }
  - get: { queue: test1 }
  - nack: { message: m }
  - expect: { test1: 0, dead.letter.queue: 0 }
"#;

    /// B-18, repaired: the key is overridden.
    a_dead_letter_with_a_key_of_its_own_arrives: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { dead.letter.test: { type: direct } }
  queues:
    dead.letter.queue: { type: classic }
    test1: { type: classic, arguments: { x-dead-letter-exchange: dead.letter.test, x-dead-letter-routing-key: failed } }
  bindings: [ { queue: dead.letter.queue, exchange: dead.letter.test, routing_key: failed } ]
steps:
  - publish: { key: test1, body: m }
  - get: { queue: test1 }
  - nack: { message: m }
  - expect: { test1: 0, dead.letter.queue: [m] }
"#;

    /// B-19: two consumers of one key share a dead-letter exchange without overriding the key.
    dead_letters_of_one_consumer_reach_the_other_ones_queue_too: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { events: { type: topic }, dlx: { type: direct } }
  queues:
    a: { type: classic, arguments: { x-dead-letter-exchange: dlx } }
    b: { type: classic, arguments: { x-dead-letter-exchange: dlx } }
    a.dlx: { type: classic }
    b.dlx: { type: classic }
  bindings:
    - { queue: a, exchange: events, routing_key: x }
    - { queue: b, exchange: events, routing_key: x }
    - { queue: a.dlx, exchange: dlx, routing_key: x }
    - { queue: b.dlx, exchange: dlx, routing_key: x }
steps:
  - publish: { exchange: events, key: x, body: m }
  - get: { queue: b }
  - reject: { message: m }
  - expect: { a: [m], b: 0, a.dlx: [m], b.dlx: [m] }
"#;

    /// B-20: a delay queue returns to a queue that nobody declared.
    a_delay_queue_that_returns_to_nothing_loses_its_messages: r#"
rabbitmq: "4.0.5"
topology:
  queues:
    my-messages.delay.5000:
      type: classic
      arguments: { x-message-ttl: 5000, x-dead-letter-exchange: "", x-dead-letter-routing-key: my-messages }
steps:
  - publish: { key: my-messages.delay.5000, body: m }
  - at: 4999ms
    expect: { my-messages.delay.5000: [m] }
  - at: 5s
    expect: { my-messages.delay.5000: 0 }
"#;

    /// B-21: the dead-letter exchange has the name of a queue and does not exist.
    a_dead_letter_exchange_that_does_not_exist_drops_in_silence: r#"
rabbitmq: "4.0.5"
topology:
  queues:
    test: { type: classic }
    test_deferred_10:
      type: classic
      arguments: { x-message-ttl: 10000, x-dead-letter-exchange: test, x-dead-letter-routing-key: test }
steps:
  - publish: { key: test_deferred_10, body: m }
  - advance: 10s
  - expect: { test: 0, test_deferred_10: 0 }
"#;

    /// B-22: one delay queue name for two routing keys.
    one_delay_queue_for_two_keys_is_refused: r#"
rabbitmq: "4.0.5"
topology:
  queues:
    delay_1000:
      type: classic
      arguments: { x-message-ttl: 1000, x-dead-letter-exchange: messages, x-dead-letter-routing-key: A }
steps:
  - declare:
      queues:
        delay_1000:
          type: classic
          arguments: { x-message-ttl: 1000, x-dead-letter-exchange: messages, x-dead-letter-routing-key: B }
    refused: 406
"#;

    /// B-23: a retry that returns through the public exchange reaches everybody again.
    a_retry_through_the_public_exchange_leaks_to_the_neighbours: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { A: { type: fanout }, D: { type: fanout } }
  queues:
    q: { type: classic, arguments: { x-dead-letter-exchange: "", x-dead-letter-routing-key: q.retry } }
    q.retry: { type: classic, arguments: { x-message-ttl: 1000, x-dead-letter-exchange: A } }
    neighbour: { type: classic }
  bindings:
    - { to_exchange: D, exchange: A, routing_key: "" }
    - { queue: q, exchange: D, routing_key: "" }
    - { queue: neighbour, exchange: A, routing_key: "" }
steps:
  - publish: { exchange: A, key: k, body: m }
  - get: { queue: q }
  - reject: { message: m }
  - advance: 1s
  - expect: { q: [m], neighbour: [m, m] }
"#;

    /// B-24: a loop in which every death is an expiry is cut by the broker.
    a_loop_of_expiries_is_dropped_on_its_second_arrival: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { WX: { type: direct }, WX2: { type: direct } }
  queues:
    Work: { type: classic, arguments: { x-dead-letter-exchange: WX, x-dead-letter-routing-key: retry, x-message-ttl: 10000 } }
    Retry: { type: classic, arguments: { x-dead-letter-exchange: WX2, x-dead-letter-routing-key: work, x-message-ttl: 30000 } }
  bindings:
    - { queue: Retry, exchange: WX, routing_key: retry }
    - { queue: Work, exchange: WX2, routing_key: work }
steps:
  - publish: { key: Work, body: m }
  - at: 10s
    expect: { Work: 0, Retry: [m] }
  - at: 40s
    expect: { Work: 0, Retry: 0 }
"#;

    /// B-24: the same loop entered by a rejection comes back.
    a_loop_that_a_rejection_began_comes_back: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { WX: { type: direct }, WX2: { type: direct } }
  queues:
    Work: { type: classic, arguments: { x-dead-letter-exchange: WX, x-dead-letter-routing-key: retry, x-message-ttl: 10000 } }
    Retry: { type: classic, arguments: { x-dead-letter-exchange: WX2, x-dead-letter-routing-key: work, x-message-ttl: 30000 } }
  bindings:
    - { queue: Retry, exchange: WX, routing_key: retry }
    - { queue: Work, exchange: WX2, routing_key: work }
steps:
  - publish: { key: Work, body: m }
  - get: { queue: Work }
  - reject: { message: m }
  - at: 30s
    expect: { Work: [m], Retry: 0 }
"#;

    /// B-25: a rejection in the loop keeps it going for ever; an empty dead-letter routing key is a key.
    a_loop_with_a_rejection_never_ends_by_itself: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { MainExchange: { type: direct } }
  queues:
    Main: { type: classic, arguments: { x-dead-letter-exchange: MainExchange, x-dead-letter-routing-key: Standby } }
    StandBy: { type: classic, arguments: { x-message-ttl: 10000, x-dead-letter-exchange: MainExchange, x-dead-letter-routing-key: "" } }
  bindings:
    - { queue: Main, exchange: MainExchange, routing_key: "" }
    - { queue: StandBy, exchange: MainExchange, routing_key: Standby }
steps:
  - publish: { exchange: MainExchange, key: "", body: m }
  - repeat:
      times: 20
      steps:
        - get: { queue: Main }
        - reject: { message: m }
        - advance: 10s
  - expect: { Main: [m], StandBy: 0, death: { message: m, reason: rejected, queue: Main, count: 20 } }
"#;

    /// B-27: a cycle is judged for each target queue.
    a_cycle_is_cut_for_one_target_and_not_for_the_other: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { fan: { type: fanout }, back: { type: fanout } }
  queues:
    q1: { type: classic, arguments: { x-message-ttl: 1000, x-dead-letter-exchange: fan } }
    q2: { type: classic, arguments: { x-message-ttl: 1000, x-dead-letter-exchange: back } }
    q3: { type: classic }
  bindings:
    - { queue: q2, exchange: fan, routing_key: "" }
    - { queue: q3, exchange: fan, routing_key: "" }
    - { queue: q1, exchange: back, routing_key: "" }
steps:
  - publish: { key: q1, body: m }
  - at: 1s
    expect: { q1: 0, q2: [m], q3: [m] }
  - at: 2s
    expect: { q1: 0, q2: 0, q3: [m] }
"#;

    /// B-28: messages expire at the head of a queue only.
    a_short_expiration_waits_behind_a_long_one: r#"
rabbitmq: "4.0.5"
topology:
  queues:
    delay: { type: classic, arguments: { x-dead-letter-exchange: "", x-dead-letter-routing-key: work } }
    work: { type: classic }
steps:
  - publish: { key: delay, body: three-minutes, expiration: 180s }
  - publish: { key: delay, body: an-hour, expiration: 3600s }
  - publish: { key: delay, body: half-an-hour, expiration: 1800s }
  - at: 180s
    expect: { work: [three-minutes], delay: [an-hour, half-an-hour] }
  - at: 1800s
    expect: { work: [three-minutes], delay: [an-hour, half-an-hour] }
  - at: 3600s
    expect: { work: [three-minutes, an-hour, half-an-hour], delay: 0 }
"#;

    /// B-29: at-least-once keeps what its dead-letter exchange cannot route.
    at_least_once_keeps_what_cannot_be_routed: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { x: { type: direct } }
  queues:
    q: { type: quorum, arguments: { x-message-ttl: 3600000, x-dead-letter-exchange: x, x-dead-letter-routing-key: k,
                                    x-dead-letter-strategy: at-least-once, x-overflow: reject-publish } }
    late: { type: classic }
steps:
  - publish: { key: q, body: m }
  - advance: 3600s
  - expect: { late: 0 }
  - bind: { queue: late, exchange: x, routing_key: k }
  - advance: 600s
  - expect: { late: [m] }
"#;

    /// B-31: without a limit of its own a quorum queue drops after 20 failed deliveries from 4.0 on.
    the_delivery_limit_of_4_0_drops_what_comes_back_too_often: r#"
rabbitmq: "4.0.5"
topology: { queues: { orders: { type: quorum } } }
steps:
  - publish: { key: orders, body: m }
  - repeat: { times: 20, steps: [ { get: { queue: orders } }, { nack: { message: m, requeue: true } } ] }
  - expect: { orders: [m] }
  - get: { queue: orders }
  - nack: { message: m, requeue: true }
  - expect: { orders: 0 }
"#;

    /// B-31: before 4.0 there is no limit, and -1 takes it away.
    without_a_delivery_limit_a_message_comes_back_for_ever: r#"
rabbitmq: "3.13.7"
topology: { queues: { orders: { type: quorum } } }
steps:
  - publish: { key: orders, body: m }
  - repeat: { times: 50, steps: [ { get: { queue: orders } }, { nack: { message: m, requeue: true } } ] }
  - expect: { orders: [m] }
"#;

    /// B-37: the empty key of a fanout habit on a topic exchange.
    an_empty_key_on_a_topic_exchange_takes_only_the_empty_key: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { events: { type: topic } }
  queues: { q: { type: classic } }
  bindings: [ { queue: q, exchange: events, routing_key: "" } ]
steps:
  - publish: { exchange: events, key: anything, body: lost }
  - publish: { exchange: events, key: "", body: kept }
  - expect: { q: [kept] }
"#;

    /// B-36: criteria that were given on the queue and not on the binding.
    a_headers_binding_without_criteria_takes_everything: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { h: { type: headers } }
  queues: { q1: { type: classic }, q2: { type: classic } }
  bindings: [ { queue: q1, exchange: h, routing_key: "" }, { queue: q2, exchange: h, routing_key: "" } ]
steps:
  - publish: { exchange: h, key: "", headers: { class: one }, body: m }
  - expect: { q1: [m], q2: [m] }
"#;

    /// B-38: an exchange-to-exchange binding that leads nowhere still keeps the alternate exchange out.
    an_exchange_in_between_switches_the_alternate_exchange_off: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { X: { type: topic, alternate_exchange: AE }, X2: { type: fanout }, AE: { type: fanout } }
  queues: { unrouted: { type: classic } }
  bindings:
    - { queue: unrouted, exchange: AE, routing_key: "" }
    - { to_exchange: X2, exchange: X, routing_key: k }
steps:
  - publish: { exchange: X, key: other, body: caught }
  - publish: { exchange: X, key: k, body: lost }
  - expect: { unrouted: [caught] }
"#;

    /// B-40: arguments belong to a binding's identity.
    unbinding_one_of_two_bindings_leaves_the_other: r#"
rabbitmq: "4.0.5"
topology:
  exchanges: { x: { type: direct } }
  queues: { q: { type: classic } }
  bindings:
    - { queue: q, exchange: x, routing_key: "30" }
    - { queue: q, exchange: x, routing_key: "30", arguments: { x-hash-on: cluster } }
steps:
  - unbind: { queue: q, exchange: x, routing_key: "30" }
  - publish: { exchange: x, key: "30", body: m }
  - expect: { q: [m] }
"#;
}
