//! `plan`, `run` and `undo`.

use super::places::{Outcome, in_each};
use super::teller::Teller;
use super::{FilesArguments, SettingArguments, folder, memory};
use crate::broker::Target;
use crate::failure::{BAD_INPUT, DIFFERS, Failure, STOPPED};
use crate::output::{Report, json};
use acemq_core::migration::history::{Given, History, Place, Script, Status, forecast};
use acemq_core::migration::{FileName, MigrationFile, MigrationPlan};
use acemq_core::state::State;
use acemq_migrate::Ending;
use acemq_migrate::history::{Folder, Ran};
use serde_json::json as document;
use std::fmt::Write as _;
use std::io::Write as _;

/// What would run; exit code 3 when something must not.
pub fn plan(arguments: &FilesArguments) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let is_json = setting.format.is_json();
    if setting.several.vhosts.is_empty() {
        let target = Target::resolve(&setting.broker, None)?;
        if !matches!(&target, Target::Real(address) if address.can_migrate()) {
            let known = if matches!(target, Target::Real(_)) { Known::TableOnly } else { Known::Everything };
            return plan_alone(&arguments.files, target.state()?, known, is_json);
        }
    }
    plan_live(setting, &folder::read(&arguments.files)?)
}

fn plan_live(setting: &SettingArguments, folder: &Folder) -> Result<Report, Failure> {
    let keeping = setting.keeping()?;
    in_each(setting, |address, _| {
        let plans =
            address.migrating(&keeping, &setting.node_management, async |session| session.plan(folder).await)?;
        let code = if plans.iter().any(|(_, plan)| plan.refusal().is_some()) { DIFFERS } else { 0 };
        let names: Vec<String> = plans.iter().map(|(script, _)| format!("V{}", script.name.version_text())).collect();
        let summary = match (plans.len(), code) {
            (0, _) => "nothing to run".to_owned(),
            (_, 0) => format!("would run {}", names.join(", ")),
            _ => format!("must not run: {}", names.join(", ")),
        };
        let (text, document) = (text(&plans, folder), to_document(&plans, folder.given));
        Ok(Outcome { text, document, is_line: false, summary, why: None, code })
    })
}

/// What is known of a vhost whose history is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It has none.
    Everything,
    /// It may have one, which only AMQP shows.
    TableOnly,
}

impl Known {
    /// Says on standard error what is not known, and in a document.
    fn tell(self, mut document: serde_json::Value) -> serde_json::Value {
        if self == Self::TableOnly {
            let _ = writeln!(
                std::io::stderr(),
                "acemq: note: planned without the history, so a version that ran may be among these, and rights, shovels and consumers were not looked at; give --broker amqp://... beside --management to plan as migrate run would"
            );
            if let Some(document) = document.as_object_mut() {
                document.insert("history".to_owned(), "not_read".into());
            }
        }
        document
    }
}

/// A plan without a history: for the embedded broker, an export, or a management API alone. One file is planned as it stands;
/// the files of a folder one after the other.
fn plan_alone(path: &str, state: State, known: Known, is_json: bool) -> Result<Report, Failure> {
    let alone = |path: &str, state: &State| -> Result<MigrationPlan, Failure> {
        if path != "-" {
            let name = std::path::Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
            FileName::parse(&name.unwrap_or_default()).map_err(Failure::input)?;
        }
        let file = folder::migration(path)?;
        MigrationPlan::new(&file, state).map_err(|error| folder::refused(path, &error))
    };
    if !std::path::Path::new(path).is_dir() {
        let plan = alone(path, &state)?;
        let code = if plan.refusal().is_some() { DIFFERS } else { 0 };
        let document = known.tell(plan.to_json());
        let text = if is_json { json(&document) } else { plan.to_text() };
        return Ok(Report::done(text).with_code(code));
    }
    let folder = folder::read(path)?;
    let history = History::empty(Place { cluster: String::new(), vhost: state.vhost.clone() });
    let status = Status::new(&folder.scripts(), folder.given, &history, false).map_err(Failure::input)?;
    let mut plans = Vec::new();
    let mut state = state;
    for script in status.to_run().map_err(Failure::input)? {
        let Some(file) = folder.file(script) else { continue };
        let plan = MigrationPlan::new(file, &state).map_err(|error| folder::refused(&script.file, &error))?;
        let next = forecast(&plan, &state);
        plans.push((script.clone(), plan));
        let Some(next) = next else { break };
        state = next;
    }
    let code = if plans.iter().any(|(_, plan)| plan.refusal().is_some()) { DIFFERS } else { 0 };
    let document = known.tell(to_document(&plans, folder.given));
    let text = if is_json { json(&document) } else { text(&plans, &folder) };
    Ok(Report::done(text).with_code(code))
}

/// What to say where nothing is left; a folder that is empty, or the wrong one, is no success to keep quiet about.
pub(super) const fn nothing_to_run(folder: &Folder) -> &'static str {
    if folder.files.is_empty() {
        "nothing to run: the folder holds no migration, such as V1__orders_to_quorum.yaml\n"
    } else {
        "nothing to run: every migration is done\n"
    }
}

