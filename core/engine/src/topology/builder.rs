//! A topology from calls instead of a document.

use super::Topology;
use super::compile::compile;
use super::wish::{BindingWish, ExchangeWish, QueueWish, Setting, Wishes};
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, QueueDeclaration, QueueType};
use crate::retry::{RetryForm, RetryPolicy};
use crate::value::{Table, Value};

/// Collects what a service needs. No call fails and the order of the calls does not matter; [`TopologyBuilder::build`] judges
/// everything at once.
///
/// ```
/// use acemq_core::topology::Topology;
///
/// let topology = Topology::builder()
///     .exchange("orders", "topic")
///     .queue_with_dead_letter("orders.new")
///     .bind("orders.new", "orders", "order.*")
///     .build();
/// assert!(topology.check().is_empty());
/// assert_eq!(topology.tables().unwrap().queues.len(), 3);
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct TopologyBuilder {
    wishes: Wishes,
}

impl TopologyBuilder {
    /// A durable exchange of that type.
    pub fn exchange(mut self, name: impl Into<String>, kind: impl Into<String>) -> Self {
        let exchange = ExchangeWish { name: name.into(), r#type: Some(kind.into()), ..ExchangeWish::default() };
        self.wishes.exchanges.push(exchange);
        self
    }

    /// An exchange with every property given.
    pub fn exchange_declaration(mut self, exchange: ExchangeDeclaration) -> Self {
        self.wishes.exchanges.push(ExchangeWish {
            name: exchange.name,
            r#type: Some(exchange.kind),
            durable: Some(exchange.durable),
            auto_delete: exchange.auto_delete,
            internal: exchange.internal,
            arguments: exchange.arguments,
            ..ExchangeWish::default()
        });
        self
    }

    /// An exchange that somebody else declares: bindings may use it, and it is never declared.
    pub fn external_exchange(mut self, name: impl Into<String>) -> Self {
        let exchange = ExchangeWish { name: name.into(), external: true, ..ExchangeWish::default() };
        self.wishes.exchanges.push(exchange);
        self
    }

    /// A durable queue: quorum, unless something else is asked for.
    pub fn queue(mut self, name: impl Into<String>) -> Self {
        self.wishes.queues.push(QueueWish { name: name.into(), ..QueueWish::default() });
        self
    }

    /// A queue with every property given. Without an `x-queue-type` the defaults of [`TopologyBuilder::queue`] hold.
    pub fn queue_declaration(mut self, queue: QueueDeclaration) -> Self {
        self.wishes.queues.push(QueueWish {
            name: queue.name,
            durable: Some(queue.durable),
            exclusive: queue.exclusive,
            auto_delete: queue.auto_delete,
            arguments: queue.arguments,
            ..QueueWish::default()
        });
        self
    }

    /// A durable quorum queue with its dead-letter queue, its parked queue and their wiring.
    pub fn queue_with_dead_letter(mut self, name: impl Into<String>) -> Self {
        self.wishes.queues.push(QueueWish { name: name.into(), dead_letter: true, ..QueueWish::default() });
        self
    }

    /// A durable classic queue with arguments of its own, and with its dead letters.
    pub fn classic_queue_with_dead_letter(mut self, name: impl Into<String>, arguments: Table) -> Self {
        self.wishes.queues.push(QueueWish {
            name: name.into(),
            r#type: Some(QueueType::Classic.name().to_owned()),
            arguments,
            dead_letter: true,
            ..QueueWish::default()
        });
        self
    }

    /// Dead letters for a queue that is declared in this topology, before or after this call.
    pub fn dead_letters(self, queue: impl Into<String>) -> Self {
        self.setting(queue, Setting::DeadLetters)
    }

    /// Sends the dead letters of `queue` to an exchange of the caller's own.
    pub fn dead_letter_to(self, queue: impl Into<String>, exchange: impl Into<String>) -> Self {
        self.setting(queue, Setting::DeadLetterTo(exchange.into()))
    }

    /// Chooses the type of `queue`.
    pub fn of_type(self, queue: impl Into<String>, kind: QueueType) -> Self {
        self.setting(queue, Setting::Type(kind.name().to_owned()))
    }

    /// Adds one argument to `queue`.
    pub fn queue_arg(self, queue: impl Into<String>, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.setting(queue, Setting::Argument(argument.into(), value.into()))
    }

    /// Makes `queue` transient: it is gone when the broker restarts.
    pub fn transient(self, queue: impl Into<String>) -> Self {
        self.setting(queue, Setting::Transient)
    }

    /// Makes `queue` exclusive to the connection that declares it.
    pub fn exclusive(self, queue: impl Into<String>) -> Self {
        self.setting(queue, Setting::Exclusive)
    }

    /// Lets `queue` go with its last consumer.
    pub fn auto_delete(self, queue: impl Into<String>) -> Self {
        self.setting(queue, Setting::AutoDelete)
    }

    /// Gives `queue` the rungs of `policy`, so that long waits between attempts are spent in the broker.
    pub fn retries(self, queue: impl Into<String>, policy: &RetryPolicy) -> Self {
        self.setting(queue, Setting::Retries(RetryForm::from(policy.to_string().as_str())))
    }

    /// Binds `queue` to `exchange`.
    pub fn bind(self, queue: impl Into<String>, exchange: impl Into<String>, routing_key: impl Into<String>) -> Self {
        self.binding(BindingDeclaration::queue(exchange, queue, routing_key))
    }

    /// Binds `to_exchange` to `exchange`.
    pub fn bind_exchange(
        self,
        to_exchange: impl Into<String>,
        exchange: impl Into<String>,
        routing_key: impl Into<String>,
    ) -> Self {
        self.binding(BindingDeclaration::exchange(exchange, to_exchange, routing_key))
    }

    /// A binding with every property given.
    pub fn binding(mut self, binding: BindingDeclaration) -> Self {
        let (queue, to_exchange) = match binding.destination_type {
            DestinationType::Queue => (Some(binding.destination), None),
            DestinationType::Exchange => (None, Some(binding.destination)),
        };
        self.wishes.bindings.push(BindingWish {
            queue,
            to_exchange,
            exchange: Some(binding.source),
            routing_key: binding.routing_key,
            arguments: binding.arguments,
        });
        self
    }

    /// The topology. What is wrong with it is found with [`Topology::check`].
    pub fn build(self) -> Topology {
        let (tables, findings) = compile(self.wishes);
        Topology::new(tables, findings.list.into_iter().map(|(_, problem)| problem).collect())
    }

    fn setting(mut self, queue: impl Into<String>, setting: Setting) -> Self {
        self.wishes.settings.push((queue.into(), setting));
        self
    }
}
