//! Replacing a live queue: the steps, the proof that none of them loses or doubles a message, and what to know beforehand.
//!
//! A queue's arguments never change while it lives, so another arrangement means another queue, and the messages have to be
//! led over while they flow. A [`MigrationFile`] says which queue becomes which. Against the table of a vhost it becomes a
//! [`MigrationPlan`]: numbered steps, each with what must hold before and after it and what takes it back. The plan is
//! rehearsed on the embedded broker and proven by sending one message of every class that bindings can tell apart through
//! every state in between ([`prove`]). A plan that cannot be proven is refused, with the message that breaks it.
//!
//! A plan can be made at any time, also after some of its steps were done: it finds out from the table where it is. The same
//! is true of the way back ([`MigrationPlan::undo`]), which is there until the old queue is deleted.
//!
//! Plain changes (declare, bind, unbind, policy, delete) are steps too. What each of them found is recorded when it is made
//! ([`Former`]), so that the way back takes back what it changed and nothing else.

mod action;
mod change;
mod error;
mod facts;
mod feeding;
mod file;
mod findings;
mod former;
pub mod history;
mod neighbours;
mod options;
mod plain;
mod plan;
mod position;
mod proof;
mod rehearsal;
mod run;
mod sequence;
mod show;
mod step;
#[cfg(test)]
mod tests;
mod undo;

pub use action::{Action, Condition};
pub use change::Change;
pub use error::MigrationError;
pub use facts::{ArrivalsFact, ConsumerFact, Facts, NodeFact, PermissionFact, RoomFact, ShovelFact};
pub use file::{FileName, MigrationFile, Replacement, Work};
pub use findings::{Finding, Weight};
pub use former::{Former, FormerExchange, FormerPolicy, Met};
pub use neighbours::{Neighbour, neighbours};
pub use options::{DrainOptions, Method, Options, Teardown};
pub use plan::{MigrationPlan, PlannedReplacement};
pub use position::Position;
pub use proof::{Counterexample, Fault, MAX_CLASSES, Proof, Scope, Subject, prove};
pub use run::{Order, QueueSight, Run};
pub use step::{Direction, Phase, Step};
pub use undo::Beginning;
