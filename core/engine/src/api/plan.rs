//! The operation `plan.session`: a plan session without state: the topology, the settings and all answers so far give the questions and the plan.
//!
//! The bindings hold a session as a handle; this is the same session, replayed.

use super::declared::{Document, VERSION_CODES, VersionText};
use super::topology::{TOPOLOGY_CODES, TopologySource};
use super::{Failure, Request};
use crate::plan::{Answer, Mode, PlanSession, Settings, Style};
use crate::rabbitmq::{Broker, Product};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// `plan.session`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSession {
    /// The topology.
    pub topology: TopologySource,
    /// `dry_run`, `create_only` (unless said) or `validate`.
    #[serde(default)]
    pub mode: ModeName,
    /// The `product` of the connection's server properties; RabbitMQ unless said.
    pub product: Option<String>,
    /// The `version` of the connection's server properties.
    pub version: Option<VersionText>,
    /// The vhost of the connection.
    pub vhost: Option<String>,
    /// Ask about exchanges too.
    #[serde(default)]
    pub exchanges: bool,
    /// Go on to declare.
    #[serde(default)]
    pub apply: bool,
    /// Leave exclusive queues to the service that owns them.
    #[serde(default)]
    pub skip_exclusive: bool,
    /// Policies can be set.
    #[serde(default)]
    pub can_set_policies: bool,
    /// Set policies that are there with another definition.
    #[serde(default)]
    pub update_policies: bool,
    /// Declare nothing while an answer is missing.
    #[serde(default)]
    pub strict: bool,
    /// Answers in the order in which they came.
    #[serde(default)]
    pub answers: Vec<Json>,
    /// Wrap the text at this many columns.
    pub width: Option<usize>,
}

/// What a plan is for.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// Report; nothing counts as a failure.
    DryRun,
    /// Create what is missing.
    #[default]
    CreateOnly,
    /// Change nothing.
    Validate,
}

/// Where a session stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionAnswer {
    /// Nothing is left to ask or to declare.
    pub finished: bool,
    /// Every open question.
    pub questions: Vec<Document>,
    /// The plan, acemq.plan/1.
    pub plan: Document,
    /// The plan in the plan style, wrapped at `width`.
    pub text: String,
    /// The plan in the lines style.
    pub lines: String,
    /// One line for everything that drifted.
    pub drift: String,
    /// What kept a finished apply from doing everything.
    pub error: Option<String>,
}

impl Request for RunSession {
    type Answer = SessionAnswer;
    const NAME: &'static str = "plan.session";
    const ABOUT: &'static str =
        "A plan session from its start through all answers so far: open questions, plan and renderings.";
    const CODES: &'static [&'static [&'static str]] = &[TOPOLOGY_CODES, VERSION_CODES, &["answer_refused"]];

    fn answer(self) -> Result<SessionAnswer, Failure> {
        let settings = self.settings()?;
        let mut session = PlanSession::new(self.topology.tables()?, settings);
        for (index, answer) in self.answers.into_iter().enumerate() {
            // The host has seen every question that was open before this answer.
            let _ = session.next_questions(usize::MAX);
            Answer::from_json(answer).and_then(|(id, answer)| session.answer(id, answer)).map_err(|error| {
                let help = "give the answers in the order in which they came, each once";
                Failure::one("answer_refused", format!("answers[{index}]: {error}"), help).with("index", index)
            })?;
        }
        let questions = session.questions();
        let finished = session.finished();
        let error = finished.then(|| session.apply_error()).flatten().map(|error| error.to_string());
        let plan = session.into_plan();
        Ok(SessionAnswer {
            finished,
            questions: questions.iter().map(|question| Document::of(&question.to_document())).collect(),
            text: plan.render(Style::Plan, self.width),
            lines: plan.render(Style::Lines, None),
            drift: plan.render_drift(),
            plan: Document::of(&plan.to_document()),
            error,
        })
    }
}

impl RunSession {
    fn settings(&self) -> Result<Settings, Failure> {
        let version = match &self.version {
            Some(text) => Some(VersionText::read(Some(text))?),
            None => None,
        };
        let product = self.product.as_deref().map_or(Product::RabbitMq, Product::from_name);
        let mut settings = Settings::amqp(Broker { product, version });
        settings.mode = match self.mode {
            ModeName::DryRun => Mode::DryRun,
            ModeName::CreateOnly => Mode::CreateOnly,
            ModeName::Validate => Mode::Validate,
        };
        settings.vhost.clone_from(&self.vhost);
        settings.ask_exchanges = self.exchanges;
        settings.apply = self.apply;
        settings.skip_exclusive = self.skip_exclusive;
        settings.can_set_policies = self.can_set_policies;
        settings.update_policies = self.update_policies;
        settings.strict = self.strict;
        Ok(settings)
    }
}
