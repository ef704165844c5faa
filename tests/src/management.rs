//! The management HTTP API of a test's node.

use base64::Engine as _;
use serde_json::Value as Json;
use std::fmt;
use std::time::Duration;

/// A management API on a loopback port, with one user's credentials. One request, one connection.
pub struct Management {
    base: String,
    authorization: String,
    agent: ureq::Agent,
}

/// A request that did not succeed.
#[derive(Debug)]
pub struct ManagementError {
    /// The HTTP status, when there was an answer.
    pub status: Option<u16>,
    /// The answer's body, or why there was none.
    pub body: String,
    request: String,
}

impl fmt::Display for ManagementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{}: {status} {}", self.request, self.body),
            None => write!(f, "{}: {}", self.request, self.body),
        }
    }
}

impl std::error::Error for ManagementError {}

impl Management {
    /// The API at `127.0.0.1:port` as `user`.
    pub fn new(port: u16, user: &str, password: &str) -> Self {
        let credentials = base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(Duration::from_secs(120)))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .build();
        Self {
            base: format!("http://127.0.0.1:{port}"),
            authorization: format!("Basic {credentials}"),
            agent: config.into(),
        }
    }

    /// `GET path`; `null` when the body is empty.
    ///
    /// # Errors
    /// On any status outside 200–299, no answer, or a body that is no JSON.
    pub fn get(&self, path: &str) -> Result<Json, ManagementError> {
        self.request("GET", path, None)
    }

    /// `PUT path` with a JSON body.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn put(&self, path: &str, body: &Json) -> Result<Json, ManagementError> {
        self.request("PUT", path, Some(body))
    }

    /// `POST path` with a JSON body.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn post(&self, path: &str, body: &Json) -> Result<Json, ManagementError> {
        self.request("POST", path, Some(body))
    }

    /// `DELETE path`.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn delete(&self, path: &str) -> Result<Json, ManagementError> {
        self.request("DELETE", path, None)
    }

    fn request(&self, method: &str, path: &str, body: Option<&Json>) -> Result<Json, ManagementError> {
        let error = |status, body: String| ManagementError { status, body, request: format!("{method} {path}") };
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header("authorization", &self.authorization)
            .header("content-type", "application/json")
            .body(body.map(Json::to_string).unwrap_or_default())
            .map_err(|why| error(None, why.to_string()))?;
        let mut answer = self.agent.run(request).map_err(|why| error(None, why.to_string()))?;
        let status = answer.status().as_u16();
        let text = answer
            .body_mut()
            .with_config()
            .limit(256 * 1024 * 1024)
            .read_to_string()
            .map_err(|why| error(Some(status), why.to_string()))?;
        if !(200..300).contains(&status) {
            return Err(error(Some(status), text));
        }
        if text.is_empty() {
            return Ok(Json::Null);
        }
        serde_json::from_str(&text).map_err(|why| error(Some(status), format!("{why} in {text}")))
    }
}

/// `name` as one segment of a URL's path.
pub fn path_segment(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte.into()),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
