//! `status`, `verify`, `repair` and `baseline`: what the records say.

use super::places::{Outcome, in_each};
use super::{BaselineArguments, FilesArguments, SettingArguments, folder};
use crate::failure::{DIFFERS, Failure};
use crate::output::Report;
use acemq_core::migration::FileName;
use acemq_core::migration::history::{MigrationState, Status};
use acemq_core::topology::shown_name;
use serde_json::json as document;
use std::fmt::Write as _;

/// The state of each version.
pub fn status(arguments: &FilesArguments) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let folder = folder::read(&arguments.files)?;
    let keeping = setting.keeping()?;
    in_each(setting, |address, _| {
        let (history, at_work) = address.migrating(&keeping, &setting.node_management, async |session| {
            Ok((session.history().await?, session.at_work().await))
        })?;
        let status = Status::new(&folder.scripts(), folder.given, &history, at_work).map_err(Failure::input)?;
        let refused = history.check().err().or_else(|| status.to_run().err()).map(|error| error.to_string());
        let mut text = status.to_text(&history);
        if let Some(refused) = &refused {
            let _ = writeln!(text, "a run is refused: {refused}");
        }
        let mut to_json = status.to_json(&history);
        if let Some(to_json) = to_json.as_object_mut() {
            to_json.insert("refused".to_owned(), refused.clone().into());
        }
        let count = |state| status.entries().iter().filter(|entry| entry.state == state).count();
        let states = [
            MigrationState::Applied,
            MigrationState::Pending,
            MigrationState::Running,
            MigrationState::Waiting,
            MigrationState::Failed,
            MigrationState::Undone,
            MigrationState::Baseline,
            MigrationState::Missing,
            MigrationState::Changed,
            MigrationState::OutOfOrder,
        ];
        let counted = states.into_iter().map(|state| (count(state), state.name())).filter(|(count, _)| *count > 0);
        let summary = counted.map(|(count, name)| format!("{count} {name}")).collect::<Vec<_>>().join(", ");
        let summary = if summary.is_empty() { "no migrations".to_owned() } else { summary };
        Ok(Outcome { text, document: to_json, summary, is_line: false, why: None, code: 0 })
    })
}

/// Whether what the history says is still true.
pub fn verify(setting: &SettingArguments) -> Result<Report, Failure> {
    let keeping = setting.keeping()?;
    in_each(setting, |address, _| {
        let untrue = address.migrating(&keeping, &setting.node_management, async |session| session.verify().await)?;
        let mut text = String::new();
        for finding in &untrue {
            let _ = writeln!(text, "V{}: {}", finding.version, finding.message);
        }
        if untrue.is_empty() {
            text.push_str("what the history says is true\n");
        }
        let findings: Vec<_> = untrue
            .iter()
            .map(|finding| document!({ "version": finding.version, "message": finding.message }))
            .collect();
        let (code, summary) = match untrue.len() {
            0 => (0, "true".to_owned()),
            count => (DIFFERS, format!("{count} not true any more")),
        };
        let document = document!({ "format": "acemq.migration_verify/1", "findings": findings });
        Ok(Outcome { text, document, summary, is_line: false, why: None, code })
    })
}

/// Mends records.
pub fn repair(arguments: &FilesArguments, cluster_renamed: bool) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let folder = folder::read(&arguments.files)?;
    let keeping = setting.keeping()?;
    in_each(setting, |address, _| {
        let mendings = address.migrating(&keeping, &setting.node_management, async |session| {
            session.repair(&folder, cluster_renamed).await
        })?;
        let mut text = String::new();
        for mending in &mendings {
            let _ = writeln!(text, "{}", mending.says);
        }
        text.push_str(match mendings.len() {
            0 => "nothing to mend\n",
            _ => "only records were changed: no queue, no binding, no message; acemq migrate verify says what the broker holds\n",
        });
        let said: Vec<&str> = mendings.iter().map(|mending| mending.says.as_str()).collect();
        let document = document!({ "format": "acemq.migration_repair/1", "mended": said });
        Ok(Outcome {
            text,
            document,
            summary: format!("{} records mended", mendings.len()),
            is_line: false,
            why: None,
            code: 0,
        })
    })
}

/// Says where the history begins.
pub fn baseline(arguments: &BaselineArguments) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let keeping = setting.keeping()?;
    let text = arguments.version.strip_prefix('V').unwrap_or(&arguments.version);
    let Some(version) = FileName::parse_version(text) else {
        return Err(Failure::input(format!(
            "\"{}\" is no version; give numbers joined by dots, such as 42 or 42.1",
            shown_name(&arguments.version)
        )));
    };
    in_each(setting, |address, _| {
        let is_new = address.migrating(&keeping, &setting.node_management, async |session| {
            session.baseline(&version, "baseline").await
        })?;
        let text = if is_new {
            format!("V{text} and every older version count as done\n")
        } else {
            format!("V{text} is the baseline already\n")
        };
        let document = document!({ "format": "acemq.migration_baseline/1", "version": FileName { version: version.clone(), description: String::new() }.version_text(), "new": is_new });
        Ok(Outcome { summary: text.trim_end().to_owned(), text, document, is_line: false, why: None, code: 0 })
    })
}
