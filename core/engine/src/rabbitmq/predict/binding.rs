//! `queue.bind` and `exchange.bind`.
//!
//! Source: `rabbit_channel:binding_action_with_checks`, `rabbit_binding:add`, `validate_binding` of each exchange type.

use super::conditions::{Conditions, Right};
use super::reply::Code;
use super::resource::{Resource, locked, not_default, not_found};
use super::{Refused, stored_name};
use crate::rabbitmq::changes::{MATCH_WITH_X, TWO_HASHES};
use crate::rabbitmq::term::type_name;
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration};
use crate::value::Value;

/// The most `#` that a topic binding key may have, from 4.3.5 on.
const MAX_HASHES: usize = 2;
/// The exchange type that delivers to one queue of the node (4.0 and later).
const LOCAL_RANDOM: &str = "x-local-random";

/// What the broker answers to a binding.
///
/// `source` is the source exchange when it exists; `locked_by_another` says that the destination is a queue that is
/// exclusive to another connection.
///
/// # Errors
/// The first check that fails, in the broker's order.
pub fn bind(
    conditions: &Conditions,
    binding: &BindingDeclaration,
    source: Option<&ExchangeDeclaration>,
    destination_exists: bool,
    locked_by_another: bool,
) -> Result<(), Refused> {
    require_rights(conditions, binding)?;
    let Some(source) = source else {
        return Err(not_found(conditions, Resource::exchange(&stored_name(&binding.source))));
    };
    let destination = stored_name(&binding.destination);
    if !destination_exists {
        return Err(not_found(conditions, destination_of(binding, &destination)));
    }
    check_type(conditions, source, binding)?;
    if locked_by_another { Err(locked(conditions, &destination)) } else { Ok(()) }
}

/// Binding and unbinding need `write` on the destination and `read` on the source, and neither may be the default exchange.
pub(super) fn require_rights(conditions: &Conditions, binding: &BindingDeclaration) -> Result<(), Refused> {
    let (destination, source) = (stored_name(&binding.destination), stored_name(&binding.source));
    let (destination, source) = (destination_of(binding, &destination), Resource::exchange(&source));
    conditions.require(Right::Write, destination)?;
    not_default(conditions, destination)?;
    not_default(conditions, source)?;
    conditions.require(Right::Read, source)
}

fn destination_of<'a>(binding: &BindingDeclaration, name: &'a str) -> Resource<'a> {
    match binding.destination_type {
        DestinationType::Queue => Resource::queue(name),
        DestinationType::Exchange => Resource::exchange(name),
    }
}

/// What the source's type says about the binding. Plugin types have their own checks, which are not known here.
fn check_type(
    conditions: &Conditions,
    source: &ExchangeDeclaration,
    binding: &BindingDeclaration,
) -> Result<(), Refused> {
    match source.kind.as_str() {
        "topic" => check_topic_key(conditions, &binding.routing_key),
        "headers" => check_match(conditions, binding),
        LOCAL_RANDOM if !binding.routing_key.is_empty() => Err(conditions
            .text()
            .plain("Non empty binding '")
            .raw(binding.routing_key.as_bytes())
            .plain("' key not permitted")
            .refuse(Code::PreconditionFailed)),
        _ => Ok(()),
    }
}

fn check_topic_key(conditions: &Conditions, key: &str) -> Result<(), Refused> {
    let hashes = key.split('.').filter(|word| *word == "#").count();
    if hashes <= MAX_HASHES || !TWO_HASHES.holds(conditions.version) {
        return Ok(());
    }
    Err(conditions
        .text()
        .plain("Topic binding key '")
        .raw(key.as_bytes())
        .plain(&format!("' uses {hashes} '#' wildcards, at most {MAX_HASHES} are allowed"))
        .refuse(Code::PreconditionFailed))
}

/// The `x-match` of a headers binding.
fn check_match(conditions: &Conditions, binding: &BindingDeclaration) -> Result<(), Refused> {
    let Some(value) = binding.arguments.get("x-match") else { return Ok(()) };
    let with_x = MATCH_WITH_X.holds(conditions.version);
    let text = conditions.text();
    let text = match value {
        Value::LongStr(bytes) => match bytes.as_slice() {
            b"all" | b"any" => return Ok(()),
            b"all-with-x" | b"any-with-x" if with_x => return Ok(()),
            _ => text.plain("Invalid x-match field value ").term(value).plain("; expected ").plain(if with_x {
                "all, any, all-with-x, or any-with-x"
            } else {
                "all or any"
            }),
        },
        other => text
            .plain("Invalid x-match field type ")
            .plain(type_name(other))
            .plain(" (value ")
            .term(other)
            .plain("); expected longstr"),
    };
    Err(text.refuse(Code::PreconditionFailed))
}
