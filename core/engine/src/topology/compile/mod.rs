//! From wishes to tables: every rule that does not depend on a broker.
//!
//! Nothing stops at the first problem. What cannot be derived is left out, so that one mistake is reported once.

mod arguments;
mod bindings;
mod exchanges;
mod policies;
mod queues;
mod retries;
mod settings;
mod suppressions;

pub(super) use exchanges::shared;
pub(super) use queues::dead_letter_half;

use super::finding::{Findings, Place, Subject};
use super::problem::{Problem, ProblemCode};
use super::tables::Tables;
use super::wish::Wishes;
use crate::value::Table;
use exchanges::Exchanges;
use policies::Policies;
use queues::Queues;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// The tables of `wishes`, complete when no finding is an error.
pub(super) fn compile(mut wishes: Wishes) -> (Tables, Findings) {
    let mut findings = Findings::default();
    settings::apply(&mut wishes, &mut findings);
    let mut exchanges = Exchanges::read(wishes.exchanges, &mut findings);
    let policies = Policies::read(wishes.policies, &mut findings);
    let mut queues = Queues::read(wishes.queues, &mut exchanges, &mut findings);
    exchanges.warn(&mut findings);
    policies.warn(&exchanges, &mut findings);
    queues.warn(&exchanges, &mut findings);
    let derived = std::mem::take(&mut queues.bindings);
    let bindings = bindings::read(wishes.bindings, derived, &queues.names(), &mut exchanges, &mut findings);
    let suppressions = suppressions::read(wishes.suppressions, &mut findings);
    let tables = Tables {
        exchanges: exchanges.declared,
        external: exchanges.external,
        policies: policies.declared,
        queues: queues.declared,
        bindings,
        suppressions,
    };
    (tables, findings)
}

/// The most entries of one table. A declaration travels in a single frame, 128 KiB by default, so no queue can have more.
const MAX_ENTRIES: usize = 1_000;

/// Whether a table has more entries than any declaration; reports it, and nothing else about the table need be.
fn table_too_large(table: &Table, subject: Subject<'_>, place: &Place, findings: &mut Findings) -> bool {
    let too_large = table.len() > MAX_ENTRIES;
    if too_large {
        let sentence = format!(
            "{subject} has a table of {} entries, and one frame of AMQP has room for {MAX_ENTRIES}",
            table.len()
        );
        let problem = Problem::new(ProblemCode::TableTooLarge, subject.object(), sentence)
            .field("entries", table.len())
            .field("limit", MAX_ENTRIES)
            .help("Take entries out.");
        findings.push(place.clone(), problem);
    }
    too_large
}

/// Durable unless something else is said; saying both is a problem.
fn durable(
    durable: Option<bool>,
    transient: Option<bool>,
    subject: Subject<'_>,
    place: &Place,
    findings: &mut Findings,
) -> bool {
    if let (Some(durable), Some(transient)) = (durable, transient)
        && durable == transient
    {
        let sentence = format!("{subject} has durable: {durable} and transient: {transient}");
        let problem = Problem::new(ProblemCode::DurableConflict, subject.object(), sentence)
            .help("Keep one of the two keys: transient is the opposite of durable.");
        findings.push(place.clone().at("transient"), problem);
        return true;
    }
    durable.unwrap_or(true) && !transient.unwrap_or(false)
}

/// The entries whose key stood before: each with the place of the first one.
fn repeats<K: Eq + Hash>(keys: impl ExactSizeIterator<Item = K>) -> Vec<(usize, usize)> {
    let mut firsts = HashMap::with_capacity(keys.len());
    let mut repeats = Vec::new();
    for (index, key) in keys.enumerate() {
        match firsts.entry(key) {
            Entry::Vacant(slot) => {
                slot.insert(index);
            }
            Entry::Occupied(first) => repeats.push((index, *first.get())),
        }
    }
    repeats
}

/// Takes the repeated entries out.
fn drop_repeats<T>(list: &mut Vec<T>, repeats: &[(usize, usize)]) {
    let mut repeated = repeats.iter().map(|(index, _)| *index).peekable();
    let mut index = 0;
    list.retain(|_| {
        let repeat = repeated.next_if_eq(&index).is_some();
        index += 1;
        !repeat
    });
}
