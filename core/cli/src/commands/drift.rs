//! `drift`: only what differs. A queue that is not there differs from nothing.

use crate::broker::{self, Target, Wish};
use crate::cli::DriftArguments;
use crate::failure::{DIFFERS, Failure, UNANSWERED};
use crate::input;
use crate::output::{Report, json};
use acemq_core::plan::{Mode, Settings, Verdict};

/// Prints one line for everything that drifted.
pub fn drift(arguments: &DriftArguments) -> Result<Report, Failure> {
    let is_json = arguments.format.is_json();
    let tables = input::tables(&arguments.file, is_json)?;
    let target = Target::resolve(&arguments.broker, None)?;
    let wish = Wish::new(|settings: &mut Settings| {
        settings.mode = Mode::DryRun;
        settings.ask_exchanges = true;
        settings.skip_exclusive = true;
    });
    let mut plan = broker::run(target, tables, wish)?.into_plan();
    let unanswered = plan.has_unanswered();
    let text = if is_json {
        plan.actions.retain(|action| action.verdict == Verdict::Drift);
        json(&plan.to_document())
    } else {
        plan.render_drift()
    };
    let drifted = plan.actions.iter().any(|action| action.verdict == Verdict::Drift);
    let code = match () {
        () if drifted => DIFFERS,
        () if arguments.strict && unanswered => UNANSWERED,
        () => 0,
    };
    Ok(Report::done(text).with_code(code))
}
