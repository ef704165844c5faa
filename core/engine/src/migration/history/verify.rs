//! Whether what a history says is still true of a vhost: the queues, exchanges, bindings and policies that its steps left
//! behind, and those that they took away.

use super::ledger::History;
use crate::migration::Action;
use crate::state::State;
use crate::topology::shown_name;
use std::collections::{BTreeMap, BTreeSet};

/// Something that a history says and that is not so any more.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Untrue {
    /// The version that made it so.
    pub version: String,
    /// What is not so, as a sentence with the way out.
    pub message: String,
}

/// What steps left behind, by what their words name; each with the version that did it last.
struct Left<'a> {
    there: BTreeMap<&'a str, &'a str>,
    gone: BTreeMap<&'a str, &'a str>,
}

impl<'a> Left<'a> {
    const fn new() -> Self {
        Self { there: BTreeMap::new(), gone: BTreeMap::new() }
    }

    fn put(&mut self, what: &'a str, version: &'a str) {
        self.gone.remove(what);
        self.there.insert(what, version);
    }

    fn take(&mut self, what: &'a str, version: &'a str) {
        self.there.remove(what);
        self.gone.insert(what, version);
    }
}

/// Compares what the steps of a history did with the vhost as it is.
pub fn verify(history: &History, live: &State) -> Vec<Untrue> {
    let [mut queues, mut exchanges, mut bindings, mut policies] = [const { Left::new() }; 4];
    for (version, deed) in history.deeds() {
        let version = version.as_str();
        if let Some(binding) = deed.strip_prefix("bind ") {
            bindings.put(binding, version);
        } else if let Some(binding) = deed.strip_prefix("unbind ") {
            bindings.take(binding, version);
        } else if let Some(queue) = deed.strip_prefix("declare queue ") {
            queues.put(before_details(queue), version);
        } else if let Some(exchange) = deed.strip_prefix("declare exchange ") {
            exchanges.put(before_details(exchange), version);
        } else if let Some(policy) = deed.strip_prefix("set policy ") {
            policies.put(policy.split_once(" on ").map_or(policy, |(name, _)| name), version);
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
    let live_queues: BTreeSet<String> = live.queues.keys().map(|name| shown_name(name).into_owned()).collect();
    let live_exchanges: BTreeSet<String> = live.exchanges.keys().map(|name| shown_name(name).into_owned()).collect();
    let live_policies = live.policies.iter().map(|policy| shown_name(&policy.name).into_owned()).collect();
    let live_bindings: BTreeSet<String> = live
        .bindings
        .iter()
        .filter_map(|binding| Action::Bind(binding.clone()).to_string().strip_prefix("bind ").map(str::to_owned))
        .collect();
    let mut untrue = Vec::new();
    let mut compare = |left: &Left<'_>, live: &BTreeSet<String>, kind: &str| {
        for (what, version) in left.there.iter().filter(|(what, _)| !live.contains(**what)) {
            let message =
                format!("{kind} {what} is not there any more; declare it again, or write a new version that says so");
            untrue.push(Untrue { version: (*version).to_owned(), message });
        }
        for (what, version) in left.gone.iter().filter(|(what, _)| live.contains(**what)) {
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

/// The name in `NAME (DETAILS)`.
fn before_details(text: &str) -> &str {
    text.rsplit_once(" (").map_or(text, |(name, _)| name)
}

/// Whether the binding, `SOURCE -> DESTINATION [KEY]`, begins or ends at that name.
fn names(binding: &str, name: &str) -> bool {
    let Some((source, rest)) = binding.split_once(" -> ") else { return false };
    source == name || rest.rsplit_once(" [").is_some_and(|(destination, _)| destination == name)
}
