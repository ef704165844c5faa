//! A policy as a line for a terminal.

use crate::rabbitmq::PolicyDeclaration;
use crate::state::as_exported;
use crate::value::Value;
use std::fmt::Write as _;

/// The same command for two shells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLines {
    /// For a POSIX shell; `None` when a name holds control characters, which no quoting brings through a terminal.
    pub sh: Option<String>,
    /// For Windows' `cmd.exe`; `None` also when a name holds `%`, `!` or a quote, or the pattern a negative assertion, which
    /// `rabbitmqctl.bat` would change.
    pub cmd: Option<String>,
}

/// The `rabbitmqctl set_policy` that sets a policy in a vhost.
///
/// Everything is quoted for the shell it is for. For `cmd.exe` the quotes inside the JSON are doubled, as RabbitMQ's own
/// documentation does, and what `cmd.exe` would change between quotes (`%`, `!`) is written as an escape of JSON or of the
/// pattern.
pub fn shell(policy: &PolicyDeclaration, vhost: &str) -> ShellLines {
    let definition = Value::Table(as_exported(&policy.definition)).to_json();
    let names = [vhost, policy.name.as_str(), policy.apply_to.as_str()];
    let printable =
        names.iter().all(|name| !name.contains(char::is_control)) && !policy.pattern.contains(char::is_control);
    let line = |quote: fn(&str) -> String, pattern: &str, definition: &str| {
        let mut out = String::from("rabbitmqctl set_policy");
        let _ = write!(out, " -p {} --priority {}", quote(vhost), policy.priority);
        let _ = write!(out, " --apply-to {}", quote(&policy.apply_to));
        // What starts with a dash would be taken for an option.
        if policy.name.starts_with('-') || pattern.starts_with('-') {
            out.push_str(" --");
        }
        let _ = write!(out, " {} {} {}", quote(&policy.name), quote(pattern), quote(definition));
        out
    };
    let in_cmd = printable && !names.iter().any(|name| name.contains(['%', '!', '"']));
    let pattern_in_cmd = pattern_for_cmd(&policy.pattern).filter(|_| in_cmd);
    ShellLines {
        sh: printable.then(|| line(for_sh, &policy.pattern, &definition)),
        cmd: pattern_in_cmd.map(|pattern| line(for_cmd, &pattern, &json_for_cmd(&definition))),
    }
}

/// Bare when nothing in it means anything to a shell, else in single quotes.
fn for_sh(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte)) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// In double quotes, inner quotes doubled, backslashes before a quote doubled for the program's own reading.
fn for_cmd(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@".contains(&byte)) {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    let mut backslashes = 0;
    for c in text.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                out.extend(std::iter::repeat_n('\\', backslashes));
                out.push('"');
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out.extend(std::iter::repeat_n('\\', backslashes));
    out.push('"');
    out
}

/// JSON in which no backslash stands before a quote and nothing is left that `cmd.exe` expands.
fn json_for_cmd(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut chars = json.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => out.push_str("\\u0025"),
            '!' => out.push_str("\\u0021"),
            '\\' => match chars.next() {
                Some('"') => out.push_str("\\u0022"),
                Some('\\') => out.push_str("\\u005c"),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
    out
}

/// A pattern that means the same and holds nothing that `cmd.exe` expands; there is none for `(?!` and `(?<!`.
fn pattern_for_cmd(pattern: &str) -> Option<String> {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        match escaped.unwrap_or(c) {
            '%' => out.push_str("\\x25"),
            '"' => out.push_str("\\x22"),
            '!' if escaped.is_none() && (out.ends_with("(?") || out.ends_with("(?<")) => return None,
            '!' => out.push_str("\\x21"),
            other => {
                if escaped.is_some() {
                    out.push('\\');
                }
                out.push(other);
            }
        }
    }
    Some(out)
}
