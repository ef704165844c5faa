//! `queue.declare`, active and passive.
//!
//! Source: `rabbit_channel:handle_method(#'queue.declare'{})`, `rabbit_amqqueue:declare`, `check_declare_arguments`.

use super::conditions::{Conditions, Right};
use super::reply::{Code, Text, crash};
use super::{Refused, stored_name};
use crate::rabbitmq::arguments::check::{Complaint, first_complaint};
use crate::rabbitmq::arguments::{foreign_arguments, known_arguments};
use crate::rabbitmq::changes::{
    ALWAYS_TYPED, DEFAULT_QUEUE_TYPE, DURATION_EQUIVALENCE, EMPTY_QUEUE_TYPE, FALL_BACK_TO_CLASSIC, LATE_QUEUE_LIMIT,
    PASSIVE_NEEDS_ANY, PASSIVE_NEEDS_CONFIGURE, RELAXED_REDECLARE, SEGMENT_SIZE_LIMIT, STREAM_ARGUMENT_FIXES,
    STREAM_FILTER, V4_3,
};
use crate::rabbitmq::equivalence::{Comparison, compare, stored_durable};
use crate::rabbitmq::term::type_name;
use crate::rabbitmq::{QueueDeclaration, QueueType};
use crate::value::{Table, Value};

/// The prefix that clients may not declare.
pub(super) const RESERVED_PREFIX: &str = "amq.";
/// The pseudo queue of direct reply-to.
const REPLY_TO: &str = "amq.rabbitmq.reply-to";
const TYPE: &str = "x-queue-type";
const DEAD_LETTER_EXCHANGE: &str = "x-dead-letter-exchange";
/// The largest segment of a stream, in bytes.
const MAX_SEGMENT_BYTES: i64 = 3_000_000_000;
/// The sizes that a stream's filter may have, in bytes.
const FILTER_BYTES: std::ops::RangeInclusive<i64> = 16..=255;

/// Whose an existing queue is, seen from the connection that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// It is not exclusive.
    Nobody,
    /// It is exclusive to the connection that asks.
    Requester,
    /// It is exclusive to another connection.
    Another,
}

/// A queue that exists under the requested name.
#[derive(Debug, Clone, Copy)]
pub struct ExistingQueue<'a> {
    /// As the broker stores it.
    pub declaration: &'a QueueDeclaration,
    /// Whose it is.
    pub owner: Owner,
}

/// The request with the default queue type that this version adds to it: the table that is compared and stored.
pub fn effective_request(conditions: &Conditions, request: &QueueDeclaration) -> QueueDeclaration {
    let mut effective = request.clone();
    effective.name = stored_name(&request.name).into_owned();
    let version = conditions.version;
    let asked = request.arguments.get(TYPE);
    let means_default = match asked.and_then(Value::as_text) {
        Some("undefined") => FALL_BACK_TO_CLASSIC.holds(version),
        Some("") => EMPTY_QUEUE_TYPE.holds(version),
        _ => false,
    };
    if (asked.is_some() && !means_default) || !DEFAULT_QUEUE_TYPE.holds(version) {
        return effective;
    }
    let configured = conditions.default_queue_type.as_deref();
    let default = match configured {
        None if !ALWAYS_TYPED.holds(version) => return effective,
        other => other.unwrap_or(QueueType::Classic.name()),
    };
    let replicated = QueueType::from_name(default).is_some_and(|kind| kind != QueueType::Classic);
    let fits = !replicated || (request.durable && !request.exclusive && !request.auto_delete);
    let injected = if fits {
        default
    } else if FALL_BACK_TO_CLASSIC.holds(version) {
        QueueType::Classic.name()
    } else {
        return effective;
    };
    effective.arguments.remove(TYPE);
    effective.arguments.insert(TYPE, injected);
    // The broker sets the argument in a table sorted by name.
    effective.arguments = effective.arguments.sorted();
    effective
}

/// What the broker answers to an active `queue.declare`: the queue as it is stored afterwards, or the refusal.
///
/// `existing` is the queue under [`stored_name`] of the request's name. An empty name is answered as it is; giving out a
/// name (`amq.gen-…`) is the caller's business.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn declare_queue(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    request: &QueueDeclaration,
) -> Result<QueueDeclaration, Refused> {
    if request.name.starts_with(REPLY_TO) {
        return reply_to(conditions, &stored_name(&request.name)).map(|()| request.clone());
    }
    let mut effective = effective_request(conditions, request);
    check_name(conditions, &effective)?;
    if !effective.name.is_empty() {
        conditions.require(Right::Configure, "queue", &effective.name)?;
    }
    if let Some(existing) = existing {
        check_equivalence(conditions, existing, &effective)?;
        return Ok(existing.declaration.clone());
    }
    check_new(conditions, &effective)?;
    effective.durable = stored_durable(&effective);
    Ok(effective)
}

