//! Asks one broker, over one connection at a time, for as many callers as there are.
//!
//! What a broker does to a connection decides how an operation ends:
//!
//! * It closes the **channel**: that is the answer to what was asked on it, and the next caller gets another channel. After
//!   a thousand of them the connection is replaced by a fresh one; callers that are still busy finish on the old one.
//! * It closes the **connection** (540, 541): one of the questions that were under way did it, and AMQP does not say which.
//!   Each is asked once more on a connection of its own, one after the other, and the one that ends its connection again has
//!   its answer.
//! * The connection is **lost**, or closed because the broker stops: the client connects again, for as long as
//!   [`Limits::reconnect`] allows, and asks once more. When the broker stays away, this and every later operation fails at
//!   once.
//! * The broker is **silent**: the operation has failed. The connection is used no more for new questions, but not closed:
//!   the others on it may have their answers yet.
//!
//! Every operation can be sent twice with the same outcome as once, so asking again is safe.

mod link;
mod single;
#[cfg(test)]
mod tests;

use crate::amqp::AmqpBroker;
use crate::connect::ConnectError;
use crate::limits::Limits;
use crate::management::{Management, ManagementError};
use crate::operation::{Answer, Failure, Operation};
use crate::transport::{Broker, Connection, Ended};
use crate::url::BrokerUrl;
use acemq_core::rabbitmq;
use acemq_core::rabbitmq::{PolicyDeclaration, Refused};
use link::Link;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// RabbitMQ closes its connections with this code when it stops, when an operator closes them and when their vhost goes.
const CONNECTION_FORCED: u16 = 320;

/// Asks and changes one vhost of one broker. See the [crate's description](crate).
///
/// All methods take `&self` and may run at the same time, each on a channel of its own; any of their futures may be dropped.
pub struct Client<B: Broker = AmqpBroker> {
    broker: B,
    limits: Limits,
    greeting: rabbitmq::Broker,
    current: Mutex<Option<Arc<Link<B::Connection>>>>,
    /// Held while connecting, so that many callers open one connection.
    connecting: tokio::sync::Mutex<()>,
    /// Held while one operation has a connection of its own.
    alone: tokio::sync::Mutex<()>,
    /// Why the broker is given up.
    gone: Mutex<Option<String>>,
    /// Who sets policies, and in which vhost.
    policies: Option<(Arc<Management>, String)>,
}

impl Client<AmqpBroker> {
    /// Connects to the broker of a URL. `name` is what the broker lists the connection under.
    ///
    /// # Errors
    /// When no connection can be had; the reason is a sentence with a way out.
    pub async fn connect(url: BrokerUrl, name: &str, limits: Limits) -> Result<Self, ConnectError> {
        Self::over(AmqpBroker::new(url, name)?, limits).await
    }
}

impl<B: Broker> Client<B> {
    /// Connects to a broker through any transport.
    ///
    /// # Errors
    /// When no connection can be had.
    pub async fn over(broker: B, limits: Limits) -> Result<Self, ConnectError> {
        let connection = broker.connect(limits.connect).await?;
        Ok(Self {
            broker,
            limits,
            greeting: connection.broker().clone(),
            current: Mutex::new(Some(Arc::new(Link::new(connection)))),
            connecting: tokio::sync::Mutex::new(()),
            alone: tokio::sync::Mutex::new(()),
            gone: Mutex::new(None),
            policies: None,
        })
    }

    /// This client with a management API beside it, which sets the policies of `vhost`: AMQP has no method for that.
    #[must_use]
    pub fn with_management(mut self, management: Arc<Management>, vhost: impl Into<String>) -> Self {
        self.policies = Some((management, vhost.into()));
        self
    }

    /// Sets a policy through the management API; `None` without one.
    pub async fn set_policy(&self, policy: &PolicyDeclaration) -> Option<Result<(), ManagementError>> {
        let (management, vhost) = self.policies.as_ref()?;
        Some(management.set_policy(vhost, policy).await)
    }

    /// Product and version, as the broker gave them when the first connection was opened.
    pub fn broker(&self) -> &rabbitmq::Broker {
        &self.greeting
    }

    /// The limits that hold.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The transport.
    pub fn transport(&self) -> &B {
        &self.broker
    }

    /// Does one operation within the limit that [`Limits`] sets for its kind.
    pub async fn ask(&self, operation: &Operation) -> Answer {
        self.ask_within(operation, operation.limit(&self.limits)).await
    }

    /// Does one operation; each attempt may take as long as `limit`.
    pub async fn ask_within(&self, operation: &Operation, limit: Duration) -> Answer {
        let (link, unshared) = match self.link().await {
            Ok(link) => self.attempt_on(link, operation, limit).await,
            Err(failure) => return Answer::Failed(failure),
        };
        match self.settle(link, unshared) {
            Ok(answer) => answer,
            Err(()) => self.ask_alone(operation, limit).await,
        }
    }

