//! `apply`: declares what is missing, and refuses first.

use super::plan;
use crate::broker::{self, Target, Wish};
use crate::cli::{self, ApplyArguments};
use crate::failure::{DIFFERS, Failure, STOPPED, UNANSWERED};
use crate::input;
use crate::output::Report;
use crate::vhosts::{self, Choice, Found, Outcome};
use acemq_core::plan::{ApplyError, Mode, Settings, Style};
use acemq_core::topology::{Tables, shown_name};

/// Applies a topology.
pub fn apply(arguments: &ApplyArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let mut tables = input::wanted(&arguments.wanted, &arguments.broker, is_json)?;
    if arguments.without_policies {
        tables.policies.clear();
    }
    if let Some(choices) = vhosts::chosen(&arguments.several, &arguments.broker)? {
        return in_several(arguments, choices, &tables);
    }
    let target = Target::resolve(&arguments.broker, None)?;
    check(arguments, &target, &tables)?;
    let outcome = one(arguments, target, tables, true)?;
    let mut report = plan::report(&outcome.plan, Style::Plan, arguments.width, is_json);
    if let Some(error) = outcome.error {
        return Err(Failure { document: Some(report.text), ..Failure::with_code(error, outcome.code) });
    }
    if !is_json {
        report.text.push_str(&outcome.closing);
    }
    Ok(report.with_code(outcome.code))
}

/// Whether everything that is asked for can be declared there.
fn check(arguments: &ApplyArguments, target: &Target, tables: &Tables) -> Result<(), Failure> {
    if !target.can_declare() {
        return Err(Failure::input(
            "nothing can be declared here; give the broker's amqp:// URL, with --management beside it where policies are to be set",
        ));
    }
    if !tables.policies.is_empty() && !target.can_set_policies() {
        return Err(Failure::input(format!(
            "{} asks for policies ({}), and AMQP cannot set policies; give --management, or apply the rest with --without-policies",
            shown_name(&arguments.wanted.file),
            tables.policies.iter().map(|policy| policy.name.escape_debug().to_string()).collect::<Vec<_>>().join(", ")
        )));
    }
    Ok(())
}

/// Runs one session. With `declare` off it only finds out whether anything stands against declaring.
fn one(arguments: &ApplyArguments, target: Target, tables: Tables, declare: bool) -> Result<Outcome, Failure> {
    let mode: Mode = arguments.mode.into();
    let wish = Wish::new(|settings: &mut Settings| {
        settings.mode = mode;
        settings.apply = declare;
        settings.ask_exchanges = true;
        settings.strict = arguments.strict;
        settings.skip_exclusive = true;
        settings.update_policies = arguments.update_policies;
    });
    let session = broker::run(target, tables, wish)?;
    let error = match mode {
        Mode::CreateOnly if declare => session.apply_error(),
        Mode::CreateOnly => session.obstacle(),
        Mode::DryRun | Mode::Validate => None,
    };
    let closing = match session.apply_report().done.len() {
        _ if mode != Mode::CreateOnly || !declare || error.is_some() => String::new(),
        0 => "\nnothing to declare\n".to_owned(),
        1 => "\n1 object declared\n".to_owned(),
        n => format!("\n{n} objects declared\n"),
    };
    let plan = session.into_plan();
    let code = match &error {
        None if mode == Mode::Validate && plan.fails_validation() => DIFFERS,
        None => 0,
        Some(ApplyError::Refused { .. }) => DIFFERS,
        Some(ApplyError::Unanswered { .. }) => UNANSWERED,
        Some(ApplyError::Stopped { .. }) => STOPPED,
    };
    Ok(Outcome { plan, code, closing, error: error.map(|error| error.to_string()) })
}

/// Applies in several vhosts: all are planned before anything is declared in any, and the first surprise ends it.
fn in_several(arguments: &ApplyArguments, choices: Vec<Choice>, tables: &Tables) -> Result<Report, Failure> {
    for choice in &choices {
        if let Ok(target) = &choice.target {
            check(arguments, target, tables)?;
        }
    }
    let planned = vhosts::in_each(choices.clone(), vhosts::unless_stopped, |target| {
        one(arguments, target, tables.clone(), false)
    });
    if arguments.mode != cli::Mode::CreateOnly {
        return Ok(several(arguments, &planned));
    }
    if planned.iter().any(|found| found.code() != 0) {
        return Err(failed(several(arguments, &planned), "nothing was declared in any of the vhosts"));
    }
    let applied = vhosts::in_each(choices, |code| code == 0, |target| one(arguments, target, tables.clone(), true));
    let report = several(arguments, &applied);
    if report.code != 0 {
        return Err(failed(
            report,
            "stopped in one of the vhosts; applying again is safe: what is there already is left as it is",
        ));
    }
    Ok(report)
}

fn several(arguments: &ApplyArguments, found: &[Found]) -> Report {
    vhosts::report(found, arguments.format.is_json(), |outcome| {
        let error = outcome.error.as_ref().map_or_else(String::new, |error| format!("\n{error}\n"));
        format!("{}{}{error}", plan::text(&outcome.plan, Style::Plan, arguments.width), outcome.closing)
    })
}

fn failed(report: Report, why: &str) -> Failure {
    Failure { document: Some(report.text), ..Failure::with_code(why, report.code) }
}
