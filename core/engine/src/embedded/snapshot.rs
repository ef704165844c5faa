//! From a state or a topology to a broker that holds it, and back to a state.

use super::store::Entry;
use super::{Caller, ChannelId, EmbeddedBroker, MessageId};
use crate::rabbitmq::{Broker, Conditions, Declaration, ExchangeDeclaration, Properties, Refused, Version};
use crate::state::{DefaultTypeOrigin, State, predeclared_exchange};
use crate::topology::Tables;
use std::fmt;
use std::sync::Arc;

/// A declaration that the broker refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotDeclared {
    /// What was asked for.
    pub declaration: Box<Declaration>,
    /// What the broker said.
    pub refused: Refused,
}

impl fmt::Display for NotDeclared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match &*self.declaration {
            Declaration::Exchange(exchange) => ("exchange", exchange.name.escape_debug().to_string()),
            Declaration::Queue(queue) => ("queue", queue.name.escape_debug().to_string()),
            Declaration::Binding(binding) => {
                ("binding", format!("{} -> {}", binding.source.escape_debug(), binding.destination.escape_debug()))
            }
        };
        write!(f, "cannot declare {kind} \"{name}\": {} ({})", self.refused.text, self.refused.code)
    }
}

impl std::error::Error for NotDeclared {}

impl EmbeddedBroker {
    /// A broker that holds what `state` holds, whatever the rules say about it: it is there. Queues that are exclusive
    /// belong to a connection that nobody here has. A state that names no version is held by the newest known one.
    pub fn holding(state: &State) -> Self {
        let mut conditions = Conditions::new(state.broker.version.unwrap_or(Version::NEWEST), state.vhost.clone());
        conditions.default_queue_type.clone_from(&state.default_queue_type);
        Self::with_state(conditions, state)
    }

    /// A broker under `conditions` that holds what `state` holds.
    pub fn with_state(conditions: Conditions, state: &State) -> Self {
        let mut broker = Self::new(conditions);
        for exchange in state.exchanges.values() {
            broker.router.add_exchange(exchange.clone());
        }
        let elsewhere = broker.connect();
        for queue in state.queues.values() {
            broker.add_queue(queue.clone(), elsewhere);
        }
        for binding in state.bindings.iter() {
            broker.router.bind(binding.clone());
        }
        // Set at the end, so that every pattern is compiled once and not for each queue.
        broker.policies.clone_from(&state.policies);
        broker.operator_policies.clone_from(&state.operator_policies);
        broker.apply_policies();
        broker
    }

    /// Declares everything of `tables` in its order. An external exchange that is missing is taken to be there; one whose
    /// type the topology does not say has the empty type, which routes nothing that could be known.
    ///
    /// # Errors
    /// The first declaration that the broker refuses; what came before it stays declared.
    pub fn declare_all(&mut self, caller: impl Into<Caller>, tables: &Tables) -> Result<(), NotDeclared> {
        let caller = caller.into();
        let not_declared = |declaration| move |refused| NotDeclared { declaration: Box::new(declaration), refused };
        for external in &tables.external {
            let kind = external.kind.clone().unwrap_or_default();
            let exchange = ExchangeDeclaration::durable(external.name.clone(), kind);
            self.router.add_exchange(exchange);
        }
        for exchange in &tables.exchanges {
            let declaration = &exchange.declaration;
            self.declare_exchange(caller, declaration)
                .map_err(not_declared(Declaration::Exchange(declaration.clone())))?;
        }
        for queue in &tables.queues {
            let declaration = &queue.declaration;
            self.declare_queue(caller, declaration).map_err(not_declared(Declaration::Queue(declaration.clone())))?;
        }
        for binding in &tables.bindings {
            let declaration = &binding.declaration;
            self.bind(caller, declaration).map_err(not_declared(Declaration::Binding(declaration.clone())))?;
        }
        Ok(())
    }

    /// Everything that this vhost holds.
    pub fn state(&self) -> State {
        let conditions = self.conditions();
        let mut state = State::empty(Broker::rabbitmq(conditions.version), conditions.vhost.clone());
        state.default_queue_type.clone_from(&conditions.default_queue_type);
        if state.default_queue_type.is_some() {
            state.default_type_origin = DefaultTypeOrigin::Vhost;
        }
        for exchange in self.router.declarations().filter(|exchange| predeclared_exchange(&exchange.name).is_none()) {
            state.insert_exchange(exchange.clone());
        }
        state.queues = self.queues.iter().map(|(name, queue)| (name.clone(), queue.declaration.clone())).collect();
        state.bindings = self.router.bindings().clone();
        state.policies.clone_from(&self.policies);
        state.operator_policies.clone_from(&self.operator_policies);
        state
    }

    /// What a queue holds; `None` when there is no such queue.
    pub fn contents(&self, name: &str) -> Option<QueueContents> {
        let queue = self.queues.get(name)?;
        let is_quorum = queue.is_quorum();
        let plain = |message: &super::message::Message| Entry {
            message: message.clone(),
            position: 0,
            expires_at: None,
            returned: 0,
            failed: message.failed,
            size: 0,
        };
        let ready: Vec<Entry> =
            if queue.is_stream() { queue.log.iter().map(plain).collect() } else { queue.store.in_order() };
        let waiting = queue.pending.iter().map(|pending| plain(&pending.message));
        Some(QueueContents {
            ready: ready.iter().map(|entry| self.stored(entry, is_quorum)).collect(),
            unacknowledged: queue.unacknowledged,
            waiting: waiting.map(|entry| self.stored(&entry, false)).collect(),
            consumers: super::publish::count(queue.consumers.len()),
        })
    }

    fn stored(&self, entry: &Entry, is_quorum: bool) -> StoredMessage {
        StoredMessage {
            message: entry.message.id,
            exchange: entry.message.exchange.clone(),
            routing_key: entry.message.routing_key(),
            properties: self.shown_properties(entry, is_quorum, true),
            body: entry.message.body.clone(),
            expires_at: entry.expires_at,
            redelivered: self.shown_redelivered(entry, is_quorum),
        }
    }

    /// Whether the channel waits for the acknowledgement of that delivery.
    pub fn awaits(&self, channel: ChannelId, delivery_tag: u64) -> bool {
        let channel = self.connections.channel(channel);
        channel.is_some_and(|channel| channel.unacknowledged.contains_key(&delivery_tag))
    }

    /// The names of all queues, sorted.
    pub fn queue_names(&self) -> impl Iterator<Item = &str> {
        self.queues.keys().map(String::as_str)
    }
}

/// What a queue holds.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueContents {
    /// Messages that are ready, in the order in which they would leave.
    pub ready: Vec<StoredMessage>,
    /// How many messages consumers hold.
    pub unacknowledged: u32,
    /// Dead letters that wait until their targets take them.
    pub waiting: Vec<StoredMessage>,
    /// How many consumers there are.
    pub consumers: u32,
}

/// A message in a queue, as `basic.get` would give it.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMessage {
    /// The publication that it goes back to.
    pub message: MessageId,
    /// The exchange that it was last published to.
    pub exchange: String,
    /// The routing key that it was last published with.
    pub routing_key: String,
    /// Properties, with the headers that the broker adds.
    pub properties: Properties,
    /// The body.
    pub body: Arc<[u8]>,
    /// When it expires, in milliseconds of the virtual clock.
    pub expires_at: Option<u64>,
    /// Whether it was given out before.
    pub redelivered: bool,
}
