//! One request after the other over one connection, with limits, without redirects, proxies or cookies.

use super::error::ManagementFailure;
use crate::connect::{ConnectFailure, Speaks};
use crate::dial::{dial, tls_error};
use crate::limits::Limits;
use crate::tls::{Tls, handshake_failure};
use crate::url::ManagementUrl;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue, LOCATION};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value as Json;
use std::error::Error as _;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::task::JoinHandle;

/// What an answer may hold: a million queues take about a quarter of it.
const LARGEST_BODY: usize = 1 << 30;

/// How long to look for the reason of a failure.
const PATIENCE: Duration = Duration::from_secs(3);

/// A server and how to log in there.
pub(super) struct Http {
    host: String,
    port: u16,
    tls: Option<Tls>,
    endpoint: String,
    authority: String,
    authorization: Option<HeaderValue>,
    limits: Limits,
}

/// An open connection.
pub(super) struct Conversation {
    sender: http1::SendRequest<Full<Bytes>>,
    /// Ends with the sender, or with the reason why the connection ended.
    served: JoinHandle<Result<(), hyper::Error>>,
}

/// What to do.
pub(super) enum Method {
    Get,
    Put(Json),
    Delete,
}

/// What came back.
pub(super) struct Reply {
    status: StatusCode,
    location: Option<String>,
    is_json: bool,
    body: Bytes,
}

impl Http {
    pub(super) fn new(url: &ManagementUrl, tls: Option<Tls>, limits: Limits) -> Self {
        let credentials = STANDARD.encode(format!("{}:{}", url.user(), url.password().reveal()));
        let authorization = HeaderValue::from_str(&format!("Basic {credentials}")).ok().map(|mut value| {
            value.set_sensitive(true);
            value
        });
        let endpoint = url.endpoint();
        let authority = endpoint.split_once("://").map_or(endpoint.as_str(), |(_, rest)| rest);
        let (authority, path) = authority.split_at(authority.find('/').unwrap_or(authority.len()));
        Self {
            host: url.host().to_owned(),
            port: url.port(),
            tls,
            authority: authority.to_owned(),
            endpoint: path.to_owned(),
            authorization,
            limits,
        }
    }

    /// Connects.
    pub(super) async fn open(&self) -> Result<Conversation, ManagementFailure> {
        let connecting = async {
            let stream = dial(&self.host, self.port, self.tls.as_ref()).await.map_err(ManagementFailure::Connect)?;
            let handshake = http1::handshake(TokioIo::new(stream)).await;
            let (sender, connection) = handshake.map_err(|error| ManagementFailure::Lost { why: error.to_string() })?;
            Ok(Conversation { sender, served: tokio::spawn(connection) })
        };
        within(self.limits.connect, connecting).await
    }

    /// Sends one request and reads the whole answer.
    pub(super) async fn call(
        &self,
        conversation: &mut Conversation,
        method: Method,
        path: &str,
    ) -> Result<Reply, ManagementFailure> {
        let (name, body) = match method {
            Method::Get => ("GET", None),
            Method::Put(body) => ("PUT", Some(body.to_string())),
            Method::Delete => ("DELETE", None),
        };
        let mut request = Request::builder()
            .method(name)
            .uri(format!("{}{path}", self.endpoint))
            .header(HOST, &self.authority)
            .header(ACCEPT, "application/json");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let request = request
            .body(Full::new(Bytes::from(body.unwrap_or_default())))
            .map_err(|error| ManagementFailure::Unreadable { why: error.to_string() })?;
        let asking = async {
            let sent = match conversation.sender.ready().await {
                Ok(()) => conversation.sender.send_request(request).await,
                Err(error) => Err(error),
            };
            let response = match sent {
                Ok(response) => response,
                Err(error) => return Err(self.ended(conversation, error).await),
            };
            let header = |name| response.headers().get(&name).and_then(|value| value.to_str().ok().map(str::to_owned));
            let (status, location) = (response.status(), header(LOCATION));
            let is_json = header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("application/json"));
            let body = Limited::new(response.into_body(), LARGEST_BODY).collect().await.map_err(|error| {
                if error.is::<LengthLimitError>() {
                    ManagementFailure::Unreadable { why: "it is larger than 1 GiB".to_owned() }
                } else {
                    ManagementFailure::Lost { why: "it ended in the middle of an answer".to_owned() }
                }
            })?;
            Ok(Reply { status, location, is_json, body: body.to_bytes() })
        };
        within(self.limits.listing, asking).await
    }

    /// Why there was no answer: a request that ends with its connection does not know, the connection does.
    async fn ended(&self, conversation: &mut Conversation, error: hyper::Error) -> ManagementFailure {
        let reason = match tokio::time::timeout(PATIENCE, &mut conversation.served).await {
            Ok(Ok(Err(reason))) => reason,
            _ => error,
        };
        let of_stream = reason.source().and_then(|source| source.downcast_ref::<std::io::Error>());
        match of_stream.and_then(tls_error) {
            // With TLS 1.3 a client certificate is refused only now.
            Some(error) => ManagementFailure::Connect(handshake_failure(error)),
            None if reason.is_parse() && self.tls.is_none() && self.speaks_tls().await => {
                ManagementFailure::Connect(ConnectFailure::NotAmqp { speaks: Speaks::Tls })
            }
            None if reason.is_parse() => ManagementFailure::NotTheApi,
            None if self.tls.is_some() => ManagementFailure::Lost {
                why: format!(
                    "{reason}; if the server wants a client certificate, give one that it trusts with ?certfile= and ?keyfile="
                ),
            },
            None => ManagementFailure::Lost { why: reason.to_string() },
        }
    }

    /// Whether the first thing that the port answers is a TLS record.
    async fn speaks_tls(&self) -> bool {
        let looking = async {
            let mut stream = dial(&self.host, self.port, None).await.ok()?;
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.ok()?;
            let mut start = [0; 2];
            stream.read_exact(&mut start).await.ok()?;
            Some(matches!(start, [0x15 | 0x16, 3]))
        };
        tokio::time::timeout(PATIENCE, looking).await.ok().flatten().unwrap_or(false)
    }
}

