//! Small vhosts with a queue `old` that is to be replaced by `new`, and messages for them.
//!
//! What is asked here knows nothing of classes or routing tables: every key of a small world is published to every exchange, on
//! the embedded broker, and what arrives is counted.

#![allow(dead_code, reason = "each test uses its part")]

use acemq_core::embedded::{EmbeddedBroker, Publication};
use acemq_core::migration::{Action, MAX_CLASSES, MigrationFile, MigrationPlan, Phase, Subject};
use acemq_core::rabbitmq::{BindingDeclaration, Broker, DeleteQueue, ExchangeDeclaration, QueueDeclaration, Version};
use acemq_core::state::State;
use acemq_core::topology::Format;
use acemq_core::value::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// What a message reaches: how many copies in each queue.
pub type Copies = BTreeMap<String, usize>;

pub struct World {
    pub state: State,
    pub wiring: Vec<Action>,
    pub keys: Vec<&'static str>,
    pub headers: Vec<Table>,
}

impl World {
    pub fn subject(&self) -> Subject<'_> {
        Subject {
            initial: &self.state,
            old: "old",
            new: "new",
            wiring: &self.wiring,
            duplicates_allowed: false,
            limit: MAX_CLASSES,
        }
    }

    pub fn messages(&self) -> Vec<(String, &'static str, &Table)> {
        let mut messages = Vec::new();
        for exchange in self.state.exchanges.keys() {
            for key in &self.keys {
                messages.extend(self.headers.iter().map(|headers| (exchange.clone(), *key, headers)));
            }
        }
        messages
    }
}

pub fn copies(broker: &mut EmbeddedBroker, exchange: &str, key: &str, headers: &Table) -> Copies {
    let connection = broker.connect();
    let names: Vec<String> = broker.queue_names().map(str::to_owned).collect();
    for name in &names {
        broker.purge(connection, name).unwrap();
    }
    let mut publication = Publication::new(exchange, key, "body");
    publication.properties.headers = headers.clone();
    broker.publish(connection, publication).unwrap();
    let counts = names.into_iter().map(|name| {
        let count = broker.contents(&name).map_or(0, |contents| contents.ready.len());
        (name, count)
    });
    let copies = counts.filter(|(_, count)| *count > 0).collect();
    broker.disconnect(connection);
    copies
}

pub fn play(broker: &mut EmbeddedBroker, action: &Action) -> bool {
    let connection = broker.connect();
    let done = match action {
        Action::DeclareQueue(queue) => broker.declare_queue(connection, queue).is_ok(),
        Action::DeclareExchange(exchange) => broker.declare_exchange(connection, exchange).is_ok(),
        Action::Bind(binding) => broker.bind(connection, binding).is_ok(),
        Action::Unbind(binding) => broker.unbind(connection, binding).is_ok(),
        Action::SetPolicy(policy) => {
            broker.set_policy(policy.clone());
            true
        }
        Action::DeletePolicy(policy) => {
            broker.clear_policy(&policy.name);
            true
        }
        Action::DeleteExchange(exchange) => broker.delete_exchange(connection, &exchange.name, false).is_ok(),
        Action::DeleteQueue(queue) => broker.delete_queue(connection, queue, DeleteQueue::default()).is_ok(),
        _ => true,
    };
    broker.disconnect(connection);
    done
}

pub fn unequal(before: &Copies, now: &Copies) -> bool {
    let kept: BTreeSet<&str> = ["all", "some", "unrouted", "neighbour"].into();
    let others = |copies: &Copies| -> Copies {
        copies.iter().filter(|(name, _)| kept.contains(name.as_str())).map(|(name, n)| (name.clone(), *n)).collect()
    };
    let mine = |copies: &Copies| copies.get("old").unwrap_or(&0) + copies.get("new").unwrap_or(&0);
    mine(before) != mine(now) || others(before) != others(now)
}

pub fn file(with: &str, options: &str) -> MigrationFile {
    let text = format!("acemq_migration: 1\nreplace: {{ queue: old, with: {with} }}\noptions: {options}\n");
    MigrationFile::parse(&text, Format::Yaml).unwrap()
}

pub fn plan(options: &str, state: &State) -> MigrationPlan {
    MigrationPlan::new(&file("{ name: new }", options), state).unwrap()
}

pub fn world(state: State, keys: &[&'static str], headers: Vec<Table>) -> World {
    let steps = plan("{}", &state).steps;
    let wiring = steps.into_iter().filter(|step| step.phase == Phase::Prepare).map(|step| step.action).collect();
    World { state, wiring, keys: keys.to_vec(), headers }
}

/// A vhost of RabbitMQ 4.0 with a queue `old`.
pub fn vhost() -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_queue(QueueDeclaration::durable("old").with("x-queue-type", "classic"));
    state
}

/// A topic exchange with overlapping patterns for `old`, neighbours on the same keys, and an alternate exchange.
pub fn topic() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "rest"));
    state.insert_exchange(ExchangeDeclaration::durable("rest", "fanout"));
    for queue in ["all", "some", "unrouted"] {
        state.insert_queue(QueueDeclaration::durable(queue));
    }
    for (queue, key) in [("old", "a.*"), ("old", "*.b"), ("all", "a.#"), ("some", "c.b")] {
        state.bindings.insert(BindingDeclaration::queue("x", queue, key));
    }
    state.bindings.insert(BindingDeclaration::queue("rest", "unrouted", ""));
    state
}

/// Three sources of three types, one of them behind another.
pub fn several() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "topic"));
    state.insert_exchange(ExchangeDeclaration::durable("y", "direct"));
    state.insert_exchange(ExchangeDeclaration::durable("z", "headers"));
    state.insert_queue(QueueDeclaration::durable("neighbour"));
    state.bindings.insert(BindingDeclaration::exchange("x", "y", "a.#"));
    state.bindings.insert(BindingDeclaration::exchange("x", "z", "#"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "old", "a.b"));
    state.bindings.insert(BindingDeclaration::queue("y", "neighbour", "a.c"));
    let mut headers = BindingDeclaration::queue("z", "old", "");
    headers.arguments.insert("x-match", Value::text("any"));
    headers.arguments.insert("kind", Value::text("a"));
    headers.arguments.insert("size", 5);
    state.bindings.insert(headers);
    state
}

/// One direct exchange, one key.
pub fn one_key() -> State {
    let mut state = vhost();
    state.insert_exchange(ExchangeDeclaration::durable("x", "direct"));
    state.bindings.insert(BindingDeclaration::queue("x", "old", "k"));
    state
}
