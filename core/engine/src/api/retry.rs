//! Operations on durations and retry policies.

use super::names::NAME_CODES;
use super::{Failure, Request};
use crate::retry::{
    self, Backoff, DecisionDocument, Ladder, LadderDocument, Question, RetryCode, RetryDocument, RetryForm, RetryPolicy,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The codes of a bad policy.
pub(super) const POLICY_CODES: &[&str] = &{
    let mut codes = [""; RetryCode::ALL.len()];
    let mut index = 0;
    while index < codes.len() {
        // Both arrays have this length.
        #[expect(clippy::indexing_slicing, reason = "evaluated when it is compiled")]
        {
            codes[index] = RetryCode::ALL[index].as_str();
        }
        index += 1;
    }
    codes
};

/// The code of a random number that is none.
const RANDOM_OUT_OF_RANGE: &str = "random_out_of_range";

const RANDOM_CODES: &[&str] = &[RANDOM_OUT_OF_RANGE];

/// `duration.parse`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParseDuration {
    /// Digits and one of ms, s, m, h; or 0.
    pub text: String,
}

/// A number of milliseconds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Milliseconds {
    /// It.
    pub ms: u64,
}

impl Request for ParseDuration {
    type Answer = Milliseconds;
    const NAME: &'static str = "duration.parse";
    const ABOUT: &'static str = "The milliseconds of a duration's text.";
    const CODES: &'static [&'static [&'static str]] = &[&[
        "duration_no_digits",
        "duration_no_unit",
        "duration_fraction",
        "duration_unknown_unit",
        "duration_trailing",
        "duration_too_large",
    ]];

    fn answer(self) -> Result<Milliseconds, Failure> {
        Ok(Milliseconds { ms: retry::parse_duration(&self.text)? })
    }
}

/// `duration.from_nanoseconds`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurationFromNanoseconds {
    /// Nanoseconds, as languages with finer durations count them.
    pub nanoseconds: u64,
}

impl Request for DurationFromNanoseconds {
    type Answer = Milliseconds;
    const NAME: &'static str = "duration.from_nanoseconds";
    const ABOUT: &'static str = "The whole milliseconds in a number of nanoseconds; a rest is refused.";
    const CODES: &'static [&'static [&'static str]] = &[&["duration_not_whole"]];

    fn answer(self) -> Result<Milliseconds, Failure> {
        Ok(Milliseconds { ms: retry::milliseconds_from_nanoseconds(self.nanoseconds.into())? })
    }
}

/// `duration.from_seconds`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DurationFromSeconds {
    /// Seconds in floating point.
    pub seconds: f64,
}

impl Request for DurationFromSeconds {
    type Answer = Milliseconds;
    const NAME: &'static str = "duration.from_seconds";
    const ABOUT: &'static str = "The nearest whole milliseconds to floating-point seconds, within a microsecond.";
    const CODES: &'static [&'static [&'static str]] =
        &[&["duration_not_whole", "duration_negative", "duration_too_large"]];

    fn answer(self) -> Result<Milliseconds, Failure> {
        Ok(Milliseconds { ms: retry::milliseconds_from_seconds(self.seconds)? })
    }
}

/// `retry.policy`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribePolicy {
    /// Text or mapping.
    pub policy: RetryForm,
}

/// A policy that is in order, with every default said.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PolicyDocument {
    /// Its canonical text.
    pub text: String,
    /// `none`, `fixed` or `exponential`.
    pub kind: &'static str,
    /// Deliveries, the first one included.
    pub max_attempts: u32,
    /// The first wait, which of a fixed policy is every wait; `null` for `none`.
    pub first_ms: Option<u64>,
    /// The longest wait of an exponential policy.
    pub cap_ms: Option<u64>,
    /// The multiplier of an exponential policy in thousandths.
    pub multiplier_thousandths: Option<u32>,
    /// The random part of a wait in the consumer.
    pub jitter: f64,
    /// The age limit.
    pub max_age_ms: Option<u64>,
    /// From when on a wait is spent in the broker; 0 means never.
    pub threshold_ms: u64,
    /// The waits that are spent there, shortest first.
    pub broker_rungs_ms: Vec<u64>,
}

