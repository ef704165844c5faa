//! One runner at a time: an exclusive queue belongs to its connection, and the broker frees it when that ends.
//!
//! It is no fence: whoever was cut off may think that he holds it still. So it is declared again before every change, which
//! the broker answers with 405 on any other connection. Measured on 4.3.6: when the *node* of a dead owner is down, the queue
//! stays locked until that node is back, and nobody can delete it.

use crate::{Progress, RunError, Runner, patiently};
use acemq_core::rabbitmq::QueueDeclaration;
use acemq_live::{Answer, Cause, Operation, OperationError};
use std::time::Duration;
use tokio::time::Instant;

/// The queue that is the lock, in the vhost that is migrated.
pub const LOCK_QUEUE: &str = "acemq.migrate.lock";

/// How long another runner's end is waited for.
const WAIT: Duration = Duration::from_secs(600);

/// `RESOURCE_LOCKED`
const LOCKED: u16 = 405;

/// `ACCESS_REFUSED`
const ACCESS_REFUSED: u16 = 403;

/// How long the management API gets to show the lock; on a node of its own it may be a little late.
const SHOWN: Duration = Duration::from_secs(10);

/// How long the broker gets to see that a connection is gone. Measured: 5 to 18 ms on 3.10, 4.0 and 4.3.
const RELEASE: Duration = Duration::from_secs(5);

/// Since when the lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// For as long as anybody knows.
    Still,
    /// It was not for a moment: somebody else may have been at work, so the table has to be read anew.
    Again,
}

impl Runner<'_> {
    /// Takes the lock, or waits for whoever holds it; it is held for as long as the connection lasts.
    ///
    /// # Errors
    /// When it is not free after ten minutes, and when the broker cannot be used.
    pub async fn lock_or_wait(&self, progress: &mut impl FnMut(Progress)) -> Result<(), RunError> {
        let until = Instant::now() + WAIT;
        let mut told = false;
        while !self.try_lock().await? {
            if Instant::now() >= until {
                return Err(locked());
            }
            if let Some(node) = self.node_that_keeps_the_lock().await {
                return Err(stuck(&node));
            }
            if !told {
                progress(Progress::Note("another runner is at work; its result is waited for".to_owned()));
                told = true;
            }
            if self.stop.is_asked_for() {
                return Err(RunError::Locked { why: crate::stop::STOPPED_AT_THE_LOCK.to_owned() });
            }
            self.stop.or_after(Duration::from_secs(1)).await;
        }
        self.same_broker().await
    }

    /// The lock, which was taken over AMQP, shows in the management API of the same broker, and of no other: with two brokers
    /// one would be changed by the table of the other.
    async fn same_broker(&self) -> Result<(), RunError> {
        let until = Instant::now() + SHOWN;
        while !patiently(async || self.management.has_queue(self.vhost, LOCK_QUEUE).await).await? {
            if Instant::now() >= until {
                return Err(RunError::Apart {
                    why: format!(
                        "the broker has queue {LOCK_QUEUE}, the lock that was taken just now, and the management API does not show it: they are two brokers, or two vhosts; give both addresses of the same one (nothing was changed)"
                    ),
                });
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// Makes sure that the lock is held. Where the connection was cut and made anew, the broker takes some milliseconds to
    /// see that the former one, the owner of the lock, is gone.
    ///
    /// # Errors
    /// When somebody else holds it, and when the broker cannot be used.
    pub async fn hold_lock(&self) -> Result<Held, RunError> {
        let until = Instant::now() + RELEASE;
        let mut held = Held::Still;
        while !self.try_lock().await? {
            if Instant::now() >= until {
                return Err(locked());
            }
            held = Held::Again;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(held)
    }

    async fn try_lock(&self) -> Result<bool, RunError> {
        let queue = QueueDeclaration { durable: false, exclusive: true, ..QueueDeclaration::durable(LOCK_QUEUE) };
        let operation = Operation::DeclareQueue(queue);
        let cause = match self.client.ask(&operation).await {
            Answer::Done(_) => return Ok(true),
            Answer::Refused(refused) if refused.code == LOCKED => return Ok(false),
            // 3.10 to 4.3: `cannot declare queue 'NAME': queue limit in vhost 'VHOST' (N) is reached`
            Answer::Refused(refused) if refused.text.contains("queue limit in vhost") => {
                return Err(RunError::Locked { why: no_room(self.vhost) });
            }
            Answer::Refused(refused) if refused.code == ACCESS_REFUSED => return Err(denied(&refused.text)),
            Answer::Refused(refused) => Cause::Refused(refused),
            Answer::Failed(failure) => Cause::Failed(failure),
        };
        Err(RunError::Operation(Box::new(OperationError { operation: operation.describe(), cause })))
    }
}

fn locked() -> RunError {
    RunError::Locked {
        why: format!(
            "another runner holds the lock, queue {LOCK_QUEUE}; run again when it is done. If none is at work, the node of one that died may be down: start that node"
        ),
    }
}

fn no_room(vhost: &str) -> String {
    format!(
        "vhost \"{}\" has as many queues as its limit max-queues allows, so there is no room for {LOCK_QUEUE}, the lock, nor for the new queue beside the old one: raise the limit, or take queues away, and run again",
        vhost.escape_debug()
    )
}

fn denied(text: &str) -> RunError {
    RunError::Denied {
        why: format!(
            "cannot take the lock, queue {LOCK_QUEUE}: {ACCESS_REFUSED} {text}; the user needs configure on {LOCK_QUEUE}"
        ),
    }
}

fn stuck(node: &str) -> RunError {
    RunError::Locked {
        why: format!(
            "queue {LOCK_QUEUE}, the lock, belongs to a runner that was connected to node {node}, which is not running: start that node, which frees the lock, and run again"
        ),
    }
}
