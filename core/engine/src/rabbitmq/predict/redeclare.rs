//! The comparison of a declaration with what exists, and the words of the first difference.
//!
//! ```text
//! inequivalent arg 'ARG' for KIND 'NAME' in vhost 'VHOST': received SIDE but current is SIDE
//! SIDE = none | 'VALUE' | the value 'VALUE' of type 'TYPE'
//! ```
//! A type is shown only where the other side is absent. Two equal values in such a text therefore mean two types.

use super::Refused;
use super::conditions::Conditions;
use super::queue::kind_of;
use super::reply::{Code, Text, crash};
use super::resource::{Resource, locked};
use super::{ExistingQueue, Owner};
use crate::rabbitmq::arguments::known_arguments;
use crate::rabbitmq::changes::RELAXED_REDECLARE;
use crate::rabbitmq::equivalence::{ALTERNATE_EXCHANGE, Comparison, comparable, compare, stored_durable};
use crate::rabbitmq::term::{self, type_name};
use crate::rabbitmq::{ExchangeDeclaration, QueueDeclaration, QueueType};
use crate::value::{Table, Value};

/// What is still compared when the check of a quorum queue that is redeclared as classic is relaxed.
const RELAXED: [&str; 7] = [
    "x-dead-letter-exchange",
    "x-dead-letter-routing-key",
    "x-expires",
    "x-max-length",
    "x-max-length-bytes",
    "x-single-active-consumer",
    "x-message-ttl",
];

/// Exclusiveness, properties, then the arguments on the list of the existing queue's type.
pub(super) fn queue(
    conditions: &Conditions,
    existing: ExistingQueue<'_>,
    request: &QueueDeclaration,
) -> Result<(), Refused> {
    let stored = existing.declaration;
    let resource = Resource::queue(&request.name);
    let tables = Tables { current: &stored.arguments, received: &request.arguments };
    if is_relaxed(conditions, stored, request) {
        return arguments(conditions, resource, RELAXED.into_iter(), tables);
    }
    let owned = match existing.owner {
        Owner::Nobody => !request.exclusive,
        Owner::Requester => request.exclusive,
        Owner::Another => false,
    };
    if !owned {
        return Err(locked(conditions, &request.name));
    }
    property(conditions, resource, "durable", stored_durable(stored), stored_durable(request))?;
    property(conditions, resource, "auto_delete", stored.auto_delete, request.auto_delete)?;
    let kind = kind_of(conditions, stored).unwrap_or(QueueType::Classic);
    arguments(conditions, resource, known_arguments(conditions.version, kind), tables)
}

/// Type, properties, then the alternate exchange.
pub(super) fn exchange(
    conditions: &Conditions,
    stored: &ExchangeDeclaration,
    request: &ExchangeDeclaration,
    name: &str,
) -> Result<(), Refused> {
    let resource = Resource::exchange(name);
    if stored.kind != request.kind {
        return Err(inequivalent(conditions, resource, "type")
            .plain(&format!("'{}' but current is '{}'", term::atom(&request.kind), term::atom(&stored.kind)))
            .refuse(Code::PreconditionFailed));
    }
    property(conditions, resource, "durable", stored.durable, request.durable)?;
    property(conditions, resource, "auto_delete", stored.auto_delete, request.auto_delete)?;
    property(conditions, resource, "internal", stored.internal, request.internal)?;
    let tables = Tables { current: &stored.arguments, received: &request.arguments };
    arguments(conditions, resource, [ALTERNATE_EXCHANGE].into_iter(), tables)
}

/// Whether a quorum queue is redeclared as classic where that is tolerated. Both types must stand in the tables.
fn is_relaxed(conditions: &Conditions, stored: &QueueDeclaration, request: &QueueDeclaration) -> bool {
    let names = |table: &Table, kind: QueueType| matches!(table.get("x-queue-type"), Some(Value::LongStr(bytes)) if bytes == kind.name().as_bytes());
    conditions.relaxed_quorum_redeclare
        && RELAXED_REDECLARE.holds(conditions.version)
        && names(&stored.arguments, QueueType::Quorum)
        && names(&request.arguments, QueueType::Classic)
}

#[derive(Clone, Copy)]
struct Tables<'a> {
    current: &'a Table,
    received: &'a Table,
}

fn arguments(
    conditions: &Conditions,
    resource: Resource<'_>,
    compared: impl Iterator<Item = &'static str>,
    tables: Tables<'_>,
) -> Result<(), Refused> {
    for argument in compared {
        let current = comparable(conditions.version, argument, tables.current.get(argument));
        let received = comparable(conditions.version, argument, tables.received.get(argument));
        let (current, received) = (current.as_deref(), received.as_deref());
        match compare(argument, current, received) {
            Comparison::Equivalent => {}
            Comparison::Crash => return Err(crash()),
            Comparison::Different => return Err(difference(conditions, resource, argument, received, current)),
        }
    }
    Ok(())
}

fn property(
    conditions: &Conditions,
    resource: Resource<'_>,
    property: &str,
    current: bool,
    received: bool,
) -> Result<(), Refused> {
    if current == received {
        return Ok(());
    }
    let (received, current) = (Value::Bool(received), Value::Bool(current));
    Err(difference(conditions, resource, property, Some(&received), Some(&current)))
}

fn difference(
    conditions: &Conditions,
    resource: Resource<'_>,
    argument: &str,
    received: Option<&Value>,
    current: Option<&Value>,
) -> Refused {
    let text = inequivalent(conditions, resource, argument);
    let text = side(text, received, current.is_none()).plain(" but current is ");
    side(text, current, received.is_none()).refuse(Code::PreconditionFailed)
}

fn inequivalent(conditions: &Conditions, resource: Resource<'_>, argument: &str) -> Text {
    conditions
        .text()
        .plain("inequivalent arg '")
        .plain(argument)
        .plain("' for ")
        .resource(conditions, resource)
        .plain(": received ")
}

fn side(text: Text, value: Option<&Value>, other_is_absent: bool) -> Text {
    match value {
        None => text.plain("none"),
        // The content of a void is the word that stands for "absent".
        Some(Value::Void) if !other_is_absent => text.plain("none"),
        Some(value) if other_is_absent => {
            text.value("the value '", value, "' of type '").plain(type_name(value)).plain("'")
        }
        Some(value) => text.value("'", value, "'"),
    }
}
