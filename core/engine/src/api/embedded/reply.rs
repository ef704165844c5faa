//! What the embedded broker replies to commands.

use super::command::{Body, PropertiesForm};
use crate::api::broker::PredictedRefusal;
use crate::api::declared::Document;
use crate::api::routing::OpaqueExchange;
use crate::embedded::{Delivery, Event, Published, QueueContents, QueueStatus, StoredMessage};
use schemars::JsonSchema;
use serde::Serialize;

/// A reply: the broker's refusal, or what was asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Reply {
    /// The broker refused.
    Refused {
        /// With what words, and what it closed.
        refused: PredictedRefusal,
    },
    /// A connection was opened.
    Connected {
        /// Its number.
        connection: u64,
    },
    /// A channel was opened.
    Opened {
        /// Its number.
        channel: u64,
    },
    /// Whether something is open.
    Open {
        /// It is.
        open: bool,
    },
    /// A queue as `queue.declare-ok` tells it.
    Queue {
        /// Its name: the one that the broker gave where the request named none.
        name: String,
        /// Messages that are ready.
        messages: u32,
        /// Consumers.
        consumers: u32,
    },
    /// A number of messages that are gone.
    Gone {
        /// How many.
        messages: u32,
    },
    /// A publication.
    Published(PublishedReply),
    /// A message that was got.
    Got {
        /// The message; `null` where there was none.
        delivery: Option<Box<DeliveryReply>>,
    },
    /// A consumer.
    Consuming {
        /// Its tag.
        consumer_tag: String,
    },
    /// What the broker told the channel.
    Events {
        /// In order.
        events: Vec<EventReply>,
    },
    /// The time.
    Time {
        /// Milliseconds of the virtual clock.
        now_ms: u64,
    },
    /// A policy was taken away.
    Cleared {
        /// Whether there was one.
        cleared: bool,
    },
    /// What a queue holds.
    Contents {
        /// `null` where there is no such queue.
        contents: Option<ContentsReply>,
    },
    /// What the vhost holds.
    State {
        /// `acemq.state/1`
        state: Document,
        /// What cannot be told about policies, as sentences; it counts as not set.
        uncertain: Vec<String>,
    },
    /// What the vhost holds.
    Definitions {
        /// As a broker exports it.
        definitions: Document,
    },
    /// Where a message would go.
    Route {
        /// `acemq.route/1`
        route: Document,
    },
    /// The answer to a question, as the session takes it.
    Answer {
        /// `{"id"}` with one of `ok`, `refused` and `cannot`.
        answer: Document,
    },
    /// What happened.
    History {
        /// In order.
        history: Vec<HappeningReply>,
    },
    /// It is done.
    Done {},
}

impl From<QueueStatus> for Reply {
    fn from(status: QueueStatus) -> Self {
        let QueueStatus { name, messages, consumers } = status;
        Self::Queue { name, messages, consumers }
    }
}

/// What became of a publication.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublishedReply {
    /// The number that the broker gave it.
    pub message: u64,
    /// The queues that it was routed to, sorted.
    pub queues: Vec<String>,
    /// Whether its confirm is positive.
    pub confirmed: bool,
    /// It was mandatory and no queue got it.
    pub returned: bool,
    /// Exchanges that it reached and whose choice is not known.
    pub opaque: Vec<OpaqueExchange>,
}

impl From<Published> for PublishedReply {
    fn from(published: Published) -> Self {
        let Published { message, queues, confirmed, returned, opaque } = published;
        let opaque = opaque.into_iter().map(OpaqueExchange::from).collect();
        Self { message: message.0, queues, confirmed, returned, opaque }
    }
}

/// A message as a client gets it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DeliveryReply {
    /// The consumer; `null` for `get`.
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
    pub properties: PropertiesForm,
    /// The body.
    pub body: Body,
    /// The queue that it comes from.
    pub queue: String,
    /// The publication that it goes back to.
    pub message: u64,
    /// For `get`: how many messages are ready behind it.
    pub remaining: Option<u32>,
}

impl From<Delivery> for DeliveryReply {
    fn from(delivery: Delivery) -> Self {
        Self {
            consumer_tag: delivery.consumer_tag,
            delivery_tag: delivery.delivery_tag,
            redelivered: delivery.redelivered,
            exchange: delivery.exchange,
            routing_key: delivery.routing_key,
            properties: delivery.properties.into(),
            body: Body::of(&delivery.body),
            queue: delivery.queue,
            message: delivery.message.0,
            remaining: delivery.remaining,
        }
    }
}

/// What the broker told a channel without being asked.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventReply {
    /// A consumer gets a message.
    Delivered(Box<DeliveryReply>),
    /// A consumer is gone because its queue is.
    Cancelled {
        /// Its tag.
        consumer_tag: String,
    },
}

impl From<Event> for EventReply {
    fn from(event: Event) -> Self {
        match event {
            Event::Delivered(delivery) => Self::Delivered(Box::new((*delivery).into())),
            Event::Cancelled { consumer_tag } => Self::Cancelled { consumer_tag },
        }
    }
}

/// What a queue holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContentsReply {
    /// Messages that are ready, in the order in which they would leave.
    pub ready: Vec<StoredReply>,
    /// How many messages consumers hold.
    pub unacknowledged: u32,
    /// Dead letters that wait until their targets take them.
    pub waiting: Vec<StoredReply>,
    /// How many consumers there are.
    pub consumers: u32,
}

impl From<QueueContents> for ContentsReply {
    fn from(contents: QueueContents) -> Self {
        let QueueContents { ready, unacknowledged, waiting, consumers } = contents;
        let shown = |messages: Vec<StoredMessage>| messages.into_iter().map(StoredReply::from).collect();
        Self { ready: shown(ready), unacknowledged, waiting: shown(waiting), consumers }
    }
}

/// A message in a queue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StoredReply {
    /// The publication that it goes back to.
    pub message: u64,
    /// The exchange that it was last published to.
    pub exchange: String,
    /// The routing key that it was last published with.
    pub routing_key: String,
    /// Properties, with the headers that the broker adds.
    pub properties: PropertiesForm,
    /// The body.
    pub body: Body,
    /// When it expires, in milliseconds of the virtual clock.
    pub expires_at_ms: Option<u64>,
    /// Whether it was given out before.
    pub redelivered: bool,
}

impl From<StoredMessage> for StoredReply {
    fn from(stored: StoredMessage) -> Self {
        Self {
            message: stored.message.0,
            exchange: stored.exchange,
            routing_key: stored.routing_key,
            properties: stored.properties.into(),
            body: Body::of(&stored.body),
            expires_at_ms: stored.expires_at,
            redelivered: stored.redelivered,
        }
    }
}

/// One thing that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HappeningReply {
    /// When, in milliseconds of the virtual clock.
    pub at_ms: u64,
    /// To which publication; `null` for what happened to a queue.
    pub message: Option<u64>,
    /// What, in words.
    pub what: String,
}
