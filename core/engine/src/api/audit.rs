//! Operations of the audit.

use super::declared::{Document, GivenDocument, VersionText};
use super::source::{Looked, STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::audit::{self, Baseline, Code, Options};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The code of a baseline that cannot be used.
const BASELINE_CODES: &[&str] = &["baseline_unreadable"];

/// All codes of an audit.
const AUDIT_CODES: [&[&str]; 5] = {
    let [one, two, three, four] = STATE_CODES;
    [one, two, three, four, BASELINE_CODES]
};

/// The vhost, and what the audit is asked about it: a topology is only part of what a vhost will hold.
fn asked(state: StateSource, target: Option<&VersionText>) -> Result<(Looked, Options), Failure> {
    let partial = state.topology.is_some();
    let target = target.map(|text| VersionText::read(Some(text))).transpose()?;
    let mut looked = state.look()?;
    let suppress = std::mem::take(&mut looked.suppress);
    Ok((looked, Options { target, partial, suppress }))
}

/// The report, with places and compared with a baseline.
fn reported(
    state: StateSource,
    target: Option<&VersionText>,
    file: Option<&str>,
    baseline: Option<&Baseline>,
) -> Result<audit::Report, Failure> {
    let (looked, options) = asked(state, target)?;
    let mut report = audit::audit(&looked.state, &options);
    report.locate(file, &looked.declared_at());
    if let Some(baseline) = baseline {
        report.compare(baseline);
    }
    Ok(report)
}

fn read_baseline(given: Option<&GivenDocument>) -> Result<Option<Baseline>, Failure> {
    let read = given.map(|document| Baseline::read(document.text())).transpose();
    read.map_err(|error| Failure::one("baseline_unreadable", error.to_string(), "audit.baseline writes one"))
}

/// `audit.check`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditVhost {
    /// The vhost.
    pub state: StateSource,
    /// The RabbitMQ version to upgrade to.
    pub target: Option<VersionText>,
    /// Findings that are known, `acemq.baseline/1`.
    pub baseline: Option<GivenDocument>,
}

impl Request for AuditVhost {
    type Answer = Document;
    const NAME: &'static str = "audit.check";
    const ABOUT: &'static str =
        "What is wrong with a vhost, each finding with the message that shows it, acemq.audit/1.";
    const CODES: &'static [&'static [&'static str]] = &AUDIT_CODES;

    fn answer(self) -> Result<Document, Failure> {
        let baseline = read_baseline(self.baseline.as_ref())?;
        let report = reported(self.state, self.target.as_ref(), None, baseline.as_ref())?;
        Ok(Document::of(&report.to_document()))
    }
}

/// `audit.sarif`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SarifOfVhost {
    /// The vhost.
    pub state: StateSource,
    /// The RabbitMQ version to upgrade to.
    pub target: Option<VersionText>,
    /// Findings that are known, `acemq.baseline/1`.
    pub baseline: Option<GivenDocument>,
    /// The path of the file that the vhost was read from, as code scanning shall show it.
    pub file: Option<String>,
}

impl Request for SarifOfVhost {
    type Answer = Document;
    const NAME: &'static str = "audit.sarif";
    const ABOUT: &'static str = "What audit.check finds, as SARIF 2.1.0 for code scanning and editors.";
    const CODES: &'static [&'static [&'static str]] = &AUDIT_CODES;

    fn answer(self) -> Result<Document, Failure> {
        let baseline = read_baseline(self.baseline.as_ref())?;
        let report = reported(self.state, self.target.as_ref(), self.file.as_deref(), baseline.as_ref())?;
        Ok(Document::read(&report.to_sarif()))
    }
}

/// `audit.baseline`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaselineOfVhost {
    /// The vhost.
    pub state: StateSource,
    /// The RabbitMQ version to upgrade to.
    pub target: Option<VersionText>,
    /// The baseline until now, whose findings of other vhosts stay.
    pub baseline: Option<GivenDocument>,
}

/// A baseline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BaselineText {
    /// `acemq.baseline/1`, a line for each finding, sorted.
    pub text: String,
}

impl Request for BaselineOfVhost {
    type Answer = BaselineText;
    const NAME: &'static str = "audit.baseline";
    const ABOUT: &'static str =
        "The findings of a vhost as a baseline: what is known, so that only new findings count.";
    const CODES: &'static [&'static [&'static str]] = &AUDIT_CODES;

    fn answer(self) -> Result<BaselineText, Failure> {
        let mut baseline = read_baseline(self.baseline.as_ref())?.unwrap_or_default();
        baseline.update(&reported(self.state, self.target.as_ref(), None, None)?);
        Ok(BaselineText { text: baseline.to_text() })
    }
}

/// `audit.explain`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainFinding {
    /// The code of a finding.
    pub code: String,
}

impl Request for ExplainFinding {
    type Answer = Document;
    const NAME: &'static str = "audit.explain";
    const ABOUT: &'static str = "What a code of a finding means: condition, versions, why, fix, example.";
    const CODES: &'static [&'static [&'static str]] = &[&["unknown_finding"]];

    fn answer(self) -> Result<Document, Failure> {
        let code: Result<Code, _> = self.code.parse();
        let code = code.map_err(|error| {
            Failure::one("unknown_finding", error.to_string(), "FINDINGS.md lists every code").with("code", self.code)
        })?;
        Ok(Document::of(code.about()))
    }
}

/// What draws the picture.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PictureForm {
    /// Graphviz.
    Dot,
    /// Mermaid.
    Mermaid,
    /// Nothing else is needed.
    Svg,
    /// A page with a search and the findings.
    Html,
}

/// `audit.graph`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawVhost {
    /// The vhost.
    pub state: StateSource,
    /// The RabbitMQ version to upgrade to, for the findings on the nodes.
    pub target: Option<VersionText>,
    /// What draws it.
    pub form: PictureForm,
    /// Draw every node, however many there are.
    #[serde(default)]
    pub all: bool,
}

/// A picture.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Picture {
    /// The picture as text.
    pub text: String,
}

impl Request for DrawVhost {
    type Answer = Picture;
    const NAME: &'static str = "audit.graph";
    const ABOUT: &'static str = "A picture of a vhost with dead letters and retries apart and findings on the nodes.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<Picture, Failure> {
        let (looked, options) = asked(self.state, self.target.as_ref())?;
        let graph = audit::graph(&looked.state, &options, self.all);
        let text = match self.form {
            PictureForm::Dot => graph.to_dot(),
            PictureForm::Mermaid => graph.to_mermaid(),
            PictureForm::Svg => graph.to_svg(),
            PictureForm::Html => graph.to_html(),
        };
        Ok(Picture { text })
    }
}
