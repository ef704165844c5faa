//! A queue as the broker holds it: messages, consumers, and what it remembers of both.

use super::channel::Holder;
use super::connections::{ChannelId, ConnectionId};
use super::death::DeathReason;
use super::message::Message;
use super::settings::Settings;
use super::store::{Entry, Store};
use crate::rabbitmq::changes::V4_3_QUEUES;
use crate::rabbitmq::{QueueDeclaration, QueueType, Version};
use std::collections::{BTreeSet, VecDeque};

/// A queue's consumer: a channel and a tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConsumerKey {
    pub(super) channel: ChannelId,
    pub(super) tag: String,
}

/// A consumer as the queue sees it.
#[derive(Debug, Clone)]
pub(super) struct Consumer {
    pub(super) key: ConsumerKey,
    pub(super) no_ack: bool,
    pub(super) exclusive: bool,
    /// `x-priority`; the highest one that can take a message gets it.
    pub(super) priority: i64,
    /// How many messages it may hold; 0 is any number.
    pub(super) prefetch: u16,
    pub(super) unacknowledged: u32,
    /// The next offset of a stream that it gets.
    pub(super) offset: u64,
    /// Rises with each consumer of the queue.
    pub(super) arrival: u64,
}

/// A dead letter that waits until every target has it.
#[derive(Debug, Clone)]
pub(super) struct Pending {
    pub(super) message: Message,
    pub(super) reason: DeathReason,
    pub(super) settled: BTreeSet<String>,
}

/// A queue.
#[derive(Debug, Clone)]
pub(super) struct Queue {
    /// Tells a queue from a later one of the same name.
    pub(super) number: u64,
    pub(super) declaration: QueueDeclaration,
    /// The connection that an exclusive queue belongs to.
    pub(super) owner: Option<ConnectionId>,
    pub(super) settings: Settings,
    pub(super) store: Store,
    /// A stream's messages.
    pub(super) log: Vec<Message>,
    /// In the order in which they came.
    pub(super) consumers: Vec<Consumer>,
    /// Those that may be given messages, in the order in which they get their turn.
    pub(super) rotation: VecDeque<ConsumerKey>,
    /// The single active consumer, or the exclusive one.
    pub(super) active: Option<ConsumerKey>,
    /// Whether the active consumer gets no more because another one waits to take over.
    pub(super) quiescing: bool,
    /// Messages that were given out and are not settled.
    pub(super) unacknowledged: u32,
    pub(super) had_consumers: bool,
    /// When it was last used, in milliseconds of the virtual clock.
    pub(super) last_used: u64,
    /// The position of the message that entered last.
    last_position: u64,
    pub(super) arrivals: u64,
    counts_properties: bool,
    /// Channels that publish to a quorum queue, and those of them that it refuses until it has room again.
    pub(super) publishers: BTreeSet<ChannelId>,
    pub(super) blocked: BTreeSet<ChannelId>,
    pub(super) pending: Vec<Pending>,
    /// What the broker has noted of [`due`](Self::due).
    pub(super) noted_due: Option<u64>,
}

impl Queue {
    pub(super) fn new(
        number: u64,
        declaration: QueueDeclaration,
        owner: Option<ConnectionId>,
        settings: Settings,
        version: Version,
        now: u64,
    ) -> Self {
        let store = match settings.kind {
            QueueType::Quorum => Store::quorum(version),
            QueueType::Classic | QueueType::Stream => Store::classic(settings.max_priority),
        };
        Self {
            number,
            declaration,
            owner,
            store,
            log: Vec::new(),
            consumers: Vec::new(),
            rotation: VecDeque::new(),
            active: None,
            quiescing: false,
            unacknowledged: 0,
            had_consumers: false,
            last_used: now,
            last_position: 0,
            arrivals: 0,
            counts_properties: settings.kind == QueueType::Quorum && V4_3_QUEUES.holds(version),
            publishers: BTreeSet::new(),
            blocked: BTreeSet::new(),
            pending: Vec::new(),
            noted_due: None,
            settings,
        }
    }

    pub(super) fn is_quorum(&self) -> bool {
        self.settings.kind == QueueType::Quorum
    }

    pub(super) fn is_stream(&self) -> bool {
        self.settings.kind == QueueType::Stream
    }

    /// Messages that are ready; all of them in a stream.
    pub(super) fn ready(&self) -> usize {
        if self.is_stream() { self.log.len() } else { self.store.len() }
    }

    /// The position of one message more.
    pub(super) fn next_position(&mut self) -> u64 {
        self.last_position = self.last_position.saturating_add(1);
        self.last_position
    }

    /// A message that enters this queue at `now`.
    pub(super) fn admit(&mut self, message: Message, now: u64) -> Entry {
        let position = self.next_position();
        let ttl = match (self.settings.message_ttl, message.ttl) {
            (Some(queue), Some(own)) => Some(queue.min(own)),
            (queue, own) => queue.or(own),
        };
        // A quorum queue gives a message of no time one millisecond in which a consumer may take it.
        let ttl = ttl.map(|ttl| if self.is_quorum() { ttl.max(1) } else { ttl });
        Entry {
            position,
            expires_at: ttl.map(|ttl| now.saturating_add(ttl)),
            returned: 0,
            failed: message.failed,
            size: self.size_of(&message),
            message,
        }
    }

