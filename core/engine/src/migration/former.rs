//! What a plain change found where it was made, so that it can be taken back.
//!
//! A table shows that a binding is there, not whether it was there before the file that asks for it ran, and not what a policy
//! said before. So that is recorded with each step, before the step is made; an undo takes back what really changed, and
//! nothing else.

use super::action::Action;
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, PolicyDeclaration};
use crate::state::{Presence, State};
use crate::value::Table;
use serde::{Deserialize, Serialize};

/// What a change found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Former {
    /// Everything was as asked: nothing changed, and nothing is taken back.
    Unchanged,
    /// What was declared, bound or set was not there.
    Absent,
    /// What was unbound or deleted was there.
    Present,
    /// The exchange that was deleted, by the change or with its last binding.
    Exchange(FormerExchange),
    /// The policy had another definition.
    Policy(FormerPolicy),
}

/// An exchange as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormerExchange {
    /// `direct`, `fanout`, `topic`, `headers` or a plugin's type.
    #[serde(rename = "type")]
    kind: String,
    durable: bool,
    auto_delete: bool,
    internal: bool,
    #[serde(default)]
    arguments: Table,
}

/// A policy as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormerPolicy {
    pattern: String,
    apply_to: String,
    #[serde(default)]
    priority: i64,
    definition: Table,
}

impl FormerExchange {
    fn of(exchange: &ExchangeDeclaration) -> Self {
        Self {
            kind: exchange.kind.clone(),
            durable: exchange.durable,
            auto_delete: exchange.auto_delete,
            internal: exchange.internal,
            arguments: exchange.arguments.clone(),
        }
    }

    fn named(&self, name: &str) -> ExchangeDeclaration {
        ExchangeDeclaration {
            durable: self.durable,
            auto_delete: self.auto_delete,
            internal: self.internal,
            arguments: self.arguments.clone(),
            ..ExchangeDeclaration::durable(name, &self.kind)
        }
    }
}

impl FormerPolicy {
    fn of(policy: &PolicyDeclaration) -> Self {
        Self {
            pattern: policy.pattern.clone(),
            apply_to: policy.apply_to.clone(),
            priority: policy.priority,
            definition: policy.definition.clone(),
        }
    }

    fn named(&self, name: &str) -> PolicyDeclaration {
        PolicyDeclaration {
            name: name.to_owned(),
            pattern: self.pattern.clone(),
            apply_to: self.apply_to.clone(),
            priority: self.priority,
            definition: self.definition.clone(),
        }
    }
}

impl Former {
    /// What a change finds in a table; `None` for what only waits.
    pub fn of(action: &Action, state: &State) -> Option<Self> {
        let unless = |there: bool, former: Self| if there { Self::Unchanged } else { former };
        Some(match action {
            Action::DeclareQueue(queue) => unless(state.queues.contains_key(&queue.name), Self::Absent),
            Action::DeclareExchange(exchange) => {
                unless(matches!(state.exchange(&exchange.name), Presence::There(_)), Self::Absent)
            }
            Action::Bind(binding) => unless(state.binding(binding) == Presence::There(()), Self::Absent),
            Action::Unbind(binding) if state.binding(binding) == Presence::There(()) => {
                goes_with(binding, state).map_or(Self::Present, Self::Exchange)
            }
            Action::Unbind(_) => Self::Unchanged,
            Action::SetPolicy(policy) => match state.policy(&policy.name) {
                Presence::There(stored) if stored == policy => Self::Unchanged,
                Presence::There(stored) => Self::Policy(FormerPolicy::of(stored)),
                Presence::Absent | Presence::Unknown => Self::Absent,
            },
            Action::DeletePolicy(policy) => match state.policy(&policy.name) {
                Presence::There(stored) => Self::Policy(FormerPolicy::of(stored)),
                Presence::Absent | Presence::Unknown => Self::Unchanged,
            },
            Action::DeleteExchange(exchange) => match state.exchange(&exchange.name) {
                Presence::There(stored) => Self::Exchange(FormerExchange::of(&stored)),
                Presence::Absent | Presence::Unknown => Self::Unchanged,
            },
            Action::DeleteQueue(queue) => unless(!state.queues.contains_key(queue), Self::Present),
            Action::AwaitConsumers { .. }
            | Action::AwaitNodes { .. }
            | Action::Drain { .. }
            | Action::CheckEmpty { .. }
            | Action::CheckUnused { .. }
            | Action::Rest { .. } => return None,
        })
    }

    /// What takes the change back, in order; nothing for what changed nothing, and for a deleted queue.
    pub(super) fn inverse(&self, action: &Action) -> Vec<Action> {
        match (self, action) {
            (Self::Unchanged, _) => Vec::new(),
            (Self::Exchange(exchange), Action::Unbind(binding)) => {
                vec![Action::DeclareExchange(exchange.named(&binding.source)), Action::Bind(binding.clone())]
            }
            (Self::Exchange(exchange), Action::DeleteExchange(deleted)) => {
                vec![Action::DeclareExchange(exchange.named(&deleted.name))]
            }
            (Self::Policy(policy), Action::SetPolicy(set)) => vec![Action::SetPolicy(policy.named(&set.name))],
            (Self::Policy(policy), Action::DeletePolicy(deleted)) => {
                vec![Action::SetPolicy(policy.named(&deleted.name))]
            }
            _ => action.inverse().into_iter().collect(),
        }
    }
}

/// The auto-delete exchange that the broker deletes with its last binding. One that is led to as well does not come back with
/// the binding alone, and is left to be missed.
fn goes_with(binding: &BindingDeclaration, state: &State) -> Option<FormerExchange> {
    let Presence::There(exchange) = state.exchange(&binding.source) else { return None };
    let touching = |other: &&BindingDeclaration| other.source == binding.source || other.destination == binding.source;
    let goes = exchange.auto_delete && state.bindings.iter().filter(touching).count() == 1;
    goes.then(|| FormerExchange::of(&exchange))
}

/// One change of a file, and what it found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Met {
    /// The number of its step, from 1.
    pub step: usize,
    /// The step, in words.
    pub action: String,
    /// What it found.
    pub former: Former,
    /// Whether the broker said that it was made. Otherwise the table tells.
    #[serde(default, skip_serializing_if = "is_false")]
    pub made: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(made: &bool) -> bool {
    !*made
}
