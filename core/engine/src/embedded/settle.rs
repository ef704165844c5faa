//! Acknowledging, rejecting, putting back.

use super::EmbeddedBroker;
use super::channel::{Channel, Unacknowledged};
use super::connections::{ChannelId, ConnectionId};
use super::consume::choose_active;
use super::death::DeathReason;
use super::history::What;
use super::queue::ConsumerKey;
use crate::rabbitmq::changes::{V4_3_QUEUES, V4_QUORUM};
use crate::rabbitmq::{self, Refused};
use std::collections::BTreeSet;

/// Why a delivery comes back to its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Return {
    /// `basic.nack`, or `basic.recover`.
    Nack,
    /// `basic.reject`.
    Reject,
    /// Its channel closed.
    Closed,
}

impl EmbeddedBroker {
    /// `basic.ack`. With `multiple` everything up to that tag, and everything for tag 0.
    ///
    /// # Errors
    /// 406 when the channel waits for no such delivery; 504 when it is closed.
    pub fn ack(&mut self, channel: ChannelId, delivery_tag: u64, multiple: bool) -> Result<(), Refused> {
        self.answer(channel.into(), |broker, connection| {
            for settled in broker.settled(channel, connection, delivery_tag, multiple)? {
                broker.released(channel, &settled);
                let id = settled.entry.message.id;
                broker.note(Some(id), What::Acknowledged { queue: settled.queue.clone() });
                broker.resume(&settled.queue);
            }
            Ok(())
        })
    }

    /// `basic.nack`: back to the queue, or dead.
    ///
    /// # Errors
    /// 406 when the channel waits for no such delivery; 504 when it is closed.
    pub fn nack(
        &mut self,
        channel: ChannelId,
        delivery_tag: u64,
        multiple: bool,
        requeue: bool,
    ) -> Result<(), Refused> {
        self.turn_down(channel, delivery_tag, multiple, requeue, Return::Nack)
    }

    /// `basic.reject`: back to the queue, or dead.
    ///
    /// # Errors
    /// 406 when the channel waits for no such delivery; 504 when it is closed.
    pub fn reject(&mut self, channel: ChannelId, delivery_tag: u64, requeue: bool) -> Result<(), Refused> {
        self.turn_down(channel, delivery_tag, false, requeue, Return::Reject)
    }

    /// `basic.recover`: everything that the channel holds goes back to the queues.
    ///
    /// # Errors
    /// 504 when the channel is closed.
    pub fn recover(&mut self, channel: ChannelId) -> Result<(), Refused> {
        self.answer(channel.into(), |broker, _| {
            let held =
                broker.connections.channel_mut(channel).map(|channel| std::mem::take(&mut channel.unacknowledged));
            broker.come_back(channel, held.unwrap_or_default().into_values().collect(), Return::Nack);
            Ok(())
        })
    }

    fn turn_down(
        &mut self,
        channel: ChannelId,
        delivery_tag: u64,
        multiple: bool,
        requeue: bool,
        how: Return,
    ) -> Result<(), Refused> {
        self.answer(channel.into(), |broker, connection| {
            let settled = broker.settled(channel, connection, delivery_tag, multiple)?;
            if requeue {
                broker.come_back(channel, settled, how);
                return Ok(());
            }
            let version = broker.conditions.version;
            for mut settled in settled {
                broker.released(channel, &settled);
                if !broker.is_current(&settled) {
                    continue;
                }
                let is_quorum = broker.queues.get(&settled.queue).is_some_and(super::queue::Queue::is_quorum);
                let fails = if V4_3_QUEUES.holds(version) { how == Return::Reject } else { is_quorum };
                if fails && V4_QUORUM.holds(version) {
                    settled.entry.failed = settled.entry.failed.saturating_add(1);
                }
                broker.bury(&settled.queue, settled.entry, DeathReason::Rejected);
                broker.resume(&settled.queue);
            }
            Ok(())
        })
    }

    /// Takes the deliveries that an acknowledgement is about out of the channel, oldest first.
    fn settled(
        &mut self,
        channel: ChannelId,
        connection: ConnectionId,
        delivery_tag: u64,
        multiple: bool,
    ) -> Result<Vec<Unacknowledged>, Refused> {
        let conditions = self.conditions_of(connection).into_owned();
        let unknown = || rabbitmq::unknown_delivery(&conditions, delivery_tag);
        let Some(channel) = self.connections.channel_mut(channel) else { return Err(unknown()) };
        if multiple && delivery_tag == 0 {
            return Ok(std::mem::take(&mut channel.unacknowledged).into_values().collect());
        }
        if !channel.unacknowledged.contains_key(&delivery_tag) {
            return Err(unknown());
        }
        if !multiple {
            return Ok(channel.unacknowledged.remove(&delivery_tag).into_iter().collect());
        }
        let later = channel.unacknowledged.split_off(&delivery_tag.saturating_add(1));
        Ok(std::mem::replace(&mut channel.unacknowledged, later).into_values().collect())
    }

