//! What the API says about messages at a moment, and about who holds them.
//!
//! The list of queues with `enable_queue_totals` is the one place whose numbers of a classic queue are up to date; those of a
//! quorum queue come in rounds of statistics and are some seconds old (measured on 3.10.8, 4.0.5 and 4.3.6).

use super::http::Method;
use super::{Management, ManagementError, ManagementFailure, segment};
use serde::Deserialize;
use serde_json::Value as Json;

/// How many messages a queue holds, as far as the API tells.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct QueueTotals {
    /// Its name.
    pub name: String,
    /// Its type; versions before 3.8 do not say it.
    #[serde(default, rename = "type")]
    pub kind: Option<String>,
    /// Messages that are ready.
    #[serde(default, rename = "messages_ready")]
    pub ready: Option<u64>,
    /// Messages that consumers hold.
    #[serde(default, rename = "messages_unacknowledged")]
    pub unacknowledged: Option<u64>,
    /// All messages.
    #[serde(default, rename = "messages")]
    pub all: Option<u64>,
}

impl QueueTotals {
    /// Messages that are neither ready nor held: a quorum queue counts those so that wait until they may be delivered again
    /// (`x-delayed-retry-type`, 4.3), and those that no queue has taken yet as dead letters (`x-dead-letter-strategy:
    /// at-least-once`, 3.10 and later). `basic.get` and `queue.declare-ok` do not know them, and they go with the queue.
    pub fn aside(&self) -> u64 {
        let shown = self.ready.unwrap_or_default().saturating_add(self.unacknowledged.unwrap_or_default());
        self.all.unwrap_or_default().saturating_sub(shown)
    }
}

/// A channel that holds messages which it has not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The channel's name, which begins with its connection's.
    pub channel: String,
    /// Who logged in.
    pub user: String,
    /// How many messages it holds, of all queues.
    pub unacknowledged: u64,
    /// Whether it consumes the queue that was asked about; else it got messages one by one, perhaps from another queue.
    pub consumes: bool,
}

#[derive(Deserialize)]
struct ChannelStatistics {
    #[serde(default)]
    name: String,
    #[serde(default)]
    user: String,
    #[serde(default, rename = "messages_unacknowledged")]
    unacknowledged: u64,
}

impl Management {
    /// The totals of all queues of a vhost.
    ///
    /// # Errors
    /// When the API cannot be asked, or the vhost is not there.
    pub async fn queue_totals(&self, vhost: &str) -> Result<Vec<QueueTotals>, ManagementError> {
        let path = format!("/queues/{}?disable_stats=true&enable_queue_totals=true", segment(vhost));
        self.fetch(&path, vhost).await
    }

    /// The channels that hold messages of a queue, or may: those that consume it first. Statistics, so some seconds old.
    ///
    /// # Errors
    /// When the API cannot be asked, or the queue is not there.
    pub async fn holders(&self, vhost: &str, queue: &str) -> Result<Vec<Holder>, ManagementError> {
        let details = self.queue_details(vhost, queue).await?;
        let consumers: Vec<&str> = (details.get("consumer_details").and_then(Json::as_array).into_iter().flatten())
            .filter_map(|consumer| consumer.get("channel_details")?.get("name")?.as_str())
            .collect();
        let path = format!("/vhosts/{}/channels?columns=name,user,messages_unacknowledged", segment(vhost));
        let channels: Vec<ChannelStatistics> = self.fetch(&path, vhost).await?;
        let mut holders: Vec<Holder> = (channels.into_iter().filter(|channel| channel.unacknowledged > 0))
            .map(|channel| Holder {
                consumes: consumers.contains(&channel.name.as_str()),
                channel: channel.name,
                user: channel.user,
                unacknowledged: channel.unacknowledged,
            })
            .collect();
        holders.sort_by(|one, other| (!one.consumes, &one.channel).cmp(&(!other.consumes, &other.channel)));
        Ok(holders)
    }

    /// The node that a queue lives on, where its leader is; `None` where there is no such queue, or nobody knows.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn node_of_queue(&self, vhost: &str, queue: &str) -> Result<Option<String>, ManagementError> {
        match self.queue_details(vhost, queue).await {
            Ok(details) => Ok(details.get("node").and_then(Json::as_str).map(str::to_owned)),
            Err(ManagementError { failure: ManagementFailure::VhostMissing { .. }, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is a queue of that name.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn has_queue(&self, vhost: &str, queue: &str) -> Result<bool, ManagementError> {
        match self.queue_details(vhost, queue).await {
            Ok(_) => Ok(true),
            Err(ManagementError { failure: ManagementFailure::VhostMissing { .. }, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How many messages were put into a queue since it is there, by whatever way; some seconds late. `None` where the broker
    /// keeps no such figure, as for a queue that never got one.
    ///
    /// # Errors
    /// When the API cannot be asked, or the queue is not there.
    pub async fn messages_published_to(&self, vhost: &str, queue: &str) -> Result<Option<u64>, ManagementError> {
        let details = self.queue_details(vhost, queue).await?;
        Ok(details.get("message_stats").and_then(|stats| stats.get("publish")).and_then(Json::as_u64))
    }

    async fn queue_details(&self, vhost: &str, queue: &str) -> Result<Json, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let path = format!("/queues/{}/{}", segment(vhost), segment(queue));
            let reply = self.http.call(&mut conversation, Method::Get, &path).await?;
            reply.expect_json(self.url.user(), vhost)
        })
        .await
    }

    pub(super) async fn fetch<T: for<'de> Deserialize<'de>>(
        &self,
        path: &str,
        vhost: &str,
    ) -> Result<Vec<T>, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let reply = self.http.call(&mut conversation, Method::Get, path).await?;
            let body = reply.expect_ok(self.url.user(), vhost)?;
            serde_json::from_slice(&body).map_err(|error| ManagementFailure::Unreadable { why: error.to_string() })
        })
        .await
    }
}
