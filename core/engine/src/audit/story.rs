//! The message that shows a finding: where it is published, where it dies, what becomes of it.
//!
//! What becomes of it is followed here, and not taken over from the finding: a dead letter goes to every queue that it is
//! routed to, and a copy that leaves the way which is told stays where it came to. Where a copy cannot be told (it would die
//! in turn, or be dropped by a length limit) there is no example.

use super::finding::{Death, Example, Outcome, exchange_words, few, quoted};
use super::queue::Queue;
use super::ways::Way;
use super::world::World;
use crate::embedded::DeathReason;
use std::collections::BTreeSet;

/// A message on its way.
pub(super) struct Story<'w, 'a> {
    world: &'w World<'a>,
    example: Example,
    /// The key that it has now.
    key: String,
    text: String,
    /// Where its last death took it.
    reached: BTreeSet<&'w str>,
    /// Where copies stayed on the way.
    copies: BTreeSet<&'w str>,
    /// Whether all of that is certain.
    certain: bool,
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
        let mut story = Self {
            world,
            example,
            key: key.to_owned(),
            text,
            reached: BTreeSet::new(),
            copies: BTreeSet::new(),
            certain: true,
        };
        for (index, (dying, reason)) in way.deaths.iter().enumerate() {
            let next = way.deaths.get(index + 1).map_or(queue, |(next, _)| next);
            story.dies(dying, *reason);
            story.arrives(next);
        }
        story
    }

    /// It dies in a queue.
    pub(super) fn dies(&mut self, queue: &str, reason: DeathReason) {
        let found = self.world.queues.get(queue);
        // A copy that stands here too dies as well, or hides the one that is told of; a queue of no length keeps nothing.
        let drops = |queue: &Queue<'_>| reason != DeathReason::MaxLen || queue.drops_its_head();
        self.certain &= !self.copies.contains(queue)
            && found.is_some_and(|queue| queue.number("max-length") != Some(0) && drops(queue));
        self.example.deaths.push(Death { queue: queue.to_owned(), reason });
        let how = match reason {
            DeathReason::Expired => "when its time is up there",
            DeathReason::Rejected => "rejected there",
            DeathReason::MaxLen => "dropped there by the length limit",
            DeathReason::DeliveryLimit => "put back there too often",
        };
        let dead = found.and_then(|queue| queue.dead_letters());
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
        self.reached = BTreeSet::new();
        if let Some(dead) = dead {
            let reach = self.world.routes(&dead.exchange, &self.key, Some(&self.example.headers));
            self.certain &= !reach.perhaps;
            self.reached = reach.queues;
            self.reached.retain(|target| !is_cut(&self.example.deaths, target));
        }
    }

    /// Where its last death took it. The broker keeps it from queues where it died before, unless it was rejected since.
    pub(super) fn reached(&self) -> &BTreeSet<&'w str> {
        &self.reached
    }

    /// It comes to a queue, and copies of it to all others that its last death took it to.
    pub(super) fn arrives(&mut self, queue: &str) {
        self.text.push_str(&format!(" and comes to {}", quoted(queue)));
        self.certain &= self.reached.remove(queue);
        let copies = std::mem::take(&mut self.reached);
        self.keep(&copies);
        self.copies.extend(copies);
    }

    /// That is the end of it; without an example where it is not certain.
    pub(super) fn ends(mut self, how: &str) -> Option<Example> {
        self.text.push_str(how);
        let last = self.example.deaths.last()?;
        let dead = self.world.queues.get(last.queue.as_str())?.dead_letters();
        let kept = self.reached.is_empty() && dead.is_some_and(|dead| dead.at_least_once);
        let reached = std::mem::take(&mut self.reached);
        self.keep(&BTreeSet::new());
        if !self.certain || kept && !self.copies.is_empty() {
            return None;
        }
        if reached.is_empty() && !self.copies.is_empty() {
            let names: Vec<&str> = self.copies.iter().copied().collect();
            self.text.push_str(&format!(" (copies stay in {})", few(names.into_iter())));
        }
        let in_the_end: BTreeSet<&str> = reached.union(&self.copies).copied().collect();
        self.example.outcome = match (kept, in_the_end.is_empty()) {
            (true, _) => Outcome::Kept,
            (false, true) => Outcome::Lost,
            (false, false) => Outcome::Reaches { queues: in_the_end.into_iter().map(str::to_owned).collect() },
        };
        self.example.happens = self.text;
        Some(self.example)
    }

    /// Copies must stay where they are.
    fn keep(&mut self, more: &BTreeSet<&'w str>) {
        let dies = |name: &str| self.world.queues.get(name).is_none_or(Queue::expires_messages);
        let again =
            |name: &str| self.copies.contains(name) && self.world.queues.get(name).is_none_or(Queue::drops_when_full);
        let died = |name: &str| self.example.deaths.iter().any(|death| death.queue == name);
        let moves =
            self.copies.iter().chain(more).any(|name| dies(name) || died(name)) || more.iter().any(|name| again(name));
        self.certain &= !moves;
    }
}

/// Whether the broker drops a dead letter instead of giving it to a queue (`mc:is_death_cycle`): it died there before, and
/// neither there nor since was it rejected.
fn is_cut(deaths: &[Death], target: &str) -> bool {
    let since = deaths.iter().rev();
    let mut automatic = since.take_while(|death| death.reason != DeathReason::Rejected);
    automatic.any(|death| death.queue == target)
}
