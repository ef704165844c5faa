//! The way back: the steps that give a vhost the definitions of the start again, from wherever a migration is.
//!
//! What was done is taken back in reverse order, so each routing table on the way back is one of the way there, and is as safe.
//! Then the new queue is unreachable; when every node knows that and its consumers have emptied it, it goes, and with it what
//! it brought along. Its dead-letter queue goes only when it is empty: what failed there is not thrown away. What was there
//! before the migration, or is used by somebody else since, stays.
//!
//! A table cannot tell who declared a queue. So [`Beginning`] is taken before the first step, and recorded.

use super::action::{Action, Condition, leading_to};
use super::change::declarations;
use super::error::MigrationError;
use super::feeding::feeding;
use super::file::Replacement;
use super::findings::{Finding, Weight};
use super::former::Met;
use super::step::{Phase, Step};
use crate::name::quoted;
use crate::policy::Policies;
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, QueueDeclaration};
use crate::state::State;
use crate::topology::shown_name;
use crate::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which of the things that a migration declares were there before it began.
///
/// Taken from a plan before its first step ([`MigrationPlan::beginning`](super::MigrationPlan::beginning)) and recorded; an
/// undo leaves these alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beginning {
    /// Them, in words: `queue orders.v2`, `exchange acemq.dlx`, `binding acemq.dlx -> orders.v2.dlq [orders.v2.dlq]`.
    there: BTreeSet<String>,
    /// For plain changes: what each of them finds, or found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Met>>,
}

impl Beginning {
    /// Where nobody recorded it: everything that the file declares for the new queue is taken for the migration's own, unless
    /// somebody else uses it.
    pub const fn unrecorded() -> Self {
        Self { there: BTreeSet::new(), changes: None }
    }

    /// What plain changes find, or found, each when it was made. Only what is listed is taken back.
    pub const fn of_changes(met: Vec<Met>) -> Self {
        Self { there: BTreeSet::new(), changes: Some(met) }
    }

    /// What plain changes found, where that was recorded.
    pub fn changes(&self) -> Option<&[Met]> {
        self.changes.as_deref()
    }

    /// What of the declarations for the new queue is in the table.
    pub(super) fn of(replacement: &Replacement, state: &State) -> Self {
        let declared = declarations(&replacement.tables);
        let there = declared.iter().filter(|action| is_there(action, state));
        Self { there: there.filter_map(thing).collect(), changes: None }
    }

    fn has(&self, action: &Action) -> bool {
        thing(action).is_some_and(|thing| self.there.contains(&thing))
    }
}

/// What an action brings along, in words.
fn thing(action: &Action) -> Option<String> {
    match action {
        Action::DeclareQueue(queue) => Some(format!("queue {}", shown_name(&queue.name))),
        Action::DeclareExchange(exchange) => Some(format!("exchange {}", shown_name(&exchange.name))),
        Action::Bind(binding) => Some(format!("binding {}", super::action::arrow(binding))),
        _ => None,
    }
}

fn is_there(action: &Action, state: &State) -> bool {
    match action {
        Action::DeclareQueue(queue) => state.queues.contains_key(&queue.name),
        Action::DeclareExchange(exchange) => state.exchange(&exchange.name).there().is_some(),
        Action::Bind(binding) => state.bindings.contains(binding),
        _ => false,
    }
}

/// What a migration brought along for the new queue, beside the exchanges in between, and what of it stays.
#[derive(Debug, Default)]
pub(super) struct Brought {
    /// In the order of the declarations.
    exchanges: Vec<ExchangeDeclaration>,
    queues: Vec<QueueDeclaration>,
    bindings: Vec<BindingDeclaration>,
    /// Things that somebody else uses since.
    kept: Vec<Finding>,
}

impl Brought {
    /// `initial` is the table with the migration's own steps undone, but for what it declares for the new queue.
    pub fn find(replacement: &Replacement, initial: &State, beginning: &Beginning) -> Self {
        let mut brought = Self::default();
        let own: Vec<Action> =
            declarations(&replacement.tables).into_iter().filter(|action| !beginning.has(action)).collect();
        for action in &own {
            match action {
                Action::Bind(binding) => brought.bindings.push(binding.clone()),
                Action::DeclareQueue(queue) => brought.queues.push(queue.clone()),
                Action::DeclareExchange(exchange) => brought.exchanges.push(exchange.clone()),
                _ => {}
            }
        }
        // What stays may use something else of it, which then stays too.
        while let Some((name, what, user)) = brought.used(initial) {
            brought.exchanges.retain(|exchange| what != "exchange" || exchange.name != name);
            brought.queues.retain(|queue| what != "queue" || queue.name != name);
            let leads_there = |binding: &BindingDeclaration| match what {
                "queue" => binding.destination_type == DestinationType::Queue && binding.destination == name,
                _ => false,
            };
            brought.bindings.retain(|binding| !leads_there(binding));
            brought.kept.push(Finding {
                code: "kept",
                weight: Weight::Note,
                message: format!("{what} {} stays: {user}", quoted(&name)),
                help: "delete it when nothing needs it any more".to_owned(),
            });
        }
        brought
    }

