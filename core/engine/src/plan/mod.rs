//! What declaring a topology would do, and doing it: a session of numbered questions that any AMQP client can answer.
//!
//! AMQP cannot read a queue's arguments back. So the declaration is *offered* to the broker on a channel of its own, and
//! the refusal is read. On a broker that allows it the offer is *guarded*: it carries one argument that no queue of its
//! type may have, so it can never create anything.
//! Where a [`State`](crate::state::State) is known already, from a definitions file or the management API, nothing is asked.
//!
//! ```text
//! Tables ──▶ PlanSession ──▶ questions ──▶ (your client) ──▶ answers ──▶ … ──▶ Plan ──▶ renderings, JSON
//! ```
//!
//! The session does no I/O. [`PlanSession::next_questions`] gives what can be asked now, [`PlanSession::answer`] takes the
//! answers in any order, and answers may open new questions. The same session drives an apply: once everything has been
//! judged and nothing stands against it, the questions turn into declarations.
//!
//! An action says two things: what is known ([`Verdict`]) and what an apply would send ([`Sends`]).

mod action;
mod apply;
mod document;
mod exchanges;
mod guard;
mod judge;
mod notes;
mod question;
mod queues;
mod reading;
mod remedy;
mod render;
mod session;
#[cfg(test)]
mod tests;

pub use action::{Action, Applied, Object, Plan, PlannedDifference, Reason, Remedied, Sends, Summary, Verdict};
pub use apply::{ApplyError, ApplyReport, refused_sentence};
pub use document::{ActionDocument, PlanDocument, QuestionDocument};
pub use question::{Answer, AnswerError, Ask, Question};
pub use render::Style;
pub use session::{BrokerKind, Mode, PlanSession, Settings};
