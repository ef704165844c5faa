//! Whether what a history says is still true of a vhost: the queues, exchanges, bindings and policies that its steps left
//! behind, each as it was declared, and those that they took away.
//!
//! A step's words hold all that was declared, as in `declare queue orders.v2 (durable, quorum, x-delivery-limit=5)`, and the
//! vhost's table is put into the same words. So no file is needed, which may have been changed or be gone. Neither type nor
//! arguments of a queue or an exchange change while it lives: what differs was deleted and declared anew.

use super::ledger::History;
use crate::migration::Action;
use crate::state::State;
use crate::topology::{describe_exchange, describe_queue, shown_name};
use std::collections::{BTreeMap, BTreeSet};

/// Something that a history says and that is not so any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Untrue {
    /// The version that made it so.
    pub version: String,
    /// What is not so, as a sentence with the way out.
    pub message: String,
}

/// Something that a step left behind.
struct Deed<'a> {
    /// The version that did it last.
    version: &'a str,
    /// What it is like, in words; empty where the name says all.
    details: &'a str,
}

/// What steps left behind, by what their words name.
struct Left<'a> {
    there: BTreeMap<&'a str, Deed<'a>>,
    gone: BTreeMap<&'a str, &'a str>,
}

impl<'a> Left<'a> {
    const fn new() -> Self {
        Self { there: BTreeMap::new(), gone: BTreeMap::new() }
    }

    /// `what` is a name, or `NAME (DETAILS)`.
    fn put(&mut self, what: &'a str, version: &'a str) {
        let (name, details) = match what.rsplit_once(" (") {
            Some((name, details)) => (name, details.strip_suffix(')').unwrap_or(details)),
            None => (what, ""),
        };
        self.put_as(name, details, version);
    }

    fn put_as(&mut self, name: &'a str, details: &'a str, version: &'a str) {
        self.gone.remove(name);
        self.there.insert(name, Deed { version, details });
    }

    fn take(&mut self, what: &'a str, version: &'a str) {
        self.there.remove(what);
        self.gone.insert(what, version);
    }
}

/// What is there by name, each with what it is like in words.
type Live = BTreeMap<String, String>;

/// Compares what the steps of a history did with the vhost as it is.
pub fn verify(history: &History, live: &State) -> Vec<Untrue> {
    let [mut queues, mut exchanges, mut bindings, mut policies] = [const { Left::new() }; 4];
    for (version, deed) in history.deeds() {
        let version = version.as_str();
        if let Some(binding) = deed.strip_prefix("bind ") {
            bindings.put_as(binding, "", version);
        } else if let Some(binding) = deed.strip_prefix("unbind ") {
            bindings.take(binding, version);
        } else if let Some(queue) = deed.strip_prefix("declare queue ") {
            queues.put(queue, version);
        } else if let Some(exchange) = deed.strip_prefix("declare exchange ") {
            exchanges.put(exchange, version);
        } else if let Some(policy) = deed.strip_prefix("set policy ") {
            policies.put_as(policy.split_once(" on ").map_or(policy, |(name, _)| name), "", version);
        } else if let Some(policy) = deed.strip_prefix("delete policy ") {
            policies.take(policy, version);
        } else if let Some(queue) = deed.strip_prefix("delete queue ") {
            queues.take(queue, version);
            bindings.there.retain(|binding, _| !names(binding, queue));
        } else if let Some(exchange) = deed.strip_prefix("delete exchange ") {
            exchanges.take(exchange, version);
            bindings.there.retain(|binding, _| !names(binding, exchange));
        }
    }
    let live_queues: Live =
        (live.queues.values()).map(|queue| (shown_name(&queue.name).into_owned(), describe_queue(queue))).collect();
    let live_exchanges: Live = (live.exchanges.values())
        .map(|exchange| (shown_name(&exchange.name).into_owned(), describe_exchange(exchange)))
        .collect();
    let unlike = |name: &str| (shown_name(name).into_owned(), String::new());
    let live_policies: Live = live.policies.iter().map(|policy| unlike(&policy.name)).collect();
    let live_bindings: Live = live
        .bindings
        .iter()
        .filter_map(|binding| Action::Bind(binding.clone()).to_string().strip_prefix("bind ").map(str::to_owned))
        .map(|binding| (binding, String::new()))
        .collect();
    let default_type = live.default_queue_type.as_deref();
    let mut untrue = Vec::new();
    let mut compare = |left: &Left<'_>, live: &Live, kind: &str| {
        for (what, Deed { version, details }) in &left.there {
            let message = match live.get(*what) {
                None => {
                    format!(
                        "{kind} {what} is not there any more; declare it again, or write a new version that says so"
                    )
                }
                Some(_) if details.is_empty() => continue,
                Some(now) => match differences(details, now, default_type) {
                    differences if differences.is_empty() => continue,
                    differences => format!(
                        "{kind} {what} is not what this version declared: {}; somebody deleted it and declared it anew: find out which client declares it so, and write a new version that replaces it or says so",
                        differences.join(", ")
                    ),
                },
            };
            untrue.push(Untrue { version: (*version).to_owned(), message });
        }
        for (what, version) in left.gone.iter().filter(|(what, _)| live.contains_key(**what)) {
            let message = format!(
                "{kind} {what} is back; a client declares it when it starts: take that out of the client, and then take it away"
            );
            untrue.push(Untrue { version: (*version).to_owned(), message });
        }
    };
    compare(&queues, &live_queues, "queue");
    compare(&exchanges, &live_exchanges, "exchange");
    compare(&bindings, &live_bindings, "binding");
    if live.known.policies {
        compare(&policies, &live_policies, "policy");
    }
    untrue.sort();
    untrue
}

