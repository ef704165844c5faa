//! What a test asks on a channel.

use super::codec::{Reader, Writer};
use super::link::{Link, Method, Reply};
use super::message::{Delivery, Event, Publish, Returned};
use super::{Failure, Malformed, lock};
use acemq_core::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, QueueDeclaration};
use acemq_core::value::Table;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A channel of a [`Connection`](super::Connection); closed when it is dropped.
pub struct Channel {
    link: Arc<Mutex<Link>>,
    id: u16,
}

/// `queue.declare` with every bit in the test's hand.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct QueueRequest {
    pub name: Vec<u8>,
    pub passive: bool,
    pub durable: bool,
    pub exclusive: bool,
    pub auto_delete: bool,
    pub arguments: Table,
}

impl QueueRequest {
    /// A passive declare: is the queue there?
    pub fn passive(name: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().into(),
            passive: true,
            durable: false,
            exclusive: false,
            auto_delete: false,
            arguments: Table::new(),
        }
    }
}

impl From<&QueueDeclaration> for QueueRequest {
    fn from(declaration: &QueueDeclaration) -> Self {
        Self {
            name: declaration.name.as_bytes().into(),
            passive: false,
            durable: declaration.durable,
            exclusive: declaration.exclusive,
            auto_delete: declaration.auto_delete,
            arguments: declaration.arguments.clone(),
        }
    }
}

/// `exchange.declare` with every bit in the test's hand.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct ExchangeRequest {
    pub name: Vec<u8>,
    pub kind: Vec<u8>,
    pub passive: bool,
    pub durable: bool,
    pub auto_delete: bool,
    pub internal: bool,
    pub arguments: Table,
}

impl ExchangeRequest {
    /// A passive declare: is the exchange there?
    pub fn passive(name: impl AsRef<[u8]>) -> Self {
        Self {
            name: name.as_ref().into(),
            kind: b"direct".to_vec(),
            passive: true,
            durable: false,
            auto_delete: false,
            internal: false,
            arguments: Table::new(),
        }
    }
}

impl From<&ExchangeDeclaration> for ExchangeRequest {
    fn from(declaration: &ExchangeDeclaration) -> Self {
        Self {
            name: declaration.name.as_bytes().into(),
            kind: declaration.kind.as_bytes().into(),
            passive: false,
            durable: declaration.durable,
            auto_delete: declaration.auto_delete,
            internal: declaration.internal,
            arguments: declaration.arguments.clone(),
        }
    }
}

/// `queue.declare-ok`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueOk {
    /// The queue's name: the broker's when none was asked for.
    pub name: Vec<u8>,
    /// Messages that are ready.
    pub messages: u32,
    /// Consumers.
    pub consumers: u32,
}

/// `basic.consume` with every bit in the test's hand.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs, reason = "AMQP's own names")]
pub struct Consume {
    pub queue: Vec<u8>,
    /// Empty: the broker chooses one.
    pub tag: Vec<u8>,
    pub no_ack: bool,
    pub exclusive: bool,
    pub arguments: Table,
}

impl Consume {
    /// A consumer that acknowledges.
    pub fn from(queue: impl AsRef<[u8]>) -> Self {
        Self { queue: queue.as_ref().into(), ..Self::default() }
    }
}

/// What became of a published message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmed {
    /// `basic.ack`; `false` is `basic.nack`.
    pub acknowledged: bool,
    /// It was mandatory and reached no queue.
    pub returned: Option<Returned>,
}

type Answer<T> = Result<T, Failure>;

impl Channel {
    pub(super) fn new(link: Arc<Mutex<Link>>, id: u16) -> Self {
        Self { link, id }
    }

    /// Whether neither side has closed it yet, as far as was read.
    pub fn is_open(&self) -> bool {
        lock(&self.link).is_open(self.id)
    }

    /// Any method with hand-written arguments; the answer's method and arguments.
    ///
    /// # Errors
    /// When the broker refuses it or does not answer.
    pub fn call(&self, method: (u16, u16), arguments: Writer) -> Answer<((u16, u16), Vec<u8>)> {
        match lock(&self.link).call(self.id, method, &arguments.into_bytes())? {
            Reply::Method(method, arguments) => Ok((method, arguments)),
            Reply::Got(_) => Err(unexpected((60, 71))),
        }
    }

