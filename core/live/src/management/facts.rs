//! What an operator sees beside the table of a vhost: shovels, rights and consumers, as a migration's plan considers them.
//!
//! A user who may not see one of them is told nothing of it, and nothing is judged by it: shovels need the tag `policymaker`,
//! the rights of others the tag `administrator`.

use super::http::Method;
use super::{Management, ManagementError, ManagementFailure, segment};
use crate::url::percent_decode;
use acemq_core::migration::{ConsumerFact, PermissionFact, ShovelFact};
use serde::Deserialize;
use serde_json::Value as Json;

#[derive(Deserialize)]
struct Shovel {
    name: String,
    value: Json,
}

impl Management {
    /// The shovels of a vhost that take from its queues or publish to them, so far as their addresses are the broker itself:
    /// whether another host name is this broker cannot be told. Empty where the plugin is not on, or the user may not see them.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn shovels(&self, vhost: &str) -> Result<Vec<ShovelFact>, ManagementError> {
        let path = format!("/parameters/shovel/{}", segment(vhost));
        let shovels: Vec<Shovel> = told(self.fetch(&path, vhost).await)?;
        Ok(shovels.into_iter().map(|shovel| shovel.fact(vhost)).collect())
    }

    /// Who may do what in a vhost. Empty where the user may not see it.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn permissions(&self, vhost: &str) -> Result<Vec<PermissionFact>, ManagementError> {
        let path = format!("/vhosts/{}/permissions", segment(vhost));
        #[derive(Deserialize)]
        struct Permission {
            user: String,
            configure: String,
            write: String,
            read: String,
        }
        let permissions: Vec<Permission> = told(self.fetch(&path, vhost).await)?;
        let fact = |Permission { user, configure, write, read }| PermissionFact { user, configure, write, read };
        Ok(permissions.into_iter().map(fact).collect())
    }

    /// The consumers of a queue, some seconds late; empty where there is no such queue.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn consumers(&self, vhost: &str, queue: &str) -> Result<Vec<ConsumerFact>, ManagementError> {
        let path = format!("/queues/{}/{}", segment(vhost), segment(queue));
        let details = self
            .named(async {
                let mut conversation = self.http.open().await?;
                let reply = self.http.call(&mut conversation, Method::Get, &path).await?;
                reply.expect_json(self.url.user(), vhost)
            })
            .await;
        let details = match details {
            Err(error) if is_untold(&error) => return Ok(Vec::new()),
            answered => answered?,
        };
        let consumers = details.get("consumer_details").and_then(Json::as_array).into_iter().flatten();
        Ok(consumers
            .filter_map(|consumer| {
                Some(ConsumerFact {
                    tag: consumer.get("consumer_tag")?.as_str()?.to_owned(),
                    exclusive: consumer.get("exclusive").and_then(Json::as_bool).unwrap_or_default(),
                    user: consumer.get("channel_details")?.get("user").and_then(Json::as_str).map(str::to_owned),
                })
            })
            .collect())
    }
}

impl Shovel {
    fn fact(self, vhost: &str) -> ShovelFact {
        let text = |key: &str| self.value.get(key).and_then(Json::as_str);
        let source = text("src-queue").filter(|_| self.is_here("src-uri", vhost));
        // The default exchange leads to the queue that its key names.
        let by_key = || text("dest-exchange-key").filter(|_| text("dest-exchange") == Some(""));
        let destination = text("dest-queue").or_else(by_key).filter(|_| self.is_here("dest-uri", vhost));
        ShovelFact {
            source_queue: source.map(str::to_owned),
            destination_queue: destination.map(str::to_owned),
            name: self.name,
        }
    }

    /// Whether one of the addresses is this broker and vhost; a list of them is tried until one works.
    fn is_here(&self, key: &str, vhost: &str) -> bool {
        match self.value.get(key) {
            Some(Json::String(uri)) => is_here(uri, vhost),
            Some(Json::Array(uris)) => uris.iter().filter_map(Json::as_str).any(|uri| is_here(uri, vhost)),
            _ => false,
        }
    }
}

/// `amqp://` and `amqp:///VHOST` are the broker that runs the shovel; without a path the vhost is `/`.
fn is_here(uri: &str, vhost: &str) -> bool {
    let Some((_, rest)) = uri.split_once("://") else { return false };
    let place = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = place.split_once('/').unwrap_or((place, ""));
    // A path that is no path is no vhost of this broker.
    let Some(path) = percent_decode(path) else { return false };
    authority.is_empty() && if path.is_empty() { vhost == "/" } else { path == vhost }
}

/// A list that a user may not see, or that a broker without the plugin does not have, is empty.
fn told<T>(answer: Result<Vec<T>, ManagementError>) -> Result<Vec<T>, ManagementError> {
    match answer {
        Err(error) if is_untold(&error) => Ok(Vec::new()),
        answered => answered,
    }
}

fn is_untold(error: &ManagementError) -> bool {
    matches!(
        error.failure,
        ManagementFailure::Forbidden { .. }
            | ManagementFailure::NotAManagementUser { .. }
            | ManagementFailure::VhostMissing { .. }
            | ManagementFailure::NotTheApi
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fact(value: Json, vhost: &str) -> (Option<String>, Option<String>) {
        let fact = Shovel { name: "s".to_owned(), value }.fact(vhost);
        (fact.source_queue, fact.destination_queue)
    }

    #[test]
    fn a_shovel_inside_the_broker_names_its_queues() {
        let local = json!({ "src-uri": "amqp://", "src-queue": "a", "dest-uri": ["amqp://else", "amqp:///%2F"], "dest-queue": "b" });
        assert_eq!(fact(local.clone(), "/"), (Some("a".to_owned()), Some("b".to_owned())));
        assert_eq!(fact(local, "shop"), (None, None));
        let by_key = json!({ "src-uri": "amqp:///shop?heartbeat=5", "src-queue": "a", "dest-uri": "amqp:///shop",
            "dest-exchange": "", "dest-exchange-key": "b" });
        assert_eq!(fact(by_key, "shop"), (Some("a".to_owned()), Some("b".to_owned())));
    }

    #[test]
    fn another_hosts_queue_and_an_exchange_are_no_queues_of_this_vhost() {
        let other = json!({ "src-uri": "amqp://u:p@other.example/%2f", "src-queue": "a", "dest-uri": "amqp://",
            "dest-exchange": "x", "dest-exchange-key": "b" });
        assert_eq!(fact(other, "/"), (None, None));
    }
}
