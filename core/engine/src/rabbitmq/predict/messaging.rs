//! Publishing, getting, consuming and acknowledging.
//!
//! Source: `rabbit_channel:handle_method` of the `basic` class, `rabbit_quorum_queue:consume`, `rabbit_stream_queue:consume`.

use super::conditions::{Conditions, Right};
use super::reply::{Code, Text, crash};
use super::resource::{Resource, locked, not_found};
use super::{ExistingQueue, Owner, Refused, Scope};
use crate::rabbitmq::changes::{CONTENT_BEFORE_USER, EXPIRY_LIMIT, NO_GLOBAL_QOS, STREAM_NAMED_ONCE, V4_3};
use crate::rabbitmq::properties::{ExpirationFault, Properties, parse_expiration};
use crate::rabbitmq::term::type_name;
use crate::rabbitmq::{ExchangeDeclaration, QueueType, Version};
use crate::value::{Table, Value};

/// What the broker answers to `basic.publish`, as far as it refuses: a message that no queue gets is no refusal.
///
/// `exchange` is the exchange of that name; the default exchange is always there.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn publish(
    conditions: &Conditions,
    exchange: Option<&ExchangeDeclaration>,
    name: &str,
    properties: &Properties,
) -> Result<(), Refused> {
    conditions.require(Right::Write, Resource::exchange(name))?;
    match exchange {
        None if !name.is_empty() => return Err(not_found(conditions, Resource::exchange(name))),
        Some(exchange) if exchange.internal => {
            return Err(conditions
                .text()
                .plain("cannot publish to internal ")
                .resource(conditions, Resource::exchange(name))
                .refuse(Code::AccessRefused));
        }
        _ => {}
    }
    if CONTENT_BEFORE_USER.holds(conditions.version) {
        check_expiration(conditions, properties)?;
        check_copies(conditions, properties)?;
        check_user(conditions, properties)
    } else {
        check_user(conditions, properties)?;
        check_expiration(conditions, properties)?;
        check_copies(conditions, properties)
    }
}

fn check_user(conditions: &Conditions, properties: &Properties) -> Result<(), Refused> {
    match &properties.user_id {
        Some(user) if *user != conditions.user => Err(conditions
            .text()
            .plain("user_id property set to '")
            .raw(user.as_bytes())
            .plain("' but authenticated user was '")
            .raw(conditions.user.as_bytes())
            .plain("'")
            .refuse(Code::PreconditionFailed)),
        _ => Ok(()),
    }
}

fn check_expiration(conditions: &Conditions, properties: &Properties) -> Result<(), Refused> {
    let Some(expiration) = &properties.expiration else { return Ok(()) };
    let Err(fault) = parse_expiration(expiration, EXPIRY_LIMIT.holds(conditions.version)) else { return Ok(()) };
    let text = conditions.text().plain("invalid expiration '").raw(expiration.as_bytes()).plain("': ");
    let text = match fault {
        ExpirationFault::NoInteger => text.plain("no_integer"),
        ExpirationFault::Leftover(rest) => text.plain("{leftover_string,").plain(&character_list(&rest)).plain("}"),
        ExpirationFault::Negative(number) => text.plain(&format!("{{value_negative,{number}}}")),
        ExpirationFault::TooLarge(number) => text.plain(&format!("{{value_too_large,{number}}}")),
    };
    Err(text.refuse(Code::PreconditionFailed))
}

/// How Erlang prints the bytes of a text as a list: quoted when all can be printed, else as numbers.
fn character_list(text: &str) -> String {
    let printable = |byte: u8| matches!(byte, 0x08..=0x0d | 0x1b | 0x20..=0x7e | 0xa0..=0xff);
    if !text.bytes().all(printable) {
        let numbers: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
        return format!("[{}]", numbers.join(","));
    }
    let mut out = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0b => out.push_str("\\v"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            0x1b => out.push_str("\\e"),
            other => out.push(char::from(other)),
        }
    }
    out.push('"');
    out
}

/// `CC` and `BCC` are arrays.
fn check_copies(conditions: &Conditions, properties: &Properties) -> Result<(), Refused> {
    for name in ["CC", "BCC"] {
        match properties.headers.get(name) {
            None | Some(Value::Array(_)) => {}
            Some(other) => {
                return Err(conditions
                    .text()
                    .plain(&format!("invalid message: {{unacceptable_type_in_header,\"{name}\",{}}}", type_name(other)))
                    .refuse(Code::PreconditionFailed));
            }
        }
    }
    Ok(())
}

