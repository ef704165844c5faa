//! Matching a text against a wording.
//!
//! A pattern is literal text with fields in braces. `{kind}` is `queue` or `exchange`, `{Kind}` is `Queue` or `Exchange`; `{sides}` is what
//! [`sides`](super::sides) reads; the fields of [`WORDS`] are words without blanks and quotes; every other field goes on to
//! the next literal. Nothing in a text is escaped, so several ends may be possible: the first one that lets the rest match
//! is taken, but `{name}` and `{vhost}` first try what the caller knows.

use super::sides::Sides;
use super::wordings::Wording;
use super::{Known, RefusalClass};
use std::borrow::Cow;

/// Attempts that one wording may cost. Real texts need fewer than twenty; a hostile one full of quotes is given up.
const ATTEMPTS: u32 = 500;

/// A cut text of fewer bytes than this is the beginning of too many wordings.
const SHORTEST_CUT: usize = 12;

/// A broker cuts a text of 255 bytes or characters, and no name that stands before the explanation is longer than 19.
const SHORTEST_WHOLE: usize = 255 - "PRECONDITION_FAILED - ".len() - 1;

/// Fields that hold neither blanks nor quotes.
const WORDS: [&str; 10] =
    ["argument", "feature", "flag", "limit", "module", "needed", "number", "permission", "type", "verb"];

/// How much of the text must match how much of the wording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// All of both.
    Whole,
    /// The text is the beginning of the wording: the broker cut it and wrote `...` instead of the rest.
    Cut,
    /// The wording is the beginning of the text: something follows, as a client's file and line.
    Followed,
}

/// A wording that was found, with its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found<'t> {
    pub(super) wording: &'static Wording,
    pub(super) mode: Mode,
    pub(super) sides: Option<Sides>,
    fields: Vec<Field<'t>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field<'t> {
    name: &'static str,
    text: Cow<'t, str>,
    whole: bool,
}

impl Found<'_> {
    /// A field that is there to its end.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.name == name && field.whole).map(|field| &*field.text)
    }

    /// Whether the wording ends in free words, and those were cut.
    pub(super) fn ends_cut(&self, text: &str) -> bool {
        self.wording.pattern.ends_with('}') && is_cut(text)
    }

    /// This, with only those fields that a [`Refusal`](super::Refusal) has no place for.
    pub(super) fn for_the_sentence(self) -> Found<'static> {
        let Self { wording, mode, sides, fields } = self;
        let kept = fields.into_iter().filter(|field| !field.whole || !has_a_place(field.name));
        let owned = |field: Field<'_>| Field { text: Cow::Owned(field.text.into_owned()), ..field };
        Found { wording, mode, sides, fields: kept.map(owned).collect() }
    }

    /// The beginning of a field that the cut left incomplete.
    pub(super) fn beginning(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|field| field.name == name && !field.whole).map(|field| &*field.text)
    }
}

/// Whether a [`Refusal`](super::Refusal) keeps that field itself.
fn has_a_place(field: &str) -> bool {
    matches!(field, "name" | "vhost" | "kind" | "Kind" | "argument")
}

/// The first of `wordings` that `text` matches in `mode`.
///
/// A cut text may be the beginning of several wordings; those that do not go with the reply code are out. If the rest are
/// of different classes, the text proves nothing.
pub(super) fn find<'t>(
    wordings: &'static [Wording],
    text: &'t str,
    code: Option<u16>,
    known: Known<'t>,
    mode: Mode,
) -> Option<Found<'t>> {
    if mode != Mode::Cut {
        return that_begin(wordings, text).find_map(|wording| Attempt::new(known, mode).run(wording, text));
    }
    let text = text.strip_suffix("...").or_else(|| text.strip_suffix('…'))?;
    let text = without_half_character(text);
    if text.len() < SHORTEST_CUT {
        return None;
    }
    let mut all = that_begin(wordings, text)
        .filter(|wording| goes_with(wording.class, code))
        .filter_map(|wording| Attempt::new(known, mode).run(wording, text));
    let first = all.next()?;
    all.all(|other| other.wording.class == first.wording.class).then_some(first)
}

