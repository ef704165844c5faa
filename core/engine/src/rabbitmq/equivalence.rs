//! When two declarations of one name are the same to RabbitMQ.
//!
//! Each argument on the list of the *existing* queue's type is looked up on both sides. Two values are equal when they are
//! of one class (integers of every width, floats of both) and compare equal, or when their contents are the same whatever
//! their types (a timestamp 5 equals an integer 5, bytes equal a string). An absent `x-queue-type` equals `classic`.
//! Everything else that the tables hold is never looked at.
//!
//! Source: `rabbit_misc:assert_args_equivalence/4`, unchanged from 3.8 to 4.3.

use super::arguments::check::max_age_ms;
use super::arguments::known_arguments;
use super::changes::DURATION_EQUIVALENCE;
use super::{ExchangeDeclaration, QueueDeclaration, QueueType, Version};
use crate::value::{Table, Value};
use std::borrow::Cow;

/// One thing in which a request differs from what is declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The argument, or the property: `exclusive`, `durable`, `auto_delete`, `type`, `internal`.
    pub argument: String,
    /// What the request has.
    pub wanted: Option<Value>,
    /// What is declared.
    pub current: Option<Value>,
    /// Whether the broker compares it. One that it never compares does not stop a declaration, and has no effect.
    pub compared: bool,
}

/// Everything in which `request` differs from the queue `stored`: first what the broker compares, in its order, then the
/// arguments that it never compares, by name.
///
/// `request` is taken as it is: inject the default queue type first
/// ([`effective_request`](crate::rabbitmq::effective_request)). The option that relaxes the check of quorum queues is not
/// regarded.
pub fn queue_differences(version: Version, stored: &QueueDeclaration, request: &QueueDeclaration) -> Vec<Difference> {
    let mut differences = Vec::new();
    property(&mut differences, "exclusive", request.exclusive, stored.exclusive);
    property(&mut differences, "durable", stored_durable(request), stored_durable(stored));
    property(&mut differences, "auto_delete", request.auto_delete, stored.auto_delete);
    let kind = stored.queue_type().unwrap_or(QueueType::Classic);
    let compared: Vec<&str> = known_arguments(version, kind).collect();
    arguments(version, &mut differences, &compared, &stored.arguments, &request.arguments);
    differences
}

/// Everything in which `request` differs from the exchange `stored`, in the broker's order, then the arguments that it never
/// compares, by name.
pub fn exchange_differences(
    version: Version,
    stored: &ExchangeDeclaration,
    request: &ExchangeDeclaration,
) -> Vec<Difference> {
    let mut differences = Vec::new();
    if stored.kind != request.kind {
        differences.push(Difference {
            argument: "type".to_owned(),
            wanted: Some(Value::text(request.kind.as_str())),
            current: Some(Value::text(stored.kind.as_str())),
            compared: true,
        });
    }
    property(&mut differences, "durable", request.durable, stored.durable);
    property(&mut differences, "auto_delete", request.auto_delete, stored.auto_delete);
    property(&mut differences, "internal", request.internal, stored.internal);
    arguments(version, &mut differences, &[ALTERNATE_EXCHANGE], &stored.arguments, &request.arguments);
    differences
}

/// The only argument of an exchange that is compared.
pub(crate) const ALTERNATE_EXCHANGE: &str = "alternate-exchange";

/// An exclusive queue is kept as a transient one, whatever was asked.
pub(crate) fn stored_durable(queue: &QueueDeclaration) -> bool {
    queue.durable && !queue.exclusive
}

fn property(differences: &mut Vec<Difference>, name: &str, wanted: bool, current: bool) {
    if wanted != current {
        differences.push(Difference {
            argument: name.to_owned(),
            wanted: Some(Value::Bool(wanted)),
            current: Some(Value::Bool(current)),
            compared: true,
        });
    }
}

fn arguments(version: Version, differences: &mut Vec<Difference>, compared: &[&str], stored: &Table, request: &Table) {
    let mut add = |name: &str, compared: bool| {
        let (current, wanted) = (stored.get(name), request.get(name));
        let comparable = |value| comparable(version, name, value);
        if compare(name, comparable(current).as_deref(), comparable(wanted).as_deref()) != Comparison::Equivalent {
            differences.push(Difference {
                argument: name.to_owned(),
                wanted: wanted.cloned(),
                current: current.cloned(),
                compared,
            });
        }
    };
    for name in compared {
        add(name, true);
    }
    let mut others: Vec<&str> =
        stored.iter().chain(request.iter()).map(|(name, _)| name).filter(|name| !compared.contains(name)).collect();
    others.sort_unstable();
    others.dedup();
    for name in others {
        add(name, false);
    }
}

/// The value that `version` compares and shows for an argument: from 4.3.6 on an `x-max-age` counts by its duration in
/// milliseconds, so that `1D` equals `24h`; one that is no duration stays as it is.
pub(crate) fn comparable<'a>(version: Version, name: &str, value: Option<&'a Value>) -> Option<Cow<'a, Value>> {
    let value = value?;
    match value {
        Value::LongStr(bytes) if name == "x-max-age" && DURATION_EQUIVALENCE.holds(version) => {
            Some(max_age_ms(bytes).map_or(Cow::Borrowed(value), |ms| Cow::Owned(Value::text(ms.to_string()))))
        }
        _ => Some(Cow::Borrowed(value)),
    }
}

/// What the comparison of one argument gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equivalent,
    Different,
    /// Different, and the broker fails to say so: 541.
    Crash,
}

