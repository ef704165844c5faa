//! The virtual clock: time passes only when it is told to.

use super::history::{Happening, What};
use super::{EmbeddedBroker, MessageId};

impl EmbeddedBroker {
    /// Now, in milliseconds. A new broker starts at 0; what it writes as a time is seconds since 1970 of this clock.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Lets the clock start at another time than 0, before anything has happened.
    #[must_use]
    pub fn starting_at(mut self, milliseconds: u64) -> Self {
        self.now = milliseconds;
        self
    }

    /// When something happens by itself next: a message or a queue expires. `None` when nothing ever will.
    pub fn next_due(&self) -> Option<u64> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Lets time pass. Messages and queues whose time comes go in the order of their times, those of one instant by the names
    /// of their queues.
    pub fn advance(&mut self, milliseconds: u64) {
        let until = self.now.saturating_add(milliseconds);
        while let Some((at, name)) = self.due.first().filter(|(at, _)| *at <= until).cloned() {
            self.now = self.now.max(at);
            self.run_due(&name);
            self.settle_down();
        }
        self.now = until;
        #[cfg(test)]
        self.check_notes();
    }

    /// Brings the note of when something happens in that queue up to date, after whatever may have changed it.
    pub(super) fn reckon(&mut self, name: &str) {
        let Some(queue) = self.queues.get_mut(name) else { return };
        let due = queue.due();
        if queue.noted_due == due {
            return;
        }
        if let Some(at) = std::mem::replace(&mut queue.noted_due, due) {
            self.due.remove(&(at, name.to_owned()));
        }
        self.due.extend(due.map(|at| (at, name.to_owned())));
    }

    fn run_due(&mut self, name: &str) {
        let gone = self.queues.get(name).and_then(super::queue::Queue::goes_at).is_some_and(|at| at <= self.now);
        // What dies at the very instant at which its queue goes dies first.
        self.expire(name);
        if gone {
            self.drop_queue(name);
            self.note(None, What::QueueExpired { queue: name.to_owned() });
        }
    }

    /// Keeps a [history](Self::history) from now on.
    pub fn keep_history(&mut self) {
        self.history.get_or_insert_with(Vec::new);
    }

    /// What happened since a history is kept; empty when none is.
    pub fn history(&self) -> &[Happening] {
        self.history.as_deref().unwrap_or_default()
    }

    pub(super) fn note(&mut self, message: Option<MessageId>, what: What) {
        let at = self.now;
        if let Some(history) = &mut self.history {
            history.push(Happening { at, message, what });
        }
    }

    /// The notes that spare a look at every queue say what a look at every queue would.
    #[cfg(test)]
    pub(super) fn check_notes(&self) {
        let due = self.queues.iter().filter_map(|(name, queue)| Some((queue.due()?, name.clone())));
        assert_eq!(self.due, due.collect());
        let waiting = self.queues.iter().filter(|(_, queue)| !queue.pending.is_empty()).map(|(name, _)| name.clone());
        assert_eq!(self.waiting, waiting.collect());
    }
}
