//! Why a message went where it went: the way of every copy, and the bindings that came close.

use super::miss::{Miss, nearest};
use super::router::Exchange;
use super::tables::Kind;
use super::{Criterion, Envelope, HeadersMatch, Opaque, Router, criteria, headers_match};
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::topic;
use crate::value::Table;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The whole story of one message.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The exchange that it was published to.
    pub exchange: String,
    /// Its routing keys: its own, then those of `CC` and `BCC`.
    pub keys: Vec<Vec<u8>>,
    /// Whether that exchange is there.
    pub exchange_exists: bool,
    /// Whether it is internal, so that a client's publish is refused (403) whatever the bindings say.
    pub internal: bool,
    /// One for each queue that gets the message, sorted by queue.
    pub copies: Vec<Copy>,
    /// Exchanges whose own bindings gave nothing, with what became of their alternate exchange.
    pub dead_ends: Vec<DeadEnd>,
    /// Exchanges whose choice is not known.
    pub opaque: Vec<Opaque>,
    /// Where no queue is reached: the bindings that came nearest, nearest first.
    pub misses: Vec<Miss>,
}

/// One copy of the message.
#[derive(Debug, Clone, PartialEq)]
pub struct Copy {
    /// Where it ends.
    pub queue: String,
    /// Its way, from the exchange that the message was published to: a shortest one.
    pub path: Vec<Hop>,
    /// Further last hops that lead to the same queue and add no copy.
    pub also: Vec<Hop>,
}

/// One step from an exchange to a queue or another exchange.
#[derive(Debug, Clone, PartialEq)]
pub struct Hop {
    /// The exchange; empty for the default exchange.
    pub exchange: String,
    /// Its type.
    pub kind: String,
    /// What it leads to.
    pub to: (DestinationType, String),
    /// Why.
    pub because: Because,
}

/// Why an exchange leads somewhere.
#[derive(Debug, Clone, PartialEq)]
pub enum Because {
    /// The default exchange: this routing key is the queue's name.
    Named(Vec<u8>),
    /// A binding fits.
    Binding {
        /// That binding.
        binding: BindingDeclaration,
        /// How it fits.
        fit: Fit,
    },
    /// The exchange's own bindings gave nothing, and this is its alternate exchange.
    Alternate {
        /// Whether a policy names it, not the exchange's own argument.
        by_policy: bool,
    },
}

/// How a binding fits a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// A fanout exchange takes every binding.
    Always,
    /// This routing key equals the binding key.
    Equal(Vec<u8>),
    /// This routing key matches the pattern: each word of the pattern with the words that it covers.
    Words(Vec<u8>, Vec<(Vec<u8>, Vec<Vec<u8>>)>),
    /// The criteria of a headers binding that are fulfilled, by name. None: a binding with `all` and no criteria.
    Headers(HeadersMatch, Table),
}

/// An exchange whose own bindings gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadEnd {
    /// Its name.
    pub exchange: String,
    /// Its alternate exchange and what became of it.
    pub alternate: Option<(String, AlternateUse)>,
}

/// What became of an alternate exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AlternateUse {
    /// The message went there.
    Used,
    /// It does not exist: the message is dropped here without a word.
    Missing,
    /// The message had been there before.
    Visited,
    /// It is the default exchange, which leads nowhere as an alternate.
    Default,
}

impl Router {
    /// Where a message goes, and why. [`Router::route`] gives the same queues faster.
    pub fn explain(&self, envelope: &Envelope<'_>) -> Explanation {
        let entrance = self.exchange(&envelope.exchange);
        let mut explanation = Explanation {
            exchange: envelope.exchange.to_string(),
            keys: envelope.keys.iter().map(|key| key.to_vec()).collect(),
            exchange_exists: self.has_exchange(&envelope.exchange),
            internal: entrance.is_some_and(|exchange| exchange.declaration.internal),
            copies: Vec::new(),
            dead_ends: Vec::new(),
            opaque: Vec::new(),
            misses: Vec::new(),
        };
        let mut copies = BTreeMap::new();
        if envelope.exchange.is_empty() {
            self.explain_default(envelope, &mut copies);
        } else {
            self.walk(envelope, &mut explanation, &mut copies);
        }
        explanation.copies = copies.into_values().collect();
        if explanation.copies.is_empty() && explanation.exchange_exists {
            explanation.misses = nearest(self, envelope, &explanation);
        }
        explanation
    }

    fn explain_default(&self, envelope: &Envelope<'_>, copies: &mut BTreeMap<String, Copy>) {
        for key in &envelope.keys {
            let Some(queue) = std::str::from_utf8(key).ok().filter(|name| self.queues().contains(*name)) else {
                continue;
            };
            let hop = Hop {
                exchange: String::new(),
                kind: "direct".to_owned(),
                to: (DestinationType::Queue, queue.to_owned()),
                because: Because::Named(key.to_vec()),
            };
            arrive(copies, Vec::new(), hop);
        }
    }

