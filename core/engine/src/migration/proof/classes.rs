//! Where messages enter, and which of them bindings can tell apart.

use super::headers::{Unclear, header_classes};
use super::{Counterexample, Fault, Subject, edges, version};
use crate::name::quoted;
use crate::policy::Policies;
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration};
use crate::state::State;
use crate::topic::{KeySet, key_classes};
use crate::value::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One message for each class, and the exchanges that they are sent to.
pub(super) struct Classes {
    /// Exchanges of the first state from which something that changes can be reached.
    pub entries: Vec<String>,
    /// Routing key and headers.
    pub messages: Vec<(Vec<u8>, Table)>,
    keys: Vec<Vec<u8>>,
    headers: Vec<Table>,
    limit: usize,
}

/// Two routing keys, and headers.
type Pair<'a> = (&'a Vec<u8>, &'a Vec<u8>, &'a Table);

impl Classes {
    /// # Errors
    /// Why there is no answer, as a sentence.
    pub fn find(subject: &Subject<'_>, states: &[Arc<State>], wired: &Arc<State>) -> Result<Self, String> {
        let states: Vec<&State> = distinct(states).into_iter().chain([wired.as_ref()]).collect();
        let alternates: Vec<Alternates> = states.iter().map(|state| alternates(state)).collect();
        let changed = Changed::between(subject.initial, &states, &alternates);
        let entries = ancestors(&changed.exchanges, &edges(&states, &alternates));
        decidable(&states, &entries)?;
        let mut numbers: BTreeMap<KeySet, usize> = BTreeMap::new();
        let mut focus: BTreeSet<usize> = BTreeSet::new();
        let mut header_bindings: Vec<Table> = Vec::new();
        for name in &entries {
            let exchange = states.iter().find_map(|state| state.exchange(name).there());
            let Some(exchange) = exchange else { continue };
            for binding in bindings_from(&states, name) {
                let is_changed = changed.bindings.contains(&binding.canonical());
                let set = match exchange.kind.as_str() {
                    "direct" => KeySet::literal(&binding.routing_key),
                    "topic" => KeySet::pattern(&binding.routing_key),
                    "headers" => {
                        header_bindings.push(binding.arguments.clone());
                        KeySet::all()
                    }
                    "fanout" => KeySet::all(),
                    kind => {
                        return Err(format!(
                            "exchange {} is of type {}, which decides by rules that are not known",
                            quoted(name),
                            quoted(kind)
                        ));
                    }
                };
                let next = numbers.len();
                let at = *numbers.entry(set).or_insert(next);
                if is_changed {
                    focus.insert(at);
                }
            }
        }
        if changed.any_key {
            let next = numbers.len();
            focus.insert(*numbers.entry(KeySet::all()).or_insert(next));
        }
        let mut sets: Vec<(usize, KeySet)> = numbers.into_iter().map(|(set, number)| (number, set)).collect();
        sets.sort_unstable_by_key(|(number, _)| *number);
        let sets: Vec<KeySet> = sets.into_iter().map(|(_, set)| set).collect();
        let focus: Vec<usize> = focus.into_iter().collect();
        let keys: Vec<Vec<u8>> = key_classes(&sets, &focus, subject.limit)
            .map_err(|too_many| too_many.to_string())?
            .into_iter()
            .map(|class| class.key)
            .collect();
        let headers = header_sets(subject, &header_bindings)?;
        if keys.len().saturating_mul(headers.len()) > subject.limit {
            return Err(format!("the bindings distinguish more than {} classes of keys and headers", subject.limit));
        }
        let messages =
            keys.iter().flat_map(|key| headers.iter().map(move |headers| (key.clone(), headers.clone()))).collect();
        let there: Vec<String> =
            entries.into_iter().filter(|name| subject.initial.exchange(name).there().is_some()).collect();
        Ok(Self { entries: there, messages, keys, headers, limit: subject.limit })
    }

    /// A message to show what happens to those that wait in a queue.
    pub fn example(&self, after: usize, fault: Fault) -> Counterexample {
        let (key, headers) = self.messages.first().cloned().unwrap_or_default();
        let queue = match &fault {
            Fault::Deleted { queue } | Fault::Stranded { queue } => Some(queue.clone()),
            _ => None,
        };
        Counterexample {
            after,
            exchange: self.entries.first().cloned().unwrap_or_default(),
            keys: vec![String::from_utf8_lossy(&key).into_owned()],
            headers,
            fault,
            before: queue.into_iter().collect(),
            then: Vec::new(),
        }
    }

    /// Messages with two keys, where there are not too many: `CC` and `BCC` give a message further ones.
    pub fn pairs(&self) -> Option<Vec<Pair<'_>>> {
        let count = self.keys.len().saturating_mul(self.keys.len().saturating_sub(1)) / 2;
        if count.saturating_mul(self.headers.len()) > self.limit {
            return None;
        }
        let mut pairs = Vec::with_capacity(count);
        for (at, one) in self.keys.iter().enumerate() {
            for other in self.keys.iter().skip(at + 1) {
                pairs.extend(self.headers.iter().map(|headers| (one, other, headers)));
            }
        }
        Some(pairs)
    }
}

