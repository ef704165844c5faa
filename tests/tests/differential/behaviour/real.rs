//! The same life on a real broker.

use super::life::{How, Life, Step};
use acemq_tests::amqp::{Channel, Connection, Publish, QueueRequest};
use acemq_tests::broker::Vhost;
use acemq_tests::mirror::comparable;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Nothing,
    Published { confirmed: bool, returned: bool },
    Got(Option<Message>),
    Purged(u32),
}

/// A delivery, as far as it can be compared.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    pub body: String,
    pub redelivered: bool,
    pub exchange: String,
    pub routing_key: String,
    pub left: Option<u32>,
    pub expiration: Option<String>,
    pub priority: Option<u8>,
    /// Sorted, as text, without times.
    pub headers: String,
}

pub struct Real {
    connection: Connection,
    publisher: Channel,
    consumer: Channel,
    /// Asks how many messages there are.
    counter: Channel,
    exchange: String,
    held: Vec<u64>,
    started: Instant,
}

impl Real {
    /// A life begins with queues that nothing is in, whatever an earlier attempt left.
    pub fn new(vhost: &Vhost<'_>, life: &Life) -> Self {
        let connection = vhost.connect();
        let (publisher, consumer, counter) =
            (connection.channel().unwrap(), connection.channel().unwrap(), connection.channel().unwrap());
        publisher.confirm_select().unwrap();
        for queue in &life.queues {
            counter.delete_queue(&queue.name).unwrap();
        }
        counter.declare_exchange(&life.exchange).unwrap();
        for queue in &life.queues {
            counter.declare_queue(queue).unwrap();
        }
        for binding in &life.bindings {
            counter.bind(binding).unwrap();
        }
        let exchange = life.exchange.name.clone();
        Self { connection, publisher, consumer, counter, exchange, held: Vec::new(), started: Instant::now() }
    }

    pub fn act(&mut self, step: &Step) -> Said {
        match step {
            Step::Publish { to_own_exchange, key, properties, body } => {
                let exchange = if *to_own_exchange { self.exchange.as_str() } else { "" };
                let mut message = Publish::to(exchange, key).mandatory().body(body);
                message.properties.expiration =
                    properties.expiration.map(|expiration| expiration.to_string().into_bytes());
                message.properties.priority = properties.priority;
                if !properties.headers.is_empty() {
                    message.properties.headers = Some(properties.headers.clone());
                }
                let confirmed = self.publisher.publish_confirmed(&message).unwrap();
                Said::Published { confirmed: confirmed.acknowledged, returned: confirmed.returned.is_some() }
            }
            Step::Get { queue } => {
                let delivery = self.consumer.get(queue, false).unwrap();
                let Some(delivery) = delivery else { return Said::Got(None) };
                self.held.push(delivery.delivery_tag);
                let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
                Said::Got(Some(Message {
                    body: text(delivery.body),
                    redelivered: delivery.redelivered,
                    exchange: text(delivery.exchange),
                    routing_key: text(delivery.routing_key),
                    left: delivery.left,
                    expiration: delivery.properties.expiration.map(text),
                    priority: delivery.properties.priority,
                    headers: comparable(&delivery.properties.headers.unwrap_or_default()),
                }))
            }
            Step::Settle { held, how } => {
                if *held < self.held.len() {
                    let tag = self.held.remove(*held);
                    match how {
                        How::Ack => self.consumer.ack(tag, false),
                        How::Nack { requeue } => self.consumer.nack(tag, false, *requeue),
                        How::Reject { requeue } => self.consumer.reject(tag, *requeue),
                    }
                    .unwrap();
                    self.in_order();
                }
                Said::Nothing
            }
            Step::SettleAll { how } => {
                if !self.held.is_empty() {
                    self.held.clear();
                    match how {
                        How::Ack => self.consumer.ack(0, true),
                        How::Nack { requeue } | How::Reject { requeue } => self.consumer.nack(0, true, *requeue),
                    }
                    .unwrap();
                    self.in_order();
                }
                Said::Nothing
            }
            Step::Recover => {
                self.held.clear();
                self.consumer.recover().unwrap();
                Said::Nothing
            }
            Step::CloseChannel => {
                self.held.clear();
                let next = self.connection.channel().unwrap();
                std::mem::replace(&mut self.consumer, next).close().unwrap();
                Said::Nothing
            }
            Step::Purge { queue } => Said::Purged(self.publisher.purge(queue).unwrap()),
            Step::Wait(_) => Said::Nothing,
        }
    }

    /// Acknowledgements are not answered; a request behind them is, when they are done.
    fn in_order(&self) {
        self.consumer.prefetch(0).unwrap();
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How many messages are ready in each queue.
    pub fn counts(&self, life: &Life) -> BTreeMap<String, u32> {
        let count = |name: &str| self.counter.declare_queue(QueueRequest::passive(name)).unwrap().messages;
        life.queues.iter().map(|queue| (queue.name.clone(), count(&queue.name))).collect()
    }

    pub fn drain(&mut self, queue: &str, timed: bool) -> Vec<Message> {
        let mut messages = Vec::new();
        while let Said::Got(Some(message)) = self.act(&Step::Get { queue: queue.to_owned() }) {
            messages.push(message);
        }
        if timed {
            messages.iter_mut().for_each(|message| message.left = None);
            messages.sort();
        }
        messages
    }

    pub fn clean_up(&self, life: &Life) {
        for queue in &life.queues {
            self.counter.delete_queue(&queue.name).unwrap();
        }
        self.counter.delete_exchange(&life.exchange.name, false).unwrap();
    }
}
