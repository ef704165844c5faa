//! Why an operation gave no output.

use crate::name::{NameError, nearest, shown};
use crate::retry::{DurationError, RetryProblem, RetryProblems, UnitError};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

/// One thing that is wrong with an input.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct FailureProblem {
    /// The stable code.
    pub code: String,
    /// The particulars by name.
    pub fields: BTreeMap<String, Json>,
    /// What is wrong.
    pub message: String,
    /// The way out.
    pub help: String,
}

/// Everything that is wrong with an input, at least one thing.
///
/// Serialises as its first problem with the list of all: `{"code", "fields", "message", "help", "problems": […]}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    first: FailureProblem,
    others: Vec<FailureProblem>,
}

impl Failure {
    /// The code of the first problem.
    pub fn code(&self) -> &str {
        &self.first.code
    }

    /// All problems.
    pub fn problems(&self) -> impl Iterator<Item = &FailureProblem> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// A failure of at least one problem; `None` for none.
    pub fn of(problems: impl IntoIterator<Item = FailureProblem>) -> Option<Self> {
        let mut problems = problems.into_iter();
        Some(Self { first: problems.next()?, others: problems.collect() })
    }

    pub(super) fn one(code: &str, message: impl Into<String>, help: impl Into<String>) -> Self {
        let first = FailureProblem {
            code: code.to_owned(),
            fields: BTreeMap::new(),
            message: message.into(),
            help: help.into(),
        };
        Self { first, others: Vec::new() }
    }

    /// This failure with a particular of its first problem.
    #[must_use]
    pub(super) fn with(mut self, field: &str, value: impl Into<Json>) -> Self {
        self.first.fields.insert(field.to_owned(), value.into());
        self
    }

    pub(super) fn unknown_operation(operation: &str) -> Self {
        let near = nearest(operation, super::OPERATIONS.iter().map(|known| known.name)).unwrap_or_default();
        let shown: String = shown(operation).chars().take(60).collect();
        Self::one("unknown_operation", format!("there is no operation \"{shown}\""), format!("did you mean {near}?"))
            .with("operation", shown)
            .with("nearest", near)
    }

    /// The input as a whole is not what the operation takes.
    pub(super) fn bad_input(operation: &str, known_keys: &[String], input: &str, error: &serde_json::Error) -> Self {
        // An unknown key has a better answer than the reader's.
        let keys: BTreeMap<String, serde::de::IgnoredAny> = serde_json::from_str(input).unwrap_or_default();
        let unknown = keys.keys().filter(|key| !known_keys.contains(key)).map(|key| {
            let near = nearest(key, known_keys.iter().map(String::as_str)).unwrap_or_default();
            let shown: String = shown(key).chars().take(60).collect();
            Self::one(
                "unknown_key",
                format!("{operation} has no key \"{shown}\""),
                format!("did you mean {near}? There are {}", known_keys.join(", ")),
            )
            .with("key", shown)
            .with("nearest", near)
            .first
        });
        Self::of(unknown).unwrap_or_else(|| {
            let sentence = shortened(&error.to_string());
            Self::one("bad_input", format!("{operation}: {sentence}"), format!("give {}", known_keys.join(", ")))
                .with("line", error.line())
                .with("column", error.column())
        })
    }
}

/// What serde says, which may quote a whole input: its beginning, and its end with the place.
fn shortened(sentence: &str) -> String {
    const KEPT: usize = 200;
    let (said, place) = sentence.rsplit_once(" at line ").unwrap_or((sentence, ""));
    if said.chars().nth(KEPT).is_none() {
        return sentence.to_owned();
    }
    let said: String = said.chars().take(KEPT).collect();
    let at = if place.is_empty() { "" } else { " at line " };
    format!("{said}…{at}{place}")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "\n" }, problem.message)?;
            if !problem.help.is_empty() {
                write!(f, "; {}", problem.help)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            #[serde(flatten)]
            first: &'a FailureProblem,
            problems: Vec<&'a FailureProblem>,
        }
        Shape { first: &self.first, problems: self.problems().collect() }.serialize(serializer)
    }
}

impl From<FailureProblem> for Failure {
    fn from(first: FailureProblem) -> Self {
        Self { first, others: Vec::new() }
    }
}

impl From<NameError> for FailureProblem {
    fn from(error: NameError) -> Self {
        Self { code: error.code().to_owned(), fields: error.fields(), message: error.message(), help: error.help() }
    }
}

impl From<NameError> for Failure {
    fn from(error: NameError) -> Self {
        FailureProblem::from(error).into()
    }
}

impl From<DurationError> for Failure {
    fn from(error: DurationError) -> Self {
        let message = format!("\"{}\" is no duration", shown(error.text()).chars().take(60).collect::<String>());
        Self::one(error.code(), message, error.help()).with("column", error.column())
    }
}

impl From<UnitError> for Failure {
    fn from(error: UnitError) -> Self {
        Self::one(error.code(), error.message(), error.help())
    }
}

impl From<RetryProblem> for FailureProblem {
    fn from(problem: RetryProblem) -> Self {
        let RetryProblem { code, fields, message, help } = problem;
        Self { code: code.as_str().to_owned(), fields, message, help }
    }
}

impl From<RetryProblems> for Failure {
    fn from(problems: RetryProblems) -> Self {
        let (first, others) = problems.into_first_and_others();
        Self { first: first.into(), others: others.into_iter().map(FailureProblem::from).collect() }
    }
}
