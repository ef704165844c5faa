//! Messages into queues, and from queues to clients.

use super::channel::{Delivery, Event, Holder, Unacknowledged};
use super::connections::{ChannelId, Connections};
use super::death::DeathReason;
use super::history::What;
use super::message::Message;
use super::queue::{ConsumerKey, Queue};
use super::settings::Overflow;
use super::store::Entry;
use super::{EmbeddedBroker, MessageId};
use crate::rabbitmq::Properties;
use crate::rabbitmq::changes::{ALWAYS_TYPED, COUNT_WHEN_COUNTED, V4_3_QUEUES, V4_QUORUM};

impl EmbeddedBroker {
    /// Puts a message into a queue; `false` when the queue refuses it because it is full.
    ///
    /// `publisher` is the channel that publishes; `None` for a dead letter, which a quorum queue never refuses.
    pub(super) fn enqueue(&mut self, name: &str, message: Message, publisher: Option<ChannelId>) -> bool {
        let now = self.now;
        let Some(queue) = self.queues.get_mut(name) else { return true };
        if queue.is_stream() {
            queue.log.push(message);
            self.deliver(name);
            return true;
        }
        let id = message.id;
        if queue.is_quorum() {
            if let Some(channel) = publisher
                && !admits(queue, name, channel, &mut self.connections)
            {
                self.note(Some(id), What::Refused { queue: name.to_owned() });
                return false;
            }
        } else if queue.settings.overflow != Overflow::DropHead && queue.would_overflow(queue.size_of(&message)) {
            let dies = queue.settings.overflow == Overflow::RejectPublishDlx;
            self.note(Some(id), What::Refused { queue: name.to_owned() });
            if dies {
                self.die(name, message, DeathReason::MaxLen);
            }
            return false;
        }
        let entry = queue.admit(message, now);
        let is_quorum = queue.is_quorum();
        queue.store.push(entry);
        if is_quorum {
            self.deliver(name);
        } else {
            self.hand_out(name, true);
        }
        self.enforce_limits(name);
        self.expire(name);
        true
    }

    /// Gives out as many messages of a queue as its consumers can take.
    pub(super) fn deliver(&mut self, name: &str) {
        if self.queues.get(name).is_some_and(Queue::is_stream) {
            self.deliver_stream(name);
            return;
        }
        if self.queues.get(name).is_some_and(Queue::is_quorum) {
            self.expire(name);
        }
        self.hand_out(name, false);
        self.reckon(name);
    }

    /// `is_direct`: the message goes through a classic queue to a consumer that waits for it, without ever being stored.
    fn hand_out(&mut self, name: &str, is_direct: bool) {
        loop {
            let connections = &self.connections;
            let Some(queue) = self.queues.get_mut(name) else { return };
            if queue.store.is_empty() {
                return;
            }
            let free = |channel| connections.channel(channel).is_some_and(super::channel::Channel::is_free);
            let Some(key) = queue.next_consumer(free) else { return };
            let Some(entry) = queue.store.take() else { return };
            self.hand_over(name, &key, entry, is_direct);
        }
    }

    fn hand_over(&mut self, name: &str, key: &ConsumerKey, entry: Entry, is_direct: bool) {
        let Some(queue) = self.queues.get_mut(name) else { return };
        let Some(consumer) = queue.consumer_mut(key) else { return };
        let no_ack = consumer.no_ack;
        if !no_ack {
            consumer.unacknowledged = consumer.unacknowledged.saturating_add(1);
        }
        let holder = queue.holder(&key.tag, key.channel, ALWAYS_TYPED.holds(self.conditions.version));
        let delivery = self.give(name, key.channel, Some(key.tag.clone()), holder, entry, no_ack);
        if let (Some(mut delivery), Some(channel)) = (delivery, self.connections.channel_mut(key.channel)) {
            // What was never stored is told as new, whatever failed in an earlier queue (measured on 4.3.6).
            delivery.redelivered &= !is_direct;
            channel.events.push_back(Event::Delivered(Box::new(delivery)));
        }
    }

    /// Makes a delivery of an entry that was taken out of its queue, and remembers it unless it counts as acknowledged.
    pub(super) fn give(
        &mut self,
        name: &str,
        channel_id: ChannelId,
        consumer: Option<String>,
        holder: Holder,
        entry: Entry,
        no_ack: bool,
    ) -> Option<Delivery> {
        let delivery = self.delivery(name, channel_id, consumer.clone(), &entry)?;
        let id = entry.message.id;
        if !no_ack {
            let queue = self.queues.get_mut(name)?;
            queue.unacknowledged = queue.unacknowledged.saturating_add(1);
            let waiting = Unacknowledged {
                queue: name.to_owned(),
                number: queue.number,
                consumer: consumer.clone(),
                holder,
                entry,
            };
            self.connections.channel_mut(channel_id)?.unacknowledged.insert(delivery.delivery_tag, waiting);
        }
        self.note(Some(id), What::Delivered { queue: name.to_owned(), consumer });
        Some(delivery)
    }

