//! `exchange.declare`, active and passive.
//!
//! Source: `rabbit_channel:handle_method(#'exchange.declare'{})`, `rabbit_exchange:check_type`, `assert_equivalence`.

use super::conditions::{Conditions, Right};
use super::reply::Code;
use super::resource::{Resource, exchange_argument, not_default, not_found, not_reserved, require_for_passive};
use super::{Refused, redeclare, stored_name};
use crate::rabbitmq::changes::{ALWAYS_TYPED, EXCHANGE_LIMIT, SOFT_UNKNOWN_EXCHANGE_TYPE, V4_3};
use crate::rabbitmq::equivalence::ALTERNATE_EXCHANGE;
use crate::rabbitmq::{ExchangeDeclaration, Version};

/// The types that every broker has.
const TYPES: [&str; 4] = ["direct", "fanout", "topic", "headers"];

/// What the broker answers to an active `exchange.declare`: the exchange as it is stored afterwards, or the refusal.
///
/// `existing` is the exchange under [`stored_name`] of the request's name, predeclared ones included.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn declare_exchange(
    conditions: &Conditions,
    existing: Option<&ExchangeDeclaration>,
    request: &ExchangeDeclaration,
) -> Result<ExchangeDeclaration, Refused> {
    let name = stored_name(&request.name);
    let exchange = Resource::exchange(&name);
    check_type(conditions, &request.kind)?;
    not_default(conditions, exchange)?;
    conditions.require(Right::Configure, exchange)?;
    if let Some(existing) = existing {
        redeclare::exchange(conditions, existing, request, &name)?;
        return Ok(existing.clone());
    }
    not_reserved(conditions, exchange)?;
    exchange_argument(conditions, ALTERNATE_EXCHANGE, request.arguments.get(ALTERNATE_EXCHANGE), exchange)?;
    check_limit(conditions, exchange)?;
    Ok(ExchangeDeclaration { name: name.into_owned(), ..request.clone() })
}

/// What the broker answers to a passive `exchange.declare`. It looks at the name only.
///
/// # Errors
/// 403 for the default exchange or without the right that the version asks for, 404 when there is none.
pub fn declare_exchange_passively(
    conditions: &Conditions,
    existing: Option<&ExchangeDeclaration>,
    name: &str,
) -> Result<(), Refused> {
    let name = stored_name(name);
    let exchange = Resource::exchange(&name);
    not_default(conditions, exchange)?;
    require_for_passive(conditions, exchange)?;
    if existing.is_some() { Ok(()) } else { Err(not_found(conditions, exchange)) }
}

fn check_limit(conditions: &Conditions, exchange: Resource<'_>) -> Result<(), Refused> {
    match conditions.exchange_limit {
        Some(limit) if limit.is_reached() && EXCHANGE_LIMIT.holds(conditions.version) => Err(conditions
            .text()
            .plain("cannot declare ")
            .resource(conditions, exchange)
            .plain(&format!(": exchange limit of {} is reached", limit.maximum))
            .refuse(Code::PreconditionFailed)),
        _ => Ok(()),
    }
}

fn check_type(conditions: &Conditions, kind: &str) -> Result<(), Refused> {
    let version = conditions.version;
    let known = TYPES.contains(&kind)
        || (kind == "x-local-random" && ALWAYS_TYPED.holds(version))
        || (kind == "x-modulus-hash" && V4_3.holds(version))
        || conditions.plugin_exchange_types.iter().any(|plugin| plugin == kind);
    if known {
        return Ok(());
    }
    let code = if SOFT_UNKNOWN_EXCHANGE_TYPE.holds(version) { Code::PreconditionFailed } else { Code::CommandInvalid };
    let how = if is_atom(version, kind) { "invalid" } else { "unknown" };
    Err(conditions.text().plain(how).plain(" exchange type '").raw(kind.as_bytes()).plain("'").refuse(code))
}

/// Whether the broker knows `word` as an Erlang atom: then it looks for a type of that name, and words its failure differently.
///
/// Any word of its program is an atom, so this can only cover what is likely to be asked for. Measured on 3.8.9, 3.10.8, 4.0.5
/// and 4.3.6.
fn is_atom(version: Version, word: &str) -> bool {
    ATOMS.contains(&word)
        || (ATOMS_BEFORE_4_0.contains(&word) && !ALWAYS_TYPED.holds(version))
        || (ATOMS_FROM_4_3.contains(&word) && V4_3.holds(version))
}

const ATOMS: [&str; 43] = [
    "",
    "all",
    "amqp",
    "any",
    "basic",
    "broadcast",
    "classic",
    "default",
    "dlx",
    "durable",
    "error",
    "event",
    "events",
    "exchange",
    "false",
    "federation",
    "hash",
    "header",
    "internal",
    "local",
    "match",
    "message",
    "multicast",
    "name",
    "none",
    "normal",
    "null",
    "priority",
    "private",
    "public",
    "queue",
    "quorum",
    "random",
    "retry",
    "rpc",
    "simple",
    "standard",
    "stream",
    "system",
    "test",
    "true",
    "type",
    "undefined",
];
const ATOMS_BEFORE_4_0: [&str; 2] = ["Direct", "work"];
const ATOMS_FROM_4_3: [&str; 4] = ["delayed", "work", "x-jms-topic", "x-random"];