/// What the broker answers to an immediate publish, whatever else is in it.
pub fn publish_immediate(conditions: &Conditions) -> Refused {
    conditions.text().plain("immediate=true").refuse(Code::NotImplemented)
}

/// What the broker answers to `basic.get`. `single_active` says that the queue has a single active consumer.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn get(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    name: &str,
    single_active: bool,
) -> Result<(), Refused> {
    conditions.require(Right::Read, Resource::queue(name))?;
    let queue = accessible(conditions, existing, name)?;
    let text = conditions.text();
    match queue.declaration.queue_type() {
        Some(QueueType::Stream) => Err(text
            .plain("basic.get not supported by stream queues ")
            .resource(conditions, Resource::queue(name))
            .refuse(Code::NotImplemented)),
        Some(QueueType::Quorum) if single_active => {
            // From 4.3 on the queue type goes into the text as an Erlang term.
            let kind = if V4_3.holds(conditions.version) { "<<\"quorum\">>" } else { "quorum" };
            Err(text
                .plain("cannot obtain access to locked ")
                .resource(conditions, Resource::queue(name))
                .plain(". basic.get operations are not supported by ")
                .plain(kind)
                .plain(" queues with single active consumer")
                .refuse(Code::ResourceLocked))
        }
        _ => Ok(()),
    }
}

/// What the broker answers to `queue.purge`.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn purge(conditions: &Conditions, existing: Option<ExistingQueue<'_>>, name: &str) -> Result<(), Refused> {
    conditions.require(Right::Read, Resource::queue(name))?;
    let queue = accessible(conditions, existing, name)?;
    if queue.declaration.queue_type() != Some(QueueType::Stream) {
        return Ok(());
    }
    Err(conditions
        .text()
        .plain("queue.purge not supported by stream queues ")
        .resource(conditions, Resource::queue(name))
        .refuse(Code::NotImplemented))
}

/// A request to consume, as far as refusals depend on it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConsumeRequest<'a> {
    /// The consumer's tag.
    pub tag: &'a str,
    /// Whether the channel has a consumer of that tag.
    pub tag_in_use: bool,
    /// Whether messages count as acknowledged when they are sent.
    pub no_ack: bool,
    /// Whether it wants the queue for itself.
    pub exclusive: bool,
    /// How many messages it may hold; 0 is any number.
    pub prefetch: u16,
    /// Whether the channel has a limit for all its consumers together.
    pub global_limit: bool,
    /// Whether the queue has consumers.
    pub queue_has_consumers: bool,
    /// Whether one of them has the queue for itself.
    pub queue_is_taken: bool,
    /// Whether the queue has a single active consumer.
    pub single_active: bool,
    /// The consumer's arguments.
    pub arguments: Option<&'a Table>,
}

/// What the broker answers to `basic.consume`.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn consume(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    name: &str,
    request: ConsumeRequest<'_>,
) -> Result<(), Refused> {
    if request.tag_in_use {
        return Err(conditions
            .text()
            .plain("attempt to reuse consumer tag '")
            .raw(request.tag.as_bytes())
            .plain("'")
            .refuse(Code::NotAllowed));
    }
    conditions.require(Right::Read, Resource::queue(name))?;
    let queue = accessible(conditions, existing, name)?;
    let resource = || conditions.text().resource(conditions, Resource::queue(name));
    if let Some(priority) = request.arguments.and_then(|arguments| arguments.get("x-priority"))
        && priority.as_integer().is_none()
    {
        return Err(conditions
            .text()
            .plain("invalid arg 'x-priority' for ")
            .resource(conditions, Resource::queue(name))
            .plain(&format!(": \"expected integer, got {}\"", type_name(priority)))
            .refuse(Code::PreconditionFailed));
    }
    let kind = queue.declaration.queue_type().unwrap_or(QueueType::Classic);
    if kind == QueueType::Stream {
        check_stream_consumer(conditions, name, request)?;
    }
    if kind != QueueType::Classic {
        return if request.global_limit && !NO_GLOBAL_QOS.holds(conditions.version) {
            Err(resource().plain(" does not support global qos").refuse(Code::NotImplemented))
        } else {
            Ok(())
        };
    }
    let refused =
        request.queue_is_taken || (request.exclusive && (request.queue_has_consumers || request.single_active));
    if refused { Err(resource().plain(" in exclusive use").refuse(Code::AccessRefused)) } else { Ok(()) }
}

