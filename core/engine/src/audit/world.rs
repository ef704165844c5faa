//! The vhost as the audit looks at it: effective settings, both ends of every binding, and where keys go.

use super::exchange::{End, Exchange, ExchangeTable, Kind};
use super::finding::{Example, Finding, Object, ObjectKind, Outcome, exchange_words, few, quoted};
use super::keys::{KeySet, literal_words, topic_words};
use super::patterns::PatternTree;
use super::queue::Queue;
use crate::policy::{Policies, Setting};
use crate::rabbitmq::{BindingDeclaration, DestinationType, Version};
use crate::routing::{HeadersMatch, headers_match};
use crate::state::{PREDECLARED_EXCHANGES, Presence, State};
use crate::topic::Words;
use crate::value::Table;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A setting that an argument or a policy gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Given<T> {
    Nothing,
    Value(T),
    /// A tie of policies, or policies that are not known.
    Undecided,
}

/// What a key reaches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reach<'w> {
    /// Queues that get a copy for certain.
    pub(super) queues: BTreeSet<&'w str>,
    /// Whether there may be more.
    pub(super) perhaps: bool,
}

/// The vhost.
#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) state: &'a State,
    pub(super) version: Version,
    pub(super) policies: Policies<'a>,
    pub(super) exchanges: BTreeMap<&'a str, Exchange<'a>>,
    pub(super) queues: BTreeMap<&'a str, Queue<'a>>,
    into_queues: BTreeMap<&'a str, Vec<&'a BindingDeclaration>>,
    into_exchanges: BTreeMap<&'a str, Vec<&'a BindingDeclaration>>,
    /// A word that no binding and no queue has.
    pub(super) stranger: String,
}

const ALTERNATE: &str = "alternate-exchange";

impl<'a> World<'a> {
    pub(super) fn new(state: &'a State) -> Self {
        let version = state.broker.version.unwrap_or(Version::NEWEST);
        let policies = Policies::new(state);
        let mut exchanges = BTreeMap::new();
        let declared = state.exchanges.iter().map(|(name, exchange)| {
            (name.as_str(), exchange.kind.as_str(), exchange.internal, Some(&exchange.arguments))
        });
        let predeclared =
            PREDECLARED_EXCHANGES.iter().map(|(name, kind)| (*name, *kind, *name == "amq.rabbitmq.trace", None));
        for (name, kind_name, internal, arguments) in predeclared.chain(declared) {
            let alternate = alternate(state, &policies, name);
            exchanges.insert(name, Exchange::new(name, kind_name, internal, alternate, arguments));
        }
        for binding in state.bindings.iter() {
            // An export without internal exchanges shows them only by their bindings.
            for (kind, name) in
                [(DestinationType::Exchange, &binding.source), (binding.destination_type, &binding.destination)]
            {
                if kind == DestinationType::Exchange
                    && !exchanges.contains_key(name.as_str())
                    && state.exchange(name) == Presence::Unknown
                {
                    exchanges.insert(name.as_str(), Exchange::new(name, "", true, Given::Undecided, None));
                }
            }
            if let Some(source) = exchanges.get_mut(binding.source.as_str()) {
                source.outgoing.push(binding);
                if binding.destination_type == DestinationType::Exchange {
                    source.chained.insert(&binding.destination);
                }
            }
        }
        let queues = state.queues.values().map(|queue| (queue.name.as_str(), Queue::new(queue, &policies))).collect();
        let stranger = stranger(state);
        let (mut into_queues, mut into_exchanges) = (BTreeMap::new(), BTreeMap::new());
        for ((kind, name), bindings) in state.bindings.by_destination() {
            match kind {
                DestinationType::Queue => into_queues.insert(name, bindings),
                DestinationType::Exchange => into_exchanges.insert(name, bindings),
            };
        }
        Self { state, version, policies, exchanges, queues, into_queues, into_exchanges, stranger }
    }

    /// Bindings that lead to a queue or an exchange.
    pub(super) fn into(&self, kind: DestinationType, name: &str) -> &[&'a BindingDeclaration] {
        let into = match kind {
            DestinationType::Queue => &self.into_queues,
            DestinationType::Exchange => &self.into_exchanges,
        };
        into.get(name).map_or(&[], Vec::as_slice)
    }

