//! The ready messages of a queue, in the order in which they will leave it.
//!
//! * A **classic** queue is first in, first out; a message that comes back takes its old place. With `x-max-priority` the
//!   highest priority leaves first.
//! * A **quorum** queue gives out what came back before anything else, in the order in which it came back. Priorities: none
//!   before 4.0; high (5 and more) and normal from 4.0, two high ones to one normal one; 32 strict levels from 4.3.
//! * A **stream** keeps everything; consumers have their own place in it.
//!
//! Source: `rabbit_priority_queue`, `rabbit_variable_queue:requeue`; `rabbit_fifo:take_next_msg`, `rabbit_fifo_q`,
//! `rabbit_fifo_pq`.

use super::message::Message;
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::{V4_3_QUEUES, V4_QUORUM};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

/// A message in a queue, with what the queue knows about it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Entry {
    pub(super) message: Message,
    /// Rises with each message that enters the queue.
    pub(super) position: u64,
    /// When it expires, in milliseconds of the virtual clock.
    pub(super) expires_at: Option<u64>,
    /// How often it was given out and came back.
    pub(super) returned: u32,
    /// How many of these were failures: what a delivery limit counts from 4.3 on.
    pub(super) failed: u32,
    /// The bytes that it counts for.
    pub(super) size: u64,
}

/// Ready messages.
#[derive(Debug, Clone)]
pub(super) struct Store {
    order: Order,
    bytes: u64,
}

#[derive(Debug, Clone)]
enum Order {
    Classic { ready: BTreeMap<(Reverse<u8>, u64), Entry>, highest: u8 },
    Quorum { returned: VecDeque<Entry>, levels: Levels },
}

/// The levels of a quorum queue.
#[derive(Debug, Clone)]
struct Levels {
    scheme: Scheme,
    by_level: BTreeMap<Reverse<u8>, VecDeque<Entry>>,
    /// How many were given out, modulo three: every third is a normal one.
    turn: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    /// Before 4.0.
    One,
    /// 4.0 to 4.2.
    TwoWeighted,
    /// From 4.3 on.
    Strict,
}

impl Store {
    /// For a classic queue, or a stream's length. `highest` is its `x-max-priority`, 0 without.
    pub(super) fn classic(highest: u8) -> Self {
        Self { order: Order::Classic { ready: BTreeMap::new(), highest }, bytes: 0 }
    }

