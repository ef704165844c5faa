//! Why nothing runs, as data: a stable code, one sentence and the way out.

use std::fmt;

/// What a history, or the files beside it, forbid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryError {
    /// The stable code.
    pub code: &'static str,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// The way out, as one sentence without a full stop.
    pub help: String,
}

impl HistoryError {
    /// Every code there is.
    pub const CODES: &'static [&'static str] = &[
        "history_damaged",
        "history_foreign",
        "history_version_twice",
        "history_changed",
        "history_missing",
        "history_out_of_order",
        "history_half_way",
        "history_baseline",
        "history_nothing_to_undo",
    ];

    pub(super) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for HistoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for HistoryError {}
