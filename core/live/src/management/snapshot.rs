//! A vhost's state, put together from the API's lists.
//!
//! The lists become one document of the shape that an export has, and the engine's reader takes it from there.

use super::http::{Conversation, Method};
use super::{Management, ManagementFailure, segment};
use acemq_core::definitions::{self, Overrides};
use acemq_core::rabbitmq;
use acemq_core::state::State;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// What the API shows of queues beside what exports have.
#[derive(Deserialize)]
struct Ownership {
    name: String,
    #[serde(default)]
    exclusive: bool,
}

pub(super) async fn take(
    management: &Management,
    conversation: &mut Conversation,
    broker: rabbitmq::Broker,
    vhost: &str,
) -> Result<State, ManagementFailure> {
    let mut lists = Lists { management, conversation, vhost };
    let queues = lists.get("queues", "name,vhost,durable,auto_delete,exclusive,arguments").await?;
    let exchanges = lists.get("exchanges", "name,vhost,type,durable,auto_delete,internal,arguments").await?;
    let bindings = lists.get("bindings", "vhost,source,destination,destination_type,routing_key,arguments").await?;
    let policies = lists.get("policies", "").await?;
    let operator_policies = lists.parse("operator-policies").await?;
    let limits = lists.parse("vhost-limits").await?;
    let settings = lists.settings().await?;

    let parameters: Vec<Json> =
        operator_policies.iter().map(operator_policy).chain(limits.iter().map(vhost_limits)).collect();
    let mut document = Vec::with_capacity(queues.len() + exchanges.len() + bindings.len() + policies.len() + 1024);
    for (key, value) in [
        ("{\"vhosts\":", json!([settings]).to_string().as_bytes()),
        (",\"parameters\":", json!(parameters).to_string().as_bytes()),
        (",\"queues\":", &queues),
        (",\"exchanges\":", &exchanges),
        (",\"bindings\":", &bindings),
        (",\"policies\":", &policies),
    ] {
        document.extend_from_slice(key.as_bytes());
        document.extend_from_slice(value);
    }
    document.push(b'}');

    let unreadable = |why: String| ManagementFailure::Unreadable { why };
    let overrides = Overrides { version: broker.version, ..Overrides::default() };
    let definitions = definitions::read(&document).map_err(|error| unreadable(error.to_string()))?;
    let mut state = definitions.state(Some(vhost), &overrides).map_err(|error| unreadable(error.to_string()))?;
    state.broker = broker;
    // What every vhost has is no part of a state; the prefix is reserved.
    state.exchanges.retain(|name, _| !name.is_empty() && !name.starts_with("amq."));
    let owned: Vec<Ownership> = serde_json::from_slice(&queues).map_err(|error| unreadable(error.to_string()))?;
    for queue in owned.into_iter().filter(|queue| queue.exclusive) {
        if let Some(declaration) = state.queues.get_mut(&queue.name) {
            declaration.exclusive = true;
        }
    }
    state.exclusive_queues_visible = true;
    state.internal_exchanges_visible = true;
    Ok(state)
}

struct Lists<'a> {
    management: &'a Management,
    conversation: &'a mut Conversation,
    vhost: &'a str,
}

impl Lists<'_> {
    /// A list of the vhost as the broker sends it.
    async fn get(&mut self, kind: &str, columns: &str) -> Result<Bytes, ManagementFailure> {
        let columns = if columns.is_empty() { String::new() } else { format!("&columns={columns}") };
        let path = format!("/{kind}/{}?disable_stats=true{columns}", segment(self.vhost));
        let reply = self.management.http.call(self.conversation, Method::Get, &path).await?;
        reply.expect_ok(self.management.url.user(), self.vhost)
    }

    async fn parse(&mut self, kind: &str) -> Result<Vec<Json>, ManagementFailure> {
        let body = self.get(kind, "").await?;
        serde_json::from_slice(&body).map_err(|error| ManagementFailure::Unreadable { why: format!("{kind}: {error}") })
    }

    /// The vhost's own entry, with its metadata. A user who may only see the vhost gets it from the list.
    async fn settings(&mut self) -> Result<Json, ManagementFailure> {
        let path = "/vhosts?columns=name,metadata,default_queue_type,limits";
        let vhosts = self.management.list(self.conversation, path).await?;
        let own = vhosts.into_iter().find(|entry| entry.get("name").and_then(Json::as_str) == Some(self.vhost));
        Ok(own.unwrap_or_else(|| json!({"name": self.vhost})))
    }
}

/// An operator policy as exports write it: a runtime parameter.
fn operator_policy(policy: &Json) -> Json {
    let field = |key: &str| policy.get(key).cloned().unwrap_or_default();
    json!({
        "component": "operator_policy", "name": field("name"), "vhost": field("vhost"),
        "value": {
            "pattern": field("pattern"), "apply-to": field("apply-to"), "priority": field("priority"),
            "definition": field("definition"),
        },
    })
}

/// A vhost's limits as exports write them: a runtime parameter.
fn vhost_limits(limits: &Json) -> Json {
    let field = |key: &str| limits.get(key).cloned().unwrap_or_default();
    json!({"component": "vhost-limits", "name": "limits", "vhost": field("vhost"), "value": field("value")})
}
