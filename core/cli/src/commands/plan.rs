//! `plan`: what declaring a topology would change.

use crate::broker::{self, Target, Wish};
use crate::cli::{PlanArguments, Style};
use crate::failure::{CREATIONS, DIFFERS, Failure, UNANSWERED};
use crate::input;
use crate::output::{Report, coloured, json};
use acemq_core::plan::{self, Mode, Plan, Settings};
use std::io::{IsTerminal as _, Write as _};

/// Plans; changes nothing.
pub fn plan(arguments: &PlanArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let tables = input::tables(&arguments.file, is_json)?;
    if arguments.broker.broker.as_deref().is_none_or(str::is_empty) && !arguments.broker.has_management() {
        let _ = writeln!(
            std::io::stderr(),
            "acemq: no --broker and no ACEMQ_BROKER: planning against memory:, a broker that holds nothing"
        );
    }
    let target = Target::resolve(&arguments.broker, Some("memory:"))?;
    let wish = Wish::new(|settings: &mut Settings| {
        settings.mode = arguments.mode.into();
        settings.ask_exchanges = arguments.exchanges;
        settings.list_foreign = arguments.extra.is_some();
        settings.skip_exclusive = true;
    });
    let plan = broker::run(target, tables, wish)?.into_plan();
    let style = match arguments.style {
        Style::Plan => plan::Style::Plan,
        Style::Lines => plan::Style::Lines,
    };
    Ok(report(&plan, style, arguments.width, is_json).with_code(exit_code(&plan, arguments.strict)))
}

/// A plan as text or JSON.
pub fn report(plan: &Plan, style: plan::Style, width: Option<usize>, is_json: bool) -> Report {
    if is_json {
        return Report::done(json(&plan.to_document()));
    }
    let text = plan.render(style, width);
    Report::done(if std::io::stdout().is_terminal() && style == plan::Style::Plan { coloured(&text) } else { text })
}

/// The exit code of a plan: 3 before 4 before 2.
pub fn exit_code(plan: &Plan, strict: bool) -> u8 {
    let fails = match plan.mode {
        Mode::DryRun => false,
        Mode::CreateOnly => plan.has_drift_or_invalid(),
        Mode::Validate => plan.fails_validation(),
    };
    if fails {
        DIFFERS
    } else if strict && plan.has_unanswered() {
        UNANSWERED
    } else if plan.creates() {
        CREATIONS
    } else {
        0
    }
}