/// What the broker answers to a passive `queue.declare`. It looks at the name only.
///
/// # Errors
/// 403 without the right that the version asks for, 404 when there is none, 405 when it is another connection's.
pub fn declare_queue_passively(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    name: &str,
) -> Result<(), Refused> {
    let name = stored_name(name);
    if name.starts_with(REPLY_TO) {
        return reply_to(conditions, &name);
    }
    require_for_passive(conditions, "queue", &name)?;
    match existing {
        None => Err(not_found(conditions, "queue", &name)),
        Some(existing) if existing.owner == Owner::Another => Err(locked(conditions, &name)),
        Some(_) => Ok(()),
    }
}

/// The right that a passive declaration needs: none, then `configure`, then any.
pub(super) fn require_for_passive(conditions: &Conditions, kind: &str, name: &str) -> Result<(), Refused> {
    if PASSIVE_NEEDS_ANY.holds(conditions.version) {
        conditions.require_any(kind, name)
    } else if PASSIVE_NEEDS_CONFIGURE.holds(conditions.version) {
        conditions.require(Right::Configure, kind, name)
    } else {
        Ok(())
    }
}

/// `no queue 'N' in vhost 'V'`: the only 404 that proves absence.
pub(super) fn not_found(conditions: &Conditions, kind: &str, name: &str) -> Refused {
    conditions.text().plain("no ").resource(kind, name, &conditions.vhost).refuse(Code::NotFound)
}

pub(super) fn locked(conditions: &Conditions, name: &str) -> Refused {
    conditions
        .text()
        .plain("cannot obtain exclusive access to locked ")
        .resource("queue", name, &conditions.vhost)
        .plain(
            ". It could be originally declared on another connection or the exclusive property value does not match \
             that of the original declaration.",
        )
        .refuse(Code::ResourceLocked)
}

/// `queue name 'amq.foo' contains reserved prefix 'amq.*'`
pub(super) fn reserved(conditions: &Conditions, kind: &str, name: &str) -> Result<(), Refused> {
    if !name.starts_with(RESERVED_PREFIX) {
        return Ok(());
    }
    Err(conditions
        .text()
        .plain(kind)
        .plain(" name '")
        .raw(name.as_bytes())
        .plain("' contains reserved prefix 'amq.*'")
        .refuse(Code::AccessRefused))
}

/// The pseudo queue always exists; the name of one of its consumers cannot be known here.
fn reply_to(conditions: &Conditions, name: &str) -> Result<(), Refused> {
    if name == REPLY_TO { Ok(()) } else { Err(not_found(conditions, "queue", name)) }
}

fn check_name(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    if !request.name.is_empty() {
        return reserved(conditions, "queue", &request.name);
    }
    match request.queue_type() {
        Some(QueueType::Classic) => Ok(()),
        Some(kind) => Err(conditions
            .text()
            .plain("Cannot declare a server-named queue for type ")
            .plain(module(kind))
            .refuse(Code::PreconditionFailed)),
        None if DURATION_EQUIVALENCE.holds(conditions.version) => {
            let text = conditions.text().plain("unknown queue type '");
            let asked = request.arguments.get(TYPE);
            Err(asked.map_or(text.clone(), |asked| text.value(asked)).plain("'").refuse(Code::PreconditionFailed))
        }
        None => Err(crash()),
    }
}

/// The Erlang module of a queue type, as texts name it.
const fn module(kind: QueueType) -> &'static str {
    match kind {
        QueueType::Classic => "rabbit_classic_queue",
        QueueType::Quorum => "rabbit_quorum_queue",
        QueueType::Stream => "rabbit_stream_queue",
    }
}

/// What is compared when the relaxed check applies.
const RELAXED: [&str; 7] = [
    "x-dead-letter-exchange",
    "x-dead-letter-routing-key",
    "x-expires",
    "x-max-length",
    "x-max-length-bytes",
    "x-single-active-consumer",
    "x-message-ttl",
];

