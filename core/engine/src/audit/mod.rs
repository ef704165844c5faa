//! Find the message that will be lost: everything that is wrong with a vhost, each finding with the message that shows it.
//!
//! The audit reads a [`State`] (from a definitions file, a topology document, a live broker) and claims only what follows
//! from it. Its centre is a proof. The routing keys that can reach a queue are a regular language over words: the binding
//! patterns, the chains of exchanges behind them, the keys that other queues' deaths give, the queue's own name. What its
//! dead-letter exchange takes is another one. Whether the first is contained in the second is decided by following all keys
//! at once; if not, the answer is the shortest key that dies and is lost. Past a stated bound the answer is "not proven".
//!
//! ```
//! use acemq_core::audit::{Code, Options, audit};
//! use acemq_core::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, QueueDeclaration, Version};
//! use acemq_core::state::State;
//!
//! let mut state = State::empty(Broker::rabbitmq(Version::new(4, 0, 5)), "/");
//! state.insert_exchange(ExchangeDeclaration::durable("events", "topic"));
//! state.insert_exchange(ExchangeDeclaration::durable("dead", "direct"));
//! state.insert_queue(QueueDeclaration::durable("orders").with("x-dead-letter-exchange", "dead"));
//! state.insert_queue(QueueDeclaration::durable("orders.dlq"));
//! state.bindings.insert(BindingDeclaration::queue("events", "orders", "order.*"));
//! state.bindings.insert(BindingDeclaration::queue("dead", "orders.dlq", "order.new"));
//! let report = audit(&state, &Options::default());
//! let finding = report.findings.iter().find(|finding| finding.code == Code::DeadLetterLostForSome).unwrap();
//! assert_eq!(finding.example.as_ref().unwrap().key, "order.x");
//! ```

mod baseline;
mod bindings;
mod codes;
mod deaths;
mod exchange;
mod exchanges;
mod finding;
mod graph;
mod keys;
mod links;
mod loops;
mod patterns;
mod policies;
#[cfg(test)]
mod presentation_tests;
mod questions;
mod queue;
mod report;
mod retention;
mod sarif;
mod story;
mod suppress;
mod targets;
mod text;
mod upgrade;
mod ways;
mod world;

pub use baseline::{Baseline, BaselineError, KnownFinding};
pub use codes::{About, Code, Severity, UnknownCode, page};
pub use finding::{Death, Example, Finding, Object, ObjectKind, Outcome};
pub use graph::{Atlas, Edge, EdgeKind, Graph, Node, NodeKind, graph};
pub use keys::STATE_BOUND;
pub use report::{AuditDocument, Report, Summary, Suppressed};
pub use sarif::sarif_of;
pub use text::Telling;

use crate::rabbitmq::Version;
use crate::state::State;
use crate::topology::Suppression;
use std::borrow::Cow;

/// What the audit is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The version to upgrade to.
    pub target: Option<Version>,
    /// Whether the state is only part of what the vhost will hold, as one service's topology document is: what it does not
    /// declare may be declared by somebody else, so that is never an error.
    pub partial: bool,
    /// Findings that are meant, as the topology document says.
    pub suppress: Vec<Suppression>,
}

/// Everything that is wrong with a vhost, the most severe first.
///
/// A vhost whose policies are not known (a file written by hand, without the list) is judged as if it had none.
pub fn audit(state: &State, options: &Options) -> Report {
    audit_of(&world::World::new(&with_known_policies(state)), options)
}

fn with_known_policies(state: &State) -> Cow<'_, State> {
    if state.known.policies {
        return Cow::Borrowed(state);
    }
    let mut state = state.clone();
    state.known.policies = true;
    Cow::Owned(state)
}

fn audit_of(world: &world::World<'_>, options: &Options) -> Report {
    let ways = ways::Ways::new(world);
    let mut report = Report::new(world.state, options);
    deaths::check(world, &ways, &mut report);
    let cycles = loops::cycles(world, &ways);
    loops::check(world, &ways, &cycles, options, &mut report);
    targets::cross_talk(world, &ways, &mut report);
    let targets = targets::dead_targets(world, &ways);
    retention::check(world, &ways, &targets, &cycles, &mut report);
    exchanges::check(world, &mut report);
    exchanges::queues(world, &targets.keys().copied().collect(), &mut report);
    bindings::check(world, &mut report);
    policies::check(world, &mut report);
    links::check(world, &mut report);
    upgrade::check(world, options, &mut report);
    suppress::apply(world, options, &mut report);
    report.finish()
}
