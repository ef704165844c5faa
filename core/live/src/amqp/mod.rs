//! The transport over amqprs.
//!
//! amqprs leaves a program to find out a good deal by itself; this module is where all of it is taken care of:
//!
//! | what amqprs does | what is done here |
//! |---|---|
//! | a refusal's code and text reach only a callback | a slot per channel and per connection, read when a call fails |
//! | a dropped call panics the connection's task | calls run in tasks of their own, callers wait for the reply |
//! | two calls at once on one channel swap answers | one task per channel |
//! | a channel that the broker closed keeps its number for ever | the connection is replaced in time ([`Connection::channels_to_lose`](crate::transport::Connection::channels_to_lose)) |
//! | names over 255 bytes panic | refused before they are sent |
//! | a refused login is "connection reset by peer" after 3 s | the port is looked at once more, without credentials |
//! | a heartbeat of 0 or 1 spins or disconnects at once | never asked for |
//! | no limit on connecting or waiting | every wait has one |

mod channel;
mod connection;
mod head;
mod probe;
mod stream;
mod table;

pub use channel::AmqpChannel;
pub use connection::AmqpConnection;
pub use head::Head;
pub use stream::{Stream, StreamError, StreamRecord};

use crate::connect::{ConnectError, ConnectFailure};
use crate::tls::Tls;
use crate::url::BrokerUrl;
use amqprs::connection::{Connection, OpenConnectionArguments};
use amqprs::security::SecurityCredentials;
use amqprs::tls::TlsAdaptor;
use std::time::Duration;

/// Seconds of silence after which a peer is suspected, unless the URL says otherwise.
const HEARTBEAT: u16 = 20;

/// A broker reached through amqprs.
#[derive(Clone)]
pub struct AmqpBroker {
    url: BrokerUrl,
    name: String,
    tls: Option<Tls>,
}

impl AmqpBroker {
    /// A broker by its URL. `name` is what the broker lists the connections under. Reads the certificate files of the URL.
    ///
    /// # Errors
    /// When a file of the URL cannot be used.
    pub fn new(url: BrokerUrl, name: impl Into<String>) -> Result<Self, ConnectError> {
        let tls = match url.tls() {
            None => None,
            Some(options) => {
                Some(Tls::new(url.host(), options).map_err(|failure| ConnectError { url: url.to_string(), failure })?)
            }
        };
        Ok(Self { url, name: name.into(), tls })
    }

    /// Where it is.
    pub fn url(&self) -> &BrokerUrl {
        &self.url
    }

    fn arguments(&self) -> OpenConnectionArguments {
        let url = &self.url;
        let host = if url.host().contains(':') { format!("[{}]", url.host()) } else { url.host().to_owned() };
        let mut arguments = OpenConnectionArguments::new(&host, url.port(), "", "");
        arguments
            .credentials(SecurityCredentials::new_plain(url.user(), url.password().reveal()))
            .virtual_host(url.vhost())
            .connection_name(&self.name)
            .heartbeat(heartbeat(url.heartbeat()));
        if let Some(tls) = &self.tls {
            arguments.tls_adaptor(TlsAdaptor::new(tls.connector.clone(), tls.server_name.clone()));
        }
        arguments.finish()
    }

    /// What a failed attempt means.
    async fn diagnose(&self, error: amqprs::error::Error) -> ConnectFailure {
        let text = self.url.password().redact(&error.to_string());
        match error {
            amqprs::error::Error::ConnectionOpenError(_) => match refused_open(&text) {
                Some((code, reason)) => self.refused(code, reason),
                None => ConnectFailure::Other { why: text },
            },
            _ => match self.probe().await {
                Some(Err(failure)) => failure,
                // The broker asks for the login and closed the connection after it had got it.
                Some(Ok(())) => ConnectFailure::LoginRefused { user: self.url.user().to_owned() },
                None => ConnectFailure::Timeout { after: probe::LIMIT },
            },
        }
    }

    async fn probe(&self) -> Option<Result<(), ConnectFailure>> {
        tokio::time::timeout(probe::LIMIT, probe::probe(&self.url, self.tls.as_ref())).await.ok()
    }

    fn refused(&self, code: u16, text: String) -> ConnectFailure {
        let vhost = self.url.vhost().to_owned();
        let user = self.url.user().to_owned();
        if code == 530 && text.ends_with("not found") {
            ConnectFailure::VhostMissing { vhost }
        } else if code == 530
            && text.contains("access to vhost")
            && text.contains("refused for user")
            && !text.contains("limit")
        {
            ConnectFailure::VhostRefused { vhost, user }
        } else if code == 403 {
            ConnectFailure::LoginRefused { user }
        } else {
            ConnectFailure::Refused { code, text }
        }
    }
}

impl crate::transport::Broker for AmqpBroker {
    type Connection = AmqpConnection;

    async fn connect(&self, limit: Duration) -> Result<AmqpConnection, ConnectError> {
        let limit = self.url.connection_timeout().unwrap_or(limit);
        let arguments = self.arguments();
        // In a task of its own: the caller may stop waiting.
        let opening = tokio::spawn(async move { AmqpConnection::start(Connection::open(&arguments).await?).await });
        let failure = match tokio::time::timeout(limit, opening).await {
            Ok(Ok(Ok(connection))) => return Ok(connection),
            Ok(Ok(Err(error))) => self.diagnose(error).await,
            Ok(Err(_)) => {
                ConnectFailure::Other { why: "the broker's greeting cannot be read by this client".to_owned() }
            }
            Err(_) => match self.probe().await {
                Some(Ok(()) | Err(ConnectFailure::Timeout { .. })) | None => ConnectFailure::Timeout { after: limit },
                Some(Err(failure)) => failure,
            },
        };
        Err(ConnectError { url: self.url.to_string(), failure })
    }
}

/// amqprs disconnects at once when neither side wants heartbeats, and spins when they are to come every second.
fn heartbeat(asked: Option<u16>) -> u16 {
    match asked {
        None => HEARTBEAT,
        Some(0) => u16::MAX,
        Some(seconds) => seconds.max(2),
    }
}

/// Code and text of the `connection.close` that answered `connection.open`; amqprs passes it on as a debug print.
fn refused_open(printed: &str) -> Option<(u16, String)> {
    let (_, after) = printed.split_once("reply_code: ")?;
    let (code, after) = after.split_once(',')?;
    let (_, after) = after.split_once("ShortStr(")?;
    let (_, after) = after.split_once(", \"")?;
    let (text, _) = after.split_once("\"), class_id")?;
    Some((code.parse().ok()?, text.replace("\\\"", "\"").replace("\\\\", "\\")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_that_amqprs_gets_wrong_are_never_asked_for() {
        assert_eq!(heartbeat(None), 20);
        assert_eq!(heartbeat(Some(0)), 65535);
        assert_eq!(heartbeat(Some(1)), 2);
        assert_eq!(heartbeat(Some(60)), 60);
    }

    #[test]
    fn a_refused_vhost_is_read_from_the_debug_print() {
        let printed = r#"AMQP connection open error: failed to open connection, reason: Close(MethodHeader { class_id: 10, method_id: 50 }, Close { reply_code: 530, reply_text: ShortStr(34, "NOT_ALLOWED - vhost a\"b not found"), class_id: 10, method_id: 40 })"#;
        assert_eq!(refused_open(printed), Some((530, "NOT_ALLOWED - vhost a\"b not found".to_owned())));
        assert_eq!(refused_open("something else"), None);
    }
}
