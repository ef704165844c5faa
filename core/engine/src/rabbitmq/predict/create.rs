//! The checks of a queue that does not exist yet.
//!
//! Source: `rabbit_amqqueue:declare/7`, `check_declare_arguments/3`, `rabbit_queue_type:declare/2` and the `declare/2` of each type.

use super::Refused;
use super::conditions::Conditions;
use super::queue::kind_of;
use super::reply::{Code, crash};
use super::resource::{Resource, exchange_argument};
use crate::rabbitmq::arguments::check::{Complaint, first_complaint};
use crate::rabbitmq::arguments::foreign_arguments;
use crate::rabbitmq::changes::{
    ALWAYS_TYPED, DEPRECATED_FEATURES, LATE_QUEUE_LIMIT, LISTS_BY_TYPE, SEGMENT_SIZE_LIMIT, STREAM_ARGUMENT_FIXES,
    STREAM_FILTER, V4_3,
};
use crate::rabbitmq::{QueueDeclaration, QueueType};
use crate::value::Value;

const DEAD_LETTER_EXCHANGE: &str = "x-dead-letter-exchange";
/// The largest segment of a stream, in bytes.
const MAX_SEGMENT_BYTES: i64 = 3_000_000_000;
/// The sizes that a stream's filter may have, in bytes.
const FILTER_BYTES: std::ops::RangeInclusive<f64> = 16.0..=255.0;
/// The values of `x-queue-master-locator`.
const MASTER_LOCATORS: [&str; 3] = ["client-local", "min-masters", "random"];

/// Runs them in the broker's order; `request` holds the default queue type already.
pub(super) fn check(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let version = conditions.version;
    if !LATE_QUEUE_LIMIT.holds(version) {
        limits(conditions, &request.name)?;
    }
    let named = request.arguments.get(DEAD_LETTER_EXCHANGE);
    exchange_argument(conditions, DEAD_LETTER_EXCHANGE, named, Resource::queue(&request.name))?;
    values(conditions, request)?;
    let kind = kind_of(conditions, request).unwrap_or(QueueType::Classic);
    if LISTS_BY_TYPE.holds(version) {
        foreign(conditions, kind, request)?;
    }
    if DEPRECATED_FEATURES.holds(version)
        && !conditions.transient_nonexclusive
        && !request.durable
        && !request.exclusive
    {
        return Err(deprecated(conditions, "transient_nonexcl_queues"));
    }
    if LATE_QUEUE_LIMIT.holds(version) {
        limits(conditions, &request.name)?;
    }
    match kind {
        QueueType::Classic => master_locator(conditions, request),
        QueueType::Quorum => {
            if !LISTS_BY_TYPE.holds(version) {
                foreign(conditions, kind, request)?;
            }
            properties(conditions, request)
        }
        QueueType::Stream => {
            properties(conditions, request)?;
            stream_sizes(conditions, request)
        }
    }
}

fn limits(conditions: &Conditions, name: &str) -> Result<(), Refused> {
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

/// `invalid arg 'A' for queue 'N' in vhost 'V': WHY`
fn values(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let kind = kind_of(conditions, request);
    let Some((argument, complaint)) = first_complaint(conditions.version, kind, &request.arguments) else {
        return Ok(());
    };
    let text = conditions
        .text()
        .plain("invalid arg '")
        .plain(argument)
        .plain("' for ")
        .resource(conditions, Resource::queue(&request.name))
        .plain(": ");
    let text = match complaint {
        Complaint::Crash => return Err(crash()),
        Complaint::NoInteger(found) => text.plain("\"expected integer, got ").plain(found).plain("\""),
        Complaint::UnacceptableType(found) => text.plain("{unacceptable_type,").plain(found).plain("}"),
        Complaint::Number(what, number) => text.plain(&format!("{{{what},{number}}}")),
        Complaint::Atom(atom) => text.plain(atom),
        Complaint::Unsupported(what, value) => text.quoted(&format!("unsupported {what} '"), &value, "'"),
    };
    Err(text.refuse(Code::PreconditionFailed))
}

/// `invalid arg 'A' for queue 'N' in vhost 'V' of queue type rabbit_quorum_queue`
fn foreign(conditions: &Conditions, kind: QueueType, request: &QueueDeclaration) -> Result<(), Refused> {
    let foreign = foreign_arguments(conditions.version, kind, &request.arguments);
    let Some(argument) = foreign.first() else { return Ok(()) };
    let mut text = conditions
        .text()
        .plain("invalid arg '")
        .plain(argument)
        .plain("' for ")
        .resource(conditions, Resource::queue(&request.name));
    if LISTS_BY_TYPE.holds(conditions.version) {
        text = text.plain(" of queue type ").plain(module(kind));
    }
    Err(text.refuse(Code::PreconditionFailed))
}

/// The Erlang module of a queue type, as texts name it.
pub(super) const fn module(kind: QueueType) -> &'static str {
    match kind {
        QueueType::Classic => "rabbit_classic_queue",
        QueueType::Quorum => "rabbit_quorum_queue",
        QueueType::Stream => "rabbit_stream_queue",
    }
}

