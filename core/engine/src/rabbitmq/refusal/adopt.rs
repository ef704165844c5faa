//! Taking over what a broker printed: from the text of a value back to a value that the broker finds equal.

use super::{Printed, Refusal};
use crate::rabbitmq::arguments::check::{Rule, check_of};
use crate::rabbitmq::{QueueType, Version};
use crate::value::Value;

/// The value to send so that the broker finds it equal to what it `printed` for `argument`, or for the property `durable`,
/// `auto_delete`, `internal` or `type`.
///
/// Numbers, texts and booleans come back. Tables, arrays and decimals never do: they are printed like texts of the same
/// look, and a decimal that differs crashes the broker's comparison (541). Neither does a value that is not UTF-8. From
/// 4.3.6 `x-max-age` is printed in milliseconds; it comes back in seconds, which a broker that compares durations finds
/// equal.
///
/// ```
/// use acemq_core::rabbitmq::{Printed, typed_value};
/// use acemq_core::value::Value;
///
/// let printed = Printed { value: "86400000".to_owned(), kind: None };
/// assert_eq!(typed_value("x-message-ttl", &printed), Some(Value::I64(86_400_000)));
/// assert_eq!(typed_value("x-dead-letter-routing-key", &printed), Some(Value::from("86400000")));
/// assert_eq!(typed_value("x-max-age", &printed), Some(Value::from("86400s")));
/// ```
pub fn typed_value(argument: &str, printed: &Printed) -> Option<Value> {
    let text = printed.value.as_str();
    if text.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    match printed.kind.as_deref() {
        Some("longstr" | "binary") => text_value(argument, text),
        Some("bool") => text.parse().ok().map(Value::Bool),
        Some("signedint" | "unsignedint" | "long" | "short" | "unsignedshort" | "byte" | "unsignedbyte") => {
            text.parse().ok().map(Value::I64)
        }
        Some("timestamp") => text.parse().ok().map(Value::Timestamp),
        Some("float" | "double") => double(text),
        Some(_) => None,
        None => match Shape::of(argument) {
            Shape::Integer => text.parse().ok().map(Value::I64).or_else(|| double(text)),
            Shape::Boolean => text.parse().ok().map(Value::Bool),
            Shape::Text => text_value(argument, text),
            Shape::Unchecked => by_its_looks(argument, text),
        },
    }
}

impl Refusal {
    /// The value that is there, as [`typed_value`] gives it, knowing what was `sent`.
    ///
    /// Where both sides print alike the one that is there has another type than the one that was sent: a text for a number,
    /// or a number for a text.
    pub fn current_value(&self, argument: &str, sent: Option<&Value>) -> Option<Value> {
        let printed = self.current.as_ref()?;
        let value = typed_value(argument, printed);
        // With a printed type on one side only, that side is the only one.
        let alike = printed.kind.is_none() && self.received.as_ref() == Some(printed);
        let (true, Some(sent)) = (alike, sent) else { return value };
        let is_text = |value: &Value| matches!(value, Value::LongStr(_) | Value::Binary(_));
        match is_text(sent) {
            true => value.into_iter().chain(by_its_looks(argument, &printed.value)).find(|value| !is_text(value)),
            false => Some(Value::text(printed.value.clone())),
        }
    }
}

/// What an argument's value must be on every broker, as far as brokers check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Integer,
    Boolean,
    Text,
    /// Any type may be there.
    Unchecked,
}

impl Shape {
    fn of(argument: &str) -> Self {
        match argument {
            "durable" | "auto_delete" | "internal" => return Self::Boolean,
            "type" | "alternate-exchange" | "x-queue-mode" => return Self::Text,
            _ => {}
        }
        let rule = QueueType::ALL
            .into_iter()
            .find_map(|kind| check_of(Version::NEWEST, kind, argument))
            .map(|check| check.rule);
        match rule {
            None => Self::Unchecked,
            Some(
                Rule::Expiry
                | Rule::TimeToLive
                | Rule::NonNegative
                | Rule::Positive
                | Rule::Priority
                | Rule::QueueVersion,
            ) => Self::Integer,
            Some(Rule::Boolean) => Self::Boolean,
            Some(
                Rule::ExchangeName
                | Rule::DeadLetterRoutingKey
                | Rule::OneOf(..)
                | Rule::QueueMode
                | Rule::Type
                | Rule::MaxAge,
            ) => Self::Text,
        }
    }
}

fn by_its_looks(argument: &str, text: &str) -> Option<Value> {
    match text {
        "true" | "false" => text.parse().ok().map(Value::Bool),
        _ => text.parse().ok().map(Value::I64).or_else(|| double(text)).or_else(|| text_value(argument, text)),
    }
}

fn text_value(argument: &str, text: &str) -> Option<Value> {
    match argument {
        "x-max-age" if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
            let milliseconds: u64 = text.parse().ok()?;
            // Every unit of an age is whole seconds, so no stored age prints anything else.
            milliseconds.is_multiple_of(1000).then(|| Value::text(format!("{}s", milliseconds / 1000)))
        }
        // Erlang puts quotes around an exchange type that is no plain atom.
        "type" => Some(Value::text(text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or(text))),
        _ if looks_like_a_term(text) => None,
        _ => Some(Value::text(text)),
    }
}

