//! A broker without a server: one vhost in memory that answers as RabbitMQ of a chosen version answers.
//!
//! Connections declare exchanges and queues, bind them, publish, consume, acknowledge; messages expire, overflow, die and are
//! dead-lettered. Every answer comes from the rules in [`rabbitmq`](crate::rabbitmq), the same that a plan reads, so a
//! refusal carries the broker's own code and text and closes what the broker would close; where messages go is decided by
//! [`routing`](crate::routing).
//!
//! Nothing here reads a clock or draws a random number. Time passes when [`advance`](EmbeddedBroker::advance) is called, and
//! what RabbitMQ does a moment later happens before a call returns: the same calls give the same answers, server-given names
//! included.
//!
//! ```
//! use acemq_core::embedded::{EmbeddedBroker, Publication};
//! use acemq_core::rabbitmq::{Conditions, QueueDeclaration, Version};
//! use acemq_core::value::Value;
//!
//! let mut broker = EmbeddedBroker::new(Conditions::new(Version::new(4, 0, 5), "/"));
//! let service = broker.connect();
//! let orders = QueueDeclaration::durable("orders")
//!     .with("x-message-ttl", 60000)
//!     .with("x-dead-letter-exchange", "")
//!     .with("x-dead-letter-routing-key", "orders.dlq");
//! broker.declare_queue(service, &orders).unwrap();
//! broker.declare_queue(service, &QueueDeclaration::durable("orders.dlq")).unwrap();
//!
//! broker.publish(service, Publication::new("", "orders", "one")).unwrap();
//! broker.advance(60_000);
//! let channel = broker.open_channel(service).unwrap();
//! let dead = broker.get(channel, "orders.dlq", true).unwrap().unwrap();
//! assert_eq!(dead.properties.headers.get("x-first-death-reason"), Some(&Value::from("expired")));
//!
//! let refused = broker.declare_queue(service, &QueueDeclaration::durable("orders.dlq").with("x-expires", 5)).unwrap_err();
//! assert_eq!(
//!     refused.text,
//!     "PRECONDITION_FAILED - inequivalent arg 'x-expires' for queue 'orders.dlq' in vhost '/': \
//!      received the value '5' of type 'long' but current is none"
//! );
//! ```

mod channel;
mod clock;
mod connections;
mod consume;
mod death;
mod declare;
mod deliver;
mod history;
mod message;
mod planned;
mod policies;
mod publish;
mod queue;
mod remove;
pub mod scenario;
mod settings;
mod settle;
mod snapshot;
mod store;
#[cfg(test)]
mod tests;

pub use channel::{Delivery, Event};
pub use connections::{Caller, ChannelId, ConnectionId};
pub use consume::Subscription;
pub use death::DeathReason;
pub use declare::QueueStatus;
pub use history::{Happening, Loss, What};
pub use message::{MessageId, Publication};
pub use publish::Published;
pub use snapshot::{NotDeclared, QueueContents, StoredMessage};

use crate::rabbitmq::{Conditions, Permissions, PolicyDeclaration};
use crate::routing::Router;
use crate::state::{PREDECLARED_EXCHANGES, predeclared_exchange};
use connections::Connections;
use publish::DeadLetter;
use queue::Queue;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// One vhost of a RabbitMQ, in memory.
#[derive(Debug, Clone)]
pub struct EmbeddedBroker {
    /// Version, vhost and its settings; user and permissions are those of a connection that names no user.
    conditions: Conditions,
    /// Further users.
    users: BTreeMap<String, Permissions>,
    /// Exchanges and bindings.
    router: Router,
    queues: BTreeMap<String, Queue>,
    connections: Connections,
    policies: Vec<PolicyDeclaration>,
    operator_policies: Vec<PolicyDeclaration>,
    /// Milliseconds.
    now: u64,
    /// How many names the broker has given, how many queues there have been, how many messages were published.
    named: u64,
    numbered: u64,
    published: u64,
    /// Messages between their queue and the dead-letter exchange.
    dying: VecDeque<DeadLetter>,
    /// The queues whose dead letters wait until their targets take them.
    waiting: BTreeSet<String>,
    /// When something happens by itself next, in which queue: exactly what [`Queue::due`] says of each.
    due: BTreeSet<(u64, String)>,
    history: Option<Vec<Happening>>,
}

impl EmbeddedBroker {
    /// A vhost that holds nothing but the exchanges that every vhost has.
    pub fn new(conditions: Conditions) -> Self {
        let mut router = Router::new(conditions.version);
        for (name, _) in PREDECLARED_EXCHANGES {
            if let Some(exchange) = predeclared_exchange(name) {
                router.add_exchange(exchange);
            }
        }
        Self {
            conditions,
            users: BTreeMap::new(),
            router,
            queues: BTreeMap::new(),
            connections: Connections::default(),
            policies: Vec::new(),
            operator_policies: Vec::new(),
            now: 0,
            named: 0,
            numbered: 0,
            published: 0,
            dying: VecDeque::new(),
            waiting: BTreeSet::new(),
            due: BTreeSet::new(),
            history: None,
        }
    }

    /// Version, vhost, user, permissions and limits that answers depend on.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// The exchange graph.
    pub fn router(&self) -> &Router {
        &self.router
    }
}
