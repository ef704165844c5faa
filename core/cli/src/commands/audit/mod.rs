//! `audit`: what is wrong, with the message that shows it.

mod several;

use crate::baseline;
use crate::cli::{AuditArguments, AuditFormat};
use crate::failure::{DIFFERS, Failure};
use crate::input::{self, Looked};
use crate::output::{Report, json};
use acemq_core::audit::{self, Baseline, Code, Options, Severity, Telling};
use acemq_core::rabbitmq::{Broker, Version};
use acemq_core::topology::{DeclaredAt, shown_name};
use std::io::Write as _;

/// Every finding; exit code 3 when one is as severe as asked.
pub fn audit(arguments: &AuditArguments) -> Result<Report, Failure> {
    if let Some(code) = &arguments.explain {
        return explain(code.as_deref(), arguments.format);
    }
    if let Some(looks) = input::look_into_each(&arguments.state, &arguments.several)? {
        return several::audit(arguments, looks);
    }
    let mut report = examined(input::look(&arguments.state)?, arguments)?;
    newer_than_known(arguments.target);
    compare(arguments, known(arguments)?, vec![&mut report])?;
    let threshold = arguments.severity.into();
    let text = match arguments.format {
        AuditFormat::Json => json(&report.to_document()),
        AuditFormat::Sarif => report.to_sarif(),
        AuditFormat::Text => report.to_text(telling(arguments)),
    };
    Ok(Report::done(text).with_code(if report.reaches(threshold) { DIFFERS } else { 0 }))
}

/// What was found in a vhost, and where its text has it.
fn examined(mut looked: Looked, arguments: &AuditArguments) -> Result<audit::Report, Failure> {
    if let Some(target) = arguments.target {
        check_target(&looked.state.broker, target)?;
    }
    let suppress = std::mem::take(&mut looked.suppress);
    let options = Options { target: arguments.target, partial: looked.partial, suppress };
    let mut report = audit::audit(&looked.state, &options);
    let placed = !(report.findings.is_empty() && report.suppressed.is_empty());
    let declared = if placed { looked.declared_at() } else { DeclaredAt::default() };
    report.locate(looked.file.as_deref(), &declared);
    Ok(report)
}

/// What is told to people.
fn telling(arguments: &AuditArguments) -> Telling {
    Telling {
        least: if arguments.quiet { arguments.severity.into() } else { Severity::Info },
        suppressed: arguments.show_suppressed,
    }
}

/// The findings that were known until now.
fn known(arguments: &AuditArguments) -> Result<Option<Baseline>, Failure> {
    match (&arguments.baseline, &arguments.write_baseline) {
        (Some(file), _) => baseline::read(file).map(Some),
        (None, Some(file)) => baseline::read_if_there(file),
        (None, None) => Ok(None),
    }
}

/// Marks what is known; with `--write-baseline` everything that was found becomes so first.
fn compare(
    arguments: &AuditArguments,
    known: Option<Baseline>,
    mut reports: Vec<&mut audit::Report>,
) -> Result<(), Failure> {
    let known = match &arguments.write_baseline {
        Some(file) => {
            let mut new = known.unwrap_or_default();
            reports.iter().for_each(|report| new.update(report));
            baseline::write(file, &new)?;
            let _ = writeln!(std::io::stderr(), "acemq: {}: known findings: {}", shown_name(file), new.len());
            Some(new)
        }
        None => known,
    };
    if let Some(known) = &known {
        reports.iter_mut().for_each(|report| report.compare(known));
    }
    Ok(())
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

/// An upgrade goes up.
fn check_target(broker: &Broker, target: Version) -> Result<(), Failure> {
    if let Some(running) = broker.version
        && target < running
    {
        return Err(Failure::input(format!(
            "--target {target} is older than {broker}: give the version to upgrade to, or --rabbitmq for the one that runs"
        )));
    }
    Ok(())
}

/// Of versions to come only what is known today can be said.
fn newer_than_known(target: Option<Version>) {
    if let Some(target) = target.filter(|target| *target > Version::NEWEST) {
        let newest = Version::NEWEST;
        let _ = writeln!(
            std::io::stderr(),
            "acemq: {target} is newer than {newest}, the newest RabbitMQ that this acemq knows: judged by the rules of {newest}"
        );
    }
}
