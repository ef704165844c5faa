//! What is told of each change before and after it is made, so that a history can be kept.
//!
//! A change that cannot be recorded is not made: where [`Journal::before`] fails, the run ends before the change. The journal
//! explains what happened; where a run goes on is read from the broker's table alone.

use acemq_core::migration::{Action, Former, MigrationPlan};
use async_trait::async_trait;
use std::fmt;

/// A change of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change<'a> {
    /// The number of its step, from 1.
    pub number: usize,
    /// Of how many steps.
    pub of: usize,
    /// What is done.
    pub action: &'a Action,
    /// What a plain change finds, for an undo; `None` for other steps, and on the way back.
    pub former: Option<&'a Former>,
}

/// Whoever records a run. The lock is held during each call.
#[async_trait]
pub trait Journal: Send {
    /// What is going to be done, before the first change.
    fn planned(&mut self, _plan: &MigrationPlan) {}

    /// The change is about to be made; it is not made when this fails.
    ///
    /// # Errors
    /// When it cannot be recorded.
    async fn before(&mut self, change: Change<'_>) -> Result<(), JournalError>;

    /// The broker said that the change is made.
    ///
    /// # Errors
    /// When it cannot be recorded. The change stays made, and the run ends.
    async fn after(&mut self, change: Change<'_>) -> Result<(), JournalError>;
}

/// Why something could not be recorded, as one sentence with the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalError {
    /// The sentence.
    pub why: String,
    /// Whether the user lacks a right, so that trying again is of no use.
    pub is_denied: bool,
}

impl JournalError {
    /// What may pass.
    pub fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_denied: false }
    }

    /// The user lacks a right.
    pub fn denied(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_denied: true }
    }
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for JournalError {}

/// Records nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unrecorded;

#[async_trait]
impl Journal for Unrecorded {
    async fn before(&mut self, _: Change<'_>) -> Result<(), JournalError> {
        Ok(())
    }

    async fn after(&mut self, _: Change<'_>) -> Result<(), JournalError> {
        Ok(())
    }
}
