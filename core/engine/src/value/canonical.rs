//! The canonical form: one line of JSON, keys sorted by bytes, no blanks, integers of every width alike.
//!
//! Two declarations that a broker always treats as the same table have the same canonical bytes, and so the same
//! fingerprint, in every language.

use super::{Table, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The SHA-256 of `bytes` in lower-case hexadecimal.
pub fn fingerprint(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

/// Appends `text` as a canonical JSON string: `"`, `\` and bytes below 0x20 escaped, everything else raw UTF-8.
pub(crate) fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a table in canonical form.
pub(crate) fn write_table(out: &mut String, table: &Table) {
    let wrapped = table.len() == 1 && table.iter().any(|(name, _)| name.starts_with('@'));
    if wrapped {
        out.push_str("{\"@F\":");
    }
    out.push('{');
    for (index, (name, value)) in table.sorted_entries().into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(out, name);
        out.push(':');
        write_value(out, value);
    }
    out.push('}');
    if wrapped {
        out.push('}');
    }
}

fn write_value(out: &mut String, value: &Value) {
    if let Some(number) = value.as_integer() {
        let _ = write!(out, "{number}");
        return;
    }
    match value {
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::F32(number) => write_double(out, f64::from(*number)),
        Value::F64(number) => write_double(out, *number),
        Value::Decimal { scale, unscaled } => {
            let _ = write!(out, "{{\"@D\":[{scale},{unscaled}]}}");
        }
        Value::LongStr(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => write_string(out, text),
            Err(_) => write_bytes(out, 'S', bytes),
        },
        Value::Binary(bytes) => write_bytes(out, 'x', bytes),
        Value::Timestamp(seconds) => {
            let _ = write!(out, "{{\"@T\":{seconds}}}");
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(out, item);
            }
            out.push(']');
        }
        Value::Table(table) => write_table(out, table),
        Value::Void => out.push_str("{\"@V\":null}"),
        // Every width was written above as a plain number.
        Value::I8(_) | Value::U8(_) | Value::I16(_) | Value::U16(_) | Value::I32(_) | Value::U32(_) | Value::I64(_) => {
        }
    }
}

fn write_double(out: &mut String, number: f64) {
    let _ = write!(out, "{{\"@d\":\"0x{:016x}\"}}", number.to_bits());
}

fn write_bytes(out: &mut String, letter: char, bytes: &[u8]) {
    let _ = write!(out, "{{\"@{letter}\":\"{}\"}}", STANDARD.encode(bytes));
}
