//! Plan sessions: [`SessionHandle`], which a binding holds and answers question by question, and the operation
//! `plan.session`, which is the same session replayed: the topology, the settings and all answers so far give the questions
//! and the plan.

use super::declared::{Document, VERSION_CODES, VersionText};
use super::request::{read, write};
use super::topology::{TOPOLOGY_CODES, TopologySource};
use super::{Failure, Request};
use crate::plan::{Answer, Mode, PlanSession, Question, Settings, Style};
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
    /// `text` without its notes.
    pub block: String,
    /// `lines` without its notes.
    pub lines_block: String,
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
        Ok(SessionHandle::start(self)?.answer_so_far())
    }
}

/// A plan session that is kept: the coarse form of [`PlanSession`] that bindings hold.
///
/// ```
/// use acemq_core::api::SessionHandle;
///
/// let mut session = SessionHandle::new(r#"{"topology": {"text": "queues: { orders: {} }"}, "version": "4.0.5"}"#).unwrap();
/// assert!(session.questions().contains(r#""ask":"queue_passive","name":"orders""#));
/// session.answer(r#"{"id": 1, "failed": "the connection was lost"}"#).unwrap();
/// assert!(session.finished());
/// assert!(session.state().contains("unknown  queue orders (quorum)"));
/// ```
#[derive(Debug)]
pub struct SessionHandle {
    session: PlanSession,
    width: Option<usize>,
}

impl SessionHandle {
    const NAME: &'static str = RunSession::NAME;

    /// Starts a session from the input of `plan.session`. Answers in it are taken at once, so that a session can be gone on
    /// with from what was recorded.
    ///
    /// # Errors
    /// When the JSON is no such input, when the topology has problems, and when an answer is refused.
    pub fn new(input: &str) -> Result<Self, Failure> {
        Self::start(read(Self::NAME, input)?)
    }

    fn start(request: RunSession) -> Result<Self, Failure> {
        let settings = request.settings()?;
        let width = request.width;
        let mut handle = Self { session: PlanSession::new(request.topology.tables()?, settings), width };
        for (index, answer) in request.answers.into_iter().enumerate() {
            // The host has seen every question that was open before this answer.
            handle.session.next_questions(usize::MAX);
            handle.take(answer, &format!("answers[{index}]")).map_err(|failure| failure.with("index", index))?;
        }
        Ok(handle)
    }

    fn take(&mut self, answer: Json, what: &str) -> Result<(), Failure> {
        Answer::from_json(answer).and_then(|(id, answer)| self.session.answer(id, answer)).map_err(|error| {
            let help = "give the answers in the order in which they came, each once";
            Failure::one("answer_refused", format!("{what}: {error}"), help)
        })
    }

    /// Every open question, as a list of documents `{"id", "ask", "name", "declaration"}`.
    pub fn questions(&mut self) -> String {
        // Whoever has seen a question may have asked it.
        self.session.next_questions(usize::MAX);
        listed(&self.session.questions())
    }

    /// Open questions that were not given out yet, at most `limit`: what a host with that many free channels asks next.
    pub fn next_questions(&mut self, limit: usize) -> String {
        listed(&self.session.next_questions(limit))
    }

    /// Takes one answer: `{"id"}` with exactly one of `ok`, `refused`, `failed` and `cannot`.
    ///
    /// # Errors
    /// When it is no answer, or no question of that number is open; the session stays as it was.
    pub fn answer(&mut self, answer: &str) -> Result<(), Failure> {
        let json: Json = serde_json::from_str(answer).map_err(|error| {
            Failure::one("answer_refused", format!("this is no answer: {error}"), "give one JSON object")
        })?;
        self.take(json, "answer")
    }

    /// Ends the session before its end: what was not asked stays unknown, what was not sent is not sent.
    pub fn interrupt(&mut self) {
        self.session.interrupt();
    }

    /// Whether nothing is left to ask or to declare.
    pub fn finished(&self) -> bool {
        self.session.finished()
    }

    /// Where the session stands: the output of `plan.session`, at any time.
    pub fn state(&self) -> String {
        // Such a document cannot fail to be written.
        write(Self::NAME, &self.answer_so_far()).unwrap_or_default()
    }

    /// The session itself.
    pub fn session(&mut self) -> &mut PlanSession {
        &mut self.session
    }

    fn answer_so_far(&self) -> SessionAnswer {
        let finished = self.session.finished();
        let plan = self.session.plan();
        SessionAnswer {
            finished,
            questions: self.session.questions().iter().map(|question| Document::of(&question.to_document())).collect(),
            text: plan.render(Style::Plan, self.width),
            lines: plan.render(Style::Lines, None),
            block: plan.render_block(Style::Plan, self.width),
            lines_block: plan.render_block(Style::Lines, None),
            drift: plan.render_drift(),
            plan: Document::of(&plan.to_document()),
            error: finished.then(|| self.session.apply_error()).flatten().map(|error| error.to_string()),
        }
    }
}

fn listed(questions: &[Question]) -> String {
    let documents: Vec<_> = questions.iter().map(Question::to_document).collect();
    serde_json::to_string(&documents).unwrap_or_default()
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