fn text(plans: &[(Script, MigrationPlan)], folder: &Folder) -> String {
    match (plans, folder.given) {
        ([], _) => nothing_to_run(folder).to_owned(),
        ([(_, plan)], Given::Some) => plan.to_text(),
        _ => plans
            .iter()
            .map(|(script, plan)| format!("{}\n{}", script.file, plan.to_text()))
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

fn to_document(plans: &[(Script, MigrationPlan)], given: Given) -> serde_json::Value {
    match (plans, given) {
        ([(_, plan)], Given::Some) => plan.to_json(),
        _ => {
            let plans: Vec<_> = plans
                .iter()
                .map(|(script, plan)| {
                    document!({ "version": script.name.version_text(), "file": script.file, "plan": plan.to_json() })
                })
                .collect();
            document!({ "format": "acemq.migration_plans/1", "migrations": plans })
        }
    }
}

/// Runs what has not run. Exit code 3 when something must not go on, 6 when it is to be run again.
pub fn run(arguments: &FilesArguments, one: bool) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let folder = folder::read(&arguments.files)?;
    let keeping = setting.keeping()?;
    let is_json = setting.format.is_json();
    let is_memory = setting.broker.broker.as_deref().is_some_and(|broker| broker.starts_with("memory:"));
    if is_memory && let Target::Memory(broker) = Target::resolve(&setting.broker, None)? {
        return memory::run(*broker, &folder, one, is_json);
    }
    if !setting.several.vhosts.is_empty() {
        // Nothing is changed anywhere while something stands against it in one of them.
        let planned = plan_live(setting, &folder)?;
        if [BAD_INPUT, DIFFERS].contains(&planned.code) {
            let why = "nothing was changed, because something stands against it in one of the vhosts";
            return Err(Failure { document: Some(planned.text), ..Failure::with_code(why, planned.code) });
        }
    }
    in_each(setting, |address, vhost| {
        let mut teller = Teller::new(is_json, folder.given == Given::Everything, vhost);
        let (ran, status) = address.migrating(&keeping, &setting.node_management, async |session| {
            let ran = session.run(&folder, one, |script, progress| teller.tell(script, progress)).await?;
            let history = session.history().await?;
            let status = Status::new(&folder.scripts(), folder.given, &history, false)?;
            Ok((ran, status.to_json(&history)))
        })?;
        let mut outcome = told(&ran, status, nothing_to_run(&folder), "finished: every step is done", "applied");
        let finished = ran.iter().filter(|ran| ran.ending == Ending::Finished);
        outcome.text.extend(finished.filter_map(|ran| what_follows(&folder, &ran.script)));
        Ok(outcome)
    })
}

/// Takes back the newest that ran.
pub fn undo(arguments: &FilesArguments) -> Result<Report, Failure> {
    let setting = &arguments.setting;
    let folder = folder::read(&arguments.files)?;
    let keeping = setting.keeping()?;
    let is_json = setting.format.is_json();
    in_each(setting, |address, vhost| {
        let mut teller = Teller::new(is_json, true, vhost);
        let (ran, status) = address.migrating(&keeping, &setting.node_management, async |session| {
            let ran = session.undo(&folder, |script, progress| teller.tell(script, progress)).await?;
            let history = session.history().await?;
            let status = Status::new(&folder.scripts(), folder.given, &history, false)?;
            Ok((ran, status.to_json(&history)))
        })?;
        Ok(told(std::slice::from_ref(&ran), status, "", "undone: every step is taken back", "undone"))
    })
}

/// What to write next, behind what ran.
pub(super) fn what_follows(folder: &Folder, script: &Script) -> Option<String> {
    let follows = folder.file(script).is_some_and(MigrationFile::has_follow_up);
    follows.then(|| {
        let (version, file) = (script.name.version_text(), &script.file);
        format!("V{version} is not the end: acemq migrate new NAME --follow-up {file} writes the file that belongs behind it\n")
    })
}

/// How it ended, at the end. The steps were told while they were made.
fn told(ran: &[Ran], mut status: serde_json::Value, nothing: &str, finished: &str, done: &str) -> Outcome {
    let (mut outcome, mut why, mut code) = ("finished", None, 0);
    let mut text = String::new();
    let mut summary = Vec::new();
    for Ran { script, ending } in ran {
        let version = format!("V{}", script.name.version_text());
        match ending {
            Ending::Finished => summary.push(format!("{version} {done}")),
            Ending::Waiting(reason) => {
                (outcome, code) = ("waiting", STOPPED);
                summary.push(format!("{version} waiting: {reason}"));
                why = Some(reason.clone());
            }
            Ending::Stopped(reason) => {
                (outcome, code) = ("stopped", DIFFERS);
                summary.push(format!("{version} stopped: {reason}"));
                why = Some(reason.clone());
            }
        }
    }
    if ran.is_empty() {
        outcome = "nothing_to_run";
        text.push_str(nothing);
        summary.push("nothing to run".to_owned());
    } else if why.is_none() {
        let _ = writeln!(text, "{finished}");
    }
    if let Some(status) = status.as_object_mut() {
        let names: Vec<&str> = ran.iter().map(|ran| ran.script.file.as_str()).collect();
        status.insert("outcome".to_owned(), outcome.into());
        status.insert("why".to_owned(), why.clone().into());
        status.insert("ran".to_owned(), names.into());
    }
    Outcome { text, document: status, is_line: true, summary: summary.join(", "), why, code }
}
