//! A topology: the exchanges, queues and bindings that a service needs, and the canonical tables that it stands for.
//!
//! RabbitMQ compares the *argument table* of a queue whenever somebody declares it again, so the same wish must always give
//! the same table. A topology is such a set of wishes: "a queue `orders`, dead-lettered, retried six times". From it follow
//! its [`Tables`]: each object as it goes over the wire, with the dead-letter and retry queues that belong to it.
//!
//! Wishes come from a [`TopologyBuilder`] or from a document. Nothing fails at the first mistake: [`Topology::check`] gives
//! every [`Problem`] at once, each with a stable [`ProblemCode`].

mod builder;
mod compile;
mod consumer;
mod describe;
mod document;
mod finding;
mod intent;
mod problem;
mod schema;
mod strict;
mod tables;
#[cfg(test)]
mod tests;
mod wish;

pub use builder::TopologyBuilder;
pub(crate) use describe::type_word;
pub use describe::{
    describe_binding, describe_binding_arguments, describe_exchange, describe_queue, shown_name, shown_value,
};
pub(crate) use document::read_as;
pub use document::{DeclaredAt, Format, MAX_BYTES as MAX_DOCUMENT_BYTES};
pub use intent::describe_policy;
pub use problem::{CheckDocument, ObjectRef, Position, Problem, ProblemCode, Severity};
pub use tables::{
    DeclaredBinding, DeclaredExchange, DeclaredQueue, ExternalExchange, SuppressedKind, Suppression, Tables,
    TablesDocument,
};

/// A set of exchanges, queues, bindings and policies that was asked for, judged by every rule that needs no broker.
#[derive(Debug, Clone)]
pub struct Topology {
    /// Complete when no problem is an error.
    tables: Tables,
    problems: Vec<Problem>,
}

impl Topology {
    /// Starts an empty topology.
    pub fn builder() -> TopologyBuilder {
        TopologyBuilder::default()
    }

    fn new(tables: Tables, problems: Vec<Problem>) -> Self {
        Self { tables, problems }
    }

    /// Every problem and warning, in the order of the document.
    pub fn check(&self) -> Vec<Problem> {
        self.problems.clone()
    }

    /// [`Topology::check`] without a copy.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Everything that is declared, as it goes over the wire.
    ///
    /// # Errors
    /// When anything is wrong whatever the broker: all problems and warnings.
    pub fn tables(&self) -> Result<Tables, Vec<Problem>> {
        self.clone().into_tables()
    }

    /// [`Topology::tables`] without a copy.
    ///
    /// # Errors
    /// As there.
    pub fn into_tables(self) -> Result<Tables, Vec<Problem>> {
        if self.problems.iter().any(Problem::is_error) { Err(self.problems) } else { Ok(self.tables) }
    }

    /// What this topology intends, one line for each declaration; what is wrong with it, when something is.
    pub fn intent(&self) -> String {
        if !self.problems.iter().any(Problem::is_error) {
            return self.tables.intent();
        }
        let mut out = String::from("Topology: invalid\n");
        for problem in self.problems.iter().filter(|problem| problem.is_error()) {
            out.push_str("  ");
            out.push_str(&problem.message);
            out.push('\n');
        }
        out
    }
}
