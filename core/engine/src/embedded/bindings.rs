//! The bindings of the vhost, found from either end.

use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::state::Bindings;
use std::collections::BTreeMap;

type Destination = (DestinationType, String);

/// Bindings by source, and for each destination the sources that lead to it.
#[derive(Debug, Clone, Default)]
pub(super) struct BindingTable {
    bindings: Bindings,
    sources: BTreeMap<Destination, BTreeMap<String, usize>>,
}

impl BindingTable {
    pub(super) fn all(&self) -> &Bindings {
        &self.bindings
    }

    pub(super) fn insert(&mut self, binding: BindingDeclaration) {
        let (destination, source) = (destination(&binding), binding.source.clone());
        if self.bindings.insert(binding) {
            *self.sources.entry(destination).or_default().entry(source).or_default() += 1;
        }
    }

    /// Takes a binding out; `false` when it was not there.
    pub(super) fn remove(&mut self, binding: &BindingDeclaration) -> bool {
        if !self.bindings.remove(binding) {
            return false;
        }
        let destination = destination(binding);
        if let Some(sources) = self.sources.get_mut(&destination) {
            if let Some(count) = sources.get_mut(&binding.source) {
                *count = count.saturating_sub(1);
            }
            sources.retain(|_, count| *count > 0);
            if sources.is_empty() {
                self.sources.remove(&destination);
            }
        }
        true
    }

    /// Whether some binding starts at that exchange.
    pub(super) fn is_source(&self, exchange: &str) -> bool {
        self.bindings.from_source(exchange).next().is_some()
    }

    /// Takes out every binding that leads to that queue or exchange, and gives the exchanges that they came from.
    pub(super) fn remove_destination(&mut self, kind: DestinationType, name: &str) -> Vec<String> {
        let sources = self.sources.remove(&(kind, name.to_owned())).unwrap_or_default();
        for source in sources.keys() {
            let lost: Vec<BindingDeclaration> = self
                .bindings
                .from_source(source)
                .filter(|binding| binding.destination_type == kind && binding.destination == name)
                .cloned()
                .collect();
            for binding in &lost {
                self.bindings.remove(binding);
            }
        }
        sources.into_keys().collect()
    }

    /// Takes out every binding that starts at that exchange.
    pub(super) fn remove_source(&mut self, exchange: &str) {
        let lost: Vec<BindingDeclaration> = self.bindings.from_source(exchange).cloned().collect();
        for binding in &lost {
            self.remove(binding);
        }
    }
}

fn destination(binding: &BindingDeclaration) -> Destination {
    (binding.destination_type, binding.destination.clone())
}
