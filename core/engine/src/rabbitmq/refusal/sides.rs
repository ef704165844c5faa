//! The two values of an inequivalent argument.
//!
//! ```text
//! received SIDE but current is SIDE
//! SIDE := none | 'VALUE' | the value 'VALUE' of type 'TYPE'
//! ```
//! (3.8.35 to 4.3.6, `rabbit_misc:assert_args_equivalence`; older brokers and web pages mix the forms.) Nothing in a value is
//! escaped, so a value may hold any of these words itself: of several possible splits the last one is taken.

use super::pattern::Mode;
use super::{Printed, Side};

/// What stands between the two sides.
const BETWEEN: &str = " but current is ";
/// What stands before a value whose type is printed.
const TYPED: &str = "the value ";
/// What stands between such a value and its type.
const OF_TYPE: &str = "' of type '";

/// Both sides, as far as they are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) received: Option<Printed>,
    pub(super) current: Option<Printed>,
    pub(super) absent: Option<Side>,
    /// The side whose value the cut left incomplete, with its beginning.
    pub(super) begins: Option<(Side, String)>,
}

/// One side of a text.
#[derive(Debug, PartialEq, Eq)]
enum One {
    Absent,
    Value(Printed),
    /// The beginning of a value that the cut left incomplete.
    Begins(String),
    /// The text ends before the side begins.
    Nothing,
}

impl Sides {
    /// Reads what follows `received `.
    pub(super) fn read(text: &str, mode: Mode) -> Option<Self> {
        let splits = || {
            text.match_indices(BETWEEN).filter_map(|(at, _)| {
                let (received, current) = text.split_at_checked(at)?;
                Some((received, current.strip_prefix(BETWEEN)?))
            })
        };
        match mode {
            Mode::Whole => splits()
                .filter_map(|(received, current)| {
                    let other_is_absent = |other| other == "none";
                    Some(Self::of(
                        whole(received, other_is_absent(current))?,
                        whole(current, other_is_absent(received))?,
                    ))
                })
                .last(),
            Mode::Followed => {
                splits().find_map(|(received, current)| Some(Self::of(whole(received, false)?, followed(current)?)))
            }
            Mode::Cut => {
                let in_the_second = splits()
                    .filter_map(|(received, current)| Some(Self::of(whole(received, false)?, cut(current, ""))))
                    .last();
                in_the_second.or_else(|| Some(Self::of(cut(text, BETWEEN), One::Nothing)))
            }
        }
    }

    fn of(received: One, current: One) -> Self {
        let mut sides = Self::default();
        for (side, one) in [(Side::Received, received), (Side::Current, current)] {
            match one {
                One::Absent => sides.absent = sides.absent.or(Some(side)),
                One::Begins(text) => sides.begins = Some((side, text)),
                One::Nothing => {}
                One::Value(printed) => match side {
                    Side::Received => sides.received = Some(printed),
                    Side::Current => sides.current = Some(printed),
                },
            }
        }
        sides
    }
}

/// A side that is all of `text`. A type is printed behind `the value`, and in some old texts without it where the other
/// side is absent; else what looks like a type is the value's own.
fn whole(text: &str, other_is_absent: bool) -> Option<One> {
    if text == "none" {
        return Some(One::Absent);
    }
    let (quoted, typed) = match text.strip_prefix(TYPED) {
        Some(quoted) => (quoted, true),
        None => (text, other_is_absent),
    };
    let inner = quoted.strip_prefix('\'')?.strip_suffix('\'')?;
    Some(match inner.rsplit_once(OF_TYPE) {
        Some((value, kind)) if typed && is_type(kind) => value_of(value, Some(kind)),
        _ => value_of(inner, None),
    })
}

/// A side with something behind it: the value ends at the first quote that can be its end.
fn followed(text: &str) -> Option<One> {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\'');
    if let Some(rest) = text.strip_prefix("none") {
        return ends(rest).then_some(One::Absent);
    }
    let inner = text.strip_prefix(TYPED).unwrap_or(text).strip_prefix('\'')?;
    for (at, _) in inner.match_indices('\'') {
        let (value, rest) = inner.split_at_checked(at)?;
        if let Some((kind, after)) = rest.strip_prefix(OF_TYPE).and_then(|rest| rest.split_once('\''))
            && is_type(kind)
            && ends(after)
        {
            return Some(value_of(value, Some(kind)));
        }
        if rest.strip_prefix('\'').is_some_and(ends) && !rest.starts_with(OF_TYPE) {
            return Some(value_of(value, None));
        }
    }
    None
}

/// A side that the cut may have left incomplete; `behind` is what follows a whole one.
fn cut(text: &str, behind: &str) -> One {
    if text.strip_prefix("none").is_some_and(|rest| behind.starts_with(rest)) {
        return One::Absent;
    }
    if let Some(side) = whole(text, false).filter(|side| matches!(side, One::Value(Printed { kind: Some(_), .. }))) {
        return side;
    }
    let (quoted, behind) = match text.strip_prefix(TYPED) {
        Some(quoted) => (quoted, OF_TYPE.to_owned()),
        None => (text, format!("'{behind}")),
    };
    let Some(inner) = quoted.strip_prefix('\'') else { return One::Nothing };
    // What stands behind the value has begun, so the value is whole; a quote and a blank alone are no proof of that.
    let begun = (3..=behind.len()).rev().find_map(|length| inner.strip_suffix(behind.get(..length)?));
    if let Some(value) = begun {
        return value_of(value, None);
    }
    match inner.rsplit_once(OF_TYPE) {
        Some((value, kind)) if kind.bytes().all(|b| b.is_ascii_lowercase()) => value_of(value, None),
        _ => One::Begins(inner.to_owned()),
    }
}

fn value_of(value: &str, kind: Option<&str>) -> One {
    One::Value(Printed { value: value.to_owned(), kind: kind.map(str::to_owned) })
}

fn is_type(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())
}
