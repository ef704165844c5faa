//! The session: which questions are open, what their answers open next, and when the plan stands.

use super::action::{Action, Applied, Object, Plan, PlannedDifference, Reason, Remedied, Sends, Verdict};
use super::guard::{ALTERNATE_EXCHANGE, Guards, given_type, guard_exchange};
use super::judge::{Judge, decide_sends};
use super::notes;
use super::question::{Answer, AnswerError, Ask, Question};
use crate::rabbitmq::{Broker, ExchangeDeclaration, Known, QueueDeclaration, Refusal, RefusalClass, Side, typed_value};
use crate::state::{KnownKinds, State};
use crate::topology::Tables;
use crate::value::Value;
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

/// How many times one queue is offered before the walk gives up and says "at least".
const OFFERS: u8 = 32;

/// The walk along a queue's differences: what is offered now, and what the broker has told.
#[derive(Debug, Clone)]
struct Walk {
    offered: QueueDeclaration,
    guards: Guards,
    /// Whether the passive question found the queue.
    was_there: bool,
    offers: u8,
}

#[derive(Debug, Clone)]
struct ExchangeWalk {
    offered: ExchangeDeclaration,
    was_there: bool,
    offers: u8,
}

/// What an open question is for.
#[derive(Debug)]
enum Step {
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
    judge: Judge,
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

    fn open(&mut self, action: usize, step: Step, ask: Ask) {
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

    // --- queues ---

    fn take_queue_passive(&mut self, index: usize, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Queue(queue) = &action.object else { return };
        let was_there = match answer {
            Answer::Ok { .. } => true,
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(&queue.name), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if !refusal.proves_absence() {
                    unanswered(action, &refusal, code, text);
                    return;
                }
                if !guarded {
                    self.judge.absent_queue(action, None);
                    return;
                }
                false
            }
            Answer::Failed { why } => return action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => return action.unknown(Reason::NoInspection, why),
        };
        let guards = if guarded { Guards::of(queue) } else { Guards::default() };
        let walk = Walk { offered: queue.clone(), guards, was_there, offers: 0 };
        self.offer_queue(index, walk);
    }

    fn offer_queue(&mut self, index: usize, mut walk: Walk) {
        walk.offers += 1;
        let ask = Ask::QueueOffer(walk.guards.guard(&walk.offered));
        self.open(index, Step::QueueOffer(Box::new(walk)), ask);
    }

    fn take_queue_offer(&mut self, index: usize, walk: Walk, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let (code, text) = match answer {
            Answer::Ok { .. } => {
                return match action.differences.is_empty() {
                    true => action.judge(Verdict::Present),
                    false => action.judge(Verdict::Drift),
                };
            }
            Answer::Refused { code, text, .. } => (code, text),
            // What the walk has told so far is proven; only its end is missing.
            Answer::Failed { why } if action.differences.is_empty() => {
                return action.unknown(Reason::of_failure(&why), why);
            }
            Answer::Cannot { why } if action.differences.is_empty() => {
                return action.unknown(Reason::NoInspection, why);
            }
            Answer::Failed { .. } | Answer::Cannot { .. } => {
                action.judge(Verdict::Drift);
                action.at_least = true;
                return;
            }
        };
        let known = Known { name: Some(action.object.name()), vhost: self.settings.vhost.as_deref() };
        let refusal = Refusal::read(Some(code), &text, known);
        match refusal.class {
            RefusalClass::Inequivalent => {}
            // The exclusive flag is compared before everything else. The passive question would have met another
            // connection's lock already.
            RefusalClass::Locked if walk.was_there => {}
            RefusalClass::Invalid if refusal.argument.as_deref().is_some_and(|name| walk.guards.contains(name)) => {
                // Only the guard stands against it: the queue is not there and could be created.
                return self.judge.absent_queue(action, given_type(&text));
            }
            RefusalClass::Invalid => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            RefusalClass::AccessRefused if !walk.was_there => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            _ => return unanswered(action, &refusal, code, text),
        }
        let first = action.refusal.is_none();
        if first {
            action.refusal = Some((code, text));
        }
        action.judge(Verdict::Drift);
        self.walk_on(index, walk, &refusal, guarded);
    }

