//! The embedded broker and a real one side by side: both get every request, and both must answer alike.
//!
//! A [`Mirror`] is a [`Stage`] that scenarios are played on. After each request it waits until the real broker's queues hold as
//! many messages as the embedded one's; at the end [`finish`](Mirror::finish) takes out every message and compares queue,
//! order, routing key, headers. Time on the embedded broker is what the scenario says; the real broker's passes by itself, so a
//! step that comes too late for something that the embedded broker expects proves nothing: then
//! [`finish_in_time`](Mirror::finish_in_time) says nothing, and the play is to be repeated.

mod delivered;

use crate::amqp::{Channel, Connection, Consume, Event as RealEvent, ExchangeRequest, Failure, Publish, QueueRequest};
use crate::broker::Vhost;
use acemq_core::embedded::scenario::Stage;
use acemq_core::embedded::{
    Caller, ChannelId, ConnectionId, Delivery, EmbeddedBroker, Event, NotDeclared, Publication, Published,
    Subscription, What,
};
use acemq_core::rabbitmq::{
    BindingDeclaration, Declaration, DeleteQueue, PolicyDeclaration, QueueDeclaration, QueueType, Refused, Scope,
};
use acemq_core::topology::Tables;
use delivered::Delivered;
pub use delivered::comparable;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::iter;
use std::time::{Duration, Instant};

/// How long the real broker may take for what the embedded one does at once.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a dead letter may take into a queue whose number of messages cannot show that it came.
const UNSEEN: Duration = Duration::from_millis(150);
/// A step that comes closer than this to something that happens by itself, in milliseconds, may come after it.
const MARGIN: u64 = 15;

/// The two brokers.
pub struct Mirror<'a> {
    broker: EmbeddedBroker,
    vhost: &'a Vhost<'a>,
    connections: BTreeMap<ConnectionId, Connection>,
    channels: BTreeMap<ChannelId, Pair>,
    /// Counts messages.
    watcher: (Connection, Channel),
    started: Instant,
    /// The embedded broker's clock at that time.
    from: u64,
    late: bool,
    disagreements: Vec<String>,
    /// Queues in which two messages may come in either order.
    unordered: Vec<String>,
}

/// The real channels of one channel: confirms come on one of their own, so that no delivery comes between.
struct Pair {
    connection: ConnectionId,
    main: Channel,
    publisher: Option<Channel>,
    /// Tags that the real broker gave, with those that the embedded one gave to the same consumers.
    tags: BTreeMap<Vec<u8>, String>,
}

impl<'a> Mirror<'a> {
    /// `broker` beside an empty vhost of its name.
    pub fn new(broker: EmbeddedBroker, vhost: &'a Vhost<'a>) -> Self {
        assert_eq!(broker.conditions().vhost, vhost.name(), "refusals show the vhost");
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        Self {
            from: broker.now(),
            broker,
            vhost,
            connections: BTreeMap::new(),
            channels: BTreeMap::new(),
            watcher: (connection, channel),
            started: Instant::now(),
            late: false,
            disagreements: Vec::new(),
            unordered: Vec::new(),
        }
    }

    /// Compares this queue without regard to order. For one that gets copies of a message and what that message drives out of
    /// another queue: these are on their way at the same time.
    #[must_use]
    pub fn unordered(mut self, queue: &str) -> Self {
        self.unordered.push(queue.to_owned());
        self
    }

    /// Whether the two have differed. From then on they are not waited for.
    pub fn disagrees(&self) -> bool {
        !self.disagreements.is_empty()
    }

    /// Takes everything out of the real queues and compares it with the embedded ones. What differed until now, and what does
    /// now.
    pub fn finish(mut self) -> Vec<String> {
        self.compare_what_is_left();
        self.disagreements
    }

    /// As [`finish`](Mirror::finish); `None` where a message was due while that went on, so that nothing can be said.
    pub fn finish_in_time(mut self) -> Option<Vec<String>> {
        let due = self.broker.next_due();
        self.compare_what_is_left();
        let elapsed = self.from + u64::try_from(self.started.elapsed().as_millis()).unwrap();
        let late = self.late || due.is_some_and(|due| elapsed + MARGIN > due);
        (!late).then_some(self.disagreements)
    }

