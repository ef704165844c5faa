//! How messages come into a queue: where they are published, with which keys, and through which deaths.

use super::exchange::{Exchange, Kind};
use super::keys::{KeySet, holds_a_key};
use super::patterns::PatternTree;
use super::queue::Queue;
use super::world::World;
use crate::embedded::DeathReason;
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::routing::HeadersMatch;
use crate::value::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How many exchanges in a row are looked through.
const DEPTH: usize = 4;
/// How many ways through other queues' deaths are kept for one queue.
const THROUGH_DEATHS: usize = 32;
/// How many deaths in a row are looked through.
const DEATHS: usize = 3;

/// One way into a queue.
#[derive(Debug, Clone)]
pub(super) struct Way<'w> {
    /// Where the message is published.
    pub(super) exchange: &'w str,
    /// The keys that it can have there.
    pub(super) keys: KeySet<'w>,
    /// The headers that it has to have.
    pub(super) headers: Table,
    /// What lets it through.
    pub(super) through: Through,
    /// Where it has died before.
    pub(super) deaths: Vec<(&'w str, DeathReason)>,
    /// Its key when it arrives, when a death gave it another one.
    pub(super) renamed: Option<&'w str>,
}

/// What lets a message through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Through {
    /// Bindings that compare keys.
    Keys,
    /// A fanout or headers exchange: whatever the key.
    AnyKey,
    /// The default exchange.
    Name,
}

impl<'w> Way<'w> {
    /// To a queue by its name.
    pub(super) fn by_name(queue: &'w str) -> Self {
        Self {
            exchange: "",
            keys: KeySet::literal(queue),
            headers: Table::new(),
            through: Through::Name,
            deaths: Vec::new(),
            renamed: None,
        }
    }

    /// The keys that it can have when it arrives.
    pub(super) fn arriving(&self) -> KeySet<'w> {
        self.renamed.map_or_else(|| self.keys.clone(), KeySet::literal)
    }

    fn arrives_like(&self, other: &Self) -> bool {
        match (self.renamed, other.renamed) {
            (None, None) => self.keys == other.keys,
            (Some(key), Some(other)) => key == other,
            _ => self.arriving() == other.arriving(),
        }
    }

    /// This way with a death at its end; `keys` are those of its keys that come on from there.
    fn dying(&self, queue: &Queue<'w>, keys: KeySet<'w>, renamed: Option<&'w str>) -> Self {
        let death = (queue.name, likely_reason(queue));
        Self {
            exchange: self.exchange,
            keys,
            headers: self.headers.clone(),
            through: self.through,
            deaths: self.deaths.iter().copied().chain([death]).collect(),
            renamed: renamed.or(self.renamed),
        }
    }
}

/// The reason by which messages die in a queue, as it is meant: of age where there is a time to live, else by rejection.
pub(super) fn likely_reason(queue: &Queue<'_>) -> DeathReason {
    if queue.expires_messages() { DeathReason::Expired } else { DeathReason::Rejected }
}

/// A chain of bindings that ends at a queue.
#[derive(Debug, Clone)]
struct Path<'w, 'a> {
    from: &'w Exchange<'a>,
    keys: KeySet<'w>,
    headers: Table,
    any_key: bool,
}

/// Every chain of bindings into a queue or exchange. Behind an exchange that clients can publish to a chain goes on only when
/// `all` is set, or when the exchange looks at no key and another one before it does: the keys that it lets through are ones
/// that do come.
fn paths<'w, 'a>(world: &'w World<'a>, kind: DestinationType, name: &str, all: bool) -> Vec<Path<'w, 'a>> {
    let mut found = Vec::new();
    extend(world, kind, name, all, None, 0, &mut found);
    found
}

fn extend<'w, 'a>(
    world: &'w World<'a>,
    kind: DestinationType,
    name: &str,
    all: bool,
    behind: Option<&Path<'w, 'a>>,
    depth: usize,
    found: &mut Vec<Path<'w, 'a>>,
) {
    for binding in world.into(kind, name) {
        let Some(from) = world.exchanges.get(binding.source.as_str()) else { continue };
        let Some(path) = step(from, binding, behind) else { continue };
        let goes_on = (all || from.internal || path.any_key) && depth < DEPTH;
        let is_public = |path: &Path<'_, '_>| !path.from.internal;
        let says_more = all || !path.any_key || !behind.is_some_and(|behind| behind.any_key && is_public(behind));
        if says_more {
            found.push(path.clone());
        }
        if goes_on {
            extend(world, DestinationType::Exchange, from.name, all, Some(&path), depth + 1, found);
        }
    }
}

