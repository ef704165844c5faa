//! From PCRE's syntax to the small language that both engines read alike.

use super::set::ByteSet;
use std::fmt::Write as _;

/// A pattern in the common language.
#[derive(Debug, Clone)]
pub(super) struct Translated {
    pub(super) text: String,
    /// Whether Latin-1 tables decide, so that nothing can be said about names outside ASCII.
    pub(super) latin: bool,
}

/// Rewrites a pattern, or says which part of it has no equivalent.
pub(super) fn translate(pattern: &str) -> Result<Translated, &'static str> {
    let mut translator = Translator {
        rest: pattern.as_bytes(),
        out: String::with_capacity(pattern.len() * 2),
        atom: None,
        groups: Vec::new(),
        latin: false,
        caseless: false,
        ever_caseless: false,
        back_reference: false,
    };
    translator.run()?;
    if translator.ever_caseless && translator.back_reference {
        return Err("a back reference that ignores case");
    }
    Ok(Translated { text: translator.out, latin: translator.latin || translator.ever_caseless })
}

/// What a quantifier would repeat.
#[derive(Clone, Copy)]
enum Atom {
    /// From here to the end of the output.
    Repeatable(usize),
    /// An anchor or an assertion, whose repetition means something else in each engine.
    Assertion,
}

/// An open group.
struct Group {
    /// Where its output starts.
    start: usize,
    is_assertion: bool,
    /// Whether case does not count behind it.
    caseless_behind: bool,
}

struct Translator<'a> {
    rest: &'a [u8],
    out: String,
    atom: Option<Atom>,
    groups: Vec<Group>,
    latin: bool,
    /// Whether case does not count here.
    caseless: bool,
    ever_caseless: bool,
    back_reference: bool,
}

type Step = Result<(), &'static str>;