fn check_equivalence(
    conditions: &Conditions,
    existing: ExistingQueue<'_>,
    request: &QueueDeclaration,
) -> Result<(), Refused> {
    let stored = existing.declaration;
    let type_of = |table: &Table| table.get(TYPE).and_then(Value::as_text).and_then(QueueType::from_name);
    let relaxed = conditions.relaxed_quorum_redeclare
        && RELAXED_REDECLARE.holds(conditions.version)
        && type_of(&stored.arguments) == Some(QueueType::Quorum)
        && type_of(&request.arguments) == Some(QueueType::Classic);
    if relaxed {
        return check_arguments_equivalence(conditions, "queue", &request.name, RELAXED.into_iter(), stored, request);
    }
    let owned = match existing.owner {
        Owner::Nobody => !request.exclusive,
        Owner::Requester => request.exclusive,
        Owner::Another => false,
    };
    if !owned {
        return Err(locked(conditions, &request.name));
    }
    check_property(conditions, "queue", &request.name, "durable", stored_durable(stored), stored_durable(request))?;
    check_property(conditions, "queue", &request.name, "auto_delete", stored.auto_delete, request.auto_delete)?;
    let kind = stored.queue_type().unwrap_or(QueueType::Classic);
    let compared = known_arguments(conditions.version, kind);
    check_arguments_equivalence(conditions, "queue", &request.name, compared, stored, request)
}

fn check_arguments_equivalence(
    conditions: &Conditions,
    kind: &str,
    name: &str,
    compared: impl Iterator<Item = &'static str>,
    stored: &QueueDeclaration,
    request: &QueueDeclaration,
) -> Result<(), Refused> {
    for argument in compared {
        check_argument(conditions, kind, name, argument, &stored.arguments, &request.arguments)?;
    }
    Ok(())
}

/// Compares one argument of two tables.
pub(super) fn check_argument(
    conditions: &Conditions,
    kind: &str,
    name: &str,
    argument: &str,
    stored: &Table,
    request: &Table,
) -> Result<(), Refused> {
    let (current, received) = (stored.get(argument), request.get(argument));
    match compare(argument, current, received) {
        Comparison::Equivalent => Ok(()),
        Comparison::Crash => Err(crash()),
        Comparison::Different => {
            let text = inequivalent(conditions, kind, name, argument);
            let text = side(text, received, current.is_none()).plain(" but current is ");
            Err(side(text, current, received.is_none()).refuse(Code::PreconditionFailed))
        }
    }
}

/// Compares one property.
pub(super) fn check_property(
    conditions: &Conditions,
    kind: &str,
    name: &str,
    property: &str,
    current: bool,
    received: bool,
) -> Result<(), Refused> {
    if current == received {
        return Ok(());
    }
    let text = inequivalent(conditions, kind, name, property);
    let text = side(text, Some(&Value::Bool(received)), false).plain(" but current is ");
    Err(side(text, Some(&Value::Bool(current)), false).refuse(Code::PreconditionFailed))
}

/// `inequivalent arg 'A' for queue 'N' in vhost 'V': received `
pub(super) fn inequivalent(conditions: &Conditions, kind: &str, name: &str, argument: &str) -> Text {
    conditions
        .text()
        .plain("inequivalent arg '")
        .plain(argument)
        .plain("' for ")
        .resource(kind, name, &conditions.vhost)
        .plain(": received ")
}

/// One side of an inequivalence. The type is shown only when the other side is absent; a void prints as nothing then.
fn side(text: Text, value: Option<&Value>, other_is_absent: bool) -> Text {
    match value {
        None => text.plain("none"),
        Some(Value::Void) if !other_is_absent => text.plain("none"),
        Some(value) if other_is_absent => {
            text.plain("the value '").value(value).plain("' of type '").plain(type_name(value)).plain("'")
        }
        Some(value) => text.plain("'").value(value).plain("'"),
    }
}

/// The checks of a queue that does not exist.
fn check_new(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let version = conditions.version;
    if !LATE_QUEUE_LIMIT.holds(version) {
        check_limits(conditions, &request.name)?;
    }
    check_dead_letter_exchange(conditions, request)?;
    check_values(conditions, request)?;
    if V4_3.holds(version) && !conditions.transient_nonexclusive && !request.durable && !request.exclusive {
        return Err(crash());
    }
    if LATE_QUEUE_LIMIT.holds(version) {
        check_limits(conditions, &request.name)?;
    }
    check_properties(conditions, request)
}

fn check_limits(conditions: &Conditions, name: &str) -> Result<(), Refused> {
    let text = || conditions.text().plain("cannot declare queue '").raw(name.as_bytes()).plain("': queue limit in ");
    if let Some(limit) = conditions.queue_limit.filter(|limit| limit.is_reached()) {
        return Err(text()
            .plain("vhost '")
            .raw(conditions.vhost.as_bytes())
            .plain(&format!("' ({}) is reached", limit.maximum))
            .refuse(Code::PreconditionFailed));
    }
    match conditions.cluster_queue_limit {
        Some(limit) if limit.is_reached() && LATE_QUEUE_LIMIT.holds(conditions.version) => {
            Err(text().plain(&format!("cluster ({}) is reached", limit.maximum)).refuse(Code::PreconditionFailed))
        }
        _ => Ok(()),
    }
}