/// A chain with one more binding in front; `None` when what the binding takes is not known, or is nothing.
fn step<'w, 'a>(
    from: &'w Exchange<'a>,
    binding: &'w BindingDeclaration,
    behind: Option<&Path<'w, 'a>>,
) -> Option<Path<'w, 'a>> {
    let (keys, headers) = match from.kind {
        Kind::Direct => (KeySet::literal(&binding.routing_key), Table::new()),
        Kind::Topic => (KeySet::topic(&binding.routing_key), Table::new()),
        Kind::Fanout => (KeySet::any(), Table::new()),
        Kind::Headers => (KeySet::any(), fitting_headers(&binding.arguments)?),
        Kind::Opaque => return None,
    };
    let any_key = matches!(from.kind, Kind::Fanout | Kind::Headers);
    let Some(behind) = behind else { return Some(Path { from, keys, headers, any_key }) };
    let mut both = behind.headers.clone();
    for (name, value) in headers.iter() {
        if both.get(name).is_some_and(|other| other != value) {
            return None;
        }
        both.insert(name, value.clone());
    }
    Some(Path { from, keys: keys.and(&behind.keys), headers: both, any_key: any_key && behind.any_key })
}

/// Headers that fit a headers binding; `None` when none do.
fn fitting_headers(arguments: &Table) -> Option<Table> {
    let kind = HeadersMatch::of(arguments);
    let criteria = arguments.iter().filter(|(name, _)| kind.considers(name));
    // A void criterion asks only that the header be there.
    let mut wanted = criteria
        .map(|(name, value)| (name.to_owned(), if *value == Value::Void { Value::text("") } else { value.clone() }));
    if kind.is_any() { wanted.next().map(|first| [first].into_iter().collect()) } else { Some(wanted.collect()) }
}

/// Every way from a client into a queue through bindings. Nothing is said about exchanges of plugins' types.
pub(super) fn bound<'w>(world: &'w World<'_>, queue: &str) -> Vec<Way<'w>> {
    paths(world, DestinationType::Queue, queue, false)
        .into_iter()
        .filter(|path| !path.from.internal)
        .map(|path| Way {
            exchange: path.from.name,
            through: if path.any_key || path.keys.is_any() { Through::AnyKey } else { Through::Keys },
            keys: path.keys,
            headers: path.headers,
            deaths: Vec::new(),
            renamed: None,
        })
        .collect()
}

/// A way into a queue, the plainest one.
fn plain<'w>(world: &'w World<'_>, queue: &Queue<'w>) -> Way<'w> {
    let mut ways = bound(world, queue.name);
    let first = ways.iter().position(|way| way.through == Through::Keys && world.sample(&way.keys).is_some());
    match first {
        Some(first) => ways.swap_remove(first),
        None => Way::by_name(queue.name),
    }
}

/// The ways into every queue whose dead letters keep their keys.
pub(super) struct Ways<'w> {
    by_queue: BTreeMap<&'w str, Vec<Way<'w>>>,
    none: Vec<Way<'w>>,
}

impl<'w> Ways<'w> {
    pub(super) fn new<'a>(world: &'w World<'a>) -> Self {
        let keeps = |queue: &Queue<'_>| queue.dead_letters().is_some_and(|dead| dead.key.is_none());
        let mut by_queue: BTreeMap<&'w str, Vec<Way<'w>>> = BTreeMap::new();
        for queue in world.queues.values().filter(|queue| keeps(queue)) {
            by_queue.insert(queue.name, bound(world, queue.name));
        }
        // Keys that a death gives, into queues that pass them on.
        let mut through: BTreeMap<&'w str, Vec<Way<'w>>> = BTreeMap::new();
        for queue in world.queues.values() {
            let Some(dead) = queue.dead_letters() else { continue };
            let Some(key) = dead.key.as_deref() else { continue };
            let reached = world.routes(&dead.exchange, key, None).queues;
            for target in reached.into_iter().filter(|target| by_queue.contains_key(target)) {
                let ways = through.entry(target).or_default();
                if ways.len() < THROUGH_DEATHS {
                    let way = plain(world, queue);
                    ways.push(way.dying(queue, way.keys.clone(), Some(key)));
                }
            }
        }
        for _ in 0..DEATHS {
            let more = passed_on(world, &by_queue, &through);
            let mut grown = false;
            for (target, ways) in more {
                let known = through.entry(target).or_default();
                for way in ways {
                    let mut others = known.iter().chain(by_queue.get(target).into_iter().flatten());
                    if others.all(|other| !other.arrives_like(&way)) && known.len() < THROUGH_DEATHS {
                        known.push(way);
                        grown = true;
                    }
                }
            }
            if !grown {
                break;
            }
        }
        for (target, ways) in through {
            by_queue.entry(target).or_default().extend(ways);
        }
        for (queue, ways) in &mut by_queue {
            if ways.is_empty() {
                ways.push(Way::by_name(queue));
            }
        }
        Self { by_queue, none: Vec::new() }
    }

    /// Those into a queue whose dead letters keep their keys: by bindings and by deaths, or by name where there are no
    /// others.
    pub(super) fn into(&self, queue: &str) -> &[Way<'w>] {
        self.by_queue.get(queue).unwrap_or(&self.none)
    }
}

