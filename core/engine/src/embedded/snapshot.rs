//! From a state or a topology to a broker that holds it, and back to a state.

use super::{Caller, EmbeddedBroker, Queue};
use crate::rabbitmq::{Broker, Conditions, Declaration, ExchangeDeclaration, Refused, Version};
use crate::state::{DefaultTypeOrigin, State, predeclared_exchange};
use crate::topology::Tables;
use std::fmt;

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
        let mut broker = Self::new(conditions);
        for exchange in state.exchanges.values() {
            broker.exchanges.insert(exchange.name.clone(), exchange.clone());
        }
        let elsewhere = broker.connect();
        for queue in state.queues.values() {
            let owner = queue.exclusive.then_some(elsewhere);
            broker.queues.insert(queue.name.clone(), Queue { declaration: queue.clone(), owner });
        }
        for binding in state.bindings.iter() {
            broker.bindings.insert(binding.clone());
        }
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
            self.exchanges.entry(external.name.clone()).or_insert(exchange);
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
        state.exchanges = self
            .exchanges
            .iter()
            .filter(|(name, _)| predeclared_exchange(name).is_none())
            .map(|(name, exchange)| (name.clone(), exchange.clone()))
            .collect();
        state.queues = self.queues.iter().map(|(name, queue)| (name.clone(), queue.declaration.clone())).collect();
        state.bindings = self.bindings.all().clone();
        state
    }
}
