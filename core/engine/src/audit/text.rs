//! The findings for people.

use super::Report;
use super::codes::Severity;
use super::finding::{Finding, Object};
use crate::topology::shown_name;
use std::fmt::Write as _;

fn counted(count: usize) -> String {
    format!("{count} finding{}", if count == 1 { "" } else { "s" })
}

/// From how many findings of one code on they are told together.
const TOGETHER: usize = 4;
/// How many of them are named.
const NAMED: usize = 8;

/// What of a report is told to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Telling {
    /// Findings of at least this severity.
    pub least: Severity,
    /// The suppressed ones too, with their reasons.
    pub suppressed: bool,
}

impl From<Severity> for Telling {
    fn from(least: Severity) -> Self {
        Self { least, suppressed: false }
    }
}

impl Report {
    /// For people: each finding that is not known, many of one kind told together, and how many there are.
    pub fn to_text(&self, telling: impl Into<Telling>) -> String {
        let mut out = self.told(telling);
        let (summary, judged) = (self.summary(), self.judged_for());
        let comma = if judged.is_empty() { "" } else { ", " };
        let _ = writeln!(out, "{summary} (vhost {}{comma}{judged})", shown_name(&self.vhost));
        out
    }

    /// [`Report::to_text`] without its last line.
    pub fn told(&self, telling: impl Into<Telling>) -> String {
        let telling = telling.into();
        let mut out = String::new();
        let fresh: Vec<&Finding> = self.fresh().collect();
        let mut rest = fresh.as_slice();
        while let Some(first) = rest.first() {
            let alike = rest.iter().take_while(|other| other.code == first.code && other.severity == first.severity);
            let (group, others) = rest.split_at_checked(alike.count().max(1)).unwrap_or((rest, &[]));
            rest = others;
            if first.severity < telling.least {
                continue;
            }
            if group.len() < TOGETHER {
                group.iter().for_each(|finding| self.single(&mut out, finding));
            } else {
                self.together(&mut out, first, group);
            }
        }
        self.aside(&mut out, telling);
        out
    }

    /// By which rules: `RabbitMQ 3.13.7, to 4.0.5`; nothing where no version is known.
    pub fn judged_for(&self) -> String {
        let runs = self.broker.version.map(|version| format!("{} {version}", self.broker.product.name()));
        let target = self.target.map(|target| format!("to {target}"));
        [runs, target].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// What is there and counts for nothing, and what is no longer there.
    fn aside(&self, out: &mut String, telling: Telling) {
        if telling.suppressed {
            for suppressed in &self.suppressed {
                let finding = &suppressed.finding;
                let _ = writeln!(
                    out,
                    "{}suppressed {}: {} [{}]\n  reason: {}\n",
                    self.place(finding),
                    finding.severity,
                    finding.message,
                    finding.code,
                    shown_name(&suppressed.reason)
                );
            }
        } else if !self.suppressed.is_empty() {
            let _ = writeln!(out, "{} suppressed (--show-suppressed tells them)", counted(self.suppressed.len()));
        }
        let known = self.findings.len() - self.fresh().count();
        if known > 0 {
            let _ = writeln!(out, "{} known by the baseline", counted(known));
        }
        for fixed in self.fixed.iter().take(NAMED) {
            let (kind, name) = (fixed.kind.word(false), shown_name(&fixed.name));
            let _ = writeln!(out, "fixed: {kind} {name} [{}]", fixed.code);
        }
        if !self.fixed.is_empty() {
            let _ = writeln!(
                out,
                "{} of the baseline fixed: write it anew, so that it cannot hide them",
                counted(self.fixed.len())
            );
        }
    }

    /// `orders.yaml:4:3: `, or nothing.
    fn place(&self, finding: &Finding) -> String {
        match (&self.file, finding.at) {
            (Some(file), Some(at)) => format!("{}:{}:{}: ", shown_name(file), at.line, at.column),
            _ => String::new(),
        }
    }

    /// One finding on its own.
    fn single(&self, out: &mut String, finding: &Finding) {
        let place = self.place(finding);
        let _ = writeln!(out, "{place}{}: {} [{}]", finding.severity, finding.message, finding.code);
        details(out, finding);
    }

    /// Many of one code: the first in full, the others by name.
    fn together(&self, out: &mut String, first: &Finding, group: &[&Finding]) {
        let mut objects: Vec<&Object> = group.iter().map(|finding| &finding.object).collect();
        objects.dedup();
        let mut names: Vec<String> =
            objects.iter().take(NAMED).map(|object| shown_name(&object.name).into_owned()).collect();
        if objects.len() > NAMED {
            names.push(format!("and {} more", objects.len() - NAMED));
        }
        let _ = writeln!(
            out,
            "{}{}: {} {}: {} [{}]",
            self.place(first),
            first.severity,
            objects.len(),
            first.object.kind.word(objects.len() != 1),
            first.code.about().condition.trim_end_matches('.'),
            first.code
        );
        let _ = writeln!(out, "  {}", names.join(", "));
        let _ = writeln!(out, "  the first: {}", first.message);
        details(out, first);
    }
}

fn details(out: &mut String, finding: &Finding) {
    if let Some(example) = &finding.example {
        let _ = writeln!(out, "  example: {}", example.happens);
    }
    let _ = writeln!(out, "  why: {}", finding.why);
    let _ = writeln!(out, "  fix: {}", finding.fix);
    if let Some(versions) = finding.versions {
        let _ = writeln!(out, "  versions: {versions}");
    }
    out.push('\n');
}
