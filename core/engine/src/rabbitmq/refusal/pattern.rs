//! Matching a text against a wording, anchored at both ends.
//!
//! A pattern is literal text with fields in braces. `{kind}` is `queue` or `exchange`; `{argument}`, `{module}`, `{type}`,
//! `{permission}`, `{feature}`, `{node}` and `{limit}` are words without blanks and quotes; `{sides}` is what
//! [`sides`](super::sides) reads; every other field goes on to the next literal. Where several ends are possible the first
//! one that lets the rest match is taken, but `{name}` and `{vhost}` first try what the caller knows.
//!
//! A text that ends in `...` was cut: it matches a wording of which it is the beginning. Fields that the cut left
//! incomplete are kept apart, so that nobody takes them for the whole.

use super::Known;
use super::sides::Sides;
use super::wordings::Wording;

/// Attempts that one wording may cost. Real texts need fewer than twenty; a hostile one full of quotes is given up.
const ATTEMPTS: u32 = 2_000;

/// A text that is being read.
pub(super) struct Reading<'t> {
    text: &'t str,
    known: Known<'t>,
}

/// A wording that was found, with its fields.
pub(super) struct Found<'t> {
    pub(super) wording: &'static Wording,
    pub(super) sides: Option<Sides>,
    /// The text ends before the wording does.
    pub(super) cut: bool,
    fields: Vec<Field<'t>>,
}

#[derive(Clone, Copy)]
struct Field<'t> {
    name: &'static str,
    text: &'t str,
    whole: bool,
}

impl<'t> Found<'t> {
    /// A field that is there to its end.
    pub(super) fn get(&self, name: &str) -> Option<&'t str> {
        self.fields.iter().find(|field| field.name == name && field.whole).map(|field| field.text)
    }

    /// The beginning of a field that the cut left incomplete.
    #[expect(dead_code, reason = "the sentences use it")]
    pub(super) fn beginning(&self, name: &str) -> Option<&'t str> {
        self.fields.iter().find(|field| field.name == name && !field.whole).map(|field| field.text)
    }
}

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t str, known: Known<'t>) -> Self {
        Self { text, known }
    }

    /// The first wording that matches the whole text, else the first of which the text is a cut beginning.
    pub(super) fn find(&self, wordings: &'static [Wording]) -> Option<Found<'t>> {
        let whole = wordings.iter().find_map(|wording| Attempt::new(self.known, false).run(wording, self.text));
        whole.or_else(|| {
            let text = self.text.strip_suffix("...")?.trim_end_matches(char::REPLACEMENT_CHARACTER);
            wordings.iter().find_map(|wording| Attempt::new(self.known, true).run(wording, text))
        })
    }
}

/// One wording against one text.
struct Attempt<'t> {
    known: Known<'t>,
    cut: bool,
    left: u32,
    fields: Vec<Field<'t>>,
    sides: Option<Sides>,
}

impl<'t> Attempt<'t> {
    fn new(known: Known<'t>, cut: bool) -> Self {
        Self { known, cut, left: ATTEMPTS, fields: Vec::new(), sides: None }
    }

    fn run(mut self, wording: &'static Wording, text: &'t str) -> Option<Found<'t>> {
        let (first, _) = split_literal(wording.pattern);
        let matched = text.starts_with(first) && self.step(wording.pattern, text);
        matched.then_some(Found { wording, sides: self.sides, cut: self.cut, fields: self.fields })
    }

    fn step(&mut self, pattern: &'static str, text: &'t str) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        if pattern.is_empty() {
            return text.is_empty();
        }
        if let Some((name, after)) = pattern.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            return self.field(name, after, text);
        }
        let (literal, after) = split_literal(pattern);
        match text.strip_prefix(literal) {
            Some(rest) => self.step(after, rest),
            None => self.cut && literal.starts_with(text),
        }
    }

    fn field(&mut self, name: &'static str, after: &'static str, text: &'t str) -> bool {
        if name == "sides" {
            self.sides = Sides::read(text, self.cut);
            return self.sides.is_some();
        }
        let (literal, rest_of_pattern) = split_literal(after);
        if let Some(known) = self.known_for(name) {
            if let Some(rest) = text.strip_prefix(known)
                && (rest.starts_with(literal) || self.cut && literal.starts_with(rest))
                && self.accept(name, known, after, rest)
            {
                return true;
            }
            if self.cut && !text.is_empty() && known.starts_with(text) {
                self.fields.push(Field { name, text: known, whole: true });
                return true;
            }
        }
        if literal.is_empty() {
            return self.ends(name, text);
        }
        if rest_of_pattern.is_empty() && !self.cut {
            // The last literal stands at the very end, so the field is all that is before it.
            return text.strip_suffix(literal).is_some_and(|value| self.accept(name, value, "", ""));
        }
        for (at, _) in text.match_indices(literal) {
            let (Some(value), Some(rest)) = (text.get(..at), text.get(at..)) else { continue };
            if !allowed(name, value) {
                return false;
            }
            if self.accept(name, value, after, rest) {
                return true;
            }
        }
        self.cut && self.ends_cut(name, literal, text)
    }

    /// The field that goes on to the end of the text.
    fn ends(&mut self, name: &'static str, text: &'t str) -> bool {
        let allowed = allowed(name, text);
        if allowed {
            self.fields.push(Field { name, text, whole: !self.cut });
        }
        allowed
    }

    /// The text was cut inside this field or inside the literal behind it.
    fn ends_cut(&mut self, name: &'static str, literal: &str, text: &'t str) -> bool {
        // Literals are ASCII, so every length is a boundary.
        let begun = (2..literal.len()).rev().find_map(|length| text.strip_suffix(literal.get(..length)?));
        let field = match begun {
            Some(value) => Field { name, text: value, whole: true },
            None => Field { name, text, whole: false },
        };
        let allowed = allowed(name, field.text);
        if allowed {
            self.fields.push(field);
        }
        allowed
    }

    /// Takes `value` for the field if the rest matches too.
    fn accept(&mut self, name: &'static str, value: &'t str, pattern: &'static str, rest: &'t str) -> bool {
        if !allowed(name, value) {
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

    fn known_for(&self, name: &str) -> Option<&'t str> {
        match name {
            "name" => self.known.name,
            "vhost" => self.known.vhost,
            _ => None,
        }
    }
}

fn split_literal(pattern: &'static str) -> (&'static str, &'static str) {
    pattern.find('{').and_then(|at| pattern.split_at_checked(at)).unwrap_or((pattern, ""))
}

fn allowed(field: &str, value: &str) -> bool {
    match field {
        "kind" => matches!(value, "queue" | "exchange"),
        "argument" | "module" | "type" | "permission" | "feature" | "node" | "limit" => {
            !value.contains(|c: char| c.is_whitespace() || c == '\'' || c == '"')
        }
        _ => true,
    }
}
