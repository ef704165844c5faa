//! A history in a SQLite file: for a broker without streams, for a laptop, and for a look with SQL.
//!
//! The record is the truth; the columns beside it are for people. One file holds several vhosts of one cluster.

use super::not_the_next;
use crate::JournalError;
use acemq_core::migration::history::{Event, Stored, What};
use rusqlite::{Connection, OpenFlags, params};
use std::path::{Path, PathBuf};
use std::time::Duration;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS acemq_history (
    vhost TEXT NOT NULL,
    rank INTEGER NOT NULL,
    version TEXT,
    description TEXT,
    happened TEXT NOT NULL,
    step INTEGER,
    steps INTEGER,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    cluster TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (vhost, rank)
)";

/// How long another program may hold the file.
const BUSY: Duration = Duration::from_secs(10);

/// A file.
pub struct Sqlite {
    path: PathBuf,
    vhost: String,
}

impl Sqlite {
    pub(super) fn new(path: PathBuf, vhost: &str) -> Self {
        Self { path, vhost: vhost.to_owned() }
    }

    /// The records of the vhost.
    pub(super) async fn read(&self) -> Result<Vec<Stored>, JournalError> {
        let (path, vhost) = (self.path.clone(), self.vhost.clone());
        apart(move || {
            if !path.exists() {
                return Ok(Vec::new());
            }
            read(&path, &vhost).map_err(|error| cannot(&path, &error))
        })
        .await
    }

    pub(super) async fn append(&self, event: &Event) -> Result<(), JournalError> {
        let (path, vhost, event) = (self.path.clone(), self.vhost.clone(), event.clone());
        apart(move || match append(&path, &vhost, &event).map_err(|error| cannot(&path, &error))? {
            length if length.saturating_add(1) == event.rank => Ok(()),
            length => Err(not_the_next(event.rank, length.saturating_add(1))),
        })
        .await
    }
}

/// Away from the tasks that must not block.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, JournalError> + Send + 'static,
) -> Result<T, JournalError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(JournalError::new("the history's task ended; run again".to_owned())),
    }
}

fn read(path: &Path, vhost: &str) -> rusqlite::Result<Vec<Stored>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY)?;
    let mut query = connection.prepare("SELECT rank, record FROM acemq_history WHERE vhost = ?1 ORDER BY rank")?;
    let rows = query.query_map([vhost], |row| {
        let place = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
        // Whoever edited it by hand may have left anything there.
        let bytes = match row.get_ref(1)? {
            rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        Ok(Stored { place, bytes })
    })?;
    rows.collect()
}

/// Adds the record where it is the next one; gives how many there were.
fn append(path: &Path, vhost: &str, event: &Event) -> rusqlite::Result<u64> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY)?;
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    transaction.execute(TABLE, [])?;
    let length: i64 =
        transaction.query_row("SELECT coalesce(max(rank), 0) FROM acemq_history WHERE vhost = ?1", [vhost], |row| {
            row.get(0)
        })?;
    let length = u64::try_from(length).unwrap_or_default();
    if length.saturating_add(1) == event.rank {
        let record = serde_json::to_value(event).unwrap_or_default();
        let text = |key: &str| record.get(key).and_then(serde_json::Value::as_str).map(str::to_owned);
        let number = |key: &str| record.get(key).and_then(serde_json::Value::as_i64);
        let happened = match &event.what {
            What::Migration { .. } => text("happened").unwrap_or_default(),
            What::Damage { .. } | What::Withdrawn { .. } | What::ClusterRenamed { .. } => {
                text("about").unwrap_or_default()
            }
        };
        transaction.execute(
            "INSERT INTO acemq_history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
            params![
                vhost,
                i64::try_from(event.rank).unwrap_or(i64::MAX),
                text("version"),
                text("description"),
                happened,
                number("step"),
                number("of"),
                event.origin.at,
                event.origin.by,
                event.origin.cluster,
                event.to_line(),
            ],
        )?;
        transaction.commit()?;
    }
    Ok(length)
}

fn cannot(path: &Path, error: &rusqlite::Error) -> JournalError {
    JournalError::new(format!(
        "cannot use the history in {}: {error}; give the path of a SQLite file that acemq wrote, or of one that is not there yet",
        path.display()
    ))
}
