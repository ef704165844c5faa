//! Where an export declares each object of a vhost.

use super::document::{Definitions, Item};
use crate::topology::{DeclaredAt, Position, describe_binding};
use std::collections::BTreeMap;

impl Definitions {
    /// The places of a vhost's objects; none where the choice of the vhost is not clear.
    pub fn declared_at(&self, vhost: Option<&str>) -> DeclaredAt {
        let Some(contents) = self.contents_of(vhost) else { return DeclaredAt::default() };
        DeclaredAt {
            exchanges: self.by_name(&contents.exchanges, |exchange| exchange.name.clone()),
            queues: self.by_name(&contents.queues, |queue| queue.name.clone()),
            policies: self.by_name(&contents.policies, |policy| policy.name.clone()),
            operator_policies: self.by_name(&contents.operator_policies, |policy| policy.name.clone()),
            parameters: self.by_name(&contents.parameters, |parameter| parameter.name.clone()),
            bindings: self.by_name(&contents.bindings, describe_binding),
            suppressions: Vec::new(),
        }
    }

    fn by_name<T>(&self, items: &[Item<T>], name: impl Fn(&T) -> String) -> BTreeMap<String, Position> {
        let mut sorted: Vec<&Item<T>> = items.iter().collect();
        sorted.sort_by_key(|item| item.span.start);
        let mut cursor = self.places();
        let mut places = BTreeMap::new();
        for item in sorted {
            places.entry(name(&item.value)).or_insert(cursor.advance(item.span.start));
        }
        places
    }
}
