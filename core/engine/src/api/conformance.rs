//! The conformance fixtures: what an index, a suite and a case are, and whether an answer is the one that a case expects.
//!
//! A case says what an operation of the [table](super::OPERATIONS) must answer. It does not matter who answers: the engine
//! itself, a binding, or a library that computes everything by itself. An expected output says what must be in it; further
//! keys may stand beside. An expected error says the code and fields of the first problem, or of all problems in any order.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};
use std::fmt;

/// `index.json`: which suites there are, and how many cases each has, so that a runner can prove that it ran all.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an index of fixtures")]
pub struct Index {
    /// `acemq.conformance-index/1`
    pub format: IndexFormat,
    /// Grows when an expectation changes.
    pub spec_version: u32,
    /// The sum over all suites.
    pub cases: usize,
    /// The suites.
    pub suites: Vec<IndexEntry>,
}

/// A suite in the index.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    /// Its name.
    pub suite: String,
    /// Its file, relative to the index.
    pub file: String,
    /// What every case calls.
    pub operation: String,
    /// How many cases there are.
    pub cases: usize,
}

/// The one format of an index.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum IndexFormat {
    /// The first.
    #[serde(rename = "acemq.conformance-index/1")]
    First,
}

/// The one format of a suite.
#[derive(Debug, Clone, Copy, Deserialize)]
pub enum SuiteFormat {
    /// The first.
    #[serde(rename = "acemq.conformance/1")]
    First,
}

/// Cases for one operation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a suite of fixtures")]
pub struct Suite {
    /// `acemq.conformance/1`
    pub format: SuiteFormat,
    /// Its name, as in the index.
    pub suite: String,
    /// What every case calls.
    pub operation: String,
    /// How the expectations were found without the code under test.
    pub derivation: String,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a case")]
pub struct Case {
    /// Unique in all suites, and never used again.
    pub id: String,
    /// What to say when the case fails.
    pub description: String,
    /// The operation's input, as it stands.
    pub input: Box<RawValue>,
    /// The output, or what must be in it.
    pub expect: Option<Json>,
    /// Or the error.
    pub error: Option<ExpectedError>,
}

/// The error that a case expects.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedError {
    /// The code of the first problem.
    pub code: Option<String>,
    /// Particulars of the first problem.
    #[serde(default)]
    pub fields: Map<String, Json>,
    /// All problems, in any order.
    pub problems: Option<Vec<ExpectedProblem>>,
}

/// One problem of an expected error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedProblem {
    /// Its code.
    pub code: String,
    /// Its particulars.
    #[serde(default)]
    pub fields: Map<String, Json>,
}

/// How an answer differs from what a case expects.
#[derive(Debug, Clone, PartialEq)]
pub enum Mismatch {
    /// The output is another.
    Output {
        /// Where in the output, as a path such as `queues[0].name`; empty for the output as a whole.
        at: String,
        /// What is expected there.
        expected: Json,
        /// What is there; `None` when nothing is.
        found: Option<Json>,
    },
    /// An error where an output is expected.
    Failed {
        /// The error.
        error: Json,
    },
    /// An output where an error is expected.
    Succeeded {
        /// The code of the error, where the case names one.
        expected: Option<String>,
    },
    /// Another error.
    Error {
        /// What is expected, as the case has it.
        expected: Json,
        /// The error.
        found: Json,
    },
    /// The case has both `expect` and `error`, or neither.
    NoCase,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { at, expected, found: Some(found) } => {
                write!(f, "{}expected {}, got {}", place(at), short(expected), short(found))
            }
            Self::Output { at, expected, found: None } => {
                write!(f, "{}expected {}, got nothing", place(at), short(expected))
            }
            Self::Failed { error } => write!(f, "expected an output, got the error {}", short(error)),
            Self::Succeeded { expected: Some(code) } => write!(f, "expected the error {code}, got an output"),
            Self::Succeeded { expected: None } => f.write_str("expected an error, got an output"),
            Self::Error { expected, found } => {
                write!(f, "expected the error {}, got {}", short(expected), short(found))
            }
            Self::NoCase => f.write_str("the case has both an output and an error, or neither"),
        }
    }
}

