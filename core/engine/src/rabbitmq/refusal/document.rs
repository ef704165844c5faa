//! The document `acemq.refusal/1` that `acemq explain --format json` prints.

use super::{Known, Printed, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A refusal as a document; values are the text as printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusalDocument {
    /// `acemq.refusal/1`
    pub format: &'static str,
    /// The name of a [`RefusalClass`](super::RefusalClass).
    pub class: &'static str,
    /// `queue`, `exchange`, `binding`, `vhost` or `connection`.
    pub kind: Option<&'static str>,
    /// The object's name.
    pub name: Option<String>,
    /// The object's vhost.
    pub vhost: Option<String>,
    /// The argument or property.
    pub argument: Option<String>,
    /// What the declaration asked for.
    pub received: Option<PrintedDocument>,
    /// What is there.
    pub current: Option<PrintedDocument>,
    /// `received` or `current`: the side that the broker printed as `none`.
    pub absent: Option<&'static str>,
    /// The broker cut the text.
    pub truncated: bool,
    /// One sentence in plain words.
    pub says: String,
}

/// A value as printed, with the wire type where that is printed too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PrintedDocument {
    /// The text between the quotes.
    pub value: String,
    /// The wire type by the broker's name.
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl From<&Printed> for PrintedDocument {
    fn from(printed: &Printed) -> Self {
        Self { value: printed.value.clone(), kind: printed.kind.clone() }
    }
}

impl Refusal {
    /// This refusal as the document `acemq.refusal/1`.
    pub fn to_document(&self) -> RefusalDocument {
        RefusalDocument {
            format: "acemq.refusal/1",
            class: self.class.name(),
            kind: self.kind.map(super::RefusedKind::name),
            name: self.name.clone(),
            vhost: self.vhost.clone(),
            argument: self.argument.clone(),
            received: self.received.as_ref().map(PrintedDocument::from),
            current: self.current.as_ref().map(PrintedDocument::from),
            absent: self.absent.map(super::Side::name),
            truncated: self.truncated,
            says: self.says(),
        }
    }
}

/// One line of input for `acemq explain --format json -`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    code: Option<u16>,
    text: String,
    name: Option<String>,
    vhost: Option<String>,
}

/// The management API's answer to a refused declaration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HttpAnswer {
    #[serde(rename = "error")]
    _error: String,
    reason: String,
}

/// A line that holds no refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineError {
    problem: String,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}; a line is a refusal's text, that text as a JSON string, or {{\"text\": …}} with \"code\", \"name\" and \"vhost\" if they are known",
            self.problem
        )
    }
}

impl std::error::Error for LineError {}

impl Refusal {
    /// Reads a line of `acemq explain --format json -`: plain text, a JSON string, or `{"code","text","name","vhost"}` where
    /// only `text` is needed. The management API's `{"error","reason"}` is taken too.
    ///
    /// # Errors
    /// An empty line, and a JSON object with other keys or other types.
    pub fn read_line(line: &str) -> Result<Self, LineError> {
        let line = line.trim();
        if line.is_empty() {
            return Err(LineError { problem: "the line is empty".to_owned() });
        }
        if line.starts_with('"')
            && let Ok(text) = serde_json::from_str::<String>(line)
        {
            return Ok(Self::read(None, &text, Known::default()));
        }
        // An Erlang term begins with a brace too, but never with a string in it.
        if line.strip_prefix('{').is_some_and(|inner| inner.trim_start().starts_with(['"', '}'])) {
            if let Ok(answer) = serde_json::from_str::<HttpAnswer>(line) {
                return Ok(Self::read(None, &answer.reason, Known::default()));
            }
            let line: Line = serde_json::from_str(line).map_err(|error| LineError { problem: error.to_string() })?;
            let known = Known { name: line.name.as_deref(), vhost: line.vhost.as_deref() };
            return Ok(Self::read(line.code, &line.text, known));
        }
        Ok(Self::read(None, line, Known::default()))
    }
}
