//! `plan`: what declaring a topology would change.

use crate::broker::{self, Target, Wish};
use crate::cli::{PlanArguments, Style};
use crate::failure::{CREATIONS, DIFFERS, Failure, UNANSWERED};
use crate::input;
use crate::output::{Report, coloured, json};
use crate::vhosts::{self, Outcome};
use acemq_core::plan::{self, Mode, Plan, Settings};
use acemq_core::topology::Tables;
use std::io::{IsTerminal as _, Write as _};

/// Plans; changes nothing.
pub fn plan(arguments: &PlanArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let tables = input::wanted(&arguments.wanted, &arguments.broker, is_json)?;
    if !arguments.broker.is_given() && arguments.several.vhosts.is_empty() {
        let _ = writeln!(
            std::io::stderr(),
            "acemq: no --broker and no ACEMQ_BROKER: planning against memory:, a broker that holds nothing"
        );
    }
    let one = |target: Target, tables: Tables| -> Result<Outcome, Failure> {
        let wish = Wish::new(|settings: &mut Settings| {
            settings.mode = arguments.mode.into();
            settings.ask_exchanges = arguments.exchanges;
            settings.list_foreign = arguments.extra.is_some();
            settings.skip_exclusive = true;
        });
        let plan = broker::run(target, tables, wish)?.into_plan();
        let code = exit_code(&plan, arguments.strict);
        Ok(Outcome::new(plan, code))
    };
    let style = match arguments.style {
        Style::Plan => plan::Style::Plan,
        Style::Lines => plan::Style::Lines,
    };
    if let Some(choices) = vhosts::chosen(&arguments.several, &arguments.broker)? {
        let found = vhosts::in_each(choices, vhosts::unless_stopped, |target| one(target, tables.clone()));
        return Ok(vhosts::report(&found, is_json, |outcome| text(&outcome.plan, style, arguments.width)));
    }
    let Outcome { plan, code, .. } = one(Target::resolve(&arguments.broker, Some("memory:"))?, tables)?;
    Ok(report(&plan, style, arguments.width, is_json).with_code(code))
}

/// A plan as text or JSON.
pub fn report(plan: &Plan, style: plan::Style, width: Option<usize>, is_json: bool) -> Report {
    if is_json {
        return Report::done(json(&plan.to_document()));
    }
    Report::done(text(plan, style, width))
}

/// A plan as text; in colour on a terminal.
pub fn text(plan: &Plan, style: plan::Style, width: Option<usize>) -> String {
    let text = plan.render(style, width);
    if std::io::stdout().is_terminal() && style == plan::Style::Plan { coloured(&text) } else { text }
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