impl From<&RetryPolicy> for PolicyDocument {
    fn from(policy: &RetryPolicy) -> Self {
        let (kind, first_ms, cap_ms, multiplier_thousandths) = match policy.backoff() {
            Backoff::None => ("none", None, None, None),
            Backoff::Fixed { delay_ms, .. } => ("fixed", Some(delay_ms), None, None),
            Backoff::Exponential { first_ms, cap_ms, multiplier_thousandths, .. } => {
                ("exponential", Some(first_ms), cap_ms, Some(multiplier_thousandths))
            }
        };
        Self {
            text: policy.to_string(),
            kind,
            max_attempts: policy.max_attempts(),
            first_ms,
            cap_ms,
            multiplier_thousandths,
            jitter: policy.jitter(),
            max_age_ms: policy.give_up_after_ms(),
            threshold_ms: policy.threshold_ms(),
            broker_rungs_ms: policy.broker_delays().to_vec(),
        }
    }
}

impl Request for DescribePolicy {
    type Answer = PolicyDocument;
    const NAME: &'static str = "retry.policy";
    const ABOUT: &'static str = "A retry policy checked, with its canonical text and every default said.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES];

    fn answer(self) -> Result<PolicyDocument, Failure> {
        Ok((&self.policy.policy()?).into())
    }
}

/// `retry.schedule`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleOf {
    /// Text or mapping.
    pub policy: RetryForm,
    /// The first entry that is wanted, from 0.
    #[serde(default)]
    pub from: u32,
    /// How many are wanted, at most 10,000; 100 unless said.
    #[serde(default = "hundred")]
    #[schemars(range(max = 10_000))]
    pub count: u32,
}

const fn hundred() -> u32 {
    100
}

/// A part of a schedule.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScheduleSlice {
    /// How many waits there are in all.
    pub entries: u32,
    /// Those that were asked for.
    pub delays_ms: Vec<u64>,
}

impl Request for ScheduleOf {
    type Answer = ScheduleSlice;
    const NAME: &'static str = "retry.schedule";
    const ABOUT: &'static str = "The unjittered waits of a policy, or some of them.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES];

    fn answer(self) -> Result<ScheduleSlice, Failure> {
        const MOST: u32 = 10_000;
        if self.count > MOST {
            let message = format!("count {} is out of range", self.count);
            return Err(Failure::one("bad_input", message, format!("ask for at most {MOST} entries at once")));
        }
        let policy = self.policy.policy()?;
        let schedule = policy.schedule();
        let wanted = self.from..self.from.saturating_add(self.count);
        Ok(ScheduleSlice {
            entries: schedule.len(),
            delays_ms: wanted.map_while(|index| schedule.get(index)).collect(),
        })
    }
}

/// `retry.decide`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// Text or mapping.
    pub policy: RetryForm,
    /// The number of the failed delivery, from 1.
    pub attempt: u32,
    /// Milliseconds since the message was first seen, where that is known.
    #[serde(default)]
    pub age_ms: Option<u64>,
    /// A random number in [0, 1) for the jitter; 0.5 unless said, which is none.
    #[serde(default = "half")]
    #[schemars(range(min = 0, max = 1))]
    pub u: f64,
    /// The queue, for the name of the rung.
    #[serde(default)]
    pub queue: Option<String>,
}

const fn half() -> f64 {
    0.5
}

impl Request for Decide {
    type Answer = DecisionDocument;
    const NAME: &'static str = "retry.decide";
    const ABOUT: &'static str = "Whether and where a message waits before it is tried again, or why it is not.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES, NAME_CODES, RANDOM_CODES];

    fn answer(self) -> Result<DecisionDocument, Failure> {
        let policy = self.policy.policy()?;
        let question = question(self.attempt, self.age_ms, self.u)?;
        let ladder = ladder(self.queue.as_deref(), &policy)?;
        Ok(DecisionDocument::new(&policy, question, ladder.as_ref()))
    }
}

