//! `queue.declare`, active and passive.
//!
//! Source: `rabbit_channel:handle_method(#'queue.declare'{})`, `rabbit_amqqueue:augment_declare_args`.

use super::conditions::{Conditions, Right};
use super::create::{self, module};
use super::redeclare;
use super::reply::{Code, crash};
use super::resource::{Resource, locked, not_found, not_reserved, require_for_passive};
use super::{Refused, stored_name};
use crate::rabbitmq::changes::{
    ALWAYS_TYPED, DEFAULT_QUEUE_TYPE, DURATION_EQUIVALENCE, EMPTY_QUEUE_TYPE, FALL_BACK_TO_CLASSIC, LISTS_BY_TYPE,
};
use crate::rabbitmq::equivalence::stored_durable;
use crate::rabbitmq::{QueueDeclaration, QueueType, Version};
use crate::value::Value;
use std::borrow::Cow;

/// The pseudo queue of direct reply-to.
const REPLY_TO: &str = "amq.rabbitmq.reply-to";
/// Stands for the name that the broker makes up.
const SERVER_NAMED_EXAMPLE: &str = "amq.gen-AAAAAAAAAAAAAAAAAAAAAA";
const TYPE: &str = "x-queue-type";

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

/// The request as this version compares and stores it: the name without line ends, and the default queue type in the
/// table where the version puts it there.
///
/// | version | default | fits the request | does not fit (quorum or stream, but transient, exclusive or auto-delete) |
/// |---|---|---|---|
/// | before 3.10.8 | none | – | – |
/// | 3.10.8 to 3.13.3 | the vhost's | added | nothing added |
/// | 3.13.4 to 3.13.7 | the vhost's | added | `classic` added |
/// | from 4.0 | the vhost's, the node's, `classic` | added | `classic` added |
///
/// Nothing is added to a table that has an `x-queue-type`, not even where its value (`undefined`, or empty) means "the
/// default".
pub fn effective_request<'r>(conditions: &Conditions, request: &'r QueueDeclaration) -> Cow<'r, QueueDeclaration> {
    let mut effective = Cow::Borrowed(request);
    if let Cow::Owned(name) = stored_name(&request.name) {
        effective.to_mut().name = name;
    }
    if let Some(added) = added_type(conditions, request) {
        let arguments = &mut effective.to_mut().arguments;
        arguments.insert(TYPE, added);
        // Whoever sets an argument in the broker sorts the table, and the order decides which argument a refusal names.
        *arguments = std::mem::take(arguments).into_sorted();
    }
    effective
}

/// The default queue type that the version puts into the table of a request.
fn added_type<'c>(conditions: &'c Conditions, request: &QueueDeclaration) -> Option<&'c str> {
    let version = conditions.version;
    if request.arguments.contains(TYPE) || !DEFAULT_QUEUE_TYPE.holds(version) {
        return None;
    }
    let default = match configured_default(conditions) {
        Some(default) => default,
        None if ALWAYS_TYPED.holds(version) => QueueType::Classic.name(),
        None => return None,
    };
    let replicated = matches!(QueueType::from_name(default), Some(QueueType::Quorum | QueueType::Stream));
    let fits = !replicated || (request.durable && !request.exclusive && !request.auto_delete);
    match fits {
        true => Some(default),
        false if FALL_BACK_TO_CLASSIC.holds(version) => Some(QueueType::Classic.name()),
        false => None,
    }
}

/// The default type that is set. `undefined` and the empty text are what some versions store for none.
fn configured_default(conditions: &Conditions) -> Option<&str> {
    conditions.default_queue_type.as_deref().filter(|name| !matches!(*name, "" | "undefined"))
}

