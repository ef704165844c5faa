//! Where a broker is: `amqp(s)://user:password@host:port/vhost?parameters`.
//!
//! The grammar is RabbitMQ's URI specification, read as people write it: no vhost, `/` and `//` all mean the vhost `/`, and
//! every other vhost is one percent-encoded path segment. No error of this module quotes the part of a URL where a password
//! can stand, not even when it stands in the wrong place.

mod management;
mod parse;
mod parts;

pub use management::ManagementUrl;
pub(crate) use parts::{percent_decode, percent_encode};

use crate::secret::Secret;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A broker's address with everything that is needed to log in.
///
/// ```
/// use acemq_live::BrokerUrl;
///
/// let url: BrokerUrl = "amqp://shop:s3cret@rabbit.example/orders".parse().unwrap();
/// assert_eq!((url.host(), url.port(), url.vhost()), ("rabbit.example", 5672, "orders"));
/// assert_eq!(url.to_string(), "amqp://shop:***@rabbit.example:5672/orders");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct BrokerUrl {
    host: String,
    port: u16,
    vhost: String,
    user: Option<String>,
    password: Option<Secret>,
    tls: Option<TlsOptions>,
    heartbeat: Option<u16>,
    connection_timeout: Option<Duration>,
}

/// How an `amqps://` connection is secured.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsOptions {
    /// `cacertfile`: the authorities to trust (PEM), in place of the system's.
    pub ca_file: Option<PathBuf>,
    /// `certfile` and `keyfile`: the client's own certificate chain and its key (PEM).
    pub client: Option<ClientCertificate>,
    /// `verify=verify_none`: takes any certificate. Only for tests: whoever answers gets the password.
    pub unverified: bool,
    /// `server_name_indication`: the name that the certificate must carry, when it is not the host.
    pub server_name: Option<String>,
}

/// A client's certificate and key, both PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate, then what signed it.
    pub certificate_file: PathBuf,
    /// The private key, not encrypted.
    pub key_file: PathBuf,
}

impl BrokerUrl {
    /// Host name or address; an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port: 5672 unless said, 5671 for `amqps`.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Virtual host.
    pub fn vhost(&self) -> &str {
        &self.vhost
    }

    /// The user who logs in; RabbitMQ's `guest` when nobody is named.
    pub fn user(&self) -> &str {
        self.user.as_deref().unwrap_or("guest")
    }

    /// The password; RabbitMQ's `guest` when none is given.
    pub fn password(&self) -> Secret {
        self.password.clone().unwrap_or_else(|| Secret::new("guest"))
    }

    /// TLS options when the scheme is `amqps`.
    pub fn tls(&self) -> Option<&TlsOptions> {
        self.tls.as_ref()
    }

    /// `heartbeat`, in seconds; 0 asks for none.
    pub fn heartbeat(&self) -> Option<u16> {
        self.heartbeat
    }

    /// `connection_timeout`.
    pub fn connection_timeout(&self) -> Option<Duration> {
        self.connection_timeout
    }

    /// This URL with user and password filled in where it names none, for credentials that stand in the environment.
    ///
    /// What the URL says wins; a user of the URL keeps its own password, or gets the given one when it has none.
    #[must_use]
    pub fn with_default_credentials(mut self, user: Option<String>, password: Option<Secret>) -> Self {
        self.user = self.user.or(user);
        self.password = self.password.or(password);
        self
    }

    /// This URL with another vhost.
    ///
    /// # Errors
    /// When the name is longer than AMQP can carry.
    pub fn with_vhost(mut self, vhost: impl Into<String>) -> Result<Self, UrlError> {
        self.vhost = parse::checked_vhost(vhost.into())?;
        Ok(self)
    }

    /// `host:port`, with the brackets that an IPv6 address needs.
    pub fn address(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl FromStr for BrokerUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        parse::parse(text)
    }
}

impl fmt::Display for BrokerUrl {
    /// Scheme, user, host, port and vhost; the password as `***`, and no parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.tls.is_some() { "amqps://" } else { "amqp://" })?;
        if let Some(user) = &self.user {
            f.write_str(&parts::percent_encode(user))?;
            if self.password.is_some() {
                f.write_str(":***")?;
            }
            f.write_str("@")?;
        }
        write!(f, "{}/", self.address())?;
        if self.vhost == "/" { Ok(()) } else { f.write_str(&parts::percent_encode(&self.vhost)) }
    }
}

impl fmt::Debug for BrokerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BrokerUrl({self})")
    }
}

/// A text that is no URL of a broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UrlError {
    message: String,
}

impl UrlError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UrlError {}
