//! The exchange graph, and the walk that finds every queue.

use super::Envelope;
use super::tables::{BindingTable, DestinationId, Kind};
use crate::policy::Policies;
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, Version};
use crate::state::{Bindings, PREDECLARED_EXCHANGES, State};
use crate::topic::Scratch;
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The argument and the policy key that name an alternate exchange.
const ALTERNATE_EXCHANGE: &str = "alternate-exchange";

/// The exchanges, bindings and queue names of one vhost, ready to route.
#[derive(Debug, Clone)]
pub struct Router {
    version: Version,
    exchanges: BTreeMap<String, Exchange>,
    queues: BTreeSet<String>,
    bindings: Bindings,
    destinations: Destinations,
    /// Bindings that their exchange's type cannot tell from another one, counted beyond the first.
    repeated: BTreeMap<(String, Vec<u8>, DestinationId), u32>,
    /// For each destination the exchanges that lead to it, with the number of bindings.
    sources: BTreeMap<DestinationId, BTreeMap<String, usize>>,
}

/// An exchange of the graph.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) declaration: ExchangeDeclaration,
    pub(super) kind: Kind,
    /// From a policy; the exchange's own argument comes first.
    policy_alternate: Option<String>,
    table: BindingTable,
}

impl Exchange {
    /// The effective alternate exchange.
    pub(super) fn alternate(&self) -> Option<&str> {
        match self.declaration.arguments.get(ALTERNATE_EXCHANGE) {
            Some(Value::LongStr(name)) => std::str::from_utf8(name).ok(),
            Some(_) => None,
            None => self.policy_alternate.as_deref(),
        }
    }

    /// Whether the alternate exchange comes from a policy.
    pub(super) fn alternate_by_policy(&self) -> bool {
        !self.declaration.arguments.contains(ALTERNATE_EXCHANGE)
    }
}

/// What a message reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Routed {
    /// The queues that get a copy, sorted.
    pub queues: Vec<String>,
    /// Exchanges that the message reached and whose choice is not known, in the order in which they were reached.
    pub opaque: Vec<Opaque>,
}

/// What a walk through the graph has met.
#[derive(Default)]
struct Reach<'w> {
    queues: BTreeSet<&'w str>,
    seen: BTreeSet<&'w str>,
    opaque: Vec<Opaque>,
}

/// An exchange that decides by rules that are not RabbitMQ's own, or by chance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Its name.
    pub exchange: String,
    /// Its type.
    pub kind: String,
    /// The queues and exchanges that are bound to it: what it could choose from, sorted.
    pub candidates: Vec<(DestinationType, String)>,
}

impl Router {
    /// A vhost that has only the default exchange.
    pub fn new(version: Version) -> Self {
        Self {
            version,
            exchanges: BTreeMap::new(),
            queues: BTreeSet::new(),
            bindings: Bindings::new(),
            destinations: Destinations::default(),
            repeated: BTreeMap::new(),
            sources: BTreeMap::new(),
        }
    }

    /// The graph of a vhost. An exchange that only bindings name (exports leave internal ones out) is there with a type that
    /// is not known. The version is `state`'s, else the newest known one.
    pub fn of(state: &State) -> Self {
        let mut router = Self::new(state.broker.version.unwrap_or(Version::NEWEST));
        for (name, _) in PREDECLARED_EXCHANGES {
            router.take_exchange(state, name);
        }
        for name in state.exchanges.keys() {
            router.take_exchange(state, name);
        }
        for queue in state.queues.keys() {
            router.add_queue(queue.clone());
        }
        for binding in state.bindings.iter() {
            let ends = [(DestinationType::Exchange, &binding.source), (binding.destination_type, &binding.destination)];
            for (kind, name) in ends {
                if kind == DestinationType::Exchange && !router.has_exchange(name) {
                    router.add_exchange(ExchangeDeclaration::durable(name.clone(), ""));
                }
            }
            router.bind(binding.clone());
        }
        if !state.policies.is_empty() {
            let policies = Policies::new(state);
            for exchange in router.exchanges.values_mut() {
                let effective = policies.effective_exchange(&exchange.declaration);
                let alternate = effective.value(ALTERNATE_EXCHANGE).and_then(Value::as_text);
                exchange.policy_alternate = alternate.map(str::to_owned);
            }
        }
        router
    }

    fn take_exchange(&mut self, state: &State, name: &str) {
        if let Some(exchange) = state.exchange(name).there() {
            self.add_exchange(exchange.into_owned());
        }
    }

    /// Adds an exchange; one of that name that is there stays as it is. Bindings may have come before it. The default
    /// exchange is always there.
    pub fn add_exchange(&mut self, exchange: ExchangeDeclaration) {
        let name = exchange.name.clone();
        if name.is_empty() || self.exchanges.contains_key(&name) {
            return;
        }
        let kind = Kind::of(&exchange.kind);
        let table = BindingTable::new(kind);
        self.exchanges.insert(name.clone(), Exchange { declaration: exchange, kind, policy_alternate: None, table });
        let waiting: Vec<BindingDeclaration> = self.bindings.from_source(&name).cloned().collect();
        for binding in &waiting {
            if let Some(to) = self.destinations.id(binding.destination_type, &binding.destination) {
                self.enter(binding, to);
            }
        }
    }

