//! The document as a tree in which every node knows its place: read only when there is something to report.

use super::super::problem::Position;
use std::fmt::Write as _;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub at: Position,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    /// As JSON writes it, and as the document does.
    Number {
        json: String,
        written: String,
    },
    Text(String),
    List(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// A key, where it stands, and its value. Repeated keys stay.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub key: String,
    pub key_at: Position,
    pub value: Node,
}

impl Node {
    /// The first value under `key`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Mapping(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// What it is, for a sentence: `the text "yes"`, `a list`.
    pub fn described(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(flag) => flag.to_string(),
            Kind::Number { written, .. } => format!("the number {}", short(written)),
            Kind::Text(text) => format!("the text \"{}\"", short(text)),
            Kind::List(_) => "a list".to_owned(),
            Kind::Mapping(_) => "a mapping".to_owned(),
        }
    }

    /// The same tree as JSON text, keys in their order.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match &self.kind {
            Kind::Null => out.push_str("null"),
            Kind::Bool(flag) => {
                let _ = write!(out, "{flag}");
            }
            Kind::Number { json, .. } => out.push_str(json),
            Kind::Text(text) => write_string(out, text),
            Kind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    out.push(if index == 0 { '[' } else { ',' });
                    item.write_json(out);
                }
                out.push_str(if items.is_empty() { "[]" } else { "]" });
            }
            Kind::Mapping(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    out.push(if index == 0 { '{' } else { ',' });
                    write_string(out, &entry.key);
                    out.push(':');
                    entry.value.write_json(out);
                }
                out.push_str(if entries.is_empty() { "{}" } else { "}" });
            }
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Control characters escaped, and no more than a person reads.
pub(super) fn short(text: &str) -> String {
    const KEPT: usize = 120;
    let mut out: String = crate::name::shown(text).chars().take(KEPT).collect();
    if text.chars().nth(KEPT).is_some() {
        out.push('…');
    }
    out
}
