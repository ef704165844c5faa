//! What a command prints.

use serde::Serialize;

/// What goes to standard output, and the exit code.
#[derive(Debug)]
pub struct Report {
    /// Whole lines.
    pub text: String,
    /// Exit code.
    pub code: u8,
}

impl Report {
    /// Output of a command that did what was asked.
    pub fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 0 }
    }

    /// The same output with another exit code.
    pub fn with_code(mut self, code: u8) -> Self {
        self.code = code;
        self
    }
}

/// A document on indented lines, the last one ended.
pub fn json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    text
}

/// The labels of a plan in colour, for a terminal only.
pub fn coloured(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let colour = match line.get(..11).map(str::trim_end) {
            Some("  create") => "32",
            Some("  DRIFT") | Some("  INVALID") => "31",
            Some("  unknown") | Some("  extra") => "33",
            _ => "",
        };
        match (colour.is_empty(), line.get(2..9), line.get(9..)) {
            (false, Some(label), Some(rest)) => {
                out.push_str("  \u{1b}[");
                out.push_str(colour);
                out.push('m');
                out.push_str(label);
                out.push_str("\u{1b}[0m");
                out.push_str(rest);
            }
            _ => out.push_str(line),
        }
    }
    out
}
