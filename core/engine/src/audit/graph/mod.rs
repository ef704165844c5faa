//! A vhost as a picture: exchanges and queues as nodes, bindings, alternates, dead letters and retries as edges, findings on
//! the nodes.
//!
//! A dead letter is drawn from its queue to the exchange that it goes to, or straight to the queue where that is the default
//! exchange; from a queue where messages wait for their time to come back it is a *retry*. Many bindings between two nodes
//! are one edge. Where there are more nodes than a picture bears, nodes of one shape (same kind, same findings, same edges to
//! nodes of one shape) are drawn as one with their number.

mod keys;
mod layers;
mod layout;
mod page;
mod svg;
mod text;

use super::codes::Severity;
use super::finding::ObjectKind;
use super::world::{Given, World};
use super::{Options, Report, audit_of};
use crate::rabbitmq::DestinationType;
use crate::state::{State, predeclared_exchange};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// From how many nodes on those of one shape are drawn as one.
const CROWDED: usize = 60;
/// How many of one shape that takes.
const ALIKE: usize = 4;
/// How many keys an edge shows.
const KEYS: usize = 3;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// An exchange of that type.
    Exchange(String),
    /// A queue of that type.
    Queue(String),
    /// Something that is named and not there.
    Missing,
}

/// What an edge stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// Bindings.
    Binding,
    /// An alternate exchange.
    Alternate,
    /// Dead letters.
    DeadLetter,
    /// Dead letters of a queue where messages wait.
    Retry,
}

/// One thing, or several of one shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Whether it is a queue, also where it is missing.
    pub is_queue: bool,
    /// Their names, sorted.
    pub names: Vec<String>,
    /// The worst finding.
    pub severity: Option<Severity>,
    /// What was found, each sentence once.
    pub findings: Vec<String>,
}

/// A way from one node to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Number of the node that it leaves.
    pub from: usize,
    /// Number of the node that it reaches.
    pub to: usize,
    /// What it stands for.
    pub kind: EdgeKind,
    /// The keys, at most a few.
    pub label: String,
}

/// A picture of a vhost.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    title: String,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    report: Report,
}

/// Pictures of several vhosts as one. What links vhosts (shovels, federation) is drawn in none of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Atlas {
    graphs: Vec<Graph>,
}

impl Atlas {
    /// The pictures, in that order; a vhost that holds nothing to draw has none.
    pub fn new(graphs: impl IntoIterator<Item = Graph>) -> Self {
        Self { graphs: graphs.into_iter().filter(|graph| !graph.nodes.is_empty()).collect() }
    }
}

/// How a node is found.
type Key = (bool, String);

#[derive(Default)]
struct Builder {
    numbers: BTreeMap<Key, usize>,
    nodes: Vec<Node>,
    edges: BTreeMap<(usize, usize, EdgeKind), Vec<String>>,
}

/// Draws a vhost; `all` draws every node, however many there are.
pub fn graph(state: &State, options: &Options, all: bool) -> Graph {
    let state = super::with_known_policies(state);
    let world = World::new(&state);
    let report = audit_of(&world, options);
    let mut builder = Builder::default();
    builder.nodes_of(&world);
    builder.edges_of(&world);
    builder.mark(&report);
    let title = format!("vhost {} on {}", state.vhost, state.broker);
    let (nodes, edges) = builder.finish();
    let (nodes, edges) = if all || nodes.len() <= CROWDED { (nodes, edges) } else { merged(nodes, edges) };
    let edges = edges
        .into_iter()
        .map(|((from, to, kind), mut keys)| {
            keys.sort_unstable();
            keys.dedup();
            let more = keys.len().saturating_sub(KEYS);
            keys.truncate(KEYS);
            if more > 0 {
                keys.push(format!("+{more}"));
            }
            Edge { from, to, kind, label: keys.join(", ") }
        })
        .collect();
    Graph { title, nodes, edges, report }
}

impl Graph {
    /// Its nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Its edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }
}

impl Node {
    /// One line for it: its name, or how many there are and what their names have in common.
    pub fn label(&self) -> String {
        match self.names.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, rest @ ..] => {
                let (mut start, mut end) = (first.chars().count(), first.chars().count());
                for other in rest {
                    start = start.min(first.chars().zip(other.chars()).take_while(|(a, b)| a == b).count());
                    end = end.min(first.chars().rev().zip(other.chars().rev()).take_while(|(a, b)| a == b).count());
                }
                let length = first.chars().count();
                let end = end.min(length.saturating_sub(start));
                let prefix: String = first.chars().take(start).collect();
                let suffix: String = first.chars().skip(length.saturating_sub(end)).collect();
                if prefix.is_empty() && suffix.is_empty() {
                    let last = rest.last().unwrap_or(first);
                    return format!("{} × {first} … {last}", self.names.len());
                }
                format!("{} × {prefix}…{suffix}", self.names.len())
            }
        }
    }

    /// The word for what it is.
    pub fn kind_name(&self) -> &str {
        match &self.kind {
            NodeKind::Exchange(kind) | NodeKind::Queue(kind) => kind,
            NodeKind::Missing => "missing",
        }
    }
}

