//! The words for an object that every rendering shares.

use crate::name::MAX_NAME_BYTES;
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
pub use crate::value::shown_name;
use crate::value::{Table, Value};
use std::borrow::Cow;
use std::fmt::Write as _;

/// An argument's value as it is shown to people: texts bare, everything else as its JSON.
pub fn shown_value(value: &Value) -> Cow<'_, str> {
    match value.as_text() {
        Some(text) => shown_name(text),
        None => Cow::Owned(shown_name(&value.to_json()).into_owned()),
    }
}

/// The queue type that a declaration asks for: `classic` when it names none, else its `x-queue-type` as it stands.
pub(crate) fn type_word(queue: &QueueDeclaration) -> &str {
    queue.type_name()
}

/// A queue in a parenthesis: `durable, quorum, x-dead-letter-exchange=acemq.dlx`.
///
/// Durable or transient, the type, the flags that are set, then the arguments by the bytes of their names, without
/// `x-queue-type`.
pub fn describe_queue(queue: &QueueDeclaration) -> String {
    let mut out = String::from(if queue.durable { "durable, " } else { "transient, " });
    out.push_str(&shown_name(type_word(queue)));
    if queue.auto_delete {
        out.push_str(", auto-delete");
    }
    if queue.exclusive {
        out.push_str(", exclusive");
    }
    for (name, value) in queue.arguments.sorted_entries().into_iter().filter(|(name, _)| *name != "x-queue-type") {
        let _ = write!(out, ", {}={}", shown_name(name), shown_value(value));
    }
    out
}

/// An exchange in a parenthesis: `topic, alternate-exchange=unrouted`.
pub fn describe_exchange(exchange: &ExchangeDeclaration) -> String {
    let mut out = shown_name(&exchange.kind).into_owned();
    if !exchange.durable {
        out.push_str(", transient");
    }
    if exchange.auto_delete {
        out.push_str(", auto-delete");
    }
    if exchange.internal {
        out.push_str(", internal");
    }
    for (name, value) in exchange.arguments.sorted_entries().into_iter() {
        let _ = write!(out, ", {}={}", shown_name(name), shown_value(value));
    }
    out
}

/// The arguments of a binding as they follow it: ` with k=v, l=w`, or nothing.
pub fn describe_binding_arguments(arguments: &Table) -> String {
    let mut out = String::new();
    for (index, (name, value)) in arguments.sorted_entries().into_iter().enumerate() {
        out.push_str(if index == 0 { " with " } else { ", " });
        let _ = write!(out, "{}={}", shown_name(name), shown_value(value));
    }
    out
}

/// A binding inside a sentence: `orders -> orders.new (order.*)`.
pub fn describe_binding(binding: &BindingDeclaration) -> String {
    let (source, destination) = (shown_end(&binding.source), shown_end(&binding.destination));
    format!("{source} -> {destination} ({})", readable(&binding.routing_key))
}

fn shown_end(name: &str) -> Cow<'_, str> {
    if name.is_empty() { Cow::Borrowed("\"\"") } else { Cow::Owned(readable(name)) }
}

/// Control characters escaped, and of what is longer than any name can be only the beginning.
pub(super) fn readable(text: &str) -> String {
    const KEPT: usize = 120;
    let shown = shown_name(text);
    if text.len() <= MAX_NAME_BYTES {
        return shown.into_owned();
    }
    let mut out: String = shown.chars().take(KEPT).collect();
    out.push('…');
    out
}