/// Whether this is how Erlang prints a table, an array or a decimal.
fn looks_like_a_term(text: &str) -> bool {
    text == "[]" || text.starts_with("[{") || (text.starts_with('{') && text.ends_with('}') && text.contains(','))
}

/// A float in Erlang's print, which always has a point: `6.0e4`.
fn double(text: &str) -> Option<Value> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let printed = digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.');
    let number: f64 = text.parse().ok().filter(|_| printed)?;
    number.is_finite().then_some(Value::F64(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rabbitmq::Known;

    fn bare(argument: &str, value: &str) -> Option<Value> {
        typed_value(argument, &Printed { value: value.into(), kind: None })
    }

    fn typed(argument: &str, value: &str, kind: &str) -> Option<Value> {
        typed_value(argument, &Printed { value: value.into(), kind: Some(kind.into()) })
    }

    #[test]
    fn without_a_printed_type_the_argument_tells_it() {
        assert_eq!(bare("x-message-ttl", "60000"), Some(Value::I64(60000)));
        assert_eq!(bare("x-max-priority", "10"), Some(Value::I64(10)));
        assert_eq!(bare("x-single-active-consumer", "true"), Some(Value::Bool(true)));
        assert_eq!(bare("x-dead-letter-exchange", "true"), Some(Value::from("true")));
        assert_eq!(bare("x-dead-letter-routing-key", "42"), Some(Value::from("42")));
        assert_eq!(bare("x-dead-letter-exchange", ""), Some(Value::from("")));
        assert_eq!(bare("alternate-exchange", "5"), Some(Value::from("5")));
        assert_eq!(bare("x-queue-type", "quorum"), Some(Value::from("quorum")));
        assert_eq!(bare("durable", "true"), Some(Value::Bool(true)));
        assert_eq!(bare("type", "'x-delayed-message'"), Some(Value::from("x-delayed-message")));
    }

    #[test]
    fn an_argument_that_brokers_do_not_check_is_taken_by_its_looks() {
        assert_eq!(bare("x-delivery-limit", "-1"), Some(Value::I64(-1)));
        assert_eq!(bare("x-delivery-limit", "five"), Some(Value::from("five")));
        assert_eq!(bare("x-delivery-limit", "6.0e4"), Some(Value::F64(60000.0)));
        assert_eq!(bare("x-queue-master-locator", "min-masters"), Some(Value::from("min-masters")));
    }

    #[test]
    fn a_printed_type_is_taken_at_its_word() {
        assert_eq!(typed("x-message-ttl", "60000", "signedint"), Some(Value::I64(60000)));
        assert_eq!(typed("x-message-ttl", "60000", "longstr"), Some(Value::from("60000")));
        assert_eq!(typed("x-message-ttl", "6.0e4", "double"), Some(Value::F64(60000.0)));
        assert_eq!(typed("x-single-active-consumer", "true", "bool"), Some(Value::Bool(true)));
        assert_eq!(typed("x-message-ttl", "99999999999999999999", "long"), None);
    }

    #[test]
    fn tables_arrays_decimals_and_damaged_texts_are_never_sent_back() {
        assert_eq!(typed("x-message-ttl", "{0,5}", "decimal"), None);
        assert_eq!(typed("x-message-ttl", "[{signedint,1}]", "array"), None);
        assert_eq!(bare("x-message-ttl", "[{signedint,1}]"), None);
        assert_eq!(bare("x-message-ttl", "{2,314}"), None);
        assert_eq!(bare("x-delivery-limit", "{2,314}"), None);
        assert_eq!(bare("x-queue-master-locator", "[{<<\"a\">>,signedint,1}]"), None);
        assert_eq!(bare("x-dead-letter-exchange", "gr\u{fffd}\u{fffd}e"), None);
    }

    #[test]
    fn an_age_in_milliseconds_comes_back_in_seconds() {
        // 4.3.6 printed '86400000' for a stored 1D.
        assert_eq!(bare("x-max-age", "86400000"), Some(Value::from("86400s")));
        assert_eq!(typed("x-max-age", "86400000", "longstr"), Some(Value::from("86400s")));
        assert_eq!(bare("x-max-age", "7D"), Some(Value::from("7D")));
        assert_eq!(bare("x-max-age", "1500"), None);
    }

    #[test]
    fn of_two_sides_that_print_alike_the_other_type_is_there() {
        let text = "inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': received '5' but current is '5'";
        let refusal = Refusal::read(Some(406), text, Known::default());
        let current = |sent: &Value| refusal.current_value("x-delivery-limit", Some(sent));
        assert_eq!(current(&Value::I64(5)), Some(Value::from("5")));
        assert_eq!(current(&Value::from("5")), Some(Value::I64(5)));
        // Every width of integer is one class, so none of them is what is there.
        assert_eq!(current(&Value::U8(5)), Some(Value::from("5")));
        assert_eq!(current(&Value::Binary(b"5".to_vec())), Some(Value::I64(5)));
        let text = "inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received '9' but current is '8'";
        let refusal = Refusal::read(Some(406), text, Known::default());
        assert_eq!(refusal.current_value("x-message-ttl", Some(&Value::I64(9))), Some(Value::I64(8)));
    }
}
