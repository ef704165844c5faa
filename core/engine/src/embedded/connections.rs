//! Connections and their channels: who asks, and what a refusal closes.

use super::EmbeddedBroker;
use super::channel::{Channel, Event};
use crate::rabbitmq::{Conditions, Limit, Permissions, Refused, Scope, closed_channel, vhost_refused};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A connection to the embedded broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(u64);

/// A channel of a connection. Numbers are not used again, so a closed channel is never mistaken for a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(u64);

impl ConnectionId {
    /// The number, for whoever has to keep it outside Rust.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The connection of that number; one that was never opened counts as closed.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }
}

impl ChannelId {
    /// The number, for whoever has to keep it outside Rust.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The channel of that number; one that was never opened counts as closed.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The channel that a connection opens for one request only, as far as queues remember their publishers.
    pub(super) const NONE: Self = Self(0);
}

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
    connections: BTreeMap<ConnectionId, Connection>,
    channels: BTreeMap<ChannelId, Channel>,
}

#[derive(Debug, Clone)]
struct Connection {
    user: String,
    channels: BTreeSet<ChannelId>,
    /// Its exclusive queues.
    queues: BTreeSet<String>,
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
            Caller::Channel(channel) => self.channels.get(&channel).map(|channel| channel.connection),
        }
    }

    /// Notes that an exclusive queue belongs to that connection.
    pub(super) fn own(&mut self, connection: ConnectionId, queue: &str) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.queues.insert(queue.to_owned());
        }
    }

    /// Notes that it does so no longer.
    pub(super) fn disown(&mut self, connection: ConnectionId, queue: &str) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.queues.remove(queue);
        }
    }

    pub(super) fn channel(&self, channel: ChannelId) -> Option<&Channel> {
        self.channels.get(&channel)
    }

    pub(super) fn channel_mut(&mut self, channel: ChannelId) -> Option<&mut Channel> {
        self.channels.get_mut(&channel)
    }
}

impl EmbeddedBroker {
    /// Opens a connection as the user of the [conditions](Self::conditions).
    pub fn connect(&mut self) -> ConnectionId {
        let user = self.conditions.user.clone();
        self.open_connection(user)
    }

    /// Opens a connection as a user who was [added](Self::set_permissions).
    ///
    /// # Errors
    /// 530 when the user has no permissions in this vhost.
    pub fn connect_as(&mut self, user: &str) -> Result<ConnectionId, Refused> {
        if user != self.conditions.user && !self.users.contains_key(user) {
            return Err(vhost_refused(&self.conditions, user));
        }
        Ok(self.open_connection(user.to_owned()))
    }

    fn open_connection(&mut self, user: String) -> ConnectionId {
        let connection = ConnectionId(self.connections.next());
        self.connections
            .connections
            .insert(connection, Connection { user, channels: BTreeSet::new(), queues: BTreeSet::new() });
        connection
    }

    /// Adds a user, or changes what one may do; open connections notice.
    pub fn set_permissions(&mut self, user: impl Into<String>, permissions: Permissions) {
        let user = user.into();
        if user == self.conditions.user {
            self.conditions.permissions = permissions;
        } else {
            self.users.insert(user, permissions);
        }
    }

    /// Closes a connection, its channels and its exclusive queues. One that is closed already is left alone.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        let Some(closed) = self.connections.connections.remove(&connection) else { return };
        for channel in closed.channels {
            self.end_channel(channel);
        }
        for queue in closed.queues {
            self.drop_queue(&queue);
        }
        self.settle_down();
    }

    /// Opens a channel.
    ///
    /// # Errors
    /// 504 when the connection is closed.
    pub fn open_channel(&mut self, connection: ConnectionId) -> Result<ChannelId, Refused> {
        let channel = ChannelId(self.connections.next());
        let open = self.connections.connections.get_mut(&connection).ok_or_else(closed_channel)?;
        open.channels.insert(channel);
        self.connections.channels.insert(channel, Channel::new(connection));
        Ok(channel)
    }

    /// Closes a channel: its consumers go, and what it did not acknowledge goes back to the queues. One that is closed
    /// already is left alone.
    pub fn close_channel(&mut self, channel: ChannelId) {
        self.end_channel(channel);
        self.settle_down();
    }

    fn end_channel(&mut self, channel: ChannelId) {
        let Some(closed) = self.connections.channels.remove(&channel) else { return };
        if let Some(connection) = self.connections.connections.get_mut(&closed.connection) {
            connection.channels.remove(&channel);
        }
        self.leave(channel, closed);
    }

    /// Whether the connection or channel is open.
    pub fn is_open(&self, caller: impl Into<Caller>) -> bool {
        self.connections.of(caller.into()).is_some()
    }

    /// What the broker has told the channel since it was last asked: deliveries to its consumers, and consumers that are
    /// gone. Nothing when it is closed.
    pub fn take_events(&mut self, channel: ChannelId) -> Vec<Event> {
        self.connections.channel_mut(channel).map(|channel| channel.events.drain(..).collect()).unwrap_or_default()
    }

    /// The circumstances of a request of that connection: its user, and what is used of each limit.
    pub(super) fn conditions_of(&self, connection: ConnectionId) -> Cow<'_, Conditions> {
        let mut conditions = Cow::Borrowed(&self.conditions);
        if let Some(connection) = self.connections.connections.get(&connection)
            && let Some(permissions) = self.users.get(&connection.user)
        {
            let conditions = conditions.to_mut();
            conditions.user.clone_from(&connection.user);
            conditions.permissions = permissions.clone();
        }
        let Conditions { queue_limit, cluster_queue_limit, exchange_limit, .. } = self.conditions;
        if queue_limit.or(cluster_queue_limit).or(exchange_limit).is_some() {
            let used = |objects: usize| {
                move |limit: Limit| Limit { declared: objects.try_into().unwrap_or(u64::MAX), ..limit }
            };
            let conditions = conditions.to_mut();
            conditions.queue_limit = queue_limit.map(used(self.queues.len()));
            conditions.cluster_queue_limit = cluster_queue_limit.map(used(self.queues.len()));
            conditions.exchange_limit = exchange_limit.map(used(self.router.exchange_count()));
        }
        conditions
    }

    /// Carries out a request of `caller`, closes what its refusal closes, and lets everything that follows happen.
    pub(super) fn answer<T>(
        &mut self,
        caller: Caller,
        request: impl FnOnce(&mut Self, ConnectionId) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        let connection = self.connections.of(caller).ok_or_else(closed_channel)?;
        let answer = request(self, connection);
        if let Err(refused) = &answer {
            match (refused.scope, caller) {
                (Scope::Connection, _) => self.disconnect(connection),
                (Scope::Channel, Caller::Channel(channel)) => self.end_channel(channel),
                (Scope::Channel, Caller::Connection(_)) => {}
            }
        }
        self.settle_down();
        #[cfg(test)]
        self.check_notes();
        answer
    }
}
