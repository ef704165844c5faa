//! What is wrong with a retry policy, as data.

use super::DurationFault;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

/// Every way in which a policy can be wrong, by its stable code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryCode {
    /// Zero attempts: the first delivery counts as one.
    AttemptsTooFew,
    /// More attempts than 32 bits hold, or no whole number of them.
    AttemptsOutOfRange,
    /// An exponential policy that starts from nothing and so never grows.
    FirstZero,
    /// A cap of nothing: some languages say 0 for "no cap", this one leaves it out.
    CapZero,
    /// A cap that the first delay already exceeds.
    CapBelowFirst,
    /// A multiplier other than 1 and outside 1.01 to 1000.
    MultiplierOutOfRange,
    /// A multiplier with more than three decimals.
    MultiplierTooPrecise,
    /// A multiplier on a policy that does not grow.
    MultiplierNotExponential,
    /// A jitter outside 0 to 1.
    JitterOutOfRange,
    /// An age limit of nothing.
    GiveUpAfterZero,
    /// A wait in the broker beyond what RabbitMQ takes as a TTL.
    BrokerDelayTooLong,
    /// More different broker waits than a queue may have rungs.
    TooManyRungs,
    /// The text does not follow the grammar.
    PolicySyntax,
    /// Neither `none`, `fixed` nor `exponential`.
    UnknownPolicy,
    /// An option that no policy has.
    UnknownOption,
    /// An option that stands twice.
    RepeatedOption,
    /// A key that the mapping does not have.
    UnknownKey,
    /// A key that stands twice in one mapping.
    DuplicateKey,
    /// A key that has to be there.
    MissingKey,
    /// A value of another kind than the key takes.
    WrongValue,
    /// A duration that is none.
    Duration(DurationFault),
}

impl RetryCode {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::AttemptsTooFew,
        Self::AttemptsOutOfRange,
        Self::FirstZero,
        Self::CapZero,
        Self::CapBelowFirst,
        Self::MultiplierOutOfRange,
        Self::MultiplierTooPrecise,
        Self::MultiplierNotExponential,
        Self::JitterOutOfRange,
        Self::GiveUpAfterZero,
        Self::BrokerDelayTooLong,
        Self::TooManyRungs,
        Self::PolicySyntax,
        Self::UnknownPolicy,
        Self::UnknownOption,
        Self::RepeatedOption,
        Self::UnknownKey,
        Self::DuplicateKey,
        Self::MissingKey,
        Self::WrongValue,
        Self::Duration(DurationFault::NoDigits),
        Self::Duration(DurationFault::NoUnit),
        Self::Duration(DurationFault::Fraction),
        Self::Duration(DurationFault::UnknownUnit),
        Self::Duration(DurationFault::Trailing),
        Self::Duration(DurationFault::TooLarge),
    ];

    /// The code as documents carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AttemptsTooFew => "attempts_too_few",
            Self::AttemptsOutOfRange => "attempts_out_of_range",
            Self::FirstZero => "first_zero",
            Self::CapZero => "cap_zero",
            Self::CapBelowFirst => "cap_below_first",
            Self::MultiplierOutOfRange => "multiplier_out_of_range",
            Self::MultiplierTooPrecise => "multiplier_too_precise",
            Self::MultiplierNotExponential => "multiplier_not_exponential",
            Self::JitterOutOfRange => "jitter_out_of_range",
            Self::GiveUpAfterZero => "give_up_after_zero",
            Self::BrokerDelayTooLong => "broker_delay_too_long",
            Self::TooManyRungs => "too_many_rungs",
            Self::PolicySyntax => "policy_syntax",
            Self::UnknownPolicy => "unknown_policy",
            Self::UnknownOption => "unknown_option",
            Self::RepeatedOption => "repeated_option",
            Self::UnknownKey => "unknown_key",
            Self::DuplicateKey => "duplicate_key",
            Self::MissingKey => "missing_key",
            Self::WrongValue => "wrong_value",
            Self::Duration(fault) => fault.code(),
        }
    }
}

impl fmt::Display for RetryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RetryCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// One thing that is wrong with a policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetryProblem {
    /// The stable code.
    pub code: RetryCode,
    /// The particulars by name: the option, its value, the limit; `column` (in characters from 1) for a text, `key` (as in
    /// `exponential.first`) for a mapping.
    pub fields: BTreeMap<String, Json>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: String,
}

impl RetryProblem {
    pub(super) fn new(code: RetryCode, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, fields: BTreeMap::new(), message: message.into(), help: help.into() }
    }

    #[must_use]
    pub(super) fn with(mut self, field: &str, value: impl Into<Json>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }
}

impl fmt::Display for RetryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for RetryProblem {}

/// Everything that is wrong with a policy, at least one thing. Its `Display` is one line for each.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryProblems {
    first: RetryProblem,
    others: Vec<RetryProblem>,
}

impl RetryProblems {
    /// `Err` with the problems when there are any.
    pub(super) fn unless_empty(problems: Vec<RetryProblem>) -> Result<(), Self> {
        let mut problems = problems.into_iter();
        match problems.next() {
            None => Ok(()),
            Some(first) => Err(Self { first, others: problems.collect() }),
        }
    }

    /// The problems.
    pub fn iter(&self) -> impl Iterator<Item = &RetryProblem> {
        self.into_iter()
    }

    /// The first problem, which is always there, and the others.
    pub fn into_first_and_others(self) -> (RetryProblem, Vec<RetryProblem>) {
        (self.first, self.others)
    }
}

impl From<RetryProblem> for RetryProblems {
    fn from(first: RetryProblem) -> Self {
        Self { first, others: Vec::new() }
    }
}

impl IntoIterator for RetryProblems {
    type Item = RetryProblem;
    type IntoIter = std::iter::Chain<std::iter::Once<RetryProblem>, std::vec::IntoIter<RetryProblem>>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(self.first).chain(self.others)
    }
}

impl<'a> IntoIterator for &'a RetryProblems {
    type Item = &'a RetryProblem;
    type IntoIter = std::iter::Chain<std::iter::Once<&'a RetryProblem>, std::slice::Iter<'a, RetryProblem>>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl fmt::Display for RetryProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for RetryProblems {}
