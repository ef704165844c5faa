//! Why the management API could not be used, each reason as a sentence with a way out.

use crate::connect::{ConnectFailure, Speaks};
use crate::limits::spoken;
use std::fmt;
use std::time::Duration;

/// A call of the management API that failed: where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManagementError {
    /// The URL without the password.
    pub url: String,
    /// Why.
    pub failure: ManagementFailure,
}

/// Why the management API could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManagementFailure {
    /// No connection.
    Connect(ConnectFailure),
    /// No complete answer in time.
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// The connection ended before the answer.
    Lost {
        /// What is known.
        why: String,
    },
    /// Wrong user or password.
    LoginRefused {
        /// The user.
        user: String,
    },
    /// The user has no tag that opens the management API.
    NotAManagementUser {
        /// The user.
        user: String,
    },
    /// The user may not do this.
    Forbidden {
        /// The user.
        user: String,
        /// The vhost that it was about.
        vhost: String,
    },
    /// There is no such vhost.
    VhostMissing {
        /// The vhost.
        vhost: String,
    },
    /// What answers is no management API.
    NotTheApi,
    /// It sends the client elsewhere.
    Redirected {
        /// Where to, without credentials.
        to: Option<String>,
    },
    /// The API refused what was asked.
    Refused {
        /// HTTP status.
        status: u16,
        /// The broker's reason.
        reason: String,
    },
    /// The answer cannot be understood.
    Unreadable {
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for ManagementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot use the management API at {}: {}", self.url, self.failure)
    }
}

impl std::error::Error for ManagementError {}

impl fmt::Display for ManagementFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connect(ConnectFailure::NotListening { port }) => write!(
                f,
                "nothing listens on port {port}; RabbitMQ's management API is on 15672 (15671 with TLS) where the plugin is on: `rabbitmq-plugins enable rabbitmq_management`"
            ),
            Self::Connect(ConnectFailure::NotAmqp { speaks: Speaks::Plain }) => {
                f.write_str("that port speaks no TLS; write http:// in place of https://, or give the TLS port (RabbitMQ's is 15671)")
            }
            Self::Connect(ConnectFailure::NotAmqp { speaks: Speaks::Tls }) => {
                f.write_str("that port speaks TLS; write https:// in place of http://")
            }
            Self::Connect(failure) => failure.fmt(f),
            Self::Timeout { after } => {
                write!(f, "no complete answer within {}; check host and port and whether the broker is busy", spoken(*after))
            }
            Self::Lost { why } => write!(f, "the connection was lost: {why}"),
            Self::LoginRefused { user } => {
                write!(f, "the login of user \"{}\" was refused; check user and password", user.escape_debug())
            }
            Self::NotAManagementUser { user } => write!(
                f,
                "user \"{0}\" may not use the management API; give it a tag with `rabbitmqctl set_user_tags {0} management`",
                user.escape_debug()
            ),
            Self::Forbidden { user, vhost } => write!(
                f,
                "user \"{}\" may not do this in the vhost \"{}\"; it needs rights there, and for policies the tag policymaker",
                user.escape_debug(),
                vhost.escape_debug()
            ),
            Self::VhostMissing { vhost } => {
                write!(f, "there is no vhost \"{}\" that this user may see; check its name and the user's rights", vhost.escape_debug())
            }
            Self::NotTheApi => f.write_str(
                "what answers there is no RabbitMQ management API; check host, port (15672, or 15671 with TLS) and path",
            ),
            Self::Redirected { to: Some(to) } => {
                write!(f, "it redirects to {to}, which is not followed with credentials; give that address if it is the right one")
            }
            Self::Redirected { to: None } => f.write_str("it redirects elsewhere, which is not followed with credentials"),
            Self::Refused { status, reason } => write!(f, "it refused with status {status}: {reason}"),
            Self::Unreadable { why } => write!(f, "its answer cannot be read: {why}"),
        }
    }
}
