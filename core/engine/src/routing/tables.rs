//! The bindings of one exchange, laid out as its type looks them up.

use super::{Envelope, headers_match};
use crate::rabbitmq::Version;
use crate::topic::{Scratch, TopicMatcher};
use crate::value::Table;
use std::collections::{BTreeMap, BTreeSet};

/// A queue or exchange that bindings lead to, by its number in the router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DestinationId(pub(super) u32);

/// How an exchange type decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    Fanout,
    Topic,
    Headers,
    Opaque,
}

impl Kind {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "direct" => Self::Direct,
            "fanout" => Self::Fanout,
            "topic" => Self::Topic,
            "headers" => Self::Headers,
            _ => Self::Opaque,
        }
    }
}

/// The destinations of one exchange.
#[derive(Debug, Clone)]
pub(super) enum BindingTable {
    Direct(BTreeMap<Box<[u8]>, BTreeSet<DestinationId>>),
    /// Fanout exchanges, and those whose choice is not known.
    All(BTreeSet<DestinationId>),
    Topic(TopicMatcher<DestinationId>),
    Headers(Vec<(Table, DestinationId)>),
}

impl BindingTable {
    pub(super) fn new(kind: Kind) -> Self {
        match kind {
            Kind::Direct => Self::Direct(BTreeMap::new()),
            Kind::Fanout | Kind::Opaque => Self::All(BTreeSet::new()),
            Kind::Topic => Self::Topic(TopicMatcher::new()),
            Kind::Headers => Self::Headers(Vec::new()),
        }
    }

    /// Adds a destination; false when this exchange type sees no difference to a binding that is there.
    pub(super) fn insert(&mut self, key: &[u8], arguments: &Table, to: DestinationId) -> bool {
        match self {
            Self::Direct(table) => match table.get_mut(key) {
                Some(destinations) => destinations.insert(to),
                None => table.insert(key.into(), BTreeSet::from([to])).is_none(),
            },
            Self::All(destinations) => destinations.insert(to),
            Self::Topic(matcher) => matcher.insert(key, to),
            Self::Headers(bindings) => {
                bindings.push((arguments.clone(), to));
                true
            }
        }
    }

    pub(super) fn remove(&mut self, key: &[u8], arguments: &Table, to: DestinationId) {
        match self {
            Self::Direct(table) => {
                if let Some(destinations) = table.get_mut(key) {
                    destinations.remove(&to);
                    if destinations.is_empty() {
                        table.remove(key);
                    }
                }
            }
            Self::All(destinations) => {
                destinations.remove(&to);
            }
            Self::Topic(matcher) => {
                matcher.remove(key, &to);
            }
            Self::Headers(bindings) => {
                let same = |(other, destination): &(Table, DestinationId)| {
                    *destination == to && other.sorted() == arguments.sorted()
                };
                if let Some(at) = bindings.iter().position(same) {
                    bindings.remove(at);
                }
            }
        }
    }

    /// Whether routing keys matter: whether two bindings that differ in theirs are two entries of this table.
    pub(super) fn looks_at_keys(&self) -> bool {
        !matches!(self, Self::All(_))
    }

    /// Calls `found` for what the message reaches, possibly more than once for one destination.
    pub(super) fn reach(
        &self,
        version: Version,
        envelope: &Envelope<'_>,
        scratch: &mut Scratch,
        mut found: impl FnMut(DestinationId),
    ) {
        match self {
            Self::Direct(table) => {
                for key in &envelope.keys {
                    table.get(key.as_ref()).into_iter().flatten().copied().for_each(&mut found);
                }
            }
            Self::All(destinations) => destinations.iter().copied().for_each(found),
            Self::Topic(matcher) => {
                for key in &envelope.keys {
                    matcher.for_each_match(key, scratch, |to| found(*to));
                }
            }
            Self::Headers(bindings) => {
                for (arguments, to) in bindings {
                    if headers_match(version, arguments, &envelope.headers) {
                        found(*to);
                    }
                }
            }
        }
    }
}
