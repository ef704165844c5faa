//! The proof that no message is lost or doubled while a queue is replaced.
//!
//! All messages that bindings cannot tell apart go the same way, so one of each class is sent through the routing table of
//! every state in between ([`key_classes`] finds the classes). For each of them:
//!
//! * what reached the old queue reaches exactly one of the old and the new one (with `overlap`: at least one);
//! * every other queue gets it exactly if it got it before, and it comes through the same exchanges: an alternate exchange
//!   that was silent stays silent, one that spoke speaks;
//! * what did not reach the old queue reaches neither.
//!
//! A queue's end is no matter of routing: a queue may be deleted only after nothing reaches it any more, every node knows that,
//! and it has run empty since; and before the dead letters of a queue lose their way, that queue has to be empty (`ends`).
//!
//! Messages enter at every exchange from which something that changes can be reached. The default exchange is not among
//! them: it leads to the old queue by name, whatever is bound.

mod classes;
mod ends;
mod headers;
mod show;

use super::action::Action;
use super::rehearsal::{RefusedStep, rehearse};
use crate::rabbitmq::{Refused, Version};
use crate::routing::{Envelope, Router};
use crate::state::State;
use crate::value::Table;
use classes::Classes;
use ends::{Ends, Reached};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many classes of messages are looked at. With more the proof is not made.
pub const MAX_CLASSES: usize = 10_000;

/// What is proven about a sequence.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The table before the first step.
    pub initial: &'a State,
    /// The queue that is replaced.
    pub old: &'a str,
    /// The queue that takes its place.
    pub new: &'a str,
    /// What the new queue needs by itself: its declarations, dead-letter and retry queues, and their bindings.
    pub wiring: &'a [Action],
    /// Whether a message may come twice.
    pub duplicates_allowed: bool,
    /// How many classes of messages are looked at, [`MAX_CLASSES`] as a rule. With more the proof is not made.
    pub limit: usize,
}

/// What came of a proof.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// It holds.
    Holds(Scope),
    /// A message shows that it does not.
    Broken(Box<Counterexample>),
    /// It cannot be made.
    NotProven {
        /// Why, as a sentence without a full stop.
        why: String,
    },
    /// A broker would refuse a step.
    Refused {
        /// The step, from 1.
        step: usize,
        /// What the broker would say.
        refused: Refused,
    },
}

/// How much was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// Classes of messages by routing key and headers.
    pub classes: usize,
    /// Pairs of classes, for messages with a second routing key in `CC` or `BCC`; `None` when there were too many.
    pub pairs: Option<usize>,
    /// Exchanges where messages enter.
    pub entries: usize,
    /// Routing tables that differ.
    pub states: usize,
    /// Classes that come twice at some moment; 0 but for `overlap`.
    pub doubled: usize,
}

/// A message that a sequence would lose, double or lead astray.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// After which step, from 1.
    pub after: usize,
    /// The exchange that it is published to.
    pub exchange: String,
    /// Its routing keys, its own first.
    pub keys: Vec<String>,
    /// Its headers.
    pub headers: Table,
    /// What happens to it.
    pub fault: Fault,
    /// The queues that it reached before the first step.
    pub before: Vec<String>,
    /// The queues that it reaches then.
    pub then: Vec<String>,
}

/// What happens to a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It reached the old queue and reaches neither.
    Lost,
    /// It reaches both.
    Doubled,
    /// It did not reach the old queue and reaches the old or the new one now.
    Astray,
    /// Another queue gets it no more.
    Missed {
        /// That queue.
        queue: String,
    },
    /// Another queue gets it that did not.
    Spilled {
        /// That queue.
        queue: String,
    },
    /// An exchange sees it no more, or only now: an alternate exchange falls silent, or speaks up.
    Detoured {
        /// That exchange.
        exchange: String,
    },
    /// It waits in a queue that is deleted.
    Deleted {
        /// That queue.
        queue: String,
    },
    /// It waits in a queue whose dead letters have lost their way.
    Stranded {
        /// That queue.
        queue: String,
    },
}

impl Proof {
    /// Whether it holds.
    pub const fn holds(&self) -> bool {
        matches!(self, Self::Holds(_))
    }
}

/// What one message reaches in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reach {
    queues: BTreeSet<String>,
    exchanges: BTreeSet<String>,
}

