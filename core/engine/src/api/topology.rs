//! Operations on topology documents.

use super::declared::{Document, GivenDocument};
use super::names::NAME_CODES;
use super::retry::POLICY_CODES;
use super::{Failure, FailureProblem, Request};
use crate::retry::RetryForm;
use crate::topology::{CheckDocument, Format, Problem, ProblemCode, Tables, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The codes of problems that stop a topology.
pub(super) const TOPOLOGY_CODES: &[&str] = &{
    let mut codes = [""; ProblemCode::ALL.len()];
    let mut index = 0;
    while index < codes.len() {
        // Both arrays have this length.
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            codes[index] = ProblemCode::ALL[index].as_str();
        }
        index += 1;
    }
    codes
};

/// A topology, in exactly one of three forms.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TopologySource {
    /// The text of the document, YAML or JSON.
    Text(String),
    /// The document itself.
    Document(GivenDocument),
    /// What a builder collected.
    Built(BuiltTopology),
}

/// What a builder collected: a document, and what was asked for its queues by name, before or after they were declared.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuiltTopology {
    /// The document.
    pub document: GivenDocument,
    /// Bodies of queues with their `name`, in the order in which they were asked for: each is added to the queue of that name.
    #[serde(default)]
    pub settings: Vec<GivenDocument>,
}

impl TopologySource {
    pub(super) fn parse(self) -> Result<Topology, Vec<Problem>> {
        match self {
            Self::Text(text) => Topology::parse(text.as_bytes(), Format::Auto),
            Self::Document(document) => Topology::parse(document.text().as_bytes(), Format::Json),
            Self::Built(BuiltTopology { document, settings }) => {
                let settings: Vec<&str> = settings.iter().map(GivenDocument::text).collect();
                Topology::parse_built(document.text(), &format!("[{}]", settings.join(",")))
            }
        }
    }

    /// The text, where it was given as one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Document(_) | Self::Built(_) => None,
        }
    }

    pub(super) fn tables(self) -> Result<Tables, Failure> {
        self.parse().and_then(Topology::into_tables).map_err(|problems| {
            let errors = problems.into_iter().filter(Problem::is_error).map(FailureProblem::from);
            Failure::of(errors).unwrap_or_else(|| {
                Failure::one("internal", "the document was refused without a reason", "report this with the document")
            })
        })
    }
}

impl From<Problem> for FailureProblem {
    fn from(problem: Problem) -> Self {
        let mut fields = problem.fields;
        fields.insert("object".to_owned(), json!(problem.object));
        fields.insert("at".to_owned(), json!(problem.at));
        Self { code: problem.code.as_str().to_owned(), fields, message: problem.message, help: problem.help }
    }
}

/// `topology.check`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckTopology {
    /// The topology.
    pub topology: TopologySource,
}

impl Request for CheckTopology {
    type Answer = Document;
    const NAME: &'static str = "topology.check";
    const ABOUT: &'static str = "Every problem and warning of a topology document, acemq.check/1.";
    const CODES: &'static [&'static [&'static str]] = &[];

    fn answer(self) -> Result<Document, Failure> {
        let problems = match self.topology.parse() {
            Ok(topology) => topology.check(),
            Err(problems) => problems,
        };
        Ok(Document::of(&CheckDocument::new(&problems)))
    }
}

/// `topology.tables`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TablesOfTopology {
    /// The topology.
    pub topology: TopologySource,
}

impl Request for TablesOfTopology {
    type Answer = Document;
    const NAME: &'static str = "topology.tables";
    const ABOUT: &'static str = "The canonical argument tables of a topology document, acemq.tables/1.";
    const CODES: &'static [&'static [&'static str]] = &[TOPOLOGY_CODES];

    fn answer(self) -> Result<Document, Failure> {
        Ok(Document::of(&self.topology.tables()?.to_document()))
    }
}

/// `topology.show`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowTopology {
    /// The topology.
    pub topology: TopologySource,
}

/// What a topology intends.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShownTopology {
    /// One line for each declaration, after a line that counts them.
    pub text: String,
}

impl Request for ShowTopology {
    type Answer = ShownTopology;
    const NAME: &'static str = "topology.show";
    const ABOUT: &'static str = "What a topology document intends, as text.";
    const CODES: &'static [&'static [&'static str]] = &[TOPOLOGY_CODES];

    fn answer(self) -> Result<ShownTopology, Failure> {
        Ok(ShownTopology { text: self.topology.tables()?.intent() })
    }
}

/// `topology.consumer`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerDeclarations {
    /// The queue that is consumed.
    pub queue: String,
    /// Its retry policy, as text or mapping; none declares no rungs.
    pub policy: Option<RetryForm>,
}

impl Request for ConsumerDeclarations {
    type Answer = Document;
    const NAME: &'static str = "topology.consumer";
    const ABOUT: &'static str =
        "What a consumer declares when it starts, acemq.tables/1: never the queue that it consumes.";
    const CODES: &'static [&'static [&'static str]] = &[NAME_CODES, POLICY_CODES];

    fn answer(self) -> Result<Document, Failure> {
        let policy = self.policy.as_ref().map(RetryForm::policy).transpose()?;
        let tables = Topology::consumer_declarations(&self.queue, policy.as_ref()).map_err(|errors| {
            let problems = errors.into_iter().map(FailureProblem::from);
            Failure::of(problems).unwrap_or_else(|| {
                Failure::one("internal", "the queue was refused without a reason", "report this with its name")
            })
        })?;
        Ok(Document::of(&tables.to_document()))
    }
}
