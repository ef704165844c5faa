//! The policy itself, and the builder that checks it.

use super::multiplier::{self, Thousandths};
use super::{
    DEFAULT_BROKER_THRESHOLD_MS, MAX_BROKER_DELAY_MS, MAX_RUNGS, RetryCode, RetryProblem, RetryProblems, Schedule,
};
use crate::name::Delay;
use std::sync::Arc;

/// How waits grow. Times are milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backoff {
    /// One attempt, no retry.
    None,
    /// The same wait each time.
    Fixed {
        /// Attempts, the first delivery included.
        attempts: u32,
        /// The wait; may be 0.
        delay_ms: u64,
    },
    /// Each wait is a multiple of the one before.
    Exponential {
        /// Attempts, the first delivery included.
        attempts: u32,
        /// The first wait, at least 1.
        first_ms: u64,
        /// The longest wait, at least the first.
        cap_ms: Option<u64>,
        /// The multiplier in thousandths: 1000, or 1010 to 1,000,000.
        multiplier_thousandths: u32,
    },
}

impl Backoff {
    /// The jitter of a policy that does not say: a fixed wait was asked for exactly, a growing one was not.
    const fn default_jitter(self) -> f64 {
        match self {
            Self::None | Self::Fixed { .. } => 0.0,
            Self::Exponential { .. } => 0.2,
        }
    }

    const fn attempts(self) -> u32 {
        match self {
            Self::None => 1,
            Self::Fixed { attempts, .. } | Self::Exponential { attempts, .. } => attempts,
        }
    }

    fn schedule(self) -> Schedule {
        let entries = self.attempts().saturating_sub(1);
        match self {
            Self::None => Schedule::constant(0, 0),
            Self::Fixed { delay_ms, .. } => Schedule::constant(delay_ms, entries),
            Self::Exponential { first_ms, cap_ms, multiplier_thousandths, .. } => {
                Schedule::growing(first_ms, multiplier_thousandths, cap_ms, entries)
            }
        }
    }
}

/// What a policy says, before anything is computed from it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Settings {
    backoff: Backoff,
    jitter: f64,
    give_up_after_ms: Option<u64>,
    threshold_ms: u64,
}

impl Settings {
    const fn new(backoff: Backoff) -> Self {
        Self {
            backoff,
            jitter: backoff.default_jitter(),
            give_up_after_ms: None,
            threshold_ms: DEFAULT_BROKER_THRESHOLD_MS,
        }
    }

    const fn waits_in_broker(&self, wait_ms: u64) -> bool {
        self.threshold_ms > 0 && wait_ms > 0 && wait_ms >= self.threshold_ms
    }
}

/// When and how long to wait before trying again; immutable, cheap to clone, to be shared between threads.
///
/// Its name is its text ([`Display`](std::fmt::Display), [`FromStr`](std::str::FromStr)); serde writes that text and reads
/// the text or the mapping with the same keys.
#[derive(Debug, Clone)]
pub struct RetryPolicy {
    settings: Settings,
    schedule: Schedule,
    broker_delays: Arc<[u64]>,
}

impl PartialEq for RetryPolicy {
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings
    }
}

// The jitter is never NaN.
impl Eq for RetryPolicy {}

impl RetryPolicy {
    /// No retry: the first failure is the last.
    pub fn none() -> Self {
        Self {
            settings: Settings::new(Backoff::None),
            schedule: Schedule::constant(0, 0),
            broker_delays: Arc::default(),
        }
    }

    /// `attempts` deliveries with the same wait between them.
    pub const fn fixed(attempts: u32, delay_ms: u64) -> RetryPolicyBuilder {
        RetryPolicyBuilder::new(Backoff::Fixed { attempts, delay_ms })
    }

    /// `attempts` deliveries, with waits that double from `first_ms` on.
    ///
    /// ```
    /// use acemq_core::retry::RetryPolicy;
    ///
    /// let policy = RetryPolicy::exponential(6, 10_000).cap(300_000).build().unwrap();
    /// assert_eq!(policy.to_string(), "exponential(6, 10s, 5m)");
    /// let problems = RetryPolicy::exponential(0, 10_000).cap(0).build().unwrap_err();
    /// assert_eq!(problems.iter().map(|p| p.code.as_str()).collect::<Vec<_>>(), ["attempts_too_few", "cap_zero"]);
    /// ```
    pub const fn exponential(attempts: u32, first_ms: u64) -> RetryPolicyBuilder {
        RetryPolicyBuilder::new(Backoff::Exponential {
            attempts,
            first_ms,
            cap_ms: None,
            multiplier_thousandths: multiplier::DEFAULT,
        })
    }

    /// A builder that starts from this policy.
    pub const fn to_builder(&self) -> RetryPolicyBuilder {
        RetryPolicyBuilder { settings: self.settings, misplaced_multiplier: None, schedule_unknown: false }
    }

    /// How waits grow.
    pub const fn backoff(&self) -> Backoff {
        self.settings.backoff
    }

