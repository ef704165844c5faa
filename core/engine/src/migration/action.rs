//! What one step of a migration does, and what must be true before and after it.
//!
//! Every action can be sent twice with the outcome of once, and all but the deletion of a queue can be taken back while
//! messages flow. Conditions on the table (exchanges, queues, bindings, policies) are judged from a [`State`]; those on
//! messages and consumers only from what the broker says about them at that moment.

use crate::policy::{Policies, Winner};
use crate::rabbitmq::{
    BindingDeclaration, BindingTable, DestinationType, ExchangeDeclaration, ExchangeTable, PolicyDeclaration,
    QueueDeclaration, QueueTable, exchange_differences, queue_differences,
};
use crate::state::{Presence, State};
use crate::topology::{describe_exchange, describe_queue, shown_name};
use crate::value::counted;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::fmt;

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// `queue.declare`
    DeclareQueue(QueueDeclaration),
    /// `exchange.declare`
    DeclareExchange(ExchangeDeclaration),
    /// `queue.bind` or `exchange.bind`
    Bind(BindingDeclaration),
    /// `queue.unbind` or `exchange.unbind`
    Unbind(BindingDeclaration),
    /// Sets a policy, over the management API.
    SetPolicy(PolicyDeclaration),
    /// Deletes a policy, over the management API.
    DeletePolicy(PolicyDeclaration),
    /// `exchange.delete`; the exchange as it was, so that it can come back.
    DeleteExchange(ExchangeDeclaration),
    /// `queue.delete`: nothing brings back what it held.
    DeleteQueue(String),
    /// Waits until a queue has so many consumers.
    AwaitConsumers {
        /// The queue.
        queue: String,
        /// How many.
        count: u32,
    },
    /// Waits until every running node knows that a binding is there, or is gone.
    AwaitNodes {
        /// The binding.
        binding: BindingDeclaration,
        /// Whether it is there.
        bound: bool,
    },
    /// Waits until a queue, and the queues whose dead letters come back to it, hold nothing, neither ready nor
    /// unacknowledged.
    Drain {
        /// The queue.
        queue: String,
        /// Queues whose dead letters come back to it.
        returning: Vec<String>,
    },
    /// Looks whether a queue holds nothing, and does not wait for it: nobody empties it but people.
    CheckEmpty {
        /// The queue.
        queue: String,
    },
    /// Looks whether a queue holds nothing and nobody consumes from it, and does not wait for either.
    CheckUnused {
        /// The queue.
        queue: String,
    },
    /// Waits.
    Rest {
        /// Milliseconds.
        ms: u64,
    },
}

impl Action {
    /// Whether it changes the table. The others only wait.
    pub const fn changes(&self) -> bool {
        !matches!(
            self,
            Self::AwaitConsumers { .. }
                | Self::AwaitNodes { .. }
                | Self::Drain { .. }
                | Self::CheckEmpty { .. }
                | Self::CheckUnused { .. }
                | Self::Rest { .. }
        )
    }

    /// Whether AMQP has no method for it.
    pub const fn needs_management(&self) -> bool {
        matches!(self, Self::SetPolicy(_) | Self::DeletePolicy(_))
    }

    /// What takes it back, where something does.
    pub fn inverse(&self) -> Option<Self> {
        match self {
            Self::DeclareQueue(queue) => Some(Self::DeleteQueue(queue.name.clone())),
            Self::DeclareExchange(exchange) => Some(Self::DeleteExchange(exchange.clone())),
            Self::Bind(binding) => Some(Self::Unbind(binding.clone())),
            Self::Unbind(binding) => Some(Self::Bind(binding.clone())),
            Self::SetPolicy(policy) => Some(Self::DeletePolicy(policy.clone())),
            Self::DeletePolicy(policy) => Some(Self::SetPolicy(policy.clone())),
            Self::DeleteExchange(exchange) => Some(Self::DeclareExchange(exchange.clone())),
            Self::DeleteQueue(_) => None,
            Self::AwaitConsumers { .. }
            | Self::AwaitNodes { .. }
            | Self::Drain { .. }
            | Self::CheckEmpty { .. }
            | Self::CheckUnused { .. }
            | Self::Rest { .. } => None,
        }
    }

