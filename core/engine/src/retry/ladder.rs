//! The queues in which the messages of one queue wait.

use super::RetryPolicy;
use crate::name::{self, NameError};
use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use crate::value::{Table, Value};

/// One rung: a queue that holds a message for one delay and then dead-letters it back to its source queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rung {
    /// How long it holds a message, in milliseconds.
    pub delay_ms: u64,
    /// The queue: durable, classic, with exactly `x-message-ttl`, `x-dead-letter-exchange` and
    /// `x-dead-letter-routing-key`. The TTL is the queue's and not the message's, so that messages leave in the order in
    /// which they came.
    pub queue: QueueDeclaration,
}

impl Rung {
    /// The queue's name.
    pub fn name(&self) -> &str {
        &self.queue.name
    }
}

/// The rungs of one queue, shortest first, with what leads back from them. Without rungs there is nothing to declare.
///
/// ```
/// use acemq_core::retry::{Ladder, RetryPolicy};
///
/// let policy = RetryPolicy::exponential(6, 10_000).build().unwrap();
/// let ladder = Ladder::new("orders", &policy).unwrap();
/// let names: Vec<_> = ladder.rungs().iter().map(|rung| rung.name()).collect();
/// assert_eq!(names, ["orders.retry.40s", "orders.retry.80s", "orders.retry.160s"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ladder {
    queue: String,
    policy: RetryPolicy,
    rungs: Vec<Rung>,
}

impl Ladder {
    /// The ladder of `queue` under `policy`.
    ///
    /// # Errors
    /// When RabbitMQ would not take the name of a rung. Of several names that are too long the longest is reported:
    /// shortening the queue's name by what it says makes room for all.
    pub fn new(queue: &str, policy: &RetryPolicy) -> Result<Self, NameError> {
        let mut rungs = Vec::with_capacity(policy.broker_delays().len());
        let mut longest: Option<NameError> = None;
        for &delay_ms in policy.broker_delays() {
            match name::retry_queue(queue, delay_ms) {
                Ok(name) => rungs.push(Rung { delay_ms, queue: rung_queue(name, queue, delay_ms) }),
                Err(error) => {
                    if longest.as_ref().is_none_or(|longest| longest.name().len() < error.name().len()) {
                        longest = Some(error);
                    }
                }
            }
        }
        match longest {
            Some(error) => Err(error),
            None => Ok(Self { queue: queue.to_owned(), policy: policy.clone(), rungs }),
        }
    }

    /// The queue whose messages wait here.
    pub fn queue(&self) -> &str {
        &self.queue
    }

    /// The rungs, shortest first.
    pub fn rungs(&self) -> &[Rung] {
        &self.rungs
    }

    /// The exchange through which messages come back; `None` without rungs.
    pub fn exchange(&self) -> Option<ExchangeDeclaration> {
        (!self.rungs.is_empty()).then(|| ExchangeDeclaration::durable(name::RETRY_EXCHANGE, name::SHARED_EXCHANGE_TYPE))
    }

    /// The binding of the source queue on its own name; `None` without rungs.
    pub fn home_binding(&self) -> Option<BindingDeclaration> {
        (!self.rungs.is_empty())
            .then(|| BindingDeclaration::queue(name::RETRY_EXCHANGE, self.queue.as_str(), self.queue.as_str()))
    }

    /// The rung for any delay: none when it is too short for the broker or there are no rungs, else the shortest that is
    /// long enough, else the longest.
    pub fn rung_for(&self, delay_ms: u64) -> Option<&Rung> {
        let delay_ms = self.policy.rung_for(delay_ms)?;
        self.rungs.iter().find(|rung| rung.delay_ms == delay_ms)
    }
}

fn rung_queue(name: String, source: &str, delay_ms: u64) -> QueueDeclaration {
    // A policy admits no broker delay that RabbitMQ would not take, so every TTL fits.
    let ttl = i64::try_from(delay_ms).unwrap_or(i64::MAX);
    let arguments = Table::from([
        ("x-message-ttl", Value::I64(ttl)),
        ("x-dead-letter-exchange", Value::text(name::RETRY_EXCHANGE)),
        ("x-dead-letter-routing-key", Value::text(source)),
    ]);
    QueueDeclaration { arguments, ..QueueDeclaration::durable(name) }
}
