//! A life on the embedded broker.

use super::life::{How, Life, Step};
use super::real::{Message, Said};
use acemq_core::embedded::{ChannelId, ConnectionId, EmbeddedBroker, Publication, What};
use acemq_core::rabbitmq::{Conditions, Version};
use acemq_tests::mirror::comparable;
use std::collections::BTreeMap;
use std::time::Duration;

pub struct Model {
    broker: EmbeddedBroker,
    connection: ConnectionId,
    publisher: ChannelId,
    consumer: ChannelId,
    exchange: String,
    queues: Vec<String>,
    /// Deliveries that wait for their acknowledgement, with their queues.
    held: Vec<(u64, String)>,
}

impl Model {
    pub fn new(version: Version, vhost: &str, life: &Life) -> Self {
        let mut broker = EmbeddedBroker::new(Conditions::new(version, vhost));
        broker.keep_history();
        let connection = broker.connect();
        broker.declare_exchange(connection, &life.exchange).unwrap();
        for queue in &life.queues {
            broker.declare_queue(connection, queue).unwrap();
        }
        for binding in &life.bindings {
            broker.bind(connection, binding).unwrap();
        }
        let (publisher, consumer) =
            (broker.open_channel(connection).unwrap(), broker.open_channel(connection).unwrap());
        Self {
            broker,
            connection,
            publisher,
            consumer,
            exchange: life.exchange.name.clone(),
            queues: life.queues.iter().map(|queue| queue.name.clone()).collect(),
            held: Vec::new(),
        }
    }

    pub fn act(&mut self, step: &Step) -> Said {
        match step {
            Step::Publish { to_own_exchange, key, properties, body } => {
                let exchange = if *to_own_exchange { self.exchange.clone() } else { String::new() };
                let mut publication = Publication::new(exchange, key.clone(), body.clone());
                publication.mandatory = true;
                publication.properties.expiration = properties.expiration.map(|expiration| expiration.to_string());
                publication.properties.priority = properties.priority;
                publication.properties.headers = properties.headers.clone();
                let published = self.broker.publish(self.publisher, publication).unwrap();
                Said::Published { confirmed: published.confirmed, returned: published.returned }
            }
            Step::Get { queue } => {
                let delivery = self.broker.get(self.consumer, queue, false).unwrap();
                let Some(delivery) = delivery else { return Said::Got(None) };
                self.held.push((delivery.delivery_tag, queue.clone()));
                Said::Got(Some(Message {
                    body: String::from_utf8(delivery.body.to_vec()).unwrap(),
                    redelivered: delivery.redelivered,
                    exchange: delivery.exchange,
                    routing_key: delivery.routing_key,
                    left: delivery.remaining,
                    expiration: delivery.properties.expiration,
                    priority: delivery.properties.priority,
                    headers: comparable(&delivery.properties.headers),
                }))
            }
            Step::Settle { held, how } => {
                if *held < self.held.len() {
                    let (tag, _) = self.held.remove(*held);
                    match how {
                        How::Ack => self.broker.ack(self.consumer, tag, false),
                        How::Nack { requeue } => self.broker.nack(self.consumer, tag, false, *requeue),
                        How::Reject { requeue } => self.broker.reject(self.consumer, tag, *requeue),
                    }
                    .unwrap();
                }
                Said::Nothing
            }
            Step::SettleAll { how } => {
                if !self.held.is_empty() {
                    self.held.clear();
                    match how {
                        How::Ack => self.broker.ack(self.consumer, 0, true),
                        How::Nack { requeue } | How::Reject { requeue } => {
                            self.broker.nack(self.consumer, 0, true, *requeue)
                        }
                    }
                    .unwrap();
                }
                Said::Nothing
            }
            Step::Recover => {
                self.held.clear();
                self.broker.recover(self.consumer).unwrap();
                Said::Nothing
            }
            Step::CloseChannel => {
                self.held.clear();
                self.broker.close_channel(self.consumer);
                self.consumer = self.broker.open_channel(self.connection).unwrap();
                Said::Nothing
            }
            Step::Purge { queue } => Said::Purged(self.broker.purge(self.publisher, queue).unwrap()),
            Step::Wait(_) => Said::Nothing,
        }
    }

    pub fn holds_from_several_queues(&self) -> bool {
        self.held.windows(2).any(|pair| pair[0].1 != pair[1].1)
    }

    /// Lets time pass until that long after the start.
    pub fn advance_to(&mut self, elapsed: Duration) {
        let elapsed = u64::try_from(elapsed.as_millis()).unwrap();
        self.broker.advance(elapsed.saturating_sub(self.broker.now()));
    }

    /// How many messages are ready in each queue.
    pub fn counts(&self) -> BTreeMap<String, u32> {
        self.queues
            .iter()
            .map(|queue| (queue.clone(), u32::try_from(self.broker.contents(queue).unwrap().ready.len()).unwrap()))
            .collect()
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

    pub fn dead_letters(&self) -> usize {
        self.broker.history().iter().filter(|happening| matches!(happening.what, What::DeadLettered { .. })).count()
    }
}