fn question(attempt: u32, age_ms: Option<u64>, u: f64) -> Result<Question, Failure> {
    Ok(Question { attempt, age_ms, u: checked_random(u)? })
}

/// A random number for the jitter of a decision, as it was given.
///
/// # Errors
/// When it is below 0, not below 1, or no number.
pub fn checked_random(u: f64) -> Result<f64, Failure> {
    if (0.0..1.0).contains(&u) {
        return Ok(u);
    }
    let help = "give a random number of at least 0 and below 1";
    Err(Failure::one(RANDOM_OUT_OF_RANGE, format!("u {u} is out of range"), help).with("u", u))
}

fn ladder(queue: Option<&str>, policy: &RetryPolicy) -> Result<Option<Ladder>, Failure> {
    Ok(queue.map(|queue| Ladder::new(queue, policy)).transpose()?)
}

/// `retry.rung_for`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RungFor {
    /// Text or mapping.
    pub policy: RetryForm,
    /// Any delay, in milliseconds.
    pub delay_ms: u64,
    /// The queue, for the name of the rung.
    #[serde(default)]
    pub queue: Option<String>,
}

/// The rung for a delay.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RungAnswer {
    /// Its own delay; `null` when the wait is not the broker's.
    pub delay_ms: Option<u64>,
    /// Its name, where the queue is known.
    pub rung: Option<String>,
}

impl Request for RungFor {
    type Answer = RungAnswer;
    const NAME: &'static str = "retry.rung_for";
    const ABOUT: &'static str = "The rung for any delay: the shortest that is long enough, else the longest.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES, NAME_CODES];

    fn answer(self) -> Result<RungAnswer, Failure> {
        let policy = self.policy.policy()?;
        let ladder = ladder(self.queue.as_deref(), &policy)?;
        let rung = ladder.as_ref().and_then(|ladder| ladder.rung_for(self.delay_ms));
        Ok(RungAnswer { delay_ms: policy.rung_for(self.delay_ms), rung: rung.map(|rung| rung.name().to_owned()) })
    }
}

/// `retry.ladder`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LadderOf {
    /// The queue whose messages wait.
    pub queue: String,
    /// Text or mapping.
    pub policy: RetryForm,
}

impl Request for LadderOf {
    type Answer = LadderDocument;
    const NAME: &'static str = "retry.ladder";
    const ABOUT: &'static str = "The retry rungs of a queue as they are declared, with exchange and binding.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES, NAME_CODES];

    fn answer(self) -> Result<LadderDocument, Failure> {
        Ok(Ladder::new(&self.queue, &self.policy.policy()?)?.into())
    }
}

/// `retry.describe`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DescribeRetry {
    /// Text or mapping.
    pub policy: RetryForm,
    /// The queue, for its ladder.
    #[serde(default)]
    pub queue: Option<String>,
    /// The number of a failed delivery, for a decision.
    #[serde(default)]
    pub attempt: Option<u32>,
    /// Milliseconds since the message was first seen, where that is known.
    #[serde(default)]
    pub age_ms: Option<u64>,
    /// A random number in [0, 1) for the jitter; 0.5 unless said, which is none.
    #[serde(default = "half")]
    #[schemars(range(min = 0, max = 1))]
    pub u: f64,
    /// Whether a schedule of more than 100 waits is wanted whole.
    #[serde(default)]
    pub all: bool,
}

impl Request for DescribeRetry {
    type Answer = RetryDocument;
    const NAME: &'static str = "retry.describe";
    const ABOUT: &'static str = "acemq.retry/1: what a policy means, with a queue's ladder and a decision on request.";
    const CODES: &'static [&'static [&'static str]] = &[POLICY_CODES, NAME_CODES, RANDOM_CODES];

    fn answer(self) -> Result<RetryDocument, Failure> {
        let policy = self.policy.policy()?;
        let mut document = RetryDocument::new(&policy, self.all);
        if let Some(ladder) = ladder(self.queue.as_deref(), &policy)? {
            document = document.with_ladder(&ladder);
        }
        if let Some(attempt) = self.attempt {
            document = document.with_decision(question(attempt, self.age_ms, self.u)?);
        }
        Ok(document)
    }
}