impl Builder {
    fn node(&mut self, is_queue: bool, name: &str, kind: NodeKind) -> usize {
        let fresh = self.nodes.len();
        let number = *self.numbers.entry((is_queue, name.to_owned())).or_insert(fresh);
        if number == fresh {
            self.nodes.push(Node {
                kind,
                is_queue,
                names: vec![name.to_owned()],
                severity: None,
                findings: Vec::new(),
            });
        }
        number
    }

    fn nodes_of(&mut self, world: &World<'_>) {
        let named: BTreeSet<&str> = world
            .queues
            .values()
            .filter_map(|queue| Some(queue.dead_letters()?.exchange.as_str()))
            .chain(world.exchanges.values().filter_map(|exchange| match &exchange.alternate {
                Given::Value(name) => Some(name.as_str()),
                Given::Nothing | Given::Undecided => None,
            }))
            .collect();
        for exchange in world.exchanges.values().filter(|exchange| !exchange.name.is_empty()) {
            let unused = exchange.outgoing.is_empty() && !named.contains(exchange.name);
            if predeclared_exchange(exchange.name).is_none() || !unused {
                self.node(false, exchange.name, NodeKind::Exchange(exchange.kind_name.to_owned()));
            }
        }
        for queue in world.queues.values() {
            let mut kind = queue.kind.map_or("plugin", |kind| kind.name()).to_owned();
            if let Some(ttl) = queue.number("message-ttl") {
                kind.push_str(&format!(", {ttl} ms"));
            }
            self.node(true, queue.name, NodeKind::Queue(kind));
        }
    }

    fn edges_of(&mut self, world: &World<'_>) {
        for exchange in world.exchanges.values() {
            for binding in &exchange.outgoing {
                let is_queue = binding.destination_type == DestinationType::Queue;
                let from = self.node(false, exchange.name, NodeKind::Missing);
                let to = self.node(is_queue, &binding.destination, NodeKind::Missing);
                let label = if binding.arguments.is_empty() {
                    binding.routing_key.clone()
                } else {
                    let arguments = crate::topology::describe_binding_arguments(&binding.arguments);
                    format!("{} {arguments}", binding.routing_key).trim_start().to_owned()
                };
                self.edges.entry((from, to, EdgeKind::Binding)).or_default().push(label);
            }
            if let Given::Value(alternate) = &exchange.alternate {
                let from = self.node(false, exchange.name, NodeKind::Missing);
                let to = self.node(false, alternate, NodeKind::Missing);
                self.edges.entry((from, to, EdgeKind::Alternate)).or_default().push("otherwise".to_owned());
            }
        }
        for queue in world.queues.values() {
            let Some(dead) = queue.dead_letters() else { continue };
            let kind = if queue.expires_messages() { EdgeKind::Retry } else { EdgeKind::DeadLetter };
            let from = self.node(true, queue.name, NodeKind::Missing);
            let (is_queue, target) = match (&dead.key, dead.exchange.as_str()) {
                (Some(key), "") => (true, key.as_str()),
                (_, exchange) => (false, exchange),
            };
            let to = match target {
                "" => self.node(false, "(default exchange)", NodeKind::Exchange("direct".to_owned())),
                name => self.node(is_queue, name, NodeKind::Missing),
            };
            let label = if is_queue { String::new() } else { dead.key.clone().unwrap_or_default() };
            self.edges.entry((from, to, kind)).or_default().push(label);
        }
    }

    /// Puts findings on the nodes that they are about; those about bindings on their source.
    fn mark(&mut self, report: &Report) {
        for finding in &report.findings {
            let name = finding.object.name.as_str();
            let key = match finding.object.kind {
                ObjectKind::Queue => (true, name.to_owned()),
                ObjectKind::Exchange => (false, name.to_owned()),
                ObjectKind::Binding => (false, name.split(" -> ").next().unwrap_or(name).to_owned()),
                ObjectKind::Policy | ObjectKind::OperatorPolicy | ObjectKind::Parameter | ObjectKind::Suppression => {
                    continue;
                }
            };
            let Some(node) = self.numbers.get(&key).and_then(|number| self.nodes.get_mut(*number)) else { continue };
            node.severity = node.severity.max(Some(finding.severity));
            node.findings.push(format!("{}: {} [{}]", finding.severity, finding.message, finding.code));
        }
    }