async fn within<T>(
    limit: Duration,
    asked: impl Future<Output = Result<T, ManagementFailure>>,
) -> Result<T, ManagementFailure> {
    tokio::time::timeout(limit, asked).await.unwrap_or(Err(ManagementFailure::Timeout { after: limit }))
}

impl Reply {
    pub(super) fn is_missing(&self) -> bool {
        self.status == StatusCode::NOT_FOUND && self.is_json
    }

    /// Whether the user may not do this, though the login was right. RabbitMQ spells that with an s, a wrong login with a z.
    fn is_forbidden(&self) -> bool {
        match self.status {
            StatusCode::FORBIDDEN => true,
            StatusCode::UNAUTHORIZED => self.text("error").as_deref() == Some("not_authorised"),
            _ => false,
        }
    }

    /// The body of an answer that means success.
    pub(super) fn expect_ok(self, user: &str, vhost: &str) -> Result<Bytes, ManagementFailure> {
        if self.status.is_success() {
            return if self.is_json { Ok(self.body) } else { Err(ManagementFailure::NotTheApi) };
        }
        Err(self.failure(user, vhost))
    }

    pub(super) fn expect_json(self, user: &str, vhost: &str) -> Result<Json, ManagementFailure> {
        let body = self.expect_ok(user, vhost)?;
        serde_json::from_slice(&body).map_err(|error| ManagementFailure::Unreadable { why: error.to_string() })
    }

    /// Success whatever the body holds.
    pub(super) fn expect_done(self, user: &str, vhost: &str) -> Result<(), ManagementFailure> {
        if self.status.is_success() { Ok(()) } else { Err(self.failure(user, vhost)) }
    }

    fn failure(&self, user: &str, vhost: &str) -> ManagementFailure {
        let (user, vhost) = (user.to_owned(), vhost.to_owned());
        match self.status {
            StatusCode::UNAUTHORIZED if self.text("reason").as_deref() == Some("Not management user") => {
                ManagementFailure::NotAManagementUser { user }
            }
            _ if self.is_forbidden() => ManagementFailure::Forbidden { user, vhost },
            StatusCode::UNAUTHORIZED => ManagementFailure::LoginRefused { user },
            StatusCode::NOT_FOUND if self.is_json => ManagementFailure::VhostMissing { vhost },
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_ACCEPTABLE => {
                ManagementFailure::NotTheApi
            }
            status if status.is_redirection() => {
                ManagementFailure::Redirected { to: self.location.as_deref().map(without_credentials) }
            }
            status => ManagementFailure::Refused { status: status.as_u16(), reason: self.reason() },
        }
    }

    /// One text of an error's JSON, in one line.
    fn text(&self, key: &str) -> Option<String> {
        let json: Json = serde_json::from_slice(&self.body).ok()?;
        json.get(key)?.as_str().map(one_line)
    }

    fn reason(&self) -> String {
        let said = self.text("reason").or_else(|| self.text("error"));
        said.unwrap_or_else(|| self.status.canonical_reason().unwrap_or("no reason given").to_owned())
    }
}

/// The broker escapes its reasons for HTML and breaks them into lines.
fn one_line(text: &str) -> String {
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn without_credentials(location: &str) -> String {
    match location.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
            let path = path.split_once(['?', '#']).map_or(path, |(path, _)| path);
            format!("{scheme}://{place}{path}")
        }
        None => location.split_once('?').map_or(location, |(path, _)| path).to_owned(),
    }
    .chars()
    .filter(|c| !c.is_control())
    .take(200)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_is_shown_without_credentials() {
        for (location, shown) in [
            ("https://u:p@sso.example/login?token=x", "https://sso.example/login"),
            ("/login?next=/api", "/login"),
            ("http://h", "http://h"),
        ] {
            assert_eq!(without_credentials(location), shown);
        }
    }

    #[test]
    fn a_reason_is_one_line_of_plain_text() {
        let reason = "Validation failed\n\n[{&lt;&lt;\"max-lengthh\"&gt;&gt;,5}] are not recognised policy settings\n";
        assert_eq!(one_line(reason), r#"Validation failed [{<<"max-lengthh">>,5}] are not recognised policy settings"#);
    }
}
