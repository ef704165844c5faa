//! RabbitMQ's management API: the whole state of a vhost, and policies.
//!
//! Lists are read as the broker sends them and handed to the engine's reader of definitions, which knows every shape that
//! versions write. Two things stand here that exports leave out: exclusive queues, and whether an exchange is internal.
//! Statistics are never asked for (they lag by 5 to 10 seconds and prove nothing) but for the wait until a queue is empty.
//!
//! `rabbitmq_http_client` 0.93 is not used, though it covers the same API: its exchanges have no `internal`, one policy with
//! a priority above 32,767 makes its whole list unreadable, and through `rbase64` it sets the global allocator of every
//! program that links it.

mod error;
mod facts;
mod http;
mod node;
mod snapshot;
mod statistics;

pub use error::{ManagementError, ManagementFailure};
pub use node::{ApiListener, NodeStatus, SeenBinding};
pub use statistics::{Holder, QueueTotals};

use crate::limits::Limits;
use crate::tls::Tls;
use crate::url::ManagementUrl;
use acemq_core::rabbitmq;
use acemq_core::rabbitmq::{PolicyDeclaration, Product};
use acemq_core::state::State;
use http::{Conversation, Http, Method};
use serde_json::{Value as Json, json};

/// A management API.
///
/// Every call opens a connection of its own, follows no redirect and uses no proxy. Its futures may be dropped at any time.
pub struct Management {
    http: Http,
    url: ManagementUrl,
    limits: Limits,
}

impl Management {
    /// The API at a URL. Reads the certificate files that the URL names; connects only when something is asked.
    ///
    /// # Errors
    /// When a file of the URL cannot be used.
    pub fn new(url: ManagementUrl, limits: Limits) -> Result<Self, ManagementError> {
        let tls = match url.tls() {
            None => None,
            Some(options) => Some(Tls::new(url.host(), options).map_err(|failure| ManagementError {
                url: url.to_string(),
                failure: ManagementFailure::Connect(failure),
            })?),
        };
        Ok(Self { http: Http::new(&url, tls, limits), url, limits })
    }

    /// Where it is.
    pub fn url(&self) -> &ManagementUrl {
        &self.url
    }

    /// How long it is waited for.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Product and version.
    ///
    /// # Errors
    /// When the API cannot be asked, or when it is none.
    pub async fn broker(&self) -> Result<rabbitmq::Broker, ManagementError> {
        self.named(async { self.greet(&mut self.http.open().await?).await }).await
    }

    /// The name of the cluster; every vhost of it has the same.
    ///
    /// # Errors
    /// As [`broker`](Self::broker).
    pub async fn cluster_name(&self) -> Result<String, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let path = "/overview?disable_stats=true&columns=cluster_name";
            let reply = self.http.call(&mut conversation, Method::Get, path).await?;
            let overview = reply.expect_json(self.url.user(), "/")?;
            let name = overview.get("cluster_name").and_then(Json::as_str);
            name.map(str::to_owned)
                .ok_or(ManagementFailure::Unreadable { why: "the overview names no cluster".to_owned() })
        })
        .await
    }

    /// The vhosts that the user may see, in the broker's order.
    ///
    /// # Errors
    /// As [`broker`](Self::broker).
    pub async fn vhosts(&self) -> Result<Vec<String>, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            self.greet(&mut conversation).await?;
            let vhosts = self.list(&mut conversation, "/vhosts?columns=name").await?;
            Ok(vhosts.iter().filter_map(|vhost| vhost.get("name")?.as_str().map(str::to_owned)).collect())
        })
        .await
    }

    /// Everything that a vhost holds, and what the user may see of its settings.
    ///
    /// # Errors
    /// When the API cannot be asked, the vhost is not there, or an object cannot be read.
    pub async fn state(&self, vhost: &str) -> Result<State, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let broker = self.greet(&mut conversation).await?;
            snapshot::take(self, &mut conversation, broker, vhost).await
        })
        .await
    }

    /// Sets a policy, whether it is there or not.
    ///
    /// # Errors
    /// When the API cannot be asked or refuses the policy.
    pub async fn set_policy(&self, vhost: &str, policy: &PolicyDeclaration) -> Result<(), ManagementError> {
        let definition = serde_json::to_value(&policy.definition).unwrap_or_default();
        let body = json!({
            "pattern": policy.pattern, "apply-to": policy.apply_to, "priority": policy.priority, "definition": definition,
        });
        self.named(async {
            let path = format!("/policies/{}/{}", segment(vhost), segment(&policy.name));
            let mut conversation = self.http.open().await?;
            let reply = self.http.call(&mut conversation, Method::Put(body), &path).await?;
            reply.expect_done(self.url.user(), vhost)
        })
        .await
    }

    /// Deletes a policy. One that is not there is no error.
    ///
    /// # Errors
    /// When the API cannot be asked or refuses.
    pub async fn delete_policy(&self, vhost: &str, name: &str) -> Result<(), ManagementError> {
        self.named(async {
            let path = format!("/policies/{}/{}", segment(vhost), segment(name));
            let mut conversation = self.http.open().await?;
            let reply = self.http.call(&mut conversation, Method::Delete, &path).await?;
            if reply.is_missing() { Ok(()) } else { reply.expect_done(self.url.user(), vhost) }
        })
        .await
    }

    /// Asks who answers; what is no management API is found out here.
    async fn greet(&self, conversation: &mut Conversation) -> Result<rabbitmq::Broker, ManagementFailure> {
        let path = "/overview?disable_stats=true&columns=product_name,product_version,rabbitmq_version,lavinmq_version";
        let reply = self.http.call(conversation, Method::Get, path).await?;
        let overview = reply.expect_json(self.url.user(), "/")?;
        let text = |key: &str| overview.get(key).and_then(Json::as_str);
        let product = match (text("product_name"), text("rabbitmq_version"), text("lavinmq_version")) {
            (Some(name), ..) => Product::from_name(name),
            (None, _, Some(_)) => Product::LavinMq,
            // RabbitMQ before 3.8 says no name.
            (None, Some(_), None) => Product::RabbitMq,
            (None, None, None) => return Err(ManagementFailure::NotTheApi),
        };
        let version = ["product_version", "rabbitmq_version", "lavinmq_version"].into_iter().find_map(text);
        Ok(rabbitmq::Broker { product, version: version.and_then(|version| version.parse().ok()) })
    }

    async fn list(&self, conversation: &mut Conversation, path: &str) -> Result<Vec<Json>, ManagementFailure> {
        let reply = self.http.call(conversation, Method::Get, path).await?;
        match reply.expect_json(self.url.user(), "/")? {
            Json::Array(list) => Ok(list),
            _ => Err(ManagementFailure::Unreadable { why: format!("{path} is no list") }),
        }
    }

    async fn named<T>(&self, asked: impl Future<Output = Result<T, ManagementFailure>>) -> Result<T, ManagementError> {
        asked.await.map_err(|failure| ManagementError { url: self.url.to_string(), failure })
    }
}

/// A name as one segment of a path.
fn segment(name: &str) -> String {
    crate::url::percent_encode(name)
}
