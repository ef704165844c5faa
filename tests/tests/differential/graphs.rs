//! Random exchange graphs: every message must reach the queues that the engine's router says, no more and no fewer.
//!
//! `ACEMQ_DIFFERENTIAL=10` multiplies the number of graphs, and `ACEMQ_SEED=7` draws others.

use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration, Version};
use acemq_core::routing::{Envelope, Router};
use acemq_core::value::{Table, Value};
use acemq_tests::amqp::{Channel, Event, Publish};
use acemq_tests::draw::{Draw, scale};
use acemq_tests::on_every_broker;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const GRAPHS: usize = 60;
/// Three generations, 60 graphs: more than 21,000 messages a run.
const MESSAGES: usize = 120;
const EXCHANGES: usize = 5;
const QUEUES: usize = 4;
const BINDINGS: usize = 14;
/// From 4.3.5 on a binding key may have no more.
const MOST_HASHES: usize = 2;

on_every_broker! {
    fn every_message_reaches_the_queues_that_the_router_says(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        channel.confirm_select().unwrap();
        let mut disagreements = Vec::new();
        let (mut messages, mut routed) = (0, 0);
        let mut published = 0;
        for number in 0..GRAPHS * scale() {
            let mut draw = Draw::new(number);
            let graph = Graph::draw(&mut draw, number);
            graph.declare(&channel);
            let router = graph.router(node.version());
            let sent: Vec<Message> = (0..MESSAGES).map(|_| Message::draw(&mut draw, &graph)).collect();
            let returned = publish(&channel, &sent, &mut published);
            let mut arrived: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
            for queue in &graph.queues {
                while let Some(delivery) = channel.get(queue, true).unwrap() {
                    let message = String::from_utf8(delivery.body).unwrap().parse().unwrap();
                    assert!(
                        arrived.entry(message).or_default().insert(queue.clone()),
                        "{queue} got message {message} of graph {number} twice"
                    );
                }
            }
            for (index, message) in sent.iter().enumerate() {
                messages += 1;
                let envelope =
                    Envelope::new(message.exchange.as_str(), &message.key).with_headers(&message.headers);
                let expected: BTreeSet<String> = router.route(&envelope).queues.into_iter().collect();
                let actual = arrived.remove(&index).unwrap_or_default();
                routed += usize::from(!actual.is_empty());
                let explained: BTreeSet<String> =
                    router.explain(&envelope).copies.into_iter().map(|copy| copy.queue).collect();
                if actual != expected || explained != expected || returned.contains(&index) != expected.is_empty() {
                    disagreements.push(format!(
                        "graph {number}, {message:?}: the broker {actual:?} (returned: {}), the engine {expected:?}",
                        returned.contains(&index)
                    ));
                }
            }
            graph.delete(&channel);
        }
        assert!(routed > messages / 4 && routed < messages * 3 / 4, "{routed} of {messages} reached a queue");
        let count = disagreements.len();
        disagreements.truncate(20);
        assert!(count == 0, "{count} of {messages} disagree on {}:\n{}", node.version(), disagreements.join("\n"));
    }
}

/// Publishes all as mandatory and gives the numbers of those that came back. `published` counts what the channel published.
fn publish(channel: &Channel, messages: &[Message], published: &mut u64) -> BTreeSet<usize> {
    let mut open = BTreeSet::new();
    for (index, message) in messages.iter().enumerate() {
        let publication = Publish::to(&message.exchange, &message.key)
            .headers(message.headers.clone())
            .mandatory()
            .body(index.to_string());
        channel.publish(&publication).unwrap();
        *published += 1;
        open.insert(*published);
    }
    let mut returned = BTreeSet::new();
    while !open.is_empty() {
        match channel.next_event(Duration::from_secs(60)).unwrap().expect("a confirm") {
            Event::Returned(message) => {
                returned.insert(String::from_utf8(message.body).unwrap().parse().unwrap());
            }
            Event::Ack { delivery_tag, multiple: true } => open = open.split_off(&(delivery_tag + 1)),
            Event::Ack { delivery_tag, multiple: false } => {
                open.remove(&delivery_tag);
            }
            other => panic!("{other:?}"),
        }
    }
    returned
}

/// Exchanges of all types, bound to each other and to queues.
struct Graph {
    exchanges: Vec<ExchangeDeclaration>,
    queues: Vec<String>,
    bindings: Vec<BindingDeclaration>,
}

