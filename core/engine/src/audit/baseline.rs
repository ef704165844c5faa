//! Findings that are known: a file beside the definitions, so that only new ones stop a build.
//!
//! A finding is known by its fingerprint; code, object and vhost stand beside it for whoever reads the file. It has one line
//! for each finding, sorted, so that a change of it reads well in a review.

use super::Report;
use super::finding::{Finding, ObjectKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What the codes of findings about an upgrade begin with.
pub(super) const UPGRADE: &str = "upgrade_";

const FORMAT: &str = "acemq.baseline/1";

/// A finding as a baseline holds it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KnownFinding {
    /// The vhost.
    pub vhost: String,
    /// The code of the finding; one that this version does not have is kept.
    pub code: String,
    /// The kind of its object.
    pub kind: ObjectKind,
    /// The object's name.
    pub name: String,
    /// See [`Finding::fingerprint`].
    pub fingerprint: String,
}

impl KnownFinding {
    /// Whether an audit like that could have found it: without a version to upgrade to it says nothing of upgrades.
    fn is_asked(&self, report: &Report) -> bool {
        report.target.is_some() || !self.code.starts_with(UPGRADE)
    }

    fn of(finding: &Finding) -> Self {
        Self {
            vhost: finding.object.vhost.clone(),
            code: finding.code.as_str().to_owned(),
            kind: finding.object.kind,
            name: finding.object.name.clone(),
            fingerprint: finding.fingerprint.clone(),
        }
    }
}

/// The known findings of any number of vhosts.
///
/// ```
/// use acemq_core::audit::Baseline;
///
/// let written = Baseline::default().to_text();
/// assert_eq!(Baseline::read(&written), Ok(Baseline::default()));
/// assert!(Baseline::read("{}").is_err());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Baseline {
    findings: BTreeSet<KnownFinding>,
}

/// Why a text is no baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineError {
    /// It cannot be read.
    Damaged(String),
    /// It is of another format.
    OtherFormat(String),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(what) => write!(f, "this is no baseline: {what}; delete the file and write it anew"),
            Self::OtherFormat(found) => write!(
                f,
                "the format is {found}, and {FORMAT} is expected: use the acemq that wrote it, or delete the file and write it anew"
            ),
        }
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// Reads what [`Baseline::to_text`] wrote.
    ///
    /// # Errors
    /// When it is damaged, or of another format.
    pub fn read(text: &str) -> Result<Self, BaselineError> {
        #[derive(Deserialize)]
        struct Head {
            format: String,
        }
        #[derive(Deserialize)]
        struct Body {
            findings: Vec<KnownFinding>,
        }
        let damaged = |error: serde_json::Error| {
            let what: String = crate::topology::shown_name(&error.to_string()).chars().take(200).collect();
            BaselineError::Damaged(what)
        };
        let head: Head = serde_json::from_str(text).map_err(damaged)?;
        if head.format != FORMAT {
            let found: String = head.format.escape_debug().take(60).collect();
            return Err(BaselineError::OtherFormat(format!("\"{found}\"")));
        }
        let body: Body = serde_json::from_str(text).map_err(damaged)?;
        Ok(Self { findings: body.findings.into_iter().collect() })
    }

    /// JSON, a line for each finding.
    pub fn to_text(&self) -> String {
        let lines: Vec<String> =
            self.findings.iter().map(|known| serde_json::to_string(known).unwrap_or_default()).collect();
        let lines = lines.iter().map(|line| format!("\n    {line}")).collect::<Vec<_>>().join(",");
        let end = if lines.is_empty() { "" } else { "\n  " };
        format!("{{\n  \"format\": \"{FORMAT}\",\n  \"findings\": [{lines}{end}]\n}}\n")
    }

    /// How many findings it holds.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Takes over the findings of a report; those of other vhosts stay.
    pub fn update(&mut self, report: &Report) {
        self.findings.retain(|known| known.vhost != report.vhost || !known.is_asked(report));
        self.findings.extend(report.findings.iter().map(KnownFinding::of));
    }
}

impl Report {
    /// Marks what is known, and notes which known findings of this vhost are gone. A suppressed one is not gone.
    pub fn compare(&mut self, baseline: &Baseline) {
        let here = baseline.findings.iter().filter(|known| known.vhost == self.vhost && known.is_asked(self));
        let mut open: BTreeMap<&str, &KnownFinding> = here.map(|known| (known.fingerprint.as_str(), known)).collect();
        let known: BTreeSet<&str> = open.keys().copied().collect();
        for finding in &mut self.findings {
            finding.known = known.contains(finding.fingerprint.as_str());
            open.remove(finding.fingerprint.as_str());
        }
        for suppressed in &self.suppressed {
            open.remove(suppressed.finding.fingerprint.as_str());
        }
        self.fixed = open.into_values().cloned().collect();
        self.fixed.sort_unstable();
        self.compared = true;
    }
}
