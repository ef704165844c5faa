//! What a channel remembers: its consumers, and the deliveries that it waits for.

use super::MessageId;
use super::connections::ConnectionId;
use super::store::Entry;
use crate::rabbitmq::Properties;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// A message as a client gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct Delivery {
    /// The consumer that it is for; `None` when it was asked for by `get`.
    pub consumer_tag: Option<String>,
    /// What to acknowledge it by.
    pub delivery_tag: u64,
    /// Whether it was given out before.
    pub redelivered: bool,
    /// The exchange that it was last published to.
    pub exchange: String,
    /// The routing key that it was last published with.
    pub routing_key: String,
    /// Properties, with the headers that the broker adds.
    pub properties: Properties,
    /// The body.
    pub body: Arc<[u8]>,
    /// The queue that it comes from.
    pub queue: String,
    /// The publication that it goes back to.
    pub message: MessageId,
    /// For `get`: how many messages are ready behind it.
    pub remaining: Option<u32>,
}

/// What the broker tells a channel without being asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A consumer gets a message.
    Delivered(Box<Delivery>),
    /// A consumer is gone because its queue is.
    Cancelled {
        /// Its tag.
        consumer_tag: String,
    },
}

/// A delivery that waits for its acknowledgement.
#[derive(Debug, Clone)]
pub(super) struct Unacknowledged {
    pub(super) queue: String,
    /// Tells the queue from a later one of the same name.
    pub(super) number: u64,
    /// The consumer that has it; `None` for `get`.
    pub(super) consumer: Option<String>,
    /// In which order a quorum queue takes its deliveries back when the channel closes.
    pub(super) holder: Holder,
    pub(super) entry: Entry,
}

/// Who holds a delivery, as quorum queues of 3.x and 4.x order them: consumers by tag, or by when they came; then those of
/// `get`, each by the text of its delivery tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Attached(u64),
    Named(String),
}

/// A channel.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    pub(super) connection: ConnectionId,
    pub(super) delivered: u64,
    pub(super) unacknowledged: BTreeMap<u64, Unacknowledged>,
    /// Consumers by tag, with their queues.
    pub(super) consumers: BTreeMap<String, String>,
    /// What a new consumer may hold; 0 is any number.
    pub(super) prefetch: u16,
    /// What all consumers together may hold; 0 is any number.
    pub(super) global_prefetch: u16,
    /// The queue that was declared last: what an empty name stands for.
    pub(super) last_queue: Option<String>,
    /// Quorum queues that count this channel among their publishers.
    pub(super) published_to: BTreeSet<String>,
    pub(super) events: VecDeque<Event>,
}

impl Channel {
    pub(super) fn new(connection: ConnectionId) -> Self {
        Self {
            connection,
            delivered: 0,
            unacknowledged: BTreeMap::new(),
            consumers: BTreeMap::new(),
            prefetch: 0,
            global_prefetch: 0,
            last_queue: None,
            published_to: BTreeSet::new(),
            events: VecDeque::new(),
        }
    }

    /// Whether its limit for all consumers together leaves room for one message more.
    pub(super) fn is_free(&self) -> bool {
        let held = || self.unacknowledged.values().filter(|delivery| delivery.consumer.is_some()).count();
        self.global_prefetch == 0 || held() < usize::from(self.global_prefetch)
    }
}
