//! AMQP 0-9-1 field values and tables, and the one canonical form that every language prints.
//!
//! A declaration carries an *argument table*: names with typed values. The broker compares these tables, so the type that
//! goes over the wire matters. JSON has fewer types than AMQP; this module fixes how each value is written:
//!
//! | JSON | AMQP |
//! |---|---|
//! | `true`, `false` | bool `t` |
//! | whole number within ±2⁶³ | 64-bit integer `l` |
//! | number with a fraction or an exponent | double `d` |
//! | string | long string `S` |
//! | array, object | array `A`, table `F` |
//! | object with one key, `@` and the wire letter | that type: `{"@T":1700000000}`, `{"@V":null}`, `{"@x":"base64"}` |
//!
//! A table in which a name starts with `@` is written `{"@F":{…}}`, and a long string that is not UTF-8
//! `{"@S":"base64"}`, so every value has exactly one reading.
//!
//! ```
//! use acemq_core::value::{Table, Value};
//!
//! let table: Table = serde_json::from_str(r#"{"x-message-ttl":60000,"x-single-active-consumer":true}"#).unwrap();
//! assert_eq!(table.get("x-message-ttl"), Some(&Value::I64(60000)));
//! ```

mod canonical;
mod json;
mod schema;

pub use canonical::fingerprint;
pub(crate) use canonical::{write_string, write_table};

use std::borrow::Cow;

/// `1 object`, `2 objects`, `2 classes`
pub(crate) fn counted<N: std::fmt::Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    match (count == N::from(1), noun.ends_with('s')) {
        (true, _) => format!("1 {noun}"),
        (false, false) => format!("{count} {noun}s"),
        (false, true) => format!("{count} {noun}es"),
    }
}