fn place(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!("at {at}: ") }
}

/// JSON on one line, cut where it is long.
fn short(json: &Json) -> String {
    const SHOWN: usize = 300;
    let text = json.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

impl Case {
    /// Whether `answer`, an output or an error of the form `{"code", "fields", "problems": […]}`, is the expected one.
    ///
    /// # Errors
    /// How it differs.
    pub fn judge(&self, answer: Result<&Json, &Json>) -> Result<(), Mismatch> {
        match (&self.expect, &self.error, answer) {
            (Some(expected), None, Ok(output)) => agree(expected, Some(output), ""),
            (Some(_), None, Err(error)) => Err(Mismatch::Failed { error: error.clone() }),
            (None, Some(expected), Ok(_)) => Err(Mismatch::Succeeded { expected: expected.code() }),
            (None, Some(expected), Err(error)) if expected.is_met_by(error) => Ok(()),
            (None, Some(expected), Err(error)) => {
                Err(Mismatch::Error { expected: expected.to_json(), found: error.clone() })
            }
            _ => Err(Mismatch::NoCase),
        }
    }
}

/// Whether `found` is what was expected: objects may have more keys, numbers compare by value.
fn agree(expected: &Json, found: Option<&Json>, at: &str) -> Result<(), Mismatch> {
    let differs = || Mismatch::Output { at: at.to_owned(), expected: expected.clone(), found: found.cloned() };
    match (expected, found) {
        (Json::Object(expected), Some(Json::Object(found))) => expected.iter().try_for_each(|(key, value)| {
            let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
            agree(value, found.get(key), &at)
        }),
        (Json::Array(expected), Some(Json::Array(found))) if expected.len() == found.len() => expected
            .iter()
            .zip(found)
            .enumerate()
            .try_for_each(|(index, (expected, found))| agree(expected, Some(found), &format!("{at}[{index}]"))),
        (Json::Number(expected), Some(Json::Number(found))) if expected.is_f64() || found.is_f64() => {
            if expected.as_f64() == found.as_f64() { Ok(()) } else { Err(differs()) }
        }
        (expected, Some(found)) if expected == found => Ok(()),
        _ => Err(differs()),
    }
}

fn holds(expected: &Map<String, Json>, fields: Option<&Json>) -> bool {
    expected.iter().all(|(key, value)| agree(value, fields.and_then(|fields| fields.get(key)), "").is_ok())
}

impl ExpectedError {
    /// The code that is named first.
    fn code(&self) -> Option<String> {
        let first = self.problems.as_ref().and_then(|problems| problems.first());
        self.code.clone().or_else(|| first.map(|problem| problem.code.clone()))
    }

    fn is_met_by(&self, error: &Json) -> bool {
        let same_code = self.code.as_ref().is_none_or(|code| error.get("code").and_then(Json::as_str) == Some(code));
        let same_fields = holds(&self.fields, error.get("fields"));
        same_code && same_fields && self.problems.as_ref().is_none_or(|problems| same_problems(problems, error))
    }

    fn to_json(&self) -> Json {
        let of = |code: &str, fields: &Map<String, Json>| serde_json::json!({"code": code, "fields": fields});
        match &self.problems {
            Some(problems) => problems.iter().map(|problem| of(&problem.code, &problem.fields)).collect(),
            None => of(self.code.as_deref().unwrap_or_default(), &self.fields),
        }
    }
}

/// Whether the problems of an error are those that are expected, in any order. An error without a list is one problem.
fn same_problems(expected: &[ExpectedProblem], error: &Json) -> bool {
    let whole = std::slice::from_ref(error);
    let mut left: Vec<&Json> =
        error.get("problems").and_then(Json::as_array).map_or(whole, Vec::as_slice).iter().collect();
    expected.len() == left.len()
        && expected.iter().all(|wanted| {
            let found = left.iter().position(|problem| {
                problem.get("code").and_then(Json::as_str) == Some(&wanted.code)
                    && holds(&wanted.fields, problem.get("fields"))
            });
            found.map(|index| left.remove(index)).is_some()
        })
}
