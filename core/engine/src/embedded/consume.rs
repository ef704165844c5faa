//! Consumers: who gets what, and how much at a time.

use super::EmbeddedBroker;
use super::channel::Event;
use super::connections::ChannelId;
use super::queue::{Consumer, ConsumerKey, Queue};
use crate::rabbitmq::changes::{NO_GLOBAL_QOS, V4_QUORUM};
use crate::rabbitmq::{self, ConsumeRequest, Refused};
use crate::value::{Table, Value};

/// `basic.consume`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subscription {
    /// The queue.
    pub queue: String,
    /// The consumer's tag; empty asks the broker for one.
    pub tag: String,
    /// Messages count as acknowledged when they are sent.
    pub no_ack: bool,
    /// Nobody else may consume from the queue.
    pub exclusive: bool,
    /// `x-priority`, `x-stream-offset`.
    pub arguments: Table,
}

impl Subscription {
    /// A consumer that acknowledges, with a tag that the broker gives.
    pub fn new(queue: impl Into<String>) -> Self {
        Self { queue: queue.into(), ..Self::default() }
    }
}

impl EmbeddedBroker {
    /// `basic.qos`: how many messages each consumer that comes later may hold, or with `global` all of the channel together;
    /// 0 is any number. From 4.3 on `global` is not heeded.
    ///
    /// # Errors
    /// 504 when the channel is closed.
    pub fn qos(&mut self, channel: ChannelId, prefetch: u16, global: bool) -> Result<(), Refused> {
        self.answer(channel.into(), |broker, _| {
            let global = global && !NO_GLOBAL_QOS.holds(broker.conditions.version);
            let mut queues = Vec::new();
            if let Some(channel) = broker.connections.channel_mut(channel) {
                if global {
                    channel.global_prefetch = prefetch;
                } else {
                    channel.prefetch = prefetch;
                }
                queues.extend(channel.consumers.values().cloned());
            }
            for queue in queues {
                broker.resume(&queue);
            }
            Ok(())
        })
    }

    /// `basic.consume`: the consumer's tag. Messages come as [events](Self::take_events).
    ///
    /// # Errors
    /// What the broker refuses, as [`rabbitmq::consume`] says; 504 when the channel is closed.
    pub fn consume(&mut self, channel: ChannelId, subscription: &Subscription) -> Result<String, Refused> {
        self.answer(channel.into(), |broker, connection| {
            let in_use =
                broker.connections.channel(channel).is_some_and(|c| c.consumers.contains_key(&subscription.tag));
            // A tag that is in use is refused before the queue is looked for.
            let name = if in_use {
                subscription.queue.clone()
            } else {
                broker.named(channel, connection, &subscription.queue)?
            };
            let (prefetch, global_limit) =
                broker.connections.channel(channel).map_or((0, false), |c| (c.prefetch, c.global_prefetch > 0));
            let queue = broker.queues.get(&name);
            let request = ConsumeRequest {
                tag: &subscription.tag,
                tag_in_use: in_use,
                no_ack: subscription.no_ack,
                exclusive: subscription.exclusive,
                prefetch,
                global_limit,
                queue_has_consumers: queue.is_some_and(|queue| !queue.consumers.is_empty()),
                queue_is_taken: queue.is_some_and(|queue| queue.consumers.iter().any(|consumer| consumer.exclusive)),
                single_active: queue.is_some_and(|queue| queue.settings.single_active),
                arguments: Some(&subscription.arguments),
            };
            let existing = broker.existing(&name, connection);
            rabbitmq::consume(&broker.conditions_of(connection), existing, &name, request)?;
            let tag =
                if subscription.tag.is_empty() { broker.give_name("amq.ctag-") } else { subscription.tag.clone() };
            broker.add_consumer(&name, channel, tag.clone(), prefetch, subscription);
            Ok(tag)
        })
    }

    fn add_consumer(
        &mut self,
        name: &str,
        channel: ChannelId,
        tag: String,
        prefetch: u16,
        subscription: &Subscription,
    ) {
        let heeds_priority = V4_QUORUM.holds(self.conditions.version);
        let now = self.now;
        let Some(queue) = self.queues.get_mut(name) else { return };
        let key = ConsumerKey { channel, tag: tag.clone() };
        let priority = subscription.arguments.get("x-priority").and_then(Value::as_integer).unwrap_or(0);
        queue.arrivals = queue.arrivals.saturating_add(1);
        queue.had_consumers = true;
        queue.last_used = now;
        let offset = first_offset(subscription.arguments.get("x-stream-offset"), queue.log.len());
        queue.consumers.push(Consumer {
            key: key.clone(),
            no_ack: subscription.no_ack,
            exclusive: subscription.exclusive && !queue.is_quorum(),
            priority,
            // What is sent without waiting for acknowledgement is not limited.
            prefetch: if subscription.no_ack { 0 } else { prefetch },
            unacknowledged: 0,
            offset,
            arrival: queue.arrivals,
        });
        queue.rotation.push_back(key);
        if queue.settings.single_active {
            choose_active(queue, heeds_priority);
        }
        if let Some(channel) = self.connections.channel_mut(channel) {
            channel.consumers.insert(tag, name.to_owned());
        }
        self.deliver(name);
    }

