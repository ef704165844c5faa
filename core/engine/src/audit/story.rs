//! The message that shows a finding: where it is published, where it dies, what becomes of it.

use super::finding::{Death, Example, Outcome, exchange_words, quoted};
use super::ways::Way;
use super::world::World;
use crate::embedded::DeathReason;

/// A message on its way.
pub(super) struct Story<'w, 'a> {
    world: &'w World<'a>,
    example: Example,
    /// The key that it has now.
    key: String,
    text: String,
}

impl<'w, 'a> Story<'w, 'a> {
    /// A message that takes `way` into `queue` with `key`; the deaths of the way are part of it.
    pub(super) fn new(world: &'w World<'a>, way: &Way<'_>, key: &str, queue: &str) -> Self {
        let first = way.deaths.first().map_or(queue, |(first, _)| first);
        let headers = if way.headers.is_empty() { String::new() } else { " and the headers of the binding".to_owned() };
        let text = format!(
            "published to {} with key {}{headers} it reaches {}",
            exchange_words(way.exchange),
            quoted(key),
            quoted(first)
        );
        let example = Example {
            exchange: way.exchange.to_owned(),
            key: key.to_owned(),
            headers: way.headers.clone(),
            deaths: Vec::new(),
            outcome: Outcome::Lost,
            happens: String::new(),
        };
        let mut story = Self { world, example, key: key.to_owned(), text };
        for (index, (dying, reason)) in way.deaths.iter().enumerate() {
            let next = way.deaths.get(index + 1).map_or(queue, |(next, _)| next);
            story.dies(dying, *reason);
            story.arrives(next);
        }
        story
    }

    /// It dies in a queue.
    pub(super) fn dies(&mut self, queue: &str, reason: DeathReason) {
        self.example.deaths.push(Death { queue: queue.to_owned(), reason });
        let how = match reason {
            DeathReason::Expired => "when its time is up there",
            DeathReason::Rejected => "rejected there",
            DeathReason::MaxLen => "dropped there by the length limit",
            DeathReason::DeliveryLimit => "put back there too often",
        };
        let dead = self.world.queues.get(queue).and_then(|queue| queue.dead_letters());
        let going = match dead {
            Some(dead) => {
                if let Some(key) = &dead.key {
                    self.key.clone_from(key);
                }
                format!(" it goes to {} with key {}", exchange_words(&dead.exchange), quoted(&self.key))
            }
            None => String::new(),
        };
        self.text.push_str(&format!("; {how}{going}"));
    }

    /// It comes to a queue.
    pub(super) fn arrives(&mut self, queue: &str) {
        self.text.push_str(&format!(" and comes to {}", quoted(queue)));
    }

    /// Nothing has it any more.
    pub(super) fn lost(mut self, how: &str) -> Example {
        self.text.push_str(how);
        self.finish(Outcome::Lost)
    }

    /// It stays where it died.
    pub(super) fn kept(mut self, how: &str) -> Example {
        self.text.push_str(how);
        self.finish(Outcome::Kept)
    }

    /// It stands in these queues.
    pub(super) fn reaches<'q>(mut self, queues: impl IntoIterator<Item = &'q str>, how: &str) -> Example {
        self.text.push_str(how);
        let mut queues: Vec<String> = queues.into_iter().map(str::to_owned).collect();
        queues.sort_unstable();
        queues.dedup();
        let outcome = if queues.is_empty() { Outcome::Lost } else { Outcome::Reaches { queues } };
        self.finish(outcome)
    }

    fn finish(mut self, outcome: Outcome) -> Example {
        self.example.outcome = outcome;
        self.example.happens = self.text;
        self.example
    }
}
