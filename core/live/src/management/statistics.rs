//! What the API says about messages and nodes at a moment.
//!
//! The list of queues with `enable_queue_totals` is the one place whose numbers of a classic queue are up to date; those of a
//! quorum queue come in rounds of statistics and are some seconds old (measured on 3.10.8, 4.0.5 and 4.3.6).

use super::http::Method;
use super::{Management, ManagementError, ManagementFailure, segment};
use serde::Deserialize;

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
}

/// A node of the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NodeStatus {
    /// Its name.
    pub name: String,
    /// Whether it runs.
    #[serde(default)]
    pub running: bool,
    /// Whether it is short of memory, so that publishers are held back.
    #[serde(default)]
    pub mem_alarm: bool,
    /// Whether it is short of disk space.
    #[serde(default)]
    pub disk_free_alarm: bool,
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

    /// The nodes of the cluster, running or not.
    ///
    /// # Errors
    /// When the API cannot be asked; [`ManagementFailure::Forbidden`] for a user who may not see nodes.
    pub async fn nodes(&self) -> Result<Vec<NodeStatus>, ManagementError> {
        self.fetch("/nodes?columns=name,running,mem_alarm,disk_free_alarm", "/").await
    }

    async fn fetch<T: for<'de> Deserialize<'de>>(&self, path: &str, vhost: &str) -> Result<Vec<T>, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let reply = self.http.call(&mut conversation, Method::Get, path).await?;
            let body = reply.expect_ok(self.url.user(), vhost)?;
            serde_json::from_slice(&body).map_err(|error| ManagementFailure::Unreadable { why: error.to_string() })
        })
        .await
    }
}
