//! Why no connection could be had, each reason as a sentence with a way out.

use crate::limits::spoken;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// No connection: which broker, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectError {
    /// The broker's URL without the password.
    pub url: String,
    /// Why.
    pub failure: ConnectFailure,
}

/// Why no connection could be had.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The host's name has no address.
    HostUnknown {
        /// The name.
        host: String,
    },
    /// The host is there and nothing listens on the port.
    NotListening {
        /// The port.
        port: u16,
    },
    /// The host cannot be reached.
    Unreachable {
        /// What the system says.
        why: String,
    },
    /// It took too long.
    Timeout {
        /// The limit.
        after: Duration,
    },
    /// Wrong user or password.
    LoginRefused {
        /// The user.
        user: String,
    },
    /// The broker has no such vhost.
    VhostMissing {
        /// The vhost.
        vhost: String,
    },
    /// The user may not use the vhost.
    VhostRefused {
        /// The vhost.
        vhost: String,
        /// The user.
        user: String,
    },
    /// The broker refused for another reason, such as a connection limit or a vhost that is down.
    Refused {
        /// Reply code.
        code: u16,
        /// Reply text.
        text: String,
    },
    /// What answers speaks something else.
    NotAmqp {
        /// What it speaks.
        speaks: Speaks,
    },
    /// The broker's certificate is not trusted.
    Certificate {
        /// What is wrong with it, as a clause.
        why: String,
    },
    /// TLS failed for another reason.
    Tls {
        /// What happened.
        why: String,
    },
    /// A file of a certificate or a key cannot be used.
    TlsFile {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Anything else.
    Other {
        /// What is known.
        why: String,
    },
}

/// What was found on a port where a broker should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaks {
    /// A web server.
    Http,
    /// TLS, where plain AMQP was asked for.
    Tls,
    /// No TLS, where it was asked for.
    Plain,
    /// Another version of AMQP.
    OtherAmqp,
    /// It closed the connection without a word.
    Nothing,
    /// Something unknown.
    Unknown,
}

impl ConnectFailure {
    /// Whether trying again soon may help: the broker may be starting.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::HostUnknown { .. }
            | Self::NotListening { .. }
            | Self::Unreachable { .. }
            | Self::Timeout { .. }
            | Self::Refused { .. }
            | Self::NotAmqp { speaks: Speaks::Nothing }
            | Self::Other { .. } => true,
            Self::LoginRefused { .. }
            | Self::VhostMissing { .. }
            | Self::VhostRefused { .. }
            | Self::NotAmqp { .. }
            | Self::Certificate { .. }
            | Self::Tls { .. }
            | Self::TlsFile { .. } => false,
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {}: {}", self.url, self.failure)
    }
}

impl std::error::Error for ConnectError {}

impl fmt::Display for ConnectFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HostUnknown { host } => {
                write!(f, "the host name \"{}\" has no address; check its spelling and this machine's DNS", host.escape_debug())
            }
            Self::NotListening { port } => {
                write!(f, "nothing listens on port {port}; start the broker, or check host and port (RabbitMQ's are 5672, and 5671 for amqps)")
            }
            Self::Unreachable { why } => write!(f, "{why}; check host, port and the way there"),
            Self::Timeout { after } => write!(
                f,
                "no answer within {}; check host and port and whether a firewall is in between, or wait longer with ?connection_timeout=30000",
                spoken(*after)
            ),
            Self::LoginRefused { user } => {
                write!(f, "the broker refused the login of user \"{}\"; check user and password", user.escape_debug())?;
                if user == "guest" {
                    f.write_str(", and mind that guest may only log in from the broker's own machine")?;
                }
                Ok(())
            }
            Self::VhostMissing { vhost } => write!(
                f,
                "the broker has no vhost \"{0}\"; check its name in the URL (a / in it is written %2F), or create it with `rabbitmqctl add_vhost`",
                vhost.escape_debug()
            ),
            Self::VhostRefused { vhost, user } => write!(
                f,
                "user \"{}\" may not use the vhost \"{}\"; grant it with `rabbitmqctl set_permissions`",
                user.escape_debug(),
                vhost.escape_debug()
            ),
            Self::Refused { code, text } => {
                write!(f, "the broker refused the connection: Exception ({code}) Reason: \"{text}\"")
            }
            Self::NotAmqp { speaks } => f.write_str(match speaks {
                Speaks::Http => {
                    "a web server answers on that port; AMQP has a port of its own (5672, or 5671 for amqps), 15672 is the management API's"
                }
                Speaks::Tls => "that port speaks TLS; write amqps:// in place of amqp://",
                Speaks::Plain => "that port speaks no TLS; write amqp:// in place of amqps://, or give the TLS port (RabbitMQ's is 5671)",
                Speaks::OtherAmqp => "the broker does not speak AMQP 0-9-1 on that port",
                Speaks::Nothing => {
                    "the connection was closed without a word; is this the broker's AMQP port, and has the broker started completely?"
                }
                Speaks::Unknown => "what answers on that port is no AMQP broker; check host and port",
            }),
            Self::Certificate { why } => write!(f, "the broker's certificate is not trusted: {why}"),
            Self::Tls { why } => write!(f, "the TLS handshake failed: {why}"),
            Self::TlsFile { file, why } => write!(f, "the file {} cannot be used: {why}", file.display()),
            Self::Other { why } => f.write_str(why),
        }
    }
}