    fn finish(self) -> (Vec<Node>, Edges) {
        (self.nodes, self.edges)
    }
}

/// A text as it is drawn, at most so many cells wide: of a longer one the beginning and the end, where names differ. What
/// nobody sees or what turns the direction of text is written out.
fn shorten(text: &str, longest: i64) -> Cow<'_, str> {
    let hidden = |c: char| c.is_control() || turns(c);
    let text = if text.contains(hidden) {
        let visible = text.chars().map(|c| if hidden(c) { c.escape_unicode().to_string() } else { c.to_string() });
        Cow::Owned(visible.collect())
    } else {
        Cow::Borrowed(text)
    };
    if cells(&text) <= longest {
        return text;
    }
    let within = |room: i64| {
        let mut room = room;
        move |c: &char| {
            room -= cell(*c);
            room >= 0
        }
    };
    let end_room = longest * 2 / 5;
    let start: String = text.chars().take_while(within(longest - end_room - 1)).collect();
    let end: Vec<char> = text.chars().rev().take_while(within(end_room)).collect();
    Cow::Owned(start.chars().chain(['…']).chain(end.into_iter().rev()).collect())
}

/// How wide a text is in cells of a plain letter.
fn cells(text: &str) -> i64 {
    text.chars().map(cell).sum()
}

/// Wide letters and scripts take two.
const fn cell(c: char) -> i64 {
    let wide_script = c >= '\u{1100}' && !matches!(c, '\u{2000}'..='\u{2e7f}');
    if wide_script || matches!(c, 'W' | 'M' | 'm' | 'w' | '@' | '%') { 2 } else { 1 }
}

/// Whether a character is one that Unicode has for turning the direction of text.
const fn turns(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

type Edges = BTreeMap<(usize, usize, EdgeKind), Vec<String>>;

/// Nodes of one shape as one: the classes are split by the classes of their neighbours until three rounds are over.
fn merged(nodes: Vec<Node>, edges: Edges) -> (Vec<Node>, Edges) {
    const ROUNDS: usize = 3;
    let codes = |node: &Node| -> Vec<String> {
        let codes =
            node.findings.iter().filter_map(|finding| finding.rsplit_once(" [").map(|(_, code)| code.to_owned()));
        codes.collect()
    };
    let first = nodes.iter().map(|node| (node.kind.clone(), node.is_queue, node.severity, codes(node)));
    let mut classes = numbered(first);
    for _ in 0..ROUNDS {
        let mut around: Vec<BTreeSet<(bool, EdgeKind, usize)>> = vec![BTreeSet::new(); nodes.len()];
        for (from, to, kind) in edges.keys() {
            let (of_from, of_to) = (class(&classes, *from), class(&classes, *to));
            if let Some(around) = around.get_mut(*from) {
                around.insert((true, *kind, of_to));
            }
            if let Some(around) = around.get_mut(*to) {
                around.insert((false, *kind, of_from));
            }
        }
        classes = numbered(classes.iter().copied().zip(around));
    }
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for class in &classes {
        *sizes.entry(*class).or_default() += 1;
    }
    // A class of few keeps its members apart.
    let mut numbers: BTreeMap<(usize, Option<usize>), usize> = BTreeMap::new();
    let mut kept: Vec<Node> = Vec::new();
    let mut place = Vec::with_capacity(nodes.len());
    for (number, node) in nodes.into_iter().enumerate() {
        let class = class(&classes, number);
        let apart = (sizes.get(&class).copied().unwrap_or(0) < ALIKE).then_some(number);
        let fresh = kept.len();
        let at = *numbers.entry((class, apart)).or_insert(fresh);
        place.push(at);
        match kept.get_mut(at) {
            Some(group) => {
                group.names.extend(node.names);
                group.findings.extend(node.findings);
            }
            None => kept.push(node),
        }
    }
    let mut joined = Edges::new();
    for ((from, to, kind), keys) in edges {
        let (from, to) = (class(&place, from), class(&place, to));
        joined.entry((from, to, kind)).or_default().extend(keys);
    }
    (kept, joined)
}

fn class(classes: &[usize], node: usize) -> usize {
    classes.get(node).copied().unwrap_or(usize::MAX)
}

/// A number for each value, equal ones alike, in the order in which they come.
fn numbered<T: Ord>(values: impl Iterator<Item = T>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    values
        .map(|value| {
            let fresh = numbers.len();
            *numbers.entry(value).or_insert(fresh)
        })
        .collect()
}

#[cfg(test)]
mod tests;