    /// Notes the difference that a refusal proves, takes over what the broker has, and offers again.
    fn walk_on(&mut self, index: usize, mut walk: Walk, refusal: &Refusal, guarded: bool) {
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Queue(queue) = &action.object else { return };
        let Some(argument) = difference(refusal) else {
            action.at_least = true;
            return;
        };
        if walk.guards.contains(&argument) {
            // The queue there is of the type that compares this guard: it is no difference, and no guard.
            if action.differences.is_empty() {
                action.refusal = None;
                action.unknown(Reason::Unavailable, "not answered yet".to_owned());
            }
            walk.guards = walk.guards.without(&argument);
            if walk.guards.is_empty() || walk.offers >= OFFERS {
                action.at_least = true;
                return;
            }
            return self.offer_queue(index, walk);
        }
        let wanted = wanted_of_queue(queue, &argument);
        let current = match argument.as_str() {
            "exclusive" => Some(Some(Value::Bool(!queue.exclusive))),
            _ => current_of(refusal, &argument),
        };
        let told = current.clone().unwrap_or_else(|| printed(refusal));
        action.differences.push(PlannedDifference {
            argument: argument.clone(),
            wanted,
            current: told,
            compared: true,
            remedy: Remedied::Nothing,
        });
        let took_over = match (&current, argument.as_str()) {
            (Some(Some(Value::Bool(flag))), "durable") => assign(&mut walk.offered.durable, *flag),
            (Some(Some(Value::Bool(flag))), "auto_delete") => assign(&mut walk.offered.auto_delete, *flag),
            (Some(Some(Value::Bool(flag))), "exclusive") => assign(&mut walk.offered.exclusive, *flag),
            (Some(Some(value)), _) => {
                walk.offered.arguments.insert(argument.clone(), value.clone()) != Some(value.clone())
            }
            (Some(None), _) => walk.offered.arguments.remove(&argument).is_some(),
            (None, _) => false,
        };
        if argument == "x-queue-type" && took_over {
            walk.guards = if guarded { Guards::of(&walk.offered) } else { walk.guards };
        }
        if !took_over || refusal.truncated || !guarded || walk.guards.is_empty() || walk.offers >= OFFERS {
            action.at_least = true;
            return;
        }
        self.offer_queue(index, walk);
    }

    // --- exchanges ---

    fn take_external(&mut self, index: usize, answer: Answer) {
        let Some(action) = self.actions.get_mut(index) else { return };
        match answer {
            Answer::Ok { .. } => action.judge(Verdict::Present),
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(action.object.name()), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if refusal.proves_absence() {
                    // Nobody has declared it, and this topology must not.
                    action.judge(Verdict::Invalid);
                    action.refusal = Some((code, text));
                } else {
                    unanswered(action, &refusal, code, text);
                }
            }
            Answer::Failed { why } => action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => action.unknown(Reason::NoInspection, why),
        }
    }

    fn take_exchange_passive(&mut self, index: usize, answer: Answer) {
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Exchange(exchange) = &action.object else { return };
        match answer {
            Answer::Ok { .. } => {
                // No guard here, but the exchange is there: offering it as it is wanted creates nothing.
                let walk = ExchangeWalk { offered: exchange.clone(), was_there: true, offers: OFFERS };
                let ask = Ask::ExchangeOffer(exchange.clone());
                self.open(index, Step::ExchangeOffer(Box::new(walk)), ask);
            }
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(&exchange.name), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if refusal.proves_absence() {
                    action.judge(Verdict::Create);
                } else {
                    unanswered(action, &refusal, code, text);
                }
            }
            Answer::Failed { why } => action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => action.unknown(Reason::NoInspection, why),
        }
    }

    fn take_exchange_offer(&mut self, index: usize, mut walk: ExchangeWalk, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Exchange(exchange) = &action.object else { return };
        let (code, text) = match answer {
            // With the guard this cannot be: a stored alternate exchange is always a text.
            Answer::Ok { .. } => {
                return match action.differences.is_empty() {
                    true => action.judge(Verdict::Present),
                    false => action.judge(Verdict::Drift),
                };
            }
            Answer::Refused { code, text, .. } => (code, text),
            Answer::Failed { why } => {
                if action.differences.is_empty() {
                    action.unknown(Reason::of_failure(&why), why);
                } else {
                    action.judge(Verdict::Drift);
                    action.at_least = true;
                }
                return;
            }
            Answer::Cannot { why } => return action.unknown(Reason::NoInspection, why),
        };
        let known = Known { name: Some(&exchange.name), vhost: self.settings.vhost.as_deref() };
        let refusal = Refusal::read(Some(code), &text, known);
        match refusal.class {
            RefusalClass::Inequivalent => {}
            RefusalClass::Invalid if refusal.argument.as_deref() == Some(ALTERNATE_EXCHANGE) && guarded => {
                return action.judge(Verdict::Create);
            }
            RefusalClass::Invalid => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            _ => return unanswered(action, &refusal, code, text),
        }
        let Some(argument) = difference(&refusal) else {
            action.judge(Verdict::Drift);
            action.refusal.get_or_insert((code, text));
            action.at_least = true;
            return;
        };
        let current = current_of(&refusal, &argument);
        let wanted = wanted_of_exchange(exchange, &argument);
        if argument == ALTERNATE_EXCHANGE && guarded {
            // The guard is compared last, so everything else is equal by now, and this is the real alternate exchange.
            let Some(current) = current else {
                action.judge(if action.differences.is_empty() { Verdict::Present } else { Verdict::Drift });
                action.at_least = true;
                return;
            };
            if current != wanted {
                let as_wanted = self.judge.alternate_exchange_refusal(exchange, current.as_ref());
                if action.refusal.is_none() {
                    action.refusal = as_wanted.or(Some((code, text)));
                }
                action.differences.push(PlannedDifference {
                    argument,
                    wanted,
                    current,
                    compared: true,
                    remedy: Remedied::Nothing,
                });
            }
            action.judge(if action.differences.is_empty() { Verdict::Present } else { Verdict::Drift });
            return;
        }
        action.judge(Verdict::Drift);
        action.refusal.get_or_insert((code, text));
        let told = current.clone().unwrap_or_else(|| printed(&refusal));
        action.differences.push(PlannedDifference {
            argument: argument.clone(),
            wanted,
            current: told.clone(),
            compared: true,
            remedy: Remedied::Nothing,
        });
        let took_over = match (&told, argument.as_str()) {
            (Some(Value::Bool(flag)), "durable") => assign(&mut walk.offered.durable, *flag),
            (Some(Value::Bool(flag)), "auto_delete") => assign(&mut walk.offered.auto_delete, *flag),
            (Some(Value::Bool(flag)), "internal") => assign(&mut walk.offered.internal, *flag),
            (Some(value), "type") => match value.as_text() {
                Some(kind) => assign(&mut walk.offered.kind, kind.to_owned()),
                None => false,
            },
            _ => false,
        };
        if !took_over || refusal.truncated || !guarded || walk.offers >= OFFERS {
            action.at_least = true;
            return;
        }
        walk.offers += 1;
        walk.was_there = true;
        let ask = Ask::ExchangeOffer(guard_exchange(&walk.offered));
        self.open(index, Step::ExchangeOffer(Box::new(walk)), ask);
    }
}