/// A name as it is shown to people: control characters as `\u{..}`, everything else as it is.
///
/// RabbitMQ allows any UTF-8 in a name, so a name may hold what would move the cursor of a terminal.
pub fn shown_name(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len() + 8);
    for c in name.chars() {
        if c.is_control() {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// One AMQP 0-9-1 field value, with the type that travels on the wire.
///
/// Equality is exact: same wire type and same content (floats by their bits). RabbitMQ's own looser comparison is
/// [`rabbitmq`](crate::rabbitmq)'s business.
#[derive(Debug, Clone)]
pub enum Value {
    /// `t`
    Bool(bool),
    /// `b`
    I8(i8),
    /// `B`
    U8(u8),
    /// `s`
    I16(i16),
    /// `u`
    U16(u16),
    /// `I`
    I32(i32),
    /// `i`
    U32(u32),
    /// `l` (and `L`): what every whole number of a document becomes.
    I64(i64),
    /// `f`
    F32(f32),
    /// `d`
    F64(f64),
    /// `D`: `unscaled / 10^scale`.
    Decimal {
        /// Number of decimal places.
        scale: u8,
        /// The digits, as an unsigned 32-bit number as RabbitMQ reads them.
        unscaled: u32,
    },
    /// `S`: any bytes, usually UTF-8.
    LongStr(Vec<u8>),
    /// `x`
    Binary(Vec<u8>),
    /// `T`: seconds since 1970.
    Timestamp(u64),
    /// `A`
    Array(Vec<Value>),
    /// `F`
    Table(Table),
    /// `V`
    Void,
}

impl Value {
    /// A long string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::LongStr(text.into().into_bytes())
    }

    /// The text of a long string that is UTF-8.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::LongStr(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// The number of an integer of any width. A timestamp or a decimal is no integer.
    pub fn as_integer(&self) -> Option<i64> {
        match *self {
            Self::I8(n) => Some(n.into()),
            Self::U8(n) => Some(n.into()),
            Self::I16(n) => Some(n.into()),
            Self::U16(n) => Some(n.into()),
            Self::I32(n) => Some(n.into()),
            Self::U32(n) => Some(n.into()),
            Self::I64(n) => Some(n),
            _ => None,
        }
    }

    /// The letter that stands before the value on the wire.
    pub fn wire_letter(&self) -> char {
        match self {
            Self::Bool(_) => 't',
            Self::I8(_) => 'b',
            Self::U8(_) => 'B',
            Self::I16(_) => 's',
            Self::U16(_) => 'u',
            Self::I32(_) => 'I',
            Self::U32(_) => 'i',
            Self::I64(_) => 'l',
            Self::F32(_) => 'f',
            Self::F64(_) => 'd',
            Self::Decimal { .. } => 'D',
            Self::LongStr(_) => 'S',
            Self::Binary(_) => 'x',
            Self::Timestamp(_) => 'T',
            Self::Array(_) => 'A',
            Self::Table(_) => 'F',
            Self::Void => 'V',
        }
    }

    /// How many bytes the value takes on the wire, its letter included.
    pub(crate) fn encoded_len(&self) -> usize {
        1 + match self {
            Self::Bool(_) | Self::I8(_) | Self::U8(_) => 1,
            Self::I16(_) | Self::U16(_) => 2,
            Self::I32(_) | Self::U32(_) | Self::F32(_) => 4,
            Self::I64(_) | Self::F64(_) | Self::Timestamp(_) => 8,
            Self::Decimal { .. } => 5,
            Self::LongStr(bytes) | Self::Binary(bytes) => 4 + bytes.len(),
            Self::Array(items) => 4 + items.iter().map(Self::encoded_len).sum::<usize>(),
            Self::Table(table) => table.encoded_len(),
            Self::Void => 0,
        }
    }

    /// The compact JSON of this value, as the table in the [module description](self) gives it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::I8(a), Self::I8(b)) => a == b,
            (Self::U8(a), Self::U8(b)) => a == b,
            (Self::I16(a), Self::I16(b)) => a == b,
            (Self::U16(a), Self::U16(b)) => a == b,
            (Self::I32(a), Self::I32(b)) => a == b,
            (Self::U32(a), Self::U32(b)) => a == b,
            (Self::I64(a), Self::I64(b)) => a == b,
            (Self::F32(a), Self::F32(b)) => a.to_bits() == b.to_bits(),
            (Self::F64(a), Self::F64(b)) => a.to_bits() == b.to_bits(),
            (Self::Decimal { scale: s, unscaled: u }, Self::Decimal { scale, unscaled }) => s == scale && u == unscaled,
            (Self::LongStr(a), Self::LongStr(b)) | (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Timestamp(a), Self::Timestamp(b)) => a == b,
            (Self::Array(a), Self::Array(b)) => a == b,
            (Self::Table(a), Self::Table(b)) => a == b,
            (Self::Void, Self::Void) => true,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<i32> for Value {
    /// Whole numbers of a program become 64-bit integers, as those of a document do.
    fn from(value: i32) -> Self {
        Self::I64(value.into())
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::I64(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::text(value)
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::text(value)
    }
}

/// An AMQP field table: names with values, each name once, in the order in which they were added.
///
/// The order is kept because a broker names the *first* argument that is wrong. Everything that the engine prints is sorted
/// by key. Two tables are equal when they hold the same entries in the same order; [`Table::sorted`] gives the form to
/// compare when order does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    entries: Vec<(String, Value)>,
}

impl Table {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// A table of entries whose names are known to differ, without looking at each of them again.
    pub(crate) fn from_distinct(entries: Vec<(String, Value)>) -> Self {
        Self { entries }
    }

    /// The value under `name`.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.entries.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Whether `name` is there.
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Sets `name`, in its old place when it was there; gives back the old value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (name, value) = (name.into(), value.into());
        match self.entries.iter_mut().find(|(key, _)| *key == name) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.entries.push((name, value));
                None
            }
        }
    }

    /// This table with `name` set, for building one in a single expression.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// Takes `name` out.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        let at = self.entries.iter().position(|(key, _)| key == name)?;
        Some(self.entries.remove(at).1)
    }

    /// Entries in their own order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many bytes the table takes on the wire.
    pub(crate) fn encoded_len(&self) -> usize {
        4 + self.entries.iter().map(|(name, value)| 1 + name.len() + value.encoded_len()).sum::<usize>()
    }

    /// The same entries sorted by the bytes of their names; nested tables keep their order, as the broker keeps it.
    #[must_use]
    pub fn sorted(&self) -> Self {
        self.clone().into_sorted()
    }

    /// [`Table::sorted`] without a copy.
    #[must_use]
    pub fn into_sorted(mut self) -> Self {
        self.entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        self
    }

    /// The entries of [`Table::sorted`].
    pub(crate) fn sorted_entries(&self) -> Vec<(&str, &Value)> {
        let mut entries: Vec<_> = self.iter().collect();
        entries.sort_by_key(|(name, _)| *name);
        entries
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Table {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut table = Self::new();
        for (name, value) in entries {
            table.insert(name, value);
        }
        table
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Table {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl IntoIterator for Table {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
