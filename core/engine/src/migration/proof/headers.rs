//! Which headers a set of bindings of headers exchanges cannot tell apart.
//!
//! A message's headers matter to a binding only by which of its criteria they fulfil. For each header name the values that
//! bindings ask for, another value and no value at all stand for every value there can be; name by name, combinations that
//! leave every binding in the same position are one.

use crate::rabbitmq::Version;
use crate::routing::{HeadersMatch, criteria};
use crate::value::{Table, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Why the classes are not known.
pub(super) enum Unclear {
    /// More than the limit.
    TooMany,
    /// A binding asks for a value that nothing known fulfils.
    NeverFulfilled { header: String },
}

/// A value that nobody asks for.
const OTHER: &str = "another value";

/// One set of headers for each class, the fewest headers first.
pub(super) fn header_classes(version: Version, bindings: &[&Table], limit: usize) -> Result<Vec<Table>, Unclear> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for arguments in bindings {
        let kind = HeadersMatch::of(arguments);
        names.extend(arguments.iter().map(|(name, _)| name).filter(|name| kind.considers(name)));
    }
    // For each binding whether it can still match (all) or matches already (any).
    let start: Vec<bool> = bindings.iter().map(|arguments| !HeadersMatch::of(arguments).is_any()).collect();
    let mut open: BTreeMap<Vec<bool>, Table> = BTreeMap::from([(start, Table::new())]);
    for name in names {
        let effects = effects(version, bindings, name)?;
        let mut next: BTreeMap<Vec<bool>, Table> = BTreeMap::new();
        for (stands, headers) in &open {
            for (effect, value) in &effects {
                let stands = stands.iter().zip(effect).map(|(stands, effect)| effect.unwrap_or(*stands)).collect();
                let mut headers = headers.clone();
                if let Some(value) = value {
                    headers.insert(name, value.clone());
                }
                let shorter = next.get(&stands).is_none_or(|known: &Table| known.len() > headers.len());
                if shorter {
                    next.insert(stands, headers);
                }
            }
            if next.len() > limit {
                return Err(Unclear::TooMany);
            }
        }
        open = next;
    }
    let mut classes: Vec<Table> = open.into_values().collect();
    classes.sort_by_key(Table::len);
    Ok(classes)
}

/// What a header does to each binding: `Some(false)` rules an `all` out, `Some(true)` satisfies an `any`.
type Effect = Vec<Option<bool>>;

/// The ways in which a header of that name can matter, each with a value for it; `None` is no such header.
fn effects(version: Version, bindings: &[&Table], name: &str) -> Result<Vec<(Effect, Option<Value>)>, Unclear> {
    let wanted: Vec<&Value> = bindings.iter().filter_map(|arguments| arguments.get(name)).collect();
    let mut candidates: Vec<Option<Value>> = vec![None, Some(Value::text(OTHER))];
    for value in &wanted {
        candidates.push(Some((*value).clone()));
        // A time stamp in a binding is compared as its number; one in a message may count in milliseconds.
        if let Value::Timestamp(seconds) = value {
            candidates.push(i64::try_from(*seconds).ok().map(Value::I64));
        }
    }
    let mut found: Vec<(Effect, Option<Value>)> = Vec::new();
    let mut fulfilled_once: BTreeSet<usize> = BTreeSet::new();
    for candidate in candidates {
        let mut headers = Table::new();
        if let Some(value) = &candidate {
            headers.insert(name, value.clone());
        }
        let mut effect = Effect::new();
        for (at, arguments) in bindings.iter().enumerate() {
            let criterion = criteria(version, arguments, &headers).find(|criterion| criterion.name == name);
            let is_any = HeadersMatch::of(arguments).is_any();
            effect.push(criterion.and_then(|criterion| {
                if criterion.fulfilled {
                    fulfilled_once.insert(at);
                }
                (criterion.fulfilled == is_any).then_some(is_any)
            }));
        }
        if !found.iter().any(|(known, _)| *known == effect) {
            found.push((effect, candidate));
        }
    }
    let considered = |arguments: &Table| HeadersMatch::of(arguments).considers(name) && arguments.contains(name);
    let never =
        (bindings.iter().enumerate()).any(|(at, arguments)| considered(arguments) && !fulfilled_once.contains(&at));
    if never { Err(Unclear::NeverFulfilled { header: name.to_owned() }) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::headers_match;
    use proptest::prelude::*;

    const VERSION: Version = Version::new(4, 0, 5);

    fn fits(bindings: &[&Table], headers: &Table) -> Vec<bool> {
        bindings.iter().map(|arguments| headers_match(VERSION, arguments, headers)).collect()
    }

    fn classes(bindings: &[&Table]) -> Vec<Table> {
        header_classes(VERSION, bindings, 10_000).unwrap_or_default()
    }

    #[test]
    fn all_and_any_are_told_apart_by_every_combination() {
        let all = Table::from([("x-match", Value::text("all")), ("a", 1.into()), ("b", 2.into())]);
        let any = Table::from([("x-match", Value::text("any")), ("a", 1.into()), ("b", 3.into())]);
        let found: BTreeSet<Vec<bool>> =
            classes(&[&all, &any]).iter().map(|headers| fits(&[&all, &any], headers)).collect();
        // a=1, b=2 fits both; a=1 only `any`; nothing fits neither. `all` needs a=1, which satisfies `any`.
        assert_eq!(found, BTreeSet::from([vec![true, true], vec![false, true], vec![false, false]]));
    }

    fn binding() -> impl Strategy<Value = Table> {
        let value = proptest::sample::select(vec![Value::I64(1), Value::text("1"), Value::F64(1.5), Value::Void]);
        let entry = (proptest::sample::select(vec!["a", "b", "x-c"]), value);
        let kind = proptest::sample::select(vec!["all", "any", "all-with-x", "any-with-x"]);
        (kind, proptest::collection::vec(entry, 0..3)).prop_map(|(kind, entries)| {
            let mut table = Table::from([("x-match", Value::text(kind))]);
            for (name, value) in entries {
                table.insert(name, value);
            }
            table
        })
    }

    proptest! {
        #[test]
        fn any_headers_match_as_those_of_some_class(
            bindings in proptest::collection::vec(binding(), 1..4),
            headers in proptest::collection::vec((proptest::sample::select(vec!["a", "b", "x-c", "d"]), 0i64..3), 0..4),
        ) {
            let bindings: Vec<&Table> = bindings.iter().collect();
            let mut table = Table::new();
            for (name, value) in headers {
                table.insert(name, value);
            }
            let wanted = fits(&bindings, &table);
            prop_assert!(classes(&bindings).iter().any(|class| fits(&bindings, class) == wanted));
        }
    }
}