    /// Sets the alternate exchange that a policy gives to an exchange.
    pub fn set_policy_alternate(&mut self, exchange: &str, alternate: Option<String>) {
        if let Some(exchange) = self.exchanges.get_mut(exchange) {
            exchange.policy_alternate = alternate;
        }
    }

    /// Takes an exchange away with the bindings at both its ends. Gives the exchanges that lost a binding to it.
    pub fn remove_exchange(&mut self, name: &str) -> Vec<String> {
        let from_here: Vec<BindingDeclaration> = self.bindings.from_source(name).cloned().collect();
        for binding in &from_here {
            self.unbind(binding);
        }
        self.exchanges.remove(name);
        self.remove_destination(DestinationType::Exchange, name)
    }

    /// Adds a queue: from now on the default exchange leads to it.
    pub fn add_queue(&mut self, name: impl Into<String>) {
        self.queues.insert(name.into());
    }

    /// Takes a queue away with its bindings. Gives the exchanges that they came from.
    pub fn remove_queue(&mut self, name: &str) -> Vec<String> {
        self.queues.remove(name);
        self.remove_destination(DestinationType::Queue, name)
    }

    /// Adds a binding; false when it was there. Neither end need exist: what does not leads nowhere.
    pub fn bind(&mut self, binding: BindingDeclaration) -> bool {
        if self.bindings.contains(&binding) {
            return false;
        }
        let to = self.destinations.number(binding.destination_type, &binding.destination);
        *self.sources.entry(to).or_default().entry(binding.source.clone()).or_default() += 1;
        self.enter(&binding, to);
        self.bindings.insert(binding)
    }

    /// Puts a binding into the table of its source.
    fn enter(&mut self, binding: &BindingDeclaration, to: DestinationId) {
        if let Some(source) = self.exchanges.get_mut(&binding.source)
            && !source.table.insert(binding.routing_key.as_bytes(), &binding.arguments, to)
        {
            *self.repeated.entry(entry(source, binding, to)).or_default() += 1;
        }
    }

    /// Takes a binding out; false when it was not there.
    pub fn unbind(&mut self, binding: &BindingDeclaration) -> bool {
        if !self.bindings.remove(binding) {
            return false;
        }
        let Some(to) = self.destinations.id(binding.destination_type, &binding.destination) else { return true };
        if let Some(sources) = self.sources.get_mut(&to) {
            if let Some(bindings) = sources.get_mut(&binding.source) {
                *bindings = bindings.saturating_sub(1);
            }
            sources.retain(|_, bindings| *bindings > 0);
            if sources.is_empty() {
                self.sources.remove(&to);
                self.destinations.release(to);
            }
        }
        let Some(source) = self.exchanges.get_mut(&binding.source) else { return true };
        let entry = entry(source, binding, to);
        match self.repeated.get_mut(&entry) {
            Some(1) => {
                self.repeated.remove(&entry);
            }
            Some(further) => *further = further.saturating_sub(1),
            None => source.table.remove(binding.routing_key.as_bytes(), &binding.arguments, to),
        }
        true
    }

    /// All bindings.
    pub fn bindings(&self) -> &Bindings {
        &self.bindings
    }

    /// The version whose rules are followed.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Where a message goes. An exchange that does not exist leads nowhere.
    pub fn route(&self, envelope: &Envelope<'_>) -> Routed {
        let Reach { queues, opaque, .. } = self.reach(envelope);
        Routed { queues: queues.into_iter().map(str::to_owned).collect(), opaque }
    }

    /// The exchanges that a message comes through, sorted: the one that it is published to, and every one that bindings or
    /// alternate exchanges lead it to. One that does not exist is left out; the default exchange is none.
    pub fn exchanges_reached(&self, envelope: &Envelope<'_>) -> Vec<String> {
        let seen = self.reach(envelope).seen;
        seen.into_iter().filter(|name| self.exchanges.contains_key(*name)).map(str::to_owned).collect()
    }

