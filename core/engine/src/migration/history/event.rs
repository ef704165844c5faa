//! One record of a history: one line of JSON.

use crate::migration::{Beginning, Former};
use serde::{Deserialize, Serialize};

/// Which migration a record is about, as its file was when it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// The version as text, as in `42.1`.
    pub version: String,
    /// The description.
    pub description: String,
    /// The name of the file, without folders; empty for a baseline.
    pub file: String,
    /// The checksum of the file; empty for a baseline.
    pub checksum: String,
}

/// What happened to a migration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "happened", rename_all = "snake_case")]
pub enum Happened {
    /// A run is about to make its first change, or goes on after another one.
    RunBegan {
        /// What was there before it of what it declares, for an undo.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beginning: Option<Beginning>,
    },
    /// An undo is about to make its first change, or goes on after another one.
    UndoBegan,
    /// A step is about to be made.
    StepBegan {
        /// Its number, from 1.
        step: usize,
        /// Of how many.
        of: usize,
        /// What is done, in words.
        action: String,
        /// For a plain change: what it finds, for an undo.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        former: Option<Former>,
    },
    /// A step was made.
    StepDone {
        /// Its number, from 1.
        step: usize,
        /// Of how many.
        of: usize,
        /// What was done, in words.
        action: String,
    },
    /// It has to be run again later.
    Waiting {
        /// Why.
        why: String,
    },
    /// Somebody has to look at it.
    Failed {
        /// Why.
        why: String,
    },
    /// Every step is done.
    Applied,
    /// Every step is taken back.
    Undone,
    /// This version and every older one count as done.
    Baseline,
    /// The file as it is now counts as what ran.
    ChecksumAccepted,
    /// The file is gone, and that is right.
    FileGone,
}

/// What a record is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "about", rename_all = "snake_case")]
pub enum What {
    /// One migration.
    Migration {
        /// Which one.
        #[serde(flatten)]
        subject: Subject,
        /// What happened to it.
        #[serde(flatten)]
        happened: Happened,
    },
    /// The damage at these places was looked at: what cannot be read there is passed over.
    Damage {
        /// The places, from 1.
        places: Vec<u64>,
    },
    /// A record that its writer took back at once, because it was not the next one. It says nothing.
    Withdrawn {
        /// Its place, from 1.
        place: u64,
    },
    /// The cluster has another name now; records under the former one are its own.
    ClusterRenamed {
        /// The former name.
        former: String,
    },
}

/// Where a record comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// When, as RFC 3339 in UTC.
    pub at: String,
    /// Who: user and host.
    pub by: String,
    /// Which version of the tool.
    pub tool: String,
    /// Which version of the broker.
    pub broker: String,
    /// The name of the cluster.
    pub cluster: String,
    /// The vhost.
    pub vhost: String,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The format of the record: 1.
    pub acemq_event: u32,
    /// Its number in the history, from 1 without gaps.
    pub rank: u64,
    /// What it says.
    #[serde(flatten)]
    pub what: What,
    /// Where it comes from.
    #[serde(flatten)]
    pub origin: Origin,
}

/// The format that is written and read.
pub(super) const FORMAT: u32 = 1;

impl Event {
    /// A record in the format of this version.
    pub fn new(rank: u64, what: What, origin: Origin) -> Self {
        Self { acemq_event: FORMAT, rank, what, origin }
    }

    /// The record as it is stored: one line of JSON without its end.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
