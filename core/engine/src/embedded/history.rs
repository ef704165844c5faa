//! What happened to messages, for those who want to know how a message got where it is.

use super::DeathReason;
use super::MessageId;
use std::fmt;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// When, in milliseconds of the virtual clock.
    pub at: u64,
    /// To which message; `None` for what happened to a queue.
    pub message: Option<MessageId>,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A client published it.
    Published {
        /// The exchange.
        exchange: String,
        /// The routing key.
        routing_key: String,
        /// The queues that it was routed to.
        queues: Vec<String>,
        /// Exchanges that it reached and whose choice is not known.
        opaque: Vec<String>,
    },
    /// No queue got it, and it was mandatory: it went back to its publisher.
    Returned,
    /// A queue refused it: it is full.
    Refused {
        /// The queue.
        queue: String,
    },
    /// A client got it.
    Delivered {
        /// From this queue.
        queue: String,
        /// The consumer's tag; `None` for `get`.
        consumer: Option<String>,
    },
    /// A client acknowledged it.
    Acknowledged {
        /// From this queue.
        queue: String,
    },
    /// It went back to its queue.
    PutBack {
        /// The queue.
        queue: String,
    },
    /// It died and was published again.
    DeadLettered {
        /// The queue that it died in.
        queue: String,
        /// Why.
        reason: DeathReason,
        /// The dead-letter exchange.
        exchange: String,
        /// The routing key that it goes on with.
        routing_key: String,
        /// The queues that it was routed to.
        queues: Vec<String>,
        /// Queues that would have got it, had it not been there before without a rejection on the way.
        cycles: Vec<String>,
        /// Exchanges that it reached and whose choice is not known.
        opaque: Vec<String>,
    },
    /// It is gone.
    Lost {
        /// The last queue that had it.
        queue: String,
        /// Why.
        why: Loss,
    },
    /// It died, and waits in its queue until its targets take it.
    Waits {
        /// The queue that it died in.
        queue: String,
        /// Why it died.
        reason: DeathReason,
    },
    /// A queue went for want of use.
    QueueExpired {
        /// The queue.
        queue: String,
    },
}

impl fmt::Display for Happening {
    /// What happened, in words, without when and to which message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::scenario::describe(self))
    }
}

/// Why a message is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// It died, and the queue has no dead-letter exchange.
    NoDeadLetterExchange(DeathReason),
    /// It died, and the dead-letter exchange does not exist.
    MissingDeadLetterExchange(DeathReason),
    /// It was purged.
    Purged,
    /// Its queue was deleted.
    QueueDeleted,
    /// The circle that its deaths ran in went on for ever at one instant; this model stops it. RabbitMQ would not.
    EndlessCircle,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoDeadLetterExchange(reason) => write!(f, "{reason}, and the queue has no dead-letter exchange"),
            Self::MissingDeadLetterExchange(reason) => {
                write!(f, "{reason}, and the dead-letter exchange does not exist")
            }
            Self::Purged => f.write_str("purged"),
            Self::QueueDeleted => f.write_str("the queue was deleted"),
            Self::EndlessCircle => f.write_str("it died again and again at one instant"),
        }
    }
}
