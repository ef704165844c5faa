//! What to do with a message whose handling failed.

use super::RetryPolicy;
use std::fmt;

/// The decision for one failed delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Set it aside: it goes to the dead-letter queue with [`RetryPolicy::give_up_text`].
    GiveUp(GiveUpReason),
    /// Try again after a wait.
    Retry {
        /// How long, in milliseconds. A wait in the broker is exactly a rung's delay, one in the consumer is jittered.
        wait_ms: u64,
        /// On a rung of the queue, or else in the consumer.
        in_broker: bool,
    },
}

/// Why a message is not tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GiveUpReason {
    /// This was the last attempt.
    AttemptsExhausted,
    /// The message has reached the age limit.
    TooOld,
}

impl GiveUpReason {
    /// The stable code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::TooOld => "too_old",
        }
    }
}

impl fmt::Display for GiveUpReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl RetryPolicy {
    /// Decides about a message whose delivery number `attempt` failed.
    ///
    /// Deliveries count from 1, and 0 counts as 1. `age_ms` is the time since the message was first seen; an unknown age is
    /// young enough. `u` is a random number in [0, 1) for the jitter; one from outside is taken as the nearest end, no
    /// number as the middle. The same arguments give the same decision.
    pub fn decide(&self, attempt: u32, age_ms: Option<u64>, u: f64) -> Decision {
        let Some(wait_ms) = self.schedule().get(attempt.saturating_sub(1)) else {
            return Decision::GiveUp(GiveUpReason::AttemptsExhausted);
        };
        if let (Some(limit), Some(age)) = (self.give_up_after_ms(), age_ms)
            && age >= limit
        {
            return Decision::GiveUp(GiveUpReason::TooOld);
        }
        if self.waits_in_broker(wait_ms) {
            Decision::Retry { wait_ms, in_broker: true }
        } else {
            Decision::Retry { wait_ms: jittered(wait_ms, self.jitter(), u), in_broker: false }
        }
    }

    /// The text that a message is set aside with: `exhausted 6 attempts`, `older than 2h`.
    pub fn give_up_text(&self, reason: GiveUpReason) -> String {
        match reason {
            GiveUpReason::AttemptsExhausted => format!("exhausted {} attempts", self.max_attempts()),
            GiveUpReason::TooOld => {
                format!("older than {}", crate::name::Delay(self.give_up_after_ms().unwrap_or_default()))
            }
        }
    }
}

/// `wait · (1 + (2u − 1) · factor)`, cut to whole milliseconds and at least 1; no wait stays none.
fn jittered(wait_ms: u64, factor: f64, u: f64) -> u64 {
    if wait_ms == 0 || factor == 0.0 {
        return wait_ms;
    }
    let u = if u.is_nan() { 0.5 } else { u.clamp(0.0, 1.0_f64.next_down()) };
    #[expect(clippy::cast_precision_loss, reason = "the rule is in doubles; exact up to 285,000 years")]
    let wait = wait_ms as f64 * (1.0 + (2.0 * u - 1.0) * factor);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative, and saturates")]
    let cut = wait as u64;
    cut.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> RetryPolicy {
        text.parse().unwrap()
    }

    #[test]
    fn attempts_come_before_age_and_age_before_the_wait() {
        let policy = policy("exponential(3, 10s, 1m).give_up_after(1h)");
        assert_eq!(policy.decide(3, Some(u64::MAX), 0.5), Decision::GiveUp(GiveUpReason::AttemptsExhausted));
        assert_eq!(policy.decide(u32::MAX, None, 0.5), Decision::GiveUp(GiveUpReason::AttemptsExhausted));
        assert_eq!(policy.decide(2, Some(3_600_000), 0.5), Decision::GiveUp(GiveUpReason::TooOld));
        assert_eq!(policy.decide(2, Some(3_599_999), 0.5), Decision::Retry { wait_ms: 20_000, in_broker: false });
        assert_eq!(policy.decide(2, None, 0.5), Decision::Retry { wait_ms: 20_000, in_broker: false });
        assert_eq!(policy.decide(0, None, 0.5), policy.decide(1, None, 0.5));
        assert_eq!(RetryPolicy::none().decide(0, None, 0.5), Decision::GiveUp(GiveUpReason::AttemptsExhausted));
    }

    #[test]
    fn a_wait_from_the_threshold_on_is_in_the_broker_and_never_jittered() {
        let at = policy("fixed(2, 30s).jitter(1)");
        assert_eq!(at.decide(1, None, 0.0), Decision::Retry { wait_ms: 30_000, in_broker: true });
        let below = policy("fixed(2, 29999ms).jitter(1)");
        assert_eq!(below.decide(1, None, 0.75), Decision::Retry { wait_ms: 44_998, in_broker: false });
        let never = policy("fixed(2, 30s).wait_in_broker_from(0)");
        assert_eq!(never.decide(1, None, 0.9), Decision::Retry { wait_ms: 30_000, in_broker: false });
    }

    #[test]
    fn jitter_is_cut_to_milliseconds_and_raised_to_one() {
        let Decision::Retry { wait_ms, .. } = policy("fixed(2, 1s).jitter(0.2)").decide(1, None, 0.0) else { panic!() };
        assert_eq!(wait_ms, 800);
        // 3 · (1 + 0.2 · 0.2) = 3.12
        assert_eq!(jittered(3, 0.2, 0.6), 3);
        assert_eq!(jittered(10, 1.0, 0.0), 1);
        assert_eq!(jittered(1, 1.0, 0.25), 1);
        assert_eq!(jittered(0, 1.0, 0.9), 0);
        // The largest double below 1: 1000 · (2 − 2⁻⁵²) cut.
        assert_eq!(jittered(1_000, 1.0, 1.0_f64.next_down()), 1_999);
        assert_eq!(jittered(1_000, 1.0, 7.0), 1_999);
        assert_eq!(jittered(1_000, 1.0, -7.0), 1);
        assert_eq!(jittered(1_000, 1.0, f64::NAN), 1_000);
        assert_eq!(jittered(u64::MAX, 0.0, 0.3), u64::MAX);
    }

    #[test]
    fn the_reason_is_said_with_the_limit_that_was_reached() {
        let policy = policy("exponential(6, 10s).give_up_after(90m)");
        assert_eq!(policy.give_up_text(GiveUpReason::AttemptsExhausted), "exhausted 6 attempts");
        assert_eq!(policy.give_up_text(GiveUpReason::TooOld), "older than 90m");
        assert_eq!(RetryPolicy::none().give_up_text(GiveUpReason::AttemptsExhausted), "exhausted 1 attempts");
    }
}