fn check_stream_consumer(conditions: &Conditions, name: &str, request: ConsumeRequest<'_>) -> Result<(), Refused> {
    let queue = Resource::queue(name);
    // The kind of queue was named twice by accident, and quoted once.
    let once = STREAM_NAMED_ONCE.holds(conditions.version);
    if request.prefetch == 0 {
        let text = conditions.text().plain("consumer prefetch count is not set for ");
        let text = if once {
            text.plain("stream ").resource(conditions, queue)
        } else {
            text.plain("'").resource(conditions, queue).plain("'")
        };
        return Err(text.refuse(Code::PreconditionFailed));
    }
    if request.no_ack {
        let streams = if once { "stream " } else { "stream queues " };
        let text = conditions.text().plain("automatic acknowledgement not supported by ").plain(streams);
        return Err(text.resource(conditions, queue).refuse(Code::NotImplemented));
    }
    match request.arguments.and_then(|arguments| arguments.get("x-stream-offset")) {
        None | Some(Value::Timestamp(_)) => Ok(()),
        Some(value) if value.as_integer().is_some() => Ok(()),
        Some(value) if value.as_text().is_some_and(is_stream_offset) => Ok(()),
        Some(value @ Value::LongStr(_)) if V4_3.holds(conditions.version) => Err(conditions
            .text()
            .plain("invalid arg 'x-stream-offset' for ")
            .resource(conditions, queue)
            .plain(": {invalid_stream_offset_arg,{longstr,")
            .term(value)
            .plain("}}")
            .refuse(Code::PreconditionFailed)),
        Some(_) => Err(crash()),
    }
}

/// The words that stand for a place in a stream, and intervals such as `7D`.
fn is_stream_offset(text: &str) -> bool {
    let interval = text.strip_suffix(['Y', 'M', 'D', 'h', 'm', 's']);
    matches!(text, "first" | "last" | "next")
        || interval.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What the broker answers to an acknowledgement of a delivery that the channel does not wait for.
pub fn unknown_delivery(conditions: &Conditions, tag: u64) -> Refused {
    conditions.text().plain(&format!("unknown delivery tag {tag}")).refuse(Code::PreconditionFailed)
}

/// What the broker answers to a request that names no queue on a channel that has declared none.
pub fn no_last_queue(conditions: &Conditions) -> Refused {
    conditions.text().plain("no previously declared queue").refuse(Code::NotFound)
}

/// What the broker answers to a user who wants to open a vhost without having any permission in it.
pub fn vhost_refused(conditions: &Conditions, user: &str) -> Refused {
    conditions
        .text()
        .plain("access to vhost '")
        .raw(conditions.vhost.as_bytes())
        .plain("' refused for user '")
        .raw(user.as_bytes())
        .plain("'")
        .refuse(Code::NotAllowed)
}

/// What the broker answers to a login that it does not accept, whatever is wrong with it. `mechanism` is the one that the
/// client chose, as in `PLAIN`.
pub fn login_refused(mechanism: &str) -> Refused {
    let text =
        format!("Login was refused using authentication mechanism {mechanism}. For details see the broker logfile.");
    // There is no channel yet that could be closed.
    Refused { scope: Scope::Connection, ..Text::new(Version::NEWEST).plain(&text).refuse(Code::AccessRefused) }
}

/// What the broker answers to a connection to a vhost that does not exist.
pub fn vhost_not_found(version: Version, vhost: &str) -> Refused {
    Text::new(version).plain("vhost ").raw(vhost.as_bytes()).plain(" not found").refuse(Code::NotAllowed)
}

/// What the broker answers on a channel that is not open.
pub fn closed_channel() -> Refused {
    Text::new(Version::NEWEST).plain("expected 'channel.open'").refuse(Code::ChannelError)
}

fn accessible<'a>(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'a>>,
    name: &str,
) -> Result<ExistingQueue<'a>, Refused> {
    match existing {
        None => Err(not_found(conditions, Resource::queue(name))),
        Some(queue) if queue.owner == Owner::Another => Err(locked(conditions, name)),
        Some(queue) => Ok(queue),
    }
}
