//! `drift`: only what differs. A queue that is not there differs from nothing.

use crate::broker::{self, Target, Wish};
use crate::cli::DriftArguments;
use crate::failure::{DIFFERS, Failure, UNANSWERED};
use crate::input;
use crate::output::{Report, json};
use crate::vhosts::{self, Outcome};
use acemq_core::plan::{Mode, Settings, Verdict};
use acemq_core::topology::Tables;

/// Prints one line for everything that drifted.
pub fn drift(arguments: &DriftArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let tables = input::wanted(&arguments.wanted, &arguments.broker, is_json)?;
    let one = |target: Target, tables: Tables| -> Result<Outcome, Failure> {
        let wish = Wish::new(|settings: &mut Settings| {
            settings.mode = Mode::DryRun;
            settings.ask_exchanges = true;
            settings.skip_exclusive = true;
        });
        let mut plan = broker::run(target, tables, wish)?.into_plan();
        let unanswered = plan.has_unanswered();
        plan.actions.retain(|action| action.verdict == Verdict::Drift);
        let code = match () {
            () if !plan.actions.is_empty() => DIFFERS,
            () if arguments.strict && unanswered => UNANSWERED,
            () => 0,
        };
        Ok(Outcome::new(plan, code))
    };
    if let Some(choices) = vhosts::chosen(&arguments.several, &arguments.broker)? {
        let found = vhosts::in_each(choices, vhosts::unless_stopped, |target| one(target, tables.clone()));
        return Ok(vhosts::report(&found, is_json, |outcome| outcome.plan.render_drift()));
    }
    let Outcome { plan, code, .. } = one(Target::resolve(&arguments.broker, None)?, tables)?;
    let text = if is_json { json(&plan.to_document()) } else { plan.render_drift() };
    Ok(Report::done(text).with_code(code))
}