    fn compare_what_is_left(&mut self) {
        self.settle(&"the end");
        for channel in self.channels.values() {
            if let Ok(Some(event)) = channel.main.next_event(Duration::ZERO) {
                self.disagreements.push(format!("at the end: on the broker {event:?}, in the engine nothing"));
            }
        }
        // To take a message out may let the next one expire, so both brokers are emptied in the same way.
        let reader = self.watcher.0.channel().unwrap();
        let connection = self.broker.connect();
        let embedded_reader = self.broker.open_channel(connection).expect("the connection was just opened");
        for queue in self.queues().into_iter().filter(can_be_read) {
            let take = || self.broker.get(embedded_reader, &queue.name, false).expect("the queue can be read");
            let mut expected: Vec<Delivered> =
                iter::from_fn(take).map(|delivery| Delivered::embedded(&delivery)).collect();
            let take = || reader.get(&queue.name, false).unwrap();
            let mut actual: Vec<Delivered> = iter::from_fn(take).map(|delivery| Delivered::real(&delivery)).collect();
            if self.unordered.contains(&queue.name) {
                expected.sort();
                actual.sort();
            }
            if expected != actual {
                let at = expected.iter().zip(&actual).take_while(|(one, other)| one == other).count();
                let (expected, actual) = (expected.get(at), actual.get(at));
                self.disagreements.push(format!(
                    "at the end message {at} of {}: on the broker {actual:#?}, in the engine {expected:#?}",
                    queue.name
                ));
            }
            self.settle(&"taking everything out");
        }
    }

    fn queues(&self) -> Vec<QueueDeclaration> {
        self.broker.state().queues.into_values().collect()
    }

    /// Whether it is too late to tell what the real broker has done already.
    fn in_time(&mut self) {
        let elapsed = self.from + u64::try_from(self.started.elapsed().as_millis()).unwrap();
        self.late |= self.broker.next_due().is_some_and(|due| elapsed + MARGIN > due);
    }

    fn deaths(&self) -> usize {
        self.broker.history().iter().filter(|happening| matches!(happening.what, What::DeadLettered { .. })).count()
    }

    /// Does it on both and compares.
    fn both<E: Debug, A: Debug>(
        &mut self,
        what: &dyn Debug,
        channel: ChannelId,
        embedded: impl FnOnce(&mut EmbeddedBroker) -> Result<E, Refused>,
        real: impl FnOnce(&mut Pair) -> Result<A, Failure>,
        same: impl FnOnce(&E, &A) -> bool,
    ) -> Result<E, Refused> {
        self.in_time();
        let deaths = self.deaths();
        let expected = embedded(&mut self.broker);
        let Some(pair) = self.channels.get_mut(&channel) else { return expected };
        let actual = real(pair);
        let agrees = match (&expected, &actual) {
            (Ok(expected), Ok(actual)) => same(expected, actual),
            (Err(expected), Err(actual)) => is_refusal(expected, actual),
            _ => false,
        };
        if !agrees {
            self.disagreements.push(format!("{what:?}: on the broker {actual:?}, in the engine {expected:?}"));
        }
        if let Err(refused) = &expected {
            self.closed(channel, refused.scope);
        }
        if self.deaths() > deaths && self.queues().iter().any(is_bounded) {
            std::thread::sleep(UNSEEN);
        }
        self.settle(what);
        expected
    }

    fn closed(&mut self, channel: ChannelId, scope: Scope) {
        let Some(pair) = self.channels.remove(&channel) else { return };
        let connection = pair.connection;
        close(pair);
        if scope == Scope::Connection {
            self.channels.retain(|_, pair| pair.connection != connection);
            self.connections.remove(&connection);
        }
    }

