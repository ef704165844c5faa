//! `apply`: declares what is missing, and refuses first.

use super::plan;
use crate::broker::{self, Target, Wish};
use crate::cli::ApplyArguments;
use crate::failure::{DIFFERS, Failure, STOPPED, UNANSWERED};
use crate::input;
use crate::output::{Report, json};
use acemq_core::plan::{ApplyError, Mode, Settings, Style};

/// Applies a topology.
pub fn apply(arguments: &ApplyArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let mut tables = input::tables(&arguments.file, is_json)?;
    let target = Target::resolve(&arguments.broker, None)?;
    if !target.can_declare() {
        return Err(Failure::input(
            "nothing can be declared here; give the broker's amqp:// URL, with --management beside it where policies are to be set",
        ));
    }
    if arguments.without_policies {
        tables.policies.clear();
    } else if !tables.policies.is_empty() && !target.can_set_policies() {
        return Err(Failure::input(format!(
            "{} asks for policies ({}), and AMQP cannot set policies; give --management, or apply the rest with --without-policies",
            acemq_core::topology::shown_name(&arguments.file),
            tables.policies.iter().map(|policy| policy.name.escape_debug().to_string()).collect::<Vec<_>>().join(", ")
        )));
    }
    let mode: Mode = arguments.mode.into();
    let wish = Wish::new(|settings: &mut Settings| {
        settings.mode = mode;
        settings.apply = true;
        settings.strict = arguments.strict;
        settings.skip_exclusive = true;
        settings.update_policies = arguments.update_policies;
    });
    let session = broker::run(target, tables, wish)?;
    let error = if mode == Mode::CreateOnly { session.apply_error() } else { None };
    let declared = session.apply_report().done.len();
    let plan = session.into_plan();
    let mut report = plan::report(&plan, Style::Plan, arguments.width, is_json);
    let Some(error) = error else {
        let code = if mode == Mode::Validate && plan.fails_validation() { DIFFERS } else { 0 };
        if mode == Mode::CreateOnly && !is_json {
            report.text.push_str(&match declared {
                0 => "\nnothing to declare\n".to_owned(),
                1 => "\n1 object declared\n".to_owned(),
                n => format!("\n{n} objects declared\n"),
            });
        }
        return Ok(report.with_code(code));
    };
    let code = match error {
        ApplyError::Refused { .. } => DIFFERS,
        ApplyError::Unanswered { .. } => UNANSWERED,
        ApplyError::Stopped { .. } => STOPPED,
    };
    let mut failure = Failure::with_code(error, code);
    failure.document = Some(if is_json { json(&plan.to_document()) } else { report.text });
    Err(failure)
}
