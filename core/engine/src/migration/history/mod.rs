//! What ran in a vhost, and what follows from it for a folder of migration files.
//!
//! A history is a list of [`Event`]s that is only ever added to: a run began, a step is about to be made, it is made, the run
//! ended. Nothing is rewritten, not by an undo and not by a repair, so it stays true whatever is done later. [`History`] reads
//! the list and says when it cannot be trusted: a record that cannot be read, records that are gone, records of another
//! cluster or vhost. [`Status`] lays it beside the files: the state of each version, what may run next, and what is refused.
//!
//! The history explains; where a migration goes on is read from the broker's table alone.

mod error;
mod event;
mod forecast;
mod ledger;
mod repair;
mod show;
mod status;
#[cfg(test)]
mod tests;
mod verify;

pub use error::HistoryError;
pub use event::{Event, Happened, Origin, Subject, What};
pub use forecast::forecast;
pub use ledger::{Course, History, Place, Record, Stored};
pub use repair::{Mending, mend};
pub use status::{Entry, Given, MigrationState, Script, Status};
pub use verify::{Untrue, verify};