    fn is_own_queue(&self, name: &str) -> bool {
        self.queues.iter().any(|queue| queue.name == name)
    }

    fn is_own_exchange(&self, name: &str) -> bool {
        self.exchanges.iter().any(|exchange| exchange.name == name)
    }

    /// The first of them that something else uses: its name, its kind, and who uses it.
    fn used(&self, state: &State) -> Option<(String, &'static str, String)> {
        let is_own_queue = |name: &str| self.is_own_queue(name);
        let is_own = |binding: &BindingDeclaration| self.bindings.contains(binding);
        for exchange in &self.exchanges {
            if let Some(user) = uses_exchange(state, &exchange.name, &is_own_queue, &is_own) {
                return Some((exchange.name.clone(), "exchange", user));
            }
        }
        let foreign = |binding: &&BindingDeclaration| !is_own(binding);
        let policies = Policies::new(state);
        let others = || state.queues.values().filter(|queue| !self.is_own_queue(&queue.name));
        let text = |queue: &QueueDeclaration, key: &str| {
            policies.effective(queue).value(key).and_then(Value::as_text).map(str::to_owned)
        };
        for queue in &self.queues {
            let name = queue.name.as_str();
            let bound = leading_to(state, name).find(foreign).map(|binding| {
                format!("it is bound as {}, which is not the migration's", super::action::arrow(binding))
            });
            let dead_letters = || {
                let by_name = |other: &&QueueDeclaration| {
                    text(other, "dead-letter-exchange").as_deref() == Some("")
                        && text(other, "dead-letter-routing-key").as_deref() == Some(name)
                };
                let user = others().find(by_name)?;
                Some(format!("queue {} sends its dead letters there", quoted(&user.name)))
            };
            if let Some(user) = bound.or_else(dead_letters) {
                return Some((queue.name.clone(), "queue", user));
            }
        }
        None
    }

    /// What stays, as something to know.
    pub fn into_findings(self) -> Vec<Finding> {
        self.kept
    }

    /// Takes all of it out of a table.
    pub fn take_out(&self, state: &mut State) {
        for queue in &self.queues {
            state.queues.remove(&queue.name);
        }
        for exchange in &self.exchanges {
            state.exchanges.remove(&exchange.name);
        }
        let gone = |binding: &BindingDeclaration| {
            self.bindings.contains(binding)
                || self.is_own_exchange(&binding.source)
                || match binding.destination_type {
                    DestinationType::Queue => self.is_own_queue(&binding.destination),
                    DestinationType::Exchange => self.is_own_exchange(&binding.destination),
                }
        };
        let gone: Vec<BindingDeclaration> = state.bindings.iter().filter(|binding| gone(binding)).cloned().collect();
        for binding in &gone {
            state.bindings.remove(binding);
        }
    }
}

/// Who else uses an exchange, in words: by a binding, as a dead-letter exchange or as an alternate exchange.
pub(super) fn uses_exchange(
    state: &State,
    name: &str,
    is_own_queue: &dyn Fn(&str) -> bool,
    is_own: &dyn Fn(&BindingDeclaration) -> bool,
) -> Option<String> {
    let policies = Policies::new(state);
    let touches = |binding: &&BindingDeclaration| {
        binding.source == name || (binding.destination_type == DestinationType::Exchange && binding.destination == name)
    };
    let bound = || {
        let binding = state.bindings.iter().filter(touches).find(|binding| !is_own(binding))?;
        Some(format!("it is bound as {}, which is not the migration's", super::action::arrow(binding)))
    };
    let dead_letters = || {
        let user = state.queues.values().filter(|queue| !is_own_queue(&queue.name)).find(|queue| {
            policies.effective(queue).value("dead-letter-exchange").and_then(Value::as_text) == Some(name)
        })?;
        Some(format!("queue {} sends its dead letters there", quoted(&user.name)))
    };
    let alternate = || {
        let user = state.exchanges.values().find(|other| {
            policies.effective_exchange(other).value("alternate-exchange").and_then(Value::as_text) == Some(name)
        })?;
        Some(format!("it is the alternate exchange of exchange {}", quoted(&user.name)))
    };
    bound().or_else(dead_letters).or_else(alternate)
}

