//! An exchange as the audit looks at it: how it decides, and what its bindings lead to, by key.

use super::patterns::PatternTree;
use super::world::Given;
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::value::Table;
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// How an exchange decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    Fanout,
    Topic,
    Headers,
    /// By a plugin's rules, or by ones that are not known.
    Opaque,
}

/// Where a binding leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End<'a> {
    Queue(&'a str),
    Exchange(&'a str),
}

/// An exchange with both sides of its bindings.
#[derive(Debug)]
pub(super) struct Exchange<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Kind,
    pub(super) kind_name: &'a str,
    pub(super) internal: bool,
    pub(super) alternate: Given<String>,
    pub(super) arguments: Option<&'a Table>,
    pub(super) outgoing: Vec<&'a BindingDeclaration>,
    /// The exchanges among the ends of its bindings.
    pub(super) chained: BTreeSet<&'a str>,
    pub(super) table: OnceCell<ExchangeTable<'a>>,
    pub(super) takes_all: OnceCell<bool>,
    takes_one: OnceCell<Option<&'a BindingDeclaration>>,
}

/// What an exchange's bindings lead to, by key.
#[derive(Debug)]
pub(super) struct ExchangeTable<'a> {
    /// Whatever the key.
    pub(super) always: Vec<End<'a>>,
    /// Perhaps: it depends on headers, or on a plugin.
    pub(super) perhaps: Vec<(End<'a>, Option<&'a BindingDeclaration>)>,
    pub(super) by_key: PatternTree<'a, End<'a>>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        name: &'a str,
        kind_name: &'a str,
        internal: bool,
        alternate: Given<String>,
        arguments: Option<&'a Table>,
    ) -> Self {
        let kind = match kind_name {
            "direct" => Kind::Direct,
            "fanout" => Kind::Fanout,
            "topic" => Kind::Topic,
            "headers" => Kind::Headers,
            _ => Kind::Opaque,
        };
        Self {
            name,
            kind,
            kind_name,
            internal,
            alternate,
            arguments,
            outgoing: Vec::new(),
            chained: BTreeSet::new(),
            table: OnceCell::new(),
            takes_all: OnceCell::new(),
            takes_one: OnceCell::new(),
        }
    }
}

impl Exchange<'_> {
    /// Whether its type is known; of an exchange that an export leaves out only bindings are.
    pub(super) fn is_known(&self) -> bool {
        !self.kind_name.is_empty()
    }

    /// A key that a queue is bound with, and the queue: what a dead letter can be given to get there.
    pub(super) fn takes_one(&self) -> Option<(&str, &str)> {
        let found = self.takes_one.get_or_init(|| {
            let by_key = matches!(self.kind, Kind::Direct | Kind::Topic);
            self.outgoing.iter().copied().find(|binding| {
                by_key
                    && binding.destination_type == DestinationType::Queue
                    && !binding.routing_key.contains(['*', '#'])
            })
        });
        found.map(|binding| (binding.routing_key.as_str(), binding.destination.as_str()))
    }
}
