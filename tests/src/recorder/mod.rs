//! Asks real brokers the same requests and writes down what they answer, for the [replay](crate::replay).
//!
//! The requests are written by hand from RabbitMQ's documented and observed rules ([`cases`]); the answers are the brokers'.

mod ask;
pub mod cases;
mod request;
mod steps;
mod table;

pub use ask::Recorder;
pub use request::{Asked, Existing, Request};
pub(crate) use table::{Typed, shown};

use crate::steps::Steps;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A request under a name.
#[derive(Debug, Clone)]
pub struct Case {
    /// Unique.
    pub id: String,
    /// What is asked.
    pub question: Question,
}

/// What is asked.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Question {
    /// One declare.
    Declare(Request),
    /// A request that needs others before it.
    Steps(Steps),
}

/// What one broker answered to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// It was done.
    Ok {
        /// `queue.declare-ok` and the like.
        outcome: &'static str,
        /// The queue's name; the part that the broker draws by lot is cut.
        name: Option<String>,
        /// Messages that a queue held, where steps end.
        messages: Option<u32>,
    },
    /// It was refused.
    Refused {
        /// `channel.close`, `connection.close` or `basic.return`.
        outcome: &'static str,
        /// The reply code.
        code: u16,
        /// The reply text.
        text: Vec<u8>,
    },
    /// What the request says to exist could not be declared before, so the request was not asked.
    NotAsked,
}

/// What brokers answered, case by case.
#[derive(Debug, Default)]
pub struct Recording {
    /// The exact version behind each name.
    brokers: BTreeMap<String, String>,
    answers: BTreeMap<String, Vec<(String, Given)>>,
}

#[derive(Serialize)]
struct WrittenAnswer<'a> {
    versions: Vec<&'a str>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<u32>,
}

impl Recording {
    /// Notes what the broker `name` of `version` answered.
    pub fn note(&mut self, name: &str, version: &str, case: &Case, given: Given) {
        self.brokers.insert(name.to_owned(), version.to_owned());
        self.answers.entry(case.id.clone()).or_default().push((name.to_owned(), given));
    }

    /// The file: one case a line.
    pub fn write(&self, cases: &[Case]) -> String {
        let mut out = String::from("{\"what\":\"What real brokers answered to the requests of the recorder.\",\n");
        let _ = writeln!(out, "\"brokers\":{},\n\"cases\":[", json(&self.brokers));
        for (number, case) in cases.iter().enumerate() {
            let comma = if number + 1 < cases.len() { "," } else { "" };
            let _ = writeln!(out, "{}{comma}", self.write_case(case));
        }
        out.push_str("]}\n");
        out
    }

    /// One case: its id, its request, and each answer with all who gave it.
    fn write_case(&self, case: &Case) -> String {
        let mut groups: Vec<(&Given, Vec<&str>)> = Vec::new();
        for (name, given) in self.answers.get(&case.id).into_iter().flatten() {
            match groups.iter_mut().find(|(known, _)| *known == given) {
                Some((_, names)) => names.push(name),
                None => groups.push((given, vec![name])),
            }
        }
        let answers: Vec<_> = groups.into_iter().filter_map(|(given, versions)| written(given, versions)).collect();
        format!("{{\"id\":{},\"request\":{},\"answers\":{}}}", json(&case.id), json(&case.question), json(&answers))
    }
}

fn written<'a>(given: &'a Given, versions: Vec<&'a str>) -> Option<WrittenAnswer<'a>> {
    match given {
        Given::Ok { outcome, name, messages } => Some(WrittenAnswer {
            versions,
            outcome,
            code: None,
            text: None,
            name: name.as_deref(),
            messages: *messages,
        }),
        Given::Refused { outcome, code, text } => {
            let text = Some(escaped(text));
            Some(WrittenAnswer { versions, outcome, code: Some(*code), text, name: None, messages: None })
        }
        Given::NotAsked => None,
    }
}

/// The text, with bytes that are no UTF-8 as `\xHH`.
fn escaped(text: &[u8]) -> String {
    let mut out = String::new();
    for chunk in text.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap()
}