    /// The bindings from an exchange to one of its ends.
    pub(super) fn between<'w>(
        &'w self,
        exchange: &'w Exchange<'a>,
        end: End<'a>,
    ) -> impl Iterator<Item = &'a BindingDeclaration> + use<'w, 'a> {
        let into = match end {
            End::Queue(name) => self.into(DestinationType::Queue, name),
            End::Exchange(name) => self.into(DestinationType::Exchange, name),
        };
        into.iter().copied().filter(move |binding| binding.source == exchange.name)
    }

    /// A queue as the object of a finding.
    pub(super) fn queue_object(&self, name: &str) -> Object {
        self.object(ObjectKind::Queue, name)
    }

    /// The object of a finding.
    pub(super) fn object(&self, kind: ObjectKind, name: impl Into<String>) -> Object {
        Object { kind, name: name.into(), vhost: self.state.vhost.clone() }
    }

    /// Whether there is such an exchange; `None` when it cannot be told.
    pub(super) fn has_exchange(&self, name: &str) -> Option<bool> {
        match self.state.exchange(name) {
            Presence::There(_) => Some(true),
            Presence::Absent => Some(false),
            Presence::Unknown => None,
        }
    }

    /// Whether there is such a queue; `None` when it cannot be told.
    pub(super) fn has_queue(&self, name: &str) -> Option<bool> {
        match self.state.queue(name) {
            Presence::There(_) => Some(true),
            Presence::Absent => Some(false),
            Presence::Unknown => None,
        }
    }

    pub(super) fn table<'w>(&'w self, exchange: &'w Exchange<'a>) -> &'w ExchangeTable<'a> {
        exchange.table.get_or_init(|| self.make_table(exchange))
    }

    fn make_table(&self, exchange: &Exchange<'a>) -> ExchangeTable<'a> {
        let mut table = ExchangeTable { always: Vec::new(), perhaps: Vec::new(), by_key: PatternTree::new() };
        if exchange.name.is_empty() {
            for queue in self.queues.keys() {
                table.by_key.insert(literal_words(queue), End::Queue(queue));
            }
            return table;
        }
        for binding in &exchange.outgoing {
            let end = self.end(binding);
            match exchange.kind {
                Kind::Direct => table.by_key.insert(literal_words(&binding.routing_key), end),
                Kind::Topic if binding.routing_key == "#" => table.always.push(end),
                Kind::Topic => table.by_key.insert(topic_words(&binding.routing_key), end),
                Kind::Fanout => table.always.push(end),
                Kind::Headers => match asks_for_nothing(&binding.arguments) {
                    None => table.perhaps.push((end, Some(binding))),
                    Some(true) => table.always.push(end),
                    Some(false) => {}
                },
                Kind::Opaque => table.perhaps.push((end, None)),
            }
        }
        if exchange.kind_name.is_empty() {
            // Not exported: nothing is known of it, so anything may happen there.
            table.perhaps.push((End::Queue(""), None));
        }
        table.always.sort_unstable();
        table.always.dedup();
        table
    }

    fn end(&self, binding: &'a BindingDeclaration) -> End<'a> {
        match binding.destination_type {
            DestinationType::Queue => End::Queue(&binding.destination),
            DestinationType::Exchange => End::Exchange(&binding.destination),
        }
    }

    /// Where a key goes from an exchange; without headers what depends on them is `perhaps`.
    pub(super) fn routes<'w>(&'w self, exchange: &str, key: &str, headers: Option<&Table>) -> Reach<'w> {
        self.walk(exchange, headers, |_, table| table.by_key.matches(key))
    }

    /// Whether every key is routed to a queue, whatever it is.
    pub(super) fn takes_all(&self, exchange: &str) -> bool {
        let Some(found) = self.exchanges.get(exchange) else { return false };
        *found.takes_all.get_or_init(|| {
            !self.walk(exchange, None, |_, _| Vec::new()).queues.is_empty() && !self.has_alternates(exchange)
        })
    }

    fn has_alternates(&self, exchange: &str) -> bool {
        self.behind(exchange).iter().any(|exchange| exchange.alternate != Given::Nothing)
    }

    /// The walk of `rabbit_exchange:route`, with the bindings that fit given by `matched`.
    pub(super) fn walk<'w>(
        &'w self,
        exchange: &str,
        headers: Option<&Table>,
        mut matched: impl FnMut(&'w Exchange<'a>, &'w ExchangeTable<'a>) -> Vec<End<'a>>,
    ) -> Reach<'w> {
        let mut reach = Reach::default();
        let mut seen = BTreeSet::new();
        let mut open: VecDeque<&'w Exchange<'a>> = self.exchanges.get(exchange).into_iter().collect();
        while let Some(at) = open.pop_front() {
            if !seen.insert(at.name) {
                continue;
            }
            let table = self.table(at);
            let mut ends = matched(at, table);
            ends.extend(table.always.iter().copied());
            let mut perhaps = false;
            for (end, binding) in &table.perhaps {
                match (binding, headers) {
                    (Some(binding), Some(headers)) if headers_match(self.version, &binding.arguments, headers) => {
                        ends.push(*end);
                    }
                    (Some(_), Some(_)) => {}
                    _ => perhaps = true,
                }
            }
            reach.perhaps |= perhaps;
            if ends.is_empty() && !perhaps {
                match &at.alternate {
                    Given::Nothing => {}
                    Given::Undecided => reach.perhaps = true,
                    // As an alternate the default exchange leads nowhere.
                    Given::Value(name) if name.is_empty() => {}
                    Given::Value(name) => match self.exchanges.get(name.as_str()) {
                        Some(alternate) => open.push_back(alternate),
                        None => reach.perhaps |= self.has_exchange(name).is_none(),
                    },
                }
            }
            for end in ends {
                match end {
                    End::Queue(name) => match self.queues.get_key_value(name) {
                        Some((name, _)) => {
                            reach.queues.insert(name);
                        }
                        None => reach.perhaps |= self.has_queue(name).is_none(),
                    },
                    End::Exchange(name) => open.extend(self.exchanges.get(name).filter(|next| !next.name.is_empty())),
                }
            }
        }
        reach
    }

    /// An exchange and all that its messages can come to.
    fn behind<'w>(&'w self, exchange: &str) -> Vec<&'w Exchange<'a>> {
        self.behind_by(exchange, |at| at.chained.clone())
    }

    /// An exchange and all that its messages with keys of a set can come to.
    pub(super) fn behind_with<'w>(&'w self, exchange: &str, set: &KeySet<'w>) -> Vec<&'w Exchange<'a>> {
        self.behind_by(exchange, |at| {
            if at.chained.is_empty() || set.is_any() {
                return at.chained.clone();
            }
            let table = self.table(at);
            let fitting = table.by_key.meeting(set.pattern());
            let others = table.always.iter().chain(table.perhaps.iter().map(|(end, _)| end));
            let exchanges = fitting.iter().chain(others).filter_map(|end| match end {
                End::Exchange(name) => Some(*name),
                End::Queue(_) => None,
            });
            exchanges.collect()
        })
    }

    fn behind_by<'w>(
        &'w self,
        exchange: &str,
        chained: impl Fn(&'w Exchange<'a>) -> BTreeSet<&'w str>,
    ) -> Vec<&'w Exchange<'a>> {
        let mut found: Vec<&'w Exchange<'a>> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<&'w Exchange<'a>> = self.exchanges.get(exchange).into_iter().collect();
        while let Some(at) = open.pop() {
            if !seen.insert(at.name) {
                continue;
            }
            found.push(at);
            open.extend(chained(at).into_iter().filter_map(|name| self.exchanges.get(name)));
            if let Given::Value(name) = &at.alternate {
                open.extend(self.exchanges.get(name.as_str()));
            }
        }
        found
    }

    /// Whether some message that comes to the exchange can come to a queue, or it cannot be told.
    pub(super) fn leads_to_a_queue(&self, exchange: &str) -> bool {
        let queue_or_unknown = |at: &Exchange<'a>| {
            let to_queue = |binding: &&BindingDeclaration| {
                binding.destination_type == DestinationType::Queue
                    && self.has_queue(&binding.destination) != Some(false)
            };
            !at.is_known() || at.alternate == Given::Undecided || at.outgoing.iter().any(to_queue)
        };
        self.behind(exchange).into_iter().any(queue_or_unknown)
    }

    /// The exchanges that messages can come to: clients can publish to them, or something else leads there.
    pub(super) fn entered(&self) -> BTreeSet<&str> {
        let dead = self.queues.values().filter_map(|queue| Some(queue.dead_letters()?.exchange.as_str()));
        let open: Vec<&str> = (self.exchanges.values())
            .filter(|exchange| !exchange.internal || !exchange.is_known())
            .map(|exchange| exchange.name)
            .chain(dead)
            .collect();
        let mut entered = BTreeSet::new();
        for name in open {
            if !entered.contains(name) {
                entered.extend(self.behind(name).into_iter().map(|exchange| exchange.name));
            }
        }
        entered
    }

    /// The keys that a binding takes; `None` where that depends on more than the key.
    pub(super) fn keys_of<'w>(&'w self, binding: &'w BindingDeclaration) -> Option<KeySet<'w>> {
        match self.exchanges.get(binding.source.as_str())?.kind {
            Kind::Direct => Some(KeySet::literal(&binding.routing_key)),
            Kind::Topic => Some(KeySet::topic(&binding.routing_key)),
            Kind::Fanout => Some(KeySet::any()),
            Kind::Headers | Kind::Opaque => None,
        }
    }

    /// A finding with a message that is published and does not die, when what it reaches is certain.
    pub(super) fn shown_by(
        &self,
        finding: Finding,
        exchange: &Exchange<'_>,
        key: &str,
        headers: &Table,
        ending: &str,
    ) -> Finding {
        let reach = self.routes(exchange.name, key, Some(headers));
        if exchange.internal || reach.perhaps {
            return finding;
        }
        let queues: Vec<String> = reach.queues.into_iter().map(str::to_owned).collect();
        let ends = match queues.as_slice() {
            [] => "it reaches no queue".to_owned(),
            queues => format!("it reaches {}", few(queues.iter().map(String::as_str))),
        };
        let happens =
            format!("published to {} with key {}{ending}: {ends}", exchange_words(exchange.name), quoted(key));
        finding.example(Example {
            exchange: exchange.name.to_owned(),
            key: key.to_owned(),
            headers: headers.clone(),
            deaths: Vec::new(),
            outcome: if queues.is_empty() { Outcome::Lost } else { Outcome::Reaches { queues } },
            happens,
        })
    }
}