    fn delivery(
        &mut self,
        name: &str,
        channel_id: ChannelId,
        consumer_tag: Option<String>,
        entry: &Entry,
    ) -> Option<Delivery> {
        let queue = self.queues.get(name)?;
        let is_quorum = queue.is_quorum();
        let properties = self.shown_properties(entry, is_quorum, consumer_tag.is_none());
        let redelivered = self.shown_redelivered(entry, is_quorum);
        let channel = self.connections.channel_mut(channel_id)?;
        channel.delivered = channel.delivered.saturating_add(1);
        Some(Delivery {
            consumer_tag,
            delivery_tag: channel.delivered,
            redelivered,
            exchange: entry.message.exchange.clone(),
            routing_key: entry.message.routing_key(),
            properties,
            body: entry.message.body.clone(),
            queue: name.to_owned(),
            message: entry.message.id,
            remaining: None,
        })
    }

    /// Whether a client is told that the message was given out before. From 4.0 on failures in an earlier queue count as well.
    pub(super) fn shown_redelivered(&self, entry: &Entry, is_quorum: bool) -> bool {
        let version = self.conditions.version;
        let failed_before = V4_QUORUM.holds(version) && entry.failed > 0;
        let counts_failures = is_quorum || V4_3_QUEUES.holds(version);
        entry.returned > 0 || (failed_before && counts_failures)
    }

    /// The properties with the headers that the broker adds: deaths, and in a quorum queue the counts of deliveries. Before
    /// 3.13 a count of 0 is shown to `basic.get` and not to a consumer (measured on 3.10.8).
    pub(super) fn shown_properties(&self, entry: &Entry, is_quorum: bool, to_get: bool) -> Properties {
        let version = self.conditions.version;
        let mut properties = entry.message.properties.clone();
        entry.message.deaths.write(&mut properties.headers);
        if !is_quorum {
            return properties;
        }
        let mut show = |name: &str, count: u32| {
            properties.headers.insert(name, i64::from(count));
        };
        if V4_3_QUEUES.holds(version) {
            let acquired = if entry.returned > 0 { entry.returned } else { entry.failed };
            if acquired > 0 {
                show("x-acquired-count", acquired);
            }
            if entry.failed > 0 {
                show("x-delivery-count", entry.failed);
            }
        } else {
            let carried = if V4_QUORUM.holds(version) { entry.failed } else { 0 };
            let count = if entry.returned > 0 { entry.returned } else { carried };
            if count > 0 || (to_get && !COUNT_WHEN_COUNTED.holds(version)) {
                show("x-delivery-count", count);
            }
        }
        properties
    }

    /// Lets what is too much for a queue go: its head, until it fits; a quorum queue that refuses instead stops publishers.
    pub(super) fn enforce_limits(&mut self, name: &str) {
        loop {
            let Some(queue) = self.queues.get_mut(name) else { return };
            if !queue.is_over_limit() {
                return;
            }
            if queue.settings.overflow != Overflow::DropHead {
                if queue.is_quorum() {
                    queue.blocked = queue.publishers.clone();
                }
                return;
            }
            let Some(entry) = queue.store.take() else { return };
            self.bury(name, entry, DeathReason::MaxLen);
        }
    }

    /// Lets what has expired at the head of a queue go.
    pub(super) fn expire(&mut self, name: &str) {
        let now = self.now;
        let Some(queue) = self.queues.get_mut(name) else { return };
        for entry in queue.store.take_expired(now) {
            self.bury(name, entry, DeathReason::Expired);
        }
        self.unblock(name);
        self.reckon(name);
    }

    /// Lets publishers go on that a quorum queue had stopped, once it has room.
    pub(super) fn unblock(&mut self, name: &str) {
        if let Some(queue) = self.queues.get_mut(name)
            && !queue.blocked.is_empty()
            && queue.has_room_again()
        {
            queue.blocked.clear();
        }
    }

    fn deliver_stream(&mut self, name: &str) {
        loop {
            let connections = &self.connections;
            let Some(queue) = self.queues.get_mut(name) else { return };
            let end = u64::try_from(queue.log.len()).unwrap_or(u64::MAX);
            let next = queue.consumers.iter_mut().find(|consumer| {
                consumer.offset < end
                    && consumer.unacknowledged < u32::from(consumer.prefetch)
                    && connections.channel(consumer.key.channel).is_some()
            });
            let Some(consumer) = next else { return };
            let offset = consumer.offset;
            consumer.offset = offset.saturating_add(1);
            let key = consumer.key.clone();
            let Some(mut message) = usize::try_from(offset).ok().and_then(|at| queue.log.get(at)).cloned() else {
                return;
            };
            let offset = i64::try_from(offset).unwrap_or(i64::MAX);
            message.properties.headers.insert("x-stream-offset", offset);
            let size = queue.size_of(&message);
            let entry = Entry { message, position: 0, expires_at: None, returned: 0, failed: 0, size };
            self.hand_over(name, &key, entry, false);
        }
    }

    /// The number of a new publication.
    pub(super) fn next_message(&mut self) -> MessageId {
        self.published = self.published.saturating_add(1);
        MessageId(self.published)
    }
}

/// Whether a quorum queue takes a message of that channel: not while it is stopped, and a channel that is new to the queue
/// is stopped at once when the queue is over its limit.
fn admits(queue: &mut Queue, name: &str, channel: ChannelId, connections: &mut Connections) -> bool {
    let is_new = queue.publishers.insert(channel);
    if is_new && let Some(publisher) = connections.channel_mut(channel) {
        publisher.published_to.insert(name.to_owned());
    }
    if queue.settings.overflow != Overflow::RejectPublish {
        queue.blocked.clear();
        return true;
    }
    if is_new && queue.is_over_limit() {
        queue.blocked.insert(channel);
    }
    !queue.blocked.contains(&channel)
}
