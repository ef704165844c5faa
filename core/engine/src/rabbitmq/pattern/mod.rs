//! The regular expressions of policies and permissions, as RabbitMQ's PCRE reads them.
//!
//! RabbitMQ runs `re:run(Name, Pattern)`: Perl syntax, unanchored, on the *bytes* of the name, with Erlang's Latin-1 tables
//! (`rabbit_policy:matches`, `rabbit_auth_backend_internal:check_resource_access`, 3.8 to 4.3). Rust's engines read some of
//! that syntax differently: `\h` is a hexadecimal digit to one and a blank to the other, `[a&&b]` a set operation or four
//! characters, `\<` the start of a word or a `<`. So a pattern is not handed over as it stands: the translator writes each
//! part of it in the small common language of bytes, byte sets, groups and repetitions, and gives up on what has no
//! equivalent there. Then the answer is [`Match::Undecidable`] and never a guess.
//!
//! ```
//! use acemq_core::rabbitmq::{Match, NamePattern};
//!
//! let pattern = NamePattern::new("^orders\\.(?!audit)");
//! assert_eq!(pattern.matches("orders.new"), Match::Yes);
//! assert_eq!(pattern.matches("orders.audit"), Match::No);
//! // Unanchored: the name only has to contain a match.
//! assert_eq!(NamePattern::new("audit.*").matches("preauditX"), Match::Yes);
//! ```

mod set;
#[cfg(test)]
mod tests;
mod translate;

use fancy_regex::{BytesMode, Regex, RegexBuilder};
use std::fmt::Write as _;
use translate::{Translated, translate};

/// Whether a pattern matches a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// Nobody but the broker can tell.
    Undecidable,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct NamePattern {
    compiled: Result<(Regex, Translated), String>,
}

impl NamePattern {
    /// Reads a pattern. There is no error: a pattern that cannot be read matches nothing for certain.
    pub fn new(pattern: &str) -> Self {
        let compiled = translate(pattern).map_err(str::to_owned).and_then(|translated| {
            RegexBuilder::new(&translated.text)
                .bytes_mode(BytesMode::Ascii)
                .build()
                .map(|regex| (regex, translated))
                .map_err(|error| error.to_string())
        });
        Self { compiled }
    }

    /// Why nothing can be said about any name, when that is so.
    pub fn undecidable(&self) -> Option<&str> {
        self.compiled.as_ref().err().map(String::as_str)
    }

    /// Whether it matches that name.
    pub fn matches(&self, name: &str) -> Match {
        let Ok((regex, translated)) = &self.compiled else { return Match::Undecidable };
        // The broker strips line breaks from names; should one be there, `$` and `.` mean other things in PCRE.
        if name.contains(['\n', '\r']) || (translated.latin && !name.is_ascii()) {
            return Match::Undecidable;
        }
        match regex.is_match(name.as_bytes()) {
            Ok(true) => Match::Yes,
            Ok(false) => Match::No,
            Err(_) => Match::Undecidable,
        }
    }
}

/// The pattern that matches exactly this name: anchored, with everything escaped that means something in a pattern.
pub fn exact_pattern(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    out.push('^');
    for c in name.chars() {
        if c.is_ascii_control() {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
            continue;
        }
        if "\\^$.[]|()?*+{}".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('$');
    out
}
