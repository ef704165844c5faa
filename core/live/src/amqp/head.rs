//! What the leader of a queue says is at its head: `basic.get`, and at once back with what came.
//!
//! Counts can be others' guesses: while a quorum queue's leader is silent, a passive declaration is answered with 0 messages
//! after a quarter of a second (3.10.8, 4.0.5 and 4.3.6). `basic.get-empty` only the leader can say. It is asked with manual
//! acknowledgement, so that nothing is lost whatever happens, and on a connection of its own, which ends with the question.
//!
//! A message that comes goes back to its place; what that counts, measured on 3.10.8, 4.0.5 and 4.3.6:
//!
//! | how | before 4.0 | 4.0 to 4.2 | from 4.3 on |
//! |---|---|---|---|
//! | `basic.nack` with requeue | counted, **to the end** without a delivery limit | counted | not counted |
//! | `basic.reject` with requeue | the same | counted | counted |
//! | the channel is closed | counted | counted | counted |
//!
//! What is counted counts against `x-delivery-limit`, and a message above it is dead-lettered or dropped. So from 4.3 on it is
//! `basic.nack`; before, the channel is closed, which at least keeps the order, and whoever asks has to see that the limit is
//! above 0. The message is `redelivered` afterwards in either case.
//!
//! A queue with a single active consumer refuses `basic.get` (405); that too its leader says, and nobody else: the question
//! hangs as long as the leader does.

use super::AmqpBroker;
use super::channel::OnClose;
use super::connection::{CloseSlot, ended_connection};
use super::table::short;
use crate::limits::Limits;
use crate::transport::{Broker as _, Connection as _, Ended};
use acemq_core::rabbitmq::Refused;
use amqprs::channel::{BasicGetArguments, BasicNackArguments, Channel};
use amqprs::connection::Connection;
use std::time::Duration;
use tokio::sync::oneshot;

/// What the leader of a queue says is at its head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head {
    /// No message is ready.
    Empty,
    /// A message is, and was put back.
    Message,
    /// The leader answers, and does not tell: the queue has a single active consumer.
    Reserved,
    /// The broker refused the question.
    Refused(Refused),
    /// Nobody answered: no connection, or it ended. A message that was got went back with it.
    Lost(String),
}

impl Head {
    /// Asks the leader of a queue; `None` when it does not answer within `limit`. Must be called inside the runtime.
    ///
    /// A leader that hangs may never answer, also when it goes on (3.10.8 and 4.3.6). The connection is closed then, and when the
    /// broker takes the question up late all the same, it puts back what it got.
    pub async fn ask(broker: &AmqpBroker, queue: &str, limits: Limits, limit: Duration) -> Option<Self> {
        let (broker, queue) = (broker.clone(), queue.to_owned());
        // Dropped with this future, which ends the question.
        let (_asking, given_up) = oneshot::channel::<()>();
        // In a task of its own: a dropped call would panic the connection's task.
        let asking =
            tokio::spawn(async move { head(&broker, &queue, limits, given_up).await.unwrap_or_else(unanswered) });
        match tokio::time::timeout(limit, asking).await {
            Ok(answer) => Some(answer.unwrap_or_else(|_| Self::Lost("the client's own task ended".to_owned()))),
            Err(_) => None,
        }
    }
}

fn unanswered(ended: Ended) -> Head {
    match ended {
        Ended::ChannelClosed(refused) if is_reserved(&refused) => Head::Reserved,
        Ended::ChannelClosed(refused) => Head::Refused(refused),
        Ended::ConnectionClosed(refused) => Head::Lost(format!("{} {}", refused.code, refused.text)),
        Ended::ConnectionLost(why) | Ended::Unsendable(why) => Head::Lost(why),
        Ended::Silence { after } => Head::Lost(format!("no answer within {} s", after.as_secs_f64())),
    }
}

/// 4.3 writes `<<"quorum">> queues` where the others write `quorum queues`, and the end is cut off after 255 bytes.
fn is_reserved(refused: &Refused) -> bool {
    refused.code == 405 && refused.text.contains("basic.get operations are not supported")
}

async fn head(
    broker: &AmqpBroker,
    queue: &str,
    limits: Limits,
    given_up: oneshot::Receiver<()>,
) -> Result<Head, Ended> {
    let name = short("queue name", queue).map_err(Ended::Unsendable)?.to_owned();
    let connection = broker.connect(limits.connect).await;
    let connection = connection.map_err(|error| Ended::ConnectionLost(error.to_string()))?;
    let Some(shared) = connection.shared() else {
        return Err(Ended::ConnectionLost("it is being closed".to_owned()));
    };
    let (closed, uncounted) = (connection.closed(), connection.broker().puts_back_uncounted());
    let answer = tokio::spawn(look(shared, name, uncounted, closed));
    let head = tokio::select! {
        answer = answer => answer.unwrap_or_else(|_| Err(Ended::ConnectionLost("the client's own task ended".to_owned()))),
        _ = given_up => Ok(Head::Lost("nobody waits for it any more".to_owned())),
    };
    connection.close(limits.close).await;
    head
}

async fn look(connection: Connection, queue: String, uncounted: bool, closed: CloseSlot) -> Result<Head, Ended> {
    let channel_closed = CloseSlot::default();
    let why = |error: amqprs::error::Error| match channel_closed.get() {
        Some(refused) => Ended::ChannelClosed(refused),
        None => ended_connection(&closed, &error),
    };
    let channel = connection.open_channel(None).await.map_err(why)?;
    channel.register_callback(OnClose(channel_closed.clone())).await.map_err(why)?;
    let Some((message, ..)) = channel.basic_get(BasicGetArguments::new(&queue)).await.map_err(why)? else {
        return Ok(Head::Empty);
    };
    put_back(channel, message.delivery_tag(), uncounted).await.map_err(why)?;
    Ok(Head::Message)
}

/// When this returns the broker was told, and its queue has it back at once or some milliseconds later: the broker answers that
/// the channel is closed after what came before on it.
async fn put_back(channel: Channel, tag: u64, uncounted: bool) -> Result<(), amqprs::error::Error> {
    if uncounted {
        channel.basic_nack(BasicNackArguments::new(tag, false, true)).await?;
    }
    channel.close().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use acemq_core::rabbitmq::Scope;

    #[test]
    fn a_queue_with_a_single_active_consumer_is_told_from_one_that_is_locked() {
        let refused = |text: &str| Refused { code: 405, text: text.to_owned(), scope: Scope::Channel };
        let start = "RESOURCE_LOCKED - cannot obtain";
        for sac in [
            " access to locked queue 'q' in vhost '/'. basic.get operations are not supported by quorum queues with single active consumer",
            " access to locked queue 'q' in vhost '/'. basic.get operations are not supported by <<\"quorum\">> queues with single active consumer",
        ] {
            assert_eq!(unanswered(Ended::ChannelClosed(refused(&format!("{start}{sac}")))), Head::Reserved);
        }
        let locked = refused(&format!("{start} exclusive access to locked queue 'q' in vhost '/'"));
        assert_eq!(unanswered(Ended::ChannelClosed(locked.clone())), Head::Refused(locked));
    }
}
