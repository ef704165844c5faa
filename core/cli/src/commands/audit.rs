//! `audit`: what is wrong, with the message that shows it.

use crate::cli::{AuditArguments, AuditFormat};
use crate::failure::{DIFFERS, Failure};
use crate::input;
use crate::output::{Report, json};
use acemq_core::audit::{self, Code, Options, Severity};
use acemq_core::rabbitmq::{Broker, Version};
use std::io::Write as _;

/// Every finding; exit code 3 when one is as severe as asked.
pub fn audit(arguments: &AuditArguments) -> Result<Report, Failure> {
    if let Some(code) = &arguments.explain {
        return explain(code.as_deref(), arguments.format);
    }
    let looked = input::look(&arguments.state)?;
    if let Some(target) = arguments.target {
        check_target(&looked.state.broker, target)?;
    }
    let options = Options { target: arguments.target, partial: looked.partial };
    let mut report = audit::audit(&looked.state, &options);
    if !report.findings.is_empty() {
        report.locate(looked.file.as_deref(), &looked.declared_at());
    }
    let threshold = arguments.severity.into();
    let text = match arguments.format {
        AuditFormat::Json => json(&report.to_document()),
        AuditFormat::Sarif => report.to_sarif(),
        AuditFormat::Text => report.to_text(if arguments.quiet { threshold } else { Severity::Info }),
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
