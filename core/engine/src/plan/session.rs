//! The session: which questions are open, what their answers open next, and when the plan stands.

use super::action::{Action, Applied, Object, Plan, Reason, Sends};
use super::exchanges::ExchangeWalk;
use super::guard::guard_exchange;
use super::judge::{Judge, decide_sends};
use super::notes;
use super::question::{Answer, AnswerError, Ask, Question};
use super::queues::Walk;
use crate::rabbitmq::Broker;
use crate::state::{KnownKinds, State};
use crate::topology::Tables;
use std::collections::BTreeMap;

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Report; nothing counts as a failure.
    DryRun,
    /// Create what is missing; refuse to declare anything when something drifted or is invalid.
    #[default]
    CreateOnly,
    /// Change nothing; anything missing, different or unanswered is a failure.
    Validate,
}

impl Mode {
    /// The word that JSON and the command use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DryRun => "dry_run",
            Self::CreateOnly => "create_only",
            Self::Validate => "validate",
        }
    }
}

/// How the broker is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BrokerKind {
    /// A real broker over AMQP.
    Amqp,
    /// A real broker's management API, with or without AMQP beside it.
    Management,
    /// A definitions file.
    Definitions,
    /// The embedded broker.
    Memory,
}

impl BrokerKind {
    /// The word that JSON uses.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Amqp => "amqp",
            Self::Management => "management",
            Self::Definitions => "definitions",
            Self::Memory => "memory",
        }
    }
}

/// What a session plans for.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What the plan is for.
    pub mode: Mode,
    /// How the broker is reached.
    pub kind: BrokerKind,
    /// Product and version, from the connection's server properties or from the file.
    pub broker: Broker,
    /// The vhost, when it is known.
    pub vhost: Option<String>,
    /// What is known without asking. Kinds that it does not know are asked about, if the host can ask.
    pub state: Option<State>,
    /// Whether questions can be asked at all; `false` for a definitions file.
    pub can_ask: bool,
    /// Ask about exchanges too. An apply always does.
    pub ask_exchanges: bool,
    /// Go on to declare, once everything is judged and nothing stands against it.
    pub apply: bool,
    /// The connection that applies does not last, so exclusive queues are left to the service that owns them.
    pub skip_exclusive: bool,
    /// Whether policies can be set: only through the management API.
    pub can_set_policies: bool,
    /// Set a policy that is there with another definition.
    pub update_policies: bool,
    /// Refuse to declare anything while something that could be asked gave no answer.
    pub strict: bool,
    /// List what is there and not asked for, whoever it belongs to.
    pub list_foreign: bool,
}

impl Settings {
    /// A plan over AMQP: ask about queues, declare nothing.
    pub const fn amqp(broker: Broker) -> Self {
        Self {
            mode: Mode::CreateOnly,
            kind: BrokerKind::Amqp,
            broker,
            vhost: None,
            state: None,
            can_ask: true,
            ask_exchanges: false,
            apply: false,
            skip_exclusive: false,
            can_set_policies: false,
            update_policies: false,
            strict: false,
            list_foreign: false,
        }
    }

    /// A plan against a state that is known already; nothing is asked.
    pub fn known(kind: BrokerKind, state: State) -> Self {
        let mut settings = Self::amqp(state.broker.clone());
        settings.kind = kind;
        settings.vhost = Some(state.vhost.clone());
        settings.state = Some(state);
        settings.can_ask = false;
        settings
    }
}

/// What an open question is for.
#[derive(Debug)]
pub(super) enum Step {
    QueuePassive,
    QueueOffer(Box<Walk>),
    ExternalPassive,
    ExchangePassive,
    ExchangeOffer(Box<ExchangeWalk>),
    Send,
}

#[derive(Debug)]
struct Open {
    action: usize,
    step: Step,
    ask: Ask,
    handed_out: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Asking,
    /// Declaring one kind; the number is the rank of the kind.
    Sending(u8),
    Finished,
}

/// A plan in the making. See the [module description](super).
#[derive(Debug)]
pub struct PlanSession {
    pub(super) settings: Settings,
    pub(super) actions: Vec<Action>,
    pub(super) foreign: usize,
    open: BTreeMap<u64, Open>,
    /// Open questions that were not handed out yet, oldest first.
    fresh: std::collections::VecDeque<u64>,
    next_id: u64,
    phase: Phase,
    /// Something refused or unanswered while declaring: nothing more is sent.
    pub(super) stopped: bool,
    /// The host gave up before the end.
    pub(super) interrupted: bool,
    pub(super) judge: Judge,
}

