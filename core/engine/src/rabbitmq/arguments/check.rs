//! What the value of an argument must be, and what a broker says when it is not.

use super::is_known;
use crate::rabbitmq::changes::{
    ALWAYS_TYPED, EXPIRY_LIMIT, LISTS_BY_TYPE, PLACEMENT_TAG, QUORUM_CONSUMER_TIMEOUT, STREAM_ARGUMENT_FIXES, Since,
    V4_3,
};
use crate::rabbitmq::term::type_name;
use crate::rabbitmq::{QueueType, Version};
use crate::value::{Table, Value};

/// The longest `x-expires` and `x-message-ttl`: ten years of 365 days, in milliseconds (from 3.10.2).
pub const MAX_EXPIRY_MS: i64 = 315_360_000_000;

/// What the value of an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Milliseconds, at least 1.
    Expiry,
    /// Milliseconds, 0 included.
    TimeToLive,
    /// A whole number, at least 0.
    NonNegative,
    /// A whole number, at least 1.
    Positive,
    /// A whole number from 0 to 255.
    Priority,
    /// A string (checked before everything else, with a text of its own).
    ExchangeName,
    /// A string, beside an `x-dead-letter-exchange`.
    DeadLetterRoutingKey,
    /// One of these strings; else the atom.
    OneOf(&'static [&'static str], &'static str),
    /// `default` or `lazy`.
    QueueMode,
    /// 1 or 2; from 4.3 only 2.
    QueueVersion,
    /// A boolean.
    Boolean,
    /// A queue type of this version.
    Type,
    /// Digits and one of `Y M D h m s`.
    MaxAge,
}

/// A value check: the argument, its rule, the versions that check it.
pub(crate) struct Check {
    pub(crate) argument: &'static str,
    pub(crate) rule: Rule,
    from: Option<Since>,
    until: Option<Since>,
}

const fn check(argument: &'static str, rule: Rule) -> Check {
    Check { argument, rule, from: None, until: None }
}

impl Check {
    const fn from(mut self, from: Since) -> Self {
        self.from = Some(from);
        self
    }

    const fn until(mut self, until: Since) -> Self {
        self.until = Some(until);
        self
    }

    /// Whether `version` runs it for a queue of `kind`: one whose list has the argument.
    fn applies(&self, version: Version, kind: QueueType) -> bool {
        self.from.is_none_or(|from| from.holds(version))
            && self.until.is_none_or(|until| !until.holds(version))
            && is_known(version, kind, self.argument)
    }
}

const OVERFLOWS: &[&str] = &["drop-head", "reject-publish", "reject-publish-dlx"];
const STRATEGIES: &[&str] = &["at-most-once", "at-least-once"];
const LOCATORS: &[&str] = &["client-local", "balanced", "least-leaders", "random", "min-masters"];
/// Without the word that came from `x-queue-master-locator` with 4.0.
const LOCATORS_BEFORE_4_0: &[&str] = &["client-local", "balanced", "least-leaders", "random"];

