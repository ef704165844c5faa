//! A set of bindings that finds those of one source at once.

use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::value::{Table, Value};
use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Bindings, each once.
///
/// A binding *is* its source, destination, routing key and arguments, the arguments sorted by key and compared with their
/// wire types (`rabbit_binding:sort_args`, all versions). Binding again changes nothing; the same key with other arguments
/// is a second binding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bindings {
    by_source: BTreeMap<String, BTreeSet<Identified>>,
    /// How many bindings end at each exchange; sources are keys of `by_source`.
    to_exchange: BTreeMap<String, usize>,
    len: usize,
}

impl Bindings {
    /// No bindings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a binding; `false` when it was there already.
    pub fn insert(&mut self, binding: BindingDeclaration) -> bool {
        let exchange = (binding.destination_type == DestinationType::Exchange).then(|| binding.destination.clone());
        let source = match self.by_source.get_mut(&binding.source) {
            Some(source) => source,
            None => self.by_source.entry(binding.source.clone()).or_default(),
        };
        let added = source.insert(Identified::new(binding));
        if added {
            self.len += 1;
            if let Some(exchange) = exchange {
                *self.to_exchange.entry(exchange).or_default() += 1;
            }
        }
        added
    }

    /// Takes a binding out; `false` when it was not there.
    pub fn remove(&mut self, binding: &BindingDeclaration) -> bool {
        let Entry::Occupied(mut source) = self.by_source.entry(binding.source.clone()) else {
            return false;
        };
        if !source.get_mut().remove(&Identified::new(binding.clone())) {
            return false;
        }
        if source.get().is_empty() {
            source.remove();
        }
        self.len = self.len.saturating_sub(1);
        if binding.destination_type == DestinationType::Exchange
            && let Entry::Occupied(mut count) = self.to_exchange.entry(binding.destination.clone())
        {
            *count.get_mut() = count.get().saturating_sub(1);
            if *count.get() == 0 {
                count.remove();
            }
        }
        true
    }

    /// Whether that very binding is there.
    pub fn contains(&self, binding: &BindingDeclaration) -> bool {
        self.by_source.get(&binding.source).is_some_and(|source| source.contains(&Identified::new(binding.clone())))
    }

    /// All of them, by source, destination type, destination, routing key and arguments.
    pub fn iter(&self) -> impl Iterator<Item = &BindingDeclaration> {
        self.by_source.values().flatten().map(|identified| &identified.binding)
    }

    /// Those of one source.
    pub fn from_source(&self, source: &str) -> impl Iterator<Item = &BindingDeclaration> {
        self.by_source.get(source).into_iter().flatten().map(|identified| &identified.binding)
    }

    /// Those from one source to one destination.
    pub fn between(
        &self,
        source: &str,
        kind: DestinationType,
        destination: &str,
    ) -> impl Iterator<Item = &BindingDeclaration> {
        // Bindings of one source are sorted by destination, and nothing sorts before an empty key without arguments.
        let first = Identified::new(BindingDeclaration {
            source: String::new(),
            destination: destination.to_owned(),
            destination_type: kind,
            routing_key: String::new(),
            arguments: Table::new(),
        });
        let from_first = self.by_source.get(source).map(|bindings| bindings.range(first.clone()..));
        from_first.into_iter().flatten().map(|identified| &identified.binding).take_while(move |binding| {
            binding.destination_type == kind && binding.destination == first.binding.destination
        })
    }

    /// All of them by what they lead to.
    pub fn by_destination(&self) -> BTreeMap<(DestinationType, &str), Vec<&BindingDeclaration>> {
        let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for binding in self.iter() {
            found.entry((binding.destination_type, binding.destination.as_str())).or_default().push(binding);
        }
        found
    }

    /// Whether some binding starts or ends at that exchange.
    pub fn names_exchange(&self, name: &str) -> bool {
        self.by_source.contains_key(name) || self.to_exchange.contains_key(name)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<BindingDeclaration> for Bindings {
    fn from_iter<I: IntoIterator<Item = BindingDeclaration>>(bindings: I) -> Self {
        let mut set = Self::new();
        set.extend(bindings);
        set
    }
}

impl Extend<BindingDeclaration> for Bindings {
    fn extend<I: IntoIterator<Item = BindingDeclaration>>(&mut self, bindings: I) {
        for binding in bindings {
            self.insert(binding);
        }
    }
}

/// A binding beside the text that stands for its arguments, so that bindings can be ordered. The source is the key of the
/// map that holds it and is not compared again.
#[derive(Debug, Clone)]
struct Identified {
    arguments: String,
    binding: BindingDeclaration,
}

impl Identified {
    fn new(binding: BindingDeclaration) -> Self {
        let arguments = if binding.arguments.is_empty() {
            String::new()
        } else {
            Value::Table(binding.arguments.clone()).to_json()
        };
        Self { arguments, binding }
    }

    fn key(&self) -> (DestinationType, &str, &str, &str) {
        (self.binding.destination_type, &self.binding.destination, &self.binding.routing_key, &self.arguments)
    }
}

impl PartialEq for Identified {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Identified {}

impl PartialOrd for Identified {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Identified {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Table;

    #[test]
    fn the_order_of_arguments_is_no_part_of_a_binding() {
        let base = BindingDeclaration::queue("e", "q", "k");
        let one = BindingDeclaration { arguments: Table::from([("a", 1), ("b", 2)]), ..base.clone() };
        let two = BindingDeclaration { arguments: Table::from([("b", 2), ("a", 1)]), ..base.clone() };
        let mut bindings = Bindings::new();
        assert!(bindings.insert(one));
        assert!(bindings.contains(&two));
        assert!(!bindings.insert(two));
        assert!(bindings.insert(base));
        assert_eq!(bindings.len(), 2);
    }

    #[test]
    fn an_exchange_is_named_until_its_last_binding_goes() {
        let one = BindingDeclaration::exchange("a", "b", "x");
        let two = BindingDeclaration::exchange("a", "b", "y");
        let mut bindings: Bindings = [one.clone(), two.clone()].into_iter().collect();
        assert!(bindings.names_exchange("a") && bindings.names_exchange("b"));
        assert!(bindings.remove(&one));
        assert!(!bindings.remove(&one));
        assert!(bindings.names_exchange("b"));
        assert!(bindings.remove(&two));
        assert!(!bindings.names_exchange("a") && !bindings.names_exchange("b"));
        assert_eq!(bindings, Bindings::new());
    }

    #[test]
    fn a_queue_of_the_same_name_is_no_exchange() {
        let bindings: Bindings = [BindingDeclaration::queue("a", "b", "x")].into_iter().collect();
        assert!(!bindings.names_exchange("b"));
        assert_eq!(bindings.from_source("a").count(), 1);
        assert_eq!(bindings.from_source("b").count(), 0);
        assert_eq!(bindings.by_destination().keys().copied().collect::<Vec<_>>(), [(DestinationType::Queue, "b")]);
    }
}
