//! A topology: the exchanges, queues and bindings that a service needs, and the canonical tables that it stands for.
//!
//! RabbitMQ compares the *argument table* of a queue whenever somebody declares it again, so the same wish must always give
//! the same table. A topology is such a set of wishes: "a queue `orders`, dead-lettered, retried six times". From it follow
//! its [`Tables`]: each object as it goes over the wire, with the dead-letter and retry queues that belong to it.

mod describe;
mod problem;
mod tables;

pub use describe::{
    describe_binding, describe_binding_arguments, describe_exchange, describe_queue, shown_name, shown_value,
};
pub use problem::{CheckDocument, ObjectRef, Position, Problem, ProblemCode, Severity};
pub use tables::{DeclaredBinding, DeclaredExchange, DeclaredQueue, ExternalExchange, Tables, TablesDocument};