/// Dead letters that keep their keys, into queues that keep them in turn.
fn passed_on<'w, 'a>(
    world: &'w World<'a>,
    by_queue: &BTreeMap<&'w str, Vec<Way<'w>>>,
    through: &BTreeMap<&'w str, Vec<Way<'w>>>,
) -> BTreeMap<&'w str, Vec<Way<'w>>> {
    // The queues that pass keys on, by their dead-letter exchange.
    let mut dying: BTreeMap<&'w str, Dying<'w, '_, 'a>> = BTreeMap::new();
    for queue in by_queue.keys().filter_map(|name| world.queues.get(name)) {
        if let Some(dead) = queue.dead_letters() {
            let before = || by_queue.get(queue.name).into_iter().chain(through.get(queue.name)).flatten();
            dying.entry(dead.exchange.as_str()).or_default().add(queue, before);
        }
    }
    let mut found: BTreeMap<&'w str, Vec<Way<'w>>> = BTreeMap::new();
    for target in by_queue.keys() {
        let mut ways = Vec::new();
        let mut arrives = |exchange: &str, keys: &KeySet<'w>| {
            let Some(dying) = dying.get(exchange) else { return };
            for (queue, way) in dying.bringing(keys) {
                if ways.len() >= THROUGH_DEATHS {
                    return;
                }
                let arriving = way.arriving().and(keys);
                if holds_a_key(&arriving) {
                    let published = if way.renamed.is_some() { way.keys.clone() } else { arriving };
                    ways.push(way.dying(queue, published, None));
                }
            }
        };
        arrives("", &KeySet::literal(target));
        for path in paths(world, DestinationType::Queue, target, true) {
            if path.headers.is_empty() && dying.contains_key(path.from.name) {
                arrives(path.from.name, &path.keys);
            }
        }
        if !ways.is_empty() {
            found.insert(target, ways);
        }
    }
    found
}

/// The ways into all queues that dead-letter to one exchange and keep the keys, to be found by the keys that they bring.
struct Dying<'w, 'p, 'a> {
    /// Whatever the key.
    all: Vec<(&'w Queue<'a>, &'p Way<'w>)>,
    /// Those with certain keys: one that nobody need use, because any other would do, proves nothing about a certain one.
    certain: Vec<(&'w Queue<'a>, &'p Way<'w>)>,
    by_key: PatternTree<'w, usize>,
}

impl Default for Dying<'_, '_, '_> {
    fn default() -> Self {
        Self { all: Vec::new(), certain: Vec::new(), by_key: PatternTree::new() }
    }
}

impl<'w, 'p, 'a> Dying<'w, 'p, 'a> {
    fn add<I: Iterator<Item = &'p Way<'w>>>(&mut self, queue: &'w Queue<'a>, ways: impl Fn() -> I)
    where
        'w: 'p,
    {
        self.all.extend(ways().take(THROUGH_DEATHS).map(|way| (queue, way)));
        let is_certain = |way: &&Way<'_>| way.through != Through::AnyKey || way.renamed.is_some();
        for way in ways().filter(is_certain).take(THROUGH_DEATHS) {
            self.by_key.insert(way.arriving().pattern().iter().copied(), self.certain.len());
            self.certain.push((queue, way));
        }
    }

    /// Those that may bring one of these keys, in order.
    fn bringing(&self, keys: &KeySet<'w>) -> impl Iterator<Item = (&'w Queue<'a>, &'p Way<'w>)> {
        let (all, found) = match keys.is_any() {
            true => (self.all.as_slice(), BTreeSet::new()),
            false => (&[][..], self.by_key.meeting(keys.pattern())),
        };
        let found = found.into_iter().filter_map(|number| self.certain.get(number));
        all.iter().chain(found).copied()
    }
}
