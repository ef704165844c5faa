//! Playing a scenario on the embedded broker.

use super::expect::check;
use super::form::{CloseForm, PublishForm, RefusalForm, SettleForm};
use super::report::{MessageReport, QueueReport, Report, StepOutcome, StepReport, StoryLine};
use super::step::{Action, PolicyKind, Settle, Step};
use super::text::{exchange, names, shown, told, told_by};
use super::{Base, Refusal, Scenario, ScenarioError, Stage};
use crate::embedded::{ChannelId, ConnectionId, Delivery, EmbeddedBroker, Event, MessageId, Publication, Subscription};
use crate::rabbitmq::{Refused, closed_channel};
use crate::topology::Tables;
use std::collections::{BTreeMap, VecDeque};

/// The embedded broker before anything happens.
pub(super) fn broker(scenario: &Scenario, base: &Base) -> EmbeddedBroker {
    let mut broker = match base {
        Base::State(state) => EmbeddedBroker::with_state(scenario.conditions(), state),
        Base::Own | Base::Tables(_) => EmbeddedBroker::new(scenario.conditions()),
    }
    .starting_at(scenario.start.saturating_mul(1000));
    broker.keep_history();
    broker
}

/// Plays on a stage that shows nothing yet but what [`broker`] made.
pub(super) fn play<S: Stage>(
    scenario: &Scenario,
    base: &Base,
    own: Option<&Tables>,
    stage: &mut S,
) -> Result<Report, ScenarioError> {
    let declarer = stage.connect();
    let given = match base {
        Base::Tables(tables) => Some(tables),
        Base::Own | Base::State(_) => None,
    };
    for tables in [given, own].into_iter().flatten() {
        stage.declare_all(declarer.into(), tables).map_err(|error| ScenarioError::new(error.to_string()))?;
        for policy in &tables.policies {
            stage.set_policy(policy.clone());
        }
    }
    let mut player = Player {
        start: stage.broker().now(),
        stage,
        connection: None,
        channels: BTreeMap::new(),
        names: BTreeMap::new(),
        returned: Vec::new(),
        steps: Vec::new(),
    };
    for step in scenario.steps.iter().filter(|step| step.is_for(scenario.version)) {
        let report = player.play_step(step);
        player.steps.push(report);
    }
    Ok(player.report(scenario))
}

/// A stage in the middle of a scenario.
pub(super) struct Player<'a, S> {
    stage: &'a mut S,
    /// When the scenario started, on the broker's clock.
    start: u64,
    connection: Option<ConnectionId>,
    channels: BTreeMap<String, Channel>,
    pub(super) names: BTreeMap<MessageId, String>,
    /// Mandatory messages that came back since the last expectation.
    pub(super) returned: Vec<String>,
    steps: Vec<StepReport>,
}

struct Channel {
    id: ChannelId,
    /// Deliveries that wait for their acknowledgement, oldest first.
    held: VecDeque<(u64, MessageId)>,
}

/// What a step did, while it is being done.
#[derive(Default)]
struct Doing {
    details: Vec<String>,
    faults: Vec<String>,
    deliveries: u64,
    redelivered: u64,
}

