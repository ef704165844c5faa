//! The two values of an inequivalent argument.
//!
//! ```text
//! received SIDE but current is SIDE
//! SIDE := none | 'VALUE' | the value 'VALUE' of type 'TYPE'
//! ```
//! (3.8.35 to 4.3.6, `rabbit_misc:assert_args_equivalence`.) Nothing in a value is escaped, so a value may hold any of these
//! words itself: of several possible splits the last one is taken.

use super::{Printed, Side};

/// What stands between the two sides.
const BETWEEN: &str = " but current is ";

/// Both sides, as far as they are there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) received: Option<Printed>,
    pub(super) current: Option<Printed>,
    pub(super) absent: Option<Side>,
}

impl Sides {
    /// Reads what follows `received `; of a `cut` text what is whole in it.
    pub(super) fn read(text: &str, cut: bool) -> Option<Self> {
        let both = text.rmatch_indices(BETWEEN).find_map(|(at, _)| {
            let received = one(text.get(..at)?)?;
            let current = one(text.get(at..)?.strip_prefix(BETWEEN)?)?;
            Some(Self::of(Some(received), Some(current)))
        });
        if both.is_some() || !cut {
            return both;
        }
        // The text breaks off in the second side: the first one is whole.
        let first = text.rmatch_indices(BETWEEN).find_map(|(at, _)| one(text.get(..at)?));
        Some(Self::of(first, None))
    }

    fn of(received: Option<Option<Printed>>, current: Option<Option<Printed>>) -> Self {
        let absent = match (&received, &current) {
            (Some(None), _) => Some(Side::Received),
            (_, Some(None)) => Some(Side::Current),
            _ => None,
        };
        Self { received: received.flatten(), current: current.flatten(), absent }
    }
}

/// One side: `Some(None)` for `none`.
fn one(text: &str) -> Option<Option<Printed>> {
    if text == "none" {
        return Some(None);
    }
    let (value, kind) = match text.strip_prefix("the value ") {
        Some(typed) => match typed.strip_suffix('\'').and_then(|typed| typed.rsplit_once("' of type '")) {
            Some((value, kind)) if is_type(kind) => (value, Some(kind.to_owned())),
            _ => (typed.strip_suffix('\'')?, None),
        },
        None => (text.strip_suffix('\'')?, None),
    };
    Some(Some(Printed { value: value.strip_prefix('\'')?.to_owned(), kind }))
}

fn is_type(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase())
}