/// The steps of the way back, in two parts.
pub(super) struct WayBack {
    /// The inverse steps, last one first: messages go to the old queue again.
    pub restore: Vec<Step>,
    /// The end of the new queue and of what came with it.
    pub remove: Vec<Step>,
}

impl WayBack {
    /// From the forward steps, and the table when all that the new queue needs was declared.
    pub fn new(replacement: &Replacement, forward: &[Step], wired: &State, brought: &Brought) -> Self {
        let restore = restore(replacement, forward);
        let remove = remove(replacement, wired, brought, &restore);
        Self { restore, remove }
    }
}

fn restore(replacement: &Replacement, forward: &[Step]) -> Vec<Step> {
    let (old, count) = (&replacement.old, replacement.options.wait_for_consumers);
    let mut steps = Vec::new();
    let mut awaited = count == 0;
    let taken_back = forward.iter().rev().filter(|step| step.phase != Phase::Prepare);
    for inverse in taken_back.filter_map(|step| step.inverse.clone().map(|inverse| (step, inverse))) {
        let (step, action) = inverse;
        let leads_back = matches!(&action, Action::Bind(binding) if binding.destination == *old);
        // From here on the old queue gets messages again.
        if step.phase == Phase::Switch && leads_back && !awaited {
            awaited = true;
            steps.push(Step::new(Phase::Restore, Action::AwaitConsumers { queue: old.clone(), count }));
        }
        steps.push(Step::new(Phase::Restore, action));
    }
    steps
}

fn remove(replacement: &Replacement, wired: &State, brought: &Brought, restore: &[Step]) -> Vec<Step> {
    let new = replacement.new.as_str();
    let step = |action| Step::new(Phase::Remove, action);
    let mut steps = Vec::new();
    let feeders: Vec<String> = feeding(wired, new).into_iter().filter(|queue| brought.is_own_queue(queue)).collect();
    let (to_new, others): (Vec<&BindingDeclaration>, Vec<&BindingDeclaration>) = (brought.bindings.iter().rev())
        .partition(|binding| binding.destination_type == DestinationType::Queue && binding.destination == new);
    let delete = |name: &str, steps: &mut Vec<Step>| {
        let queue = brought.queues.iter().find(|queue| queue.name == name);
        steps.push(Step {
            inverse: queue.cloned().map(Action::DeclareQueue),
            point_of_no_return: false,
            ..step(Action::DeleteQueue(name.to_owned()))
        });
    };
    let await_nodes =
        |binding: &BindingDeclaration| step(Action::AwaitNodes { binding: binding.clone(), bound: false });
    if brought.is_own_queue(new) {
        let last = restore.iter().rev().find_map(|step| match &step.action {
            Action::Unbind(binding) if binding.destination == new => Some(binding),
            _ => None,
        });
        let sources: BTreeSet<String> = to_new.iter().map(|binding| binding.source.clone()).collect();
        let only = Condition::OnlySources { queue: new.to_owned(), sources: sources.into_iter().collect() };
        steps.extend(last.map(await_nodes));
        let drain = || Action::Drain { queue: new.to_owned(), returning: feeders.clone() };
        steps.push(step(drain()).requiring([only]));
        steps.extend(to_new.iter().map(|binding| step(Action::Unbind((*binding).clone()))));
        if let Some(last) = to_new.last() {
            steps.push(await_nodes(last));
            steps.push(step(drain()));
        }
        delete(new, &mut steps);
    } else {
        steps.extend(to_new.iter().map(|binding| step(Action::Unbind((*binding).clone()))));
    }
    steps.extend(others.iter().map(|binding| step(Action::Unbind((*binding).clone()))));
    steps.extend(others.last().map(|last| await_nodes(last)));
    for queue in brought.queues.iter().rev().filter(|queue| queue.name != new) {
        let name = queue.name.clone();
        let look = if feeders.contains(&name) {
            Action::Drain { queue: name, returning: Vec::new() }
        } else {
            Action::CheckEmpty { queue: name }
        };
        steps.push(step(look));
        delete(&queue.name, &mut steps);
    }
    steps.extend(brought.exchanges.iter().rev().map(|exchange| step(Action::DeleteExchange(exchange.clone()))));
    steps
}

/// The old queue is gone.
pub(super) fn past_return(replacement: &Replacement) -> MigrationError {
    let (old, new) = (quoted(&replacement.old), quoted(&replacement.new));
    let message = format!("queue {old} is deleted, and nothing brings back what it was");
    let help =
        format!("write a new migration that replaces queue {new} by one named {old}: it leads back under traffic");
    MigrationError::new("migration_refused", message, help).with("reason", "past_return")
}
