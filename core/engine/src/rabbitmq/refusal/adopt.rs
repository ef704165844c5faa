//! Taking over what a broker printed: from the text of a value back to a value that the broker finds equal.

use super::Printed;
use crate::value::Value;

/// The value to send so that the broker finds it equal to what it `printed` for `argument`.
///
/// Integers, texts and booleans come back; tables, arrays and decimals never do (a decimal that differs crashes the
/// broker's comparison: 541). From 4.3.6 `x-max-age` is printed in milliseconds: it comes back in whole seconds, `86400s`.
pub fn typed_value(argument: &str, printed: &Printed) -> Option<Value> {
    let text = printed.value.as_str();
    match printed.kind.as_deref() {
        Some("longstr" | "binary") => Some(text_value(argument, text)),
        Some("bool") => text.parse().ok().map(Value::Bool),
        Some(kind) if INTEGER_TYPES.contains(&kind) => text.parse().ok().map(Value::I64),
        Some(_) => None,
        None => match text {
            "true" | "false" => text.parse().ok().map(Value::Bool),
            _ => Some(text.parse().map_or_else(|_| text_value(argument, text), Value::I64)),
        },
    }
}

/// The broker's names of its integer types.
const INTEGER_TYPES: [&str; 7] = ["signedint", "unsignedint", "long", "short", "unsignedshort", "byte", "unsignedbyte"];

fn text_value(argument: &str, text: &str) -> Value {
    match (argument, text.parse::<u64>()) {
        ("x-max-age", Ok(milliseconds)) => Value::text(format!("{}s", milliseconds / 1000)),
        _ => Value::text(text),
    }
}
