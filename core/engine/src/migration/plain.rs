//! Plain changes against a table: their steps, how many of them are done, and the way back.
//!
//! The way back makes the inverse of each change that really changed something, last one first, as [`Met`] tells it. Others
//! may have changed the vhost since, so each inverse asks first whether what it takes away is still what the migration left:
//! a policy that was edited, a queue that is used or an exchange that is bound stops the undo before it begins.

use super::action::{Action, Condition, leading_to};
use super::change::Change;
use super::error::MigrationError;
use super::findings::{Finding, Weight};
use super::former::{Former, Met};
use super::position::Position;
use super::rehearsal::rehearse;
use super::step::{Phase, Step};
use super::undo::uses_exchange;
use crate::name::{DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE, quoted};
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration};
use crate::state::{Presence, State};
use std::collections::{BTreeMap, BTreeSet};

/// Changes, or their way back, as a plan has them.
pub(super) struct Plain {
    pub steps: Vec<Step>,
    pub position: Position,
    pub findings: Vec<Finding>,
    /// What the open ones will find.
    pub met: Vec<Met>,
}

/// The changes of a file.
pub(super) fn forward(changes: &[Change], live: &State) -> Result<Plain, MigrationError> {
    let mut steps = steps(changes, live);
    let done = reached(&steps, live);
    let states = rehearse(live, steps.iter().skip(done).map(|step| &step.action))
        .map_err(|step| super::plan::refused(&steps, step.ahead(done)))?;
    let mut met = Vec::new();
    for ((step, number), state) in steps.iter_mut().zip(1..).skip(done).zip(&states) {
        if let Some(former) = Former::of(&step.action, state) {
            step.inverse = former.inverse(&step.action).pop();
            met.push(Met { step: number, action: step.action.to_string(), former, made: false });
        }
    }
    // What is there already is not the migration's, as far as the table tells.
    steps.iter_mut().take(done).for_each(|step| step.inverse = None);
    Ok(Plain { steps, position: Position::At(done), findings: Vec::new(), met })
}

/// The way back.
pub(super) fn back(changes: &[Change], live: &State, met: &[Met]) -> Result<Plain, MigrationError> {
    let forward = steps(changes, live);
    let mut made: Vec<(&Met, &Step)> = Vec::new();
    for one in met {
        let step = one.step.checked_sub(1).and_then(|at| forward.get(at));
        let step = step.filter(|step| step.action.to_string() == one.action).ok_or_else(|| changed(one))?;
        made.push((one, step));
    }
    made.sort_by_key(|(one, _)| one.step);
    if let Some((one, _)) = made.iter().find(|(one, step)| is_past_return(one, step, live)) {
        return Err(past_return(one));
    }
    let own = Own::of(&made);
    let (kept, mut findings) = own.kept(live);
    let mut steps = Vec::new();
    for (one, step) in made.iter().rev() {
        for action in one.former.inverse(&step.action) {
            if !matches!(&action, Action::DeleteExchange(exchange) if kept.contains(exchange.name.as_str())) {
                taken_back(&mut steps, action, &step.action);
            }
        }
    }
    let done = reached(&steps, live);
    let open = steps.get(done..).unwrap_or_default();
    let states = rehearse(live, open.iter().map(|step| &step.action)).or_else(|refused| {
        // What a broker refuses is explained by what is not there any more.
        let until = open.get(..refused.at).unwrap_or_default();
        let states = rehearse(live, until.iter().map(|step| &step.action))?;
        let (Some(step), Some(state)) = (open.get(refused.at), states.last()) else { return Err(refused) };
        if unmet(step, state).is_some() { Ok(states) } else { Err(refused) }
    });
    let states = states.map_err(|step| super::plan::refused(&steps, step.ahead(done)))?;
    findings.extend(open.iter().zip(&states).find_map(|(step, state)| obstacle(step, state)));
    if let Some(end) = states.last() {
        findings.extend(open.iter().filter_map(|step| still_used(step, live, end, &own)));
    }
    Ok(Plain { position: Position::At(done), findings, met: met.to_vec(), steps })
}

