//! Files beside a history: the state of each version, and what may run.

use super::error::HistoryError;
use super::ledger::{Course, History, Record, half_way_error};
use crate::migration::FileName;
use crate::name::quoted;
use std::collections::BTreeMap;

/// A migration file, as far as a history is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Version and description.
    pub name: FileName,
    /// The name of the file, without folders.
    pub file: String,
    /// The checksum.
    pub checksum: String,
}

/// Which files are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// All of them: what ran and is not among them is missing.
    Everything,
    /// Some of them.
    Some,
}

/// The state of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MigrationState {
    /// It has not run.
    Pending,
    /// It runs now.
    Running,
    /// It is half-way and has to be run again later.
    Waiting,
    /// It is half-way and somebody has to look at it.
    Failed,
    /// It is done.
    Applied,
    /// It was taken back.
    Undone,
    /// It was done before there was a history.
    Baseline,
    /// It ran and its file is not there.
    Missing,
    /// It ran and its file says something else now.
    Changed,
    /// It has not run, and a newer one has.
    OutOfOrder,
}

impl MigrationState {
    /// As documents write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Applied => "applied",
            Self::Undone => "undone",
            Self::Baseline => "baseline",
            Self::Missing => "missing",
            Self::Changed => "changed",
            Self::OutOfOrder => "out_of_order",
        }
    }
}

/// A version: its file, its record, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The version.
    pub version: Vec<u64>,
    /// The file, where there is one.
    pub script: Option<Script>,
    /// What the history says.
    pub record: Option<Record>,
    /// What follows from both.
    pub state: MigrationState,
}

impl Entry {
    /// The version as text.
    pub fn version_text(&self) -> String {
        self.version.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
    }

    /// The description, of the file where there is one.
    pub fn description(&self) -> &str {
        match (&self.script, &self.record) {
            (Some(script), _) => &script.name.description,
            (None, Some(record)) => &record.subject.description,
            (None, None) => "",
        }
    }

    /// Whether it is to be run.
    fn is_open(&self) -> bool {
        self.script.is_some()
            && match self.state {
                MigrationState::Pending | MigrationState::Undone => true,
                MigrationState::Running | MigrationState::Waiting | MigrationState::Failed => true,
                MigrationState::Applied
                | MigrationState::Baseline
                | MigrationState::Missing
                | MigrationState::Changed
                | MigrationState::OutOfOrder => false,
            }
    }
}

/// Every version that has a file or a record, the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    entries: Vec<Entry>,
    baseline: Option<Vec<u64>>,
}

impl Status {
    /// Lays files beside a history. `at_work` says whether somebody holds the lock: what began and did not end runs then, and
    /// has failed otherwise.
    ///
    /// # Errors
    /// When two files have one version.
    pub fn new(scripts: &[Script], given: Given, history: &History, at_work: bool) -> Result<Self, HistoryError> {
        let mut versions: BTreeMap<Vec<u64>, (Option<Script>, Option<Record>)> = BTreeMap::new();
        for script in scripts {
            let (there, _) = versions.entry(script.name.version.clone()).or_default();
            if let Some(other) = there {
                let message = format!(
                    "{} and {} have the same version, {}",
                    quoted(&other.file),
                    quoted(&script.file),
                    script.name.version_text()
                );
                return Err(HistoryError::new(
                    "history_version_twice",
                    message,
                    "give the later one a version of its own",
                ));
            }
            *there = Some(script.clone());
        }
        for (version, record) in history.records() {
            versions.entry(version.clone()).or_default().1 = Some(record.clone());
        }
        let newest = history.newest().map(|(version, _)| version.as_slice());
        let entry = |(version, (script, record)): (Vec<u64>, (Option<Script>, Option<Record>))| {
            let is_old = newest.is_some_and(|newest| version.as_slice() < newest);
            let is_based = history.baseline().is_some_and(|baseline| version.as_slice() <= baseline);
            let state = state_of(script.as_ref(), record.as_ref(), given, at_work, is_old, is_based);
            Entry { version, script, record, state }
        };
        let entries = versions.into_iter().map(entry).collect();
        Ok(Self { entries, baseline: history.baseline().map(<[u64]>::to_vec) })
    }

