//! The engine's argument tables as amqprs's, and names as AMQP's short strings.
//!
//! amqprs panics on a name of more than 255 bytes and cannot carry a long string that is not UTF-8; both are refused here.

use acemq_core::value::{Table, Value};
use amqprs::{DecimalValue, FieldArray, FieldName, FieldTable, FieldValue, LongStr};

/// Names, routing keys and argument names travel as short strings.
const LONGEST: usize = 255;

/// Checks one name that will travel as a short string.
pub(super) fn short<'a>(what: &str, text: &'a str) -> Result<&'a str, String> {
    if text.len() <= LONGEST {
        return Ok(text);
    }
    let start: String = text.chars().take(40).collect();
    Err(format!(
        "the {what} \"{}…\" has {} bytes of UTF-8; AMQP carries at most {LONGEST}, so choose a shorter one",
        start.escape_debug(),
        text.len()
    ))
}

pub(super) fn table(table: &Table) -> Result<FieldTable, String> {
    let mut fields = FieldTable::new();
    for (name, value) in table.iter() {
        let key = FieldName::try_from(short("argument name", name)?).map_err(|error| error.to_string())?;
        fields.insert(key, field(name, value)?);
    }
    Ok(fields)
}

fn field(name: &str, value: &Value) -> Result<FieldValue, String> {
    let too_large = || format!("the argument {name} is larger than AMQP can carry");
    Ok(match value {
        Value::Bool(b) => FieldValue::t(*b),
        Value::I8(n) => FieldValue::b(*n),
        Value::U8(n) => FieldValue::B(*n),
        Value::I16(n) => FieldValue::s(*n),
        Value::U16(n) => FieldValue::u(*n),
        Value::I32(n) => FieldValue::I(*n),
        Value::U32(n) => FieldValue::i(*n),
        Value::I64(n) => FieldValue::l(*n),
        Value::F32(x) => FieldValue::f(*x),
        Value::F64(x) => FieldValue::d(*x),
        // The four bytes are the same; RabbitMQ reads them without a sign.
        Value::Decimal { scale, unscaled } => FieldValue::D(DecimalValue::new(*scale, unscaled.cast_signed())),
        Value::LongStr(bytes) => {
            let text = String::from_utf8(bytes.clone()).map_err(|_| {
                format!("the argument {name} is a string that is not UTF-8, which this client cannot send")
            })?;
            FieldValue::S(LongStr::try_from(text).map_err(|_| too_large())?)
        }
        Value::Binary(bytes) => FieldValue::x(bytes.clone().try_into().map_err(|_| too_large())?),
        Value::Timestamp(seconds) => FieldValue::T(*seconds),
        Value::Array(values) => {
            let values = values.iter().map(|value| field(name, value)).collect::<Result<Vec<_>, _>>()?;
            FieldValue::A(FieldArray::try_from(values).map_err(|_| too_large())?)
        }
        Value::Table(inner) => FieldValue::F(table(inner)?),
        Value::Void => FieldValue::V,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_keeps_its_wire_type() {
        let all = [
            Value::Bool(true),
            Value::I8(-1),
            Value::U8(1),
            Value::I16(-1),
            Value::U16(1),
            Value::I32(-1),
            Value::U32(1),
            Value::I64(-1),
            Value::F32(1.5),
            Value::F64(1.5),
            Value::Decimal { scale: 2, unscaled: u32::MAX },
            Value::text("é"),
            Value::Binary(vec![0, 255]),
            Value::Timestamp(1),
            Value::Array(vec![Value::Void]),
            Value::Table(Table::from([("k", 1)])),
            Value::Void,
        ];
        for value in all {
            let letter = format!("{:?}", field("x", &value).unwrap()).chars().next().unwrap();
            assert_eq!(letter, value.wire_letter(), "{value:?}");
        }
    }

    #[test]
    fn what_amqprs_cannot_carry_is_a_sentence() {
        let long = "q".repeat(256);
        assert_eq!(
            short("queue name", &long).unwrap_err(),
            "the queue name \"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq…\" has 256 bytes of UTF-8; AMQP carries at most 255, so choose a shorter one"
        );
        assert!(short("queue name", &"q".repeat(255)).is_ok());
        assert!(table(&Table::new().with(long, true)).unwrap_err().starts_with("the argument name"));
        let bytes = Table::new().with("x-a", Value::Array(vec![Value::LongStr(vec![0xff])]));
        assert_eq!(
            table(&bytes).unwrap_err(),
            "the argument x-a is a string that is not UTF-8, which this client cannot send"
        );
    }
}