/// A feature that is denied: by default from 4.3 on, by the configuration before.
fn deprecated(conditions: &Conditions, feature: &str) -> Refused {
    // The text goes on, but it is cut long before its end.
    let text = if V4_3.holds(conditions.version) {
        format!(
            "Feature `{feature}` is deprecated.\nBy default, this feature is not permitted anymore.\nThe feature will be \
             removed from a future major RabbitMQ version, regardless of the configuration; actual version to be \
             determined.\nTo continue using this feature when it is not permitted by default, set the following \
             parameter in your configuration:\n    \"deprecated_features.permit.{feature} = true\""
        )
    } else {
        format!(
            "Feature `{feature}` is deprecated.\nIts use is not permitted per the configuration (overriding the default, \
             which is permitted):\n    \"deprecated_features.permit.{feature} = false\"\nIts use will not be permitted by \
             default in a future minor RabbitMQ version and the feature will be removed from a future major RabbitMQ \
             version; actual versions to be determined."
        )
    };
    conditions.text().plain(&text).refuse(Code::InternalError)
}

/// The old leader locator of classic queues: a bad one crashes up to 3.13, is ignored in 4.0 to 4.2, and any is denied from
/// 4.3 on.
fn master_locator(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let Some(locator) = request.arguments.get("x-queue-master-locator") else { return Ok(()) };
    if V4_3.holds(conditions.version) {
        return Err(deprecated(conditions, "queue_master_locator"));
    }
    let known = match locator {
        Value::LongStr(bytes) | Value::Binary(bytes) => MASTER_LOCATORS.iter().any(|known| known.as_bytes() == bytes),
        _ => false,
    };
    // An exclusive queue lives where its connection does, but 3.8 looks at the argument all the same.
    let at_home = request.exclusive && LISTS_BY_TYPE.holds(conditions.version);
    if known || at_home || ALWAYS_TYPED.holds(conditions.version) { Ok(()) } else { Err(crash()) }
}

/// A quorum queue or a stream is durable, not exclusive, not auto-delete.
fn properties(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let wrong = if request.auto_delete {
        "auto-delete"
    } else if request.exclusive {
        "exclusive-owner"
    } else if !request.durable {
        "non-durable"
    } else {
        return Ok(());
    };
    Err(conditions
        .text()
        .plain("invalid property '")
        .plain(wrong)
        .plain("' for ")
        .resource(conditions, Resource::queue(&request.name))
        .refuse(Code::PreconditionFailed))
}

/// Two limits that the stream type checks by itself, with texts of their own.
fn stream_sizes(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    let version = conditions.version;
    let refuse = |words: &str| Err(conditions.text().plain(words).refuse(Code::PreconditionFailed));
    let segment = request.arguments.get("x-stream-max-segment-size-bytes").and_then(Value::as_integer);
    if segment.is_some_and(|size| size > MAX_SEGMENT_BYTES) && SEGMENT_SIZE_LIMIT.holds(version) {
        return refuse("Exceeded max value for x-stream-max-segment-size-bytes");
    }
    let Some(filter) = request.arguments.get("x-stream-filter-size-bytes") else { return Ok(()) };
    if !STREAM_FILTER.holds(version) {
        return Ok(());
    }
    let fixed = STREAM_ARGUMENT_FIXES.holds(version);
    if fixed && filter.as_integer().is_none() {
        return refuse("Invalid type for x-stream-filter-size-bytes");
    }
    // Before the fix any value was compared with the two numbers, and only numbers are ever between them.
    match number(filter) {
        Some(size) if FILTER_BYTES.contains(&size) => Ok(()),
        _ if fixed => refuse("Invalid value for x-stream-filter-size-bytes"),
        _ => refuse("Invalid value for  x-stream-filter-size-bytes"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "compared with 16 and 255 only")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::F32(number) => Some(f64::from(*number)),
        Value::F64(number) => Some(*number),
        Value::Timestamp(seconds) => Some(*seconds as f64),
        other => other.as_integer().map(|number| number as f64),
    }
}