/// Records an answer that tells nothing about the object itself.
fn unanswered(action: &mut Action, refusal: &Refusal, code: u16, text: String) {
    let reason = match refusal.class {
        RefusalClass::AccessRefused => Reason::AccessRefused,
        RefusalClass::Locked => Reason::Locked,
        _ => Reason::Unavailable,
    };
    if action.differences.is_empty() {
        action.unknown(reason, text.clone());
        action.refusal = Some((code, text));
    } else {
        action.judge(Verdict::Drift);
        action.at_least = true;
    }
}

/// What differs by this refusal: the argument that it names, or `exclusive` for a lock that is no other connection's.
fn difference(refusal: &Refusal) -> Option<String> {
    match refusal.class {
        RefusalClass::Locked => Some("exclusive".to_owned()),
        _ => refusal.argument.clone(),
    }
}

/// Sets `place`; whether that changed anything.
fn assign<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changed = *place != value;
    *place = value;
    changed
}

/// What the broker has, typed so that it can be sent back: `None` when the text does not tell, `Some(None)` when the
/// argument is not set there.
fn current_of(refusal: &Refusal, argument: &str) -> Option<Option<Value>> {
    if refusal.absent == Some(Side::Current) {
        return Some(None);
    }
    let printed = refusal.current.as_ref()?;
    if refusal.truncated {
        return None;
    }
    typed_value(argument, printed).map(Some)
}

/// The broker's own print of a value that cannot be typed.
fn printed(refusal: &Refusal) -> Option<Value> {
    refusal.current.as_ref().map(|printed| Value::text(printed.value.clone()))
}

fn wanted_of_queue(queue: &QueueDeclaration, argument: &str) -> Option<Value> {
    match argument {
        "durable" => Some(Value::Bool(queue.durable)),
        "auto_delete" => Some(Value::Bool(queue.auto_delete)),
        "exclusive" => Some(Value::Bool(queue.exclusive)),
        _ => queue.arguments.get(argument).cloned(),
    }
}

fn wanted_of_exchange(exchange: &ExchangeDeclaration, argument: &str) -> Option<Value> {
    match argument {
        "durable" => Some(Value::Bool(exchange.durable)),
        "auto_delete" => Some(Value::Bool(exchange.auto_delete)),
        "internal" => Some(Value::Bool(exchange.internal)),
        "type" => Some(Value::text(exchange.kind.clone())),
        _ => exchange.arguments.get(argument).cloned(),
    }
}