    /// What must be true before it.
    pub fn precondition(&self) -> Vec<Condition> {
        match self {
            Self::Bind(binding) => vec![
                Condition::Exchange(binding.source.clone()),
                match binding.destination_type {
                    DestinationType::Queue => Condition::Queue(binding.destination.clone()),
                    DestinationType::Exchange => Condition::Exchange(binding.destination.clone()),
                },
            ],
            Self::Unbind(binding) => vec![Condition::Bound(binding.clone())],
            Self::DeleteExchange(exchange) => vec![Condition::NoBinding(exchange.name.clone())],
            Self::DeleteQueue(queue) => {
                vec![Condition::Unreachable(queue.clone()), Condition::Empty(vec![queue.clone()])]
            }
            Self::DeclareQueue(_)
            | Self::DeclareExchange(_)
            | Self::SetPolicy(_)
            | Self::DeletePolicy(_)
            | Self::AwaitConsumers { .. }
            | Self::AwaitNodes { .. }
            | Self::Drain { .. }
            | Self::CheckEmpty { .. }
            | Self::CheckUnused { .. }
            | Self::Rest { .. } => Vec::new(),
        }
    }

    /// What is true after it.
    pub fn postcondition(&self) -> Vec<Condition> {
        match self {
            Self::DeclareQueue(queue) => vec![Condition::QueueAs(queue.clone())],
            Self::DeclareExchange(exchange) => vec![Condition::ExchangeAs(exchange.clone())],
            Self::Bind(binding) => vec![Condition::Bound(binding.clone())],
            Self::Unbind(binding) => vec![Condition::NotBound(binding.clone())],
            Self::SetPolicy(policy) => vec![Condition::PolicyAs(policy.clone())],
            Self::DeletePolicy(policy) => vec![Condition::NoPolicy(policy.name.clone())],
            Self::DeleteExchange(exchange) => vec![Condition::NoExchange(exchange.name.clone())],
            Self::DeleteQueue(queue) => vec![Condition::NoQueue(queue.clone())],
            Self::AwaitConsumers { queue, count } => {
                vec![Condition::Consumers { queue: queue.clone(), count: *count }]
            }
            Self::AwaitNodes { binding, bound } => {
                vec![Condition::EveryNode { binding: binding.clone(), bound: *bound }]
            }
            Self::Drain { queue, returning } => {
                let mut queues = vec![queue.clone()];
                queues.extend(returning.iter().cloned());
                vec![Condition::Empty(queues)]
            }
            Self::CheckEmpty { queue } => vec![Condition::Empty(vec![queue.clone()])],
            Self::CheckUnused { queue } => {
                vec![Condition::Empty(vec![queue.clone()]), Condition::NoConsumers(queue.clone())]
            }
            Self::Rest { ms } => vec![Condition::Rested { ms: *ms }],
        }
    }

    /// One word for documents.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::DeclareQueue(_) => "declare_queue",
            Self::DeclareExchange(_) => "declare_exchange",
            Self::Bind(_) => "bind",
            Self::Unbind(_) => "unbind",
            Self::SetPolicy(_) => "set_policy",
            Self::DeletePolicy(_) => "delete_policy",
            Self::DeleteExchange(_) => "delete_exchange",
            Self::DeleteQueue(_) => "delete_queue",
            Self::AwaitConsumers { .. } => "await_consumers",
            Self::AwaitNodes { .. } => "await_nodes",
            Self::Drain { .. } => "drain",
            Self::CheckEmpty { .. } => "check_empty",
            Self::CheckUnused { .. } => "check_unused",
            Self::Rest { .. } => "rest",
        }
    }

    /// The action as documents carry it.
    pub fn to_json(&self) -> Json {
        let table = |table: &dyn Fn() -> Result<Json, serde_json::Error>| table().unwrap_or_default();
        let mut json = match self {
            Self::DeclareQueue(queue) => json!({ "queue": table(&|| serde_json::to_value(QueueTable::of(queue))) }),
            Self::DeclareExchange(exchange) | Self::DeleteExchange(exchange) => {
                json!({ "exchange": table(&|| serde_json::to_value(ExchangeTable::of(exchange))) })
            }
            Self::Bind(binding) | Self::Unbind(binding) => json!({ "binding": binding_json(binding) }),
            Self::SetPolicy(policy) | Self::DeletePolicy(policy) => json!({ "policy": {
                "name": policy.name, "pattern": policy.pattern, "apply_to": policy.apply_to,
                "priority": policy.priority, "definition": policy.definition,
            }}),
            Self::DeleteQueue(queue) | Self::CheckEmpty { queue } | Self::CheckUnused { queue } => {
                json!({ "queue": { "name": queue } })
            }
            Self::AwaitConsumers { queue, count } => json!({ "queue": { "name": queue }, "count": count }),
            Self::AwaitNodes { binding, bound } => json!({ "binding": binding_json(binding), "bound": bound }),
            Self::Drain { queue, returning } => json!({ "queue": { "name": queue }, "returning": returning }),
            Self::Rest { ms } => json!({ "ms": ms }),
        };
        if let Some(object) = json.as_object_mut() {
            object.insert("action".to_owned(), self.name().into());
        }
        json
    }
}