fn check_dead_letter_exchange(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let Some(value) = request.arguments.get(DEAD_LETTER_EXCHANGE) else { return Ok(()) };
    let Value::LongStr(bytes) = value else {
        return Err(invalid_type(conditions, value, DEAD_LETTER_EXCHANGE, "queue", &request.name));
    };
    conditions.require(Right::Read, "queue", &request.name)?;
    conditions.require(Right::Write, "exchange", &String::from_utf8_lossy(bytes))
}

/// `invalid type 'signedint' for arg 'A' in queue 'N' in vhost 'V'`
pub(super) fn invalid_type(conditions: &Conditions, value: &Value, argument: &str, kind: &str, name: &str) -> Refused {
    conditions
        .text()
        .plain("invalid type '")
        .plain(type_name(value))
        .plain("' for arg '")
        .plain(argument)
        .plain("' in ")
        .resource(kind, name, &conditions.vhost)
        .refuse(Code::PreconditionFailed)
}

fn check_values(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let version = conditions.version;
    if let Some((argument, complaint)) = first_complaint(version, request) {
        return Err(invalid_argument(conditions, &request.name, argument, &complaint));
    }
    let kind = request.queue_type().unwrap_or(QueueType::Classic);
    match foreign_arguments(version, kind, &request.arguments).next() {
        None => Ok(()),
        Some(argument) => Err(conditions
            .text()
            .plain("invalid arg '")
            .plain(argument)
            .plain("' for ")
            .resource("queue", &request.name, &conditions.vhost)
            .plain(" of queue type ")
            .plain(module(kind))
            .refuse(Code::PreconditionFailed)),
    }
}

/// `invalid arg 'A' for queue 'N' in vhost 'V': E`
fn invalid_argument(conditions: &Conditions, name: &str, argument: &str, complaint: &Complaint) -> Refused {
    let text = conditions
        .text()
        .plain("invalid arg '")
        .plain(argument)
        .plain("' for ")
        .resource("queue", name, &conditions.vhost)
        .plain(": ");
    let text = match complaint {
        Complaint::Crash => return crash(),
        Complaint::NoInteger(found) => text.plain("\"expected integer, got ").plain(found).plain("\""),
        Complaint::UnacceptableType(found) => text.plain("{unacceptable_type,").plain(found).plain("}"),
        Complaint::Number(what, number) => text.plain(&format!("{{{what},{number}}}")),
        Complaint::Atom(atom) => text.plain(atom),
        Complaint::Unsupported(what, value) => {
            text.plain("\"unsupported ").plain(what).plain(" '").raw(value).plain("'\"")
        }
    };
    text.refuse(Code::PreconditionFailed)
}

/// A quorum queue or a stream is durable, not exclusive, not auto-delete.
fn check_properties(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let version = conditions.version;
    if request.queue_type() == Some(QueueType::Classic) {
        // A deprecated feature that is denied.
        let denied = V4_3.holds(version) && request.arguments.contains("x-queue-master-locator");
        return if denied { Err(crash()) } else { Ok(()) };
    }
    let wrong = if request.auto_delete {
        "auto-delete"
    } else if request.exclusive {
        "exclusive-owner"
    } else if !request.durable {
        "non-durable"
    } else {
        return check_stream_sizes(conditions, request);
    };
    Err(conditions
        .text()
        .plain("invalid property '")
        .plain(wrong)
        .plain("' for ")
        .resource("queue", &request.name, &conditions.vhost)
        .refuse(Code::PreconditionFailed))
}

/// Two limits that the stream type checks by itself, with texts of their own.
fn check_stream_sizes(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    if request.queue_type() != Some(QueueType::Stream) {
        return Ok(());
    }
    let version = conditions.version;
    let refuse = |words: &str| Err(conditions.text().plain(words).refuse(Code::PreconditionFailed));
    let segment = request.arguments.get("x-stream-max-segment-size-bytes").and_then(Value::as_integer);
    if segment.is_some_and(|size| size > MAX_SEGMENT_BYTES) && SEGMENT_SIZE_LIMIT.holds(version) {
        return refuse("Exceeded max value for x-stream-max-segment-size-bytes");
    }
    let Some(filter) = request.arguments.get("x-stream-filter-size-bytes") else { return Ok(()) };
    let fixed = STREAM_ARGUMENT_FIXES.holds(version);
    match filter.as_integer() {
        _ if !STREAM_FILTER.holds(version) => Ok(()),
        Some(size) if FILTER_BYTES.contains(&size) => Ok(()),
        Some(_) if fixed => refuse("Invalid value for x-stream-filter-size-bytes"),
        Some(_) => refuse("Invalid value for  x-stream-filter-size-bytes"),
        None if fixed => refuse("Invalid type for x-stream-filter-size-bytes"),
        None => refuse("Invalid value for  x-stream-filter-size-bytes"),
    }
}
