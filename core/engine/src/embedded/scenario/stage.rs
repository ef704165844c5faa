//! What scenarios are played on.

use crate::embedded::{
    Caller, ChannelId, ConnectionId, Delivery, EmbeddedBroker, Event, NotDeclared, Publication, Published, Subscription,
};
use crate::rabbitmq::{BindingDeclaration, DeleteQueue, PolicyDeclaration, Refused};
use crate::topology::Tables;

/// An embedded broker, and whatever else is to see the same requests.
///
/// Each request goes to the embedded broker unless it is overridden, and what the scenario wants to know is read from there.
/// A test that puts a real broker beside it overrides every request: both get it, and their answers are compared.
#[allow(clippy::missing_errors_doc, reason = "each method is that of the embedded broker, which says when it fails")]
pub trait Stage {
    /// The embedded broker.
    fn broker(&self) -> &EmbeddedBroker;

    /// The embedded broker, to be asked.
    fn broker_mut(&mut self) -> &mut EmbeddedBroker;

    /// [`EmbeddedBroker::advance`]
    fn advance(&mut self, milliseconds: u64) {
        self.broker_mut().advance(milliseconds);
    }

    /// [`EmbeddedBroker::connect`]
    fn connect(&mut self) -> ConnectionId {
        self.broker_mut().connect()
    }

    /// [`EmbeddedBroker::disconnect`]
    fn disconnect(&mut self, connection: ConnectionId) {
        self.broker_mut().disconnect(connection);
    }

    /// [`EmbeddedBroker::open_channel`]
    fn open_channel(&mut self, connection: ConnectionId) -> Result<ChannelId, Refused> {
        self.broker_mut().open_channel(connection)
    }

    /// [`EmbeddedBroker::close_channel`]
    fn close_channel(&mut self, channel: ChannelId) {
        self.broker_mut().close_channel(channel);
    }

    /// [`EmbeddedBroker::declare_all`]
    fn declare_all(&mut self, caller: Caller, tables: &Tables) -> Result<(), NotDeclared> {
        self.broker_mut().declare_all(caller, tables)
    }

    /// [`EmbeddedBroker::bind`]
    fn bind(&mut self, channel: ChannelId, binding: &BindingDeclaration) -> Result<(), Refused> {
        self.broker_mut().bind(channel, binding)
    }

    /// [`EmbeddedBroker::unbind`]
    fn unbind(&mut self, channel: ChannelId, binding: &BindingDeclaration) -> Result<(), Refused> {
        self.broker_mut().unbind(channel, binding)
    }

    /// [`EmbeddedBroker::delete_queue`]
    fn delete_queue(&mut self, channel: ChannelId, queue: &str, condition: DeleteQueue) -> Result<u32, Refused> {
        self.broker_mut().delete_queue(channel, queue, condition)
    }

    /// [`EmbeddedBroker::delete_exchange`]
    fn delete_exchange(&mut self, channel: ChannelId, exchange: &str, if_unused: bool) -> Result<(), Refused> {
        self.broker_mut().delete_exchange(channel, exchange, if_unused)
    }

    /// [`EmbeddedBroker::purge`]
    fn purge(&mut self, channel: ChannelId, queue: &str) -> Result<u32, Refused> {
        self.broker_mut().purge(channel, queue)
    }

    /// [`EmbeddedBroker::publish`]
    fn publish(&mut self, channel: ChannelId, publication: Publication) -> Result<Published, Refused> {
        self.broker_mut().publish(channel, publication)
    }

    /// [`EmbeddedBroker::get`]
    fn get(&mut self, channel: ChannelId, queue: &str, no_ack: bool) -> Result<Option<Delivery>, Refused> {
        self.broker_mut().get(channel, queue, no_ack)
    }

    /// [`EmbeddedBroker::consume`]
    fn consume(&mut self, channel: ChannelId, subscription: &Subscription) -> Result<String, Refused> {
        self.broker_mut().consume(channel, subscription)
    }

    /// [`EmbeddedBroker::cancel`]
    fn cancel(&mut self, channel: ChannelId, tag: &str) -> Result<(), Refused> {
        self.broker_mut().cancel(channel, tag)
    }

    /// [`EmbeddedBroker::qos`]
    fn qos(&mut self, channel: ChannelId, prefetch: u16, global: bool) -> Result<(), Refused> {
        self.broker_mut().qos(channel, prefetch, global)
    }

    /// [`EmbeddedBroker::ack`]
    fn ack(&mut self, channel: ChannelId, delivery_tag: u64, multiple: bool) -> Result<(), Refused> {
        self.broker_mut().ack(channel, delivery_tag, multiple)
    }

    /// [`EmbeddedBroker::nack`]
    fn nack(&mut self, channel: ChannelId, delivery_tag: u64, multiple: bool, requeue: bool) -> Result<(), Refused> {
        self.broker_mut().nack(channel, delivery_tag, multiple, requeue)
    }

    /// [`EmbeddedBroker::reject`]
    fn reject(&mut self, channel: ChannelId, delivery_tag: u64, requeue: bool) -> Result<(), Refused> {
        self.broker_mut().reject(channel, delivery_tag, requeue)
    }

    /// [`EmbeddedBroker::recover`]
    fn recover(&mut self, channel: ChannelId) -> Result<(), Refused> {
        self.broker_mut().recover(channel)
    }

    /// [`EmbeddedBroker::take_events`]
    fn take_events(&mut self, channel: ChannelId) -> Vec<Event> {
        self.broker_mut().take_events(channel)
    }

    /// [`EmbeddedBroker::set_policy`]
    fn set_policy(&mut self, policy: PolicyDeclaration) {
        self.broker_mut().set_policy(policy);
    }

    /// [`EmbeddedBroker::set_operator_policy`]
    fn set_operator_policy(&mut self, policy: PolicyDeclaration) {
        self.broker_mut().set_operator_policy(policy);
    }

    /// [`EmbeddedBroker::clear_policy`]
    fn clear_policy(&mut self, name: &str) -> bool {
        self.broker_mut().clear_policy(name)
    }

    /// [`EmbeddedBroker::clear_operator_policy`]
    fn clear_operator_policy(&mut self, name: &str) -> bool {
        self.broker_mut().clear_operator_policy(name)
    }
}

impl Stage for EmbeddedBroker {
    fn broker(&self) -> &EmbeddedBroker {
        self
    }

    fn broker_mut(&mut self) -> &mut EmbeddedBroker {
        self
    }
}
