//! The findings of one audit: sorted, counted, as a document and as text.

use super::Options;
use super::codes::{Code, Severity};
use super::finding::{Finding, Object, ObjectKind, fingerprint_of};
use crate::rabbitmq::{Broker, Version};
use crate::state::State;
use crate::topology::{DeclaredAt, shown_name};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What an audit found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The vhost.
    pub vhost: String,
    /// The broker that it is judged for.
    pub broker: Broker,
    /// The version to upgrade to, where one was asked about.
    pub target: Option<Version>,
    /// The most severe first, then by code and object.
    pub findings: Vec<Finding>,
    /// The file that was audited, where there is one.
    pub file: Option<String>,
    partial: bool,
}

/// How many findings of each severity there are, and of each code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Findings that are errors.
    pub error: usize,
    /// Findings that are warnings.
    pub warning: usize,
    /// Findings that are worth knowing.
    pub info: usize,
    /// By code.
    pub codes: BTreeMap<&'static str, usize>,
}

/// `acemq.audit/1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditDocument<'a> {
    format: &'static str,
    vhost: &'a str,
    rabbitmq: Option<String>,
    target: Option<String>,
    findings: &'a [Finding],
    summary: Summary,
}

/// From how many findings of one code on they are told together.
const TOGETHER: usize = 4;
/// How many of them are named.
const NAMED: usize = 8;

impl Report {
    pub(super) fn new(state: &State, options: &Options) -> Self {
        Self {
            vhost: state.vhost.clone(),
            broker: state.broker.clone(),
            target: options.target,
            findings: Vec::new(),
            file: None,
            partial: options.partial,
        }
    }

    /// Takes a finding in. What a partial state does not hold may be held by somebody else.
    pub(super) fn add(&mut self, mut finding: Finding) {
        if self.partial && finding.severity == Severity::Error && finding.code.may_be_elsewhere() {
            finding.severity = Severity::Warning;
        }
        self.findings.push(finding);
    }

    pub(super) fn finish(mut self) -> Self {
        self.findings.sort_by(|a, b| {
            let key = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.code);
            key(a).cmp(&key(b)).then_with(|| a.object.cmp(&b.object))
        });
        // Nobody told them apart: by their number, so that a fingerprint is one finding's.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for finding in &mut self.findings {
            let before = seen.entry(finding.fingerprint.clone()).or_default();
            if *before > 0 {
                let distinction = format!("{} {before}", finding.fingerprint);
                finding.fingerprint = fingerprint_of(finding.code, &finding.object, &distinction);
            }
            *before += 1;
        }
        self
    }

    /// Tells each finding where in `file` its object is declared.
    pub fn locate(&mut self, file: Option<&str>, declared: &DeclaredAt) {
        self.file = file.map(str::to_owned);
        for finding in &mut self.findings {
            let places = match finding.object.kind {
                ObjectKind::Exchange => &declared.exchanges,
                ObjectKind::Queue => &declared.queues,
                ObjectKind::Binding => &declared.bindings,
                ObjectKind::Policy => &declared.policies,
                ObjectKind::OperatorPolicy => &declared.operator_policies,
            };
            finding.at = places.get(&finding.object.name).copied();
        }
    }

    /// Whether some finding is as severe as that, or more.
    pub fn reaches(&self, severity: Severity) -> bool {
        self.findings.iter().any(|finding| finding.severity >= severity)
    }

    /// How many there are.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for finding in &self.findings {
            match finding.severity {
                Severity::Error => summary.error += 1,
                Severity::Warning => summary.warning += 1,
                Severity::Info => summary.info += 1,
            }
            *summary.codes.entry(finding.code.as_str()).or_default() += 1;
        }
        summary
    }

    /// The document `acemq.audit/1`.
    pub fn to_document(&self) -> AuditDocument<'_> {
        AuditDocument {
            format: "acemq.audit/1",
            vhost: &self.vhost,
            rabbitmq: self.broker.version.map(|version| version.to_string()),
            target: self.target.map(|version| version.to_string()),
            findings: &self.findings,
            summary: self.summary(),
        }
    }

    /// For people: each finding of at least that severity, many of one kind told together.
    pub fn to_text(&self, least: Severity) -> String {
        let mut out = String::new();
        let mut rest = self.findings.as_slice();
        while let Some(first) = rest.first() {
            let alike = rest.iter().take_while(|other| other.code == first.code && other.severity == first.severity);
            let (group, others) = rest.split_at_checked(alike.count().max(1)).unwrap_or((rest, &[]));
            rest = others;
            if first.severity < least {
                continue;
            }
            if group.len() < TOGETHER {
                group.iter().for_each(|finding| self.single(&mut out, finding));
            } else {
                self.together(&mut out, first, group);
            }
        }
        let summary = self.summary();
        let judged = match (self.broker.version, self.target) {
            (Some(version), Some(target)) => format!(", {} {version}, to {target}", self.broker.product.name()),
            (Some(version), None) => format!(", {} {version}", self.broker.product.name()),
            (None, Some(target)) => format!(", to {target}"),
            (None, None) => String::new(),
        };
        let _ = writeln!(
            out,
            "{} errors, {} warnings, {} more worth knowing (vhost {}{judged})",
            summary.error,
            summary.warning,
            summary.info,
            shown_name(&self.vhost)
        );
        out
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
    fn together(&self, out: &mut String, first: &Finding, group: &[Finding]) {
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

impl Code {
    /// Whether the finding says that something is missing, which somebody else may declare.
    const fn may_be_elsewhere(self) -> bool {
        matches!(
            self,
            Self::DeadLetterExchangeMissing
                | Self::DeadLetterQueueMissing
                | Self::DeadLetterLost
                | Self::DeadLetterBlocked
                | Self::AlternateExchangeMissing
                | Self::AlternateExchangeCannotRoute
        )
    }
}
