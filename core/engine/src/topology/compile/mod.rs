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

pub(super) use exchanges::shared;
pub(super) use queues::dead_letter_half;

use super::finding::{Findings, Place};
use super::problem::{ObjectRef, Problem, ProblemCode};
use super::tables::Tables;
use super::wish::Wishes;
use crate::value::Table;
use exchanges::Exchanges;
use policies::Policies;
use queues::Queues;

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
    let bindings = bindings::read(wishes.bindings, &mut queues, &mut exchanges, &mut findings);
    let tables = Tables {
        exchanges: exchanges.declared,
        external: exchanges.external,
        policies: policies.declared,
        queues: queues.declared,
        bindings,
    };
    (tables, findings)
}

/// The most entries of one table. A declaration travels in a single frame, 128 KiB by default, so no queue can have more.
const MAX_ENTRIES: usize = 1_000;

/// Whether a table has more entries than any declaration; reports it, and nothing else about the table need be.
fn table_too_large(
    table: &Table,
    object: impl Fn() -> ObjectRef,
    name: impl Fn() -> String,
    place: &Place,
    findings: &mut Findings,
) -> bool {
    let too_large = table.len() > MAX_ENTRIES;
    if too_large {
        let sentence = format!(
            "{} has a table of {} entries, and one frame of AMQP has room for {MAX_ENTRIES}",
            name(),
            table.len()
        );
        let problem = Problem::new(ProblemCode::TableTooLarge, object(), sentence)
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
    object: &ObjectRef,
    name: &str,
    place: &Place,
    findings: &mut Findings,
) -> bool {
    if let (Some(durable), Some(transient)) = (durable, transient)
        && durable == transient
    {
        let sentence = format!("{name} has durable: {durable} and transient: {transient}");
        let problem = Problem::new(ProblemCode::DurableConflict, object.clone(), sentence)
            .help("Keep one of the two keys: transient is the opposite of durable.");
        findings.push(place.clone().at("transient"), problem);
        return true;
    }
    durable.unwrap_or(true) && !transient.unwrap_or(false)
}