/// The steps of a file, in its order.
fn steps(changes: &[Change], live: &State) -> Vec<Step> {
    let mut steps = Vec::new();
    for change in changes {
        match change {
            Change::Do(actions) => {
                steps.extend(actions.iter().cloned().map(|action| Step::new(Phase::Change, action)));
            }
            Change::DeleteExchange(name) => {
                let there = live.exchange(name).there().map(|exchange| exchange.into_owned());
                let exchange = there.unwrap_or_else(|| ExchangeDeclaration::durable(name, "direct"));
                steps.push(Step::new(Phase::Change, Action::DeleteExchange(exchange)));
            }
            Change::DeleteQueue { queue, guarded } => {
                let mut delete = Step::new(Phase::Change, Action::DeleteQueue(queue.clone()));
                if *guarded {
                    // What led here may be gone on one node and not yet on another.
                    steps.extend(nodes_that_know(&steps, queue));
                    let returning = super::feeding::returning(live, queue);
                    let drain = Action::Drain { queue: queue.clone(), returning };
                    steps.push(Step::new(Phase::Change, drain).requiring([Condition::Unreachable(queue.clone())]));
                } else {
                    delete.before.clear();
                }
                steps.push(delete);
            }
        }
    }
    steps
}

/// The wait for the last binding that the steps take away from a queue, if there is one.
fn nodes_that_know(steps: &[Step], queue: &str) -> Option<Step> {
    let last = steps.iter().rev().find_map(|step| match &step.action {
        Action::Unbind(binding) if leads_to_queue(binding, queue) => Some(binding.clone()),
        _ => None,
    })?;
    Some(Step::new(Phase::Change, Action::AwaitNodes { binding: last, bound: false }))
}

fn leads_to_queue(binding: &BindingDeclaration, queue: &str) -> bool {
    binding.destination_type == DestinationType::Queue && binding.destination == queue
}

/// How many steps the table shows as done: the most of them that leave it as it is, where a later one may have changed again
/// what an earlier one did. Waits behind the last change do not count, for they leave no trace.
fn reached(steps: &[Step], live: &State) -> usize {
    let mut left: BTreeMap<Thing<'_>, bool> = BTreeMap::new();
    let mut reached = 0;
    for (step, number) in steps.iter().zip(1..) {
        for (thing, condition) in step.after.iter().filter_map(|condition| Some((Thing::of(condition)?, condition))) {
            if matches!(condition, Condition::NoQueue(_) | Condition::NoExchange(_)) {
                left.retain(|other, _| !other.goes_with(&thing));
            }
            left.insert(thing, condition.holds(live) == Some(true));
        }
        if step.action.changes() && left.values().all(|holds| *holds) {
            reached = number;
        }
    }
    reached
}

