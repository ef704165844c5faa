//! The ends of queues: what waits in them is nobody's any more.

use super::{Fault, Subject};
use crate::migration::action::Action;
use crate::migration::feeding::{feeding, ways_of_dead_letters};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// After which step each queue is last reached by a message.
#[derive(Debug, Default)]
pub(super) struct Reached(BTreeMap<String, usize>);

impl Reached {
    /// It is reached after that step still.
    pub fn note(&mut self, queue: &str, after: usize) {
        match self.0.get_mut(queue) {
            Some(until) => *until = after.max(*until),
            None => drop(self.0.insert(queue.to_owned(), after)),
        }
    }
}

/// What is known when the routes are known.
pub(super) struct Ends<'a> {
    pub subject: &'a Subject<'a>,
    pub actions: &'a [&'a Action],
    /// Before the first action and after each.
    pub states: &'a [Arc<State>],
    /// Queues that are not there before the first step.
    pub fresh: &'a BTreeSet<String>,
    pub reached: &'a Reached,
}

impl Ends<'_> {
    /// The first step, from 1, that takes messages along which may wait somewhere.
    pub fn broken(&self) -> Option<(usize, Fault)> {
        let watched = self.watched();
        let mut ways: Option<(&Arc<State>, BTreeMap<String, bool>)> = None;
        for (at, (action, pair)) in self.actions.iter().zip(self.states.windows(2)).enumerate() {
            let [before, after] = pair else { continue };
            if Arc::ptr_eq(before, after) {
                continue;
            }
            if let Action::DeleteQueue(queue) = action
                && !self.may_go(queue, at)
            {
                return Some((at + 1, Fault::Deleted { queue: queue.clone() }));
            }
            let then = ways_of_dead_letters(after, &watched);
            let was = match ways.take() {
                Some((state, ways)) if Arc::ptr_eq(state, before) => ways,
                _ => ways_of_dead_letters(before, &watched),
            };
            let lost = was.iter().find(|(queue, leads)| **leads && then.get(*queue) == Some(&false));
            if let Some((queue, _)) = lost.filter(|(queue, _)| !self.is_emptied(queue, 0, at)) {
                return Some((at + 1, Fault::Stranded { queue: queue.clone() }));
            }
            ways = Some((after, then));
        }
        None
    }

    /// The queues that come and go, and those whose dead letters come back to the old queue by its name.
    fn watched(&self) -> BTreeSet<String> {
        let mut watched = self.fresh.clone();
        watched.extend([self.subject.old.to_owned(), self.subject.new.to_owned()]);
        watched.extend(feeding(self.subject.initial, self.subject.old));
        watched
    }

    /// Whether a queue is the migration's to delete, nothing has reached it for long enough, and it has run empty since.
    fn may_go(&self, queue: &str, at: usize) -> bool {
        if queue != self.subject.old && !self.fresh.contains(queue) {
            return false;
        }
        let since = self.reached.0.get(queue).copied().unwrap_or_default().min(at);
        let nodes_know = (since..at).find(|at| matches!(self.actions.get(*at), Some(Action::AwaitNodes { .. })));
        nodes_know.is_some_and(|known| self.is_emptied(queue, known, at))
    }

    /// Whether a step between the two makes sure that a queue is empty.
    fn is_emptied(&self, queue: &str, from: usize, until: usize) -> bool {
        (from..until).any(|at| match self.actions.get(at) {
            Some(Action::Drain { queue: drained, returning }) => {
                drained == queue || returning.iter().any(|returning| returning == queue)
            }
            Some(Action::CheckEmpty { queue: checked }) => checked == queue,
            _ => false,
        })
    }
}
