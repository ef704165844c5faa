//! Declaring, asking passively, binding.

use super::publish::count;
use super::queue::Queue;
use super::{Caller, ConnectionId, EmbeddedBroker};
use crate::rabbitmq::{
    self, BindingDeclaration, DestinationType, ExchangeDeclaration, ExistingQueue, Owner, QueueDeclaration, Refused,
    stored_name,
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
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let name = stored_name(&request.name);
            let existing = broker.existing(&name, connection);
            let is_new = existing.is_none();
            let mut stored = rabbitmq::declare_queue(&broker.conditions_of(connection), existing, request)?;
            if is_new {
                if stored.name.is_empty() {
                    stored.name = broker.give_name("amq.gen-");
                }
                let name = stored.name.clone();
                broker.add_queue(stored, connection);
                Ok(broker.declared(caller, &name))
            } else {
                Ok(broker.declared(caller, &name))
            }
        })
    }

    /// `queue.declare` with `passive`: is it there?
    ///
    /// # Errors
    /// 404 when it is not, and what [`rabbitmq::declare_queue_passively`] says; 504 when the caller is closed.
    pub fn declare_queue_passively(&mut self, caller: impl Into<Caller>, name: &str) -> Result<QueueStatus, Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let stored = stored_name(name);
            let existing = broker.existing(&stored, connection);
            rabbitmq::declare_queue_passively(&broker.conditions_of(connection), existing, name)?;
            Ok(broker.declared(caller, &stored))
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
            let existing = broker.router.declaration(&stored_name(&request.name));
            let stored = rabbitmq::declare_exchange(&broker.conditions_of(connection), existing, request)?;
            broker.add_exchange(stored);
            Ok(())
        })
    }

    /// `exchange.declare` with `passive`: is it there?
    ///
    /// # Errors
    /// 404 when it is not, and what [`rabbitmq::declare_exchange_passively`] says; 504 when the caller is closed.
    pub fn declare_exchange_passively(&mut self, caller: impl Into<Caller>, name: &str) -> Result<(), Refused> {
        self.answer(caller.into(), |broker, connection| {
            let existing = broker.router.declaration(&stored_name(name));
            rabbitmq::declare_exchange_passively(&broker.conditions_of(connection), existing, name)
        })
    }

    /// `queue.bind` or `exchange.bind`. Binding again changes nothing. A queue that is not named is the one that the channel
    /// declared last, and then an empty routing key is its name.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::bind`] says; 504 when the caller is closed.
    pub fn bind(&mut self, caller: impl Into<Caller>, request: &BindingDeclaration) -> Result<(), Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let binding = broker.stored_binding(caller, connection, request)?;
            let source = broker.router.declaration(&binding.source);
            let (there, locked) = match binding.destination_type {
                DestinationType::Exchange => (broker.router.has_exchange(&binding.destination), false),
                DestinationType::Queue => match broker.existing(&binding.destination, connection) {
                    Some(queue) => (true, queue.owner == Owner::Another),
                    None => (false, false),
                },
            };
            rabbitmq::bind(&broker.conditions_of(connection), &binding, source, there, locked)?;
            broker.router.bind(binding);
            Ok(())
        })
    }

    /// A binding under the names that the broker stores: without CR and LF, and with the last queue for none.
    pub(super) fn stored_binding(
        &self,
        caller: Caller,
        connection: ConnectionId,
        request: &BindingDeclaration,
    ) -> Result<BindingDeclaration, Refused> {
        let mut binding = BindingDeclaration {
            source: stored_name(&request.source).into_owned(),
            destination: stored_name(&request.destination).into_owned(),
            ..request.clone()
        };
        if binding.destination_type == DestinationType::Queue && binding.destination.is_empty() {
            binding.destination = match caller {
                Caller::Channel(channel) => self.named(channel, connection, "")?,
                Caller::Connection(_) => return Err(rabbitmq::no_last_queue(&self.conditions_of(connection))),
            };
            if binding.routing_key.is_empty() {
                binding.routing_key.clone_from(&binding.destination);
            }
        }
        Ok(binding)
    }

    pub(super) fn add_queue(&mut self, declaration: QueueDeclaration, owner: ConnectionId) {
        self.numbered = self.numbered.saturating_add(1);
        let owner = declaration.exclusive.then_some(owner);
        if let Some(owner) = owner {
            self.connections.own(owner, &declaration.name);
        }
        let settings = self.settings(&declaration);
        let name = declaration.name.clone();
        self.router.add_queue(name.clone());
        let queue = Queue::new(self.numbered, declaration, owner, settings, self.conditions.version, self.now);
        self.queues.insert(name.clone(), queue);
        self.reckon(&name);
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

    /// The answer to a declaration that was accepted: it counts as use, and the channel remembers the queue.
    fn declared(&mut self, caller: Caller, name: &str) -> QueueStatus {
        let now = self.now;
        if let Some(queue) = self.queues.get_mut(name) {
            queue.last_used = now;
            self.reckon(name);
        }
        if let Caller::Channel(channel) = caller
            && let Some(channel) = self.connections.channel_mut(channel)
        {
            channel.last_queue = Some(name.to_owned());
        }
        self.status(name)
    }

    pub(super) fn status(&self, name: &str) -> QueueStatus {
        let queue = self.queues.get(name);
        QueueStatus {
            name: name.to_owned(),
            messages: queue.map_or(0, |queue| count(queue.ready())),
            consumers: queue.map_or(0, |queue| count(queue.consumers.len())),
        }
    }

    /// A name as the broker makes them: a prefix and 22 characters of URL-safe base64.
    pub(super) fn give_name(&mut self, prefix: &str) -> String {
        self.named = self.named.saturating_add(1);
        let digest = Sha256::digest(self.named.to_be_bytes());
        let unique = digest.get(..16).unwrap_or_default();
        format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(unique))
    }
}
