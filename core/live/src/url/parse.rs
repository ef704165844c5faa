//! The grammar of a broker's URL.

use super::{BrokerUrl, ClientCertificate, TlsOptions, UrlError};
use crate::secret::Secret;
use std::path::PathBuf;
use std::time::Duration;

/// What every refusal shows as the shape to write.
const SHAPE: &str = "amqp://user:password@host:5672/vhost";

/// AMQP carries a vhost as a short string.
const LONGEST_VHOST: usize = 255;

pub(super) fn parse(text: &str) -> Result<BrokerUrl, UrlError> {
    let text = text.trim();
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(UrlError::new(format!("the broker's URL has no scheme; write it as {SHAPE}")));
    };
    let secured = match scheme.to_ascii_lowercase().as_str() {
        "amqp" => false,
        "amqps" | "amqp+ssl" => true,
        _ => return Err(unknown_scheme(scheme)),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    if path.contains('@') || path.contains('#') || query.is_some_and(|query| query.contains(['#', '@'])) {
        return Err(UrlError::new(
            "the broker's URL has an @ or a # behind the host; in a user name or password write / as %2F, ? as %3F, # as %23 and @ as %40",
        ));
    }

    let (userinfo, place) = match authority.rsplit_once('@') {
        Some((userinfo, place)) => (Some(userinfo), place),
        None => (None, authority),
    };
    let (user, password) = credentials(userinfo)?;
    let (host, port) = host_and_port(place, if secured { 5671 } else { 5672 })?;

    let mut url = BrokerUrl {
        host,
        port,
        vhost: vhost(path)?,
        user,
        password,
        tls: secured.then(TlsOptions::default),
        heartbeat: None,
        connection_timeout: None,
    };
    if let Some(query) = query {
        parameters(&mut url, query)?;
    }
    Ok(url)
}

fn unknown_scheme(scheme: &str) -> UrlError {
    // Something like `user:password@host` may stand before the "://"; only a plain word is quoted.
    let plain = scheme.len() <= 16 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-'));
    match (plain, scheme) {
        (true, "http" | "https") => UrlError::new(format!(
            "{scheme}:// is the address of the management API, not of AMQP; give it as the management URL, and the broker as {SHAPE}"
        )),
        (true, _) => {
            UrlError::new(format!("{scheme}:// is no scheme of a broker; write amqp:// or amqps://, as in {SHAPE}"))
        }
        (false, _) => {
            UrlError::new(format!("the broker's URL does not start with amqp:// or amqps://; write it as {SHAPE}"))
        }
    }
}

fn credentials(userinfo: Option<&str>) -> Result<(Option<String>, Option<Secret>), UrlError> {
    let Some(userinfo) = userinfo else { return Ok((None, None)) };
    let (user, password) = match userinfo.split_once(':') {
        Some((user, password)) => (user, Some(password)),
        None => (userinfo, None),
    };
    let bad = |what: &str| {
        UrlError::new(format!(
            "the {what} in the broker's URL has a % that starts no percent-encoding of UTF-8; write a plain % as %25"
        ))
    };
    let user = percent_decode(user).ok_or_else(|| bad("user name"))?;
    let password = match password {
        Some(text) => Some(Secret::new(percent_decode(text).ok_or_else(|| bad("password"))?)),
        None => None,
    };
    Ok(((!user.is_empty()).then_some(user), password))
}