    /// Attempts, the first delivery included.
    pub const fn max_attempts(&self) -> u32 {
        self.settings.backoff.attempts()
    }

    /// The part of a consumer's wait that is random, 0 to 1.
    pub const fn jitter(&self) -> f64 {
        self.settings.jitter
    }

    /// Whether the jitter is what a policy of this kind has when it does not say.
    pub(super) fn has_default_jitter(&self) -> bool {
        self.settings.jitter.to_bits() == self.settings.backoff.default_jitter().to_bits()
    }

    /// From which age on, in milliseconds, a message is not tried again.
    pub const fn give_up_after_ms(&self) -> Option<u64> {
        self.settings.give_up_after_ms
    }

    /// From how long on, in milliseconds, a wait is spent in the broker; 0 means never.
    pub const fn threshold_ms(&self) -> u64 {
        self.settings.threshold_ms
    }

    /// The unjittered waits.
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The different waits that are spent in the broker, in milliseconds, shortest first: one rung each, at most
    /// [`MAX_RUNGS`].
    pub fn broker_delays(&self) -> &[u64] {
        &self.broker_delays
    }

    pub(super) const fn waits_in_broker(&self, wait_ms: u64) -> bool {
        self.settings.waits_in_broker(wait_ms)
    }

    /// The rung for a wait that is not this policy's own: none when it is too short for the broker or there are no rungs,
    /// else the shortest rung that is long enough, else the longest.
    pub fn rung_for(&self, delay_ms: u64) -> Option<u64> {
        if !self.waits_in_broker(delay_ms) {
            return None;
        }
        let longest = self.broker_delays.last();
        self.broker_delays.iter().find(|rung| **rung >= delay_ms).or(longest).copied()
    }
}

/// Collects what a policy says and checks all of it at once.
#[derive(Debug, Clone, Copy)]
#[must_use = "a builder does nothing until it is built"]
pub struct RetryPolicyBuilder {
    settings: Settings,
    /// A multiplier that was given to a policy which does not grow.
    misplaced_multiplier: Option<u32>,
    /// A part of the schedule was written so that it could not be read; something harmless stands in its place.
    schedule_unknown: bool,
}

impl RetryPolicyBuilder {
    const fn new(backoff: Backoff) -> Self {
        Self { settings: Settings::new(backoff), misplaced_multiplier: None, schedule_unknown: false }
    }

    /// The longest wait of an exponential policy, in milliseconds; no effect on the others, whose waits do not grow.
    pub const fn cap(mut self, ms: u64) -> Self {
        if let Backoff::Exponential { cap_ms, .. } = &mut self.settings.backoff {
            *cap_ms = Some(ms);
        }
        self
    }

    /// The multiplier of an exponential policy in thousandths: 1500 for 1.5.
    pub const fn multiplier_thousandths(mut self, thousandths: u32) -> Self {
        match &mut self.settings.backoff {
            Backoff::Exponential { multiplier_thousandths, .. } => *multiplier_thousandths = thousandths,
            Backoff::None | Backoff::Fixed { .. } => self.misplaced_multiplier = Some(thousandths),
        }
        self
    }

    /// The part of a consumer's wait that is random, 0 to 1.
    pub fn jitter(mut self, factor: f64) -> Self {
        // -0.0 becomes 0.0, so that equal policies print alike.
        self.settings.jitter = factor + 0.0;
        self
    }

    /// From which age on, in milliseconds, a message is not tried again.
    pub const fn give_up_after(mut self, ms: u64) -> Self {
        self.settings.give_up_after_ms = Some(ms);
        self
    }

    /// From how long on, in milliseconds, a wait is spent in the broker; 0 means never.
    pub const fn wait_in_broker_from(mut self, ms: u64) -> Self {
        self.settings.threshold_ms = ms;
        self
    }

    /// Leaves out what can only be judged with the schedule.
    pub(super) const fn with_unknown_schedule(mut self) -> Self {
        self.schedule_unknown = true;
        self
    }

    /// The policy.
    ///
    /// # Errors
    /// Every problem at once, in the order in which a policy is written.
    pub fn build(self) -> Result<RetryPolicy, RetryProblems> {
        self.build_after(Vec::new())
    }

    /// The policy, unless there were problems before.
    pub(super) fn build_after(self, mut problems: Vec<RetryProblem>) -> Result<RetryPolicy, RetryProblems> {
        let own = self.problems();
        let settings = self.settings;
        let schedule = if self.schedule_unknown || own.iter().any(|problem| hides_the_schedule(problem.code)) {
            Schedule::constant(0, 0)
        } else {
            settings.backoff.schedule()
        };
        let mut broker_delays = schedule.distinct();
        broker_delays.retain(|delay| settings.waits_in_broker(*delay));
        problems.extend(own);
        problems.extend(too_many_rungs(&broker_delays, settings.threshold_ms));
        RetryProblems::unless_empty(problems)?;
        Ok(RetryPolicy { settings, schedule, broker_delays: broker_delays.into() })
    }