impl Translator<'_> {
    fn run(&mut self) -> Step {
        while let Some(byte) = self.next() {
            match byte {
                b'\\' => self.escape()?,
                b'[' => self.class()?,
                b'(' => self.open()?,
                b')' => self.close()?,
                b'|' => {
                    self.out.push('|');
                    self.atom = None;
                }
                b'^' | b'$' => {
                    self.out.push(char::from(byte));
                    self.atom = Some(Atom::Assertion);
                }
                b'.' => self.push_atom("."),
                b'*' => self.quantify("*")?,
                b'+' => self.quantify("+")?,
                b'?' => self.quantify("?")?,
                b'{' => match self.repetition() {
                    Some(repetition) => self.quantify(&repetition)?,
                    // Anything else in braces is text to PCRE.
                    None => self.literal(b'{'),
                },
                byte => self.literal(byte),
            }
        }
        if self.groups.is_empty() { Ok(()) } else { Err("an open parenthesis") }
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn take(&mut self, prefix: &[u8]) -> bool {
        match self.rest.strip_prefix(prefix) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn push_atom(&mut self, text: &str) {
        self.atom = Some(Atom::Repeatable(self.out.len()));
        self.out.push_str(text);
    }

    fn literal(&mut self, byte: u8) {
        self.atom = Some(Atom::Repeatable(self.out.len()));
        if byte.is_ascii_alphanumeric() {
            self.out.push(char::from(byte));
        } else {
            let _ = write!(self.out, "\\x{byte:02X}");
        }
    }

    fn set(&mut self, set: &ByteSet) {
        self.atom = Some(Atom::Repeatable(self.out.len()));
        set.write(&mut self.out);
    }

    fn assertion(&mut self, text: &str) {
        self.out.push_str(text);
        self.atom = Some(Atom::Assertion);
    }

    /// `{2}`, `{2,}` or `{2,5}` after the opening brace; `{,5}` is text to PCRE.
    fn repetition(&mut self) -> Option<String> {
        let end = self.rest.iter().position(|byte| *byte == b'}')?;
        let (inside, rest) = self.rest.split_at_checked(end)?;
        let inside = std::str::from_utf8(inside).ok()?;
        let (low, high) = inside.split_once(',').unwrap_or((inside, "0"));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if low.is_empty() || !digits(low) || !digits(high) {
            return None;
        }
        let repetition = format!("{{{inside}}}");
        self.rest = rest.get(1..)?;
        Some(repetition)
    }

    fn quantify(&mut self, quantifier: &str) -> Step {
        let start = match self.atom.take() {
            Some(Atom::Repeatable(start)) => start,
            Some(Atom::Assertion) => return Err("a repeated assertion"),
            None => return Err("a repetition of nothing"),
        };
        self.out.push_str(quantifier);
        if self.take(b"?") {
            self.out.push('?');
        } else if self.take(b"+") {
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        }
        Ok(())
    }

    fn open(&mut self) -> Step {
        if self.take(b"?#") {
            // A comment; what stands before it can still be repeated.
            let end = self.rest.iter().position(|byte| *byte == b')').ok_or("an open comment")?;
            self.rest = self.rest.split_at_checked(end + 1).unwrap_or_default().1;
            return Ok(());
        }
        if self.peek() == Some(b'*') {
            return Err("a verb such as (*UTF8)");
        }
        let start = self.out.len();
        let mut is_assertion = false;
        self.atom = None;
        if !self.take(b"?") {
            self.out.push('(');
        } else if self.take(b":") {
            self.out.push_str("(?:");
        } else if self.take(b">") {
            self.out.push_str("(?>");
        } else if let Some(look) =
            ["=", "!", "<=", "<!"].into_iter().find(|look| self.rest.starts_with(look.as_bytes()))
        {
            self.take(look.as_bytes());
            self.out.push_str("(?");
            self.out.push_str(look);
            is_assertion = true;
        } else if self.take(b"P<") || self.take(b"<") {
            let end = self.rest.iter().position(|byte| *byte == b'>').ok_or("an open group name")?;
            self.rest = self.rest.split_at_checked(end + 1).unwrap_or_default().1;
            self.out.push('(');
        } else {
            return self.flags();
        }
        self.groups.push(Group { start, is_assertion, caseless_behind: self.caseless });
        Ok(())
    }

    /// `(?i)`, `(?-s)`, `(?im:…)` after the question mark.
    fn flags(&mut self) -> Step {
        let start = self.out.len();
        let mut flags = String::new();
        let caseless_behind = self.caseless;
        loop {
            match self.next() {
                Some(flag @ (b'i' | b's' | b'm' | b'-')) => {
                    if flag == b'i' {
                        self.caseless = !flags.contains('-');
                        self.ever_caseless |= self.caseless;
                    }
                    flags.push(char::from(flag));
                }
                Some(b')') if !flags.is_empty() => {
                    let _ = write!(self.out, "(?{flags})");
                    return Ok(());
                }
                Some(b':') if !flags.is_empty() => {
                    let _ = write!(self.out, "(?{flags}:");
                    self.groups.push(Group { start, is_assertion: false, caseless_behind });
                    return Ok(());
                }
                _ => return Err("a group of a kind that only PCRE has"),
            }
        }
    }

    fn close(&mut self) -> Step {
        let group = self.groups.pop().ok_or("a parenthesis that was never opened")?;
        self.caseless = group.caseless_behind;
        self.out.push(')');
        self.atom = Some(if group.is_assertion { Atom::Assertion } else { Atom::Repeatable(group.start) });
        Ok(())
    }

    fn escape(&mut self) -> Step {
        let byte = self.next().ok_or("a backslash at the end")?;
        if let Some(set) = ByteSet::escape(byte) {
            self.set(&set);
            return Ok(());
        }
        match byte {
            b'b' | b'B' => {
                self.latin = true;
                self.assertion(if byte == b'b' { "\\b" } else { "\\B" });
            }
            // No search starts anywhere but at the beginning of the name, and no name ends with a line break.
            b'A' | b'G' => self.assertion("\\A"),
            b'Z' | b'z' => self.assertion("\\z"),
            b'N' if self.peek() != Some(b'{') => self.set(&ByteSet::of(|byte| byte != b'\n')),
            b'Q' => {
                while !self.rest.is_empty() && !self.take(b"\\E") {
                    if let Some(byte) = self.next() {
                        self.literal(byte);
                    }
                }
            }
            b'E' => {}
            b'1'..=b'9' if !self.peek().is_some_and(|next| next.is_ascii_digit()) => {
                self.back_reference = true;
                self.push_atom(&format!("\\{}", char::from(byte)));
            }
            byte => {
                let byte = self.character(byte)?;
                self.literal(byte);
            }
        }
        Ok(())
    }

    /// The byte that a backslash and `byte` stand for, inside and outside of brackets.
    fn character(&mut self, byte: u8) -> Result<u8, &'static str> {
        Ok(match byte {
            b't' => b'\t',
            b'n' => b'\n',
            b'r' => b'\r',
            b'f' => 0x0C,
            b'a' => 0x07,
            b'e' => 0x1B,
            b'0' => self.number(8, 2)?,
            b'x' if self.take(b"{") => {
                let value = self.number(16, 8)?;
                if !self.take(b"}") {
                    return Err("an escape that only PCRE has");
                }
                value
            }
            b'x' => self.number(16, 2)?,
            byte if !byte.is_ascii_alphanumeric() => byte,
            _ => return Err("an escape that only PCRE has"),
        })
    }

    /// Up to `most` digits; no digits are 0, as in PCRE.
    fn number(&mut self, radix: u32, most: usize) -> Result<u8, &'static str> {
        let mut value: u32 = 0;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            self.next();
            value = value.saturating_mul(radix).saturating_add(digit);
        }
        u8::try_from(value).map_err(|_| "a character above 255")
    }

    /// A bracket expression after the opening bracket.
    fn class(&mut self) -> Step {
        let negated = self.take(b"^");
        let mut set = ByteSet::empty();
        // The byte before, when a range could start with it.
        let mut low = None;
        let mut first = true;
        loop {
            let byte = self.next().ok_or("an open bracket")?;
            if byte == b']' && !first {
                break;
            }
            first = false;
            low = match low {
                Some(low) if byte == b'-' && self.peek() != Some(b']') => {
                    let next = self.next().ok_or("an open bracket")?;
                    let high = self.class_item(next, &mut set)?.ok_or("a range that ends with a set")?;
                    set.add_range(low, high);
                    None
                }
                _ => self.class_item(byte, &mut set)?,
            };
        }
        if self.caseless {
            // Before it is negated: `[^a]` is neither `a` nor `A`.
            set.add_other_case();
        }
        if negated {
            set.negate();
        }
        self.set(&set);
        Ok(())
    }

    /// Adds one item of a bracket expression, and gives it back when it is a single byte.
    fn class_item(&mut self, byte: u8, set: &mut ByteSet) -> Result<Option<u8>, &'static str> {
        let single = match byte {
            b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => match self.named_set() {
                Some(named) => {
                    set.add(&named?);
                    return Ok(None);
                }
                None => b'[',
            },
            b'\\' => {
                let escaped = self.next().ok_or("a backslash at the end")?;
                if let Some(escaped) = ByteSet::escape(escaped) {
                    set.add(&escaped);
                    return Ok(None);
                }
                if escaped == b'b' { 0x08 } else { self.character(escaped)? }
            }
            byte => byte,
        };
        set.add_range(single, single);
        Ok(Some(single))
    }

    /// `[:alpha:]` or `[:^alpha:]` after the opening bracket; `None` when the bracket is a character like any other.
    fn named_set(&mut self) -> Option<Result<ByteSet, &'static str>> {
        let (mark, rest) = self.rest.split_first()?;
        let end = rest.windows(2).position(|pair| pair == [*mark, b']'])?;
        let (name, after) = rest.split_at_checked(end)?;
        let name = std::str::from_utf8(name).ok()?;
        let (negated, name) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
        if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        let named = if *mark == b':' { ByteSet::posix(name) } else { None };
        self.rest = after.get(2..)?;
        self.latin = true;
        Some(named.ok_or("a set that PCRE does not have").map(|mut set| {
            if negated {
                set.negate();
            }
            set
        }))
    }
}
