//! What a RabbitMQ of one version answers to a declaration, given what exists.
//!
//! The functions here follow the broker's own sequence of checks, because only the first failure is told: a plan that says
//! `invalid`, the embedded broker and the replay of recorded answers all call them.
//!
//! ```
//! use acemq_core::rabbitmq::{Conditions, QueueDeclaration, Version, declare_queue};
//!
//! let broker = Conditions::new(Version::new(4, 0, 5), "/");
//! let request = QueueDeclaration::durable("orders").with("x-queue-type", "quorum").with("x-message-ttl", -1);
//! let refused = declare_queue(&broker, None, &request).unwrap_err();
//! assert_eq!(refused.code, 406);
//! assert_eq!(
//!     refused.text,
//!     "PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'orders' in vhost '/': {value_negative,-1}"
//! );
//! ```

mod binding;
mod conditions;
mod create;
mod exchange;
mod messaging;
mod queue;
mod redeclare;
mod removal;
mod reply;
mod resource;

pub use binding::bind;
pub use conditions::{Conditions, Limit, PermissionError, Permissions};
pub use exchange::{declare_exchange, declare_exchange_passively};
pub use messaging::{
    ConsumeRequest, closed_channel, consume, get, login_refused, no_last_queue, publish, publish_immediate, purge,
    unknown_delivery, vhost_not_found, vhost_refused,
};
pub(crate) use queue::check_queue;
pub use queue::{ExistingQueue, Owner, declare_queue, declare_queue_passively, effective_request};
pub use removal::{DeleteQueue, delete_exchange, delete_queue, unbind};

use std::borrow::Cow;

/// What a refusal closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The channel; the connection and its other channels go on.
    Channel,
    /// The connection with all its channels and exclusive queues.
    Connection,
}

/// A broker's refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// AMQP's reply code, such as 406.
    pub code: u16,
    /// The whole reply text, `NAME - explanation`, cut where that version cuts it. Bytes that are no UTF-8 (a character cut
    /// in two by a version before 4.0.5, a value of arbitrary bytes) are shown as U+FFFD.
    pub text: String,
    /// What it closes.
    pub scope: Scope,
}

/// A name, key or other short string as it came over the wire.
///
/// # Errors
/// 501 on the connection when it is no UTF-8: no RabbitMQ takes such a string, whatever the method.
pub fn short_string(bytes: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(bytes).map_err(|_| reply::malformed_short_string())
}

/// The name as the broker takes it: carriage returns and line feeds are removed from the names of queues and exchanges.
///
/// Whoever looks up what exists under a requested name looks it up under this one.
pub fn stored_name(name: &str) -> Cow<'_, str> {
    if name.contains(['\r', '\n']) {
        Cow::Owned(name.chars().filter(|c| !matches!(c, '\r' | '\n')).collect())
    } else {
        Cow::Borrowed(name)
    }
}

#[cfg(test)]
mod tests;