    /// The problems that can be seen without the schedule.
    fn problems(&self) -> Vec<RetryProblem> {
        let Settings { backoff, jitter, give_up_after_ms, threshold_ms } = self.settings;
        let mut problems = Vec::new();
        if backoff.attempts() == 0 {
            let help = "give at least 1: the first delivery counts";
            problems.push(RetryProblem::new(RetryCode::AttemptsTooFew, "attempts is 0", help).with("attempts", 0));
        }
        if let Backoff::Exponential { first_ms, cap_ms, multiplier_thousandths, .. } = backoff {
            problems.extend(exponential_problems(first_ms, cap_ms, multiplier_thousandths));
        }
        if let Some(thousandths) = self.misplaced_multiplier {
            problems.push(
                RetryProblem::new(
                    RetryCode::MultiplierNotExponential,
                    "only exponential policies have a multiplier",
                    "leave it out, or use exponential(attempts, first)",
                )
                .with("multiplier", Thousandths(thousandths).to_string()),
            );
        }
        if !(0.0..=1.0).contains(&jitter) {
            let message = format!("jitter {jitter} is out of range");
            let help = "give a number from 0 to 1, as in 0.2 for a fifth more or less";
            problems.push(RetryProblem::new(RetryCode::JitterOutOfRange, message, help).with("jitter", jitter));
        }
        if give_up_after_ms == Some(0) {
            let help = "leave it out for no age limit";
            problems.push(
                RetryProblem::new(RetryCode::GiveUpAfterZero, "give_up_after is 0", help).with("give_up_after_ms", 0),
            );
        }
        // No wait grows beyond RabbitMQ's limit, so only the first can be beyond it.
        let first_ms = match backoff {
            Backoff::Fixed { attempts: 2.., delay_ms } => delay_ms,
            Backoff::Exponential { attempts: 2.., first_ms, .. } => first_ms,
            _ => 0,
        };
        if first_ms > MAX_BROKER_DELAY_MS && self.settings.waits_in_broker(first_ms) {
            problems.push(broker_delay_too_long(first_ms, threshold_ms));
        }
        problems
    }
}

fn exponential_problems(first_ms: u64, cap_ms: Option<u64>, thousandths: u32) -> Vec<RetryProblem> {
    let mut problems = Vec::new();
    if first_ms == 0 {
        let help = "give at least \"1ms\", or use fixed(attempts, 0) for retries without a wait";
        problems.push(RetryProblem::new(RetryCode::FirstZero, "the first delay is 0", help).with("first_ms", 0));
    }
    match cap_ms {
        Some(0) => {
            let help = "leave it out for no cap";
            problems.push(RetryProblem::new(RetryCode::CapZero, "the cap is 0", help).with("cap_ms", 0));
        }
        Some(cap_ms) if cap_ms < first_ms => {
            let message = format!("the cap {} is below the first delay {}", Delay(cap_ms), Delay(first_ms));
            problems.push(
                RetryProblem::new(RetryCode::CapBelowFirst, message, "raise the cap, or leave it out for none")
                    .with("cap_ms", cap_ms)
                    .with("first_ms", first_ms),
            );
        }
        _ => {}
    }
    if !multiplier::is_valid(thousandths) {
        problems.push(multiplier::out_of_range(&Thousandths(thousandths).to_string()));
    }
    problems
}

fn broker_delay_too_long(delay_ms: u64, threshold_ms: u64) -> RetryProblem {
    let message = format!(
        "a wait of {} would be spent in the broker, whose longest TTL is {}",
        Delay(delay_ms),
        Delay(MAX_BROKER_DELAY_MS)
    );
    let help = "shorten it, or spend it in the consumer with wait_in_broker_from(0)";
    RetryProblem::new(RetryCode::BrokerDelayTooLong, message, help)
        .with("delay_ms", delay_ms)
        .with("limit_ms", MAX_BROKER_DELAY_MS)
        .with("threshold_ms", threshold_ms)
}

fn too_many_rungs(broker_delays: &[u64], threshold_ms: u64) -> Option<RetryProblem> {
    if broker_delays.len() <= MAX_RUNGS {
        return None;
    }
    let message = format!(
        "the schedule has {} different waits of {} and more, a queue has at most {MAX_RUNGS} rungs",
        broker_delays.len(),
        Delay(threshold_ms)
    );
    let help = "raise the multiplier or wait_in_broker_from, or lower attempts or the cap";
    Some(
        RetryProblem::new(RetryCode::TooManyRungs, message, help)
            .with("rungs", broker_delays.len())
            .with("limit", MAX_RUNGS)
            .with("threshold_ms", threshold_ms),
    )
}

/// Whether a policy with this problem has no schedule to judge.
const fn hides_the_schedule(code: RetryCode) -> bool {
    matches!(
        code,
        RetryCode::AttemptsTooFew
            | RetryCode::FirstZero
            | RetryCode::CapZero
            | RetryCode::CapBelowFirst
            | RetryCode::MultiplierOutOfRange
    )
}