/// The type of a queue with that table; `None` when there is no such type.
pub(super) fn kind_of(conditions: &Conditions, queue: &QueueDeclaration) -> Option<QueueType> {
    let named = match queue.arguments.get(TYPE) {
        Some(value) if !means_default(conditions.version, value) => return queue.queue_type(),
        Some(_) => configured_default(conditions),
        None => None,
    };
    named.map_or(Some(QueueType::Classic), QueueType::from_name)
}

/// Whether this `x-queue-type` asks for the default type.
fn means_default(version: Version, value: &Value) -> bool {
    match value.as_text() {
        Some("undefined") => FALL_BACK_TO_CLASSIC.holds(version),
        Some("") => EMPTY_QUEUE_TYPE.holds(version),
        _ => false,
    }
}

/// What the broker answers to an active `queue.declare`: the queue as it is stored afterwards, or the refusal.
///
/// `existing` is the queue under [`stored_name`] of the request's name. An empty name stays empty in the answer: giving out
/// a name is the caller's business. A refusal of such a request shows a name of the shape that the broker gives,
/// `amq.gen-` and 22 characters.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn declare_queue(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    request: &QueueDeclaration,
) -> Result<QueueDeclaration, Refused> {
    let effective = check_queue(conditions, existing, request)?;
    Ok(match existing {
        _ if request.name.starts_with(REPLY_TO) => request.clone(),
        Some(existing) => existing.declaration.clone(),
        None => QueueDeclaration { durable: stored_durable(&effective), ..effective.into_owned() },
    })
}

/// The checks of [`declare_queue`] alone: the request as it is compared, or the refusal.
///
/// # Errors
/// As there.
pub(crate) fn check_queue<'r>(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    request: &'r QueueDeclaration,
) -> Result<Cow<'r, QueueDeclaration>, Refused> {
    if request.name.starts_with(REPLY_TO) {
        return reply_to(conditions, &stored_name(&request.name)).map(|()| Cow::Borrowed(request));
    }
    let mut effective = effective_request(conditions, request);
    let server_named = effective.name.is_empty();
    if server_named {
        can_be_server_named(conditions, &effective)?;
        SERVER_NAMED_EXAMPLE.clone_into(&mut effective.to_mut().name);
    } else {
        not_reserved(conditions, Resource::queue(&effective.name))?;
    }
    conditions.require(Right::Configure, Resource::queue(&effective.name))?;
    match existing {
        Some(existing) => redeclare::queue(conditions, existing, &effective)?,
        None => create::check(conditions, &effective)?,
    }
    if server_named {
        effective.to_mut().name.clear();
    }
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
    let queue = Resource::queue(&name);
    require_for_passive(conditions, queue)?;
    match existing {
        None => Err(not_found(conditions, queue)),
        Some(existing) if existing.owner == Owner::Another => Err(locked(conditions, &name)),
        Some(_) => Ok(()),
    }
}

/// The pseudo queue always exists. Whether one of its consumers (`amq.rabbitmq.reply-to.…`) does cannot be known here.
fn reply_to(conditions: &Conditions, name: &str) -> Result<(), Refused> {
    if name == REPLY_TO { Ok(()) } else { Err(not_found(conditions, Resource::queue(name))) }
}

/// Only a classic queue can ask the broker for a name.
fn can_be_server_named(conditions: &Conditions, request: &QueueDeclaration) -> Result<(), Refused> {
    if !LISTS_BY_TYPE.holds(conditions.version) {
        return Ok(());
    }
    match kind_of(conditions, request) {
        Some(QueueType::Classic) => Ok(()),
        Some(kind) => Err(conditions
            .text()
            .plain("Cannot declare a server-named queue for type ")
            .plain(module(kind))
            .refuse(Code::PreconditionFailed)),
        None => match request.arguments.get(TYPE) {
            Some(asked) if DURATION_EQUIVALENCE.holds(conditions.version) => {
                let text = conditions.text().value("unknown queue type '", asked, "'");
                Err(text.refuse(Code::PreconditionFailed))
            }
            _ => Err(crash()),
        },
    }
}