/// What a change is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Thing<'a> {
    Queue(&'a str),
    Exchange(&'a str),
    Policy(&'a str),
    Binding { source: &'a str, destination: &'a str, to: DestinationType, line: String },
}

impl<'a> Thing<'a> {
    fn of(condition: &'a Condition) -> Option<Self> {
        Some(match condition {
            Condition::QueueAs(queue) => Self::Queue(&queue.name),
            Condition::NoQueue(name) => Self::Queue(name),
            Condition::ExchangeAs(exchange) => Self::Exchange(&exchange.name),
            Condition::NoExchange(name) => Self::Exchange(name),
            Condition::PolicyAs(policy) => Self::Policy(&policy.name),
            Condition::NoPolicy(name) => Self::Policy(name),
            Condition::Bound(binding) | Condition::NotBound(binding) => Self::Binding {
                source: &binding.source,
                destination: &binding.destination,
                to: binding.destination_type,
                line: binding.canonical(),
            },
            _ => return None,
        })
    }

    /// Whether it is a binding of what is deleted.
    fn goes_with(&self, deleted: &Thing<'_>) -> bool {
        let Self::Binding { source, destination, to, .. } = self else { return false };
        match deleted {
            Thing::Queue(name) => *to == DestinationType::Queue && destination == name,
            Thing::Exchange(name) => source == name || (*to == DestinationType::Exchange && destination == name),
            Thing::Policy(_) | Thing::Binding { .. } => false,
        }
    }
}

/// The inverse of a change as steps: what the change left must still be so before it.
fn taken_back(steps: &mut Vec<Step>, action: Action, made: &Action) {
    let left = match made {
        Action::SetPolicy(policy) => Some(Condition::PolicyAs(policy.clone())),
        Action::DeclareExchange(exchange) => Some(Condition::ExchangeAs(exchange.clone())),
        Action::DeclareQueue(queue) => Some(Condition::QueueAs(queue.clone())),
        Action::DeletePolicy(policy) => Some(Condition::NoPolicy(policy.name.clone())),
        Action::DeleteExchange(exchange) => Some(Condition::NoExchange(exchange.name.clone())),
        _ => None,
    };
    let mut step = Step::new(Phase::Change, action).requiring(left);
    (step.inverse, step.point_of_no_return) = (Some(made.clone()), false);
    if let Action::DeleteQueue(queue) = &step.action {
        // What led there may be gone on one node and not yet on another.
        steps.extend(nodes_that_know(steps, queue));
        let unused = Step::new(Phase::Change, Action::CheckUnused { queue: queue.clone() });
        steps.push(unused.requiring([Condition::Unreachable(queue.clone())]));
    }
    steps.push(step);
}

/// What the changes brought, and an undo takes away.
struct Own<'a> {
    queues: BTreeSet<&'a str>,
    exchanges: BTreeSet<&'a str>,
    bindings: BTreeSet<String>,
}

impl<'a> Own<'a> {
    fn of(made: &[(&Met, &'a Step)]) -> Self {
        let mut own = Self { queues: BTreeSet::new(), exchanges: BTreeSet::new(), bindings: BTreeSet::new() };
        for (_, step) in made.iter().filter(|(met, _)| met.former == Former::Absent) {
            match &step.action {
                Action::DeclareQueue(queue) => drop(own.queues.insert(&queue.name)),
                Action::DeclareExchange(exchange) => drop(own.exchanges.insert(&exchange.name)),
                Action::Bind(binding) => drop(own.bindings.insert(binding.canonical())),
                _ => {}
            }
        }
        own
    }

    /// The exchanges for everybody's dead letters and retries that others use since: they stay, and nothing is wrong.
    fn kept(&self, live: &State) -> (BTreeSet<&'static str>, Vec<Finding>) {
        let mut kept = BTreeSet::new();
        let mut findings = Vec::new();
        for name in [DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE] {
            let used = || {
                uses_exchange(live, name, &|queue| self.queues.contains(queue), &|binding| {
                    self.bindings.contains(&binding.canonical())
                })
            };
            if let Some(user) = self.exchanges.contains(name).then(used).flatten() {
                kept.insert(name);
                findings.push(Finding {
                    code: "kept",
                    weight: Weight::Note,
                    message: format!("exchange {} stays: {user}", quoted(name)),
                    help: "delete it when nothing needs it any more".to_owned(),
                });
            }
        }
        (kept, findings)
    }
}

/// The first condition that does not hold, of those that a table can tell.
fn unmet<'a>(step: &'a Step, state: &State) -> Option<&'a Condition> {
    let is_wanted = |condition: &&Condition| !condition.is_observed() && !matches!(condition, Condition::Bound(_));
    step.before.iter().filter(is_wanted).find(|condition| condition.holds(state) != Some(true))
}

/// Why a change cannot be taken back: somebody changed since what it left.
fn obstacle(step: &Step, state: &State) -> Option<Finding> {
    let is_so_already = step.after.iter().all(|condition| condition.holds(state) == Some(true));
    if is_so_already {
        return None;
    }
    let condition = unmet(step, state)?;
    let not_ours = |binding: Option<&BindingDeclaration>| binding.map(super::action::arrow).unwrap_or_default();
    let (message, help) = match condition {
        Condition::PolicyAs(policy) => {
            let what = if state.policy(&policy.name) == Presence::Absent { "deleted" } else { "changed" };
            (
                format!(
                    "policy {} was {what} since the migration set it, and that is not undone",
                    quoted(&policy.name)
                ),
                "make it again what the file says and undo again, or write a new migration",
            )
        }
        Condition::NoPolicy(name) => (
            format!("policy {} was set again since the migration deleted it", quoted(name)),
            "delete it and undo again, or write a new migration",
        ),
        Condition::QueueAs(queue) => (
            format!("queue {} is not what the migration declared any more", quoted(&queue.name)),
            "look whose it is; then delete it and undo again, or write a new migration",
        ),
        Condition::ExchangeAs(exchange) => (
            format!("exchange {} is not what the migration declared any more", quoted(&exchange.name)),
            "look whose it is; then delete it and undo again, or write a new migration",
        ),
        Condition::Unreachable(queue) => (
            format!(
                "queue {} is bound as {}, which is not the migration's",
                quoted(queue),
                not_ours(leading_to(state, queue).next())
            ),
            "take that binding away and undo again, or keep the queue and write a new migration",
        ),
        Condition::NoBinding(exchange) => (
            format!(
                "exchange {} is bound as {}, which is not the migration's",
                quoted(exchange),
                not_ours(touching(state, exchange))
            ),
            "take that binding away and undo again, or keep the exchange and write a new migration",
        ),
        Condition::NoExchange(exchange) => (
            format!("exchange {} is there again, and is not what it was", quoted(exchange)),
            "look whose it is; then delete it and undo again, or write a new migration",
        ),
        Condition::Queue(_) | Condition::Exchange(_) => (
            format!("\"{}\" is not possible any more, for this is not so: {condition}", step.action),
            "declare it as it was and undo again, or write a new migration",
        ),
        other => (
            format!("before \"{}\" this must be true and is not: {other}", step.action),
            "make it so and undo again, or write a new migration",
        ),
    };
    Some(Finding { code: "changed_since", weight: Weight::Refused, message, help: help.to_owned() })
}

fn touching<'a>(state: &'a State, exchange: &str) -> Option<&'a BindingDeclaration> {
    state.bindings.iter().find(|binding| {
        binding.source == exchange
            || (binding.destination_type == DestinationType::Exchange && binding.destination == exchange)
    })
}

