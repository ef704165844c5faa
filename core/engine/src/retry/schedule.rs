//! The waits between attempts, exact and without floating point.
//!
//! Entry *i* is the wait before attempt *i* + 2. Entries grow in whole microseconds, `e' = ⌊e · m / 1000⌋` with the
//! multiplier in thousandths, and are cut to milliseconds and to the cap where they are read. A schedule may have 2³² − 2
//! entries, but it stops growing after at most some thousands of them (1 ms at 1.01 takes 2,682 steps to ten years), so only
//! the growing part is stored and everything behind it is one number.

use super::MAX_BROKER_DELAY_MS;
use std::sync::Arc;

/// The unjittered waits of a policy, in milliseconds. Cheap to clone; one entry costs a look-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    growing: Arc<[u64]>,
    settled: u64,
    len: u32,
}

impl Schedule {
    /// `len` equal waits.
    pub(super) fn constant(delay_ms: u64, len: u32) -> Self {
        Self { growing: Arc::default(), settled: delay_ms, len }
    }

    /// `len` waits from `first_ms` on, each `thousandths` / 1000 times the one before.
    pub(super) fn growing(first_ms: u64, thousandths: u32, cap_ms: Option<u64>, len: u32) -> Self {
        const LIMIT_US: u128 = MAX_BROKER_DELAY_MS as u128 * 1_000;
        let cap = cap_ms.unwrap_or(u64::MAX);
        let mut growing = Vec::new();
        let mut exact_us = u128::from(first_ms) * 1_000;
        let mut settled = cap.min(first_ms);
        while growing.len() < len as usize {
            settled = u64::try_from(exact_us / 1_000).map_or(cap, |delay| delay.min(cap));
            // A first delay beyond the limit is not cut (it may wait in the consumer), it only does not grow.
            let next_us = if exact_us >= LIMIT_US {
                exact_us
            } else {
                (exact_us * u128::from(thousandths) / 1_000).min(LIMIT_US)
            };
            if settled == cap || next_us <= exact_us {
                break;
            }
            growing.push(settled);
            exact_us = next_us;
        }
        Self { growing: growing.into(), settled, len }
    }

    /// Number of waits: one less than attempts.
    pub const fn len(&self) -> u32 {
        self.len
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The wait before attempt `index` + 2.
    pub fn get(&self, index: u32) -> Option<u64> {
        (index < self.len).then(|| self.growing.get(index as usize).copied().unwrap_or(self.settled))
    }

    /// The longest wait, which is the last.
    pub fn last(&self) -> Option<u64> {
        self.get(self.len.checked_sub(1)?)
    }

    /// All waits in order. Mind the length: it may be billions.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u64> + Clone + '_ {
        let settled = (self.len as usize).saturating_sub(self.growing.len());
        Entries { growing: self.growing.iter(), settled: self.settled, left: settled }
    }

    /// The different waits, shortest first, which is also the order of their first appearance.
    pub(super) fn distinct(&self) -> Vec<u64> {
        let mut distinct: Vec<u64> = self.growing.iter().copied().collect();
        if self.len as usize > distinct.len() {
            distinct.push(self.settled);
        }
        distinct.dedup();
        distinct
    }
}

#[derive(Clone)]
struct Entries<'a> {
    growing: std::slice::Iter<'a, u64>,
    settled: u64,
    left: usize,
}

impl Iterator for Entries<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if let Some(delay) = self.growing.next() {
            return Some(*delay);
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.settled)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.growing.len() + self.left;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Entries<'_> {}