    fn expect(&self, method: Method, arguments: Writer) -> Answer<Vec<u8>> {
        let (answered, arguments) = self.call(method, arguments)?;
        // An answer's number is its request's plus one.
        if answered == (method.0, method.1 + 1) { Ok(arguments) } else { Err(unexpected(answered)) }
    }

    /// `queue.declare`
    ///
    /// # Errors
    /// When the broker refuses it or does not answer; so for every request of this type.
    pub fn declare_queue(&self, request: impl Into<QueueRequest>) -> Answer<QueueOk> {
        let request = request.into();
        let bits = [request.passive, request.durable, request.exclusive, request.auto_delete, false];
        let arguments = Writer::new().u16(0).short(&request.name).bits(&bits).table(&request.arguments);
        let answer = self.expect((50, 10), arguments)?;
        let mut answer = Reader::new(&answer);
        Ok(QueueOk { name: answer.short()?, messages: answer.u32()?, consumers: answer.u32()? })
    }

    /// `exchange.declare`
    pub fn declare_exchange(&self, request: impl Into<ExchangeRequest>) -> Answer<()> {
        let request = request.into();
        let bits = [request.passive, request.durable, request.auto_delete, request.internal, false];
        let arguments =
            Writer::new().u16(0).short(&request.name).short(&request.kind).bits(&bits).table(&request.arguments);
        self.expect((40, 10), arguments).map(drop)
    }

    /// `queue.bind` or `exchange.bind`
    pub fn bind(&self, binding: &BindingDeclaration) -> Answer<()> {
        match binding.destination_type {
            DestinationType::Queue => self.expect((50, 20), binding_arguments(binding).u8(0).table(&binding.arguments)),
            DestinationType::Exchange => {
                self.expect((40, 30), binding_arguments(binding).u8(0).table(&binding.arguments))
            }
        }
        .map(drop)
    }

    /// `queue.unbind` or `exchange.unbind`; fine when there is no such binding.
    pub fn unbind(&self, binding: &BindingDeclaration) -> Answer<()> {
        match binding.destination_type {
            DestinationType::Queue => self.expect((50, 50), binding_arguments(binding).table(&binding.arguments)),
            // exchange.unbind-ok breaks the rule of numbers: it is 51.
            DestinationType::Exchange => {
                let arguments = binding_arguments(binding).u8(0).table(&binding.arguments);
                match self.call((40, 40), arguments)? {
                    ((40, 51), arguments) => Ok(arguments),
                    (other, _) => Err(unexpected(other)),
                }
            }
        }
        .map(drop)
    }

    /// `queue.delete`; the number of messages that it held. Fine when there is no such queue.
    pub fn delete_queue(&self, name: impl AsRef<[u8]>) -> Answer<u32> {
        self.delete_queue_if(name, false, false)
    }

    /// `queue.delete` with `if-unused` and `if-empty`.
    pub fn delete_queue_if(&self, name: impl AsRef<[u8]>, unused: bool, empty: bool) -> Answer<u32> {
        let arguments = Writer::new().u16(0).short(name.as_ref()).bits(&[unused, empty, false]);
        Ok(Reader::new(&self.expect((50, 40), arguments)?).u32()?)
    }

    /// `queue.purge`; the number of messages that went.
    pub fn purge(&self, name: impl AsRef<[u8]>) -> Answer<u32> {
        let arguments = Writer::new().u16(0).short(name.as_ref()).u8(0);
        Ok(Reader::new(&self.expect((50, 30), arguments)?).u32()?)
    }

    /// `exchange.delete`, with `if-unused`. Fine when there is no such exchange.
    pub fn delete_exchange(&self, name: impl AsRef<[u8]>, if_unused: bool) -> Answer<()> {
        let arguments = Writer::new().u16(0).short(name.as_ref()).bits(&[if_unused, false]);
        self.expect((40, 20), arguments).map(drop)
    }

    /// `basic.qos` for each consumer that comes later.
    pub fn prefetch(&self, count: u16) -> Answer<()> {
        self.qos(count, false)
    }

    /// `basic.qos`; `global` is for all consumers of the channel together.
    pub fn qos(&self, count: u16, global: bool) -> Answer<()> {
        self.expect((60, 10), Writer::new().u32(0).u16(count).bits(&[global])).map(drop)
    }

    /// `basic.consume`; the consumer's tag. Deliveries come as [`Event`]s.
    pub fn consume(&self, consume: &Consume) -> Answer<Vec<u8>> {
        let bits = [false, consume.no_ack, consume.exclusive, false];
        let arguments =
            Writer::new().u16(0).short(&consume.queue).short(&consume.tag).bits(&bits).table(&consume.arguments);
        Ok(Reader::new(&self.expect((60, 20), arguments)?).short()?)
    }

