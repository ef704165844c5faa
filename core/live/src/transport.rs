//! The seam to an AMQP client library: a [`Broker`] is connected to, a [`Connection`] opens channels, a [`Channel`] asks one
//! question after the other.
//!
//! Everything above this seam (rotation, attribution, retries, limits of a whole run) is library-independent and is tested
//! with a scripted broker. Everything a library gets wrong is put right below it. Two rules bind an implementation:
//!
//! * every future may be dropped at any time without harm to the connection or to other channels;
//! * no future outlives the limit it was given by more than a moment.

use crate::connect::ConnectError;
use crate::operation::{Done, Operation};
use acemq_core::rabbitmq;
use acemq_core::rabbitmq::Refused;
use std::future::Future;
use std::time::Duration;

/// A broker that connections can be opened to.
pub trait Broker: Send + Sync + 'static {
    /// What a connection is here.
    type Connection: Connection;

    /// Opens a connection and logs in.
    fn connect(&self, limit: Duration) -> impl Future<Output = Result<Self::Connection, ConnectError>> + Send;
}

/// One connection.
pub trait Connection: Send + Sync + 'static {
    /// What a channel is here.
    type Channel: Channel;

    /// Product and version, from the server properties.
    fn broker(&self) -> &rabbitmq::Broker;

    /// Whether it is open, as far as is known.
    fn is_open(&self) -> bool;

    /// How many channels the broker may close before this connection has to be replaced.
    fn channels_to_lose(&self) -> usize;

    /// Opens a channel.
    fn open_channel(&self, limit: Duration) -> impl Future<Output = Result<Self::Channel, Ended>> + Send;

    /// Closes it. Dropping it does the same without waiting.
    fn close(self, limit: Duration) -> impl Future<Output = ()> + Send;
}

/// One channel. Once an operation has not ended with [`Done`], the channel is of no use any more.
pub trait Channel: Send + 'static {
    /// Does one operation.
    fn perform(&mut self, operation: &Operation, limit: Duration) -> impl Future<Output = Result<Done, Ended>> + Send;
}

/// How a channel or a connection ended while somebody waited for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The broker closed the channel: its refusal of what was asked on it.
    ChannelClosed(Refused),
    /// The broker closed the connection, which need not be because of what was asked here.
    ConnectionClosed(Refused),
    /// The connection ended without a word of the broker.
    ConnectionLost(String),
    /// No answer within the limit. The connection may still work.
    Silence {
        /// The limit.
        after: Duration,
    },
    /// It cannot be sent.
    Unsendable(String),
}
