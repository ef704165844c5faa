//! Asks and changes a real broker over AMQP.
//!
//! A [`Client`] holds one connection and asks on as many of its channels as there are callers at a time. Each operation ends
//! in an [`Answer`]: done, refused by the broker with code and text, or failed with a reason; never in a hang, and never in a
//! guess. What the broker does to a connection in the meantime (closing channels by the thousand, closing the connection over
//! one question, going away) is the client's business.
//!
//! ```text
//! BrokerUrl ──▶ Client ──▶ Operation ──▶ Answer
//!                 │
//!                 └─ transport: Broker / Connection / Channel ──▶ amqp: amqprs with its traps wrapped
//! ```
#![forbid(unsafe_code)]

pub mod amqp;
mod client;
mod connect;
mod dial;
mod drive;
mod limits;
mod management;
mod operation;
mod secret;
mod tls;
pub mod transport;
mod url;

pub use amqp::{Head, Stream, StreamError, StreamRecord};
pub use client::Client;
pub use connect::{ConnectError, ConnectFailure};
pub use drive::{Ending, Progress, Width, drive};
pub use limits::Limits;
pub use management::{
    ApiListener, Holder, Management, ManagementError, ManagementFailure, NodeStatus, QueueTotals, SeenBinding,
};
pub use operation::{Answer, Cause, Done, Failure, Operation, OperationError, QueueStatus};
pub use secret::Secret;
pub use url::{BrokerUrl, ClientCertificate, ManagementUrl, TlsOptions, UrlError};
