//! How long to wait. Nothing waits without a limit.

use std::time::Duration;

/// Time limits of a [`Client`](crate::Client).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Opening a connection, TLS and login included. RabbitMQ holds back a refused login for 3 s.
    pub connect: Duration,
    /// A question that changes nothing. A queue whose node is down answers never (RabbitMQ 4.3).
    pub question: Duration,
    /// A change. A quorum queue without a majority is refused by the broker itself after 15 to 30 s.
    pub change: Duration,
    /// How long to try to reach the broker again after the connection was lost; zero tries once.
    pub reconnect: Duration,
    /// One answer of the management API, which may list many thousand objects.
    pub listing: Duration,
    /// Saying goodbye.
    pub close: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            question: Duration::from_secs(10),
            change: Duration::from_secs(45),
            reconnect: Duration::from_secs(15),
            listing: Duration::from_secs(60),
            close: Duration::from_secs(3),
        }
    }
}

/// A duration for a sentence: whole seconds where it is that, else milliseconds.
pub(crate) fn spoken(duration: Duration) -> String {
    let ms = duration.as_millis();
    if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
}