    /// Closes the connection. Operations that are under way finish first, or fail.
    pub async fn close(&self) {
        let link = self.slot(&self.current).take();
        if let Some(link) = link.and_then(Arc::into_inner) {
            link.into_connection().close(self.limits.close).await;
        }
    }

    /// One attempt: how it ended, and whether it had the connection to itself all the time.
    async fn attempt_on(
        &self,
        link: Arc<Link<B::Connection>>,
        operation: &Operation,
        limit: Duration,
    ) -> (Result<crate::Done, Ended>, bool) {
        let turn = link.begin();
        let outcome = link.perform(operation, limit).await;
        let unshared = turn.unshared();
        let used_up = match &outcome {
            Ok(_) | Err(Ended::Unsendable(_)) => false,
            Err(Ended::ChannelClosed(_)) => link.lose_channel(),
            Err(_) => true,
        };
        drop(turn);
        if used_up {
            self.retire(&link);
        }
        (outcome, unshared)
    }

    /// The answer that an attempt proves; `Err` when somebody else's question may have ended the connection.
    fn settle(&self, outcome: Result<crate::Done, Ended>, unshared: bool) -> Result<Answer, ()> {
        match outcome {
            Ok(done) => Ok(Answer::Done(done)),
            Err(Ended::ChannelClosed(refused)) => Ok(Answer::Refused(refused)),
            Err(Ended::Unsendable(why)) => Ok(Answer::Failed(Failure::Unsendable { why })),
            Err(Ended::Silence { after }) => Ok(Answer::Failed(Failure::Timeout { after })),
            Err(Ended::ConnectionClosed(refused)) if unshared && refused.code != CONNECTION_FORCED => {
                Ok(Answer::Refused(refused))
            }
            Err(Ended::ConnectionClosed(_) | Ended::ConnectionLost(_)) => Err(()),
        }
    }

    /// The second attempt, on a connection that nobody else uses.
    async fn ask_alone(&self, operation: &Operation, limit: Duration) -> Answer {
        let _one_at_a_time = self.alone.lock().await;
        let link = match self.connect_again().await {
            Ok(link) => link,
            Err(failure) => return Answer::Failed(failure),
        };
        let (outcome, _) = self.attempt_on(Arc::clone(&link), operation, limit).await;
        if outcome.is_ok() {
            self.slot(&self.current).get_or_insert(link);
        }
        match outcome {
            Err(Ended::ConnectionClosed(Refused { code: CONNECTION_FORCED, text, .. })) => {
                Answer::Failed(Failure::ConnectionLost { why: text })
            }
            Err(Ended::ConnectionLost(why)) => Answer::Failed(Failure::ConnectionLost { why }),
            settled => self.settle(settled, true).unwrap_or_else(|()| {
                Answer::Failed(Failure::ConnectionLost { why: "it ended without a reason from the broker".to_owned() })
            }),
        }
    }

    /// The connection for new questions.
    async fn link(&self) -> Result<Arc<Link<B::Connection>>, Failure> {
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let _one_connects = self.connecting.lock().await;
        if let Some(link) = self.open_link() {
            return Ok(link);
        }
        let link = self.connect_again().await?;
        *self.slot(&self.current) = Some(Arc::clone(&link));
        Ok(link)
    }

    fn open_link(&self) -> Option<Arc<Link<B::Connection>>> {
        self.slot(&self.current).as_ref().filter(|link| link.is_open()).cloned()
    }

    /// A new connection, with as much patience as the limits allow. Whoever fails gives up the broker for all.
    async fn connect_again(&self) -> Result<Arc<Link<B::Connection>>, Failure> {
        let deadline = Instant::now() + self.limits.reconnect;
        let mut pause = Duration::from_millis(100);
        loop {
            if let Some(why) = self.slot(&self.gone).clone() {
                return Err(Failure::Unavailable { why });
            }
            match self.broker.connect(self.limits.connect).await {
                Ok(connection) => return Ok(Arc::new(Link::new(connection))),
                Err(error) if error.failure.may_pass() && Instant::now() + pause < deadline => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                Err(error) => {
                    let why = error.failure.to_string();
                    *self.slot(&self.gone) = Some(why.clone());
                    return Err(Failure::Unavailable { why });
                }
            }
        }
    }

    /// Gives the connection to no new caller; it is closed when the last one has left it.
    fn retire(&self, link: &Arc<Link<B::Connection>>) {
        let mut current = self.slot(&self.current);
        if current.as_ref().is_some_and(|held| Arc::ptr_eq(held, link)) {
            *current = None;
        }
    }

    /// A lock that is never held across a wait; nothing panics while it is held.
    fn slot<'a, T>(&self, mutex: &'a Mutex<T>) -> std::sync::MutexGuard<'a, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