    /// The versions, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The files that are to be run, in order; a plan and a run ask this same question.
    ///
    /// # Errors
    /// When anything forbids that a file runs, whichever file it is: strict order means that nothing is passed over.
    pub fn to_run(&self) -> Result<Vec<&Script>, HistoryError> {
        if let Some(error) = self.entries.iter().find_map(|entry| self.refusal(entry)) {
            return Err(error);
        }
        Ok(self.entries.iter().filter(|entry| entry.is_open()).filter_map(|entry| entry.script.as_ref()).collect())
    }

    /// What is wrong with a version.
    fn refusal(&self, entry: &Entry) -> Option<HistoryError> {
        let version = entry.version_text();
        let newest = || {
            let ran = self.entries.iter().rev().find(|entry| entry.record.as_ref().is_some_and(Record::ran));
            ran.map(Entry::version_text).unwrap_or_default()
        };
        match entry.state {
            MigrationState::Missing => {
                let message = format!("V{version} ran here and its file is not there");
                let help = "put the file back, or say with acemq migrate repair that it is gone for good";
                Some(HistoryError::new("history_missing", message, help))
            }
            MigrationState::Changed => {
                let file = entry.script.as_ref().map(|script| quoted(&script.file)).unwrap_or_default();
                let message = format!("{file} was changed after it ran");
                let help = "put it back as it was and write the change as a new version; if it means the same, accept it with acemq migrate repair";
                Some(HistoryError::new("history_changed", message, help))
            }
            MigrationState::OutOfOrder => {
                let file = entry.script.as_ref().map(|script| quoted(&script.file)).unwrap_or_default();
                let message = format!("{file} has not run and is older than V{}, which has", newest());
                Some(HistoryError::new("history_out_of_order", message, "give it a version after that one"))
            }
            _ if entry.script.is_none() && entry.record.as_ref().is_some_and(Record::is_half_way) => {
                Some(half_way_error(&entry.version))
            }
            _ => None,
        }
    }

    /// The version that an undo takes back: the newest that ran. With the file that it needs.
    ///
    /// # Errors
    /// When nothing ran, and when its file is not there or says something else now.
    pub fn to_undo(&self) -> Result<&Script, HistoryError> {
        let ran = self.entries.iter().rev().find(|entry| entry.record.as_ref().is_some_and(Record::ran));
        let Some(entry) = ran else {
            let message = "nothing ran here that could be taken back";
            return Err(HistoryError::new("history_nothing_to_undo", message, "see acemq migrate status"));
        };
        if self.baseline.as_ref().is_some_and(|baseline| *baseline >= entry.version) {
            let message = format!("V{} ran before the baseline, which counts it as done", entry.version_text());
            let help = "write a new version that takes it back";
            return Err(HistoryError::new("history_baseline", message, help));
        }
        match &entry.script {
            None => {
                let message = format!("V{} ran last, and its file is not there", entry.version_text());
                Err(HistoryError::new("history_missing", message, "give the file, from which the way back is computed"))
            }
            Some(_) if entry.state == MigrationState::Changed => match self.refusal(entry) {
                Some(error) => Err(error),
                None => Err(half_way_error(&entry.version)),
            },
            Some(script) => Ok(script),
        }
    }
}

fn state_of(
    script: Option<&Script>,
    record: Option<&Record>,
    given: Given,
    at_work: bool,
    is_old: bool,
    is_based: bool,
) -> MigrationState {
    let Some(record) = record else {
        return match (is_based, is_old) {
            (true, _) => MigrationState::Baseline,
            (false, true) => MigrationState::OutOfOrder,
            (false, false) => MigrationState::Pending,
        };
    };
    let is_missing = script.is_none() && given == Given::Everything && !record.file_gone;
    // What has changed nothing yet may still be written differently.
    let touched = record.course == Course::Applied || record.step > 0 || record.open.is_some();
    let is_changed = script.is_some_and(|script| script.checksum != record.subject.checksum) && touched;
    match record.course {
        Course::Undone if is_based => MigrationState::Baseline,
        Course::Undone if is_old && script.is_some() => MigrationState::OutOfOrder,
        Course::Undone => MigrationState::Undone,
        Course::Baseline => MigrationState::Baseline,
        _ if is_missing => MigrationState::Missing,
        _ if is_changed => MigrationState::Changed,
        Course::Applied => MigrationState::Applied,
        Course::Waiting => MigrationState::Waiting,
        Course::Running if at_work => MigrationState::Running,
        Course::Running | Course::Failed => MigrationState::Failed,
    }
}