    /// `basic.cancel`
    pub fn cancel(&self, consumer_tag: impl AsRef<[u8]>) -> Answer<()> {
        self.expect((60, 30), Writer::new().short(consumer_tag.as_ref()).u8(0)).map(drop)
    }

    /// `basic.get`; `None` when the queue is empty.
    pub fn get(&self, queue: impl AsRef<[u8]>, no_ack: bool) -> Answer<Option<Delivery>> {
        let arguments = Writer::new().u16(0).short(queue.as_ref()).bits(&[no_ack]);
        match lock(&self.link).call(self.id, (60, 70), &arguments.into_bytes())? {
            Reply::Got(delivery) => Ok(Some(*delivery)),
            Reply::Method((60, 72), _) => Ok(None),
            Reply::Method(other, _) => Err(unexpected(other)),
        }
    }

    /// `basic.ack`
    pub fn ack(&self, delivery_tag: u64, multiple: bool) -> Answer<()> {
        self.send((60, 80), Writer::new().u64(delivery_tag).bits(&[multiple]))
    }

    /// `basic.nack`
    pub fn nack(&self, delivery_tag: u64, multiple: bool, requeue: bool) -> Answer<()> {
        self.send((60, 120), Writer::new().u64(delivery_tag).bits(&[multiple, requeue]))
    }

    /// `basic.reject`
    pub fn reject(&self, delivery_tag: u64, requeue: bool) -> Answer<()> {
        self.send((60, 90), Writer::new().u64(delivery_tag).bits(&[requeue]))
    }

    /// `basic.recover` with `requeue`: everything that the channel holds goes back to its queues.
    pub fn recover(&self) -> Answer<()> {
        self.expect((60, 110), Writer::new().bits(&[true])).map(drop)
    }

    /// `confirm.select`: from now on each message is confirmed.
    pub fn confirm_select(&self) -> Answer<()> {
        self.expect((85, 10), Writer::new().u8(0)).map(drop)
    }

    /// `basic.publish` and its content. A refusal comes with a later request or event.
    pub fn publish(&self, message: &Publish) -> Answer<()> {
        let mut link = lock(&self.link);
        let bits = [message.mandatory, message.immediate];
        let arguments =
            Writer::new().u16(0).short(&message.exchange).short(&message.routing_key).bits(&bits).into_bytes();
        link.send(self.id, (60, 40), &arguments)?;
        link.send_content(self.id, &message.properties, &message.body)
    }

    /// Publishes on a channel in confirm mode and waits for what becomes of the message. Deliveries that come meanwhile are
    /// lost, so consume on another channel.
    pub fn publish_confirmed(&self, message: &Publish) -> Answer<Confirmed> {
        self.publish(message)?;
        let limit = Duration::from_secs(60);
        let deadline = Instant::now() + limit;
        let mut returned = None;
        loop {
            match self.next_event(deadline.saturating_duration_since(Instant::now()))? {
                Some(Event::Returned(message)) => returned = Some(message),
                Some(Event::Ack { .. }) => return Ok(Confirmed { acknowledged: true, returned }),
                Some(Event::Nack { .. }) => return Ok(Confirmed { acknowledged: false, returned }),
                Some(_) => {}
                None => return Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into()),
            }
        }
    }

    /// What the broker says next without being asked; `None` when it says nothing within `limit`.
    pub fn next_event(&self, limit: Duration) -> Answer<Option<Event>> {
        lock(&self.link).event(self.id, limit)
    }

    /// Closes the channel. When this returns, the broker has told the queues, and what was unacknowledged goes back to them;
    /// a channel that is only dropped is closed at some time after that.
    pub fn close(self) -> Answer<()> {
        lock(&self.link).close_channel(self.id)
    }

    fn send(&self, method: Method, arguments: Writer) -> Answer<()> {
        lock(&self.link).send(self.id, method, &arguments.into_bytes())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        lock(&self.link).abandon(self.id);
    }
}

fn binding_arguments(binding: &BindingDeclaration) -> Writer {
    Writer::new()
        .u16(0)
        .short(binding.destination.as_bytes())
        .short(binding.source.as_bytes())
        .short(binding.routing_key.as_bytes())
}

fn unexpected(method: Method) -> Failure {
    Malformed(format!("the answer is method {method:?}")).into()
}