    /// `basic.cancel`. What the consumer holds stays with the channel. A tag that is not in use is no error.
    ///
    /// # Errors
    /// 504 when the channel is closed.
    pub fn cancel(&mut self, channel: ChannelId, tag: &str) -> Result<(), Refused> {
        self.answer(channel.into(), |broker, _| {
            let queue = broker.connections.channel_mut(channel).and_then(|channel| channel.consumers.remove(tag));
            if let Some(queue) = queue {
                broker.remove_consumer(&queue, &ConsumerKey { channel, tag: tag.to_owned() });
                broker.after_consumers_left(&queue);
            }
            Ok(())
        })
    }

    /// Takes a consumer out of its queue; another one becomes the active one.
    pub(super) fn remove_consumer(&mut self, name: &str, key: &ConsumerKey) {
        let heeds_priority = V4_QUORUM.holds(self.conditions.version);
        let now = self.now;
        let Some(queue) = self.queues.get_mut(name) else { return };
        queue.consumers.retain(|consumer| consumer.key != *key);
        queue.rotation.retain(|other| other != key);
        queue.last_used = now;
        if queue.active.as_ref() == Some(key) {
            queue.active = None;
            if queue.settings.single_active {
                choose_active(queue, heeds_priority);
            }
        }
        self.reckon(name);
    }

    /// An auto-delete queue goes with its last consumer; others go on without.
    pub(super) fn after_consumers_left(&mut self, name: &str) {
        let Some(queue) = self.queues.get(name) else { return };
        if queue.declaration.auto_delete && queue.had_consumers && queue.consumers.is_empty() {
            self.drop_queue(name);
        } else {
            self.resume(name);
        }
    }

    /// The consumers of a queue that is gone are told so.
    pub(super) fn tell_consumers(&mut self, queue: &Queue) {
        for consumer in &queue.consumers {
            if let Some(channel) = self.connections.channel_mut(consumer.key.channel) {
                channel.consumers.remove(&consumer.key.tag);
                channel.events.push_back(Event::Cancelled { consumer_tag: consumer.key.tag.clone() });
            }
        }
    }
}

/// The single active consumer is the first one that came; when it leaves, one of the highest priority. In a quorum queue one
/// of a higher priority takes over from 4.0 on, once the present one has settled what it holds; until then nobody gets any
/// more. The one that it took over from stands behind all others then (measured on 4.0.5 and 4.3.6).
pub(super) fn choose_active(queue: &mut Queue, heeds_priority: bool) {
    let takes_over = queue.is_quorum() && heeds_priority;
    let current = queue.active.as_ref().and_then(|key| queue.consumer(key));
    let first_of_highest = queue.consumers.iter().rev().max_by_key(|consumer| consumer.priority);
    let first = if queue.is_quorum() && !heeds_priority { queue.consumers.first() } else { first_of_highest };
    let Some(next) = first else { return };
    let replaced = current.map(|consumer| consumer.key.clone());
    let chosen = match current {
        None => Some(next.key.clone()),
        Some(current) if takes_over && next.priority > current.priority => {
            (current.unacknowledged == 0).then(|| next.key.clone())
        }
        Some(_) => return,
    };
    queue.quiescing = chosen.is_none();
    if chosen.is_some() {
        queue.active = chosen;
        if let Some(at) = queue.consumers.iter().position(|consumer| Some(&consumer.key) == replaced.as_ref()) {
            let last = queue.consumers.remove(at);
            queue.consumers.push(last);
        }
    }
}

/// Where in a stream a consumer starts. What stands for a time starts at the first message: a stream's chunks, which times
/// are looked up by, are not modelled.
fn first_offset(offset: Option<&Value>, length: usize) -> u64 {
    let end = u64::try_from(length).unwrap_or(u64::MAX);
    match offset {
        Some(Value::Timestamp(_)) => 0,
        Some(value) => match (value.as_integer(), value.as_text()) {
            (Some(number), _) => u64::try_from(number).unwrap_or(0).min(end),
            (None, Some("next")) => end,
            (None, Some("last")) => end.saturating_sub(1),
            _ => 0,
        },
        None => end,
    }
}
