//! Bindings that came near, and what each of them lacked.

use super::explain::Explanation;
use super::router::Exchange;
use super::tables::Kind;
use super::{Envelope, HeadersMatch, Router, criteria};
use crate::rabbitmq::BindingDeclaration;
use crate::topic::Alignment;
use crate::value::{Table, Value};
use std::fmt;

/// How many near misses are worth showing.
const SHOWN: usize = 5;

/// Something that a message could have reached and did not.
#[derive(Debug, Clone, PartialEq)]
pub struct Miss {
    /// The exchange that did not send it there; empty for the default exchange.
    pub exchange: String,
    /// The binding that does not fit, or the queue whose name is not the routing key.
    pub target: Target,
    /// Everything that is in the way.
    pub why: Vec<Obstacle>,
}

/// What was missed.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A binding.
    Binding(BindingDeclaration),
    /// A queue, at the default exchange.
    Queue(String),
}

/// One reason why a message does not fit. Its text is one clause.
#[derive(Debug, Clone, PartialEq)]
pub enum Obstacle {
    /// The whole key must be another one.
    Key {
        /// What the message has.
        given: Vec<u8>,
        /// What is asked for.
        wanted: Vec<u8>,
    },
    /// A word of the key (counted from 1) is not the pattern's.
    Word {
        /// Which word of the key.
        at: usize,
        /// What it is.
        given: Vec<u8>,
        /// What is asked for.
        wanted: Vec<u8>,
    },
    /// The key has no word for this one of the pattern.
    MissingWord {
        /// The pattern's word.
        wanted: Vec<u8>,
        /// Whether the key has no words at all: it is empty.
        empty_key: bool,
    },
    /// The pattern has no place for this word of the key (counted from 1).
    ExtraWord {
        /// Which word of the key.
        at: usize,
        /// What it is.
        given: Vec<u8>,
    },
    /// The message has no such header.
    MissingHeader {
        /// Its name.
        name: String,
        /// A header that the message has and whose name differs in case only.
        similar: Option<String>,
    },
    /// A header has another value.
    Header {
        /// Its name.
        name: String,
        /// What the message has.
        given: Value,
        /// What is asked for.
        wanted: Value,
    },
    /// `any` and no criteria: no message fits.
    NoCriteria,
}

/// The nearest of what the dead ends of `explanation` hold, nearest first.
pub(super) fn nearest(router: &Router, envelope: &Envelope<'_>, explanation: &Explanation) -> Vec<Miss> {
    let mut found: Vec<(usize, Miss)> = Vec::new();
    if envelope.exchange.is_empty() {
        found.extend(router.queues().iter().filter_map(|queue| near_queue(queue, envelope)));
    }
    for dead_end in &explanation.dead_ends {
        let Some(exchange) = router.exchange(&dead_end.exchange) else { continue };
        for binding in router.bindings().from_source(&dead_end.exchange) {
            let (cost, why) = obstacles(router, exchange, binding, envelope);
            let miss = Miss { exchange: dead_end.exchange.clone(), target: Target::Binding(binding.clone()), why };
            found.push((cost, miss));
        }
    }
    found.sort_by_key(|(cost, _)| *cost);
    found.truncate(SHOWN);
    found.into_iter().map(|(_, miss)| miss).collect()
}

/// A queue counts as near when its name could be a slip of the pen.
fn near_queue(queue: &str, envelope: &Envelope<'_>) -> Option<(usize, Miss)> {
    let keys = envelope.keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
    let (cost, key) = keys.map(|key| (text_cost(key, queue), key)).min()?;
    let near = cost <= 1 + queue.chars().count() / 3;
    near.then(|| {
        let why = vec![Obstacle::Key { given: key.into(), wanted: queue.into() }];
        (cost, Miss { exchange: String::new(), target: Target::Queue(queue.to_owned()), why })
    })
}

fn text_cost(given: &str, wanted: &str) -> usize {
    if given.eq_ignore_ascii_case(wanted) { 1 } else { 1 + strsim::levenshtein(given, wanted) }
}

