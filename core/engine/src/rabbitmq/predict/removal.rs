//! Unbinding and deleting.
//!
//! What is not there is no error in any of them.
//!
//! Source: `rabbit_channel:binding_action_with_checks`, `handle_method` of `queue.delete` and `exchange.delete`,
//! `rabbit_amqqueue:delete_with`, `rabbit_quorum_queue:delete`.

use super::binding::require_rights;
use super::conditions::{Conditions, Right};
use super::reply::Code;
use super::resource::{RESERVED_PREFIX, Resource, locked, not_default};
use super::{ExistingQueue, Owner, Refused, stored_name};
use crate::rabbitmq::{BindingDeclaration, QueueType};

/// The two conditions of `queue.delete`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeleteQueue {
    /// Only when it has no consumer.
    pub if_unused: bool,
    /// Only when no message is ready; messages that wait for their acknowledgement do not count.
    pub if_empty: bool,
}

impl DeleteQueue {
    /// Whatever is in it and whoever consumes.
    pub const ANYWAY: Self = Self { if_unused: false, if_empty: false };
}

/// What the broker answers to `queue.unbind` or `exchange.unbind`. `locked_by_another` says that the binding is there and
/// leads to a queue that is exclusive to another connection.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn unbind(conditions: &Conditions, binding: &BindingDeclaration, locked_by_another: bool) -> Result<(), Refused> {
    require_rights(conditions, binding)?;
    if locked_by_another { Err(locked(conditions, &stored_name(&binding.destination))) } else { Ok(()) }
}

/// What the broker answers to `queue.delete`, given how many messages are ready and how many consumers there are.
///
/// A quorum queue takes neither condition: 540, and the connection is closed. A stream ignores both.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn delete_queue(
    conditions: &Conditions,
    existing: Option<ExistingQueue<'_>>,
    name: &str,
    condition: DeleteQueue,
    (ready, consumers): (u32, u32),
) -> Result<(), Refused> {
    let name = stored_name(name);
    let queue = Resource::queue(&name);
    conditions.require(Right::Configure, queue)?;
    let Some(existing) = existing else { return Ok(()) };
    if existing.owner == Owner::Another {
        return Err(locked(conditions, &name));
    }
    let text = || conditions.text().resource(conditions, queue);
    match existing.declaration.queue_type() {
        Some(QueueType::Quorum) => {
            let flag = match condition {
                DeleteQueue { if_unused: true, .. } => "if-unused",
                DeleteQueue { if_empty: true, .. } => "if-empty",
                DeleteQueue::ANYWAY => return Ok(()),
            };
            Err(conditions
                .text()
                .plain("cannot delete ")
                .resource(conditions, queue)
                .plain(". queue.delete operations with ")
                .plain(flag)
                .plain(" flag set are not supported by quorum queues")
                .refuse(Code::NotImplemented))
        }
        Some(QueueType::Stream) => Ok(()),
        Some(QueueType::Classic) | None => {
            if condition.if_empty && ready > 0 {
                Err(text().plain(" not empty").refuse(Code::PreconditionFailed))
            } else if condition.if_unused && consumers > 0 {
                Err(text().plain(" in use").refuse(Code::PreconditionFailed))
            } else {
                Ok(())
            }
        }
    }
}

/// What the broker answers to `exchange.delete`. `in_use` says that it was asked to delete the exchange only when unused,
/// and that some binding starts there; being a destination or an alternate exchange is no use.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn delete_exchange(conditions: &Conditions, name: &str, in_use: bool) -> Result<(), Refused> {
    let name = stored_name(name);
    let exchange = Resource::exchange(&name);
    not_default(conditions, exchange)?;
    if name.starts_with(RESERVED_PREFIX) {
        return Err(conditions
            .text()
            .plain("deletion of system ")
            .resource(conditions, exchange)
            .plain(" not allowed")
            .refuse(Code::AccessRefused));
    }
    conditions.require(Right::Configure, exchange)?;
    if in_use {
        return Err(conditions.text().resource(conditions, exchange).plain(" in use").refuse(Code::PreconditionFailed));
    }
    Ok(())
}
