//! How often a message is tried again, how long it waits, and where.
//!
//! A wait that is long enough is spent in the broker: the consumer publishes the message to a *rung*, a queue whose TTL is
//! the wait and whose dead-letter exchange leads back. A short one is spent in the consumer.

mod duration;

pub use duration::{
    DurationError, DurationFault, UnitError, milliseconds_from_nanoseconds, milliseconds_from_seconds, parse_duration,
};
