//! Plans and their proofs, held against messages that are really published.

mod pitfalls;
mod planning;
mod refusals;
mod running;

use super::{MigrationFile, MigrationPlan};
use crate::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
use crate::state::State;
use crate::topology::Format;
use crate::value::Value;

pub(super) fn file(with: &str, options: &str) -> MigrationFile {
    let text = format!("acemq_migration: 1\nreplace: {{ queue: old, with: {with} }}\noptions: {options}\n");
    MigrationFile::parse(&text, Format::Yaml).unwrap()
}

pub(super) fn plan(with: &str, options: &str, state: &State) -> MigrationPlan {
    MigrationPlan::new(&file(with, options), state).unwrap()
}

/// A vhost of RabbitMQ 4.0 with a queue `old`.
pub(super) fn vhost() -> State {
    let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
    state.insert_queue(QueueDeclaration::durable("old").with("x-queue-type", "classic"));
    state
}

/// A topic exchange with overlapping patterns for `old`, neighbours on the same keys, and an alternate exchange.
pub(super) fn topic() -> State {
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
pub(super) fn several() -> State {
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
