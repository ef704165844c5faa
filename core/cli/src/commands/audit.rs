//! `audit`: what is wrong, with the message that shows it.

use crate::baseline;
use crate::cli::{AuditArguments, AuditFormat};
use crate::failure::{DIFFERS, Failure};
use crate::input;
use crate::output::{Report, json};
use acemq_core::audit::{self, Code, Options, Severity, Telling};
use acemq_core::rabbitmq::{Broker, Version};
use acemq_core::topology::{DeclaredAt, shown_name};
use std::io::Write as _;

/// Every finding; exit code 3 when one is as severe as asked.
pub fn audit(arguments: &AuditArguments) -> Result<Report, Failure> {
    if let Some(code) = &arguments.explain {
        return explain(code.as_deref(), arguments.format);
    }
    let mut looked = input::look(&arguments.state)?;
    if let Some(target) = arguments.target {
        check_target(&looked.state.broker, target)?;
    }
    let known = match (&arguments.baseline, &arguments.write_baseline) {
        (Some(file), _) => Some(baseline::read(file)?),
        (None, Some(file)) => baseline::read_if_there(file)?,
        (None, None) => None,
    };
    let suppress = std::mem::take(&mut looked.suppress);
    let options = Options { target: arguments.target, partial: looked.partial, suppress };
    let mut report = audit::audit(&looked.state, &options);
    let placed = !(report.findings.is_empty() && report.suppressed.is_empty());
    let declared = if placed { looked.declared_at() } else { DeclaredAt::default() };
    report.locate(looked.file.as_deref(), &declared);
    if let Some(file) = &arguments.write_baseline {
        let mut new = known.unwrap_or_default();
        new.update(&report);
        baseline::write(file, &new)?;
        let _ = writeln!(std::io::stderr(), "acemq: {}: known findings: {}", shown_name(file), new.len());
        report.compare(&new);
    } else if let Some(known) = &known {
        report.compare(known);
    }
    let threshold = arguments.severity.into();
    let text = match arguments.format {
        AuditFormat::Json => json(&report.to_document()),
        AuditFormat::Sarif => report.to_sarif(),
        AuditFormat::Text => report.to_text(Telling {
            least: if arguments.quiet { threshold } else { Severity::Info },
            suppressed: arguments.show_suppressed,
        }),
    };
    Ok(Report::done(text).with_code(if report.reaches(threshold) { DIFFERS } else { 0 }))
}

/// One code, or the list of all.
fn explain(code: Option<&str>, format: AuditFormat) -> Result<Report, Failure> {
    let as_json = match format {
        AuditFormat::Text => false,
        AuditFormat::Json => true,
        AuditFormat::Sarif => {
            return Err(Failure::input("--explain prints text or json; SARIF holds every code as a rule"));
        }
    };
    let Some(code) = code else {
        let all: Vec<_> = Code::ALL.iter().map(|code| code.about()).collect();
        return Ok(Report::done(if as_json { json(&all) } else { Code::list() }));
    };
    let code: Code = code.parse().map_err(Failure::input)?;
    Ok(Report::done(if as_json { json(code.about()) } else { code.explain() }))
}

/// An upgrade goes up; of versions to come only what is known today can be said.
fn check_target(broker: &Broker, target: Version) -> Result<(), Failure> {
    if let Some(running) = broker.version
        && target < running
    {
        return Err(Failure::input(format!(
            "--target {target} is older than {broker}: give the version to upgrade to, or --rabbitmq for the one that runs"
        )));
    }
    if target > Version::NEWEST {
        let newest = Version::NEWEST;
        let _ = writeln!(
            std::io::stderr(),
            "acemq: {target} is newer than {newest}, the newest RabbitMQ that this acemq knows: judged by the rules of {newest}"
        );
    }
    Ok(())
}
