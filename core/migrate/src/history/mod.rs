//! Where a history is kept: in the vhost itself, or in a SQLite file.
//!
//! Both are lists that are only added to. A record gets its number from whoever writes it, and a store that already holds as
//! many records refuses it: so a runner that did not read to the end, or that is not alone, finds out before it does anything.

mod keeper;
mod session;
mod sqlite;
mod stream;

pub use keeper::{Author, Keeper};
pub use session::{Folder, Ran, Session};
pub use stream::HISTORY_STREAM;

use crate::JournalError;
use acemq_core::migration::history::{Event, Stored};
use acemq_live::Client;
use sqlite::Sqlite;
use std::path::PathBuf;
use std::str::FromStr;
use stream::BrokerStream;

/// Where a history is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Keeping {
    /// In a stream of the vhost, so that everybody who migrates it shares it.
    #[default]
    Broker,
    /// In a SQLite file.
    Sqlite(PathBuf),
}

impl FromStr for Keeping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "broker" => Ok(Self::Broker),
            Some(("sqlite", path)) if !path.is_empty() => Ok(Self::Sqlite(path.into())),
            _ => Err("a history is kept in broker or in sqlite:PATH".to_owned()),
        }
    }
}

/// A history that can be read and added to.
pub enum Store<'a> {
    /// In a stream of the vhost.
    Stream(Box<BrokerStream<'a>>),
    /// In a SQLite file.
    Sqlite(Sqlite),
}

impl<'a> Store<'a> {
    /// The history of a vhost; `client` is connected to it. Nothing is created before the first record is written.
    pub fn new(keeping: &Keeping, client: &'a Client, vhost: &str) -> Self {
        match keeping {
            Keeping::Broker => Self::Stream(Box::new(BrokerStream::new(client))),
            Keeping::Sqlite(path) => Self::Sqlite(Sqlite::new(path.clone(), vhost)),
        }
    }

    /// Every record, in the order in which they were written.
    ///
    /// # Errors
    /// When not all of them can be read.
    pub async fn read(&mut self) -> Result<Vec<Stored>, JournalError> {
        match self {
            Self::Stream(stream) => stream.read().await,
            Self::Sqlite(sqlite) => sqlite.read().await,
        }
    }

    /// Adds a record behind the last one. Whoever calls it holds the lock.
    ///
    /// # Errors
    /// When it is not certain that the record is there, or when it is not the one behind the last.
    pub async fn append(&mut self, event: &Event) -> Result<(), JournalError> {
        match self {
            Self::Stream(stream) => stream.append(event).await,
            Self::Sqlite(sqlite) => sqlite.append(event).await,
        }
    }

    /// Lets go of connections.
    pub async fn close(self) {
        if let Self::Stream(stream) = self {
            stream.close().await;
        }
    }
}

/// Somebody else wrote, or not everything was read.
fn not_the_next(rank: u64, length: u64) -> JournalError {
    JournalError::new(format!(
        "record {rank} of the history was written where record {length} is due: another runner is at work, or not all records could be read; run again"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_kept_in_the_broker_or_in_a_file() {
        assert_eq!("broker".parse(), Ok(Keeping::Broker));
        assert_eq!("sqlite:a:b.db".parse(), Ok(Keeping::Sqlite("a:b.db".into())));
        for wrong in ["", "sqlite", "sqlite:", "postgres:x", "Broker"] {
            assert_eq!(wrong.parse::<Keeping>(), Err("a history is kept in broker or in sqlite:PATH".to_owned()));
        }
    }
}