impl Graph {
    fn draw(draw: &mut Draw, number: usize) -> Self {
        let exchange = |index: usize| format!("g{number}-x{index}");
        let queues: Vec<String> = (0..QUEUES).map(|index| format!("g{number}-q{index}")).collect();
        let exchanges = (0..EXCHANGES)
            .map(|index| {
                let kind = draw.one_of(&["direct", "fanout", "topic", "headers"]);
                let mut declaration = ExchangeDeclaration::durable(exchange(index), *kind);
                // Internal ones cannot be published to; the first one is where messages enter.
                declaration.internal = index > 1 && draw.chance(4);
                match draw.below(6) {
                    0..3 => declaration.with("alternate-exchange", exchange(draw.below(EXCHANGES))),
                    3 => declaration.with("alternate-exchange", *draw.one_of(&["", "nobody", "amq.fanout"])),
                    _ => declaration,
                }
            })
            .collect();
        let bindings = (0..BINDINGS)
            .map(|_| {
                let source = exchange(draw.below(EXCHANGES));
                let key = key(draw);
                let binding = if draw.chance(3) {
                    BindingDeclaration::exchange(source, exchange(draw.below(EXCHANGES)), key)
                } else {
                    BindingDeclaration::queue(source, queues[draw.below(QUEUES)].clone(), key)
                };
                BindingDeclaration { arguments: criteria(draw), ..binding }
            })
            .collect();
        Self { exchanges, queues, bindings }
    }

    fn declare(&self, channel: &Channel) {
        for exchange in &self.exchanges {
            channel.declare_exchange(exchange).unwrap();
        }
        for queue in &self.queues {
            channel.declare_queue(&QueueDeclaration::durable(queue.as_str())).unwrap();
        }
        for binding in &self.bindings {
            channel.bind(binding).unwrap();
        }
    }

    fn router(&self, version: Version) -> Router {
        let mut router = Router::new(version);
        router.add_exchange(ExchangeDeclaration::durable("amq.fanout", "fanout"));
        for exchange in &self.exchanges {
            router.add_exchange(exchange.clone());
        }
        for queue in &self.queues {
            router.add_queue(queue.clone());
        }
        for binding in &self.bindings {
            router.bind(binding.clone());
        }
        router
    }

    fn delete(&self, channel: &Channel) {
        for queue in &self.queues {
            channel.delete_queue(queue).unwrap();
        }
        for exchange in &self.exchanges {
            channel.delete_exchange(&exchange.name, false).unwrap();
        }
    }
}

#[derive(Debug)]
struct Message {
    exchange: String,
    key: String,
    headers: Table,
}

impl Message {
    fn draw(draw: &mut Draw, graph: &Graph) -> Self {
        let open: Vec<&str> = graph
            .exchanges
            .iter()
            .filter(|exchange| !exchange.internal)
            .map(|exchange| exchange.name.as_str())
            .collect();
        let exchange = if draw.chance(12) { "" } else { draw.one_of(&open) };
        let key = if exchange.is_empty() && draw.chance(2) { graph.queues[0].clone() } else { key(draw) };
        let mut headers = Table::new();
        for name in ["a", "b", "x-c", "A"] {
            if draw.chance(2) {
                headers.insert(name, value(draw));
            }
        }
        for name in ["CC", "BCC"] {
            if draw.chance(6) {
                headers.insert(name, Value::Array(vec![key_value(draw), Value::I32(7), key_value(draw)]));
            }
        }
        Self { exchange: exchange.to_owned(), key, headers }
    }
}

fn key_value(draw: &mut Draw) -> Value {
    Value::text(key(draw))
}

/// Few words, so that keys and patterns meet.
fn key(draw: &mut Draw) -> String {
    loop {
        let words: Vec<&str> =
            (0..draw.below(4)).map(|_| *draw.one_of(&["a", "b", "", "*", "#", "##", "é", "a*"])).collect();
        if words.iter().filter(|word| **word == "#").count() <= MOST_HASHES {
            return words.join(".");
        }
    }
}

fn criteria(draw: &mut Draw) -> Table {
    let mut table = Table::new();
    if draw.chance(2) {
        table.insert("x-match", *draw.one_of(&["all", "any", "all-with-x", "any-with-x"]));
    }
    for name in ["a", "b", "x-c", "A"] {
        if draw.chance(4) {
            table.insert(name, value(draw));
        }
    }
    table
}

/// Values that are equal to one another in one version and not in another.
fn value(draw: &mut Draw) -> Value {
    let inner = |draw: &mut Draw| if draw.chance(2) { Value::I64(5) } else { Value::I32(5) };
    match draw.below(16) {
        0 => Value::I64(5),
        1 => Value::U8(5),
        2 => Value::F64(5.0),
        3 => Value::Timestamp(5),
        4 => Value::I64(5000),
        5 => Value::text("5"),
        6 => Value::Binary(b"5".to_vec()),
        7 => Value::F32(0.5),
        8 => Value::F64(0.5),
        9 => Value::Bool(true),
        10 => Value::text("true"),
        11 => Value::Void,
        12 => Value::Array(vec![inner(draw)]),
        13 => Value::Table(Table::new().with("k", inner(draw))),
        14 => Value::Array(Vec::new()),
        _ => Value::Table(Table::new()),
    }
}
