//! Finds out why a connection could not be opened.
//!
//! amqprs reports a failed login, a web server and a wrong certificate as texts of one kind. So after such a failure the port
//! is looked at once more, without any credentials: can it be reached, does the TLS handshake work, and is the first thing
//! that it says AMQP's `connection.start`? Every answer has a type.

use crate::connect::{ConnectFailure, Speaks};
use crate::dial::{dial, tls_error};
use crate::tls::{Tls, handshake_failure};
use crate::url::BrokerUrl;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// What a client says first.
const PROTOCOL_HEADER: &[u8; 8] = b"AMQP\x00\x00\x09\x01";

/// How long all of it may take.
pub(super) const LIMIT: Duration = Duration::from_secs(6);

/// How long to wait for a first word.
const PATIENCE: Duration = Duration::from_secs(2);

/// Looks at the broker's port. `Ok` when a broker asks for the login there.
pub(super) async fn probe(url: &BrokerUrl, tls: Option<&Tls>) -> Result<(), ConnectFailure> {
    match first_words(dial(url.host(), url.port(), tls).await?).await {
        // A broker that misses a client certificate may hang up before its alert is read.
        Err(ConnectFailure::NotAmqp { speaks: Speaks::Nothing }) if tls.is_some() => Err(ConnectFailure::Tls {
            why: "the connection was closed without a word after the handshake; check that this is the broker's AMQP port, and \
                  if the broker wants a client certificate, give one that it trusts with ?certfile= and ?keyfile="
                .to_owned(),
        }),
        other => other,
    }
}

/// Greets, and reads the start of the answer: a frame's type, channel and size, and its class and method.
async fn first_words(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<(), ConnectFailure> {
    let mut heard = [0; 11];
    let mut length = 0;
    let mut ended = stream.write_all(PROTOCOL_HEADER).await.err();
    let mut asked_again = false;
    while ended.is_none() && length < heard.len() {
        match tokio::time::timeout(PATIENCE, stream.read(&mut heard[length..])).await {
            Ok(Ok(0)) => break,
            Ok(Ok(more)) => length += more,
            Ok(Err(error)) => ended = Some(error),
            // It holds the connection and says nothing: that is silence, not a closed door.
            Err(_) if asked_again && length == 0 => return Err(ConnectFailure::Timeout { after: LIMIT }),
            Err(_) if asked_again => break,
            Err(_) => {
                // A web server waits for the end of what it takes for a request.
                asked_again = true;
                ended = stream.write_all(b"\r\n\r\n").await.err();
            }
        }
    }
    // With TLS 1.3 a refused client certificate shows only now.
    match ended.as_ref().and_then(tls_error) {
        Some(error) => Err(handshake_failure(error)),
        None => judge(&heard[..length]),
    }
}

fn judge(heard: &[u8]) -> Result<(), ConnectFailure> {
    let speaks = match heard {
        // A method frame on channel 0 with class 10 (connection), method 10 (start).
        [1, 0, 0, _, _, _, _, 0, 10, 0, 10] => return Ok(()),
        [] => Speaks::Nothing,
        [b'A', b'M', b'Q', b'P', ..] => Speaks::OtherAmqp,
        [b'H', b'T', b'T', b'P', ..] => Speaks::Http,
        // A TLS record: alert or handshake, version 3.x.
        [0x15 | 0x16, 3, ..] => Speaks::Tls,
        _ => Speaks::Unknown,
    };
    Err(ConnectFailure::NotAmqp { speaks })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_tell_who_answers() {
        let speaks = |bytes: &[u8]| match judge(bytes) {
            Ok(()) => None,
            Err(ConnectFailure::NotAmqp { speaks }) => Some(speaks),
            Err(other) => panic!("{other:?}"),
        };
        assert_eq!(speaks(&[1, 0, 0, 0, 0, 1, 0xf4, 0, 10, 0, 10]), None);
        assert_eq!(speaks(b"HTTP/1.1 40"), Some(Speaks::Http));
        assert_eq!(speaks(b"AMQP\x00\x01\x00\x00"), Some(Speaks::OtherAmqp));
        assert_eq!(speaks(&[0x15, 3, 3, 0, 2, 2, 70]), Some(Speaks::Tls));
        assert_eq!(speaks(b""), Some(Speaks::Nothing));
        assert_eq!(speaks(b"220 smtp.ex"), Some(Speaks::Unknown));
    }
}