fn binding_json(binding: &BindingDeclaration) -> Json {
    serde_json::to_value(BindingTable::of(binding)).unwrap_or_default()
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DeclareQueue(queue) => {
                write!(f, "declare queue {} ({})", shown_name(&queue.name), describe_queue(queue))
            }
            Self::DeclareExchange(exchange) => {
                write!(f, "declare exchange {} ({})", shown_name(&exchange.name), describe_exchange(exchange))
            }
            Self::Bind(binding) => write!(f, "bind {}", arrow(binding)),
            Self::Unbind(binding) => write!(f, "unbind {}", arrow(binding)),
            Self::SetPolicy(policy) => {
                write!(f, "set policy {} on {}", shown_name(&policy.name), shown_name(&policy.pattern))
            }
            Self::DeletePolicy(policy) => write!(f, "delete policy {}", shown_name(&policy.name)),
            Self::DeleteExchange(exchange) => write!(f, "delete exchange {}", shown_name(&exchange.name)),
            Self::DeleteQueue(queue) => write!(f, "delete queue {}", shown_name(queue)),
            Self::AwaitConsumers { queue, count } => {
                write!(f, "wait until queue {} has {}", shown_name(queue), counted(*count, "consumer"))
            }
            Self::AwaitNodes { binding, bound } => {
                let what = if *bound { "has" } else { "has dropped" };
                write!(f, "wait until every node {what} {}", arrow(binding))
            }
            Self::Drain { queue, returning } => {
                write!(f, "wait until queue {} is empty", shown_name(queue))?;
                for name in returning {
                    write!(f, ", and {}", shown_name(name))?;
                }
                Ok(())
            }
            Self::CheckEmpty { queue } => write!(f, "make sure that queue {} is empty", shown_name(queue)),
            Self::CheckUnused { queue } => {
                write!(f, "make sure that queue {} is empty and has no consumer", shown_name(queue))
            }
            Self::Rest { ms } => write!(f, "wait {ms} ms"),
        }
    }
}

/// `orders -> orders.new [order.*]`
pub(super) fn arrow(binding: &BindingDeclaration) -> String {
    let mut text = format!("{} -> {}", shown_name(&binding.source), shown_name(&binding.destination));
    text.push_str(&format!(" [{}]", shown_name(&binding.routing_key)));
    if !binding.arguments.is_empty() {
        text.push_str(&crate::topology::describe_binding_arguments(&binding.arguments));
    }
    text
}

