//! Declaring, asking passively, binding.

use super::{Caller, ConnectionId, EmbeddedBroker, Queue};
use crate::rabbitmq::{
    self, BindingDeclaration, Conditions, DestinationType, ExchangeDeclaration, ExistingQueue, Limit, Owner,
    QueueDeclaration, Refused, stored_name,
};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// What `queue.declare-ok` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueStatus {
    /// The queue's name: the one that the broker gave when the request named none.
    pub name: String,
    /// Messages that are ready to be delivered.
    pub messages: u32,
    /// Consumers.
    pub consumers: u32,
}

impl EmbeddedBroker {
    /// `queue.declare`.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::declare_queue`] says; 504 when the caller is closed.
    pub fn declare_queue(
        &mut self,
        caller: impl Into<Caller>,
        request: &QueueDeclaration,
    ) -> Result<QueueStatus, Refused> {
        self.answer(caller.into(), |broker, connection| {
            let name = stored_name(&request.name);
            let existing = broker.existing(&name, connection);
            let mut stored = rabbitmq::declare_queue(&broker.conditions_of(connection), existing, request)?;
            if existing.is_none() {
                if stored.name.is_empty() {
                    stored.name = broker.give_name();
                }
                let name = stored.name.clone();
                let owner = stored.exclusive.then_some(connection);
                broker.queues.insert(name.clone(), Queue { declaration: stored, owner });
                return Ok(broker.status(&name));
            }
            Ok(broker.status(&name))
        })
    }

    /// `queue.declare` with `passive`: is it there?
    ///
    /// # Errors
    /// 404 when it is not, and what [`rabbitmq::declare_queue_passively`] says; 504 when the caller is closed.
    pub fn declare_queue_passively(&mut self, caller: impl Into<Caller>, name: &str) -> Result<QueueStatus, Refused> {
        self.answer(caller.into(), |broker, connection| {
            let stored = stored_name(name);
            let existing = broker.existing(&stored, connection);
            rabbitmq::declare_queue_passively(&broker.conditions_of(connection), existing, name)?;
            Ok(broker.status(&stored))
        })
    }

    /// `exchange.declare`.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::declare_exchange`] says; 504 when the caller is closed.
    pub fn declare_exchange(
        &mut self,
        caller: impl Into<Caller>,
        request: &ExchangeDeclaration,
    ) -> Result<(), Refused> {
        self.answer(caller.into(), |broker, connection| {
            let existing = broker.exchanges.get(&*stored_name(&request.name));
            let stored = rabbitmq::declare_exchange(&broker.conditions_of(connection), existing, request)?;
            broker.exchanges.entry(stored.name.clone()).or_insert(stored);
            Ok(())
        })
    }

    /// `exchange.declare` with `passive`: is it there?
    ///
    /// # Errors
    /// 404 when it is not, and what [`rabbitmq::declare_exchange_passively`] says; 504 when the caller is closed.
    pub fn declare_exchange_passively(&mut self, caller: impl Into<Caller>, name: &str) -> Result<(), Refused> {
        self.answer(caller.into(), |broker, connection| {
            let existing = broker.exchanges.get(&*stored_name(name));
            rabbitmq::declare_exchange_passively(&broker.conditions_of(connection), existing, name)
        })
    }

    /// `queue.bind` or `exchange.bind`. Binding again changes nothing.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::bind`] says; 504 when the caller is closed.
    pub fn bind(&mut self, caller: impl Into<Caller>, request: &BindingDeclaration) -> Result<(), Refused> {
        self.answer(caller.into(), |broker, connection| {
            let binding = stored_binding(request);
            let source = broker.exchanges.get(&binding.source);
            let (there, locked) = match binding.destination_type {
                DestinationType::Exchange => (broker.exchanges.contains_key(&binding.destination), false),
                DestinationType::Queue => match broker.existing(&binding.destination, connection) {
                    Some(queue) => (true, queue.owner == Owner::Another),
                    None => (false, false),
                },
            };
            rabbitmq::bind(&broker.conditions_of(connection), &binding, source, there, locked)?;
            broker.bindings.insert(binding);
            Ok(())
        })
    }

    /// The circumstances of a request of that connection, with what is used of each limit.
    pub(super) fn conditions_of(&self, _connection: ConnectionId) -> Conditions {
        let mut conditions = self.conditions.clone();
        let used =
            |objects: usize| move |limit: Limit| Limit { declared: objects.try_into().unwrap_or(u64::MAX), ..limit };
        conditions.queue_limit = conditions.queue_limit.map(used(self.queues.len()));
        conditions.cluster_queue_limit = conditions.cluster_queue_limit.map(used(self.queues.len()));
        conditions.exchange_limit = conditions.exchange_limit.map(used(self.exchanges.len()));
        conditions
    }

    pub(super) fn existing(&self, name: &str, connection: ConnectionId) -> Option<ExistingQueue<'_>> {
        let queue = self.queues.get(name)?;
        let owner = match queue.owner {
            None => Owner::Nobody,
            Some(owner) if owner == connection => Owner::Requester,
            Some(_) => Owner::Another,
        };
        Some(ExistingQueue { declaration: &queue.declaration, owner })
    }

    pub(super) fn status(&self, name: &str) -> QueueStatus {
        QueueStatus { name: name.to_owned(), messages: 0, consumers: 0 }
    }

    /// A name as the broker makes them: `amq.gen-` and 22 characters of URL-safe base64.
    fn give_name(&mut self) -> String {
        self.named = self.named.saturating_add(1);
        let digest = Sha256::digest(self.named.to_be_bytes());
        let unique = digest.get(..16).unwrap_or_default();
        format!("amq.gen-{}", BASE64_URL_SAFE_NO_PAD.encode(unique))
    }
}

/// A binding under the names that the broker stores: without CR and LF.
pub(super) fn stored_binding(request: &BindingDeclaration) -> BindingDeclaration {
    BindingDeclaration {
        source: stored_name(&request.source).into_owned(),
        destination: stored_name(&request.destination).into_owned(),
        ..request.clone()
    }
}
