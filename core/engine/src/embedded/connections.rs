//! Connections and their channels: who asks, and what a refusal closes.

use super::EmbeddedBroker;
use crate::rabbitmq::{Refused, Scope};
use std::collections::{BTreeMap, BTreeSet};

/// A connection to the embedded broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// A channel of a connection. Numbers are not used again, so a closed channel is never mistaken for a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(u64);

/// Who asks: a channel, or a connection on a channel that is opened for this one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// A refusal in the channel's scope closes nothing that goes on living.
    Connection(ConnectionId),
    /// A refusal in the channel's scope closes it.
    Channel(ChannelId),
}

impl From<ConnectionId> for Caller {
    fn from(connection: ConnectionId) -> Self {
        Self::Connection(connection)
    }
}

impl From<ChannelId> for Caller {
    fn from(channel: ChannelId) -> Self {
        Self::Channel(channel)
    }
}

/// The open connections and channels.
#[derive(Debug, Clone, Default)]
pub(super) struct Connections {
    opened: u64,
    connections: BTreeMap<ConnectionId, BTreeSet<ChannelId>>,
    channels: BTreeMap<ChannelId, ConnectionId>,
}

impl Connections {
    fn next(&mut self) -> u64 {
        self.opened = self.opened.saturating_add(1);
        self.opened
    }

    /// The connection of an open channel, or the open connection itself.
    pub(super) fn of(&self, caller: Caller) -> Option<ConnectionId> {
        match caller {
            Caller::Connection(connection) => self.connections.contains_key(&connection).then_some(connection),
            Caller::Channel(channel) => self.channels.get(&channel).copied(),
        }
    }
}

impl EmbeddedBroker {
    /// Opens a connection.
    pub fn connect(&mut self) -> ConnectionId {
        let connection = ConnectionId(self.connections.next());
        self.connections.connections.insert(connection, BTreeSet::new());
        connection
    }

    /// Closes a connection, its channels and its exclusive queues. One that is closed already is left alone.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        for channel in self.connections.connections.remove(&connection).unwrap_or_default() {
            self.connections.channels.remove(&channel);
        }
        let exclusive: Vec<String> = self
            .queues
            .iter()
            .filter(|(_, queue)| queue.owner == Some(connection))
            .map(|(name, _)| name.clone())
            .collect();
        for queue in exclusive {
            self.drop_queue(&queue);
        }
    }

    /// Opens a channel.
    ///
    /// # Errors
    /// 504 when the connection is closed.
    pub fn open_channel(&mut self, connection: ConnectionId) -> Result<ChannelId, Refused> {
        let channel = ChannelId(self.connections.next());
        let channels = self.connections.connections.get_mut(&connection).ok_or_else(not_open)?;
        channels.insert(channel);
        self.connections.channels.insert(channel, connection);
        Ok(channel)
    }

    /// Closes a channel. One that is closed already is left alone.
    pub fn close_channel(&mut self, channel: ChannelId) {
        let Some(connection) = self.connections.channels.remove(&channel) else { return };
        if let Some(channels) = self.connections.connections.get_mut(&connection) {
            channels.remove(&channel);
        }
    }

    /// Whether the connection or channel is open.
    pub fn is_open(&self, caller: impl Into<Caller>) -> bool {
        self.connections.of(caller.into()).is_some()
    }

    /// Carries out a request of `caller` and closes what its refusal closes.
    pub(super) fn answer<T>(
        &mut self,
        caller: Caller,
        request: impl FnOnce(&mut Self, ConnectionId) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let connection = self.connections.of(caller).ok_or_else(not_open)?;
        let answer = request(self, connection);
        if let Err(refused) = &answer {
            match (refused.scope, caller) {
                (Scope::Connection, _) => self.disconnect(connection),
                (Scope::Channel, Caller::Channel(channel)) => self.close_channel(channel),
                (Scope::Channel, Caller::Connection(_)) => {}
            }
        }
        answer
    }
}

/// What a broker answers on a channel that is not open.
fn not_open() -> Refused {
    Refused { code: 504, text: "CHANNEL_ERROR - expected 'channel.open'".to_owned(), scope: Scope::Connection }
}