impl PlanSession {
    /// Starts a session for the tables of a topology.
    pub fn new(tables: Tables, settings: Settings) -> Self {
        let judge = Judge::new(&settings);
        let mut session = Self {
            actions: Vec::with_capacity(
                tables.exchanges.len() + tables.policies.len() + tables.queues.len() + tables.bindings.len(),
            ),
            foreign: 0,
            open: BTreeMap::new(),
            fresh: std::collections::VecDeque::new(),
            next_id: 1,
            phase: Phase::Asking,
            stopped: false,
            interrupted: false,
            judge,
            settings,
        };
        session.judge_what_is_known(tables);
        session.ask_what_is_not();
        session.advance();
        session
    }

    fn judge_what_is_known(&mut self, tables: Tables) {
        let objects = (tables.exchanges.into_iter().map(|exchange| Object::Exchange(exchange.declaration)))
            .chain(tables.external.into_iter().map(Object::External))
            .chain(tables.policies.into_iter().map(Object::Policy))
            .chain(tables.queues.into_iter().map(|queue| Object::Queue(queue.declaration)))
            .chain(tables.bindings.into_iter().map(|binding| Object::Binding(binding.declaration)));
        self.actions.extend(objects.map(Action::new));
        if let Some(state) = &self.settings.state {
            self.judge.judge_known(state, &mut self.actions);
            let extras = self.judge.extras(state, &self.actions, self.settings.list_foreign);
            self.foreign = extras.foreign;
            self.actions.extend(extras.listed);
        }
        for index in 0..self.actions.len() {
            self.settle(index);
        }
    }

    fn ask_what_is_not(&mut self) {
        if !self.settings.can_ask {
            return;
        }
        let knows = self.settings.state.as_ref().map_or(KnownKinds::NONE, |state| state.known);
        let ask_exchanges = (self.settings.ask_exchanges || self.settings.apply) && !knows.exchanges;
        let guarded = self.settings.broker.guards_offers();
        for index in 0..self.actions.len() {
            let Some(action) = self.actions.get_mut(index) else { continue };
            let next = match &action.object {
                Object::Queue(queue) if !knows.queues => {
                    Some((Step::QueuePassive, Ask::QueuePassive(queue.name.clone())))
                }
                Object::External(exchange) if ask_exchanges => {
                    Some((Step::ExternalPassive, Ask::ExchangePassive(exchange.name.clone())))
                }
                Object::Exchange(exchange) if ask_exchanges && guarded => {
                    let walk = ExchangeWalk { offered: exchange.clone(), was_there: false, offers: 1 };
                    let ask = Ask::ExchangeOffer(guard_exchange(exchange));
                    Some((Step::ExchangeOffer(Box::new(walk)), ask))
                }
                Object::Exchange(exchange) if ask_exchanges => {
                    Some((Step::ExchangePassive, Ask::ExchangePassive(exchange.name.clone())))
                }
                _ => None,
            };
            if let Some((step, ask)) = next {
                action.unknown(Reason::Unavailable, "not answered yet".to_owned());
                self.open(index, step, ask);
            }
        }
    }

    pub(super) fn open(&mut self, action: usize, step: Step, ask: Ask) {
        let id = self.next_id;
        self.next_id += 1;
        self.open.insert(id, Open { action, step, ask, handed_out: false });
        self.fresh.push_back(id);
    }

    /// Every open question, also those that were given out before.
    pub fn questions(&self) -> Vec<Question> {
        self.open.iter().map(|(id, open)| Question { id: *id, ask: open.ask.clone() }).collect()
    }

    /// Open questions that were not given out yet, at most `limit` of them: what a host with `limit` free channels asks next.
    pub fn next_questions(&mut self, limit: usize) -> Vec<Question> {
        let mut questions = Vec::new();
        while questions.len() < limit {
            let Some(id) = self.fresh.pop_front() else { break };
            if let Some(open) = self.open.get_mut(&id) {
                open.handed_out = true;
                questions.push(Question { id, ask: open.ask.clone() });
            }
        }
        questions
    }

    /// How many questions wait for an answer.
    pub fn open_questions(&self) -> usize {
        self.open.len()
    }

