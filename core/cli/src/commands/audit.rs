//! `audit`: what is wrong, with the message that shows it.

use crate::cli::AuditArguments;
use crate::failure::{DIFFERS, Failure};
use crate::input;
use crate::output::{Report, json};
use acemq_core::audit::{self, Code, Options, Severity};

/// Every finding; exit code 3 when one is as severe as asked.
pub fn audit(arguments: &AuditArguments) -> Result<Report, Failure> {
    if let Some(code) = &arguments.explain {
        let code: Code = code.parse().map_err(Failure::input)?;
        let about = || json(code.about());
        return Ok(Report::done(if arguments.format.is_json() { about() } else { code.explain() }));
    }
    let (state, partial) = input::state_or_part(&arguments.state)?;
    let options = Options { target: arguments.target, partial };
    let report = audit::audit(&state, &options);
    let threshold = arguments.severity.into();
    let text = if arguments.format.is_json() {
        json(&report.to_document())
    } else {
        report.to_text(if arguments.quiet { threshold } else { Severity::Info })
    };
    Ok(Report::done(text).with_code(if report.reaches(threshold) { DIFFERS } else { 0 }))
}