/// Compares the argument `name` of a stored table and a received one.
pub(crate) fn compare(name: &str, stored: Option<&Value>, received: Option<&Value>) -> Comparison {
    match (stored, received) {
        (None, None) => Comparison::Equivalent,
        (Some(stored), Some(received)) if same(stored, received) => Comparison::Equivalent,
        // Its raw value is a pair, which the broker takes for a type with a value when it prints it.
        (Some(Value::Decimal { .. }), Some(_)) | (Some(_), Some(Value::Decimal { .. })) => Comparison::Crash,
        (None, Some(only)) | (Some(only), None) if name == "x-queue-type" && only.as_text() == Some("classic") => {
            Comparison::Equivalent
        }
        _ => Comparison::Different,
    }
}

/// Whether two values are equal to the broker.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::LongStr(a) | Value::Binary(a), Value::LongStr(b) | Value::Binary(b)) => a == b,
        (Value::F32(_) | Value::F64(_), Value::F32(_) | Value::F64(_)) => float(a) == float(b),
        (Value::Array(items), Value::Table(table)) | (Value::Table(table), Value::Array(items)) => {
            items.is_empty() && table.is_empty()
        }
        _ => match (number(a), number(b)) {
            (Some(a), Some(b)) => a == b,
            _ => a == b,
        },
    }
}

fn float(value: &Value) -> Option<f64> {
    match value {
        Value::F32(number) => Some(f64::from(*number)),
        Value::F64(number) => Some(*number),
        _ => None,
    }
}

/// The content of an integer or a timestamp.
fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Timestamp(seconds) => Some(i128::from(*seconds)),
        other => other.as_integer().map(i128::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(kind: &str) -> QueueDeclaration {
        QueueDeclaration::durable("q").with("x-queue-type", kind)
    }

    fn named(differences: &[Difference]) -> Vec<(&str, bool)> {
        differences.iter().map(|difference| (difference.argument.as_str(), difference.compared)).collect()
    }

    #[test]
    fn all_differences_come_in_the_broker_s_order_then_those_never_compared() {
        let stored = queue("classic").with("x-message-ttl", 1).with("x-max-length", 5).with("foo", 1);
        let mut request = queue("quorum").with("x-message-ttl", 2).with("x-delivery-limit", 3).with("foo", 2);
        request.durable = false;
        let differences = queue_differences(Version::NEWEST, &stored, &request);
        // rabbitmq.md 1.3: the list of the existing type, on which the delivery limit does not stand.
        assert_eq!(
            named(&differences),
            [
                ("durable", true),
                ("x-message-ttl", true),
                ("x-max-length", true),
                ("x-queue-type", true),
                ("foo", false),
                ("x-delivery-limit", false)
            ]
        );
        assert_eq!(differences[1].wanted, Some(Value::I64(2)));
        assert_eq!(differences[1].current, Some(Value::I64(1)));
        assert_eq!(differences[2].wanted, None);
    }

    #[test]
    fn equivalent_tables_do_not_differ() {
        let stored = QueueDeclaration::durable("q").with("x-message-ttl", Value::I32(5)).with("foo", Value::I32(5));
        let request = queue("classic").with("x-message-ttl", Value::Timestamp(5)).with("foo", Value::I64(5));
        assert_eq!(queue_differences(Version::NEWEST, &stored, &request), []);
        // An exclusive queue is stored transient.
        let exclusive = QueueDeclaration { exclusive: true, durable: false, ..stored.clone() };
        let asked = QueueDeclaration { exclusive: true, ..stored };
        assert_eq!(queue_differences(Version::NEWEST, &exclusive, &asked), []);
    }

    #[test]
    fn of_an_exchange_s_arguments_only_the_alternate_exchange_is_compared() {
        let stored = ExchangeDeclaration::durable("x", "topic").with("alternate-exchange", "a").with("x-foo", 1);
        let request = ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable("x", "direct") };
        let differences = exchange_differences(Version::NEWEST, &stored, &request);
        let expected = [("type", true), ("internal", true), ("alternate-exchange", true), ("x-foo", false)];
        assert_eq!(named(&differences), expected);
    }

    /// rabbitmq.md 1.1, and the answers of four brokers.
    #[test]
    fn two_values_are_compared_by_class_and_by_content() {
        let same = |a: Value, b: Value| compare("x", Some(&a), Some(&b)) == Comparison::Equivalent;
        assert!(same(Value::F32(1.5), Value::F64(1.5)) && !same(Value::F32(0.1), Value::F64(0.1)));
        assert!(same(Value::text("a"), Value::Binary(b"a".to_vec())));
        assert!(same(Value::F64(0.0), Value::F64(-0.0)));
        assert!(same(Value::Array(vec![]), Value::Table(Table::new())));
        assert!(same(Value::I64(-1), Value::I8(-1)) && !same(Value::I64(1), Value::F64(1.0)));
        assert!(!same(Value::Bool(true), Value::I8(1)) && !same(Value::Void, Value::text("undefined")));
        let array = |item: Value| Value::Array(vec![item]);
        assert!(!same(array(Value::I32(1)), array(Value::I64(1))), "types count inside an array");
        let decimal = |unscaled| Value::Decimal { scale: 0, unscaled };
        assert!(same(decimal(5), decimal(5)));
        assert_eq!(compare("x", Some(&decimal(5)), Some(&Value::I32(5))), Comparison::Crash);
        assert_eq!(compare("x", Some(&decimal(5)), None), Comparison::Different);
    }
}
