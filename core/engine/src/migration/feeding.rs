//! Queues whose dead letters come to another queue.

use crate::policy::Policies;
use crate::rabbitmq::QueueDeclaration;
use crate::routing::{Envelope, Router};
use crate::state::State;
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Queues whose dead letters come to `queue` through the default exchange. They cannot be led elsewhere.
pub(super) fn returning(state: &State, queue: &str) -> Vec<String> {
    let returns = |(exchange, key): (String, Option<String>)| exchange.is_empty() && key.as_deref() == Some(queue);
    feeders(state, queue, returns)
}

/// Queues whose dead letters come to `queue`, through whichever exchange, by the key that they are given. Those that keep a
/// message's own key may lead anywhere, and are no retry queues.
pub(super) fn feeding(state: &State, queue: &str) -> Vec<String> {
    let router = Router::of(state);
    let leads_here = |(exchange, key): (String, Option<String>)| {
        key.is_some_and(|key| router.route(&Envelope::new(exchange.as_str(), &key)).queues.iter().any(|to| to == queue))
    };
    feeders(state, queue, leads_here)
}

/// Which of the queues send their dead letters somewhere by a key of their own, and whether that leads to a queue.
pub(super) fn ways_of_dead_letters(state: &State, queues: &BTreeSet<String>) -> BTreeMap<String, bool> {
    let (policies, router) = (Policies::new(state), Router::of(state));
    let leads = |name: &String| {
        let (exchange, key) = target(&policies, state.queues.get(name)?)?;
        Some((name.clone(), !router.route(&Envelope::new(exchange.as_str(), &key?)).queues.is_empty()))
    };
    queues.iter().filter_map(leads).collect()
}

/// Exchange and key of a queue's dead letters.
fn target(policies: &Policies<'_>, queue: &QueueDeclaration) -> Option<(String, Option<String>)> {
    let effective = policies.effective(queue);
    let text = |key: &str| effective.value(key).and_then(Value::as_text).map(str::to_owned);
    Some((text("dead-letter-exchange")?, text("dead-letter-routing-key")))
}

fn feeders(state: &State, queue: &str, leads_here: impl Fn((String, Option<String>)) -> bool) -> Vec<String> {
    let policies = Policies::new(state);
    let others = state.queues.values().filter(|candidate| candidate.name != queue);
    others.filter(|other| target(&policies, other).is_some_and(&leads_here)).map(|other| other.name.clone()).collect()
}