    pub(super) fn quorum(version: Version) -> Self {
        let scheme = if V4_3_QUEUES.holds(version) {
            Scheme::Strict
        } else if V4_QUORUM.holds(version) {
            Scheme::TwoWeighted
        } else {
            Scheme::One
        };
        let levels = Levels { scheme, by_level: BTreeMap::new(), turn: 0 };
        Self { order: Order::Quorum { returned: VecDeque::new(), levels }, bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        match &self.order {
            Order::Classic { ready, .. } => ready.len(),
            Order::Quorum { returned, levels } => {
                returned.len() + levels.by_level.values().map(VecDeque::len).sum::<usize>()
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the bodies.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a message that enters the queue.
    pub(super) fn push(&mut self, entry: Entry) {
        self.bytes = self.bytes.saturating_add(entry.size);
        match &mut self.order {
            Order::Classic { ready, highest } => {
                ready.insert(classic_place(*highest, &entry), entry);
            }
            Order::Quorum { levels, .. } => levels.push(entry),
        }
    }

    /// Puts back a message that was given out: in its old place in a classic queue, before all that never left in a quorum
    /// queue.
    pub(super) fn put_back(&mut self, entry: Entry) {
        self.bytes = self.bytes.saturating_add(entry.size);
        match &mut self.order {
            Order::Classic { ready, highest } => {
                ready.insert(classic_place(*highest, &entry), entry);
            }
            Order::Quorum { returned, .. } => returned.push_back(entry),
        }
    }

    /// Puts a message back at the very end, as a quorum queue without a delivery limit does: it loses its priority.
    pub(super) fn put_last(&mut self, entry: Entry) {
        self.bytes = self.bytes.saturating_add(entry.size);
        match &mut self.order {
            Order::Classic { ready, highest } => {
                ready.insert(classic_place(*highest, &entry), entry);
            }
            Order::Quorum { levels, .. } => levels.by_level.entry(Reverse(NORMAL)).or_default().push_back(entry),
        }
    }

    /// The message that leaves next.
    pub(super) fn head(&self) -> Option<&Entry> {
        match &self.order {
            Order::Classic { ready, .. } => ready.first_key_value().map(|(_, entry)| entry),
            Order::Quorum { returned, levels } => returned.front().or_else(|| levels.head()),
        }
    }

    /// Takes the message that leaves next.
    pub(super) fn take(&mut self) -> Option<Entry> {
        let entry = match &mut self.order {
            Order::Classic { ready, .. } => ready.pop_first().map(|(_, entry)| entry),
            Order::Quorum { returned, levels } => returned.pop_front().or_else(|| levels.take()),
        }?;
        self.bytes = self.bytes.saturating_sub(entry.size);
        Some(entry)
    }

    /// Takes what has expired and may leave.
    ///
    /// Only the head is looked at, so an expired message waits behind one that lives longer. From 4.3 on a quorum queue looks
    /// at the head of each of its levels, and at that of what came back (measured on 4.3.6).
    pub(super) fn take_expired(&mut self, now: u64) -> Vec<Entry> {
        let is_expired = |entry: &Entry| entry.expires_at.is_some_and(|at| at <= now);
        let mut expired = Vec::new();
        if let Order::Quorum { returned, levels: Levels { scheme: Scheme::Strict, by_level, .. } } = &mut self.order {
            for level in std::iter::once(returned).chain(by_level.values_mut()) {
                while level.front().is_some_and(is_expired) {
                    expired.extend(level.pop_front());
                }
            }
            by_level.retain(|_, level| !level.is_empty());
            let gone = expired.iter().map(|entry| entry.size).fold(0, u64::saturating_add);
            self.bytes = self.bytes.saturating_sub(gone);
        } else {
            while self.head().is_some_and(is_expired) {
                expired.extend(self.take());
            }
        }
        expired
    }

    /// When the next message expires that may then leave.
    pub(super) fn next_expiry(&self) -> Option<u64> {
        match &self.order {
            Order::Quorum { returned, levels: Levels { scheme: Scheme::Strict, by_level, .. } } => {
                let heads = std::iter::once(returned).chain(by_level.values()).filter_map(VecDeque::front);
                heads.filter_map(|entry| entry.expires_at).min()
            }
            _ => self.head().and_then(|entry| entry.expires_at),
        }
    }

    /// Takes everything. A quorum queue begins its turns of priorities anew.
    pub(super) fn drain(&mut self) -> Vec<Entry> {
        let all = std::iter::from_fn(|| self.take()).collect();
        if let Order::Quorum { levels, .. } = &mut self.order {
            levels.turn = 0;
        }
        all
    }

    /// Everything, in the order in which it would leave if nothing came in between.
    pub(super) fn in_order(&self) -> Vec<Entry> {
        self.clone().drain()
    }
}

fn classic_place(highest: u8, entry: &Entry) -> (Reverse<u8>, u64) {
    (Reverse(entry.message.properties.priority.unwrap_or(0).min(highest)), entry.position)
}

/// What a message without priority has in a quorum queue of 4.3.
const DEFAULT_PRIORITY: u8 = 4;
const HIGHEST_LEVEL: u8 = 31;
/// The two levels of 4.0 to 4.2.
const NORMAL: u8 = 0;
const HIGH: u8 = 1;

impl Levels {
    fn level(&self, entry: &Entry) -> u8 {
        let priority = entry.message.properties.priority.unwrap_or(DEFAULT_PRIORITY);
        match self.scheme {
            Scheme::One => NORMAL,
            Scheme::TwoWeighted if priority > DEFAULT_PRIORITY => HIGH,
            Scheme::TwoWeighted => NORMAL,
            Scheme::Strict => priority.min(HIGHEST_LEVEL),
        }
    }

    fn push(&mut self, entry: Entry) {
        let level = self.level(&entry);
        self.by_level.entry(Reverse(level)).or_default().push_back(entry);
    }

    fn next_level(&self) -> Option<Reverse<u8>> {
        let (first, high) = self.by_level.first_key_value()?;
        if self.scheme != Scheme::TwoWeighted || self.turn != 2 {
            return Some(*first);
        }
        // A normal message gets its turn unless the high one is older anyway.
        let normal = self.by_level.get(&Reverse(NORMAL)).and_then(VecDeque::front);
        match (high.front(), normal) {
            (Some(high), Some(normal)) if normal.position < high.position => Some(Reverse(NORMAL)),
            _ => Some(*first),
        }
    }

    fn head(&self) -> Option<&Entry> {
        self.by_level.get(&self.next_level()?).and_then(VecDeque::front)
    }

    fn take(&mut self) -> Option<Entry> {
        let level = self.next_level()?;
        let queue = self.by_level.get_mut(&level)?;
        let entry = queue.pop_front();
        if queue.is_empty() {
            self.by_level.remove(&level);
        }
        self.turn = if self.turn >= 2 { 0 } else { self.turn + 1 };
        entry
    }
}
