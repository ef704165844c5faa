//! Unbinding and deleting, and what goes with it.

use super::history::{Loss, What};
use super::{Caller, EmbeddedBroker};
use crate::rabbitmq::{self, BindingDeclaration, DeleteQueue, DestinationType, Owner, Refused, stored_name};

impl EmbeddedBroker {
    /// `queue.unbind` or `exchange.unbind`. What is not there is no error.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::unbind`] says; 504 when the caller is closed.
    pub fn unbind(&mut self, caller: impl Into<Caller>, request: &BindingDeclaration) -> Result<(), Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let binding = broker.stored_binding(caller, connection, request)?;
            let locked = binding.destination_type == DestinationType::Queue
                && broker.existing(&binding.destination, connection).is_some_and(|queue| queue.owner == Owner::Another);
            let bound = broker.router.bindings().contains(&binding);
            rabbitmq::unbind(&broker.conditions_of(connection), &binding, bound && locked)?;
            if broker.router.unbind(&binding) {
                broker.auto_delete(vec![binding.source]);
            }
            Ok(())
        })
    }

    /// `queue.delete`: how many messages were lost. What is not there is no error.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::delete_queue`] says; 504 when the caller is closed.
    pub fn delete_queue(
        &mut self,
        caller: impl Into<Caller>,
        name: &str,
        condition: DeleteQueue,
    ) -> Result<u32, Refused> {
        let caller = caller.into();
        self.answer(caller, |broker, connection| {
            let name = match (caller, name) {
                (Caller::Channel(channel), "") => broker.named(channel, connection, "")?,
                _ => name.to_owned(),
            };
            let stored = stored_name(&name);
            let existing = broker.existing(&stored, connection);
            let status = broker.status(&stored);
            rabbitmq::delete_queue(
                &broker.conditions_of(connection),
                existing,
                &name,
                condition,
                (status.messages, status.consumers),
            )?;
            broker.drop_queue(&stored);
            Ok(status.messages)
        })
    }

    /// `exchange.delete`. What is not there is no error.
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::delete_exchange`] says; 504 when the caller is closed.
    pub fn delete_exchange(&mut self, caller: impl Into<Caller>, name: &str, if_unused: bool) -> Result<(), Refused> {
        self.answer(caller.into(), |broker, connection| {
            let stored = stored_name(name);
            let unused_needed_but_source = if_unused && broker.router.is_source(&stored);
            rabbitmq::delete_exchange(&broker.conditions_of(connection), name, unused_needed_but_source)?;
            broker.drop_exchange(&stored);
            Ok(())
        })
    }

    /// Takes a queue away with its bindings, its messages and the auto-delete exchanges that it kept alive.
    pub(super) fn drop_queue(&mut self, name: &str) {
        let Some(mut queue) = self.queues.remove(name) else { return };
        self.waiting.remove(name);
        if let Some(at) = queue.noted_due {
            self.due.remove(&(at, name.to_owned()));
        }
        if let Some(owner) = queue.owner {
            self.connections.disown(owner, name);
        }
        self.tell_consumers(&queue);
        for entry in queue.store.drain() {
            self.note(Some(entry.message.id), What::Lost { queue: name.to_owned(), why: Loss::QueueDeleted });
        }
        let sources = self.router.remove_queue(name);
        self.auto_delete(sources);
    }

    fn drop_exchange(&mut self, name: &str) {
        let sources = self.router.remove_exchange(name);
        self.auto_delete(sources);
    }

    /// Of exchanges that lost a binding, those that are auto-delete and have none left go, and so on from there.
    fn auto_delete(&mut self, mut candidates: Vec<String>) {
        while let Some(name) = candidates.pop() {
            let goes = self.router.declaration(&name).is_some_and(|exchange| exchange.auto_delete);
            if goes && !self.router.is_source(&name) {
                candidates.extend(self.router.remove_exchange(&name));
            }
        }
    }
}