/// Proves, or disproves, that `actions` replace the queue without loss or duplicates. The conditions of steps are not looked
/// at: this is about what happens if every action succeeds.
pub fn prove<'a>(subject: &Subject<'_>, actions: impl IntoIterator<Item = &'a Action> + Clone) -> Proof {
    let refused = |RefusedStep { at, refused }: RefusedStep| Proof::Refused { step: at + 1, refused };
    let states = match rehearse(subject.initial, actions.clone()) {
        Ok(states) => states,
        Err(step) => return refused(step),
    };
    let wired = match rehearse(subject.initial, subject.wiring) {
        Ok(states) => states.last().map_or_else(|| Arc::new(subject.initial.clone()), Arc::clone),
        Err(step) => return refused(step),
    };
    let classes = match Classes::find(subject, &states, &wired) {
        Ok(classes) => classes,
        Err(why) => return Proof::NotProven { why },
    };
    let judge = Judge::new(subject, &states, &wired);
    match judge.routes(&classes) {
        Err(broken) => Proof::Broken(broken),
        Ok((scope, reached)) => {
            let actions: Vec<&Action> = actions.into_iter().collect();
            let ends = Ends { subject, actions: &actions, states: &states, fresh: &judge.fresh, reached: &reached };
            match ends.broken() {
                Some((after, fault)) => Proof::Broken(Box::new(classes.example(after, fault))),
                None => Proof::Holds(scope),
            }
        }
    }
}

/// The routing tables that differ, each with the steps after which they hold.
struct Judge<'a> {
    subject: &'a Subject<'a>,
    /// The steps after the first and before the last of which they hold; the first is that of the initial state.
    routers: Vec<(usize, usize, Router)>,
    wired: Router,
    /// Queues that are not there before the first step.
    fresh: BTreeSet<String>,
    /// Queues that are declared for the new one. Some may be there, after a first attempt.
    declared: BTreeSet<String>,
    /// Exchanges that are there before the first step.
    known: BTreeSet<String>,
}

impl<'a> Judge<'a> {
    fn new(subject: &'a Subject<'a>, states: &[Arc<State>], wired: &Arc<State>) -> Self {
        let mut routers: Vec<(usize, usize, Router)> = Vec::new();
        let mut last: Option<&Arc<State>> = None;
        for (after, state) in states.iter().enumerate() {
            match routers.last_mut().filter(|_| last.is_some_and(|last| Arc::ptr_eq(last, state))) {
                Some((_, until, _)) => *until = after,
                None => routers.push((after, after, Router::of(state))),
            }
            last = Some(state);
        }
        let initial = subject.initial;
        let queues = states.iter().chain([wired]).flat_map(|state| state.queues.keys());
        Self {
            subject,
            routers,
            wired: Router::of(wired),
            fresh: queues.filter(|queue| !initial.queues.contains_key(*queue)).cloned().collect(),
            declared: (subject.wiring.iter())
                .filter_map(|action| match action {
                    Action::DeclareQueue(queue) => Some(queue.name.clone()),
                    _ => None,
                })
                .collect(),
            known: initial.exchanges.keys().cloned().collect(),
        }
    }

