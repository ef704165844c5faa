//! How often a message is tried again, how long it waits, and where.
//!
//! A policy gives a *schedule*: the wait before each attempt after the first. A wait that is long enough is spent in the
//! broker: the consumer publishes the message to a *rung*, a queue whose TTL is the wait and whose dead-letter exchange leads
//! back to the source queue. A short wait is spent in the consumer, with jitter. The rungs of a queue are its [`Ladder`].
//!
//! A policy's name is its text, and every language computes the same schedule, the same rungs and the same decisions from it:
//!
//! ```
//! use acemq_core::retry::{Decision, RetryPolicy};
//!
//! let policy: RetryPolicy = "exponential(6, 10s, 5m)".parse().unwrap();
//! assert_eq!(policy.schedule().iter().collect::<Vec<_>>(), [10_000, 20_000, 40_000, 80_000, 160_000]);
//! assert_eq!(policy.broker_delays(), [40_000, 80_000, 160_000]);
//! // The third delivery failed: wait 40 s on the rung `{queue}.retry.40s`.
//! assert_eq!(policy.decide(3, None, 0.5), Decision::Retry { wait_ms: 40_000, in_broker: true });
//! ```
//!
//! There is no clock and no randomness here: the age of a message and the random number for its jitter are arguments.

mod decision;
mod document;
mod draft;
mod duration;
mod form;
mod ladder;
mod multiplier;
mod policy;
mod problem;
mod schedule;
mod text;

pub use decision::{Decision, GiveUpReason};
pub use document::{DecisionDocument, LadderDocument, Question, RetryDocument};
pub use duration::{
    DurationError, DurationFault, UnitError, milliseconds_from_nanoseconds, milliseconds_from_seconds, parse_duration,
};
pub use form::RetryForm;
pub use ladder::{Ladder, Rung};
pub use policy::{Backoff, RetryPolicy, RetryPolicyBuilder};
pub use problem::{RetryCode, RetryProblem, RetryProblems};
pub use schedule::Schedule;

/// The longest `x-message-ttl` that RabbitMQ takes, in milliseconds: ten years of 365 days (3.10.2 and later).
pub const MAX_BROKER_DELAY_MS: u64 = 315_360_000_000;

/// The most rungs that one queue may have.
pub const MAX_RUNGS: usize = 64;

/// From how long a wait on it is spent in the broker when a policy does not say, in milliseconds.
pub const DEFAULT_BROKER_THRESHOLD_MS: u64 = 30_000;

#[cfg(test)]
mod tests;
