//! Where a management API is: `http(s)://user:password@host:port/prefix?parameters`.

use super::parts::{TlsParameters, parameters, percent_encode, split, unknown_parameter};
use super::{TlsOptions, UrlError};
use crate::secret::Secret;
use std::fmt;
use std::str::FromStr;

const WHAT: &str = "the management URL";
const SHAPE: &str = "http://user:password@host:15672";
const KNOWN: [&str; 4] = ["cacertfile", "certfile", "keyfile", "verify"];

/// The address of a RabbitMQ management API with the credentials for it.
///
/// A trailing `/api` is understood, and so is a path in front of it (`management.path_prefix`).
///
/// ```
/// use acemq_live::ManagementUrl;
///
/// let url: ManagementUrl = "https://ops:s3cret@rabbit.example:15671/broker/api/".parse().unwrap();
/// assert_eq!(url.to_string(), "https://ops:***@rabbit.example:15671/broker");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ManagementUrl {
    host: String,
    port: Option<u16>,
    prefix: String,
    user: Option<String>,
    password: Option<Secret>,
    tls: Option<TlsOptions>,
}

impl ManagementUrl {
    /// Host name or address; an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Port: 80 unless said, 443 for `https`. RabbitMQ's own are 15672 and 15671.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(if self.tls.is_some() { 443 } else { 80 })
    }

    /// The user who logs in; RabbitMQ's `guest` when nobody is named.
    pub fn user(&self) -> &str {
        self.user.as_deref().unwrap_or("guest")
    }

    /// The password; RabbitMQ's `guest` when none is given.
    pub fn password(&self) -> Secret {
        self.password.clone().unwrap_or_else(|| Secret::new("guest"))
    }

    /// TLS options when the scheme is `https`.
    pub fn tls(&self) -> Option<&TlsOptions> {
        self.tls.as_ref()
    }

    /// This URL with user and password filled in where it names none.
    #[must_use]
    pub fn with_default_credentials(mut self, user: Option<String>, password: Option<Secret>) -> Self {
        self.user = self.user.or(user);
        self.password = self.password.or(password);
        self
    }

    /// User and password of another address, where this one has none.
    #[must_use]
    pub fn with_credentials_of(self, other: &Self) -> Self {
        self.with_default_credentials(other.user.clone(), other.password.clone())
    }

    /// The same API on another host and port: user, password, TLS options and path stay.
    #[must_use]
    pub fn at(mut self, host: &str, port: u16) -> Self {
        host.clone_into(&mut self.host);
        self.port = Some(port);
        self
    }

    /// The address of the API without credentials, such as `http://localhost:15672/api`.
    pub(crate) fn endpoint(&self) -> String {
        format!("{}{}{}/api", self.scheme(), self.place(), self.prefix)
    }

    fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https://" } else { "http://" }
    }

    fn place(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        match self.port {
            Some(port) => format!("{host}:{port}"),
            None => host,
        }
    }
}

impl FromStr for ManagementUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let secured = match text.trim().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
            None | Some("http") => false,
            Some("https") => true,
            Some("amqp" | "amqps") => {
                return Err(UrlError::new(format!(
                    "{WHAT} is the address of AMQP; the management API has its own, as in {SHAPE}"
                )));
            }
            Some(_) => {
                return Err(UrlError::new(format!(
                    "{WHAT} does not start with http:// or https://; write it as {SHAPE}"
                )));
            }
        };
        let parts = split(text, WHAT, SHAPE)?;
        let path = parts.path.trim_end_matches('/');
        let prefix = path.strip_suffix("/api").unwrap_or(path).trim_end_matches('/');
        if prefix.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(UrlError::new(format!("the path in {WHAT} has a blank or a control character in it")));
        }
        let mut tls = TlsParameters::default();
        for (name, value) in parameters(&parts)? {
            if name == "server_name_indication" || !tls.take(name, value)? {
                return Err(unknown_parameter(WHAT, name, &KNOWN));
            }
        }
        Ok(Self {
            tls: tls.finish(secured, "https://")?,
            prefix: prefix.to_owned(),
            host: parts.host,
            port: parts.port,
            user: parts.user,
            password: parts.password,
        })
    }
}

impl fmt::Display for ManagementUrl {
    /// Scheme, user, host, port and prefix; the password as `***`, and no parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scheme())?;
        if let Some(user) = &self.user {
            f.write_str(&percent_encode(user))?;
            if self.password.is_some() {
                f.write_str(":***")?;
            }
            f.write_str("@")?;
        }
        write!(f, "{}{}", self.place(), self.prefix)
    }
}

impl fmt::Debug for ManagementUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManagementUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_is_found_whatever_is_written_behind_the_host() {
        for (text, endpoint) in [
            ("http://localhost:15672", "http://localhost:15672/api"),
            ("http://localhost:15672/", "http://localhost:15672/api"),
            ("HTTP://localhost:15672/api/", "http://localhost:15672/api"),
            ("https://u:p@[::1]/rabbit/api", "https://[::1]/rabbit/api"),
            ("https://h/rabbit?verify=verify_none", "https://h/rabbit/api"),
        ] {
            assert_eq!(text.parse::<ManagementUrl>().unwrap().endpoint(), endpoint);
        }
    }

    #[test]
    fn no_error_and_no_print_shows_a_password() {
        let secret = "Tr0ub4dor";
        for text in [
            format!("http://user:{secret}"),
            format!("user:{secret}@host"),
            format!("ftp://user:{secret}@host"),
            format!("amqp://user:{secret}@host"),
            format!("http://user:{secret}/x@host"),
            format!("http://user:{secret}@host/?cacertfile=x"),
            format!("https://user:{secret}@host/?server_name_indication=x"),
        ] {
            let error = text.parse::<ManagementUrl>().expect_err(&text);
            assert!(!format!("{error} {error:?}").contains(secret), "{text}: {error}");
        }
        let url: ManagementUrl = format!("http://user:{secret}@host:15672/p").parse().unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "http://user:***@host:15672/p ManagementUrl(http://user:***@host:15672/p)"
        );
    }
}
