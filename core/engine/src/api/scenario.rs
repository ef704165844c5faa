//! The operation `embedded.simulate`: a scenario played on the embedded broker.

use super::declared::{Document, GivenDocument, VERSION_CODES, VersionText};
use super::source::{STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::embedded::scenario::{Base, Scenario, ScenarioError};
use crate::topology::Format;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// The code of a scenario that cannot be read or played.
const SCENARIO_CODES: &[&str] = &["scenario_invalid"];

/// A scenario, in exactly one of two forms.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ScenarioSource {
    /// The text of the scenario, YAML or JSON.
    Text(String),
    /// The scenario itself.
    Document(GivenDocument),
}

/// `embedded.simulate`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Simulate {
    /// The scenario.
    pub scenario: ScenarioSource,
    /// Play by the rules of this RabbitMQ version, whatever the scenario says.
    pub rabbitmq: Option<VersionText>,
    /// What is there at the start, where the scenario only names a file.
    pub state: Option<StateSource>,
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        let failure = Self::one("scenario_invalid", error.sentence, "");
        match error.at {
            Some(at) => failure.with("at", json!(at)),
            None => failure,
        }
    }
}

impl Request for Simulate {
    type Answer = Document;
    const NAME: &'static str = "embedded.simulate";
    const ABOUT: &'static str =
        "A timeline of messages, failures and clock steps played on the embedded broker, acemq.simulation/1.";
    const CODES: &'static [&'static [&'static str]] = &{
        let [source, definitions, topology, _] = STATE_CODES;
        [SCENARIO_CODES, VERSION_CODES, source, definitions, topology]
    };

    fn answer(self) -> Result<Document, Failure> {
        let scenario = match self.scenario {
            ScenarioSource::Text(text) => Scenario::parse(text.as_bytes(), Format::Auto),
            ScenarioSource::Document(document) => Scenario::parse(document.text().as_bytes(), Format::Json),
        }?;
        let scenario = match &self.rabbitmq {
            Some(text) => scenario.for_version(VersionText::read(Some(text))?),
            None => scenario,
        };
        let base = match self.state {
            Some(source) => Base::State(Box::new(source.state()?)),
            None => Base::Own,
        };
        Ok(Document::of(&scenario.play(base)?))
    }
}