/// All value checks in the broker's order; a queue type runs those whose argument is on its own list.
///
/// Source: `rabbit_amqqueue:declare_args/0`.
const CHECKS: &[Check] = &[
    check("x-expires", Rule::Expiry),
    check("x-message-ttl", Rule::TimeToLive),
    check("x-dead-letter-exchange", Rule::ExchangeName),
    check("x-dead-letter-routing-key", Rule::DeadLetterRoutingKey),
    check("x-dead-letter-strategy", Rule::OneOf(STRATEGIES, "invalid_dlx_strategy")),
    check("x-max-length", Rule::NonNegative),
    check("x-max-length-bytes", Rule::NonNegative),
    check("x-max-in-memory-length", Rule::NonNegative),
    check("x-max-in-memory-bytes", Rule::NonNegative),
    check("x-max-priority", Rule::Priority),
    check("x-overflow", Rule::OneOf(OVERFLOWS, "invalid_overflow")),
    check("x-queue-mode", Rule::QueueMode).until(V4_3),
    check("x-queue-version", Rule::QueueVersion),
    check("x-single-active-consumer", Rule::Boolean),
    check("x-consumer-timeout", Rule::NonNegative).from(QUORUM_CONSUMER_TIMEOUT),
    check("x-consumer-disconnected-timeout", Rule::NonNegative).from(QUORUM_CONSUMER_TIMEOUT),
    check("x-queue-type", Rule::Type),
    check("x-quorum-initial-group-size", Rule::Positive),
    check("x-max-age", Rule::MaxAge),
    check("x-stream-max-segment-size-bytes", Rule::NonNegative),
    check("x-stream-filter-size-bytes", Rule::NonNegative),
    check("x-initial-cluster-size", Rule::Positive),
    check("x-queue-leader-locator", Rule::OneOf(LOCATORS_BEFORE_4_0, "invalid_queue_locator_arg")).until(ALWAYS_TYPED),
    check("x-queue-leader-locator", Rule::OneOf(LOCATORS, "invalid_queue_locator_arg")).from(ALWAYS_TYPED),
    check("x-member-placement-tag", Rule::ExchangeName).from(PLACEMENT_TAG),
];

