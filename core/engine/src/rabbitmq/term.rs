//! How Erlang prints a value inside a refusal.
//!
//! RabbitMQ builds its texts with `io_lib:format`: names and byte strings go in raw, everything else as an Erlang term.

use crate::value::{Table, Value};
use std::fmt::Write as _;

/// The name that RabbitMQ gives to the type of `value` in its texts.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::I8(_) => "byte",
        Value::U8(_) => "unsignedbyte",
        Value::I16(_) => "short",
        Value::U16(_) => "unsignedshort",
        Value::I32(_) => "signedint",
        Value::U32(_) => "unsignedint",
        Value::I64(_) => "long",
        Value::F32(_) => "float",
        Value::F64(_) => "double",
        Value::Decimal { .. } => "decimal",
        Value::LongStr(_) => "longstr",
        Value::Binary(_) => "binary",
        Value::Timestamp(_) => "timestamp",
        Value::Array(_) => "array",
        Value::Table(_) => "table",
        Value::Void => "void",
    }
}

/// `value` as `io_lib:format("~p")` prints it.
pub fn print(value: &Value) -> String {
    let mut out = String::new();
    write_value(&mut out, value);
    out
}

fn write_value(out: &mut String, value: &Value) {
    if let Some(number) = value.as_integer() {
        let _ = write!(out, "{number}");
        return;
    }
    match value {
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::F32(number) => write_float(out, f64::from(*number)),
        Value::F64(number) => write_float(out, *number),
        Value::Decimal { scale, unscaled } => {
            let _ = write!(out, "{{{scale},{unscaled}}}");
        }
        Value::LongStr(bytes) | Value::Binary(bytes) => write_binary(out, bytes),
        Value::Timestamp(seconds) => {
            let _ = write!(out, "{seconds}");
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push('{');
                out.push_str(type_name(item));
                out.push(',');
                write_value(out, item);
                out.push('}');
            }
            out.push(']');
        }
        Value::Table(table) => write_table(out, table),
        Value::Void => out.push_str("undefined"),
        // Every integer was written above.
        Value::I8(_) | Value::U8(_) | Value::I16(_) | Value::U16(_) | Value::I32(_) | Value::U32(_) | Value::I64(_) => {
        }
    }
}

fn write_table(out: &mut String, table: &Table) {
    out.push('[');
    for (index, (name, value)) in table.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push('{');
        write_binary(out, name.as_bytes());
        out.push(',');
        out.push_str(type_name(value));
        out.push(',');
        write_value(out, value);
        out.push('}');
    }
    out.push(']');
}

/// `<<"text">>` when every byte is printable, else `<<1,2,3>>`.
fn write_binary(out: &mut String, bytes: &[u8]) {
    if bytes.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        out.push_str("<<\"");
        for &byte in bytes {
            if byte == b'"' || byte == b'\\' {
                out.push('\\');
            }
            out.push(char::from(byte));
        }
        out.push_str("\">>");
        return;
    }
    out.push_str("<<");
    for (index, byte) in bytes.iter().enumerate() {
        let _ = write!(out, "{}{byte}", if index > 0 { "," } else { "" });
    }
    out.push_str(">>");
}

/// The shortest digits that read back as the same number, in the shorter of Erlang's two notations: `0.1`, `1000.0` is `1.0e3`.
fn write_float(out: &mut String, number: f64) {
    // Rust's exponent form has the same shortest digits: "6e4", "1.25e-7".
    let shortest = format!("{number:e}");
    let Some((mantissa, exponent)) = shortest.split_once('e') else {
        out.push_str(&shortest);
        return;
    };
    let fraction = if mantissa.contains('.') { "" } else { ".0" };
    let scientific = format!("{mantissa}{fraction}e{exponent}");
    let plain = if number.fract() == 0.0 { format!("{number:.1}") } else { format!("{number}") };
    out.push_str(if scientific.len() < plain.len() { &scientific } else { &plain });
}
