//! The grammar that URLs with credentials have in common.
//!
//! No message quotes user, password, host or port: a password may stand where any of them is expected.

use super::{ClientCertificate, TlsOptions, UrlError};
use crate::secret::Secret;
use std::path::PathBuf;

/// What a URL is made of, before any of it is understood.
pub(super) struct Parts<'a> {
    /// Whose URL it is, for messages: `the broker's URL`.
    pub(super) what: &'static str,
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) host: String,
    pub(super) port: Option<u16>,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
}

/// Takes a URL apart. `shape` is what every refusal shows as the shape to write.
pub(super) fn split<'a>(text: &'a str, what: &'static str, shape: &str) -> Result<Parts<'a>, UrlError> {
    let Some((_, rest)) = text.trim().split_once("://") else {
        return Err(UrlError::new(format!("{what} has no scheme; write it as {shape}")));
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    if path.contains(['@', '#']) || query.contains(['@', '#']) {
        return Err(UrlError::new(format!(
            "{what} has an @ or a # behind the host; in a user name or password write / as %2F, ? as %3F, # as %23 and @ as %40"
        )));
    }
    let (userinfo, place) = match authority.rsplit_once('@') {
        Some((userinfo, place)) => (Some(userinfo), place),
        None => (None, authority),
    };
    let (user, password) = credentials(what, userinfo)?;
    let (host, port) = host_and_port(what, shape, place)?;
    Ok(Parts { what, user, password, host, port, path, query })
}

fn credentials(what: &str, userinfo: Option<&str>) -> Result<(Option<String>, Option<Secret>), UrlError> {
    let Some(userinfo) = userinfo else { return Ok((None, None)) };
    let (user, password) = match userinfo.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (userinfo, None),
    };
    let bad = |part: &str| {
        UrlError::new(format!(
            "the {part} in {what} has a % that starts no percent-encoding of UTF-8; write a plain % as %25"
        ))
    };
    let user = percent_decode(user).ok_or_else(|| bad("user name"))?;
    let password = match password {
        Some(text) => Some(Secret::new(percent_decode(text).ok_or_else(|| bad("password"))?)),
        None => None,
    };
    Ok(((!user.is_empty()).then_some(user), password))
}

fn host_and_port(what: &str, shape: &str, place: &str) -> Result<(String, Option<u16>), UrlError> {
    let (host, port) = if let Some(inner) = place.strip_prefix('[') {
        let Some((address, after)) = inner.split_once(']') else {
            return Err(UrlError::new(format!("the IPv6 address in {what} has no closing ]")));
        };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(UrlError::new(format!("the brackets in {what} hold no IPv6 address, as in [::1]")));
        }
        match after.strip_prefix(':') {
            Some(port) => (address, Some(port)),
            None if after.is_empty() => (address, None),
            None => return Err(UrlError::new(format!("behind the IPv6 address {what} needs :port or nothing"))),
        }
    } else {
        match place.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(UrlError::new(format!(
                    "the host in {what} has several colons; an IPv6 address stands in brackets, as in [::1]:5672"
                )));
            }
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    let port = match port {
        None | Some("") => None,
        // Never quoted: in `amqp://user:password` without a host this is the password.
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port > 0 => Some(port),
            _ => {
                return Err(UrlError::new(format!(
                    "the port in {what} is no number from 1 to 65535; write it as {shape}, and in a user name or password / as %2F, ? as %3F and # as %23"
                )));
            }
        },
    };
    let host = percent_decode(host)
        .ok_or_else(|| UrlError::new(format!("the host in {what} has a % that starts no percent-encoding")))?;
    if host.is_empty() {
        return Err(UrlError::new(format!("{what} names no host; write it as {shape}")));
    }
    if host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlError::new(format!("the host in {what} has a blank or a control character in it")));
    }
    Ok((host, port))
}

/// The parameters of a URL, each once.
pub(super) fn parameters<'a>(parts: &Parts<'a>) -> Result<Vec<(&'a str, String)>, UrlError> {
    let mut all: Vec<(&str, String)> = Vec::new();
    for parameter in parts.query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_decode(value).ok_or_else(|| {
            UrlError::new(format!("the parameter {} has a % that starts no percent-encoding", shown(name)))
        })?;
        if all.iter().any(|(seen, _)| *seen == name) {
            return Err(UrlError::new(format!("the parameter {} stands twice in {}", shown(name), parts.what)));
        }
        all.push((name, value));
    }
    Ok(all)
}

pub(super) fn unknown_parameter(what: &str, name: &str, known: &[&str]) -> UrlError {
    UrlError::new(format!("{what} has the unknown parameter {}; known are {}", shown(name), known.join(", ")))
}

/// The parameters that both kinds of URL have for TLS.
#[derive(Default)]
pub(super) struct TlsParameters {
    options: TlsOptions,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    /// The first of them.
    given: Option<String>,
}

impl TlsParameters {
    /// Takes a parameter if it is one for TLS.
    pub(super) fn take(&mut self, name: &str, value: String) -> Result<bool, UrlError> {
        match name {
            "cacertfile" => self.options.ca_file = Some(file(name, value)?),
            "certfile" => self.certificate_file = Some(file(name, value)?),
            "keyfile" => self.key_file = Some(file(name, value)?),
            "server_name_indication" => self.options.server_name = Some(value).filter(|name| !name.is_empty()),
            "verify" => {
                self.options.unverified = match value.as_str() {
                    "verify_peer" => false,
                    "verify_none" => true,
                    _ => return Err(UrlError::new("the parameter verify is verify_peer or verify_none")),
                }
            }
            "password" => {
                return Err(UrlError::new(
                    "the parameter password is for encrypted key files, which this client does not read; decrypt the key into a file of its own",
                ));
            }
            _ => return Ok(false),
        }
        self.given.get_or_insert_with(|| name.to_owned());
        Ok(true)
    }

    /// The options, when the scheme asks for TLS.
    pub(super) fn finish(self, secured: bool, scheme: &str) -> Result<Option<TlsOptions>, UrlError> {
        match (secured, &self.given) {
            (false, Some(parameter)) => {
                Err(UrlError::new(format!("the parameter {parameter} is for TLS; write {scheme} or leave it out")))
            }
            (false, None) => Ok(None),
            (true, _) => {
                let client = match (self.certificate_file, self.key_file) {
                    (Some(certificate_file), Some(key_file)) => Some(ClientCertificate { certificate_file, key_file }),
                    (None, None) => None,
                    (Some(_), None) => {
                        return Err(UrlError::new(
                            "certfile needs keyfile beside it: the private key of that certificate",
                        ));
                    }
                    (None, Some(_)) => {
                        return Err(UrlError::new("keyfile needs certfile beside it: the certificate of that key"));
                    }
                };
                Ok(Some(TlsOptions { client, ..self.options }))
            }
        }
    }
}

fn file(parameter: &str, value: String) -> Result<PathBuf, UrlError> {
    if value.is_empty() {
        return Err(UrlError::new(format!("the parameter {parameter} names no file")));
    }
    Ok(PathBuf::from(value))
}

/// A parameter's name for a message: cut, without control characters.
fn shown(name: &str) -> String {
    let short: String = name.chars().take(40).collect();
    format!("\"{}\"", short.escape_debug())
}

pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let high = char::from(rest.next()?).to_digit(16)?;
            let low = char::from(rest.next()?).to_digit(16)?;
            bytes.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

pub(crate) fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