/// A description, taken apart.
struct Words<'a> {
    /// `durable`, `quorum`, `internal`.
    plain: BTreeSet<&'a str>,
    /// `x-delivery-limit=5`
    settings: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    fn of(description: &'a str) -> Self {
        let mut words = Self { plain: BTreeSet::new(), settings: BTreeMap::new() };
        for word in description.split(", ") {
            match word.split_once('=') {
                Some((name, value)) => drop(words.settings.insert(name, value)),
                None => drop(words.plain.insert(word)),
            }
        }
        words
    }
}

/// In what two descriptions differ, such as `x-delivery-limit is 6 and was 5`.
fn differences(was: &str, is: &str, default_type: Option<&str>) -> Vec<String> {
    let (was, is) = (Words::of(was), Words::of(is));
    let mut now: Vec<&str> = is.plain.difference(&was.plain).copied().collect();
    let mut then: Vec<&str> = was.plain.difference(&is.plain).copied().collect();
    // A declaration that names no type gets the vhost's default, and reads as classic.
    if then.contains(&"classic") && now.iter().any(|word| Some(*word) == default_type) {
        now.retain(|word| Some(*word) != default_type);
        then.retain(|word| *word != "classic");
    }
    let mut found = match (now.join(", "), then.join(", ")) {
        (now, then) if now.is_empty() && then.is_empty() => Vec::new(),
        (now, then) if then.is_empty() => vec![format!("it is {now}, which it was not")],
        (now, then) if now.is_empty() => vec![format!("it is not {then} any more")],
        (now, then) => vec![format!("it is {now} and was {then}")],
    };
    let names: BTreeSet<&str> = was.settings.keys().chain(is.settings.keys()).copied().collect();
    for name in names {
        match (is.settings.get(name), was.settings.get(name)) {
            (Some(is), Some(was)) if is != was => found.push(format!("{name} is {is} and was {was}")),
            (Some(is), None) => found.push(format!("{name} is {is} and was not set")),
            (None, Some(was)) => found.push(format!("{name} is not set and was {was}")),
            _ => {}
        }
    }
    found
}

/// Whether the binding, `SOURCE -> DESTINATION [KEY]`, begins or ends at that name.
fn names(binding: &str, name: &str) -> bool {
    let Some((source, rest)) = binding.split_once(" -> ") else { return false };
    source == name || rest.rsplit_once(" [").is_some_and(|(destination, _)| destination == name)
}
