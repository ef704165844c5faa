//! The JSON of a definitions file as the broker's importer understands it.
//!
//! It is not the JSON of a topology document: there are no `@` tags, and a value whose type JSON does not have was replaced
//! when the file was written.

use crate::value::{Table, Value};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An argument table or the definition of a policy.
///
/// Numbers become 64-bit integers or doubles and strings long strings (`rabbit_misc:to_amqp_table`, 3.8 to 4.3). Erlang has
/// one empty list, so an empty table may be written `[]`; operator policies of 3.10 to 4.0 write `[["key", value], …]`.
#[derive(Debug, Default)]
pub(super) struct Arguments(pub(super) Table);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentsVisitor;
        impl<'de> Visitor<'de> for ArgumentsVisitor {
            type Value = Arguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of names and values")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Arguments, A::Error> {
                read_table(map).map(Arguments)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Arguments, A::Error> {
                let mut table = Table::new();
                while let Some((name, Argument(value))) = pairs.next_element::<(String, Argument)>()? {
                    add(&mut table, name, value)?;
                }
                Ok(Arguments(table))
            }
        }
        deserializer.deserialize_any(ArgumentsVisitor)
    }
}

/// One argument value.
struct Argument(Value);

impl<'de> Deserialize<'de> for Argument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentVisitor;
        impl<'de> Visitor<'de> for ArgumentVisitor {
            type Value = Argument;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean, a number, a string, a list or an object")
            }

            fn visit_bool<E>(self, flag: bool) -> Result<Argument, E> {
                Ok(Argument(Value::Bool(flag)))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Argument, E> {
                Ok(Argument(Value::I64(number)))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Argument, E> {
                match i64::try_from(number) {
                    Ok(number) => Ok(Argument(Value::I64(number))),
                    Err(_) => {
                        Err(E::custom(format!("the whole number {number} is over 2^63, which no broker can keep")))
                    }
                }
            }

            fn visit_f64<E>(self, number: f64) -> Result<Argument, E> {
                Ok(Argument(Value::F64(number)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Argument, E> {
                Ok(Argument(Value::text(text)))
            }

            fn visit_string<E>(self, text: String) -> Result<Argument, E> {
                Ok(Argument(Value::text(text)))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Argument, E> {
                Err(E::custom("null is no argument value, and the broker refuses to import it"))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Argument, A::Error> {
                let mut items = Vec::new();
                while let Some(Argument(item)) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Argument(Value::Array(items)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Argument, A::Error> {
                read_table(map).map(|table| Argument(Value::Table(table)))
            }
        }
        deserializer.deserialize_any(ArgumentVisitor)
    }
}

fn read_table<'de, A: MapAccess<'de>>(mut map: A) -> Result<Table, A::Error> {
    let mut table = Table::new();
    while let Some((name, Argument(value))) = map.next_entry::<String, Argument>()? {
        add(&mut table, name, value)?;
    }
    Ok(table)
}

fn add<E: de::Error>(table: &mut Table, name: String, value: Value) -> Result<(), E> {
    if table.contains(&name) {
        return Err(E::custom(format!("duplicate key \"{name}\"")));
    }
    table.insert(name, value);
    Ok(())
}

/// An object whose values are not read yet, in the order of the text, duplicate keys included.
pub(super) struct RawObject<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> RawObject<'a> {
    /// The value under `key`; the last one where a key stands twice, as the broker's own reader has it.
    pub(super) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// The text under `key`, when it is one.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.get(key).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RawObjectVisitor;
        impl<'de> Visitor<'de> for RawObjectVisitor {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    entries.push((entry.0.0, entry.1));
                }
                Ok(RawObject(entries))
            }
        }
        deserializer.deserialize_map(RawObjectVisitor)
    }
}

/// A key, borrowed from the text unless it holds escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);