fn host_and_port(place: &str, default_port: u16) -> Result<(String, u16), UrlError> {
    let (host, port) = if let Some(inner) = place.strip_prefix('[') {
        let Some((address, after)) = inner.split_once(']') else {
            return Err(UrlError::new("the IPv6 address in the broker's URL has no closing ]"));
        };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return Err(UrlError::new(
                "the brackets in the broker's URL hold no IPv6 address, as in amqp://[::1]:5672/",
            ));
        }
        match after.strip_prefix(':') {
            Some(port) => (address, Some(port)),
            None if after.is_empty() => (address, None),
            None => return Err(UrlError::new("behind the IPv6 address the broker's URL needs :port or nothing")),
        }
    } else {
        match place.split_once(':') {
            Some((_, port)) if port.contains(':') => {
                return Err(UrlError::new(
                    "the host in the broker's URL has several colons; an IPv6 address stands in brackets, as in amqp://[::1]:5672/",
                ));
            }
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        }
    };
    let port = match port {
        None | Some("") => default_port,
        // Never quoted: in `amqp://user:password` without a host this is the password.
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port > 0 => port,
            _ => {
                return Err(UrlError::new(format!(
                    "the port in the broker's URL is no number from 1 to 65535; write the URL as {SHAPE}, and in a user name or password / as %2F, ? as %3F and # as %23"
                )));
            }
        },
    };
    let host = percent_decode(host)
        .ok_or_else(|| UrlError::new("the host in the broker's URL has a % that starts no percent-encoding"))?;
    if host.is_empty() {
        return Err(UrlError::new(format!("the broker's URL names no host; write it as {SHAPE}")));
    }
    if host.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(UrlError::new("the host in the broker's URL has a blank or a control character in it"));
    }
    Ok((host, port))
}

fn vhost(path: &str) -> Result<String, UrlError> {
    match path.strip_prefix('/').unwrap_or(path) {
        "" | "/" => Ok("/".to_owned()),
        segment if segment.contains('/') => {
            Err(UrlError::new("the vhost in the broker's URL has a / in it; write it as %2F, as in amqp://host/team%2Forders"))
        }
        segment => checked_vhost(percent_decode(segment).ok_or_else(|| {
            UrlError::new("the vhost in the broker's URL has a % that starts no percent-encoding of UTF-8; write a plain % as %25")
        })?),
    }
}

pub(super) fn checked_vhost(vhost: String) -> Result<String, UrlError> {
    if vhost.len() > LONGEST_VHOST {
        return Err(UrlError::new(format!(
            "the vhost has {} bytes; AMQP carries at most {LONGEST_VHOST}",
            vhost.len()
        )));
    }
    Ok(vhost)
}

/// The parameters that this client honours, and those of other clients that change nothing here.
const KNOWN: [&str; 7] =
    ["cacertfile", "certfile", "connection_timeout", "heartbeat", "keyfile", "server_name_indication", "verify"];
const WITHOUT_EFFECT: [&str; 5] = ["channel_max", "depth", "fail_if_no_peer_cert", "frame_max", "name"];

