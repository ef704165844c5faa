//! `queue.bind` and `exchange.bind`.
//!
//! Source: `rabbit_channel:binding_action_with_checks`, `rabbit_binding:add`, `validate_binding` of each exchange type.

use super::conditions::{Conditions, Right};
use super::exchange::not_default;
use super::queue::{locked, not_found};
use super::reply::Code;
use super::{Refused, stored_name};
use crate::rabbitmq::changes::TWO_HASHES;
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration};

/// The most `#` that a topic binding key may have, from 4.3.5 on.
const MAX_HASHES: usize = 2;

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
    let kind = binding.destination_type.name();
    let destination = stored_name(&binding.destination);
    let source_name = stored_name(&binding.source);
    conditions.require(Right::Write, kind, &destination)?;
    if kind == "exchange" {
        not_default(conditions, &destination)?;
    }
    not_default(conditions, &source_name)?;
    conditions.require(Right::Read, "exchange", &source_name)?;
    let Some(source) = source else {
        return Err(not_found(conditions, "exchange", &source_name));
    };
    if !destination_exists {
        return Err(not_found(conditions, kind, &destination));
    }
    check_key(conditions, source, binding)?;
    if locked_by_another { Err(locked(conditions, &destination)) } else { Ok(()) }
}

fn check_key(
    conditions: &Conditions,
    source: &ExchangeDeclaration,
    binding: &BindingDeclaration,
) -> Result<(), Refused> {
    let hashes = binding.routing_key.split('.').filter(|word| *word == "#").count();
    if source.kind == "topic" && hashes > MAX_HASHES && TWO_HASHES.holds(conditions.version) {
        return Err(conditions
            .text()
            .plain("Topic binding key '")
            .raw(binding.routing_key.as_bytes())
            .plain(&format!("' uses {hashes} '#' wildcards, at most {MAX_HASHES} are allowed"))
            .refuse(Code::PreconditionFailed));
    }
    Ok(())
}