impl<S: Stage> Player<'_, S> {
    /// What there is to be seen.
    pub(super) fn broker(&self) -> &EmbeddedBroker {
        self.stage.broker()
    }

    fn play_step(&mut self, step: &Step) -> StepReport {
        let mut doing = Doing::default();
        if let Some(at) = step.at {
            self.move_to(at, &mut doing);
        }
        let at_ms = self.broker().now().saturating_sub(self.start);
        let words = match &step.action {
            Some(action) => words(action),
            None => "time passes".to_owned(),
        };
        let answer = match &step.action {
            Some(action) => self.act(step, action, &mut doing),
            None => Ok(()),
        };
        self.collect(&mut doing);
        let refusal = answer.as_ref().err().map(Refusal::from);
        let outcome = judge(step.refused.as_ref(), refusal.as_ref(), &mut doing.faults);
        let mut details = doing.details;
        details.append(&mut doing.faults);
        StepReport {
            at_ms,
            step: words,
            outcome,
            details,
            refusal,
            deliveries: doing.deliveries,
            redelivered: doing.redelivered,
        }
    }

    fn move_to(&mut self, at: u64, doing: &mut Doing) {
        let now = self.broker().now().saturating_sub(self.start);
        match at.checked_sub(now) {
            Some(ahead) => self.stage.advance(ahead),
            None => doing.faults.push(format!("it is {now} ms already, later than the step's time of {at} ms")),
        }
    }

    fn act(&mut self, step: &Step, action: &Action, doing: &mut Doing) -> Result<(), Refused> {
        let channel = step.channel.as_str();
        match action {
            Action::Publish(form) => self.publish(channel, form, doing),
            Action::Get(form) => {
                let id = self.channel(channel)?;
                let delivery = self.stage.get(id, &form.queue, form.no_ack)?;
                match delivery {
                    Some(delivery) => self.received(channel, &delivery, form.no_ack, doing),
                    None => doing.details.push(format!("{} has nothing ready", shown(&form.queue))),
                }
                Ok(())
            }
            Action::Consume(form) => {
                let id = self.channel(channel)?;
                let subscription = Subscription {
                    queue: form.queue.clone(),
                    tag: form.tag.clone(),
                    no_ack: form.no_ack,
                    exclusive: form.exclusive,
                    arguments: form.arguments.clone(),
                };
                self.stage.consume(id, &subscription).map(drop)
            }
            Action::Cancel(tag) => {
                let id = self.channel(channel)?;
                self.stage.cancel(id, tag)
            }
            Action::Prefetch(form) => {
                let id = self.channel(channel)?;
                self.stage.qos(id, form.count, form.global)
            }
            Action::Settle(how, form) => self.settle(channel, *how, form, doing),
            Action::Recover => {
                let id = self.channel(channel)?;
                if let Some(channel) = self.channels.get_mut(channel) {
                    channel.held.clear();
                }
                self.stage.recover(id)
            }
            Action::Declare(tables) => {
                let id = self.channel(channel)?;
                self.stage.declare_all(id.into(), tables).map_err(|error| error.refused)?;
                for policy in &tables.policies {
                    self.stage.set_policy(policy.clone());
                }
                Ok(())
            }
            Action::Bind(binding) => {
                let id = self.channel(channel)?;
                self.stage.bind(id, binding)
            }
            Action::Unbind(binding) => {
                let id = self.channel(channel)?;
                self.stage.unbind(id, binding)
            }
            Action::DeleteQueue(queue, condition) => {
                let id = self.channel(channel)?;
                let lost = self.stage.delete_queue(id, queue, *condition)?;
                doing.details.push(format!("{lost} messages went with it"));
                Ok(())
            }
            Action::DeleteExchange(exchange, if_unused) => {
                let id = self.channel(channel)?;
                self.stage.delete_exchange(id, exchange, *if_unused)
            }
            Action::Purge(queue) => {
                let id = self.channel(channel)?;
                let purged = self.stage.purge(id, queue)?;
                doing.details.push(format!("{purged} messages were thrown away"));
                Ok(())
            }
            Action::SetPolicy(kind, policy) => {
                match kind {
                    PolicyKind::User => self.stage.set_policy(policy.clone()),
                    PolicyKind::Operator => self.stage.set_operator_policy(policy.clone()),
                }
                Ok(())
            }
            Action::ClearPolicy(kind, name) => {
                let cleared = match kind {
                    PolicyKind::User => self.stage.clear_policy(name),
                    PolicyKind::Operator => self.stage.clear_operator_policy(name),
                };
                if !cleared {
                    doing.faults.push("there is no policy of that name".to_owned());
                }
                Ok(())
            }
            Action::Close(CloseForm::Channel) => {
                if let Some(channel) = self.channels.remove(channel) {
                    self.stage.close_channel(channel.id);
                }
                Ok(())
            }
            Action::Close(CloseForm::Connection) => {
                self.channels.clear();
                if let Some(connection) = self.connection.take() {
                    self.stage.disconnect(connection);
                }
                Ok(())
            }
            Action::Advance(milliseconds) => {
                self.stage.advance(*milliseconds);
                Ok(())
            }
            Action::Repeat(times, steps) => {
                self.repeat(*times, steps, doing);
                Ok(())
            }
            Action::Expect(form) => {
                check(self, form, &mut doing.faults);
                self.returned.clear();
                Ok(())
            }
        }
    }

    fn publish(&mut self, channel: &str, form: &PublishForm, doing: &mut Doing) -> Result<(), Refused> {
        let id = self.channel(channel)?;
        let mut publication = Publication::new(form.exchange.clone(), form.key.clone(), form.body.clone());
        publication.mandatory = form.mandatory;
        publication.properties.headers = form.headers.clone();
        publication.properties.priority = form.priority;
        publication.properties.expiration = form.expiration.map(|duration| duration.0.to_string());
        let published = self.stage.publish(id, publication)?;
        let name = label(form, published.message);
        if published.returned {
            self.returned.push(name.clone());
        }
        self.names.insert(published.message, name);
        let to = if published.queues.is_empty() { "no queue".to_owned() } else { names(&published.queues) };
        let confirm = if published.confirmed { "" } else { "; negative confirm: a queue is full" };
        let returned = if published.returned { "; returned: 312 NO_ROUTE" } else { "" };
        doing.details.push(format!("to {to}{confirm}{returned}"));
        Ok(())
    }

    fn settle(&mut self, channel: &str, how: Settle, form: &SettleForm, doing: &mut Doing) -> Result<(), Refused> {
        let id = self.channel(channel)?;
        let names = &self.names;
        let Some(open) = self.channels.get_mut(channel) else { return Ok(()) };
        let is_meant = |message: &MessageId| match &form.message {
            Some(wanted) => names.get(message) == Some(wanted),
            None => true,
        };
        let Some(at) = open.held.iter().position(|(_, message)| is_meant(message)) else {
            let what = form.message.as_ref().map_or_else(|| "nothing".to_owned(), |name| format!("no {}", shown(name)));
            doing.faults.push(format!("the channel holds {what} to settle"));
            return Ok(());
        };
        let Some((tag, message)) = open.held.remove(at) else { return Ok(()) };
        if form.multiple {
            open.held.retain(|(held, _)| *held > tag);
        }
        doing.details.push(names.get(&message).map(|name| shown(name)).unwrap_or_default());
        match how {
            Settle::Ack => self.stage.ack(id, tag, form.multiple),
            Settle::Nack => self.stage.nack(id, tag, form.multiple, form.requeue),
            Settle::Reject => self.stage.reject(id, tag, form.requeue),
        }
    }

    /// Steps again and again, told as one: only what fails is told in full.
    fn repeat(&mut self, times: u32, steps: &[Step], doing: &mut Doing) {
        const TOLD: usize = 5;
        let mut failed = 0usize;
        for round in 1..=times {
            let version = self.broker().conditions().version;
            for step in steps.iter().filter(|step| step.is_for(version)) {
                let report = self.play_step(step);
                doing.deliveries = doing.deliveries.saturating_add(report.deliveries);
                doing.redelivered = doing.redelivered.saturating_add(report.redelivered);
                if report.outcome == StepOutcome::Failed {
                    failed += 1;
                    if failed <= TOLD {
                        let details = report.details.join("; ");
                        doing.faults.push(format!("round {round}: {}: {details}", report.step));
                    }
                }
            }
        }
        if failed > TOLD {
            doing.faults.push(format!("and {} more steps failed", failed - TOLD));
        }
        doing.details.push(format!("{} deliveries, {} of them redelivered", doing.deliveries, doing.redelivered));
    }

    /// The channel of that name, opened when it is not there or was closed.
    fn channel(&mut self, name: &str) -> Result<ChannelId, Refused> {
        if let Some(channel) = self.channels.get(name).filter(|channel| self.broker().is_open(channel.id)) {
            return Ok(channel.id);
        }
        let connection = match self.connection.filter(|connection| self.broker().is_open(*connection)) {
            Some(connection) => connection,
            None => *self.connection.insert(self.stage.connect()),
        };
        let id = self.stage.open_channel(connection).map_err(|_| closed_channel())?;
        self.channels.insert(name.to_owned(), Channel { id, held: VecDeque::new() });
        Ok(id)
    }

    fn received(&mut self, channel: &str, delivery: &Delivery, no_ack: bool, doing: &mut Doing) {
        doing.deliveries += 1;
        doing.redelivered += u64::from(delivery.redelivered);
        let name = self.names.get(&delivery.message).map(|name| shown(name)).unwrap_or_default();
        let again = if delivery.redelivered { ", redelivered" } else { "" };
        let who = delivery.consumer_tag.as_ref().map_or_else(|| "got".to_owned(), |tag| format!("{} gets", shown(tag)));
        doing.details.push(format!("{who} {name}{again}"));
        if let Some(channel) = self.channels.get_mut(channel).filter(|_| !no_ack) {
            channel.held.push_back((delivery.delivery_tag, delivery.message));
        }
    }

    /// What consumers got meanwhile.
    fn collect(&mut self, doing: &mut Doing) {
        let open: Vec<(String, ChannelId)> =
            self.channels.iter().map(|(name, channel)| (name.clone(), channel.id)).collect();
        for (name, id) in open {
            if !self.broker().is_open(id) {
                self.channels.remove(&name);
                continue;
            }
            for event in self.stage.take_events(id) {
                match event {
                    Event::Delivered(delivery) => {
                        let no_ack = !self.broker().awaits(id, delivery.delivery_tag);
                        self.received(&name, &delivery, no_ack, doing);
                    }
                    Event::Cancelled { consumer_tag } => {
                        doing.details.push(format!("{} is cancelled: its queue is gone", shown(&consumer_tag)));
                    }
                }
            }
        }
    }

    fn report(self, scenario: &Scenario) -> Report {
        let state = self.broker().state();
        let label = |message: &MessageId| self.names.get(message).cloned().unwrap_or_default();
        let mut places: BTreeMap<MessageId, Vec<String>> = BTreeMap::new();
        let mut headers = BTreeMap::new();
        let mut queues = Vec::new();
        for (name, declaration) in &state.queues {
            let Some(contents) = self.broker().contents(name) else { continue };
            for message in &contents.ready {
                places.entry(message.message).or_default().push(name.clone());
                headers.entry(message.message).or_insert_with(|| message.properties.headers.clone());
            }
            queues.push(QueueReport {
                name: name.clone(),
                r#type: declaration.type_name().to_owned(),
                ready: contents.ready.iter().map(|message| label(&message.message)).collect(),
                unacknowledged: contents.unacknowledged,
                waiting: contents.waiting.iter().map(|message| label(&message.message)).collect(),
            });
        }
        let version = self.broker().conditions().version;
        let mut stories: BTreeMap<MessageId, Vec<StoryLine>> = BTreeMap::new();
        for happening in self.broker().history() {
            if let Some(message) = happening.message {
                let line =
                    StoryLine { at_ms: happening.at.saturating_sub(self.start), what: told_by(version, happening) };
                stories.entry(message).or_default().push(line);
            }
        }
        let messages = self
            .names
            .iter()
            .map(|(message, name)| MessageReport {
                name: name.clone(),
                queues: places.remove(message).unwrap_or_default(),
                headers: headers.remove(message),
                story: told(stories.remove(message).unwrap_or_default()),
            })
            .collect();
        Report {
            format: "acemq.simulation/1",
            rabbitmq: scenario.version.to_string(),
            ended_at_ms: self.broker().now().saturating_sub(self.start),
            failed: self.steps.iter().filter(|step| step.outcome == StepOutcome::Failed).count(),
            uncertain: self.broker().uncertainties(),
            steps: self.steps,
            queues,
            messages,
        }
    }
}

