//! Reading and writing values through serde, the same for JSON and YAML.

use super::{Table, Value};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{self, DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::HashSet;
use std::fmt;

/// 2⁶³ as a double: from here on a number without a fraction cannot be told from a whole number that is too large.
const WHOLE_LIMIT: f64 = 9_223_372_036_854_775_808.0;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::I64(number) => serializer.serialize_i64(*number),
            Self::F64(number) if number.is_finite() && number.abs() < WHOLE_LIMIT => serializer.serialize_f64(*number),
            Self::F64(number) if number.is_finite() => tagged(serializer, "@d", number),
            Self::F64(number) => tagged(serializer, "@d", &format!("0x{:016x}", number.to_bits())),
            Self::LongStr(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => tagged(serializer, "@S", &STANDARD.encode(bytes)),
            },
            Self::Array(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Self::Table(table) => table.serialize(serializer),
            Self::I8(number) => tagged(serializer, "@b", number),
            Self::U8(number) => tagged(serializer, "@B", number),
            Self::I16(number) => tagged(serializer, "@s", number),
            Self::U16(number) => tagged(serializer, "@u", number),
            Self::I32(number) => tagged(serializer, "@I", number),
            Self::U32(number) => tagged(serializer, "@i", number),
            Self::F32(number) if number.is_finite() => tagged(serializer, "@f", number),
            Self::F32(number) => tagged(serializer, "@f", &format!("0x{:08x}", number.to_bits())),
            Self::Decimal { scale, unscaled } => tagged(serializer, "@D", &(*scale, *unscaled)),
            Self::Binary(bytes) => tagged(serializer, "@x", &STANDARD.encode(bytes)),
            Self::Timestamp(seconds) => tagged(serializer, "@T", seconds),
            Self::Void => tagged(serializer, "@V", &()),
        }
    }
}

fn tagged<S: Serializer, T: Serialize>(serializer: S, tag: &str, value: &T) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(tag, value)?;
    map.end()
}

