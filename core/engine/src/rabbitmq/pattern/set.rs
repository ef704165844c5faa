//! Sets of bytes, as Erlang's PCRE has them.

use std::fmt::Write as _;

/// Which of the 256 bytes are in.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ByteSet([bool; 256]);

impl ByteSet {
    pub(super) const fn empty() -> Self {
        Self([false; 256])
    }

    /// The bytes for which `is_in` holds.
    pub(super) fn of(is_in: impl Fn(u8) -> bool) -> Self {
        let mut set = Self::empty();
        for (byte, slot) in (0..=u8::MAX).zip(&mut set.0) {
            *slot = is_in(byte);
        }
        set
    }

    pub(super) fn contains(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or(false)
    }

    pub(super) fn add(&mut self, other: &Self) {
        for (slot, more) in self.0.iter_mut().zip(&other.0) {
            *slot |= more;
        }
    }

    pub(super) fn add_range(&mut self, first: u8, last: u8) {
        self.add(&Self::of(|byte| (first..=last).contains(&byte)));
    }

    /// Adds the other case of each ASCII letter.
    pub(super) fn add_other_case(&mut self) {
        let set = self.clone();
        self.add(&Self::of(|byte| set.contains(byte.to_ascii_lowercase()) || set.contains(byte.to_ascii_uppercase())));
    }

    pub(super) fn negate(&mut self) {
        for slot in &mut self.0 {
            *slot = !*slot;
        }
    }

    /// Appends the set as a bracket expression of hexadecimal ranges; the empty set as an assertion that never holds.
    pub(super) fn write(&self, out: &mut String) {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        for byte in (0..=u8::MAX).filter(|byte| self.contains(*byte)) {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        if ranges.is_empty() {
            out.push_str("(?!)");
            return;
        }
        out.push('[');
        for (first, last) in ranges {
            let _ = write!(out, "\\x{first:02X}");
            if last > first {
                let _ = write!(out, "-\\x{last:02X}");
            }
        }
        out.push(']');
    }

    /// The set of `\d`, `\w`, `\s`, `\h` or `\v`, or its complement for the capital letter.
    pub(super) fn escape(letter: u8) -> Option<Self> {
        let mut set = match letter.to_ascii_lowercase() {
            b'd' => Self::of(|byte| byte.is_ascii_digit()),
            b'w' => Self::of(is_word),
            b's' => Self::of(|byte| matches!(byte, 9..=13 | 32)),
            b'h' => Self::of(|byte| matches!(byte, 9 | 32 | 0xA0)),
            b'v' => Self::of(|byte| matches!(byte, 10..=13 | 0x85)),
            _ => return None,
        };
        if letter.is_ascii_uppercase() {
            set.negate();
        }
        Some(set)
    }

    /// The ASCII part of `[:name:]`.
    pub(super) fn posix(name: &str) -> Option<Self> {
        let is_in: fn(u8) -> bool = match name {
            "alnum" => |byte| byte.is_ascii_alphanumeric(),
            "alpha" => |byte| byte.is_ascii_alphabetic(),
            "ascii" => |byte| byte.is_ascii(),
            "blank" => |byte| matches!(byte, 9 | 32),
            "cntrl" => |byte| byte.is_ascii_control(),
            "digit" => |byte| byte.is_ascii_digit(),
            "graph" => |byte| byte.is_ascii_graphic(),
            "lower" => |byte| byte.is_ascii_lowercase(),
            "print" => |byte| byte.is_ascii_graphic() || byte == b' ',
            "punct" => |byte| byte.is_ascii_punctuation(),
            "space" => |byte| matches!(byte, 9..=13 | 32),
            "upper" => |byte| byte.is_ascii_uppercase(),
            "word" => |byte| byte.is_ascii_alphanumeric() || byte == b'_',
            "xdigit" => |byte| byte.is_ascii_hexdigit(),
            _ => return None,
        };
        Some(Self::of(is_in))
    }
}

/// `\w`: the letters of Latin-1 belong to it, as Erlang's tables have them (measured on OTP 25: every byte asked).
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | 0xAA | 0xB5 | 0xBA | 0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0xFF)
}