/// What the scenario calls a message: its name, else its body, else its number.
fn label(form: &PublishForm, message: MessageId) -> String {
    match &form.name {
        Some(name) => name.clone(),
        None if form.body.is_empty() => format!("#{}", message.0),
        None => form.body.clone(),
    }
}

fn judge(expected: Option<&RefusalForm>, refusal: Option<&Refusal>, faults: &mut Vec<String>) -> StepOutcome {
    match (expected, refusal) {
        (None, None) => {}
        (None, Some(_)) => faults.push("the broker refused it".to_owned()),
        (Some(_), None) => faults.push("the broker was to refuse it, and did not".to_owned()),
        (Some(expected), Some(refusal)) => {
            let (code, text) = match expected {
                RefusalForm::Code(code) => (*code, None),
                RefusalForm::Whole { code, text } => (*code, text.as_ref()),
            };
            if code != refusal.code {
                faults.push(format!("expected {code}"));
            }
            if let Some(text) = text.filter(|text| **text != refusal.text) {
                faults.push(format!("expected the text {}", shown(text)));
            }
        }
    }
    match (faults.is_empty(), refusal) {
        (false, _) => StepOutcome::Failed,
        (true, Some(_)) => StepOutcome::Refused,
        (true, None) => StepOutcome::Done,
    }
}