fn alternate(state: &State, policies: &Policies<'_>, name: &str) -> Given<String> {
    if name.is_empty() {
        return Given::Nothing;
    }
    let Some(exchange) = state.exchange(name).there() else { return Given::Undecided };
    let effective = policies.effective_exchange(&exchange);
    match effective.settings.get(ALTERNATE) {
        Some(Setting { value: Some(value), .. }) => {
            value.as_text().map_or(Given::Undecided, |name| Given::Value(name.to_owned()))
        }
        Some(_) => Given::Undecided,
        None if effective.open.is_empty() => Given::Nothing,
        None => Given::Undecided,
    }
}

/// What a headers binding without criteria does: `Some(true)` takes everything, `Some(false)` nothing; `None` when it has
/// criteria.
pub(super) fn asks_for_nothing(arguments: &Table) -> Option<bool> {
    let kind = HeadersMatch::of(arguments);
    let asks = arguments.iter().any(|(name, _)| kind.considers(name));
    (!asks).then_some(!kind.is_any())
}

/// A word that stands in no binding key and is no queue's name.
fn stranger(state: &State) -> String {
    let mut candidates: Vec<String> = ["x", "y", "z", "other", "else"].map(str::to_owned).into();
    candidates.extend((0..100).map(|number| format!("x{number}")));
    let mut taken = BTreeSet::new();
    let keys = state.bindings.iter().map(|binding| &binding.routing_key).chain(state.queues.keys());
    for word in keys.flat_map(|key| Words::new(key.as_bytes())).filter(|word| word.len() <= 5) {
        if let Ok(word) = std::str::from_utf8(word) {
            taken.insert(word);
        }
    }
    candidates.into_iter().find(|word| !taken.contains(word.as_str())).unwrap_or_else(|| "x".repeat(40))
}
