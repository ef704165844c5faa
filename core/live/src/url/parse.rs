//! The grammar of a broker's URL.

use super::parts::{TlsParameters, parameters, percent_decode, split, unknown_parameter};
use super::{BrokerUrl, UrlError};
use std::time::Duration;

/// What every refusal shows as the shape to write.
const SHAPE: &str = "amqp://user:password@host:5672/vhost";

/// AMQP carries a vhost as a short string.
const LONGEST_VHOST: usize = 255;

/// The parameters that this client honours, and those of other clients that change nothing here.
const KNOWN: [&str; 7] =
    ["cacertfile", "certfile", "connection_timeout", "heartbeat", "keyfile", "server_name_indication", "verify"];
const WITHOUT_EFFECT: [&str; 5] = ["channel_max", "depth", "fail_if_no_peer_cert", "frame_max", "name"];

pub(super) fn parse(text: &str) -> Result<BrokerUrl, UrlError> {
    // Before the rest, so that the address of a web page is not taken apart as a broker's.
    let secured = match text.trim().split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase()).as_deref() {
        None | Some("amqp") => false,
        Some("amqps" | "amqp+ssl") => true,
        Some(scheme) => return Err(unknown_scheme(scheme)),
    };
    let parts = split(text, "the broker's URL", SHAPE)?;
    let mut url = BrokerUrl {
        port: parts.port.unwrap_or(if secured { 5671 } else { 5672 }),
        vhost: vhost(parts.path)?,
        tls: None,
        heartbeat: None,
        connection_timeout: None,
        host: parts.host.clone(),
        user: parts.user.clone(),
        password: parts.password.clone(),
    };
    let mut tls = TlsParameters::default();
    for (name, value) in parameters(&parts)? {
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
            "auth_mechanism" if value.eq_ignore_ascii_case("plain") => {}
            "auth_mechanism" => {
                return Err(UrlError::new(
                    "the parameter auth_mechanism can only be plain: this client logs in by user and password",
                ));
            }
            other if WITHOUT_EFFECT.contains(&other) => {}
            other => {
                if !tls.take(other, value)? {
                    return Err(unknown_parameter(parts.what, other, &KNOWN));
                }
            }
        }
    }
    url.tls = tls.finish(secured, "amqps://")?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;
    use std::path::PathBuf;

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
