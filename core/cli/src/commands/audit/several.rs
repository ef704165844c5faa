//! The audit of several vhosts: a block for each that something is wrong in, those of one kind told together, and how they all
//! are.

use crate::cli::{AuditArguments, AuditFormat};
use crate::failure::{DIFFERS, Failure, NO_BROKER};
use crate::input::Look;
use crate::output::Report;
use crate::vhosts::{self, Ended, Found};
use acemq_core::audit::{self, AuditDocument, Severity, Summary, Telling};
use acemq_core::topology::shown_name;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many vhosts are named where nobody has to do anything, or where they are alike.
const NAMED: usize = 8;

/// What was found in one vhost.
struct Audited {
    report: audit::Report,
    threshold: Severity,
}

impl Ended for Audited {
    const PROPERTY: &'static str = "audit";
    type Document<'a> = AuditDocument<'a>;

    fn code(&self) -> u8 {
        if self.report.reaches(self.threshold) { DIFFERS } else { 0 }
    }

    fn document(&self) -> AuditDocument<'_> {
        self.report.to_document()
    }
}

/// Every vhost, one after the other; a vhost that cannot be had is a result like any other.
pub(super) fn audit(arguments: &AuditArguments, looks: Vec<Look<'_>>) -> Result<Report, Failure> {
    let known = super::known(arguments)?;
    super::newer_than_known(arguments.target);
    let threshold = arguments.severity.into();
    let examine = |look: Look<'_>| {
        let (vhost, looked) = look.now();
        let report = looked.and_then(|looked| super::examined(looked, arguments));
        Found { vhost, outcome: report.map(|report| Audited { report, threshold }) }
    };
    let mut found: Vec<Found<Audited>> = looks.into_iter().map(examine).collect();
    let reports = found.iter_mut().filter_map(|found| found.outcome.as_mut().ok()).map(|audited| &mut audited.report);
    super::compare(arguments, known, reports.collect())?;
    let text = match arguments.format {
        AuditFormat::Json => return Ok(vhosts::document(&found)),
        AuditFormat::Sarif => sarif(&arguments.several.vhosts, &found),
        AuditFormat::Text => text(&found, super::telling(arguments)),
    };
    Ok(Report::done(text).with_code(vhosts::code_of(&found)))
}

fn sarif(patterns: &[String], found: &[Found<Audited>]) -> String {
    let reports: Vec<_> = found.iter().filter_map(|found| found.outcome.as_ref().ok()).map(|it| &it.report).collect();
    let failed = found.iter().filter_map(|Found { vhost, outcome }| {
        let failure = outcome.as_ref().err()?;
        Some(format!("vhost {}: {}", shown_name(vhost), failure.message))
    });
    audit::sarif_of(patterns, &reports, &failed.collect::<Vec<_>>())
}

/// Vhosts of which the same is said.
struct Block<'a> {
    /// What is said; places are those in the first of them.
    text: String,
    summary: Option<Summary>,
    vhosts: Vec<&'a str>,
}

fn text(found: &[Found<Audited>], telling: Telling) -> String {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for Found { vhost, outcome } in found {
        let block = match outcome {
            Err(failure) => Some((failure.message.clone(), format!("{}\n\n", failure.message), None)),
            Ok(Audited { report, .. }) => said(report, telling),
        };
        let Some((likeness, text, summary)) = block else { continue };
        let number = *numbers.entry(likeness).or_insert(blocks.len());
        match blocks.get_mut(number) {
            Some(block) => block.vhosts.push(vhost),
            None => blocks.push(Block { text, summary, vhosts: vec![vhost] }),
        }
    }
    let mut out = String::new();
    for Block { text, summary, vhosts } in blocks {
        let several = if vhosts.len() > 1 { "vhosts" } else { "vhost" };
        let each = match (summary, vhosts.len()) {
            (None, _) => String::new(),
            (Some(summary), 1) => format!(": {summary}"),
            (Some(summary), _) => format!(": {summary}, in each"),
        };
        let _ = write!(out, "{several} {}{each}\n{text}", some_of(&vhosts, NAMED));
    }
    closing(&mut out, found);
    out
}

/// What is said of a vhost: all that is the same where others are alike, and the text; `None` where there is nothing to say.
fn said(report: &audit::Report, telling: Telling) -> Option<(String, String, Option<Summary>)> {
    let told = report.reaches(telling.least)
        || !report.fixed.is_empty()
        || telling.suppressed && !report.suppressed.is_empty();
    if !told {
        return None;
    }
    let mut placeless = report.clone();
    placeless.file = None;
    let mut likeness = placeless.told(telling);
    for finding in report.fresh() {
        // Findings that are told together are not all named.
        let _ = writeln!(likeness, "{} {}", finding.code, finding.object);
    }
    let mut text = report.told(telling);
    if !text.ends_with("\n\n") {
        text.push('\n');
    }
    Some((likeness, text, Some(report.summary())))
}

/// How many vhosts there are, what is in them together, and which are how.
fn closing(out: &mut String, found: &[Found<Audited>]) {
    let reports = || found.iter().filter_map(|found| found.outcome.as_ref().ok()).map(|audited| &audited.report);
    let mut all = Summary::default();
    reports().for_each(|report| all += report.summary());
    let judged = reports().next().map(audit::Report::judged_for).filter(|judged| !judged.is_empty());
    let judged = judged.map(|judged| format!(" ({judged})")).unwrap_or_default();
    let sum = reports().next().map(|_| format!(": {all}")).unwrap_or_default();
    let _ = writeln!(out, "{}{judged}{sum}", vhosts::how_many(found.len()));
    for (number, words) in
        [(all.known, "known by the baseline"), (all.fixed, "of the baseline fixed"), (all.suppressed, "suppressed")]
    {
        if number > 0 {
            let _ = writeln!(out, "  {words}: {number} finding{}", if number == 1 { "" } else { "s" });
        }
    }
    let worst = |found: &Found<Audited>| match &found.outcome {
        Ok(audited) => match audited.report.fresh().map(|finding| finding.severity).max() {
            Some(Severity::Error) => 0,
            Some(Severity::Warning) => 1,
            Some(Severity::Info) => 2,
            None => 3,
        },
        Err(failure) if failure.code == NO_BROKER => 4,
        Err(_) => 5,
    };
    for (rank, words) in
        ["errors", "warnings", "worth knowing", "no findings", "cannot be had", "bad input"].into_iter().enumerate()
    {
        let names: Vec<&str> =
            found.iter().filter(|found| worst(found) == rank).map(|found| found.vhost.as_str()).collect();
        if !names.is_empty() {
            let shown = if words == "no findings" { NAMED } else { usize::MAX };
            let _ = writeln!(out, "  {words}: {}", some_of(&names, shown));
        }
    }
}

/// The first of many names, and how many more there are.
fn some_of(names: &[&str], shown: usize) -> String {
    let mut words: Vec<String> = names.iter().take(shown).map(|name| shown_name(name).into_owned()).collect();
    if names.len() > shown {
        words.push(format!("{} more", names.len() - shown));
    }
    words.join(", ")
}
