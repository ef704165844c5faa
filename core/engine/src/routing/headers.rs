//! Headers exchanges: the arguments of a binding against the headers of a message.
//!
//! `x-match` says how: `all` (also when absent) and `any` leave out every argument whose name starts with `x-`; `all-with-x`
//! and `any-with-x` (3.10 and later) leave out `x-match` only. A binding without criteria matches every message with
//! `all`, and none with `any`. An argument of type void asks only that the header be there.
//!
//! Values are compared without their types, and the comparison changed:
//!
//! | | up to 3.12 | from 3.13 |
//! |---|---|---|
//! | 5 and 5.0 | equal | differ |
//! | timestamp in the message | its seconds | its milliseconds: 1000 times the number |
//! | timestamp in the binding | its seconds | its seconds, still |
//!
//! Source: `rabbit_exchange_type_headers:headers_match`, `match_all`, `match_any`; `mc_amqpl:routing_headers`.

use crate::rabbitmq::Version;
use crate::rabbitmq::changes::EXACT_HEADERS;
use crate::value::{Table, Value};
use std::cmp::Ordering;

/// How many of a binding's criteria a message must fulfil, and whether arguments named `x-…` are among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadersMatch {
    /// All, without `x-…`. What an absent `x-match` means.
    All,
    /// At least one, without `x-…`.
    Any,
    /// All, `x-…` included.
    AllWithX,
    /// At least one, `x-…` included.
    AnyWithX,
}

impl HeadersMatch {
    /// What the `x-match` of a stored binding means. Anything that is none of the four texts means `all`: a broker that
    /// validates would not have stored it.
    pub fn of(arguments: &Table) -> Self {
        match arguments.get(X_MATCH).and_then(Value::as_text) {
            Some("any") => Self::Any,
            Some("all-with-x") => Self::AllWithX,
            Some("any-with-x") => Self::AnyWithX,
            _ => Self::All,
        }
    }

    /// Whether one criterion is enough.
    pub fn is_any(self) -> bool {
        matches!(self, Self::Any | Self::AnyWithX)
    }

    /// Whether the argument of that name is a criterion.
    pub fn considers(self, argument: &str) -> bool {
        match self {
            Self::All | Self::Any => !argument.starts_with("x-"),
            Self::AllWithX | Self::AnyWithX => argument != X_MATCH,
        }
    }
}

const X_MATCH: &str = "x-match";

/// One criterion of a headers binding, held against a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion<'a> {
    /// The argument's name.
    pub name: &'a str,
    /// What the binding asks for.
    pub wanted: &'a Value,
    /// What the message has.
    pub found: Option<&'a Value>,
    /// Whether that fulfils it.
    pub fulfilled: bool,
}

/// The criteria of a binding held against the headers of a message, in the binding's order.
pub fn criteria<'a>(version: Version, arguments: &'a Table, headers: &'a Table) -> impl Iterator<Item = Criterion<'a>> {
    let kind = HeadersMatch::of(arguments);
    arguments.iter().filter(move |(name, _)| kind.considers(name)).map(move |(name, wanted)| {
        let found = headers.get(name);
        let fulfilled = found.is_some_and(|found| fulfils(version, wanted, found));
        Criterion { name, wanted, found, fulfilled }
    })
}

/// Whether a message with `headers` fits a headers binding with `arguments`.
pub fn headers_match(version: Version, arguments: &Table, headers: &Table) -> bool {
    let mut criteria = criteria(version, arguments, headers);
    if HeadersMatch::of(arguments).is_any() {
        criteria.any(|criterion| criterion.fulfilled)
    } else {
        criteria.all(|criterion| criterion.fulfilled)
    }
}

/// Whether the header `found` is what the binding's `wanted` asks for.
fn fulfils(version: Version, wanted: &Value, found: &Value) -> bool {
    if *wanted == Value::Void {
        return true;
    }
    let comparison = if EXACT_HEADERS.holds(version) { Comparison::Exact } else { Comparison::Numeric };
    match (comparison, found) {
        (Comparison::Exact, Value::Timestamp(seconds)) => {
            Number::of(wanted) == Some(Number::Integer(i128::from(*seconds) * 1000))
        }
        _ => same(comparison, wanted, found),
    }
}

/// How numbers compare in Erlang: `==` or `=:=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// 5 equals 5.0.
    Numeric,
    /// An integer never equals a float.
    Exact,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn of(value: &Value) -> Option<Self> {
        match *value {
            Value::Timestamp(seconds) => Some(Self::Integer(seconds.into())),
            Value::F32(float) => Some(Self::Float(float.into())),
            Value::F64(float) => Some(Self::Float(float)),
            ref other => other.as_integer().map(|number| Self::Integer(number.into())),
        }
    }

    fn equals(self, other: Self, comparison: Comparison) -> bool {
        match (self, other) {
            (Self::Integer(integer), Self::Float(float)) | (Self::Float(float), Self::Integer(integer)) => {
                comparison == Comparison::Numeric && compare_with_float(integer, float) == Some(Ordering::Equal)
            }
            (same, kind) => same == kind,
        }
    }
}

/// Compares without rounding the integer.
fn compare_with_float(integer: i128, float: f64) -> Option<Ordering> {
    // No 64-bit number reaches 2^64, and below it a float without fraction converts exactly.
    const OUT_OF_REACH: f64 = 18_446_744_073_709_551_616.0;
    if float.fract() != 0.0 || float.abs() > OUT_OF_REACH {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "checked: no fraction, within the range")]
    let whole = float as i128;
    Some(integer.cmp(&whole))
}

/// Equality of the bare values, as the broker's Erlang terms have it: nested values carry their types, the outermost does
/// not.
fn same(comparison: Comparison, wanted: &Value, found: &Value) -> bool {
    if let (Some(wanted), Some(found)) = (Number::of(wanted), Number::of(found)) {
        return wanted.equals(found, comparison);
    }
    match (wanted, found) {
        (Value::LongStr(a) | Value::Binary(a), Value::LongStr(b) | Value::Binary(b)) => a == b,
        (Value::Table(a), Value::Table(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|((a, v), (b, w))| a == b && same_nested(comparison, v, w))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_nested(comparison, a, b))
        }
        // Both are the empty list.
        (Value::Table(table), Value::Array(array)) | (Value::Array(array), Value::Table(table)) => {
            table.is_empty() && array.is_empty()
        }
        (a, b) => a == b,
    }
}

fn same_nested(comparison: Comparison, wanted: &Value, found: &Value) -> bool {
    wanted.wire_letter() == found.wire_letter() && same(comparison, wanted, found)
}
