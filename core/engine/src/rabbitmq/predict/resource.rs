//! Refusals that queues and exchanges share.

use super::Refused;
use super::conditions::{Conditions, Right};
use super::reply::Code;
use crate::rabbitmq::changes::{PASSIVE_NEEDS_ANY, PASSIVE_NEEDS_CONFIGURE};
use crate::rabbitmq::term::type_name;
use crate::value::Value;

/// The prefix of names that clients may not declare.
pub(super) const RESERVED_PREFIX: &str = "amq.";

/// The two kinds of named objects, as texts call them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Queue,
    Exchange,
}

impl Kind {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Exchange => "exchange",
        }
    }
}

/// A queue or an exchange by its name in the vhost of the request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resource<'a> {
    pub(super) kind: Kind,
    pub(super) name: &'a str,
}

impl<'a> Resource<'a> {
    pub(super) const fn queue(name: &'a str) -> Self {
        Self { kind: Kind::Queue, name }
    }

    pub(super) const fn exchange(name: &'a str) -> Self {
        Self { kind: Kind::Exchange, name }
    }

    pub(super) const fn is_default_exchange(self) -> bool {
        matches!(self.kind, Kind::Exchange) && self.name.is_empty()
    }
}

/// `no queue 'N' in vhost 'V'`: the only 404 that proves absence.
pub(super) fn not_found(conditions: &Conditions, resource: Resource<'_>) -> Refused {
    conditions.text().plain("no ").resource(conditions, resource).refuse(Code::NotFound)
}

/// The queue is another connection's, or its exclusiveness is not the requested one.
pub(super) fn locked(conditions: &Conditions, queue: &str) -> Refused {
    conditions
        .text()
        .plain("cannot obtain exclusive access to locked ")
        .resource(conditions, Resource::queue(queue))
        .plain(
            ". It could be originally declared on another connection or the exclusive property value does not match \
             that of the original declaration.",
        )
        .refuse(Code::ResourceLocked)
}

/// Refuses to declare a name that starts with `amq.`; case counts.
pub(super) fn not_reserved(conditions: &Conditions, resource: Resource<'_>) -> Result<(), Refused> {
    if !resource.name.starts_with(RESERVED_PREFIX) {
        return Ok(());
    }
    Err(conditions
        .text()
        .plain(resource.kind.word())
        .plain(" name '")
        .raw(resource.name.as_bytes())
        .plain("' contains reserved prefix 'amq.*'")
        .refuse(Code::AccessRefused))
}

/// Nothing may be done to the default exchange.
pub(super) fn not_default(conditions: &Conditions, resource: Resource<'_>) -> Result<(), Refused> {
    if resource.is_default_exchange() {
        Err(conditions.text().plain("operation not permitted on the default exchange").refuse(Code::AccessRefused))
    } else {
        Ok(())
    }
}

/// An argument that names an exchange: it must be a long string, and the user needs `read` on the object that carries it and
/// `write` on the exchange, which need not exist.
pub(super) fn exchange_argument(
    conditions: &Conditions,
    argument: &str,
    value: Option<&Value>,
    resource: Resource<'_>,
) -> Result<(), Refused> {
    match value {
        None => Ok(()),
        Some(Value::LongStr(bytes)) => {
            conditions.require(Right::Read, resource)?;
            conditions.require(Right::Write, Resource::exchange(&String::from_utf8_lossy(bytes)))
        }
        Some(value) => Err(conditions
            .text()
            .plain("invalid type '")
            .plain(type_name(value))
            .plain("' for arg '")
            .plain(argument)
            .plain("' in ")
            .resource(conditions, resource)
            .refuse(Code::PreconditionFailed)),
    }
}

/// The right that a passive declaration needs: none at first, then `configure`, then any of the three.
pub(super) fn require_for_passive(conditions: &Conditions, resource: Resource<'_>) -> Result<(), Refused> {
    if PASSIVE_NEEDS_ANY.holds(conditions.version) {
        conditions.require_any(resource)
    } else if PASSIVE_NEEDS_CONFIGURE.holds(conditions.version) {
        conditions.require(Right::Configure, resource)
    } else {
        Ok(())
    }
}