/// Something that is true or false of a vhost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// A queue of that name is there.
    Queue(String),
    /// That queue is there, equivalent to the declaration.
    QueueAs(QueueDeclaration),
    /// No queue of that name is there.
    NoQueue(String),
    /// An exchange of that name is there.
    Exchange(String),
    /// That exchange is there, equivalent to the declaration.
    ExchangeAs(ExchangeDeclaration),
    /// No exchange of that name is there.
    NoExchange(String),
    /// The binding is there.
    Bound(BindingDeclaration),
    /// The binding is not there.
    NotBound(BindingDeclaration),
    /// The policy is there, with this pattern, priority and definition.
    PolicyAs(PolicyDeclaration),
    /// No policy of that name is there.
    NoPolicy(String),
    /// The policy is the one that applies to the exchange.
    InForce {
        /// The exchange.
        exchange: String,
        /// The policy.
        policy: String,
    },
    /// The queue is bound to these exchanges and to no other one but the default exchange.
    OnlySources {
        /// The queue.
        queue: String,
        /// The exchanges, sorted.
        sources: Vec<String>,
    },
    /// Only the default exchange leads to the queue.
    Unreachable(String),
    /// No binding starts or ends at the exchange.
    NoBinding(String),
    /// The queue has at least so many consumers.
    Consumers {
        /// The queue.
        queue: String,
        /// How many.
        count: u32,
    },
    /// Every running node knows that the binding is there, or is gone.
    EveryNode {
        /// The binding.
        binding: BindingDeclaration,
        /// Whether it is there.
        bound: bool,
    },
    /// The queues hold nothing, neither ready nor unacknowledged.
    Empty(Vec<String>),
    /// Nobody consumes from the queue.
    NoConsumers(String),
    /// The time has passed.
    Rested {
        /// Milliseconds.
        ms: u64,
    },
}

impl Condition {
    /// Whether it holds in `state`; `None` where a table of exchanges, queues and bindings cannot tell.
    pub fn holds(&self, state: &State) -> Option<bool> {
        let version = state.broker.version.unwrap_or(crate::rabbitmq::Version::NEWEST);
        let is_there = |presence: Presence<()>| match presence {
            Presence::There(()) => Some(true),
            Presence::Absent => Some(false),
            Presence::Unknown => None,
        };
        let queue = |name: &str| match state.queue(name) {
            Presence::There(queue) => Some(Some(queue.clone())),
            Presence::Absent => Some(None),
            Presence::Unknown => None,
        };
        match self {
            Self::Queue(name) => queue(name).map(|queue| queue.is_some()),
            Self::NoQueue(name) => queue(name).map(|queue| queue.is_none()),
            Self::QueueAs(wanted) => queue(&wanted.name).map(|stored| {
                stored.is_some_and(|stored| {
                    let request = with_default_type(state, wanted);
                    !queue_differences(version, &stored, &request).iter().any(|difference| difference.compared)
                })
            }),
            Self::Exchange(name) => match state.exchange(name) {
                Presence::There(_) => Some(true),
                Presence::Absent => Some(false),
                Presence::Unknown => None,
            },
            Self::NoExchange(name) => Self::Exchange(name.clone()).holds(state).map(|there| !there),
            Self::ExchangeAs(wanted) => match state.exchange(&wanted.name) {
                Presence::There(stored) => {
                    let differences = exchange_differences(version, &stored, wanted);
                    Some(!differences.iter().any(|difference| difference.compared))
                }
                Presence::Absent => Some(false),
                Presence::Unknown => None,
            },
            Self::Bound(binding) => is_there(state.binding(binding)),
            Self::NotBound(binding) => is_there(state.binding(binding)).map(|there| !there),
            Self::PolicyAs(wanted) => match state.policy(&wanted.name) {
                Presence::There(stored) => Some(stored == wanted),
                Presence::Absent => Some(false),
                Presence::Unknown => None,
            },
            Self::NoPolicy(name) => match state.policy(name) {
                Presence::There(_) => Some(false),
                Presence::Absent => Some(true),
                Presence::Unknown => None,
            },
            Self::InForce { exchange, policy } => match Policies::new(state).for_exchange(exchange).winner {
                Winner::One(winner) => Some(winner.name == *policy),
                Winner::Nobody | Winner::Tie(_) => Some(false),
                Winner::Undecidable { .. } => None,
            },
            Self::OnlySources { queue, sources } => state.known.bindings.then(|| {
                let mut found: Vec<&str> = leading_to(state, queue).map(|binding| binding.source.as_str()).collect();
                found.sort_unstable();
                found.dedup();
                found == *sources
            }),
            Self::Unreachable(queue) => state.known.bindings.then(|| leading_to(state, queue).next().is_none()),
            Self::NoBinding(exchange) => state.known.bindings.then(|| !state.bindings.names_exchange(exchange)),
            Self::Consumers { .. }
            | Self::EveryNode { .. }
            | Self::Empty(_)
            | Self::NoConsumers(_)
            | Self::Rested { .. } => None,
        }
    }

