//! What is left of argument values that went through a broker's JSON.

use crate::value::{Table, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// An argument table as an export or the management API shows it (`rabbit_misc:amqp_table`, 3.8 to 4.3).
///
/// Integers of every width and time stamps become 64-bit integers, floats and decimals doubles, binary data text, void the
/// text `undefined`, and text that is not UTF-8 a note with its base64.
#[must_use]
pub fn as_exported(table: &Table) -> Table {
    table.iter().map(|(name, value)| (name, exported(value))).collect()
}

fn exported(value: &Value) -> Value {
    if let Some(number) = value.as_integer() {
        return Value::I64(number);
    }
    match value {
        Value::F32(number) => Value::F64(f64::from(*number)),
        // The broker prints scale and digits with a point between them, as they are.
        Value::Decimal { scale, unscaled } => Value::F64(format!("{scale}.{unscaled}").parse().unwrap_or_default()),
        Value::Timestamp(seconds) => Value::I64(i64::try_from(*seconds).unwrap_or(i64::MAX)),
        Value::LongStr(bytes) | Value::Binary(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Value::text(text),
            Err(_) => Value::text(format!("Not UTF-8, base64 is: {}", STANDARD.encode(bytes))),
        },
        Value::Void => Value::text("undefined"),
        Value::Array(items) => Value::Array(items.iter().map(exported).collect()),
        Value::Table(table) => Value::Table(as_exported(table)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_has_no_type_for_is_written_as_the_broker_writes_it() {
        let table = Table::from([
            ("int", Value::I32(5)),
            ("byte", Value::U8(255)),
            ("time", Value::Timestamp(1_700_000_000)),
            ("float", Value::F32(1.5)),
            ("decimal", Value::Decimal { scale: 2, unscaled: 314 }),
            ("void", Value::Void),
            ("bytes", Value::LongStr(vec![0xff, 0xfe])),
            ("binary", Value::Binary(b"abc".to_vec())),
            ("list", Value::Array(vec![Value::I16(1), Value::Bool(true)])),
            ("table", Value::Table(Table::from([("n", Value::U32(7))]))),
        ]);
        // The texts are those of RabbitMQ's own exports.
        let expected = r#"{"int":5,"byte":255,"time":1700000000,"float":1.5,"decimal":2.314,"void":"undefined","bytes":"Not UTF-8, base64 is: //4=","binary":"abc","list":[1,true],"table":{"n":7}}"#;
        assert_eq!(as_exported(&table), serde_json::from_str::<Table>(expected).unwrap());
    }
}