    /// The bytes that a message counts for: its body, and in a quorum queue of 4.3 its encoded properties.
    pub(super) fn size_of(&self, message: &Message) -> u64 {
        let properties = if self.counts_properties { message.properties.encoded_len() } else { 0 };
        u64::try_from(message.body.len()).unwrap_or(u64::MAX).saturating_add(properties)
    }

    /// Whether one message more of that size would go beyond a limit.
    pub(super) fn would_overflow(&self, size: u64) -> bool {
        self.exceeds(self.store.len().saturating_add(1), self.store.bytes().saturating_add(size))
    }

    /// Whether a limit is exceeded. Dead letters that wait count in a quorum queue.
    pub(super) fn is_over_limit(&self) -> bool {
        self.exceeds(self.store.len().saturating_add(self.pending.len()), self.bytes_with_pending())
    }

    /// Whether a quorum queue that refused publishers takes them again: at four fifths of its limits.
    pub(super) fn has_room_again(&self) -> bool {
        let below = |limit: Option<u64>, used: u64| limit.is_none_or(|limit| used <= limit.saturating_mul(4) / 5);
        let length = self.store.len().saturating_add(self.pending.len());
        below(self.settings.max_length, u64::try_from(length).unwrap_or(u64::MAX))
            && below(self.settings.max_bytes, self.bytes_with_pending())
    }

    fn bytes_with_pending(&self) -> u64 {
        let waiting = self.pending.iter().map(|pending| self.size_of(&pending.message));
        waiting.fold(self.store.bytes(), u64::saturating_add)
    }

    fn exceeds(&self, length: usize, bytes: u64) -> bool {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        self.settings.max_length.is_some_and(|limit| length > limit)
            || self.settings.max_bytes.is_some_and(|limit| bytes > limit)
    }

    /// Who holds a delivery of that consumer.
    pub(super) fn holder(&self, tag: &str, channel: ChannelId, by_arrival: bool) -> Holder {
        let key = ConsumerKey { channel, tag: tag.to_owned() };
        match self.consumer(&key) {
            Some(consumer) if by_arrival => Holder::Attached(consumer.arrival),
            _ => Holder::Named(tag.to_owned()),
        }
    }

    pub(super) fn consumer(&self, key: &ConsumerKey) -> Option<&Consumer> {
        self.consumers.iter().find(|consumer| consumer.key == *key)
    }

    pub(super) fn consumer_mut(&mut self, key: &ConsumerKey) -> Option<&mut Consumer> {
        self.consumers.iter_mut().find(|consumer| consumer.key == *key)
    }

    /// When something happens here by itself next: a message expires, or the queue.
    pub(super) fn due(&self) -> Option<u64> {
        [self.store.next_expiry(), self.goes_at()].into_iter().flatten().min()
    }

    /// When the queue itself goes for want of use.
    pub(super) fn goes_at(&self) -> Option<u64> {
        let expires = self.settings.expires.filter(|_| self.consumers.is_empty())?;
        Some(self.last_used.saturating_add(expires))
    }

    /// The consumer that gets the next message, if one can take it. `free` says whether a channel may be given one more.
    ///
    /// Consumers of the highest priority take turns. One that is full loses its turn until it has room again: in a classic
    /// queue when it is found full, in a quorum queue as soon as it is (measured on 3.10.8 and 4.0.5).
    pub(super) fn next_consumer(&mut self, free: impl Fn(ChannelId) -> bool) -> Option<ConsumerKey> {
        let can_take = |consumer: &Consumer| {
            (consumer.prefetch == 0 || consumer.unacknowledged < u32::from(consumer.prefetch))
                && (consumer.no_ack || free(consumer.key.channel))
        };
        if self.settings.single_active {
            let active = self.active.clone().filter(|_| !self.quiescing)?;
            return self.consumer(&active).filter(|consumer| can_take(consumer)).map(|consumer| consumer.key.clone());
        }
        loop {
            let priority = |key: &ConsumerKey| self.consumer(key).map_or(i64::MIN, |consumer| consumer.priority);
            let highest = self.rotation.iter().map(priority).max()?;
            let at = self.rotation.iter().position(|key| priority(key) == highest)?;
            let key = self.rotation.remove(at)?;
            if self.consumer(&key).is_some_and(can_take) {
                let stays = |consumer: &Consumer| {
                    consumer.prefetch == 0 || consumer.unacknowledged.saturating_add(1) < u32::from(consumer.prefetch)
                };
                if !self.is_quorum() || self.consumer(&key).is_some_and(stays) {
                    self.rotation.push_back(key.clone());
                }
                return Some(key);
            }
        }
    }

    /// Consumers that have room again get their turn again, behind the others.
    pub(super) fn resume(&mut self, free: impl Fn(ChannelId) -> bool) {
        let resumed: Vec<ConsumerKey> = self
            .consumers
            .iter()
            .filter(|consumer| consumer.prefetch == 0 || consumer.unacknowledged < u32::from(consumer.prefetch))
            .filter(|consumer| consumer.no_ack || free(consumer.key.channel))
            .filter(|consumer| !self.rotation.contains(&consumer.key))
            .map(|consumer| consumer.key.clone())
            .collect();
        self.rotation.extend(resumed);
    }
}