/// Who sends dead letters, or what an exchange cannot route, to an exchange that goes: perhaps that was so at the start too.
fn still_used(step: &Step, live: &State, end: &State, own: &Own<'_>) -> Option<Finding> {
    let Action::DeleteExchange(exchange) = &step.action else { return None };
    // Under the policies that the undo leaves.
    let state = State { policies: end.policies.clone(), ..live.clone() };
    let user = uses_exchange(&state, &exchange.name, &|queue| own.queues.contains(queue), &|_| true)?;
    Some(Finding {
        code: "still_used",
        weight: Weight::Warning,
        message: format!("exchange {} goes, as it was not there before: {user}", quoted(&exchange.name)),
        help: "what is sent there is lost from then on, as it was before the migration".to_owned(),
    })
}

/// Whether a queue was deleted. A queue of that name may be there again, and what the old one held is gone all the same.
fn is_past_return(met: &Met, step: &Step, live: &State) -> bool {
    match &step.action {
        Action::DeleteQueue(queue) if met.former == Former::Present => met.made || !live.queues.contains_key(queue),
        _ => false,
    }
}

fn past_return(met: &Met) -> MigrationError {
    let message = format!(
        "step {} ({}) is done, and nothing brings back what the queue was and held; so nothing is taken back",
        met.step, met.action
    );
    MigrationError::new("migration_refused", message, "write a new migration with the opposite changes")
        .with("reason", "past_return")
        .with("step", met.step)
}

/// The file is not what ran.
fn changed(met: &Met) -> MigrationError {
    let message =
        format!("step {} of the file was \"{}\" when it ran, and is something else now", met.step, met.action);
    MigrationError::new("migration_refused", message, "put the file back as it was when it ran")
        .with("reason", "changed")
        .with("step", met.step)
}
