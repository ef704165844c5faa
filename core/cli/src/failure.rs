//! What can go wrong, and the exit code of each class (DESIGN: 1 bad input, 5 no broker, 6 stopped half-way, …).

use acemq_core::topology::{CheckDocument, Problem, Severity};
use std::fmt;

/// Bad input or usage, the argument parser's own errors included.
pub const BAD_INPUT: u8 = 1;
/// Only creations are left.
pub const CREATIONS: u8 = 2;
/// Drift, invalid, missing or unanswered in `validate`.
pub const DIFFERS: u8 = 3;
/// `--strict`, and some object gave no answer.
pub const UNANSWERED: u8 = 4;
/// No broker, or it refused the connection.
pub const NO_BROKER: u8 = 5;
/// Stopped half-way: run again.
pub const STOPPED: u8 = 6;

/// What sentences of the engine begin with where the contract says so; beside the name of a file it says nothing.
const PREFIX: &str = "acemq: ";

/// The end of a command that could not do what was asked.
#[derive(Debug, Clone)]
pub struct Failure {
    /// For standard error.
    pub message: String,
    /// For standard output, where `--format json` asks for a document.
    pub document: Option<String>,
    /// Exit code.
    pub code: u8,
}

impl Failure {
    /// Bad input or usage.
    pub fn input(message: impl fmt::Display) -> Self {
        Self { message: prefixed(message), document: None, code: BAD_INPUT }
    }

    /// No broker, or it refused the connection.
    pub fn broker(message: impl fmt::Display) -> Self {
        Self { message: prefixed(message), document: None, code: NO_BROKER }
    }

    /// Another class.
    pub fn with_code(message: impl fmt::Display, code: u8) -> Self {
        Self { message: prefixed(message), document: None, code }
    }

    /// A topology document with problems.
    pub fn problems(file: &str, problems: &[Problem], json: bool) -> Self {
        let lines: Vec<String> = problems.iter().map(|problem| problem_line(file, problem)).collect();
        Self {
            message: lines.join("\n"),
            document: json.then(|| crate::output::json(&CheckDocument::new(problems))),
            code: BAD_INPUT,
        }
    }
}

fn prefixed(message: impl fmt::Display) -> String {
    let message = message.to_string();
    if message.starts_with(PREFIX) { message } else { format!("{PREFIX}{message}") }
}

/// `orders.yaml:4:5: error: sentence [code]`, and the way out on a line of its own.
pub fn problem_line(file: &str, problem: &Problem) -> String {
    let place = match &problem.at {
        Some(at) => format!("{file}:{}:{}", at.line, at.column),
        None => file.to_owned(),
    };
    let severity = match problem.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let message = problem.message.strip_prefix(PREFIX).unwrap_or(&problem.message);
    let mut line = format!("{place}: {severity}: {message} [{}]", problem.code);
    if !problem.help.is_empty() {
        line.push_str("\n  ");
        line.push_str(&problem.help);
    }
    line
}
