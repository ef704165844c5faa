//! Everything that is wrong with the arguments of one declaration, for the validation of a document.
//!
//! A broker names the first fault; here all of them are found. A value that every version refuses is a problem of the
//! document itself; what depends on the version, or is accepted without effect, is a warning.

use super::check::{Check, Complaint, MAX_EXPIRY_MS, Rule, check_of, complain};
use super::{is_known, known_arguments};
use crate::rabbitmq::changes::{LAZY_BY_NATURE, V4_3};
use crate::rabbitmq::term::type_name;
use crate::rabbitmq::{QueueDeclaration, QueueType, Version};
use crate::value::Value;

/// One argument that will not do what it seems to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentFault {
    /// The argument as it is written.
    pub argument: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The value has another type.
    WrongType {
        /// What it must be, as in `a whole number of milliseconds from 0 to 315360000000`.
        expected: String,
        /// The type that it has, as RabbitMQ names it.
        found: &'static str,
    },
    /// The type is right, the value is not.
    WrongValue {
        /// What it must be.
        expected: String,
        /// Whether every version refuses it; else only the one that was asked for.
        every_version: bool,
    },
    /// `x-dead-letter-routing-key` without `x-dead-letter-exchange`; an exchange that a policy sets does not help.
    RoutingKeyWithoutExchange,
    /// Queues of this type do not know it, those of others do: a new queue with it is refused, an existing one ignores it.
    Foreign {
        /// The types that know it.
        known_to: Vec<QueueType>,
    },
    /// Accepted and without effect on a queue of this type.
    Ignored {
        /// What happens instead.
        instead: &'static str,
    },
    /// No queue type knows this `x-…` argument: accepted, never compared, no effect.
    Unknown,
    /// A known argument without its `x-`: accepted, never compared, no effect.
    MissingPrefix {
        /// The argument that was meant.
        meant: &'static str,
    },
}

impl ArgumentFault {
    /// Whether the document is wrong whatever broker it meets.
    pub fn is_problem(&self) -> bool {
        match &self.fault {
            Fault::WrongType { .. } | Fault::RoutingKeyWithoutExchange => true,
            Fault::WrongValue { every_version, .. } => *every_version,
            Fault::Foreign { .. } | Fault::Ignored { .. } | Fault::Unknown | Fault::MissingPrefix { .. } => false,
        }
    }
}

/// The oldest and the newest rules that differ in what values they take.
const SPAN: [Version; 2] = [Version::new(3, 10, 8), Version::NEWEST];

/// Every fault in the arguments of a queue of `kind`, in the table's order.
pub fn check_arguments(version: Version, kind: QueueType, queue: &QueueDeclaration) -> Vec<ArgumentFault> {
    queue
        .arguments
        .iter()
        .filter_map(|(name, value)| {
            fault_of(version, kind, queue, name, value).map(|fault| ArgumentFault { argument: name.to_owned(), fault })
        })
        .collect()
}

fn fault_of(version: Version, kind: QueueType, queue: &QueueDeclaration, name: &str, value: &Value) -> Option<Fault> {
    if let Some(check) = check_of(version, kind, name) {
        return value_fault(version, check, queue, value).or_else(|| ignored(version, kind, name, value));
    }
    if is_known(version, kind, name) {
        return unchecked_fault(version, name, value).or_else(|| ignored(version, kind, name, value));
    }
    let known_to: Vec<QueueType> = QueueType::ALL.into_iter().filter(|other| is_known(version, *other, name)).collect();
    if !known_to.is_empty() {
        return Some(Fault::Foreign { known_to });
    }
    if name.starts_with("x-") {
        return Some(Fault::Unknown);
    }
    QueueType::ALL
        .into_iter()
        .flat_map(|other| known_arguments(version, other))
        .find(|known| known.strip_prefix("x-") == Some(name))
        .map(|meant| Fault::MissingPrefix { meant })
}

fn value_fault(version: Version, check: &Check, queue: &QueueDeclaration, value: &Value) -> Option<Fault> {
    let complaint = complain(version, check.rule, value, &queue.arguments)?;
    let expected = expectation(check.rule);
    Some(match complaint {
        Complaint::NoInteger(found) | Complaint::UnacceptableType(found) => Fault::WrongType { expected, found },
        Complaint::Atom("routing_key_but_no_dlx_defined") => Fault::RoutingKeyWithoutExchange,
        _ => Fault::WrongValue {
            expected,
            every_version: SPAN
                .into_iter()
                .all(|version| complain(version, check.rule, value, &queue.arguments).is_some()),
        },
    })
}

/// What no list of value checks covers: numbers that the broker stores unchecked and then cannot use, and an argument that is
/// denied whatever its value.
fn unchecked_fault(version: Version, name: &str, value: &Value) -> Option<Fault> {
    match name {
        "x-delivery-limit" | "x-delayed-retry-min" | "x-delayed-retry-max" if value.as_integer().is_none() => {
            Some(Fault::WrongType { expected: "a whole number".to_owned(), found: type_name(value) })
        }
        "x-queue-master-locator" if V4_3.holds(version) => {
            Some(Fault::WrongValue { expected: "x-queue-leader-locator instead".to_owned(), every_version: false })
        }
        _ => None,
    }
}

