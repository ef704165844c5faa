//! The status in words, and as the document `acemq.migrations/1`.

use super::ledger::{Course, History, Record};
use super::status::{Entry, MigrationState, Status};
use crate::topology::shown_name;
use serde_json::{Value as Json, json};
use std::fmt::Write as _;

/// What is said of a run whose end nobody wrote down.
const NO_WORD: &str = "its runner ended without a word; run again to go on";

impl Entry {
    /// Why it waits or failed.
    pub fn error(&self) -> Option<&str> {
        let record = self.record.as_ref()?;
        let silent = record.course == Course::Running && self.state == MigrationState::Failed;
        if silent { Some(NO_WORD) } else { record.error.as_deref() }
    }

    /// The state, with how far it is.
    pub fn state_text(&self) -> String {
        let record = self.record.as_ref();
        let undoing = if record.is_some_and(|record| record.undoing) { ", being taken back" } else { "" };
        match (self.state, record) {
            (MigrationState::OutOfOrder, _) => "out of order".to_owned(),
            (MigrationState::Failed, Some(record)) if record.steps > 0 => {
                let at = record.open.unwrap_or_else(|| (record.step + 1).min(record.steps));
                format!("failed at step {at} of {}{undoing}", record.steps)
            }
            (MigrationState::Waiting | MigrationState::Running, Some(record)) if record.steps > 0 => {
                format!("{} after step {} of {}{undoing}", self.state.name(), record.step, record.steps)
            }
            (state, _) => state.name().to_owned(),
        }
    }

    fn to_json(&self) -> Json {
        let record = self.record.as_ref();
        let script = self.script.as_ref();
        let checksum = script.map(|script| script.checksum.as_str());
        let recorded = record.map(|record| record.subject.checksum.as_str()).filter(|checksum| !checksum.is_empty());
        json!({
            "version": self.version_text(),
            "description": self.description(),
            "file": script.map(|script| script.file.as_str()).or(record.map(|record| record.subject.file.as_str())),
            "state": self.state.name(),
            "undoing": record.is_some_and(|record| record.undoing),
            "step": record.map(|record| record.step),
            "steps": record.map(|record| record.steps),
            "checksum": checksum.or(recorded),
            "ran_as": recorded,
            "by": record.map(|record| record.origin.by.as_str()),
            "started_at": record.and_then(|record| record.started_at.as_deref()),
            "finished_at": record.and_then(|record| record.finished_at.as_deref()),
            "error": self.error(),
            "tool": record.map(|record| record.origin.tool.as_str()),
            "broker": record.map(|record| record.origin.broker.as_str()),
        })
    }
}

impl Status {
    /// The status for people: a line a version, and what is wrong below it.
    pub fn to_text(&self, history: &History) -> String {
        let place = history.place();
        let mut out = format!("vhost {} of cluster {}\n", shown_name(&place.vhost), shown_name(&place.cluster));
        if self.entries().is_empty() {
            out.push_str("  no migrations\n");
        }
        let versions: Vec<String> = self.entries().iter().map(|entry| format!("V{}", entry.version_text())).collect();
        let states: Vec<String> = self.entries().iter().map(Entry::state_text).collect();
        let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or_default();
        let (version_width, state_width) = (width(&versions), width(&states));
        for ((entry, version), state) in self.entries().iter().zip(&versions).zip(&states) {
            let mut line =
                format!("  {version:<version_width$}  {state:<state_width$}  {}", shown_name(entry.description()));
            let ended = |record: &Record| {
                record
                    .finished_at
                    .clone()
                    .or_else(|| record.started_at.clone())
                    .map(|at| (at, record.origin.by.clone()))
            };
            if let Some((at, by)) = entry.record.as_ref().and_then(ended) {
                let _ = write!(line, " ({at}, {})", shown_name(&by));
            }
            let _ = writeln!(out, "{}", line.trim_end());
            if let Some(error) = entry.error() {
                let _ = writeln!(out, "    {error}");
            }
        }
        out
    }

    /// The status as a document.
    pub fn to_json(&self, history: &History) -> Json {
        json!({
            "format": "acemq.migrations/1",
            "vhost": history.place().vhost,
            "cluster": history.place().cluster,
            "migrations": self.entries().iter().map(Entry::to_json).collect::<Vec<_>>(),
        })
    }
}