/// Why a value is refused, as the broker words it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// `"expected integer, got T"`
    NoInteger(&'static str),
    /// `{unacceptable_type,T}`
    UnacceptableType(&'static str),
    /// `{value_negative,N}` and the like
    Number(&'static str, i64),
    /// `invalid_overflow` and the like
    Atom(&'static str),
    /// `"unsupported queue type 'V'"` and the like
    Unsupported(&'static str, Vec<u8>),
    /// The broker crashes on it.
    Crash,
}

/// The first argument of `table` that a new queue of `kind` must not carry with that value, in the broker's order. `kind` is
/// `None` when the table names a type that does not exist.
pub(crate) fn first_complaint(
    version: Version,
    kind: Option<QueueType>,
    table: &Table,
) -> Option<(&'static str, Complaint)> {
    const TYPE: &str = "x-queue-type";
    let asked = |check: &Check| {
        let value = table.get(check.argument)?;
        // Where the table says "the default", the broker checks the type that stands for it.
        let value = if check.argument == TYPE && kind.is_some() && value.as_text().is_some() {
            &Value::text(kind.map_or("", QueueType::name))
        } else {
            value
        };
        Some((check.argument, complain(version, check.rule, value, table)?))
    };
    if LISTS_BY_TYPE.holds(version) {
        let type_check = CHECKS.iter().find(|check| check.argument == TYPE);
        if let Some(first) = type_check.and_then(asked) {
            return Some(first);
        }
    }
    let kind_checked = kind.unwrap_or(QueueType::Classic);
    let there = CHECKS.iter().filter(|check| table.contains(check.argument));
    there.filter(|check| check.applies(version, kind_checked)).find_map(asked)
}

/// The check that `version` runs on `argument` for a queue of `kind`.
pub(crate) fn check_of(version: Version, kind: QueueType, argument: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.argument == argument && check.applies(version, kind))
}

/// What the broker has against `value`; `table` is the one that it stands in.
pub(crate) fn complain(version: Version, rule: Rule, value: &Value, table: &Table) -> Option<Complaint> {
    let text = || match value {
        Value::LongStr(bytes) => Ok(bytes.as_slice()),
        other => Err(Complaint::UnacceptableType(type_name(other))),
    };
    let integer = || {
        value.as_integer().ok_or_else(|| {
            let found = type_name(value);
            if LISTS_BY_TYPE.holds(version) { Complaint::NoInteger(found) } else { Complaint::UnacceptableType(found) }
        })
    };
    let non_negative = || match integer() {
        Ok(number) if number < 0 => Err(Complaint::Number("value_negative", number)),
        other => other,
    };
    let limited = |number: i64| {
        (number > MAX_EXPIRY_MS && EXPIRY_LIMIT.holds(version)).then_some(Complaint::Number("value_too_large", number))
    };
    let result = match rule {
        Rule::TimeToLive => non_negative().map(limited),
        Rule::Expiry => integer().map(|number| match number {
            0 => Some(Complaint::Number("value_zero", 0)),
            n if n < 0 => Some(Complaint::Number("value_negative", n)),
            n => limited(n),
        }),
        Rule::NonNegative => non_negative().map(|_| None),
        Rule::Positive => non_negative().map(|number| (number == 0).then_some(Complaint::Number("value_zero", 0))),
        Rule::Priority => {
            non_negative().map(|number| (number > 255).then_some(Complaint::Number("max_value_exceeded", number)))
        }
        Rule::ExchangeName => text().map(|_| None),
        Rule::DeadLetterRoutingKey => text().map(|_| {
            (!table.contains("x-dead-letter-exchange")).then_some(Complaint::Atom("routing_key_but_no_dlx_defined"))
        }),
        Rule::OneOf(allowed, atom) => {
            text().map(|bytes| (!allowed.iter().any(|a| a.as_bytes() == bytes)).then_some(Complaint::Atom(atom)))
        }
        Rule::QueueMode => text().map(|bytes| match bytes {
            b"default" | b"lazy" => None,
            _ if LISTS_BY_TYPE.holds(version) => Some(Complaint::Unsupported("queue mode", bytes.to_vec())),
            _ => Some(Complaint::Atom("invalid_queue_mode")),
        }),
        Rule::QueueVersion => non_negative().map(|number| {
            let known = number == 2 || (number == 1 && !V4_3.holds(version));
            (!known).then(|| Complaint::Unsupported("queue version", number.to_string().into_bytes()))
        }),
        Rule::Boolean => match value {
            Value::Bool(_) => Ok(None),
            other => Err(Complaint::UnacceptableType(type_name(other))),
        },
        Rule::Type => text().map(|bytes| {
            let kind = std::str::from_utf8(bytes).ok().and_then(QueueType::from_name);
            if LISTS_BY_TYPE.holds(version) {
                kind.is_none().then(|| Complaint::Unsupported("queue type", bytes.to_vec()))
            } else {
                (!matches!(kind, Some(QueueType::Classic | QueueType::Quorum)))
                    .then_some(Complaint::Atom("invalid_queue_type"))
            }
        }),
        Rule::MaxAge => text().map(|bytes| max_age_complaint(version, bytes)),
    };
    result.unwrap_or_else(Some)
}

fn max_age_complaint(version: Version, bytes: &[u8]) -> Option<Complaint> {
    if max_age_ms(bytes).is_some() {
        return None;
    }
    let starts_with_a_digit = bytes.first().is_some_and(u8::is_ascii_digit);
    if starts_with_a_digit || STREAM_ARGUMENT_FIXES.holds(version) {
        Some(Complaint::Atom("invalid_max_age"))
    } else {
        Some(Complaint::Crash)
    }
}

/// An `x-max-age` in milliseconds; `None` when it is none.
pub(crate) fn max_age_ms(bytes: &[u8]) -> Option<u128> {
    // The broker's pattern stops at the end of the first line.
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    let (unit, digits) = line.split_last()?;
    let seconds: u128 = match unit {
        b'Y' => 365 * 24 * 3600,
        b'M' => 30 * 24 * 3600,
        b'D' => 24 * 3600,
        b'h' => 3600,
        b'm' => 60,
        b's' => 1,
        _ => return None,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let mut count = 0_u128;
    for digit in digits {
        count = count.saturating_mul(10).saturating_add(u128::from(digit.saturating_sub(b'0')));
    }
    (count > 0).then(|| count.saturating_mul(seconds).saturating_mul(1000))
}