fn ignored(version: Version, kind: QueueType, name: &str, value: &Value) -> Option<Fault> {
    let instead = match (kind, name) {
        (QueueType::Quorum, "x-overflow") if value.as_text() == Some("reject-publish-dlx") => {
            "a quorum queue drops from its head instead"
        }
        (QueueType::Quorum, "x-max-in-memory-length" | "x-max-in-memory-bytes") => {
            "quorum queues no longer keep messages in memory"
        }
        (QueueType::Classic, "x-queue-mode")
            if LAZY_BY_NATURE.holds(version) && matches!(value.as_text(), Some("default" | "lazy")) =>
        {
            "classic queues write messages to disk anyway since RabbitMQ 3.12"
        }
        _ => return None,
    };
    Some(Fault::Ignored { instead })
}

fn expectation(rule: Rule) -> String {
    let one_of = |allowed: &[&str]| format!("one of {}", allowed.join(", "));
    match rule {
        Rule::Expiry => format!("a whole number of milliseconds from 1 to {MAX_EXPIRY_MS}"),
        Rule::TimeToLive => format!("a whole number of milliseconds from 0 to {MAX_EXPIRY_MS}"),
        Rule::NonNegative => "a whole number, 0 or more".to_owned(),
        Rule::Positive => "a whole number, 1 or more".to_owned(),
        Rule::Priority => "a whole number from 0 to 255".to_owned(),
        Rule::ExchangeName => "a string".to_owned(),
        Rule::DeadLetterRoutingKey => "a string, beside x-dead-letter-exchange".to_owned(),
        Rule::OneOf(allowed, _) => one_of(allowed),
        Rule::QueueMode => one_of(&["default", "lazy"]),
        Rule::QueueVersion => "2 (or 1, before RabbitMQ 4.3)".to_owned(),
        Rule::Boolean => "true or false".to_owned(),
        Rule::Type => one_of(&["classic", "quorum", "stream"]),
        Rule::MaxAge => "digits and one of Y, M, D, h, m, s, as in \"7D\"".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(kind: QueueType, entries: &[(&str, Value)]) -> Vec<(String, Fault)> {
        let mut queue = QueueDeclaration::durable("q");
        for (name, value) in entries {
            queue.arguments.insert(*name, value.clone());
        }
        let faults = check_arguments(Version::NEWEST, kind, &queue);
        faults.into_iter().map(|fault| (fault.argument, fault.fault)).collect()
    }

    fn fault(kind: QueueType, name: &str, value: impl Into<Value>) -> Option<Fault> {
        faults(kind, &[(name, value.into())]).into_iter().next().map(|(_, fault)| fault)
    }

    /// RULES 4: everything at once, each with its argument.
    #[test]
    fn every_fault_is_found_in_the_order_of_the_table() {
        let found = faults(
            QueueType::Quorum,
            &[
                ("x-message-ttl", Value::text("60s")),
                ("x-expires", Value::I64(0)),
                ("x-max-priority", Value::I64(5)),
                ("x-dead-letter-routing-key", Value::text("k")),
                ("max-length", Value::I64(5)),
                ("x-max-lenght", Value::I64(5)),
                ("x-overflow", Value::text("reject-publish-dlx")),
                ("note", Value::I64(5)),
            ],
        );
        let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "x-message-ttl",
                "x-expires",
                "x-max-priority",
                "x-dead-letter-routing-key",
                "max-length",
                "x-max-lenght",
                "x-overflow"
            ]
        );
        let ttl = "a whole number of milliseconds from 0 to 315360000000".to_owned();
        assert_eq!(found[0].1, Fault::WrongType { expected: ttl, found: "longstr" });
        assert!(matches!(found[1].1, Fault::WrongValue { every_version: true, .. }));
        assert_eq!(found[2].1, Fault::Foreign { known_to: vec![QueueType::Classic] });
        assert_eq!(found[3].1, Fault::RoutingKeyWithoutExchange);
        assert_eq!(found[4].1, Fault::MissingPrefix { meant: "x-max-length" });
        assert_eq!(found[5].1, Fault::Unknown);
        assert!(matches!(found[6].1, Fault::Ignored { .. }));
    }

    /// RULES 4: what depends on the version is no problem of the document.
    #[test]
    fn only_what_every_version_refuses_is_a_problem() {
        let problem = |kind, name: &str, value: Value| {
            let fault = fault(kind, name, value).map(|fault| ArgumentFault { argument: name.to_owned(), fault });
            fault.map(|fault| fault.is_problem())
        };
        assert_eq!(problem(QueueType::Classic, "x-message-ttl", Value::I64(-1)), Some(true));
        assert_eq!(problem(QueueType::Classic, "x-queue-version", Value::I64(3)), Some(true));
        assert_eq!(problem(QueueType::Classic, "x-queue-version", Value::I64(1)), Some(false));
        assert_eq!(problem(QueueType::Classic, "x-queue-version", Value::I64(2)), None);
        assert_eq!(problem(QueueType::Classic, "x-queue-master-locator", Value::text("random")), Some(false));
        assert_eq!(problem(QueueType::Classic, "x-queue-mode", Value::text("lazy")), Some(false));
        // Stored unchecked on every version, and of no use.
        assert_eq!(problem(QueueType::Quorum, "x-delivery-limit", Value::text("5")), Some(true));
        assert_eq!(problem(QueueType::Quorum, "x-delivery-limit", Value::I64(-1)), None);
        assert_eq!(problem(QueueType::Stream, "x-max-age", Value::text("7D")), None);
        assert_eq!(problem(QueueType::Stream, "x-max-age", Value::text("7d")), Some(true));
    }
}