    /// Whether only the broker's own word on messages, consumers or nodes can tell.
    pub const fn is_observed(&self) -> bool {
        matches!(
            self,
            Self::Consumers { .. }
                | Self::EveryNode { .. }
                | Self::Empty(_)
                | Self::NoConsumers(_)
                | Self::Rested { .. }
        )
    }
}

/// The bindings that lead to a queue.
pub(super) fn leading_to<'a>(state: &'a State, queue: &str) -> impl Iterator<Item = &'a BindingDeclaration> {
    let queue = queue.to_owned();
    (state.bindings.iter())
        .filter(move |binding| binding.destination_type == DestinationType::Queue && binding.destination == queue)
}

/// The bindings that lead to an exchange.
pub(super) fn leading_to_exchange<'a>(
    state: &'a State,
    exchange: &str,
) -> impl Iterator<Item = &'a BindingDeclaration> {
    let exchange = exchange.to_owned();
    (state.bindings.iter())
        .filter(move |binding| binding.destination_type == DestinationType::Exchange && binding.destination == exchange)
}

/// The declaration as the broker completes it.
pub(super) fn with_default_type(state: &State, queue: &QueueDeclaration) -> QueueDeclaration {
    let version = state.broker.version.unwrap_or(crate::rabbitmq::Version::NEWEST);
    let mut conditions = crate::rabbitmq::Conditions::new(version, state.vhost.clone());
    conditions.default_queue_type.clone_from(&state.default_queue_type);
    crate::rabbitmq::effective_request(&conditions, queue).into_owned()
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(name) => write!(f, "queue {} is there", shown_name(name)),
            Self::QueueAs(queue) => {
                write!(f, "queue {} is there ({})", shown_name(&queue.name), describe_queue(queue))
            }
            Self::NoQueue(name) => write!(f, "there is no queue {}", shown_name(name)),
            Self::Exchange(name) => write!(f, "exchange {} is there", shown_name(name)),
            Self::ExchangeAs(exchange) => {
                write!(f, "exchange {} is there ({})", shown_name(&exchange.name), describe_exchange(exchange))
            }
            Self::NoExchange(name) => write!(f, "there is no exchange {}", shown_name(name)),
            Self::Bound(binding) => write!(f, "{} is bound", arrow(binding)),
            Self::NotBound(binding) => write!(f, "{} is not bound", arrow(binding)),
            Self::PolicyAs(policy) => write!(f, "policy {} is there", shown_name(&policy.name)),
            Self::NoPolicy(name) => write!(f, "there is no policy {}", shown_name(name)),
            Self::InForce { exchange, policy } => {
                write!(f, "policy {} is the one in force for exchange {}", shown_name(policy), shown_name(exchange))
            }
            Self::OnlySources { queue, sources } => {
                let sources: Vec<_> = sources.iter().map(|source| shown_name(source)).collect();
                write!(f, "queue {} is bound to {} only", shown_name(queue), sources.join(", "))
            }
            Self::Unreachable(queue) => write!(f, "no exchange leads to queue {}", shown_name(queue)),
            Self::NoBinding(exchange) => write!(f, "exchange {} has no binding", shown_name(exchange)),
            Self::Consumers { queue, count } => {
                write!(f, "queue {} has at least {}", shown_name(queue), counted(*count, "consumer"))
            }
            Self::EveryNode { binding, bound } => {
                let what = if *bound { "has" } else { "has dropped" };
                write!(f, "every running node {what} {}", arrow(binding))
            }
            Self::Empty(queues) => {
                let queues: Vec<_> = queues.iter().map(|queue| shown_name(queue)).collect();
                write!(f, "nothing is ready or unacknowledged in {}", queues.join(", "))
            }
            Self::NoConsumers(queue) => write!(f, "queue {} has no consumer", shown_name(queue)),
            Self::Rested { ms } => write!(f, "{ms} ms have passed"),
        }
    }
}

impl Serialize for Condition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
