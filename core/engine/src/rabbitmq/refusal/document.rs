//! The document `acemq.refusal/1` that `acemq explain --format json` prints.

use super::{Printed, Refusal};
use schemars::JsonSchema;
use serde::Serialize;

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
            says: self.says.clone(),
        }
    }
}
