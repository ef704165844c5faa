//! Tables as `{type octet: value}`, in their own order.

use acemq_core::value::{Table, Value};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// `bytes` as text: `bytes:` and hexadecimal when it is no UTF-8.
pub(crate) fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().fold("bytes:".to_owned(), |out, byte| out + &format!("{byte:02x}")),
    }
}

/// A table in this notation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typed<'a>(pub(crate) &'a Table);

struct TypedValue<'a>(&'a Value);

struct TypedItems<'a>(&'a [Value]);

impl Typed<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Typed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter() {
            map.serialize_entry(name, &TypedValue(value))?;
        }
        map.end()
    }
}

impl Serialize for TypedItems<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut seq = serializer.serialize_seq(Some(self.0.len()))?;
        for item in self.0 {
            seq.serialize_element(&TypedValue(item))?;
        }
        seq.end()
    }
}

impl Serialize for TypedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let letter = self.0.wire_letter().to_string();
        let mut map = serializer.serialize_map(Some(1))?;
        match self.0 {
            Value::Bool(flag) => map.serialize_entry(&letter, flag),
            Value::I8(number) => map.serialize_entry(&letter, number),
            Value::U8(number) => map.serialize_entry(&letter, number),
            Value::I16(number) => map.serialize_entry(&letter, number),
            Value::U16(number) => map.serialize_entry(&letter, number),
            Value::I32(number) => map.serialize_entry(&letter, number),
            Value::U32(number) => map.serialize_entry(&letter, number),
            Value::I64(number) => map.serialize_entry(&letter, number),
            Value::F32(number) => map.serialize_entry(&letter, number),
            Value::F64(number) => map.serialize_entry(&letter, number),
            Value::Decimal { scale, unscaled } => map.serialize_entry(&letter, &(*scale, *unscaled)),
            Value::LongStr(bytes) | Value::Binary(bytes) => map.serialize_entry(&letter, &shown(bytes)),
            Value::Timestamp(seconds) => map.serialize_entry(&letter, seconds),
            Value::Array(items) => map.serialize_entry(&letter, &TypedItems(items)),
            Value::Table(table) => map.serialize_entry(&letter, &Typed(table)),
            Value::Void => map.serialize_entry(&letter, &()),
        }?;
        map.end()
    }
}