    /// Every class through every state. What was looked at, and until when which queue is reached.
    fn routes(&self, classes: &Classes) -> Result<(Scope, Reached), Box<Counterexample>> {
        let mut scope = Scope {
            classes: classes.messages.len(),
            pairs: classes.pairs().map(|pairs| pairs.len()),
            entries: classes.entries.len(),
            states: self.routers.len(),
            doubled: 0,
        };
        let mut reached = Reached::default();
        let singles = classes.messages.iter().map(|(key, headers)| (vec![key], headers));
        let pairs = classes.pairs().unwrap_or_default();
        let pairs = pairs.iter().map(|(one, other, headers)| (vec![*one, *other], *headers));
        for (keys, headers) in singles.chain(pairs) {
            for entry in &classes.entries {
                let envelope = Envelope {
                    exchange: Cow::Borrowed(entry),
                    keys: keys.iter().map(|key| Cow::Borrowed(key.as_slice())).collect(),
                    headers: Cow::Borrowed(headers),
                };
                let was = self.routers.first().map(|(_, _, router)| reach(router, &envelope));
                let Some(was) = was else { continue };
                let wired = reach(&self.wired, &envelope);
                // A second key that only the new queue's own wiring knows gives it a copy of its own, as asked for.
                let twice_by_wiring = keys.len() > 1 && self.is_in_both(&wired);
                let mut doubled = false;
                for (after, until, router) in &self.routers {
                    let now = reach(router, &envelope);
                    for queue in now.queues.iter().filter(|queue| self.may_end(queue)) {
                        reached.note(queue, *until);
                    }
                    doubled |= self.is_in_both(&now) && !twice_by_wiring;
                    let fault = self.fault(&was, &wired, &now);
                    if let Some(fault) = fault.filter(|fault| !(twice_by_wiring && *fault == Fault::Doubled)) {
                        return Err(Box::new(Counterexample {
                            after: *after,
                            exchange: entry.clone(),
                            keys: keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect(),
                            headers: headers.clone(),
                            fault,
                            before: was.queues.into_iter().collect(),
                            then: now.queues.into_iter().collect(),
                        }));
                    }
                }
                scope.doubled += usize::from(doubled);
            }
        }
        Ok((scope, reached))
    }

    /// Whether the steps may delete a queue.
    fn may_end(&self, queue: &str) -> bool {
        queue == self.subject.old || queue == self.subject.new || self.fresh.contains(queue)
    }

    fn is_in_both(&self, reach: &Reach) -> bool {
        reach.queues.contains(self.subject.old) && reach.queues.contains(self.subject.new)
    }

    fn fault(&self, was: &Reach, wired: &Reach, now: &Reach) -> Option<Fault> {
        let (old, new) = (self.subject.old, self.subject.new);
        let (in_old, in_new) = (now.queues.contains(old), now.queues.contains(new));
        if was.queues.contains(old) {
            match (in_old, in_new) {
                (false, false) => return Some(Fault::Lost),
                (true, true) if !self.subject.duplicates_allowed => return Some(Fault::Doubled),
                _ => {}
            }
        } else if in_old || (in_new && !was.queues.contains(new) && !wired.queues.contains(new)) {
            return Some(Fault::Astray);
        }
        let foreign = |queue: &&String| queue.as_str() != old && queue.as_str() != new;
        if let Some(queue) = was.queues.iter().filter(foreign).find(|queue| !now.queues.contains(*queue)) {
            return Some(Fault::Missed { queue: queue.clone() });
        }
        let allowed = |queue: &&String| {
            was.queues.contains(*queue) || (self.declared.contains(*queue) && wired.queues.contains(*queue))
        };
        if let Some(queue) = now.queues.iter().filter(foreign).find(|queue| !allowed(queue)) {
            return Some(Fault::Spilled { queue: queue.clone() });
        }
        let seen = |reach: &Reach| reach.exchanges.intersection(&self.known).cloned().collect::<BTreeSet<_>>();
        let (before, then) = (seen(was), seen(now));
        // Wiring of the new queue may lead through exchanges that were there; that is no detour.
        let by_wiring = |exchange: &String| then.contains(exchange) && wired.exchanges.contains(exchange);
        let detoured = before.symmetric_difference(&then).find(|exchange| !by_wiring(exchange));
        detoured.map(|exchange| Fault::Detoured { exchange: exchange.clone() })
    }
}

fn reach(router: &Router, envelope: &Envelope<'_>) -> Reach {
    Reach {
        queues: router.route(envelope).queues.into_iter().collect(),
        exchanges: router.exchanges_reached(envelope).into_iter().collect(),
    }
}

fn version(state: &State) -> Version {
    state.broker.version.unwrap_or(Version::NEWEST)
}

/// For each exchange the exchanges that it leads to, in any of the states: by a binding or as its alternate exchange.
fn edges(states: &[&State], alternates: &[classes::Alternates]) -> BTreeMap<String, BTreeSet<String>> {
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for state in states {
        for binding in state.bindings.iter() {
            if binding.destination_type == crate::rabbitmq::DestinationType::Exchange {
                edges.entry(binding.source.clone()).or_default().insert(binding.destination.clone());
            }
        }
    }
    for (exchange, alternate) in alternates.iter().flatten() {
        edges.entry(exchange.clone()).or_default().insert(alternate.clone());
    }
    edges
}