/// The wordings that begin as the text does.
fn that_begin(wordings: &'static [Wording], text: &str) -> impl Iterator<Item = &'static Wording> {
    wordings.iter().filter(|wording| text.starts_with(wording.beginning))
}

/// Whether a text ends as a cut one does.
pub(super) fn is_cut(text: &str) -> bool {
    text.ends_with("...") && text.len() > SHORTEST_WHOLE
}

/// Takes off what a cut through a character left: U+FFFD, or the byte as Python's `backslashreplace` writes it.
fn without_half_character(text: &str) -> &str {
    let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
    let escaped = text.rfind("\\x").and_then(|at| text.split_at_checked(at));
    match escaped {
        Some((before, byte)) if byte.len() == 4 && byte.chars().skip(2).all(|c| c.is_ascii_hexdigit()) => before,
        _ => text,
    }
}

/// Whether refusals of this class come with that code.
fn goes_with(class: RefusalClass, code: Option<u16>) -> bool {
    use RefusalClass::{
        AccessRefused, InUse, Inequivalent, Invalid, Locked, NotEmpty, NotFound, NotImplemented, Unavailable,
    };
    match code {
        Some(403) => matches!(class, AccessRefused | Invalid | InUse),
        Some(404) => matches!(class, NotFound | Unavailable),
        Some(405) => class == Locked,
        Some(406) => matches!(class, Inequivalent | Invalid | NotEmpty | InUse),
        Some(540) => class == NotImplemented,
        _ => true,
    }
}

/// One wording against one text.
struct Attempt<'t> {
    known: Known<'t>,
    mode: Mode,
    left: u32,
    fields: Vec<Field<'t>>,
    sides: Option<Sides>,
}

impl<'t> Attempt<'t> {
    fn new(known: Known<'t>, mode: Mode) -> Self {
        Self { known, mode, left: ATTEMPTS, fields: Vec::new(), sides: None }
    }

    fn run(mut self, wording: &'static Wording, text: &'t str) -> Option<Found<'t>> {
        let matched = self.step(wording.pattern, text);
        matched.then_some(Found { wording, mode: self.mode, sides: self.sides, fields: self.fields })
    }

    fn step(&mut self, pattern: &'static str, text: &'t str) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        if pattern.is_empty() {
            return match self.mode {
                Mode::Whole => text.is_empty(),
                // A cut text that says everything was shortened by a person.
                Mode::Cut => text.is_empty(),
                Mode::Followed => !text.starts_with(char::is_alphanumeric),
            };
        }
        if let Some((name, after)) = pattern.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            return self.field(name, after, text);
        }
        let (literal, after) = split_literal(pattern);
        match text.strip_prefix(literal) {
            Some(rest) => self.step(after, rest),
            None => self.mode == Mode::Cut && literal.starts_with(text),
        }
    }

    fn field(&mut self, name: &'static str, after: &'static str, text: &'t str) -> bool {
        if name == "sides" {
            self.sides = Sides::read(text, self.mode);
            return self.sides.is_some();
        }
        let (literal, behind) = split_literal(after);
        for (printed, meant) in known_for(self.known, name) {
            if let Some(rest) = text.strip_prefix(&*printed)
                && rest.starts_with(literal)
                && self.accept(name, meant.clone(), after, rest)
            {
                return true;
            }
            if self.mode == Mode::Cut && ends_within(text, &printed, literal) {
                self.fields.push(Field { name, text: meant, whole: true });
                return true;
            }
        }
        if literal.is_empty() {
            return self.goes_on_to_the_end(name, text);
        }
        if self.mode != Mode::Cut && is_word(name) && !literal.starts_with(is_word_character) {
            // The word ends where the literal has to begin: nothing has to be searched for.
            let end = text.find(|c| !is_word_character(c)).unwrap_or(text.len());
            let Some((word, rest)) = text.split_at_checked(end) else { return false };
            return rest.starts_with(literal) && self.accept(name, word.into(), after, rest);
        }
        if behind.is_empty() && self.mode == Mode::Whole {
            // The last literal stands at the very end, so the field is all that is before it.
            return text.strip_suffix(literal).is_some_and(|value| self.accept(name, value.into(), "", ""));
        }
        for (at, _) in text.match_indices(literal) {
            let Some((value, rest)) = text.split_at_checked(at) else { continue };
            if !allowed(name, value) {
                return false;
            }
            if self.accept(name, value.into(), after, rest) {
                return true;
            }
            if self.left == 0 {
                return false;
            }
        }
        self.mode == Mode::Cut && self.is_cut(name, literal, text)
    }

    fn goes_on_to_the_end(&mut self, name: &'static str, text: &'t str) -> bool {
        let text = match self.mode {
            Mode::Followed if WORDS.contains(&name) => {
                text.split(|c: char| !is_word_character(c)).next().unwrap_or_default()
            }
            _ => text,
        };
        let allowed = allowed(name, text);
        if allowed {
            self.fields.push(Field { name, text: text.into(), whole: self.mode != Mode::Cut });
        }
        allowed
    }

    /// The text was cut inside this field or inside the literal behind it.
    fn is_cut(&mut self, name: &'static str, literal: &'static str, text: &'t str) -> bool {
        // Literals are ASCII, so every length is a boundary. One quote ends a word, and is no sign of an end elsewhere.
        let shortest = if is_word(name) { 1 } else { 2 };
        let begun = (shortest..literal.len()).rev().find_map(|length| text.strip_suffix(literal.get(..length)?));
        let (value, whole) = begun.map_or((text, false), |value| (value, true));
        let fits = if whole { allowed(name, value) } else { may_begin(name, value) };
        if fits && !value.is_empty() {
            self.fields.push(Field { name, text: value.into(), whole });
        }
        fits
    }

    /// Takes `value` for the field if the rest matches too.
    fn accept(&mut self, name: &'static str, value: Cow<'t, str>, pattern: &'static str, rest: &'t str) -> bool {
        if !allowed(name, &value) {
            return false;
        }
        let before = self.fields.len();
        self.fields.push(Field { name, text: value, whole: true });
        let matched = self.step(pattern, rest);
        if !matched {
            self.fields.truncate(before);
        }
        matched
    }
}