fn header_sets(subject: &Subject<'_>, bindings: &[Table]) -> Result<Vec<Table>, String> {
    let mut distinct: Vec<&Table> = Vec::new();
    for arguments in bindings {
        if !distinct.contains(&arguments) {
            distinct.push(arguments);
        }
    }
    header_classes(version(subject.initial), &distinct, subject.limit).map_err(|unclear| match unclear {
        Unclear::TooMany => format!("the bindings distinguish more than {} classes of headers", subject.limit),
        Unclear::NeverFulfilled { header } => {
            format!("no value is known that a binding's header {} would accept", quoted(&header))
        }
    })
}

/// What is not the same in every state.
struct Changed {
    /// Exchanges whose bindings, type or alternate exchange change, or that come and go.
    exchanges: BTreeSet<String>,
    /// Bindings that come or go at exchanges that are there at the start, in canonical form.
    bindings: BTreeSet<String>,
    /// An exchange of the start changes for every key.
    any_key: bool,
}

impl Changed {
    /// `alternates` are those of the states, the first of which is the initial one.
    fn between(initial: &State, states: &[&State], alternates: &[Alternates]) -> Self {
        let mut changed = Self { exchanges: BTreeSet::new(), bindings: BTreeSet::new(), any_key: false };
        // Bindings of exchanges that the steps bring along are met only through those of the exchanges that were there.
        let was_there = |source: &str| initial.exchange(source).there().is_some();
        let first: BTreeSet<String> = initial.bindings.iter().map(BindingDeclaration::canonical).collect();
        let nobody = Alternates::new();
        let first_alternates = alternates.first().unwrap_or(&nobody);
        for (state, alternates) in states.iter().zip(alternates) {
            let mut now: BTreeMap<String, &str> = BTreeMap::new();
            for binding in state.bindings.iter() {
                now.insert(binding.canonical(), &binding.source);
            }
            for binding in initial.bindings.iter() {
                let line = binding.canonical();
                if !now.contains_key(&line) {
                    changed.exchanges.insert(binding.source.clone());
                    changed.bindings.insert(line);
                }
            }
            for (line, source) in now {
                if !first.contains(&line) {
                    changed.exchanges.insert(source.to_owned());
                    if was_there(source) {
                        changed.bindings.insert(line);
                    }
                }
            }
            for name in initial.exchanges.keys().chain(state.exchanges.keys()) {
                let (before, after) = (initial.exchanges.get(name), state.exchanges.get(name));
                let alternate_changed = first_alternates.get(name) != alternates.get(name);
                if before != after || alternate_changed {
                    changed.exchanges.insert(name.clone());
                    changed.any_key |= before.is_some();
                }
            }
        }
        // A name that leads nowhere yet and that a step brings to life gets whatever its exchange could not route.
        let dangling = |alternate: &String| !was_there(alternate);
        changed.any_key |= first_alternates.values().any(|to| dangling(to) && changed.exchanges.contains(to));
        changed.any_key |= initial.bindings.iter().any(|binding| {
            let is_fanout = initial.exchange(&binding.source).there().is_some_and(|source| source.kind == "fanout");
            is_fanout && changed.bindings.contains(&binding.canonical())
        });
        changed
    }
}

/// The effective alternate exchange of each exchange that has one.
pub(super) type Alternates = BTreeMap<String, String>;

fn alternates(state: &State) -> Alternates {
    let policies = Policies::new(state);
    let alternate = |exchange: &ExchangeDeclaration| {
        policies.effective_exchange(exchange).value("alternate-exchange").and_then(Value::as_text).map(str::to_owned)
    };
    let exchanges =
        state.exchanges.values().filter(|exchange| !exchange.arguments.is_empty() || !state.policies.is_empty());
    exchanges.filter_map(|exchange| Some((exchange.name.clone(), alternate(exchange)?))).collect()
}

/// Whether it can be told in every state which alternate exchanges there are.
fn decidable(states: &[&State], exchanges: &BTreeSet<String>) -> Result<(), String> {
    for state in states.iter().filter(|state| !state.policies.is_empty() || !state.known.policies) {
        let policies = Policies::new(state);
        for exchange in exchanges.iter().filter_map(|name| state.exchange(name).there()) {
            if let Some(why) = policies.effective_exchange(&exchange).open.first() {
                let name = quoted(&exchange.name);
                return Err(format!("the alternate exchange of exchange {name} cannot be told: {why}"));
            }
        }
    }
    Ok(())
}

/// The exchanges from which one of `targets` can be reached, these included.
fn ancestors(targets: &BTreeSet<String>, edges: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut found = targets.clone();
    loop {
        let more: Vec<String> = (edges.iter())
            .filter(|(from, to)| !found.contains(*from) && to.iter().any(|to| found.contains(to)))
            .map(|(from, _)| from.clone())
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The bindings of an exchange in any state, each once.
fn bindings_from<'a>(states: &[&'a State], name: &str) -> Vec<&'a BindingDeclaration> {
    let mut found: BTreeMap<String, &BindingDeclaration> = BTreeMap::new();
    for binding in states.iter().flat_map(|state| state.bindings.from_source(name)) {
        found.entry(binding.canonical()).or_insert(binding);
    }
    found.into_values().collect()
}

fn distinct(states: &[Arc<State>]) -> Vec<&State> {
    let mut found: Vec<&Arc<State>> = Vec::new();
    for state in states {
        if !found.last().is_some_and(|last| Arc::ptr_eq(last, state)) {
            found.push(state);
        }
    }
    found.into_iter().map(Arc::as_ref).collect()
}