/// A step in words.
fn words(action: &Action) -> String {
    match action {
        Action::Publish(form) => {
            let what = form.name.as_deref().unwrap_or(&form.body);
            format!("publish {} to {} [{}]", shown(what), exchange(&form.exchange), shown(&form.key))
        }
        Action::Get(form) => format!("get from {}", shown(&form.queue)),
        Action::Consume(form) => format!("consume from {} as {}", shown(&form.queue), shown(&form.tag)),
        Action::Cancel(tag) => format!("cancel {}", shown(tag)),
        Action::Prefetch(form) => {
            format!("prefetch {}{}", form.count, if form.global { " for the channel" } else { "" })
        }
        Action::Settle(how, form) => {
            let what = form.message.as_deref().unwrap_or("what was held longest");
            let verb = match how {
                Settle::Ack => "ack",
                Settle::Nack => "nack",
                Settle::Reject => "reject",
            };
            let multiple = if form.multiple { " and everything before it" } else { "" };
            let requeue = if form.requeue { ", back to the queue" } else { "" };
            format!("{verb} {}{multiple}{requeue}", shown(what))
        }
        Action::Recover => "recover: put back what the channel holds".to_owned(),
        Action::Declare(tables) => format!(
            "declare {} exchanges, {} queues, {} bindings",
            tables.exchanges.len(),
            tables.queues.len(),
            tables.bindings.len()
        ),
        Action::Bind(binding) => format!("bind {} to {}", shown(&binding.destination), exchange(&binding.source)),
        Action::Unbind(binding) => format!("unbind {} from {}", shown(&binding.destination), exchange(&binding.source)),
        Action::DeleteQueue(queue, _) => format!("delete queue {}", shown(queue)),
        Action::DeleteExchange(name, _) => format!("delete {}", exchange(name)),
        Action::Purge(queue) => format!("purge {}", shown(queue)),
        Action::SetPolicy(_, policy) => format!("set policy {} on {}", shown(&policy.name), shown(&policy.pattern)),
        Action::ClearPolicy(_, name) => format!("clear policy {}", shown(name)),
        Action::Close(CloseForm::Channel) => "close the channel".to_owned(),
        Action::Close(CloseForm::Connection) => "close the connection".to_owned(),
        Action::Advance(milliseconds) => format!("{milliseconds} ms pass"),
        Action::Repeat(times, steps) => {
            let inner: Vec<String> = steps.iter().filter_map(|step| step.action.as_ref()).map(words).collect();
            format!("{times} times: {}", inner.join(", "))
        }
        Action::Expect(_) => "expect".to_owned(),
    }
}
