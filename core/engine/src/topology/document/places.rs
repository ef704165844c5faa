//! Where a file declares each of its objects, for whoever speaks of one later.

use super::super::problem::Position;
use super::tree::{Kind, Node};
use super::{Format, text_of, tree_of};
use crate::rabbitmq::BindingDeclaration;
use crate::topology::{Tables, describe_binding};
use std::collections::BTreeMap;

/// The places of the objects that a file declares, by name. Of equal names it is the first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredAt {
    /// Exchanges.
    pub exchanges: BTreeMap<String, Position>,
    /// Queues.
    pub queues: BTreeMap<String, Position>,
    /// Policies.
    pub policies: BTreeMap<String, Position>,
    /// Operator policies, which only definitions hold.
    pub operator_policies: BTreeMap<String, Position>,
    /// Shovels, federation upstreams and the like, which only definitions hold.
    pub parameters: BTreeMap<String, Position>,
    /// Bindings, by what [`describe_binding`] says of them.
    pub bindings: BTreeMap<String, Position>,
    /// Suppressions, in the order of the document.
    pub suppressions: Vec<Position>,
}

impl DeclaredAt {
    /// Reads them from the text of a topology document; `None` when it is none.
    ///
    /// ```
    /// use acemq_core::topology::{DeclaredAt, Format};
    ///
    /// let places = DeclaredAt::of_document(b"queues:\n  orders: {}\n", Format::Yaml).unwrap();
    /// assert_eq!(places.queues["orders"].to_string(), "line 2, column 3");
    /// ```
    pub fn of_document(bytes: &[u8], format: Format) -> Option<Self> {
        let text = text_of(bytes).ok()?;
        let root = tree_of(text, format.settled(text)).ok()?;
        let named = |section: &str| -> BTreeMap<String, Position> {
            let mut places = BTreeMap::new();
            match root.get(section).map(|node| &node.kind) {
                Some(Kind::Mapping(entries)) => {
                    places.extend(entries.iter().rev().map(|entry| (entry.key.clone(), entry.key_at)));
                }
                Some(Kind::List(items)) => places.extend(items.iter().rev().map(|item| (word(item, "name"), item.at))),
                _ => {}
            }
            places
        };
        let mut bindings = BTreeMap::new();
        if let Some(Kind::List(items)) = root.get("bindings").map(|node| &node.kind) {
            for item in items {
                let (exchange, key) = (word(item, "exchange"), word(item, "routing_key"));
                let binding = match item.get("to_exchange") {
                    Some(_) => BindingDeclaration::exchange(exchange, word(item, "to_exchange"), key),
                    None => BindingDeclaration::queue(exchange, word(item, "queue"), key),
                };
                bindings.entry(describe_binding(&binding)).or_insert(item.at);
            }
        }
        let suppressions = match root.get("suppress").map(|node| &node.kind) {
            Some(Kind::List(items)) => items.iter().map(|item| item.at).collect(),
            _ => Vec::new(),
        };
        Some(Self {
            exchanges: named("exchanges"),
            queues: named("queues"),
            policies: named("policies"),
            operator_policies: BTreeMap::new(),
            parameters: BTreeMap::new(),
            bindings,
            suppressions,
        })
    }

    /// Gives what follows from a queue (its dead-letter and retry queues, their bindings, the shared exchanges) that queue's
    /// place.
    #[must_use]
    pub fn with_derived(mut self, tables: &Tables) -> Self {
        for queue in &tables.queues {
            let source = queue.derived_from.as_ref().and_then(|source| self.queues.get(source).copied());
            if let Some(at) = source {
                self.queues.entry(queue.declaration.name.clone()).or_insert(at);
            }
        }
        for binding in tables.bindings.iter().filter(|binding| binding.derived) {
            let declaration = &binding.declaration;
            if let Some(at) = self.queues.get(&declaration.destination).copied() {
                self.bindings.entry(describe_binding(declaration)).or_insert(at);
                self.exchanges.entry(declaration.source.clone()).or_insert(at);
            }
        }
        self
    }
}

/// The text under a key; a number that stands for a text as it is written.
fn word(node: &Node, key: &str) -> String {
    match node.get(key).map(|node| &node.kind) {
        Some(Kind::Text(text)) => text.clone(),
        Some(Kind::Number { written, .. }) => written.clone(),
        Some(Kind::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    }
}
