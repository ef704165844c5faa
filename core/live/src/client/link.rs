//! A connection with its idle channels and its head count.

use crate::operation::{Done, Operation};
use crate::transport::{Channel, Connection, Ended};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(super) struct Link<C: Connection> {
    connection: C,
    idle: Mutex<Vec<C::Channel>>,
    lost_channels: AtomicUsize,
    /// Operations under way, and operations ever begun.
    under_way: AtomicUsize,
    begun: AtomicUsize,
}

impl<C: Connection> Link<C> {
    pub(super) fn new(connection: C) -> Self {
        Self {
            connection,
            idle: Mutex::new(Vec::new()),
            lost_channels: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.connection.is_open()
    }

    pub(super) fn into_connection(self) -> C {
        self.connection
    }

    /// Counts an operation in; dropping the turn counts it out.
    pub(super) fn begin(&self) -> Turn<'_, C> {
        let others = self.under_way.fetch_add(1, Ordering::SeqCst);
        let number = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        Turn { link: self, began_alone: others == 0, number }
    }

    /// Does one operation on an idle channel, or on a new one. The channel is idle again only when it answered.
    pub(super) async fn perform(&self, operation: &Operation, limit: Duration) -> Result<Done, Ended> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut channel = match idle {
            Some(channel) => channel,
            None => self.connection.open_channel(limit).await?,
        };
        let done = channel.perform(operation, limit).await?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(channel);
        Ok(done)
    }

    /// Counts a channel that the broker closed; `true` when the connection has lost as many as it may.
    pub(super) fn lose_channel(&self) -> bool {
        self.lost_channels.fetch_add(1, Ordering::Relaxed) + 1 >= self.connection.channels_to_lose()
    }
}

/// One operation's stay on a connection.
pub(super) struct Turn<'a, C: Connection> {
    link: &'a Link<C>,
    began_alone: bool,
    number: usize,
}

impl<C: Connection> Turn<'_, C> {
    /// Whether no other operation was under way at any time since this one began.
    pub(super) fn unshared(&self) -> bool {
        self.began_alone && self.link.begun.load(Ordering::SeqCst) == self.number
    }
}

impl<C: Connection> Drop for Turn<'_, C> {
    fn drop(&mut self) {
        self.link.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}
