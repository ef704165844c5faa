//! A connection that amqprs serves.

use super::channel::AmqpChannel;
use crate::transport::Ended;
use acemq_core::rabbitmq;
use acemq_core::rabbitmq::{Refused, Scope};
use amqprs::Close;
use amqprs::connection::Connection;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// amqprs never frees the number of a channel that the broker closed, and opens no channel any more when all 2,047 are
/// used up, while the connection still says that it is open. This many may go before the connection is replaced.
const CHANNELS_TO_LOSE: usize = 1000;

/// Where a callback leaves the broker's reason for closing.
#[derive(Debug, Clone, Default)]
pub(super) struct CloseSlot(Arc<Mutex<Option<Refused>>>);

impl CloseSlot {
    pub(super) fn set(&self, refused: Refused) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refused);
    }

    pub(super) fn get(&self) -> Option<Refused> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How a connection ended on which a call failed with `error`.
pub(super) fn ended_connection(closed: &CloseSlot, error: &amqprs::error::Error) -> Ended {
    match closed.get() {
        Some(refused) => Ended::ConnectionClosed(refused),
        // amqprs's own texts ("channel closed") speak of its insides.
        None if matches!(error, amqprs::error::Error::InternalChannelError(_)) => {
            Ended::ConnectionLost("it ended without a reason from the broker".to_owned())
        }
        None => Ended::ConnectionLost(error.to_string()),
    }
}

/// A connection that amqprs serves.
pub struct AmqpConnection {
    /// `None` only while it is being closed.
    connection: Option<Connection>,
    broker: rabbitmq::Broker,
    closed: CloseSlot,
    /// amqprs spawns a task when a connection is dropped, which needs a runtime.
    runtime: tokio::runtime::Handle,
}

impl AmqpConnection {
    /// Takes over a connection that was just opened. Must run inside the runtime.
    pub(super) async fn start(connection: Connection) -> Result<Self, amqprs::error::Error> {
        let closed = CloseSlot::default();
        connection.register_callback(OnClose(closed.clone())).await?;
        let properties = connection.server_properties();
        let broker = rabbitmq::Broker::from_server_properties(properties.product(), properties.version());
        let runtime = tokio::runtime::Handle::current();
        Ok(Self { connection: Some(connection), broker, closed, runtime })
    }

    /// The connection of amqprs, for channels of another kind; `None` while it is being closed.
    pub(super) fn shared(&self) -> Option<Connection> {
        self.connection.clone()
    }

    /// Where the broker's reason for closing it will be.
    pub(super) fn closed(&self) -> CloseSlot {
        self.closed.clone()
    }
}

impl crate::transport::Connection for AmqpConnection {
    type Channel = AmqpChannel;

    fn broker(&self) -> &rabbitmq::Broker {
        &self.broker
    }

    fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_open)
    }

    fn channels_to_lose(&self) -> usize {
        match self.connection.as_ref().map_or(0, Connection::channel_max) {
            0 => CHANNELS_TO_LOSE,
            max => CHANNELS_TO_LOSE.min(usize::from(max) / 2).max(1),
        }
    }

    async fn open_channel(&self, limit: Duration) -> Result<AmqpChannel, Ended> {
        let Some(connection) = self.connection.clone() else {
            return Err(Ended::ConnectionLost("it is being closed".to_owned()));
        };
        let closed = self.closed.clone();
        // In a task of its own: a dropped call would panic the connection's task.
        let opening = tokio::spawn(async move {
            let channel = connection.open_channel(None).await.map_err(|error| ended_connection(&closed, &error))?;
            AmqpChannel::start(channel, closed.clone()).await.map_err(|error| ended_connection(&closed, &error))
        });
        match tokio::time::timeout(limit, opening).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Ended::ConnectionLost("the client's own task ended".to_owned())),
            Err(_) => Err(Ended::Silence { after: limit }),
        }
    }

    async fn close(mut self, limit: Duration) {
        if let Some(connection) = self.connection.take() {
            let closing = tokio::spawn(connection.close());
            let _ = tokio::time::timeout(limit, closing).await;
        }
    }
}

impl Drop for AmqpConnection {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            let _inside = self.runtime.enter();
            drop(connection);
        }
    }
}

/// Keeps the broker's reason for closing the connection.
struct OnClose(CloseSlot);

#[async_trait::async_trait]
impl amqprs::callbacks::ConnectionCallback for OnClose {
    async fn close(&mut self, _: &Connection, close: Close) -> Result<(), amqprs::error::Error> {
        self.0.set(Refused { code: close.reply_code(), text: close.reply_text().clone(), scope: Scope::Connection });
        Ok(())
    }

    async fn blocked(&mut self, _: &Connection, _: String) {}

    async fn unblocked(&mut self, _: &Connection) {}

    async fn secret_updated(&mut self, _: &Connection) {}
}
