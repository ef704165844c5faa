//! Finds out why a connection could not be opened.
//!
//! amqprs reports a failed login, a web server and a wrong certificate as texts of one kind. So after such a failure the port
//! is looked at once more, without any credentials: can it be reached, does the TLS handshake work, and is the first thing
//! that it says AMQP's `connection.start`? Every answer has a type.

use super::tls::{Tls, handshake_failure};
use crate::connect::{ConnectFailure, Speaks};
use crate::url::BrokerUrl;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

/// What a client says first.
const PROTOCOL_HEADER: &[u8; 8] = b"AMQP\x00\x00\x09\x01";

/// How long all of it may take.
pub(super) const LIMIT: Duration = Duration::from_secs(3);

/// How long to wait for a first word.
const PATIENCE: Duration = Duration::from_secs(1);

/// Looks at the broker's port. `Ok` when a broker asks for the login there.
pub(super) async fn probe(url: &BrokerUrl, tls: Option<&Tls>) -> Result<(), ConnectFailure> {
    let stream = TcpStream::connect(url.address()).await.map_err(|error| unreachable_by(url, &error))?;
    match tls {
        None => first_words(stream).await,
        Some(tls) => {
            let name = ServerName::try_from(tls.server_name.clone())
                .map_err(|error| ConnectFailure::Tls { why: error.to_string() })?;
            let stream = tls.connector.connect(name, stream).await.map_err(|error| tls_failure(&error))?;
            first_words(stream).await
        }
    }
}

fn unreachable_by(url: &BrokerUrl, error: &io::Error) -> ConnectFailure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFailure::NotListening { port: url.port() },
        // The resolver's errors carry no code of the operating system.
        _ if error.raw_os_error().is_none() => ConnectFailure::HostUnknown { host: url.host().to_owned() },
        _ => ConnectFailure::Unreachable { why: error.to_string() },
    }
}

fn tls_failure(error: &io::Error) -> ConnectFailure {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => handshake_failure(error),
        None => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                ConnectFailure::NotAmqp { speaks: Speaks::Plain }
            }
            _ => ConnectFailure::Tls { why: error.to_string() },
        },
    }
}

/// Greets, and reads the start of the answer: a frame's type, channel and size, and its class and method.
async fn first_words(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Result<(), ConnectFailure> {
    let mut heard = [0; 11];
    let mut length = 0;
    if stream.write_all(PROTOCOL_HEADER).await.is_ok() {
        let first = tokio::time::timeout(PATIENCE, stream.read(&mut heard)).await;
        length = match first {
            Ok(read) => read.unwrap_or(0),
            // A web server waits for the end of what it takes for a request.
            Err(_) => match stream.write_all(b"\r\n\r\n").await {
                Ok(()) => stream.read(&mut heard).await.unwrap_or(0),
                Err(_) => 0,
            },
        };
        while length > 0 && length < heard.len() {
            match stream.read(&mut heard[length..]).await {
                Ok(0) | Err(_) => break,
                Ok(more) => length += more,
            }
        }
    }
    judge(&heard[..length])
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
