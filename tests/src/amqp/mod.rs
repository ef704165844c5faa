//! A raw AMQP 0-9-1 client for tests.
//!
//! Ready-made clients choose field types, sort tables and swallow the broker's words. This one sends each value with the
//! type that the test chose, keeps the order of tables, and gives back every answer as it is: a refusal's code and the bytes of
//! its text, and whether it closed the channel or the connection. Sockets block, every wait has a limit.

mod channel;
mod codec;
mod link;
mod message;

pub use channel::{Channel, Confirmed, Consume, ExchangeRequest, QueueOk, QueueRequest};
pub use codec::{Malformed, Reader, Writer};
pub use message::{Delivery, Event, Properties, Publish, Returned};

use acemq_core::value::{Table, Value};
use link::Link;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Whom to be, and where.
#[derive(Debug, Clone)]
pub struct Login {
    /// `/` unless set.
    pub vhost: String,
    /// `guest` unless set.
    pub user: String,
    /// `guest` unless set.
    pub password: String,
    /// How long to wait for any one answer; 60 s unless set.
    pub timeout: Duration,
}

impl Default for Login {
    fn default() -> Self {
        Self { vhost: "/".into(), user: "guest".into(), password: "guest".into(), timeout: Duration::from_secs(60) }
    }
}

/// What a refusal closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// `channel.close`
    Channel,
    /// `connection.close`
    Connection,
}

/// A refusal: `channel.close` or `connection.close` with the broker's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Close {
    /// Which of the two.
    pub scope: Scope,
    /// The reply code, as in 406.
    pub code: u16,
    /// The reply text; not always UTF-8.
    pub text: Vec<u8>,
    /// The method that was refused, as class and method number.
    pub refused: (u16, u16),
}

impl Close {
    /// The text with bad UTF-8 replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.text).into_owned()
    }
}

/// A request that got no good answer.
#[derive(Debug)]
pub enum Failure {
    /// The broker refused it.
    Refused(Close),
    /// There was no answer: the socket closed, or the limit passed (`ErrorKind::WouldBlock` or `TimedOut`).
    Io(io::Error),
    /// The answer was not AMQP.
    Malformed(Malformed),
    /// The channel was closed before; nothing was sent.
    ChannelClosed,
}

impl Failure {
    /// The refusal.
    ///
    /// # Panics
    /// When it is something else.
    pub fn refusal(self) -> Close {
        match self {
            Self::Refused(close) => close,
            other => panic!("expected a refusal, got: {other}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(close) => write!(f, "{:?} closed: {} {}", close.scope, close.code, close.text()),
            Self::Io(error) => write!(f, "no answer: {error}"),
            Self::Malformed(Malformed(why)) => write!(f, "not AMQP: {why}"),
            Self::ChannelClosed => f.write_str("the channel is closed"),
        }
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Malformed> for Failure {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

/// A connection. Its channels may be used from several threads, one request at a time.
pub struct Connection {
    link: Arc<Mutex<Link>>,
    server_properties: Table,
}

impl Connection {
    /// Connects to `127.0.0.1:port` and opens the vhost.
    ///
    /// # Errors
    /// When the broker refuses the login or the vhost, or does not answer.
    pub fn open(port: u16, login: &Login) -> Result<Self, Failure> {
        let (link, server_properties) = Link::open(port, login)?;
        Ok(Self { link: Arc::new(Mutex::new(link)), server_properties })
    }

    /// A new channel.
    ///
    /// # Errors
    /// When the broker refuses it or does not answer.
    pub fn channel(&self) -> Result<Channel, Failure> {
        let id = lock(&self.link).open_channel()?;
        Ok(Channel::new(Arc::clone(&self.link), id))
    }

    /// A channel number on which nothing was opened, for requests that break the protocol.
    pub fn unopened_channel(&self, id: u16) -> Channel {
        lock(&self.link).pretend_open(id);
        Channel::new(Arc::clone(&self.link), id)
    }

    /// Whether the broker has not closed it, as far as was read.
    pub fn is_open(&self) -> bool {
        lock(&self.link).is_open(0)
    }

    /// What the broker said about itself.
    pub fn server_properties(&self) -> &Table {
        &self.server_properties
    }

    /// One of these properties, when it is text.
    pub fn server_property(&self, name: &str) -> Option<&str> {
        self.server_properties.get(name).and_then(Value::as_text)
    }

    /// Changes how long to wait for any one answer.
    ///
    /// # Errors
    /// When the socket is gone.
    pub fn set_timeout(&self, timeout: Duration) -> io::Result<()> {
        lock(&self.link).set_timeout(timeout)
    }

    /// Closes it in order; a drop just closes the socket.
    ///
    /// # Errors
    /// When the broker does not answer.
    pub fn close(self) -> Result<(), Failure> {
        lock(&self.link).close()
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}
