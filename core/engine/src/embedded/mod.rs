//! A broker without a server: one vhost in memory that answers as RabbitMQ of a chosen version answers.
//!
//! Connections declare exchanges and queues, bind them, ask for them and delete them. Every answer to a declaration comes
//! from the rules in [`rabbitmq`](crate::rabbitmq), the same that a plan reads, so a refusal carries the broker's own code
//! and text and closes what the broker would close. An exclusive queue belongs to the connection that declared it and goes
//! with it.
//!
//! Nothing here reads a clock or draws a random number: the same calls give the same answers, server-given names included.
//!
//! ```
//! use acemq_core::embedded::EmbeddedBroker;
//! use acemq_core::rabbitmq::{Conditions, QueueDeclaration, Version};
//!
//! let mut broker = EmbeddedBroker::new(Conditions::new(Version::new(4, 0, 5), "/"));
//! let service = broker.connect();
//! broker.declare_queue(service, &QueueDeclaration::durable("orders").with("x-message-ttl", 60000)).unwrap();
//! let refused = broker.declare_queue(service, &QueueDeclaration::durable("orders")).unwrap_err();
//! assert_eq!(
//!     refused.text,
//!     "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost '/': \
//!      received none but current is the value '60000' of type 'long'"
//! );
//! ```

mod bindings;
mod connections;
mod declare;
mod planned;
mod remove;
mod snapshot;
#[cfg(test)]
mod tests;

pub use connections::{Caller, ChannelId, ConnectionId};
pub use declare::QueueStatus;
pub use snapshot::NotDeclared;

use crate::rabbitmq::{Conditions, ExchangeDeclaration, QueueDeclaration};
use crate::state::{PREDECLARED_EXCHANGES, predeclared_exchange};
use bindings::BindingTable;
use connections::Connections;
use std::collections::BTreeMap;

/// One vhost of a RabbitMQ, in memory.
#[derive(Debug, Clone)]
pub struct EmbeddedBroker {
    /// Version, vhost and its settings; user and permissions are those of a connection that names no user.
    conditions: Conditions,
    exchanges: BTreeMap<String, ExchangeDeclaration>,
    queues: BTreeMap<String, Queue>,
    bindings: BindingTable,
    connections: Connections,
    /// How many names the broker has given to queues.
    named: u64,
}

/// A queue as the broker holds it.
#[derive(Debug, Clone)]
struct Queue {
    declaration: QueueDeclaration,
    /// The connection that an exclusive queue belongs to.
    owner: Option<ConnectionId>,
}

impl EmbeddedBroker {
    /// A vhost that holds nothing but the exchanges that every vhost has.
    pub fn new(conditions: Conditions) -> Self {
        let exchanges = PREDECLARED_EXCHANGES
            .iter()
            .filter_map(|(name, _)| predeclared_exchange(name))
            .map(|exchange| (exchange.name.clone(), exchange))
            .collect();
        Self {
            conditions,
            exchanges,
            queues: BTreeMap::new(),
            bindings: BindingTable::default(),
            connections: Connections::default(),
            named: 0,
        }
    }

    /// Version, vhost, user, permissions and limits that answers depend on.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }
}