    /// Deliveries come back to their queues, and may go out again at once.
    fn come_back(&mut self, channel: ChannelId, deliveries: Vec<Unacknowledged>, how: Return) {
        let queues: BTreeSet<String> = deliveries.iter().map(|delivery| delivery.queue.clone()).collect();
        for delivery in deliveries {
            self.released(channel, &delivery);
            self.put_back(delivery, how);
        }
        for queue in queues {
            // A quorum queue gives out what it can before it looks at its limits, a classic queue drops first.
            let (is_quorum, changes_hands) =
                self.queues.get(&queue).map_or((false, false), |queue| (queue.is_quorum(), queue.quiescing));
            // Before 4.3 a consumer that takes over at a return gets nothing until something else happens in the queue.
            let hesitates = changes_hands && !V4_3_QUEUES.holds(self.conditions.version);
            if is_quorum && !hesitates {
                self.resume(&queue);
            }
            self.enforce_limits(&queue);
            self.expire(&queue);
            self.reactivate(&queue);
            if !hesitates {
                self.deliver(&queue);
            }
        }
    }

    fn put_back(&mut self, delivery: Unacknowledged, how: Return) {
        if !self.is_current(&delivery) {
            return;
        }
        let version = self.conditions.version;
        let counts_all = V4_3_QUEUES.holds(version);
        let Some(queue) = self.queues.get_mut(&delivery.queue) else { return };
        if queue.is_stream() {
            return;
        }
        let mut entry = delivery.entry;
        entry.returned = entry.returned.saturating_add(1);
        let fails = match how {
            Return::Nack => false,
            Return::Reject => counts_all,
            Return::Closed => counts_all || (queue.is_quorum() && V4_QUORUM.holds(version)),
        };
        entry.failed = entry.failed.saturating_add(fails.into());
        let counted = if counts_all { entry.failed } else { entry.returned };
        let id = entry.message.id;
        if queue.settings.delivery_limit.is_some_and(|limit| i64::from(counted) > limit) {
            return self.bury(&delivery.queue, entry, DeathReason::DeliveryLimit);
        }
        // Before 4.3 a quorum queue without a limit takes back at its end what a client puts back.
        let at_the_end =
            queue.is_quorum() && how != Return::Closed && !counts_all && queue.settings.delivery_limit.is_none();
        if at_the_end {
            entry.position = queue.next_position();
            queue.store.put_last(entry);
        } else {
            queue.store.put_back(entry);
        }
        self.note(Some(id), What::PutBack { queue: delivery.queue });
    }

    /// Whether the queue of a delivery is still the one that it came from.
    fn is_current(&self, delivery: &Unacknowledged) -> bool {
        self.queues.get(&delivery.queue).is_some_and(|queue| queue.number == delivery.number)
    }

    /// A delivery no longer counts among what its consumer and its queue wait for.
    fn released(&mut self, channel: ChannelId, delivery: &Unacknowledged) {
        if !self.is_current(delivery) {
            return;
        }
        let Some(queue) = self.queues.get_mut(&delivery.queue) else { return };
        queue.unacknowledged = queue.unacknowledged.saturating_sub(1);
        if let Some(tag) = &delivery.consumer
            && let Some(consumer) = queue.consumer_mut(&ConsumerKey { channel, tag: tag.clone() })
        {
            consumer.unacknowledged = consumer.unacknowledged.saturating_sub(1);
        }
    }

    /// Consumers of a queue that have room again go on.
    pub(super) fn resume(&mut self, name: &str) {
        self.reactivate(name);
        self.deliver(name);
    }

    /// Consumers of a queue that have room again may be given messages.
    fn reactivate(&mut self, name: &str) {
        let heeds_priority = V4_QUORUM.holds(self.conditions.version);
        let connections = &self.connections;
        let free = |channel| connections.channel(channel).is_some_and(Channel::is_free);
        if let Some(queue) = self.queues.get_mut(name) {
            queue.resume(free);
            if queue.settings.single_active {
                choose_active(queue, heeds_priority);
            }
        }
    }

    /// A closed channel leaves its queues.
    pub(super) fn leave(&mut self, id: ChannelId, mut channel: Channel) {
        let consumers = std::mem::take(&mut channel.consumers);
        for (tag, queue) in &consumers {
            self.remove_consumer(queue, &ConsumerKey { channel: id, tag: tag.clone() });
        }
        let mut held: Vec<Unacknowledged> = channel.unacknowledged.into_values().collect();
        // A quorum queue takes back holder by holder; a classic queue puts each in its old place anyway.
        held.sort_by(|a, b| a.holder.cmp(&b.holder));
        for name in &channel.published_to {
            if let Some(queue) = self.queues.get_mut(name) {
                queue.publishers.remove(&id);
                queue.blocked.remove(&id);
            }
        }
        self.come_back(id, held, Return::Closed);
        for queue in consumers.into_values().collect::<BTreeSet<_>>() {
            self.after_consumers_left(&queue);
        }
    }
}
