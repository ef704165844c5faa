//! Opens a byte stream to a host and port, with TLS if asked, and tells every way to fail apart.

use crate::connect::{ConnectFailure, Speaks};
use crate::tls::{Tls, handshake_failure};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

/// A byte stream, plain or secured.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// Connects. Has no limit of its own and may be dropped at any time.
pub(crate) async fn dial(host: &str, port: u16, tls: Option<&Tls>) -> Result<Box<dyn Wire>, ConnectFailure> {
    let stream = TcpStream::connect((host, port)).await.map_err(|error| unreachable_by(host, port, &error))?;
    // Requests are small and waited for.
    let _ = stream.set_nodelay(true);
    let Some(tls) = tls else { return Ok(Box::new(stream)) };
    let name = ServerName::try_from(tls.server_name.clone())
        .map_err(|error| ConnectFailure::Tls { why: error.to_string() })?;
    let stream = tls.connector.connect(name, stream).await.map_err(|error| tls_failure(&error))?;
    Ok(Box::new(stream))
}

fn unreachable_by(host: &str, port: u16, error: &io::Error) -> ConnectFailure {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFailure::NotListening { port },
        // The resolver's errors carry no code of the operating system.
        _ if error.raw_os_error().is_none() => ConnectFailure::HostUnknown { host: host.to_owned() },
        _ => ConnectFailure::Unreachable { why: error.to_string() },
    }
}

fn tls_failure(error: &io::Error) -> ConnectFailure {
    match tls_error(error) {
        Some(error) => handshake_failure(error),
        None => match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                ConnectFailure::NotAmqp { speaks: Speaks::Plain }
            }
            _ => ConnectFailure::Tls { why: error.to_string() },
        },
    }
}

/// What TLS says about an error of a stream.
pub(crate) fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}
