//! `exchange.declare`, active and passive.
//!
//! Source: `rabbit_channel:handle_method(#'exchange.declare'{})`, `rabbit_exchange:check_type`, `assert_equivalence`.

use super::conditions::{Conditions, Right};
use super::queue::{
    check_argument, check_property, inequivalent, invalid_type, not_found, require_for_passive, reserved,
};
use super::reply::Code;
use super::{Refused, stored_name};
use crate::rabbitmq::ExchangeDeclaration;
use crate::rabbitmq::changes::{ALWAYS_TYPED, EXCHANGE_LIMIT, SOFT_UNKNOWN_EXCHANGE_TYPE, V4_3};
use crate::rabbitmq::equivalence::ALTERNATE_EXCHANGE;
use crate::value::Value;

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
    check_type(conditions, &request.kind)?;
    not_default(conditions, &name)?;
    conditions.require(Right::Configure, "exchange", &name)?;
    if let Some(existing) = existing {
        check_equivalence(conditions, existing, request, &name)?;
        return Ok(existing.clone());
    }
    reserved(conditions, "exchange", &name)?;
    check_alternate(conditions, request, &name)?;
    match conditions.exchange_limit {
        Some(limit) if limit.is_reached() && EXCHANGE_LIMIT.holds(conditions.version) => {
            return Err(conditions
                .text()
                .plain("cannot declare ")
                .resource("exchange", &name, &conditions.vhost)
                .plain(&format!(": exchange limit of {} is reached", limit.maximum))
                .refuse(Code::PreconditionFailed));
        }
        _ => {}
    }
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
    not_default(conditions, &name)?;
    require_for_passive(conditions, "exchange", &name)?;
    if existing.is_some() { Ok(()) } else { Err(not_found(conditions, "exchange", &name)) }
}

/// Nothing may be done to the default exchange.
pub(super) fn not_default(conditions: &Conditions, name: &str) -> Result<(), Refused> {
    if name.is_empty() {
        Err(conditions.text().plain("operation not permitted on the default exchange").refuse(Code::AccessRefused))
    } else {
        Ok(())
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
    let how = if kind.is_empty() || kind == "queue" { "invalid" } else { "unknown" };
    Err(conditions.text().plain(how).plain(" exchange type '").raw(kind.as_bytes()).plain("'").refuse(code))
}

fn check_equivalence(
    conditions: &Conditions,
    stored: &ExchangeDeclaration,
    request: &ExchangeDeclaration,
    name: &str,
) -> Result<(), Refused> {
    if stored.kind != request.kind {
        return Err(inequivalent(conditions, "exchange", name, "type")
            .plain("'")
            .plain(&request.kind)
            .plain("' but current is '")
            .plain(&stored.kind)
            .plain("'")
            .refuse(Code::PreconditionFailed));
    }
    check_property(conditions, "exchange", name, "durable", stored.durable, request.durable)?;
    check_property(conditions, "exchange", name, "auto_delete", stored.auto_delete, request.auto_delete)?;
    check_property(conditions, "exchange", name, "internal", stored.internal, request.internal)?;
    check_argument(conditions, "exchange", name, ALTERNATE_EXCHANGE, &stored.arguments, &request.arguments)
}

fn check_alternate(conditions: &Conditions, request: &ExchangeDeclaration, name: &str) -> Result<(), Refused> {
    match request.arguments.get(ALTERNATE_EXCHANGE) {
        None => Ok(()),
        Some(Value::LongStr(bytes)) => {
            conditions.require(Right::Read, "exchange", name)?;
            conditions.require(Right::Write, "exchange", &String::from_utf8_lossy(bytes))
        }
        Some(value) => Err(invalid_type(conditions, value, ALTERNATE_EXCHANGE, "exchange", name)),
    }
}