    fn reach<'w>(&'w self, envelope: &'w Envelope<'_>) -> Reach<'w> {
        let mut reach = Reach::default();
        if envelope.exchange.is_empty() {
            let named = envelope.keys.iter().filter_map(|key| std::str::from_utf8(key).ok());
            reach.queues = named.filter_map(|name| self.queues.get(name)).map(String::as_str).collect();
            return reach;
        }
        let mut scratch = Scratch::default();
        reach.seen.insert(envelope.exchange.as_ref());
        let mut open = VecDeque::from([envelope.exchange.as_ref()]);
        while let Some(name) = open.pop_front() {
            let Some(exchange) = self.exchanges.get(name) else { continue };
            if exchange.kind == Kind::Opaque {
                reach.opaque.push(self.opaque(exchange));
                continue;
            }
            let mut reached = BTreeSet::new();
            exchange.table.reach(self.version, envelope, &mut scratch, |to| {
                reached.insert(to);
            });
            let mut next: Vec<&str> = Vec::new();
            for (kind, name) in reached.iter().filter_map(|to| self.destinations.name(*to)) {
                match kind {
                    DestinationType::Queue => {
                        reach.queues.insert(name);
                    }
                    DestinationType::Exchange => next.push(name),
                }
            }
            if reached.is_empty() {
                next.extend(exchange.alternate());
            }
            open.extend(next.into_iter().filter(|name| reach.seen.insert(name)));
        }
        reach
    }

    /// An exchange as it was declared; the default exchange is not among them.
    pub fn declaration(&self, name: &str) -> Option<&ExchangeDeclaration> {
        self.exchanges.get(name).map(|exchange| &exchange.declaration)
    }

    /// The exchanges, sorted by name; the default exchange is not among them.
    pub fn declarations(&self) -> impl Iterator<Item = &ExchangeDeclaration> {
        self.exchanges.values().map(|exchange| &exchange.declaration)
    }

    /// How many exchanges there are, the default exchange included.
    pub fn exchange_count(&self) -> usize {
        self.exchanges.len().saturating_add(1)
    }

    /// Whether that exchange is there, the default exchange included.
    pub fn has_exchange(&self, name: &str) -> bool {
        name.is_empty() || self.exchanges.contains_key(name)
    }

    /// Whether some binding starts at that exchange.
    pub fn is_source(&self, exchange: &str) -> bool {
        self.bindings.from_source(exchange).next().is_some()
    }

    pub(super) fn exchange(&self, name: &str) -> Option<&Exchange> {
        self.exchanges.get(name)
    }

    pub(super) fn queues(&self) -> &BTreeSet<String> {
        &self.queues
    }

    pub(super) fn opaque(&self, exchange: &Exchange) -> Opaque {
        let candidates: BTreeSet<_> = self
            .bindings
            .from_source(&exchange.declaration.name)
            .map(|binding| (binding.destination_type, binding.destination.clone()))
            .collect();
        Opaque {
            exchange: exchange.declaration.name.clone(),
            kind: exchange.declaration.kind.clone(),
            candidates: candidates.into_iter().collect(),
        }
    }

    fn remove_destination(&mut self, kind: DestinationType, name: &str) -> Vec<String> {
        let Some(to) = self.destinations.id(kind, name) else { return Vec::new() };
        let sources: Vec<String> =
            self.sources.get(&to).into_iter().flatten().map(|(source, _)| source.clone()).collect();
        for source in &sources {
            let leading_here: Vec<BindingDeclaration> = self.bindings.between(source, kind, name).cloned().collect();
            for binding in &leading_here {
                self.unbind(binding);
            }
        }
        sources
    }
}

/// What `repeated` counts under: the parts of a binding that the exchange's type looks at.
fn entry(source: &Exchange, binding: &BindingDeclaration, to: DestinationId) -> (String, Vec<u8>, DestinationId) {
    let key = if source.table.looks_at_keys() { binding.routing_key.clone().into_bytes() } else { Vec::new() };
    (binding.source.clone(), key, to)
}

/// Numbers for the queues and exchanges that bindings lead to.
#[derive(Debug, Clone, Default)]
struct Destinations {
    names: Vec<Option<(DestinationType, String)>>,
    numbers: BTreeMap<(DestinationType, String), DestinationId>,
    free: Vec<DestinationId>,
}

impl Destinations {
    fn id(&self, kind: DestinationType, name: &str) -> Option<DestinationId> {
        self.numbers.get(&(kind, name.to_owned())).copied()
    }

    fn name(&self, id: DestinationId) -> Option<(DestinationType, &str)> {
        let (kind, name) = self.names.get(usize::try_from(id.0).ok()?)?.as_ref()?;
        Some((*kind, name))
    }

    fn number(&mut self, kind: DestinationType, name: &str) -> DestinationId {
        let key = (kind, name.to_owned());
        if let Some(id) = self.numbers.get(&key) {
            return *id;
        }
        let fresh = DestinationId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let id = self.free.pop().unwrap_or(fresh);
        match usize::try_from(id.0).ok().and_then(|at| self.names.get_mut(at)) {
            Some(slot) => *slot = Some(key.clone()),
            None => self.names.push(Some(key.clone())),
        }
        self.numbers.insert(key, id);
        id
    }

    fn release(&mut self, id: DestinationId) {
        let slot = usize::try_from(id.0).ok().and_then(|at| self.names.get_mut(at));
        if let Some(name) = slot.and_then(Option::take) {
            self.numbers.remove(&name);
            self.free.push(id);
        }
    }
}