    /// Whether there is nothing left to ask or to declare.
    pub fn finished(&self) -> bool {
        self.phase == Phase::Finished
    }

    /// Takes the answer to one open question.
    ///
    /// # Errors
    ///
    /// [`AnswerError::NotOpen`] when no question of that number waits for an answer.
    pub fn answer(&mut self, id: u64, answer: Answer) -> Result<(), AnswerError> {
        let open = self.open.remove(&id).ok_or(AnswerError::NotOpen(id))?;
        match open.step {
            Step::QueuePassive => self.take_queue_passive(open.action, answer),
            Step::QueueOffer(walk) => self.take_queue_offer(open.action, *walk, answer),
            Step::ExternalPassive => self.take_external(open.action, answer),
            Step::ExchangePassive => self.take_exchange_passive(open.action, answer),
            Step::ExchangeOffer(walk) => self.take_exchange_offer(open.action, *walk, answer),
            Step::Send => self.take_sent(open.action, answer),
        }
        self.settle(open.action);
        self.advance();
        Ok(())
    }

    /// Ends the session before its end, for instance because the user wants to stop. What was not asked stays unknown, what
    /// was not sent is not sent, and of what was sent without an answer it is not known whether it was made.
    pub fn interrupt(&mut self) {
        if self.finished() {
            return;
        }
        self.interrupted = true;
        self.stopped = true;
        self.fresh.clear();
        for open in std::mem::take(&mut self.open).into_values() {
            if matches!(open.step, Step::Send)
                && open.handed_out
                && let Some(action) = self.actions.get_mut(open.action)
            {
                action.applied = Some(Applied::Unanswered { why: "stopped before the answer".to_owned() });
            }
        }
        self.phase = Phase::Finished;
    }

    /// The plan as it stands; open questions leave their objects unknown.
    pub fn plan(&self) -> Plan {
        notes::explained(&self.settings, self.actions.clone(), self.foreign)
    }

    /// The plan, without a copy.
    pub fn into_plan(self) -> Plan {
        notes::explained(&self.settings, self.actions, self.foreign)
    }

    fn action(&mut self, index: usize) -> Option<&mut Action> {
        self.actions.get_mut(index)
    }

    /// Derives what an apply would send from what is known, unless something was sent already.
    fn settle(&mut self, index: usize) {
        let settings = &self.settings;
        if let Some(action) = self.actions.get_mut(index)
            && action.applied.is_none()
        {
            action.sends = decide_sends(settings, action);
        }
    }

    /// Moves on to the next kind to declare when nothing is open, or finishes.
    fn advance(&mut self) {
        while self.open.is_empty() && self.phase != Phase::Finished {
            let next = match self.phase {
                _ if self.stopped => Phase::Finished,
                Phase::Asking if self.settings.apply && self.may_declare() => Phase::Sending(0),
                Phase::Sending(rank) if rank < 3 => Phase::Sending(rank + 1),
                _ => Phase::Finished,
            };
            self.phase = next;
            if let Phase::Sending(rank) = next {
                self.send_kind(rank);
            }
        }
    }

    fn send_kind(&mut self, rank: u8) {
        for index in 0..self.actions.len() {
            let Some(action) = self.actions.get(index) else { continue };
            if action.sends == Sends::Nothing {
                continue;
            }
            let ask = match (&action.object, rank) {
                (Object::Exchange(exchange), 0) => Ask::DeclareExchange(exchange.clone()),
                (Object::Policy(policy), 1) => Ask::SetPolicy(policy.clone()),
                (Object::Queue(queue), 2) => Ask::DeclareQueue(queue.clone()),
                (Object::Binding(binding), 3) => Ask::Bind(binding.clone()),
                _ => continue,
            };
            self.open(index, Step::Send, ask);
        }
    }

    fn take_sent(&mut self, index: usize, answer: Answer) {
        let applied = match answer {
            Answer::Ok { .. } => Applied::Done,
            Answer::Refused { code, text, .. } => Applied::Refused { code, text },
            Answer::Failed { why } | Answer::Cannot { why } => Applied::Unanswered { why },
        };
        if applied != Applied::Done {
            self.stopped = true;
            // What was not given out yet is not sent any more; what was still gets its answer.
            self.open.retain(|_, open| open.handed_out);
            self.fresh.clear();
        }
        if let Some(action) = self.action(index) {
            action.applied = Some(applied);
        }
    }
}
