//! What was published held against what came.

use super::{Traffic, lock};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Mutex;

/// How often one message came to one queue: for the first time, and again after a connection ended.
#[derive(Debug, Clone, Copy, Default)]
struct Arrivals {
    first: u32,
    again: u32,
}

/// Every message that was acknowledged, by queue.
#[derive(Default)]
pub(super) struct Received {
    queues: Mutex<BTreeMap<&'static str, HashMap<u64, Arrivals>>>,
}

/// What came of it. "Neighbours" are the queues that the migration is not about.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Messages with a confirm.
    pub confirmed: usize,
    /// Confirmed messages of the migration that nobody got.
    pub lost: usize,
    /// Messages of the migration that came more than once.
    pub doubled: usize,
    /// Messages that a queue should have got and that were returned.
    pub returned: usize,
    /// Mandatory messages that nobody should get and that were not returned, and messages that came where they should not.
    pub astray: usize,
    /// Lost at neighbours.
    pub neighbour_lost: usize,
    /// Doubled at neighbours.
    pub neighbour_doubled: usize,
    /// How many each queue got.
    pub by_queue: BTreeMap<String, usize>,
    /// How long was published.
    pub seconds: f64,
    /// Some of the lost ones, for a look.
    pub examples: Vec<u64>,
}

impl Report {
    /// Whether something is missing that may be on its way.
    pub(super) fn is_short(&self) -> bool {
        self.lost > 0 || self.neighbour_lost > 0
    }

    /// Whether every message came exactly where it should.
    pub fn is_clean(&self) -> bool {
        let wrong = [self.lost, self.doubled, self.returned, self.astray, self.neighbour_lost, self.neighbour_doubled];
        wrong == [0; 6]
    }

    /// How many a queue got.
    pub fn of(&self, queue: &str) -> usize {
        self.by_queue.get(queue).copied().unwrap_or_default()
    }

    /// # Panics
    /// When not every message came exactly where it should.
    pub fn assert_clean(&self) {
        assert!(self.is_clean() && self.confirmed > 0, "{self:?}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} confirmed in {:.1} s; lost {}, doubled {}, returned {}, astray {}; neighbours: lost {}, doubled {}",
            self.confirmed,
            self.seconds,
            self.lost,
            self.doubled,
            self.returned,
            self.astray,
            self.neighbour_lost,
            self.neighbour_doubled
        )?;
        if !self.is_clean() {
            write!(f, "; by queue {:?}; such as {:?}", self.by_queue, self.examples)?;
        }
        Ok(())
    }
}

impl Received {
    pub(super) fn note(&self, queue: &'static str, id: u64, redelivered: bool) {
        let mut queues = lock(&self.queues);
        let arrivals = queues.entry(queue).or_default().entry(id).or_default();
        if redelivered {
            arrivals.again += 1;
        } else {
            arrivals.first += 1;
        }
    }

    /// How many came in all, to whatever queue.
    pub(super) fn total(&self) -> u64 {
        let queues = lock(&self.queues);
        queues.values().flat_map(HashMap::values).map(|arrivals| u64::from(arrivals.first + arrivals.again)).sum()
    }

    pub(super) fn count(&self, traffic: &Traffic, confirmed: &[u64], returned: &[u64]) -> Report {
        let queues = lock(&self.queues);
        let at = |names: &[&str], id: u64| {
            let arrivals = names.iter().filter_map(|name| queues.get(name)?.get(&id));
            arrivals.fold(Arrivals::default(), |sum, one| Arrivals {
                first: sum.first + one.first,
                again: sum.again + one.again,
            })
        };
        let mut report = Report { confirmed: confirmed.len(), ..Report::default() };
        let kind = |id: u64| &traffic.kinds[usize::try_from(id).unwrap() % traffic.kinds.len()];
        let mut back: Vec<u64> = returned.to_vec();
        back.sort_unstable();
        for &id in confirmed {
            let kind = kind(id);
            let mine = at(traffic.moved, id);
            if kind.for_moved && mine.first + mine.again == 0 {
                report.lost += 1;
                report.examples.extend((report.lost <= 10).then_some(id));
            }
            report.doubled += usize::from(kind.for_moved && mine.first > 1);
            report.astray += usize::from(!kind.for_moved && mine.first > 0);
            for other in kind.others {
                let theirs = at(&[other], id);
                report.neighbour_lost += usize::from(theirs.first + theirs.again == 0);
                report.neighbour_doubled += usize::from(theirs.first > 1);
            }
            let is_routable = kind.for_moved || !kind.others.is_empty();
            let is_back = back.binary_search(&id).is_ok();
            report.returned += usize::from(is_routable && is_back);
            report.astray += usize::from(!is_routable && kind.mandatory && !is_back);
        }
        for (queue, ids) in queues.iter() {
            report.by_queue.insert((*queue).to_owned(), ids.len());
            let strange = |id: &&u64| !traffic.moved.contains(queue) && !kind(**id).others.contains(queue);
            report.astray += ids.keys().filter(strange).count();
        }
        report
    }
}