fn parameters(url: &mut BrokerUrl, query: &str) -> Result<(), UrlError> {
    let (mut certificate, mut key) = (None, None);
    let mut seen = Vec::new();
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_decode(value).ok_or_else(|| {
            UrlError::new(format!("the parameter {} has a % that starts no percent-encoding", shown(name)))
        })?;
        if seen.contains(&name) {
            return Err(UrlError::new(format!("the parameter {} stands twice in the broker's URL", shown(name))));
        }
        seen.push(name);
        match name {
            "heartbeat" => {
                url.heartbeat = Some(value.parse().map_err(|_| {
                    UrlError::new(
                        "the parameter heartbeat is no number of seconds from 0 to 65535, as in ?heartbeat=10",
                    )
                })?);
            }
            "connection_timeout" => {
                let ms: u32 = value.parse().ok().filter(|ms| *ms > 0).ok_or_else(|| {
                    UrlError::new(
                        "the parameter connection_timeout is no number of milliseconds, as in ?connection_timeout=5000",
                    )
                })?;
                url.connection_timeout = Some(Duration::from_millis(ms.into()));
            }
            "cacertfile" => tls(url, name)?.ca_file = Some(file(name, value)?),
            "certfile" => {
                tls(url, name)?;
                certificate = Some(file(name, value)?);
            }
            "keyfile" => {
                tls(url, name)?;
                key = Some(file(name, value)?);
            }
            "server_name_indication" => tls(url, name)?.server_name = Some(value).filter(|name| !name.is_empty()),
            "verify" => {
                tls(url, name)?.unverified = match value.as_str() {
                    "verify_peer" => false,
                    "verify_none" => true,
                    _ => return Err(UrlError::new("the parameter verify is verify_peer or verify_none")),
                }
            }
            "auth_mechanism" if value.eq_ignore_ascii_case("plain") => {}
            "auth_mechanism" => {
                return Err(UrlError::new(
                    "the parameter auth_mechanism can only be plain: this client logs in by user and password",
                ));
            }
            "password" => {
                return Err(UrlError::new(
                    "the parameter password is for encrypted key files, which this client does not read; decrypt the key into a file of its own",
                ));
            }
            other if WITHOUT_EFFECT.contains(&other) => {}
            other => {
                return Err(UrlError::new(format!(
                    "the broker's URL has the unknown parameter {}; known are {}",
                    shown(other),
                    KNOWN.join(", ")
                )));
            }
        }
    }
    let client = match (certificate, key) {
        (Some(certificate_file), Some(key_file)) => Some(ClientCertificate { certificate_file, key_file }),
        (None, None) => None,
        (Some(_), None) => {
            return Err(UrlError::new("certfile needs keyfile beside it: the private key of that certificate"));
        }
        (None, Some(_)) => return Err(UrlError::new("keyfile needs certfile beside it: the certificate of that key")),
    };
    if let Some(options) = &mut url.tls {
        options.client = client;
    }
    Ok(())
}

fn tls<'a>(url: &'a mut BrokerUrl, parameter: &str) -> Result<&'a mut TlsOptions, UrlError> {
    url.tls
        .as_mut()
        .ok_or_else(|| UrlError::new(format!("the parameter {parameter} is for TLS; write amqps:// or leave it out")))
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