fn obstacles(
    router: &Router,
    exchange: &Exchange,
    binding: &BindingDeclaration,
    envelope: &Envelope<'_>,
) -> (usize, Vec<Obstacle>) {
    let wanted = binding.routing_key.as_str();
    match exchange.kind {
        Kind::Direct => {
            let cost = |key: &[u8]| text_cost(&String::from_utf8_lossy(key), wanted);
            let nearest = envelope.keys.iter().map(|key| (cost(key), key)).min();
            nearest.map_or((usize::MAX, Vec::new()), |(cost, key)| {
                (cost, vec![Obstacle::Key { given: key.to_vec(), wanted: wanted.into() }])
            })
        }
        Kind::Topic => envelope
            .keys
            .iter()
            .map(|key| Alignment::new(wanted.as_bytes(), key))
            .min_by_key(Alignment::cost)
            .map_or((usize::MAX, Vec::new()), |alignment| {
                (usize::try_from(alignment.cost()).unwrap_or(usize::MAX), word_obstacles(&alignment))
            }),
        Kind::Headers => {
            let why = header_obstacles(router, &binding.arguments, &envelope.headers);
            (why.len(), why)
        }
        Kind::Fanout | Kind::Opaque => (usize::MAX, Vec::new()),
    }
}

fn word_obstacles(alignment: &Alignment<'_>) -> Vec<Obstacle> {
    let mut at = 0;
    let empty_key = alignment.pairs().all(|pair| pair.key.is_empty());
    let mut found = Vec::new();
    for pair in alignment.pairs() {
        at += pair.key.len();
        if pair.fits() {
            continue;
        }
        found.push(match (pair.pattern, pair.key.as_slice()) {
            (Some(wanted), [given]) => Obstacle::Word { at, given: given.to_vec(), wanted: wanted.to_vec() },
            (Some(wanted), _) => Obstacle::MissingWord { wanted: wanted.to_vec(), empty_key },
            (None, given) => Obstacle::ExtraWord { at, given: given.concat() },
        });
    }
    found
}

fn header_obstacles(router: &Router, arguments: &Table, headers: &Table) -> Vec<Obstacle> {
    let missing: Vec<Obstacle> = criteria(router.version(), arguments, headers)
        .filter(|criterion| !criterion.fulfilled)
        .map(|criterion| match criterion.found {
            Some(given) => Obstacle::Header {
                name: criterion.name.to_owned(),
                given: given.clone(),
                wanted: criterion.wanted.clone(),
            },
            None => Obstacle::MissingHeader {
                name: criterion.name.to_owned(),
                similar: headers
                    .iter()
                    .map(|(name, _)| name)
                    .find(|name| name.eq_ignore_ascii_case(criterion.name))
                    .map(str::to_owned),
            },
        })
        .collect();
    if missing.is_empty() && HeadersMatch::of(arguments).is_any() { vec![Obstacle::NoCriteria] } else { missing }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |bytes: &[u8]| format!("\"{}\"", String::from_utf8_lossy(bytes).escape_debug());
        match self {
            Self::Key { given, wanted } | Self::Word { given, wanted, .. } => {
                match self {
                    Self::Word { at, .. } => write!(f, "word {at} is {}", show(given))?,
                    _ => write!(f, "the key is {}", show(given))?,
                }
                write!(f, " and must be {}", show(wanted))?;
                if given.eq_ignore_ascii_case(wanted) {
                    f.write_str(" (case counts)")
                } else if matches!(self, Self::Word { .. }) && wanted.iter().any(|byte| b"*#".contains(byte)) {
                    f.write_str(" (literally: a wildcard is a whole word)")
                } else {
                    Ok(())
                }
            }
            Self::MissingWord { wanted, empty_key: true } => {
                write!(f, "the empty key has no words, and {} needs one", show(wanted))
            }
            Self::MissingWord { wanted, .. } => write!(f, "the key has no word for {}", show(wanted)),
            Self::ExtraWord { at, given } => write!(f, "word {at}, {}, has no place", show(given)),
            Self::MissingHeader { name, similar } => {
                write!(f, "header {} is missing", show(name.as_bytes()))?;
                match similar {
                    Some(similar) => write!(f, " ({} is there: case counts)", show(similar.as_bytes())),
                    None => Ok(()),
                }
            }
            Self::Header { name, given, wanted } => {
                write!(f, "header {} is {} and must be {}", show(name.as_bytes()), given.to_json(), wanted.to_json())
            }
            Self::NoCriteria => f.write_str("\"any\" without criteria fits no message"),
        }
    }
}