    fn walk(&self, envelope: &Envelope<'_>, explanation: &mut Explanation, copies: &mut BTreeMap<String, Copy>) {
        let mut seen = BTreeSet::from([envelope.exchange.to_string()]);
        let mut open = VecDeque::from([(envelope.exchange.to_string(), Vec::<Hop>::new())]);
        while let Some((name, path)) = open.pop_front() {
            let Some(exchange) = self.exchange(&name) else { continue };
            if exchange.kind == Kind::Opaque {
                explanation.opaque.push(self.opaque(exchange));
                continue;
            }
            let mut hops: Vec<Hop> = self.fitting(exchange, envelope).collect();
            if hops.is_empty() {
                let dead_end = self.dead_end(exchange, &seen);
                if let Some((alternate, AlternateUse::Used)) = &dead_end.alternate {
                    hops.push(Hop {
                        exchange: name.clone(),
                        kind: exchange.declaration.kind.clone(),
                        to: (DestinationType::Exchange, alternate.clone()),
                        because: Because::Alternate { by_policy: exchange.alternate_by_policy() },
                    });
                }
                explanation.dead_ends.push(dead_end);
            }
            for hop in hops {
                match &hop.to {
                    (DestinationType::Queue, _) => arrive(copies, path.clone(), hop),
                    (DestinationType::Exchange, next) => {
                        if seen.insert(next.clone()) {
                            let next = next.clone();
                            open.push_back((next, path.iter().cloned().chain([hop]).collect()));
                        }
                    }
                }
            }
        }
    }

    /// A hop for every binding of `exchange` that fits.
    fn fitting<'a>(&'a self, exchange: &'a Exchange, envelope: &'a Envelope<'_>) -> impl Iterator<Item = Hop> + 'a {
        let declaration = &exchange.declaration;
        self.bindings().from_source(&declaration.name).filter_map(move |binding| {
            let fit = self.fit(exchange.kind, binding, envelope)?;
            Some(Hop {
                exchange: declaration.name.clone(),
                kind: declaration.kind.clone(),
                to: (binding.destination_type, binding.destination.clone()),
                because: Because::Binding { binding: binding.clone(), fit },
            })
        })
    }

    fn fit(&self, kind: Kind, binding: &BindingDeclaration, envelope: &Envelope<'_>) -> Option<Fit> {
        let pattern = binding.routing_key.as_bytes();
        match kind {
            Kind::Fanout => Some(Fit::Always),
            Kind::Direct => {
                envelope.keys.iter().find(|key| key.as_ref() == pattern).map(|key| Fit::Equal(key.to_vec()))
            }
            Kind::Topic => {
                let key = envelope.keys.iter().find(|key| topic::matches(pattern, key))?;
                let words = topic::Alignment::new(pattern, key)
                    .pairs()
                    .map(|pair| {
                        let covered = pair.key.iter().map(|word| word.to_vec()).collect();
                        (pair.pattern.unwrap_or_default().to_vec(), covered)
                    })
                    .collect();
                Some(Fit::Words(key.to_vec(), words))
            }
            Kind::Headers => headers_match(self.version(), &binding.arguments, &envelope.headers).then(|| {
                let fulfilled = criteria(self.version(), &binding.arguments, &envelope.headers)
                    .filter(|criterion| criterion.fulfilled)
                    .map(|Criterion { name, wanted, .. }| (name, wanted.clone()))
                    .collect();
                Fit::Headers(HeadersMatch::of(&binding.arguments), fulfilled)
            }),
            Kind::Opaque => None,
        }
    }

    fn dead_end(&self, exchange: &Exchange, seen: &BTreeSet<String>) -> DeadEnd {
        let alternate = exchange.alternate().map(|name| {
            let used = if name.is_empty() {
                AlternateUse::Default
            } else if !self.has_exchange(name) {
                AlternateUse::Missing
            } else if seen.contains(name) {
                AlternateUse::Visited
            } else {
                AlternateUse::Used
            };
            (name.to_owned(), used)
        });
        DeadEnd { exchange: exchange.declaration.name.clone(), alternate }
    }
}

fn arrive(copies: &mut BTreeMap<String, Copy>, mut path: Vec<Hop>, hop: Hop) {
    match copies.get_mut(&hop.to.1) {
        Some(copy) => copy.also.push(hop),
        None => {
            let queue = hop.to.1.clone();
            path.push(hop);
            copies.insert(queue.clone(), Copy { queue, path, also: Vec::new() });
        }
    }
}
