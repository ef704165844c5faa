//! Plays steps on the embedded broker, so that each state in between is what a broker would have, and a step that it would
//! refuse is refused before anything is changed.

use super::action::Action;
use crate::embedded::{ConnectionId, EmbeddedBroker};
use crate::rabbitmq::{Conditions, DeleteQueue, Limit, Refused, Version};
use crate::state::State;
use std::sync::Arc;

/// A step that a broker would refuse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RefusedStep {
    /// Its position, from 0.
    pub at: usize,
    /// What the broker would say.
    pub refused: Refused,
}

impl RefusedStep {
    /// Its position among the steps that follow the first `before` ones.
    pub fn behind(self, before: usize) -> Self {
        Self { at: self.at.saturating_sub(before), ..self }
    }

    /// Its position with `before` further steps ahead of it.
    pub fn ahead(self, before: usize) -> Self {
        Self { at: self.at.saturating_add(before), ..self }
    }
}

/// The state before the first action and after each one; shared where an action changes nothing.
pub(super) fn rehearse<'a>(
    initial: &State,
    actions: impl IntoIterator<Item = &'a Action>,
) -> Result<Vec<Arc<State>>, RefusedStep> {
    let mut conditions = Conditions::new(initial.broker.version.unwrap_or(Version::NEWEST), initial.vhost.clone());
    conditions.default_queue_type.clone_from(&initial.default_queue_type);
    conditions.queue_limit = initial.queue_limit.map(|maximum| {
        let declared = u64::try_from(initial.queues.len()).unwrap_or(u64::MAX);
        Limit { maximum, declared }
    });
    let mut broker = EmbeddedBroker::with_state(conditions, initial);
    let owner = broker.connect();
    let mut states = vec![Arc::new(initial.clone())];
    let mut last = Arc::new(initial.clone());
    for (at, action) in actions.into_iter().enumerate() {
        if action.changes() {
            action.play(&mut broker, owner).map_err(|refused| RefusedStep { at, refused })?;
            let state = as_seen(broker.state(), initial);
            if state != *last {
                last = Arc::new(state);
            }
        }
        states.push(Arc::clone(&last));
    }
    Ok(states)
}

impl Action {
    /// Does it on the embedded broker; a wait does nothing.
    ///
    /// # Errors
    /// When a broker would refuse it.
    pub fn play(&self, broker: &mut EmbeddedBroker, owner: ConnectionId) -> Result<(), Refused> {
        match self {
            Self::DeclareQueue(queue) => broker.declare_queue(owner, queue).map(drop),
            Self::DeclareExchange(exchange) => broker.declare_exchange(owner, exchange),
            Self::Bind(binding) => broker.bind(owner, binding),
            Self::Unbind(binding) => broker.unbind(owner, binding),
            Self::SetPolicy(policy) => {
                broker.set_policy(policy.clone());
                Ok(())
            }
            Self::DeletePolicy(policy) => {
                broker.clear_policy(&policy.name);
                Ok(())
            }
            Self::DeleteExchange(exchange) => broker.delete_exchange(owner, &exchange.name, false),
            Self::DeleteQueue(queue) => broker.delete_queue(owner, queue, DeleteQueue::default()).map(drop),
            Self::AwaitConsumers { .. }
            | Self::AwaitNodes { .. }
            | Self::Drain { .. }
            | Self::CheckEmpty { .. }
            | Self::CheckUnused { .. }
            | Self::Rest { .. } => Ok(()),
        }
    }
}

/// What the embedded broker holds, with what the first state's source could and could not see.
fn as_seen(state: State, initial: &State) -> State {
    State {
        broker: initial.broker.clone(),
        default_queue_type: initial.default_queue_type.clone(),
        default_type_origin: initial.default_type_origin,
        queue_limit: initial.queue_limit,
        known: initial.known,
        exclusive_queues_visible: initial.exclusive_queues_visible,
        internal_exchanges_visible: initial.internal_exchanges_visible,
        argument_types_lost: initial.argument_types_lost,
        links: initial.links.clone(),
        ..state
    }
}
