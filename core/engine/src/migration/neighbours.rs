//! Who else gets the messages of a queue.

use super::action::leading_to;
use crate::rabbitmq::DestinationType;
use crate::routing::{Envelope, Router};
use crate::state::State;
use crate::topic::{KeySet, key_classes};
use serde::Serialize;
use std::collections::BTreeMap;

/// A queue that gets some of the same messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Neighbour {
    /// The queue.
    pub queue: String,
    /// Where a message that both get is published.
    pub exchange: String,
    /// A routing key that both get.
    pub routing_key: String,
}

/// More classes of keys than this are not looked at for one exchange.
const MAX_CLASSES: usize = 1_000;

/// The queues that get messages of `queue` too, sorted, each with one key as an example. The proof shows that they go on
/// getting them; this shows who they are.
pub fn neighbours(state: &State, queue: &str) -> Vec<Neighbour> {
    let router = Router::of(state);
    let mut found: BTreeMap<String, Neighbour> = BTreeMap::new();
    let mut sources: Vec<&str> = leading_to(state, queue).map(|binding| binding.source.as_str()).collect();
    sources.dedup();
    for source in sources {
        let kind = state.exchange(source).there().map(|exchange| exchange.kind.clone()).unwrap_or_default();
        let set = |key: &str| match kind.as_str() {
            "direct" => KeySet::literal(key),
            "topic" => KeySet::pattern(key),
            _ => KeySet::all(),
        };
        let bindings: Vec<_> = state.bindings.from_source(source).collect();
        let sets: Vec<KeySet> = bindings.iter().map(|binding| set(&binding.routing_key)).collect();
        let leads_here = |at: &usize| {
            bindings.get(*at).is_some_and(|binding| {
                binding.destination_type == DestinationType::Queue && binding.destination == queue
            })
        };
        let focus: Vec<usize> = (0..bindings.len()).filter(leads_here).collect();
        for class in key_classes(&sets, &focus, MAX_CLASSES).unwrap_or_default() {
            let key = class.key_text().into_owned();
            for other in router.route(&Envelope::new(source, &key)).queues {
                if other != queue {
                    let neighbour =
                        Neighbour { queue: other.clone(), exchange: source.to_owned(), routing_key: key.clone() };
                    found.entry(other).or_insert(neighbour);
                }
            }
        }
    }
    found.into_values().collect()
}