    /// Waits until the queues hold equally many messages on both.
    fn settle(&mut self, what: &dyn Debug) {
        if self.late || !self.disagreements.is_empty() {
            return;
        }
        let deadline = Instant::now() + PATIENCE;
        let queues: Vec<QueueDeclaration> = self.queues().into_iter().filter(can_be_counted).collect();
        loop {
            let watcher = &self.watcher.1;
            let counts: Vec<(String, u32, u32)> = queues
                .iter()
                .map(|queue| {
                    let ready = self.broker.contents(&queue.name).map_or(0, |contents| contents.ready.len());
                    let count = watcher.declare_queue(QueueRequest::passive(&queue.name)).unwrap().messages;
                    (queue.name.clone(), count, u32::try_from(ready).unwrap())
                })
                .filter(|(_, actual, expected)| actual != expected)
                .collect();
            self.in_time();
            if counts.is_empty() || self.late {
                return;
            }
            if Instant::now() > deadline {
                let words: Vec<String> = counts
                    .iter()
                    .map(|(name, actual, expected)| format!("{name} holds {actual} and {expected} in the engine"))
                    .collect();
                self.disagreements.push(format!("after {what:?}: {}", words.join(", ")));
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn policy_path(&self, kind: &str, name: &str) -> String {
        let segment = crate::management::path_segment;
        format!("/api/{kind}/{}/{}", segment(self.vhost.name()), segment(name))
    }

    fn put_policy(&self, kind: &str, policy: &PolicyDeclaration) {
        let definition: serde_json::Value =
            serde_json::from_str(&acemq_core::value::Value::Table(policy.definition.clone()).to_json()).unwrap();
        let body = serde_json::json!({
            "pattern": policy.pattern, "apply-to": policy.apply_to, "priority": policy.priority,
            "definition": definition,
        });
        self.vhost.node().management().put(&self.policy_path(kind, &policy.name), &body).unwrap();
    }
}

/// What is read by `basic.get`: no stream, nothing that belongs to another connection or to a single consumer.
fn can_be_read(queue: &QueueDeclaration) -> bool {
    can_be_counted(queue) && !queue.arguments.contains("x-single-active-consumer")
}

/// Asking for the number of messages is use, which puts off the end of a queue that expires.
fn can_be_counted(queue: &QueueDeclaration) -> bool {
    !queue.exclusive && queue.queue_type() != Some(QueueType::Stream) && !queue.arguments.contains("x-expires")
}

fn is_bounded(queue: &QueueDeclaration) -> bool {
    queue.arguments.contains("x-max-length") || queue.arguments.contains("x-max-length-bytes")
}

fn is_refusal(expected: &Refused, actual: &Failure) -> bool {
    let Failure::Refused(close) = actual else { return false };
    let scope = match close.scope {
        crate::amqp::Scope::Channel => Scope::Channel,
        crate::amqp::Scope::Connection => Scope::Connection,
    };
    (expected.code, &expected.text, expected.scope) == (close.code, &close.text(), scope)
}

fn close(pair: Pair) {
    for channel in [Some(pair.main), pair.publisher].into_iter().flatten() {
        // Closed by the broker already, perhaps.
        let _ = channel.close();
    }
}

/// Acknowledgements are not answered; a request behind them is, when they are done.
fn in_order(channel: &Channel) -> Result<(), Failure> {
    channel.declare_exchange(ExchangeRequest::passive("amq.direct"))
}

impl Pair {
    fn publish(&mut self, connection: &Connection, publication: &Publication) -> Result<(bool, bool), Failure> {
        let publisher = match &self.publisher {
            Some(publisher) => publisher,
            None => {
                let channel = connection.channel()?;
                channel.confirm_select()?;
                self.publisher.insert(channel)
            }
        };
        let mut message = Publish::to(&publication.exchange, &publication.routing_key).body(&publication.body);
        message.mandatory = publication.mandatory;
        message.properties.expiration = publication.properties.expiration.clone().map(String::into_bytes);
        message.properties.priority = publication.properties.priority;
        if !publication.properties.headers.is_empty() {
            message.properties.headers = Some(publication.properties.headers.clone());
        }
        let confirmed = publisher.publish_confirmed(&message)?;
        Ok((confirmed.acknowledged, confirmed.returned.is_some()))
    }
}

impl Stage for Mirror<'_> {
    fn broker(&self) -> &EmbeddedBroker {
        &self.broker
    }

    fn broker_mut(&mut self) -> &mut EmbeddedBroker {
        &mut self.broker
    }

    fn advance(&mut self, milliseconds: u64) {
        let until = Duration::from_millis(self.broker.now() - self.from + milliseconds);
        std::thread::sleep(until.saturating_sub(self.started.elapsed()));
        let deaths = self.deaths();
        self.broker.advance(milliseconds);
        if self.deaths() > deaths && self.queues().iter().any(is_bounded) {
            std::thread::sleep(UNSEEN);
        }
        self.settle(&"waiting");
    }

    fn connect(&mut self) -> ConnectionId {
        let id = self.broker.connect();
        self.connections.insert(id, self.vhost.connect());
        id
    }

    fn disconnect(&mut self, connection: ConnectionId) {
        self.in_time();
        self.broker.disconnect(connection);
        self.channels.retain(|_, pair| pair.connection != connection);
        if let Some(connection) = self.connections.remove(&connection) {
            connection.close().unwrap();
        }
        self.settle(&"closing a connection");
    }

    fn open_channel(&mut self, connection: ConnectionId) -> Result<ChannelId, Refused> {
        let id = self.broker.open_channel(connection)?;
        let main = self.connections[&connection].channel().unwrap();
        self.channels.insert(id, Pair { connection, main, publisher: None, tags: BTreeMap::new() });
        Ok(id)
    }

    fn close_channel(&mut self, channel: ChannelId) {
        self.in_time();
        self.broker.close_channel(channel);
        self.closed(channel, Scope::Channel);
        self.settle(&"closing a channel");
    }

    fn declare_all(&mut self, caller: Caller, tables: &Tables) -> Result<(), NotDeclared> {
        let expected = self.broker.declare_all(caller, tables);
        let declared = |channel: &Channel| -> Result<(), Box<(Declaration, Failure)>> {
            for exchange in tables.exchanges.iter().map(|exchange| &exchange.declaration) {
                channel
                    .declare_exchange(exchange)
                    .map_err(|why| Box::new((Declaration::Exchange(exchange.clone()), why)))?;
            }
            for queue in tables.queues.iter().map(|queue| &queue.declaration) {
                channel.declare_queue(queue).map_err(|why| Box::new((Declaration::Queue(queue.clone()), why)))?;
            }
            for binding in tables.bindings.iter().map(|binding| &binding.declaration) {
                channel.bind(binding).map_err(|why| Box::new((Declaration::Binding(binding.clone()), why)))?;
            }
            Ok(())
        };
        let actual = match caller {
            Caller::Channel(channel) => declared(&self.channels[&channel].main),
            Caller::Connection(connection) => declared(&self.connections[&connection].channel().unwrap()),
        };
        let agrees = match (&expected, &actual) {
            (Ok(()), Ok(())) => true,
            (Err(expected), Err(actual)) => {
                *expected.declaration == actual.0 && is_refusal(&expected.refused, &actual.1)
            }
            _ => false,
        };
        if !agrees {
            self.disagreements.push(format!("declaring: on the broker {actual:?}, in the engine {expected:?}"));
        }
        if let (Err(error), Caller::Channel(channel)) = (&expected, caller) {
            self.closed(channel, error.refused.scope);
        }
        self.settle(&"declaring");
        expected
    }

    fn bind(&mut self, channel: ChannelId, binding: &BindingDeclaration) -> Result<(), Refused> {
        let bind = |pair: &mut Pair| pair.main.bind(binding);
        self.both(&binding, channel, |broker| broker.bind(channel, binding), bind, |(), ()| true)
    }

    fn unbind(&mut self, channel: ChannelId, binding: &BindingDeclaration) -> Result<(), Refused> {
        let unbind = |pair: &mut Pair| pair.main.unbind(binding);
        self.both(&binding, channel, |broker| broker.unbind(channel, binding), unbind, |(), ()| true)
    }

    fn delete_queue(&mut self, channel: ChannelId, queue: &str, condition: DeleteQueue) -> Result<u32, Refused> {
        let delete = |pair: &mut Pair| pair.main.delete_queue_if(queue, condition.if_unused, condition.if_empty);
        let what = ("delete", queue);
        self.both(&what, channel, |broker| broker.delete_queue(channel, queue, condition), delete, u32::eq)
    }

    fn delete_exchange(&mut self, channel: ChannelId, exchange: &str, if_unused: bool) -> Result<(), Refused> {
        let delete = |pair: &mut Pair| pair.main.delete_exchange(exchange, if_unused);
        let what = ("delete", exchange);
        self.both(&what, channel, |broker| broker.delete_exchange(channel, exchange, if_unused), delete, |(), ()| true)
    }

    fn purge(&mut self, channel: ChannelId, queue: &str) -> Result<u32, Refused> {
        let purge = |pair: &mut Pair| pair.main.purge(queue);
        self.both(&("purge", queue), channel, |broker| broker.purge(channel, queue), purge, u32::eq)
    }

    fn publish(&mut self, channel: ChannelId, publication: Publication) -> Result<Published, Refused> {
        let connection = self.connections.remove(&self.channels[&channel].connection).expect("its connection is open");
        let id = self.channels[&channel].connection;
        let sent = publication.clone();
        let answer = self.both(
            &sent,
            channel,
            |broker| broker.publish(channel, publication),
            |pair| pair.publish(&connection, &sent),
            |expected, actual| (expected.confirmed, expected.returned) == *actual,
        );
        if answer.as_ref().is_ok() || self.broker.is_open(id) {
            self.connections.insert(id, connection);
        }
        answer
    }

    fn get(&mut self, channel: ChannelId, queue: &str, no_ack: bool) -> Result<Option<Delivery>, Refused> {
        let get = |pair: &mut Pair| pair.main.get(queue, no_ack);
        self.both(
            &("get", queue),
            channel,
            |broker| broker.get(channel, queue, no_ack),
            get,
            |expected, actual| match (expected, actual) {
                (Some(expected), Some(actual)) => {
                    Delivered::embedded(expected) == Delivered::real(actual)
                        && (expected.delivery_tag, expected.remaining) == (actual.delivery_tag, actual.left)
                }
                (None, None) => true,
                _ => false,
            },
        )
    }

    fn consume(&mut self, channel: ChannelId, subscription: &Subscription) -> Result<String, Refused> {
        let request = Consume {
            queue: subscription.queue.clone().into_bytes(),
            tag: subscription.tag.clone().into_bytes(),
            no_ack: subscription.no_ack,
            exclusive: subscription.exclusive,
            arguments: subscription.arguments.clone(),
        };
        let mut real = Vec::new();
        let consume = |pair: &mut Pair| {
            real = pair.main.consume(&request)?;
            Ok(())
        };
        let answer =
            self.both(subscription, channel, |broker| broker.consume(channel, subscription), consume, |_, ()| true);
        if let (Ok(tag), Some(pair)) = (&answer, self.channels.get_mut(&channel)) {
            pair.tags.insert(real, tag.clone());
        }
        answer
    }

    fn cancel(&mut self, channel: ChannelId, tag: &str) -> Result<(), Refused> {
        let cancel = |pair: &mut Pair| {
            let real = pair.tags.iter().find(|(_, known)| *known == tag).map_or(tag.as_bytes(), |(real, _)| real);
            pair.main.cancel(real)
        };
        self.both(&("cancel", tag), channel, |broker| broker.cancel(channel, tag), cancel, |(), ()| true)
    }

    fn qos(&mut self, channel: ChannelId, prefetch: u16, global: bool) -> Result<(), Refused> {
        let qos = |pair: &mut Pair| pair.main.qos(prefetch, global);
        let what = ("prefetch", prefetch, global);
        self.both(&what, channel, |broker| broker.qos(channel, prefetch, global), qos, |(), ()| true)
    }

    fn ack(&mut self, channel: ChannelId, delivery_tag: u64, multiple: bool) -> Result<(), Refused> {
        let ack = |pair: &mut Pair| {
            pair.main.ack(delivery_tag, multiple)?;
            in_order(&pair.main)
        };
        let what = ("ack", delivery_tag, multiple);
        self.both(&what, channel, |broker| broker.ack(channel, delivery_tag, multiple), ack, |(), ()| true)
    }

    fn nack(&mut self, channel: ChannelId, delivery_tag: u64, multiple: bool, requeue: bool) -> Result<(), Refused> {
        let nack = |pair: &mut Pair| {
            pair.main.nack(delivery_tag, multiple, requeue)?;
            in_order(&pair.main)
        };
        let what = ("nack", delivery_tag, multiple, requeue);
        self.both(&what, channel, |broker| broker.nack(channel, delivery_tag, multiple, requeue), nack, |(), ()| true)
    }

    fn reject(&mut self, channel: ChannelId, delivery_tag: u64, requeue: bool) -> Result<(), Refused> {
        let reject = |pair: &mut Pair| {
            pair.main.reject(delivery_tag, requeue)?;
            in_order(&pair.main)
        };
        let what = ("reject", delivery_tag, requeue);
        self.both(&what, channel, |broker| broker.reject(channel, delivery_tag, requeue), reject, |(), ()| true)
    }

    fn recover(&mut self, channel: ChannelId) -> Result<(), Refused> {
        let recover = |pair: &mut Pair| pair.main.recover();
        self.both(&"recover", channel, |broker| broker.recover(channel), recover, |(), ()| true)
    }

    fn take_events(&mut self, channel: ChannelId) -> Vec<Event> {
        let events = self.broker.take_events(channel);
        let Some(pair) = self.channels.get(&channel) else { return events };
        for expected in &events {
            let actual = pair.main.next_event(PATIENCE);
            let agrees = match (expected, &actual) {
                (Event::Delivered(expected), Ok(Some(RealEvent::Delivery(actual)))) => {
                    Delivered::embedded(expected) == Delivered::real(actual)
                        && expected.delivery_tag == actual.delivery_tag
                        && expected.consumer_tag.as_ref() == pair.tags.get(&actual.consumer_tag)
                }
                (Event::Cancelled { consumer_tag }, Ok(Some(RealEvent::Cancelled { consumer_tag: actual }))) => {
                    pair.tags.get(actual) == Some(consumer_tag)
                }
                _ => false,
            };
            if !agrees {
                let actual = match &actual {
                    Ok(Some(RealEvent::Delivery(actual))) => format!("{:?}", Delivered::real(actual)),
                    other => format!("{other:?}"),
                };
                let expected = match expected {
                    Event::Delivered(expected) => format!("{:?}", Delivered::embedded(expected)),
                    Event::Cancelled { consumer_tag } => format!("{consumer_tag} cancelled"),
                };
                let sentence = format!("{channel:?} is told: on the broker {actual}, in the engine {expected}");
                self.disagreements.push(sentence);
                break;
            }
        }
        events
    }

    fn set_policy(&mut self, policy: PolicyDeclaration) {
        self.put_policy("policies", &policy);
        self.broker.set_policy(policy);
        self.settle(&"setting a policy");
    }

    fn set_operator_policy(&mut self, policy: PolicyDeclaration) {
        self.put_policy("operator-policies", &policy);
        self.broker.set_operator_policy(policy);
        self.settle(&"setting an operator policy");
    }

    fn clear_policy(&mut self, name: &str) -> bool {
        let there = self.vhost.node().management().delete(&self.policy_path("policies", name)).is_ok();
        let cleared = self.broker.clear_policy(name);
        assert_eq!(there, cleared, "policy {name}");
        self.settle(&"clearing a policy");
        cleared
    }

    fn clear_operator_policy(&mut self, name: &str) -> bool {
        let there = self.vhost.node().management().delete(&self.policy_path("operator-policies", name)).is_ok();
        let cleared = self.broker.clear_operator_policy(name);
        assert_eq!(there, cleared, "operator policy {name}");
        self.settle(&"clearing an operator policy");
        cleared
    }
}
