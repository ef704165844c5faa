//! JSON with places: serde_json finds each value's raw text, and where that text begins is the place.

use super::Unreadable;
use super::tree::{Entry, Kind, Node};
use crate::topology::problem::Position;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Deeper documents are refused, as serde_json refuses them.
const MAX_DEPTH: usize = 127;

/// Reads `text` into a tree.
pub(super) fn read(text: &str) -> Result<Node, Unreadable> {
    let lines = Lines::new(text);
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| syntax(&error, &lines))?;
    Reader { lines: &lines }.node(raw, 0)
}

/// What is wrong with JSON that does not parse, and where.
pub(super) fn syntax(error: &serde_json::Error, lines: &Lines<'_>) -> Unreadable {
    let message = error.to_string();
    let sentence = message.rsplit_once(" at line ").map_or(message.as_str(), |(sentence, _)| sentence);
    Unreadable::Syntax {
        sentence: sentence.to_owned(),
        help: None,
        at: Some(lines.column(error.line(), error.column())),
    }
}

/// Turns byte offsets into lines and columns, at the same small cost anywhere in a document of one long line.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
    /// How many characters begin before each multiple of [`STEP`] bytes.
    characters: Vec<usize>,
}

const STEP: usize = 1024;

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let mut characters = vec![0];
        let mut sum = 0;
        for chunk in text.as_bytes().chunks(STEP) {
            sum += beginnings(chunk);
            characters.push(sum);
        }
        Self { text, starts: std::iter::once(0).chain(breaks).collect(), characters }
    }

    /// The place of the byte at `offset`.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        let column = self.characters_before(offset).saturating_sub(self.characters_before(start));
        Position { line: count(line), column: count(column) + 1 }
    }

    fn characters_before(&self, offset: usize) -> usize {
        let step = offset / STEP;
        let rest = self.text.as_bytes().get(step * STEP..offset).map_or(0, beginnings);
        self.characters.get(step).map_or(0, |before| before + rest)
    }

    /// The place that serde_json calls `line` and `column`: it counts bytes, and 0 for the line break before the line.
    fn column(&self, line: usize, column: usize) -> Position {
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(self.text.len());
        self.position((start + column.saturating_sub(1)).min(self.text.len()))
    }
}

/// How many characters begin among these bytes of UTF-8.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

struct Reader<'a> {
    lines: &'a Lines<'a>,
}

impl<'a> Reader<'a> {
    fn node(&self, raw: &'a RawValue, depth: usize) -> Result<Node, Unreadable> {
        let text = raw.get();
        let offset = self.offset(text);
        let at = self.lines.position(offset);
        if depth > MAX_DEPTH {
            return Err(Unreadable::TooComplex {
                sentence: format!("it nests more than {MAX_DEPTH} levels deep"),
                at: Some(at),
            });
        }
        let broken = |error: serde_json::Error| {
            let message = error.to_string();
            let sentence = message.rsplit_once(" at line ").map_or(message.as_str(), |(sentence, _)| sentence);
            Unreadable::Syntax { sentence: sentence.to_owned(), help: None, at: Some(at) }
        };
        let kind = match text.bytes().next() {
            Some(b'{') => {
                let members: Members<'a> = serde_json::from_str(text).map_err(broken)?;
                let mut cursor = offset;
                let mut entries = Vec::with_capacity(members.0.len());
                for (key, value) in members.0 {
                    // Between the last value and this one stands nothing but the key that has a quote.
                    let ahead = self.lines.text.get(cursor..).and_then(|rest| rest.find('"')).unwrap_or_default();
                    let key_at = self.lines.position(cursor + ahead);
                    cursor = self.offset(value.get()) + value.get().len();
                    entries.push(Entry { key, key_at, value: self.node(value, depth + 1)? });
                }
                Kind::Mapping(entries)
            }
            Some(b'[') => {
                let items: Vec<&'a RawValue> = serde_json::from_str(text).map_err(broken)?;
                Kind::List(items.into_iter().map(|item| self.node(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Some(b'"') => Kind::Text(serde_json::from_str(text).map_err(broken)?),
            Some(b't') => Kind::Bool(true),
            Some(b'f') => Kind::Bool(false),
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number { json: text.to_owned(), written: text.to_owned() },
        };
        Ok(Node { at, kind })
    }

    /// Where `part`, which serde_json borrowed from the text, begins in it.
    fn offset(&self, part: &str) -> usize {
        (part.as_ptr() as usize).saturating_sub(self.lines.text.as_ptr() as usize)
    }
}

/// The members of an object in their order, repeated keys included.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}
