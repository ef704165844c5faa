//! The requests.

mod exchanges;
mod queues;
mod steps;
mod texts;
mod validation;

use super::request::{Asked, Existing, Request};
use super::{Case, Question};
use crate::amqp::{ExchangeRequest, QueueRequest};
use acemq_core::value::{Table, Value};
use std::collections::BTreeSet;

/// All of them.
///
/// # Panics
/// When two have the same id.
pub fn all() -> Vec<Case> {
    let cases = [queues::cases(), validation::cases(), texts::cases(), exchanges::cases(), steps::cases()].concat();
    let ids: BTreeSet<&str> = cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases.len(), "each id is unique");
    cases
}

/// A request for a queue; change what differs.
fn queue(name: &str) -> QueueRequest {
    QueueRequest { passive: false, durable: true, ..QueueRequest::passive(name) }
}

/// A request for a durable exchange; change what differs.
fn exchange(name: &str, kind: &str) -> ExchangeRequest {
    ExchangeRequest { passive: false, durable: true, kind: kind.into(), ..ExchangeRequest::passive(name) }
}

impl QueueRequest {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(name, value);
        self
    }

    fn of_type(self, kind: &str) -> Self {
        self.with("x-queue-type", kind)
    }

    fn transient(self) -> Self {
        Self { durable: false, ..self }
    }

    fn exclusive(self) -> Self {
        Self { exclusive: true, ..self }
    }

    fn auto_delete(self) -> Self {
        Self { auto_delete: true, ..self }
    }

    fn passively(self) -> Self {
        Self { passive: true, ..self }
    }
}

impl ExchangeRequest {
    fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.arguments.insert(name, value);
        self
    }

    fn passively(self) -> Self {
        Self { passive: true, ..self }
    }
}

impl From<QueueRequest> for Asked {
    fn from(request: QueueRequest) -> Self {
        Self::Queue(request)
    }
}

impl From<ExchangeRequest> for Asked {
    fn from(request: ExchangeRequest) -> Self {
        Self::Exchange(request)
    }
}

/// A case in the making.
fn ask(id: impl Into<String>, asked: impl Into<Asked>) -> Case {
    let request = Request { existing: Existing::Nothing, asked: asked.into(), default_queue_type: None, rights: None };
    Case { id: id.into(), question: Question::Declare(request) }
}

impl Case {
    fn request(&mut self) -> &mut Request {
        match &mut self.question {
            Question::Declare(request) => request,
            Question::Steps(_) => panic!("{}: steps say all of it themselves", self.id),
        }
    }

    fn after(mut self, declared: impl Into<Asked>) -> Self {
        self.request().existing = Existing::Declared(declared.into());
        self
    }

    fn exclusive_elsewhere(mut self) -> Self {
        self.request().existing = Existing::ExclusiveElsewhere;
        self
    }

    fn in_vhost_of(mut self, kind: &'static str) -> Self {
        self.request().default_queue_type = Some(kind);
        self
    }

    fn with_rights(mut self, configure: &'static str, write: &'static str, read: &'static str) -> Self {
        self.request().rights = Some([configure, write, read]);
        self
    }
}

/// One value of each wire type, and some that are printed oddly.
fn values() -> Vec<(&'static str, Value)> {
    let nested = Table::from([("a", Value::I32(1)), ("b", Value::text("x"))]);
    vec![
        ("bool", Value::Bool(true)),
        ("byte", Value::I8(5)),
        ("negative", Value::I8(-1)),
        ("unsignedbyte", Value::U8(5)),
        ("short", Value::I16(5)),
        ("unsignedshort", Value::U16(5)),
        ("signedint", Value::I32(5)),
        ("unsignedint", Value::U32(5)),
        ("long", Value::I64(5)),
        ("zero", Value::I64(0)),
        ("huge", Value::I64(i64::MAX)),
        ("float", Value::F32(5.0)),
        ("double", Value::F64(5.0)),
        ("timestamp", Value::Timestamp(5)),
        ("longstr", Value::text("5")),
        ("empty", Value::text("")),
        ("binary", Value::Binary(b"5".to_vec())),
        ("void", Value::Void),
        ("array", Value::Array(vec![Value::I32(5)])),
        ("table", Value::Table(nested)),
    ]
}
