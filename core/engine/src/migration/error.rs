//! Why a migration cannot be read, planned or run, as data: a stable code, the particulars, one sentence and the way out.

use crate::topology::Position;
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::fmt;

/// One thing that keeps a migration from being read or planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MigrationError {
    /// The stable code.
    pub code: &'static str,
    /// The particulars by name.
    pub fields: BTreeMap<&'static str, Json>,
    /// What is wrong, as one sentence without a full stop.
    pub message: String,
    /// The way out, as one sentence without a full stop.
    pub help: String,
    /// Where in the file.
    pub at: Option<Position>,
}

impl MigrationError {
    /// Every code that reading and planning can give.
    pub const CODES: &'static [&'static str] = &[
        "migration_name",
        "migration_syntax",
        "migration_shape",
        "migration_format",
        "migration_option_unknown",
        "migration_option_value",
        "migration_queue",
        "migration_refused",
    ];

    pub(super) fn new(code: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { code, fields: BTreeMap::new(), message: message.into(), help: help.into(), at: None }
    }

    #[must_use]
    pub(super) fn with(mut self, field: &'static str, value: impl Into<Json>) -> Self {
        self.fields.insert(field, value.into());
        self
    }
}

impl fmt::Display for MigrationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message, self.help)
    }
}

impl std::error::Error for MigrationError {}