/// How a known name may be printed, with the name that it then stands for, the likeliest first.
fn known_for<'t>(known: Known<'t>, field: &str) -> impl Iterator<Item = (Cow<'t, str>, Cow<'t, str>)> {
    let known = match field {
        "name" => known.name,
        "vhost" => known.vhost,
        _ => None,
    };
    let plain = known.map(|known| (known.into(), known.into()));
    plain.into_iter().chain(known.into_iter().flat_map(disguises))
}

/// How brokers print a name that they cannot print as it is.
fn disguises<'t>(known: &'t str) -> impl Iterator<Item = (Cow<'t, str>, Cow<'t, str>)> {
    // Line ends are taken out of names before anything else is done.
    let stripped = known.contains(['\r', '\n']).then(|| known.replace(['\r', '\n'], ""));
    // 3.12 to 4.0.4 send these characters as single bytes, which are no UTF-8.
    let bytes: Option<Vec<u8>> = (known.chars().any(|c| ('\u{80}'..='\u{ff}').contains(&c)))
        .then(|| known.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect())
        .flatten();
    let sent = bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let stripped = stripped.map(|stripped| (stripped.clone().into(), stripped.into()));
    stripped.into_iter().chain(sent.map(|sent| (sent.into(), known.into())))
}

/// Whether `text` ends inside `printed`, or inside the `literal` that follows it.
fn ends_within(text: &str, printed: &str, literal: &str) -> bool {
    match text.strip_prefix(printed) {
        Some(rest) => literal.starts_with(rest),
        None => !text.is_empty() && printed.starts_with(text),
    }
}

fn split_literal(pattern: &'static str) -> (&'static str, &'static str) {
    pattern.split_at_checked(beginning(pattern).len()).unwrap_or((pattern, ""))
}

/// The literal text before the first field.
pub(super) const fn beginning(pattern: &'static str) -> &'static str {
    let mut length = 0;
    let mut rest = pattern.as_bytes();
    while let [first, behind @ ..] = rest {
        if *first == b'{' {
            break;
        }
        length += 1;
        rest = behind;
    }
    match pattern.split_at_checked(length) {
        Some((literal, _)) => literal,
        None => pattern,
    }
}

/// The words that a field can be, where there are but a few.
fn choices(field: &str) -> Option<[&'static str; 2]> {
    match field {
        "kind" => Some(["queue", "exchange"]),
        "Kind" => Some(["Queue", "Exchange"]),
        _ => None,
    }
}

/// Whether a field is one word, of a few or of any.
fn is_word(field: &str) -> bool {
    choices(field).is_some() || WORDS.contains(&field)
}

fn allowed(field: &str, value: &str) -> bool {
    match choices(field) {
        Some(words) => words.contains(&value),
        None => !WORDS.contains(&field) || (!value.is_empty() && value.chars().all(is_word_character)),
    }
}

/// Whether a cut `value` can be the beginning of the field.
fn may_begin(field: &str, value: &str) -> bool {
    match choices(field) {
        Some(words) => words.iter().any(|word| word.starts_with(value)),
        None => !WORDS.contains(&field) || value.chars().all(is_word_character),
    }
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '!')
}
