//! Writes down what happens to one migration.

use super::Store;
use crate::journal::{Change, Journal, JournalError};
use acemq_core::migration::history::{Event, Happened, History, Origin, Subject, What};
use acemq_core::migration::{Beginning, MigrationPlan};
use async_trait::async_trait;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Who writes, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// User and host.
    pub by: String,
    /// The version of the tool.
    pub tool: String,
    /// The version of the broker.
    pub broker: String,
}

/// A history that is open for writing. The lock is held for as long as it is.
pub struct Keeper<'s, 'a> {
    store: &'s mut Store<'a>,
    history: &'s History,
    author: &'s Author,
    next: u64,
    subject: Option<Subject>,
    undoing: bool,
    began: bool,
    beginning: Option<Beginning>,
}

impl<'s, 'a> Keeper<'s, 'a> {
    /// Writes behind the last record of `history`, which was read from `store` since the lock is held.
    pub fn new(store: &'s mut Store<'a>, history: &'s History, author: &'s Author) -> Self {
        let next = history.next_rank();
        Self { store, history, author, next, subject: None, undoing: false, began: false, beginning: None }
    }

    /// What is written from now on is about this migration, which is run or, when `undoing`, taken back.
    pub fn turn_to(&mut self, subject: Subject, undoing: bool) {
        (self.subject, self.undoing, self.began) = (Some(subject), undoing, false);
        self.beginning = None;
    }

    /// Whether a change was begun since the last [`turn_to`](Self::turn_to).
    pub fn began(&self) -> bool {
        self.began
    }

    /// Writes that something happened to the migration.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn note(&mut self, happened: Happened) -> Result<(), JournalError> {
        let Some(subject) = self.subject.clone() else { return Ok(()) };
        self.write(What::Migration { subject, happened }).await
    }

    /// Writes a record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub async fn write(&mut self, what: What) -> Result<(), JournalError> {
        let place = self.history.place();
        let origin = Origin {
            at: now(),
            by: self.author.by.clone(),
            tool: self.author.tool.clone(),
            broker: self.author.broker.clone(),
            cluster: place.cluster.clone(),
            vhost: place.vhost.clone(),
        };
        self.store.append(&Event::new(self.next, what, origin)).await?;
        self.next = self.next.saturating_add(1);
        Ok(())
    }
}

#[async_trait]
impl Journal for Keeper<'_, '_> {
    fn planned(&mut self, plan: &MigrationPlan) {
        // What plain changes find is recorded with each of them.
        self.beginning = plan.subject.is_some().then(|| plan.beginning().clone());
    }

    async fn before(&mut self, change: Change<'_>) -> Result<(), JournalError> {
        if !self.began {
            let beginning = self.beginning.take();
            self.note(if self.undoing { Happened::UndoBegan } else { Happened::RunBegan { beginning } }).await?;
            self.began = true;
        }
        let Change { number: step, of, action, former } = change;
        self.note(Happened::StepBegan { step, of, action: action.to_string(), former: former.cloned() }).await
    }

    async fn after(&mut self, change: Change<'_>) -> Result<(), JournalError> {
        let Change { number: step, of, action, .. } = change;
        self.note(Happened::StepDone { step, of, action: action.to_string() }).await
    }
}

/// The time, in whole seconds of UTC.
fn now() -> String {
    let now = OffsetDateTime::now_utc();
    now.replace_nanosecond(0).unwrap_or(now).format(&Rfc3339).unwrap_or_default()
}
