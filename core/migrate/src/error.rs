//! Why a run ended before its end.

use crate::journal::JournalError;
use acemq_core::migration::MigrationError;
use acemq_core::migration::history::HistoryError;
use acemq_live::{ManagementError, OperationError};
use std::fmt;

/// A run that could not go on. What was done is done; running again goes on from there.
#[derive(Debug)]
pub enum RunError {
    /// The migration cannot be planned.
    Plan(Box<MigrationError>),
    /// The migration in a file cannot be planned.
    Script {
        /// The name of the file.
        file: String,
        /// Why.
        error: Box<MigrationError>,
    },
    /// The history, or the files beside it, forbid that anything runs.
    History(Box<HistoryError>),
    /// The management API cannot be used.
    Management(Box<ManagementError>),
    /// The broker refused a change, or gave no answer.
    Operation(Box<OperationError>),
    /// Another runner holds the lock.
    Locked {
        /// What is known, as a sentence with a way out.
        why: String,
    },
    /// A change could not be recorded.
    Journal(JournalError),
    /// The user lacks a right, so that trying again is of no use.
    Denied {
        /// Which, as a sentence with a way out.
        why: String,
    },
    /// Broker and management API are not those of one vhost.
    Apart {
        /// How that shows, as a sentence with a way out.
        why: String,
    },
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(error) => error.fmt(f),
            Self::Script { file, error } => write!(f, "{file}: {error}"),
            Self::History(error) => error.fmt(f),
            Self::Management(error) => error.fmt(f),
            Self::Operation(error) => error.fmt(f),
            Self::Locked { why } | Self::Denied { why } | Self::Apart { why } => f.write_str(why),
            Self::Journal(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for RunError {}

impl RunError {
    /// What cannot be planned, with the file that asks for it.
    pub(crate) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Plan(error) => Self::Script { file: file.to_owned(), error },
            other => other,
        }
    }
}

impl From<HistoryError> for RunError {
    fn from(error: HistoryError) -> Self {
        Self::History(Box::new(error))
    }
}

impl From<MigrationError> for RunError {
    fn from(error: MigrationError) -> Self {
        Self::Plan(Box::new(error))
    }
}

impl From<ManagementError> for RunError {
    fn from(error: ManagementError) -> Self {
        Self::Management(Box::new(error))
    }
}

impl From<JournalError> for RunError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError { why, is_denied: true } => Self::Denied { why },
            error => Self::Journal(error),
        }
    }
}