/// The entries of a table without the `@F` guard.
struct Plain<'a>(&'a Table);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.sorted_entries().into_iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Sorted first, such a name would be read as a type.
        if self.iter().any(|(name, _)| name.starts_with('@')) {
            return tagged(serializer, "@F", &Plain(self));
        }
        Plain(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Table {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor;
        impl<'de> Visitor<'de> for TableVisitor {
            type Value = Table;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a mapping of argument names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table, A::Error> {
                match read_map(map)? {
                    Value::Table(table) => Ok(table),
                    other => Err(A::Error::custom(format!(
                        "expected a mapping of argument names to values, found the single value {}",
                        other.to_json()
                    ))),
                }
            }
        }
        deserializer.deserialize_map(TableVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a boolean, a number, a string, a list or a mapping")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::I64(number))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Value, E> {
        i64::try_from(number).map(Value::I64).map_err(|_| too_large(number))
    }

    fn visit_i128<E: de::Error>(self, number: i128) -> Result<Value, E> {
        i64::try_from(number).map(Value::I64).map_err(|_| too_large(number))
    }

    fn visit_u128<E: de::Error>(self, number: u128) -> Result<Value, E> {
        i64::try_from(number).map(Value::I64).map_err(|_| too_large(number))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        if number.abs() >= WHOLE_LIMIT {
            return Err(E::custom(format!(
                "the number {number:e} is outside ±2^63; a double of that size is written {{\"@d\": {number:e}}}"
            )));
        }
        Ok(Value::F64(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Err(E::custom("null is no AMQP value; leave the argument out, or write {\"@V\": null} for AMQP's void"))
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        read_map(map)
    }
}

fn too_large<E: de::Error>(number: impl fmt::Display) -> E {
    E::custom(format!("the whole number {number} is outside ±2^63"))
}

fn read_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<Value, A::Error> {
    let Some(first) = map.next_key::<String>()? else {
        return Ok(Value::Table(Table::new()));
    };
    if first.starts_with('@') {
        let tag = Tag::parse(&first);
        // Whether this is a tagged value shows only at the second key: a table may well have names that start with '@'.
        match tag {
            Some(tag) => {
                let value = map.next_value_seed(tag)?;
                return match map.next_key::<String>()? {
                    None => Ok(value),
                    Some(second) => Err(A::Error::custom(format!(
                        "\"{first}\" tags a single value and cannot stand beside \"{second}\"; a table with such a name is written {{\"@F\": {{…}}}}"
                    ))),
                };
            }
            None => {
                return Err(A::Error::custom(format!(
                    "\"{first}\" is no AMQP type; the types are @b @B @s @u @I @i @l @f @d @D @x @S @T @V @t @A @F, and a table with a name that starts with @ is written {{\"@F\": {{…}}}}"
                )));
            }
        }
    }
    let mut entries = Entries::default();
    entries.push(first, map.next_value()?)?;
    while let Some(name) = map.next_key()? {
        entries.push(name, map.next_value()?)?;
    }
    Ok(Value::Table(Table::from_distinct(entries.list)))
}

/// A table of fewer entries is searched faster than it is indexed.
const FEW: usize = 16;

/// Entries while they are read. A document may hold very many, so repeated names are looked up rather than searched for.
#[derive(Default)]
struct Entries {
    list: Vec<(String, Value)>,
    names: HashSet<String>,
}

impl Entries {
    fn push<E: de::Error>(&mut self, name: String, value: Value) -> Result<(), E> {
        let repeated = if self.list.len() < FEW {
            self.list.iter().any(|(known, _)| *known == name)
        } else {
            if self.names.is_empty() {
                self.names.extend(self.list.iter().map(|(known, _)| known.clone()));
            }
            !self.names.insert(name.clone())
        };
        if repeated {
            return Err(E::custom(format!("duplicate key \"{name}\"")));
        }
        self.list.push((name, value));
        Ok(())
    }
}

/// The type that `@letter` names; as a seed it reads the value of that type.
#[derive(Clone, Copy)]
struct Tag(char);

impl Tag {
    fn parse(key: &str) -> Option<Self> {
        let mut rest = key.chars().skip(1);
        match (rest.next(), rest.next()) {
            (Some(letter), None) if "tbBsuIilfdDSxTVAF".contains(letter) => Some(Self(letter)),
            _ => None,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Tag {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Ok(match self.0 {
            't' => Value::Bool(bool::deserialize(deserializer)?),
            'b' => Value::I8(i8::deserialize(deserializer)?),
            'B' => Value::U8(u8::deserialize(deserializer)?),
            's' => Value::I16(i16::deserialize(deserializer)?),
            'u' => Value::U16(u16::deserialize(deserializer)?),
            'I' => Value::I32(i32::deserialize(deserializer)?),
            'i' => Value::U32(u32::deserialize(deserializer)?),
            'l' => Value::I64(i64::deserialize(deserializer)?),
            'f' => match Float::deserialize(deserializer)? {
                #[expect(clippy::cast_possible_truncation, reason = "a binary32 was written, so it is read as one")]
                Float::Number(number) => Value::F32(number as f32),
                Float::Bits(text) => Value::F32(f32::from_bits(
                    bits(&text).and_then(|b| u32::try_from(b).ok()).ok_or_else(|| bad_bits(&text))?,
                )),
            },
            'd' => match Float::deserialize(deserializer)? {
                Float::Number(number) => Value::F64(number),
                Float::Bits(text) => Value::F64(f64::from_bits(bits(&text).ok_or_else(|| bad_bits(&text))?)),
            },
            'D' => {
                let (scale, unscaled) = <(u8, u32)>::deserialize(deserializer)?;
                Value::Decimal { scale, unscaled }
            }
            'S' => Value::LongStr(bytes(deserializer)?),
            'x' => Value::Binary(bytes(deserializer)?),
            'T' => Value::Timestamp(u64::deserialize(deserializer)?),
            'A' => Value::Array(Vec::deserialize(deserializer)?),
            'F' => Value::Table(deserializer.deserialize_map(PlainTable)?),
            _ => {
                <()>::deserialize(deserializer)?;
                Value::Void
            }
        })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Float {
    Number(f64),
    Bits(String),
}

fn bits(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

fn bad_bits<E: de::Error>(text: &str) -> E {
    E::custom(format!("\"{text}\" is no number and no 0x… bit pattern of one"))
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(&text).map_err(|_| D::Error::custom(format!("\"{text}\" is not base64")))
}

/// The inside of `@F`: names are names, whatever they start with.
struct PlainTable;

impl<'de> Visitor<'de> for PlainTable {
    type Value = Table;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping of names to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table, A::Error> {
        let mut entries = Entries::default();
        while let Some(name) = map.next_key()? {
            entries.push(name, map.next_value()?)?;
        }
        Ok(Table::from_distinct(entries.list))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_with_a_name_like_a_type_reads_back() {
        let table: Table = serde_json::from_str(r#"{"":0,"@d":1}"#).unwrap();
        assert_eq!(serde_json::to_string(&table).unwrap(), r#"{"@F":{"":0,"@d":1}}"#);
        let table: Table = serde_json::from_str(r#"{"a":0,"@d":1}"#).unwrap();
        let printed = serde_json::to_string(&table).unwrap();
        assert_eq!(printed, r#"{"@F":{"@d":1,"a":0}}"#);
        assert_eq!(serde_json::from_str::<Table>(&printed).unwrap(), table.sorted());
    }

    #[test]
    fn a_double_keeps_its_last_bit() {
        // 1 − 2⁻⁵³ and the double above 0.1: readers that multiply powers of ten lose the last bit of such numbers.
        for (text, bits) in
            [("0.9999999999999999", 0x3fef_ffff_ffff_ffff), ("0.10000000000000002", 0x3fb9_9999_9999_999b)]
        {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value, Value::F64(f64::from_bits(bits)));
            assert_eq!(value.to_json(), text);
        }
    }
}
