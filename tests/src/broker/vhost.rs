//! A vhost of a test's own.

use super::node::Node;
use crate::amqp::{Connection, Login};
use crate::management::path_segment;
use serde_json::{Value as Json, json};

/// One vhost of a [`Node`].
pub struct Vhost<'a> {
    node: &'a Node,
    name: String,
}

impl<'a> Vhost<'a> {
    pub(super) fn create(node: &'a Node, name: &str, metadata: &Json) -> Self {
        let vhost = Self { node, name: name.to_owned() };
        node.management().put(&format!("/api/vhosts/{}", path_segment(name)), metadata).unwrap();
        vhost.permit("guest", ".*", ".*", ".*");
        vhost
    }

    /// The node that it is on.
    pub fn node(&self) -> &'a Node {
        self.node
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `amqp://guest:guest@127.0.0.1:PORT/VHOST`.
    pub fn amqp_url(&self) -> String {
        format!("{}/{}", self.node.amqp_url(), path_segment(&self.name))
    }

    /// A connection to it as `guest`.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn connect(&self) -> Connection {
        self.connect_as("guest", "guest")
    }

    /// A connection to it as another user.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn connect_as(&self, user: &str, password: &str) -> Connection {
        let login =
            Login { vhost: self.name.clone(), user: user.into(), password: password.into(), ..Login::default() };
        self.node.try_connect(&login).unwrap()
    }

    /// Creates `user` (with itself as password and the management tag) or finds it, and gives it these three patterns here.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn user(&self, user: &str, configure: &str, write: &str, read: &str) {
        let path = format!("/api/users/{}", path_segment(user));
        self.node.management().put(&path, &json!({"password": user, "tags": "management"})).unwrap();
        self.permit(user, configure, write, read);
    }

    fn permit(&self, user: &str, configure: &str, write: &str, read: &str) {
        let path = format!("/api/permissions/{}/{}", path_segment(&self.name), path_segment(user));
        let permissions = json!({"configure": configure, "write": write, "read": read});
        self.node.management().put(&path, &permissions).unwrap();
    }

    /// Limits the number of queues (`max-queues`) or connections (`max-connections`).
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn set_limit(&self, limit: &str, value: i64) {
        let path = format!("/api/vhost-limits/{}/{limit}", path_segment(&self.name));
        self.node.management().put(&path, &json!({"value": value})).unwrap();
    }

    /// Sets a policy: `policy` holds `pattern`, `apply-to`, `priority`, `definition`.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn set_policy(&self, name: &str, policy: &Json) {
        let path = format!("/api/policies/{}/{}", path_segment(&self.name), path_segment(name));
        self.node.management().put(&path, policy).unwrap();
    }

    /// The vhost's definitions as the management API exports them.
    ///
    /// # Panics
    /// When the broker refuses it.
    pub fn definitions(&self) -> Json {
        self.node.management().get(&format!("/api/definitions/{}", path_segment(&self.name))).unwrap()
    }

    /// Imports definitions into it.
    ///
    /// # Panics
    /// When the broker refuses them.
    pub fn import(&self, definitions: &Json) {
        self.node.management().post(&format!("/api/definitions/{}", path_segment(&self.name)), definitions).unwrap();
    }
}
