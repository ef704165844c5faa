//! What is wrong with one entry of a definitions file.

use crate::topology::Position;
use serde::Serialize;
use std::fmt;

/// The kinds of [`Fault`], by stable codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultCode {
    /// A section that is no list, or an entry that is no object.
    WrongShape,
    /// A key that has to be there.
    MissingKey,
    /// A value of another kind than the key takes.
    WrongValue,
    /// A key that stands twice in one object.
    DuplicateKey,
    /// Two different entries of one name in one vhost; which one an import keeps is undefined.
    Duplicate,
    /// An entry without a vhost in a file whose other entries name theirs.
    MissingVhost,
}

impl FaultCode {
    /// The code as documents carry it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::WrongShape => "wrong_shape",
            Self::MissingKey => "missing_key",
            Self::WrongValue => "wrong_value",
            Self::DuplicateKey => "duplicate_key",
            Self::Duplicate => "duplicate",
            Self::MissingVhost => "missing_vhost",
        }
    }
}

/// One entry that cannot be read, or that cannot be meant. A broker refuses to import it, or keeps something undefined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What kind of fault.
    pub code: FaultCode,
    /// The list that holds the entry: `queues`, `policies`, …
    pub section: String,
    /// Which entry of the list, counted from 0; `None` when it is the list itself.
    pub index: Option<usize>,
    /// The entry's vhost; `None` when the entry does not say.
    pub vhost: Option<String>,
    /// The entry's name, when it has one.
    pub name: Option<String>,
    /// One sentence: what it is, what was expected, and the way out.
    pub message: String,
    /// Where in the file.
    pub at: Position,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// A fault whose place is still an offset into the text.
pub(super) struct Located {
    pub(super) offset: usize,
    pub(super) fault: Fault,
}

/// The place of each offset in `text`, found in one pass however many there are.
pub(super) fn place(text: &str, mut faults: Vec<Located>) -> Vec<Fault> {
    faults.sort_by_key(|located| located.offset);
    let mut here = Cursor::new(text);
    faults
        .into_iter()
        .map(|Located { offset, mut fault }| {
            fault.at = here.advance(offset);
            fault
        })
        .collect()
}

/// The place of one offset in `text`.
pub(super) fn position(text: &str, offset: usize) -> Position {
    Cursor::new(text).advance(offset)
}

/// Walks through a text once, from place to place.
pub(super) struct Cursor<'a> {
    text: &'a str,
    offset: usize,
    at: Position,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, offset: 0, at: Position { line: 1, column: 1 } }
    }

    /// The place of an offset that is not before the last one.
    pub(super) fn advance(&mut self, offset: usize) -> Position {
        for c in self.text.get(self.offset..offset).unwrap_or_default().chars() {
            if c == '\n' {
                self.at = Position { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        self.offset = offset.max(self.offset);
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_lines_from_one() {
        let text = "aä\nöb\n";
        assert_eq!(position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(position(text, 3), Position { line: 1, column: 3 });
        assert_eq!(position(text, 4), Position { line: 2, column: 1 });
        assert_eq!(position(text, 6), Position { line: 2, column: 2 });
    }
}
