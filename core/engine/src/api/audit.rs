//! Operations of the audit.

use super::declared::{Document, VersionText};
use super::source::{STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::audit::{self, Code, Options};
use crate::state::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state, and what the audit is asked about it: a topology is only part of what a vhost will hold.
fn asked(state: StateSource, target: Option<&VersionText>) -> Result<(State, Options), Failure> {
    let partial = state.topology.is_some();
    let target = target.map(|text| VersionText::read(Some(text))).transpose()?;
    Ok((state.state()?, Options { target, partial }))
}

/// `audit.check`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditVhost {
    /// The vhost.
    pub state: StateSource,
    /// The RabbitMQ version to upgrade to.
    pub target: Option<VersionText>,
}

impl Request for AuditVhost {
    type Answer = Document;
    const NAME: &'static str = "audit.check";
    const ABOUT: &'static str =
        "What is wrong with a vhost, each finding with the message that shows it, acemq.audit/1.";
    const CODES: &'static [&'static [&'static str]] = &STATE_CODES;

    fn answer(self) -> Result<Document, Failure> {
        let (state, options) = asked(self.state, self.target.as_ref())?;
        Ok(Document::of(&audit::audit(&state, &options).to_document()))
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
        let (state, options) = asked(self.state, self.target.as_ref())?;
        let graph = audit::graph(&state, &options, self.all);
        let text = match self.form {
            PictureForm::Dot => graph.to_dot(),
            PictureForm::Mermaid => graph.to_mermaid(),
            PictureForm::Svg => graph.to_svg(),
            PictureForm::Html => graph.to_html(),
        };
        Ok(Picture { text })
    }
}
