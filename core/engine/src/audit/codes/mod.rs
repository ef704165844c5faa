//! Every kind of finding: the list that the audit is built from, and that `acemq audit --explain CODE` prints.

mod errors;
mod infos;
mod warnings;

use errors::errors;
use infos::infos;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use warnings::warnings;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Messages can be lost, doubled or held up under a condition that the definitions do not show.
    Warning,
    /// Messages are lost, held up, or refused.
    Error,
}

impl Severity {
    /// All, the least first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Error];

    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the audit knows about one kind of finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct About {
    /// The stable code.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// When it is found, in one line.
    pub condition: &'static str,
    /// The RabbitMQ versions that it is true of.
    pub versions: &'static str,
    /// What is behind it.
    pub why: &'static str,
    /// The way out.
    pub fix: &'static str,
    /// The smallest case.
    pub example: &'static str,
}

macro_rules! codes {
    (; $($code:ident = $text:literal, $severity:ident, $versions:literal,
        when $condition:literal, why $why:literal, fix $fix:literal, example $example:literal;)*) => {
        /// The kinds of findings, by stable codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $condition] $code,)*
        }

        impl Code {
            /// All of them, in the order in which they are listed.
            pub const ALL: &'static [Self] = &[$(Self::$code),*];

            /// What is known about it.
            pub const fn about(self) -> &'static About {
                match self {
                    $(Self::$code => &About {
                        code: $text,
                        severity: Severity::$severity,
                        condition: $condition,
                        versions: $versions,
                        why: $why,
                        fix: $fix,
                        example: $example,
                    },)*
                }
            }
        }
    };
}

errors! { warnings infos codes ; }

impl Code {
    /// The code as documents carry it.
    pub const fn as_str(self) -> &'static str {
        self.about().code
    }

    /// How much it matters.
    pub const fn severity(self) -> Severity {
        self.about().severity
    }

    /// Everything known about it, for people.
    pub fn explain(self) -> String {
        let about = self.about();
        format!(
            "{} ({})\n\n{}\n\nwhy:      {}\nfix:      {}\nversions: {}\nexample:  {}\n",
            about.code, about.severity, about.condition, about.why, about.fix, about.versions, about.example
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "FindingCode".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let codes: Vec<&str> = Self::ALL.iter().map(|code| code.as_str()).collect();
        json_schema!({ "description": "the stable code of a finding", "type": "string", "enum": codes })
    }
}

/// A text that is no code of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode {
    given: String,
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Code::ALL.iter().map(|code| code.as_str());
        let near = crate::name::nearest(&self.given, codes).unwrap_or_default();
        write!(f, "there is no finding \"{}\"; did you mean {near}?", self.given.escape_debug())
    }
}

impl std::error::Error for UnknownCode {}

impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let found = Self::ALL.iter().copied().find(|code| code.as_str() == text);
        found.ok_or_else(|| UnknownCode { given: text.chars().take(60).collect() })
    }
}

impl Code {
    /// A line for each code, the most severe first: code, severity, condition.
    pub fn list() -> String {
        let mut out = String::new();
        for severity in Severity::ALL.into_iter().rev() {
            for code in Self::ALL.iter().filter(|code| code.severity() == severity) {
                let _ = writeln!(out, "{:<8} {code:<32} {}", severity.name(), code.about().condition);
            }
        }
        out
    }
}

/// The page `FINDINGS.md`: every code, the most severe first.
pub fn page() -> String {
    let mut out = String::from(
        "# Findings of the audit\n\nWhat `acemq audit` can say about definitions, a topology document or a live broker. The list is made from\n`core/engine/src/audit/codes`, and `acemq audit --explain CODE` prints an entry. Codes are stable.\n",
    );
    for severity in Severity::ALL.into_iter().rev() {
        let _ = write!(out, "\n## {severity}\n");
        for code in Code::ALL.iter().filter(|code| code.severity() == severity) {
            let about = code.about();
            let _ = write!(
                out,
                "\n### `{}`\n\n{}\n\n* Why: {}\n* Fix: {}\n* Versions: {}\n* Example: {}\n",
                about.code, about.condition, about.why, about.fix, about.versions, about.example
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_in_the_repository_is_the_table() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/FINDINGS.md");
        if std::env::var_os("ACEMQ_BLESS").is_some() {
            std::fs::write(file, page()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(file).unwrap(), page(), "run with ACEMQ_BLESS=1 to write it anew");
    }

    #[test]
    fn codes_are_unique_words_and_read_back() {
        let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(codes.len(), Code::ALL.len());
        for code in Code::ALL {
            assert_eq!(code.as_str().parse(), Ok(*code));
            assert!(code.as_str().bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            let about = code.about();
            for sentence in [about.condition, about.why, about.fix] {
                assert!(sentence.ends_with('.'), "{code}: {sentence}");
            }
        }
        let unknown = "dead_letter_lots".parse::<Code>().unwrap_err();
        assert_eq!(unknown.to_string(), "there is no finding \"dead_letter_lots\"; did you mean dead_letter_lost?");
    }
}