pub(super) fn percent_decode(text: &str) -> Option<String> {
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

pub(super) fn percent_encode(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> BrokerUrl {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_parts_of_a_url_are_percent_decoded() {
        let parsed = url("amqp://shop%40eu:p%40ss%2Fw%C3%B6rd@rabbit.example:5673/team%2Forders");
        assert_eq!((parsed.user(), parsed.password().reveal()), ("shop@eu", "p@ss/wörd"));
        assert_eq!((parsed.host(), parsed.port(), parsed.vhost()), ("rabbit.example", 5673, "team/orders"));
    }

    #[test]
    fn what_is_not_said_has_rabbitmqs_defaults() {
        for text in [
            "amqp://localhost",
            "amqp://localhost/",
            "amqp://localhost//",
            "AMQP://localhost:/%2F",
            "amqp://@localhost",
        ] {
            let parsed = url(text);
            assert_eq!((parsed.host(), parsed.port(), parsed.vhost()), ("localhost", 5672, "/"), "{text}");
            assert_eq!((parsed.user(), parsed.password().reveal()), ("guest", "guest"), "{text}");
            assert!(parsed.tls().is_none());
        }
        assert_eq!(url("amqps://localhost").port(), 5671);
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets() {
        let parsed = url("amqp://[::1]:5673/v");
        assert_eq!((parsed.host(), parsed.port()), ("::1", 5673));
        assert_eq!(parsed.to_string(), "amqp://[::1]:5673/v");
        assert!("amqp://::1/".parse::<BrokerUrl>().is_err());
        assert!("amqp://[::zz]/".parse::<BrokerUrl>().is_err());
        assert!("amqp://[::1/".parse::<BrokerUrl>().is_err());
    }

    #[test]
    fn a_password_may_hold_an_at_sign_and_colons() {
        let parsed = url("amqp://u:a@b:c@host");
        assert_eq!((parsed.user(), parsed.password().reveal(), parsed.host()), ("u", "a@b:c", "host"));
    }

    #[test]
    fn credentials_of_the_environment_fill_what_the_url_leaves_open() {
        let given = || (Some("env".to_owned()), Some(Secret::new("envpass")));
        let fill = |text: &str| {
            let (user, password) = given();
            let filled = url(text).with_default_credentials(user, password);
            (filled.user().to_owned(), filled.password().reveal().to_owned())
        };
        assert_eq!(fill("amqp://h"), ("env".into(), "envpass".into()));
        assert_eq!(fill("amqp://me@h"), ("me".into(), "envpass".into()));
        assert_eq!(fill("amqp://me:mine@h"), ("me".into(), "mine".into()));
    }

    #[test]
    fn tls_parameters_belong_to_amqps() {
        let parsed = url(
            "amqps://h/v?cacertfile=/etc/ca.pem&certfile=c.pem&keyfile=k.pem&server_name_indication=rabbit&verify=verify_peer&heartbeat=10&connection_timeout=5000",
        );
        let tls = parsed.tls().unwrap();
        assert_eq!(tls.ca_file.as_deref(), Some(std::path::Path::new("/etc/ca.pem")));
        assert_eq!(tls.client.as_ref().unwrap().key_file, PathBuf::from("k.pem"));
        assert_eq!((tls.server_name.as_deref(), tls.unverified), (Some("rabbit"), false));
        assert_eq!((parsed.heartbeat(), parsed.connection_timeout()), (Some(10), Some(Duration::from_secs(5))));
        for bad in ["amqp://h?cacertfile=x", "amqps://h?certfile=x", "amqps://h?keyfile=x", "amqps://h?verify=no"] {
            assert!(bad.parse::<BrokerUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn an_unknown_parameter_is_named() {
        let error = "amqp://h/?hartbeat=10".parse::<BrokerUrl>().unwrap_err().to_string();
        assert_eq!(
            error,
            "the broker's URL has the unknown parameter \"hartbeat\"; known are cacertfile, certfile, connection_timeout, heartbeat, keyfile, server_name_indication, verify"
        );
    }

    #[test]
    fn no_error_and_no_print_shows_a_password() {
        let secret = "Tr0ub4dor";
        for text in [
            format!("amqp://user:{secret}"),
            format!("amqp://user:{secret}/x@host/v"),
            format!("amqp://user:{secret}?x@host/v"),
            format!("amqp://user:{secret}#x@host/v"),
            format!("amqp://user:{secret}%@host/v"),
            format!("user:{secret}@host"),
            format!("user:{secret}@host://x"),
            format!("user:{secret}://host"),
            format!("amqp://user:{secret}@ho st/v"),
            format!("amqp://user:{secret}@host:99999/v"),
            format!("amqp://user:{secret}@host:1:2/v"),
            format!("amqp://user:{secret}@/v"),
            format!("amqp://user:{secret}@host/a/b"),
            format!("amqps://user:{secret}@host/?keyfile=k&certfile=c&password={secret}"),
            format!("amqp://user:pass@host/?heartbeat={secret}"),
        ] {
            let error = text.parse::<BrokerUrl>().expect_err(&text);
            assert!(!error.to_string().contains(secret), "{text}: {error}");
            assert!(!format!("{error:?}").contains(secret), "{text}");
        }
        let parsed = url(&format!("amqps://user:{secret}@host/v?heartbeat=5"));
        assert_eq!(
            format!("{parsed} {parsed:?}"),
            "amqps://user:***@host:5671/v BrokerUrl(amqps://user:***@host:5671/v)"
        );
    }

    #[test]
    fn a_vhost_is_one_segment_of_at_most_255_bytes() {
        assert!("amqp://h/a/b".parse::<BrokerUrl>().unwrap_err().to_string().contains("%2F"));
        assert!(format!("amqp://h/{}", "v".repeat(255)).parse::<BrokerUrl>().is_ok());
        assert!(format!("amqp://h/{}", "v".repeat(256)).parse::<BrokerUrl>().is_err());
    }
}
