//! The findings of one audit: sorted, counted, as a document.

use super::Options;
use super::baseline::KnownFinding;
use super::codes::{Code, Severity};
use super::finding::{Finding, ObjectKind, fingerprint_of};
use crate::rabbitmq::{Broker, Version};
use crate::state::State;
use crate::topology::DeclaredAt;
use crate::value::counted;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

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
    /// What the document says is meant, in the same order.
    pub suppressed: Vec<Suppressed>,
    /// What the baseline holds and was not found, sorted.
    pub fixed: Vec<KnownFinding>,
    /// The file that was audited, where there is one.
    pub file: Option<String>,
    pub(super) compared: bool,
    partial: bool,
}

/// A finding that the document says is meant.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Suppressed {
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
    /// Why, as the document says.
    pub reason: String,
}

/// How many findings of each severity there are, and of each code. Known and suppressed ones are counted apart.
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
    /// Findings that the baseline holds.
    pub known: usize,
    /// Findings that the document says are meant.
    pub suppressed: usize,
    /// Findings of the baseline that are no longer there.
    pub fixed: usize,
}

impl fmt::Display for Summary {
    /// `1 error, 2 warnings, 0 more worth knowing`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (errors, warnings) = (counted(self.error, "error"), counted(self.warning, "warning"));
        write!(f, "{errors}, {warnings}, {} more worth knowing", self.info)
    }
}

impl AddAssign for Summary {
    fn add_assign(&mut self, other: Self) {
        self.error += other.error;
        self.warning += other.warning;
        self.info += other.info;
        self.known += other.known;
        self.suppressed += other.suppressed;
        self.fixed += other.fixed;
        for (code, count) in other.codes {
            *self.codes.entry(code).or_default() += count;
        }
    }
}

/// `acemq.audit/1`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AuditDocument<'a> {
    format: &'static str,
    vhost: &'a str,
    rabbitmq: Option<String>,
    target: Option<String>,
    findings: &'a [Finding],
    suppressed: &'a [Suppressed],
    fixed: &'a [KnownFinding],
    summary: Summary,
}

impl Report {
    pub(super) fn new(state: &State, options: &Options) -> Self {
        Self {
            vhost: state.vhost.clone(),
            broker: state.broker.clone(),
            target: options.target,
            findings: Vec::new(),
            suppressed: Vec::new(),
            fixed: Vec::new(),
            compared: false,
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
        self.findings.sort_by(order);
        self.suppressed.sort_by(|a, b| order(&a.finding, &b.finding));
        // Nobody told them apart: by their number, so that a fingerprint is one finding's.
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let suppressed = self.suppressed.iter_mut().map(|suppressed| &mut suppressed.finding);
        for finding in self.findings.iter_mut().chain(suppressed) {
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
        let suppressed = self.suppressed.iter_mut().map(|suppressed| &mut suppressed.finding);
        for finding in self.findings.iter_mut().chain(suppressed) {
            let name = &finding.object.name;
            finding.at = match finding.object.kind {
                ObjectKind::Exchange => declared.exchanges.get(name).copied(),
                ObjectKind::Queue => declared.queues.get(name).copied(),
                ObjectKind::Binding => declared.bindings.get(name).copied(),
                ObjectKind::Policy => declared.policies.get(name).copied(),
                ObjectKind::OperatorPolicy => declared.operator_policies.get(name).copied(),
                ObjectKind::Parameter => declared.parameters.get(name).copied(),
                ObjectKind::Suppression => finding.number.and_then(|number| declared.suppressions.get(number).copied()),
            };
        }
    }

    /// Whether some finding that is not known is as severe as that, or more.
    pub fn reaches(&self, severity: Severity) -> bool {
        self.fresh().any(|finding| finding.severity >= severity)
    }

    /// The findings that the baseline does not hold.
    pub fn fresh(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| !finding.known)
    }

    /// How many there are.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary {
            known: self.findings.iter().filter(|finding| finding.known).count(),
            suppressed: self.suppressed.len(),
            fixed: self.fixed.len(),
            ..Summary::default()
        };
        for finding in self.fresh() {
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
            suppressed: &self.suppressed,
            fixed: &self.fixed,
            summary: self.summary(),
        }
    }
}

fn order(a: &Finding, b: &Finding) -> std::cmp::Ordering {
    let key = |finding: &Finding| (std::cmp::Reverse(finding.severity), finding.code);
    key(a).cmp(&key(b)).then_with(|| a.object.cmp(&b.object))
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
