//! Problems while they are collected: each with the path of the document's node that it is about.
//!
//! Positions cost a second, slower reading of the document, so a finding carries only a path; lines and columns are looked
//! up when there is something to report.

use super::describe::{describe_binding, readable};
use super::problem::{ObjectRef, Problem, ProblemCode};
use crate::name::{self, NameError, NameFault, quoted};
use crate::rabbitmq::BindingDeclaration;
use crate::value::Value;
use std::borrow::Cow;
use std::fmt;

/// A part of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Section {
    Exchanges,
    Policies,
    Queues,
    Bindings,
    Suppressions,
}

impl Section {
    /// Whether its entries have names, and so may be a mapping.
    pub const fn has_names(self) -> bool {
        !matches!(self, Self::Bindings | Self::Suppressions)
    }

    pub const fn key(self) -> &'static str {
        match self {
            Self::Exchanges => "exchanges",
            Self::Policies => "policies",
            Self::Queues => "queues",
            Self::Bindings => "bindings",
            Self::Suppressions => "suppress",
        }
    }
}

/// The path of a node: the section, the entry's number in it, and keys below the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub section: Section,
    pub index: usize,
    pub keys: Vec<Cow<'static, str>>,
}

impl Place {
    pub fn new(section: Section, index: usize) -> Self {
        Self { section, index, keys: Vec::new() }
    }

    /// The node under `key` of this one.
    pub fn at(mut self, key: impl Into<Cow<'static, str>>) -> Self {
        self.keys.push(key.into());
        self
    }
}

/// Problems in the order in which they were found, each with its place when it has one.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub list: Vec<(Option<Place>, Problem)>,
}

impl Findings {
    pub fn push(&mut self, place: Place, problem: Problem) {
        self.list.push((Some(place), problem));
    }

    /// A problem of a built topology, which has no document to point into.
    pub fn push_unplaced(&mut self, problem: Problem) {
        self.list.push((None, problem));
    }

    pub fn name_error(&mut self, place: Place, object: ObjectRef, error: &NameError) {
        let (code, help) = match error.fault() {
            NameFault::Empty => (ProblemCode::NameEmpty, "Give it a name."),
            NameFault::TooLong { .. } => {
                (ProblemCode::NameTooLong, "Shorten the name; the suffixes .dlq, .parked and .retry.… count as well.")
            }
            NameFault::Reserved => (ProblemCode::NameReserved, "Choose a name that does not start with \"amq.\"."),
            NameFault::LineBreak => (ProblemCode::NameLineBreak, "Take the line break out of the name."),
            NameFault::NoDelay => (ProblemCode::RetryPolicyInvalid, "Give the delay at least \"1ms\"."),
        };
        let mut problem = Problem::new(code, object, error.message()).help(help);
        problem.fields = error.fields();
        self.push(place, problem);
    }
}

/// What a rule looks at. It is put into words only when there is something to say.
#[derive(Clone, Copy)]
pub(super) enum Subject<'a> {
    Exchange(&'a str),
    Policy(&'a str),
    Queue(&'a str),
    Binding(&'a BindingDeclaration),
}

impl Subject<'_> {
    pub fn object(self) -> ObjectRef {
        match self {
            Self::Exchange(name) => ObjectRef::exchange(name),
            Self::Policy(name) => ObjectRef::policy(name),
            Self::Queue(name) => ObjectRef::queue(name),
            Self::Binding(binding) => ObjectRef::binding(binding),
        }
    }
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exchange(name) => write!(f, "exchange {}", quoted(name)),
            Self::Policy(name) => write!(f, "policy {}", quoted(name)),
            Self::Queue(name) => write!(f, "queue {}", quoted(name)),
            Self::Binding(binding) => write!(f, "binding {}", describe_binding(binding)),
        }
    }
}

/// `queue "orders"`: the object of a sentence.
pub(super) fn queue(name: &str) -> String {
    Subject::Queue(name).to_string()
}

/// `exchange "orders"`: the object of a sentence.
pub(super) fn exchange(name: &str) -> String {
    Subject::Exchange(name).to_string()
}

/// A value as JSON, no longer than a sentence bears.
pub(super) fn told(value: &Value) -> String {
    readable(&value.to_json())
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn joined<S: AsRef<str>>(words: &[S], last: &str) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            let separator = if index + 1 == words.len() { format!(" {last} ") } else { ", ".to_owned() };
            out.push_str(&separator);
        }
        out.push_str(word.as_ref());
    }
    out
}

/// The known word that somebody who wrote `word` most likely meant; none when no word is like it.
pub(super) fn meant<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = name::nearest(word, known)?;
    // With half of its letters wrong it is another word.
    let allowed = word.chars().count().min(near.chars().count()).div_ceil(3);
    (strsim::damerau_levenshtein(&word.to_lowercase(), &near.to_lowercase()) <= allowed).then_some(near)
}
