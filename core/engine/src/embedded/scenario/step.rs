//! Steps as they are played: each with its one action.

use super::form::{
    CloseForm, ConsumeForm, ExpectForm, GetForm, PolicyForm, PrefetchForm, PublishForm, RefusalForm, SettleForm,
    StepForm,
};
use super::{ScenarioError, tables};
use crate::rabbitmq::{BindingDeclaration, DeleteQueue, DestinationType, PolicyDeclaration, Version, VersionError};
use crate::topology::Tables;

/// A step.
#[derive(Debug, Clone)]
pub(super) struct Step {
    /// Milliseconds from the start.
    pub(super) at: Option<u64>,
    /// The first version that it is for, and the first that it is not for any more.
    since: Option<Version>,
    before: Option<Version>,
    pub(super) channel: String,
    pub(super) refused: Option<RefusalForm>,
    /// None: only the clock moves.
    pub(super) action: Option<Action>,
}

impl Step {
    /// Whether it is played by the rules of that version.
    pub(super) fn is_for(&self, version: Version) -> bool {
        self.since.is_none_or(|since| version >= since) && self.before.is_none_or(|before| version < before)
    }
}

/// What a step does.
#[derive(Debug, Clone)]
pub(super) enum Action {
    Publish(PublishForm),
    Get(GetForm),
    Consume(ConsumeForm),
    Cancel(String),
    Prefetch(PrefetchForm),
    Settle(Settle, SettleForm),
    Recover,
    Declare(Box<Tables>),
    Bind(BindingDeclaration),
    Unbind(BindingDeclaration),
    DeleteQueue(String, DeleteQueue),
    DeleteExchange(String, bool),
    Purge(String),
    SetPolicy(PolicyKind, PolicyDeclaration),
    ClearPolicy(PolicyKind, String),
    Close(CloseForm),
    Advance(u64),
    Repeat(u32, Vec<Step>),
    Expect(ExpectForm),
}

/// How a delivery is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Settle {
    Ack,
    Nack,
    Reject,
}

/// Whose policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PolicyKind {
    User,
    Operator,
}

/// How deep `repeat` may stand in `repeat`.
const DEEPEST: usize = 8;

/// The channel of a step that names none.
const MAIN: &str = "main";

/// Steps from their form; `place` is where they stand, for sentences.
pub(super) fn steps(forms: Vec<StepForm>, place: &str, depth: usize) -> Result<Vec<Step>, ScenarioError> {
    forms.into_iter().enumerate().map(|(index, form)| step(form, &format!("{place}[{index}]"), depth)).collect()
}

fn step(form: StepForm, place: &str, depth: usize) -> Result<Step, ScenarioError> {
    let (at, refused) = (form.at.map(|at| at.0), form.refused.clone());
    let version = |key: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => {
            first_of_line(text).map(Some).map_err(|error| ScenarioError::new(format!("{place}: {key}: {error}")))
        }
    };
    let (since, before) = (version("since", &form.since)?, version("before", &form.before)?);
    let channel = form.channel.clone().unwrap_or_else(|| MAIN.to_owned());
    let mut actions = actions(form, place, depth)?;
    let action = actions.pop();
    match (&action, actions.as_slice()) {
        (None, _) if at.is_none() => {
            Err(ScenarioError::new(format!("{place} does nothing; give it one action, such as publish")))
        }
        (_, []) => Ok(Step { at, since, before, channel, refused, action: action.map(|(_, action)| action) }),
        (last, others) => {
            let names: Vec<&str> = others.iter().chain(last).map(|(name, _)| *name).collect();
            Err(ScenarioError::new(format!("{place} has {}; make each a step of its own", names.join(" and "))))
        }
    }
}

/// The actions of a form, with the keys that they stand under: one in a good step.
fn actions(form: StepForm, place: &str, depth: usize) -> Result<Vec<(&'static str, Action)>, ScenarioError> {
    let mut found = Vec::new();
    let mut add = |name, action: Option<Action>| found.extend(action.map(|action| (name, action)));
    add("publish", form.publish.map(Action::Publish));
    add("get", form.get.map(Action::Get));
    add("consume", form.consume.map(Action::Consume));
    add("cancel", form.cancel.map(Action::Cancel));
    add("prefetch", form.prefetch.map(Action::Prefetch));
    add("ack", form.ack.map(|settle| Action::Settle(Settle::Ack, settle)));
    add("nack", form.nack.map(|settle| Action::Settle(Settle::Nack, settle)));
    add("reject", form.reject.map(|settle| Action::Settle(Settle::Reject, settle)));
    add("recover", form.recover.map(|_| Action::Recover));
    add("purge", form.purge.map(Action::Purge));
    add("set_policy", form.set_policy.map(|form| Action::SetPolicy(PolicyKind::User, policy(form))));
    add(
        "set_operator_policy",
        form.set_operator_policy.map(|form| Action::SetPolicy(PolicyKind::Operator, policy(form))),
    );
    add("clear_policy", form.clear_policy.map(|name| Action::ClearPolicy(PolicyKind::User, name)));
    add(
        "clear_operator_policy",
        form.clear_operator_policy.map(|name| Action::ClearPolicy(PolicyKind::Operator, name)),
    );
    add("close", form.close.map(Action::Close));
    add("advance", form.advance.map(|duration| Action::Advance(duration.0)));
    add("expect", form.expect.map(Action::Expect));
    if let Some(document) = &form.declare {
        found.push(("declare", Action::Declare(Box::new(tables(document, place)?))));
    }
    for (name, form, action) in
        [("bind", form.bind, Action::Bind as fn(_) -> _), ("unbind", form.unbind, Action::Unbind as fn(_) -> _)]
    {
        let Some(form) = form else { continue };
        let (destination_type, destination) = match (form.queue, form.to_exchange) {
            (Some(queue), None) => (DestinationType::Queue, queue),
            (None, Some(exchange)) => (DestinationType::Exchange, exchange),
            _ => return Err(ScenarioError::new(format!("{place} needs either queue or to_exchange"))),
        };
        let binding = BindingDeclaration {
            source: form.exchange,
            destination,
            destination_type,
            routing_key: form.routing_key,
            arguments: form.arguments,
        };
        found.push((name, action(binding)));
    }
    if let Some(delete) = form.delete {
        let action = match (delete.queue, delete.exchange) {
            (Some(queue), None) => {
                let condition = DeleteQueue { if_unused: delete.if_unused, if_empty: delete.if_empty };
                Action::DeleteQueue(queue, condition)
            }
            (None, Some(exchange)) => Action::DeleteExchange(exchange, delete.if_unused),
            _ => return Err(ScenarioError::new(format!("{place} needs either queue or exchange"))),
        };
        found.push(("delete", action));
    }
    if let Some(repeat) = form.repeat {
        if depth >= DEEPEST {
            return Err(ScenarioError::new(format!("{place}: repeat stands in repeat more than {DEEPEST} deep")));
        }
        let inner = steps(repeat.steps, &format!("{place}.repeat.steps"), depth + 1)?;
        found.push(("repeat", Action::Repeat(repeat.times, inner)));
    }
    Ok(found)
}

fn policy(form: PolicyForm) -> PolicyDeclaration {
    PolicyDeclaration {
        name: form.name,
        pattern: form.pattern,
        apply_to: form.apply_to,
        priority: form.priority,
        definition: form.definition,
    }
}

/// A version as the bounds of a step name it: two numbers are the first of their line, not the newest.
fn first_of_line(text: &str) -> Result<Version, VersionError> {
    if text.matches('.').count() == 1 { format!("{text}.0").parse() } else { text.parse() }
}
