//! One node of a cluster after the other: whether it runs, where its own API is, and which bindings *it* knows.
//!
//! Any node of a cluster answers for all of them, but a binding that was changed through one node is known to another one
//! only when that has applied the change (measured on 4.3 with Khepri: 10 to 22 of 100 publishes right after it were routed by
//! the old table elsewhere, for up to 0.18 s, and for as long as a node hangs). Its own API reads its own table.

use super::http::{Conversation, Method};
use super::{Management, ManagementError, ManagementFailure, segment};
use acemq_core::definitions::{self, Overrides};
use acemq_core::rabbitmq::BindingDeclaration;
use serde::Deserialize;
use serde_json::{Value as Json, json};

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
    /// Nodes that it has lost sight of.
    #[serde(default)]
    pub partitions: Vec<String>,
}

/// Where a node's own API listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiListener {
    /// The node's name.
    pub node: String,
    /// The address that it listens on, `::` for all.
    pub address: String,
    /// The port.
    pub port: u16,
    /// Whether it speaks TLS.
    pub is_secured: bool,
}

/// Which node answered, and whether it knows a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenBinding {
    /// The node; `None` where one node said who it is and another one answered, as behind a load balancer.
    pub node: Option<String>,
    /// Whether the binding is there.
    pub bound: bool,
}

impl Management {
    /// The nodes of the cluster, running or not.
    ///
    /// # Errors
    /// When the API cannot be asked; [`ManagementFailure::Forbidden`] for a user who may not see nodes.
    pub async fn nodes(&self) -> Result<Vec<NodeStatus>, ManagementError> {
        self.fetch("/nodes?columns=name,running,mem_alarm,disk_free_alarm,partitions", "/").await
    }

    /// Where the running nodes' own APIs listen; empty for a user who may not see that.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn api_listeners(&self) -> Result<Vec<ApiListener>, ManagementError> {
        let overview = self.named(async {
            let mut conversation = self.http.open().await?;
            let reply = self.http.call(&mut conversation, Method::Get, "/overview?columns=listeners").await?;
            reply.expect_json(self.url.user(), "/")
        });
        let overview = overview.await?;
        let listeners = overview.get("listeners").and_then(Json::as_array).into_iter().flatten();
        Ok(listeners.filter_map(listener).collect())
    }

    /// Whether the node that answers knows a binding.
    ///
    /// # Errors
    /// When the API cannot be asked.
    pub async fn sees_binding(
        &self,
        vhost: &str,
        binding: &BindingDeclaration,
    ) -> Result<SeenBinding, ManagementError> {
        self.named(async {
            let mut conversation = self.http.open().await?;
            let before = self.answering(&mut conversation).await?;
            let path = format!("/exchanges/{}/{}/bindings/source", segment(vhost), segment(&binding.source));
            let reply = self.http.call(&mut conversation, Method::Get, &path).await?;
            // With its exchange a binding is gone too.
            let bound = !reply.is_missing() && holds(&reply.expect_ok(self.url.user(), vhost)?, vhost, binding)?;
            let after = self.answering(&mut conversation).await?;
            Ok(SeenBinding { node: (before == after).then_some(after), bound })
        })
        .await
    }

    /// The name of the node that answers.
    async fn answering(&self, conversation: &mut Conversation) -> Result<String, ManagementFailure> {
        let path = "/overview?disable_stats=true&columns=node";
        let overview = self.http.call(conversation, Method::Get, path).await?.expect_json(self.url.user(), "/")?;
        overview.get("node").and_then(Json::as_str).map(str::to_owned).ok_or(ManagementFailure::NotTheApi)
    }
}

fn listener(listener: &Json) -> Option<ApiListener> {
    let text = |key: &str| listener.get(key).and_then(Json::as_str);
    let is_secured = match text("protocol")? {
        "http" => false,
        "https" => true,
        _ => return None,
    };
    Some(ApiListener {
        node: text("node")?.to_owned(),
        address: text("ip_address").unwrap_or("::").to_owned(),
        port: listener.get("port").and_then(Json::as_u64).and_then(|port| port.try_into().ok())?,
        is_secured,
    })
}

/// Whether a list of bindings holds one; the engine's reader knows every shape that versions write.
fn holds(list: &[u8], vhost: &str, binding: &BindingDeclaration) -> Result<bool, ManagementFailure> {
    let unreadable = |why: String| ManagementFailure::Unreadable { why };
    let bindings: Json = serde_json::from_slice(list).map_err(|error| unreadable(error.to_string()))?;
    let document = json!({ "vhosts": [{ "name": vhost }], "bindings": bindings }).to_string();
    let read = definitions::read(document.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
    let state = read.state(Some(vhost), &Overrides::default()).map_err(|error| unreadable(error.to_string()))?;
    Ok(state.bindings.contains(binding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use acemq_core::value::Value;

    #[test]
    fn a_binding_is_found_by_key_destination_and_arguments() {
        let list = br#"[
            {"source":"x","vhost":"v","destination":"q","destination_type":"queue","routing_key":"a.*","arguments":{},"properties_key":"a.*"},
            {"source":"x","vhost":"v","destination":"q","destination_type":"exchange","routing_key":"b","arguments":{"n":5},"properties_key":"b~1"}
        ]"#;
        let mut with_argument = BindingDeclaration::exchange("x", "q", "b");
        with_argument.arguments.insert("n", Value::I64(5));
        for (binding, is_there) in [
            (BindingDeclaration::queue("x", "q", "a.*"), true),
            (BindingDeclaration::queue("x", "q", "a.#"), false),
            (BindingDeclaration::exchange("x", "q", "a.*"), false),
            (BindingDeclaration::exchange("x", "q", "b"), false),
            (with_argument, true),
        ] {
            assert_eq!(holds(list, "v", &binding), Ok(is_there), "{binding:?}");
        }
        assert_eq!(holds(b"[]", "v", &BindingDeclaration::queue("x", "q", "a.*")), Ok(false));
    }

    #[test]
    fn only_listeners_of_the_api_count() {
        let entry = |protocol: &str| json!({"node": "b@h", "protocol": protocol, "ip_address": "::", "port": 15672});
        let secured = |is_secured| ApiListener { node: "b@h".into(), address: "::".into(), port: 15672, is_secured };
        assert_eq!(listener(&entry("amqp")), None);
        assert_eq!(listener(&entry("http")), Some(secured(false)));
        assert_eq!(listener(&entry("https")), Some(secured(true)));
    }
}
