//! Retry policies and ladders.

use crate::error::{ACEMQ_NO, ACEMQ_YES, AcemqError, Fault};
use crate::guard::{DONE, guard};
use crate::memory::{self, AcemqBuffer, AcemqBytes, free, handle, handle_out, out, slice_mut, text, text_out};
use acemq_core::api::{self, Failure, FailureProblem, PolicyDocument};
use acemq_core::retry::{Decision, GiveUpReason, Ladder, LadderDocument, RetryForm, RetryPolicy};

/// The age of a message whose age is not known.
pub const ACEMQ_AGE_UNKNOWN: u64 = u64::MAX;
/// AcemqDecision.reason: the message is tried again.
pub const ACEMQ_REASON_NONE: i32 = 0;
/// AcemqDecision.reason: this was the last attempt.
pub const ACEMQ_REASON_ATTEMPTS_EXHAUSTED: i32 = 1;
/// AcemqDecision.reason: the message has reached the age limit.
pub const ACEMQ_REASON_TOO_OLD: i32 = 2;

/// When a message whose handling failed is tried again, and where it waits. It never changes.
#[derive(Debug)]
pub struct AcemqRetryPolicy(RetryPolicy);

/// What to do with a message whose handling failed.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AcemqDecision {
    /// How long it waits, in milliseconds.
    pub wait_ms: u64,
    /// 1: it is tried again, 0: it is set aside.
    pub retry: i32,
    /// 1: it waits on a rung, 0: in the consumer.
    pub in_broker: i32,
    /// Why it is set aside, ACEMQ_REASON_...
    pub reason: i32,
    /// The rung: its index in acemq_retry_policy_broker_delays and in a ladder of this policy; -1 without one.
    pub rung: i32,
}

/// A policy from its text, as in "exponential(6, 10s, 5m).jitter(0.1)".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_parse(
    text: *const u8,
    text_len: usize,
    policy: *mut *mut AcemqRetryPolicy,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let policy = handle_out(policy, "policy")?;
        policy.put(AcemqRetryPolicy(memory::text(text, text_len, "text")?.parse::<RetryPolicy>()?));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// A policy from JSON: its text as a string, or the mapping {"exponential":{"attempts":6,"first":"10s"},"jitter":0.1}.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_from_json(
    json: *const u8,
    json_len: usize,
    policy: *mut *mut AcemqRetryPolicy,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let policy = handle_out(policy, "policy")?;
        let form: RetryForm = serde_json::from_str(text(json, json_len, "json")?).map_err(no_json)?;
        policy.put(AcemqRetryPolicy(form.policy()?));
        DONE
    };
    unsafe { guard(error, entry) }
}

fn no_json(error: serde_json::Error) -> Failure {
    let help = "give a policy's text in quotes, or its mapping";
    let fields = [("line", error.line()), ("column", error.column())];
    let fields = fields.into_iter().map(|(field, value)| (field.to_owned(), value.into())).collect();
    FailureProblem { code: "bad_input".to_owned(), fields, message: format!("policy: {error}"), help: help.to_owned() }
        .into()
}

/// The policy's canonical text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_text(
    policy: *const AcemqRetryPolicy,
    text: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let text = text_out(text, "text")?;
        text.put(handle(policy, "policy")?.0.to_string());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The policy with every default said, JSON: the output of the operation retry.policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_document(
    policy: *const AcemqRetryPolicy,
    document: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let document = text_out(document, "document")?;
        let policy = &handle(policy, "policy")?.0;
        document.put(to_json(&PolicyDocument::from(policy))?);
        DONE
    };
    unsafe { guard(error, entry) }
}

fn to_json(document: &impl serde::Serialize) -> Result<String, Fault> {
    serde_json::to_string(document).map_err(|error| Fault::internal(&error.to_string()))
}

/// Decides about a message whose delivery number `attempt` (from 1) failed. `age_ms` is the time since the message was first
/// seen, or ACEMQ_AGE_UNKNOWN; `u` is a random number of at least 0 and below 1, for the jitter of a wait in the consumer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_decide(
    policy: *const AcemqRetryPolicy,
    attempt: u32,
    age_ms: u64,
    u: f64,
    decision: *mut AcemqDecision,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let decision = out(decision, "decision")?;
        let policy = &handle(policy, "policy")?.0;
        let age_ms = (age_ms != ACEMQ_AGE_UNKNOWN).then_some(age_ms);
        decision.put(decided(policy, policy.decide(attempt, age_ms, api::checked_random(u)?)));
        DONE
    };
    unsafe { guard(error, entry) }
}

fn decided(policy: &RetryPolicy, decision: Decision) -> AcemqDecision {
    match decision {
        Decision::GiveUp(reason) => {
            AcemqDecision { wait_ms: 0, retry: 0, in_broker: 0, reason: number_of(reason), rung: NO_RUNG }
        }
        Decision::Retry { wait_ms, in_broker } => AcemqDecision {
            wait_ms,
            retry: 1,
            in_broker: in_broker.into(),
            reason: ACEMQ_REASON_NONE,
            rung: if in_broker { index_of(policy, wait_ms) } else { NO_RUNG },
        },
    }
}

const NO_RUNG: i32 = -1;

const fn number_of(reason: GiveUpReason) -> i32 {
    match reason {
        GiveUpReason::AttemptsExhausted => ACEMQ_REASON_ATTEMPTS_EXHAUSTED,
        GiveUpReason::TooOld => ACEMQ_REASON_TOO_OLD,
    }
}

/// The index of the rung of exactly this delay. A policy has 64 rungs at most, shortest first.
fn index_of(policy: &RetryPolicy, delay_ms: u64) -> i32 {
    let index = policy.broker_delays().binary_search(&delay_ms).ok();
    index.and_then(|index| i32::try_from(index).ok()).unwrap_or(NO_RUNG)
}

/// The text that a message is set aside with, as in "exhausted 6 attempts"; `reason` is ACEMQ_REASON_... of a decision.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_give_up_text(
    policy: *const AcemqRetryPolicy,
    reason: i32,
    text: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let text = text_out(text, "text")?;
        let policy = &handle(policy, "policy")?.0;
        let known = [GiveUpReason::AttemptsExhausted, GiveUpReason::TooOld];
        match known.into_iter().find(|known| number_of(*known) == reason) {
            Some(reason) => text.put(policy.give_up_text(reason)),
            None => return Err(Fault::bad_argument("reason", format!("reason {reason} is none to give up for"))),
        }
        DONE
    };
    unsafe { guard(error, entry) }
}

/// How many attempts there are, the first delivery included.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_max_attempts(
    policy: *const AcemqRetryPolicy,
    attempts: *mut u32,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let attempts = out(attempts, "attempts")?;
        attempts.put(handle(policy, "policy")?.0.max_attempts());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The wait after attempt `index` + 1, without jitter: ACEMQ_NO when there is none, which is so from max_attempts - 1 on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_delay(
    policy: *const AcemqRetryPolicy,
    index: u32,
    delay_ms: *mut u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let out = out(delay_ms, "delay_ms")?;
        let delay_ms = handle(policy, "policy")?.0.schedule().get(index);
        out.put(delay_ms.unwrap_or_default());
        Ok(if delay_ms.is_some() { ACEMQ_YES } else { ACEMQ_NO })
    };
    unsafe { guard(error, entry) }
}

/// The waits that are spent in the broker, shortest first: at most 64. Writes at most `capacity` of them into the caller's
/// `delays_ms`, and their whole number into `found`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_broker_delays(
    policy: *const AcemqRetryPolicy,
    delays_ms: *mut u64,
    capacity: usize,
    found: *mut usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let found = out(found, "found")?;
        let delays = handle(policy, "policy")?.0.broker_delays();
        for (place, delay_ms) in slice_mut(delays_ms, capacity, "delays_ms")?.iter_mut().zip(delays) {
            place.write(*delay_ms);
        }
        found.put(delays.len());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The rung for any delay: ACEMQ_NO when the delay is too short for the broker or there are no rungs, else the shortest rung
/// that is long enough, else the longest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_rung_for(
    policy: *const AcemqRetryPolicy,
    delay_ms: u64,
    rung_ms: *mut u64,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let out = out(rung_ms, "rung_ms")?;
        let rung_ms = handle(policy, "policy")?.0.rung_for(delay_ms);
        out.put(rung_ms.unwrap_or_default());
        Ok(if rung_ms.is_some() { ACEMQ_YES } else { ACEMQ_NO })
    };
    unsafe { guard(error, entry) }
}

/// Frees a policy; null is left alone. Ladders that were made with it stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_retry_policy_free(policy: *mut AcemqRetryPolicy) {
    unsafe { free(policy) }
}

/// The queues in which the messages of one queue wait, shortest delay first. It never changes.
#[derive(Debug)]
pub struct AcemqLadder(Ladder);

/// One of these queues.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct AcemqRung {
    /// Its name, which lives as long as the ladder.
    pub name: AcemqBytes,
    /// How long it holds a message, in milliseconds.
    pub delay_ms: u64,
    /// Its place in the ladder, from 0.
    pub index: usize,
}

impl Default for AcemqRung {
    fn default() -> Self {
        Self { name: AcemqBytes::of(&[]), delay_ms: 0, index: 0 }
    }
}

/// The ladder of a queue under a policy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_new(
    queue: *const u8,
    queue_len: usize,
    policy: *const AcemqRetryPolicy,
    ladder: *mut *mut AcemqLadder,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let ladder = handle_out(ladder, "ladder")?;
        let policy = &handle(policy, "policy")?.0;
        ladder.put(AcemqLadder(Ladder::new(text(queue, queue_len, "queue")?, policy)?));
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The ladder with its declarations, JSON: the output of the operation retry.ladder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_document(
    ladder: *const AcemqLadder,
    document: *mut AcemqBuffer,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let document = text_out(document, "document")?;
        let ladder = handle(ladder, "ladder")?.0.clone();
        document.put(to_json(&LadderDocument::from(ladder))?);
        DONE
    };
    unsafe { guard(error, entry) }
}

/// How many rungs there are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_count(
    ladder: *const AcemqLadder,
    count: *mut usize,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let count = out(count, "count")?;
        count.put(handle(ladder, "ladder")?.0.rungs().len());
        DONE
    };
    unsafe { guard(error, entry) }
}

/// The rung at a place: ACEMQ_NO when there is none, which is so from acemq_ladder_count on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_rung(
    ladder: *const AcemqLadder,
    index: usize,
    rung: *mut AcemqRung,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let out = out(rung, "rung")?;
        let rung = handle(ladder, "ladder")?.0.rungs().get(index);
        let Some(rung) = rung else { return Ok(ACEMQ_NO) };
        out.put(AcemqRung { name: AcemqBytes::of(rung.name().as_bytes()), delay_ms: rung.delay_ms, index });
        Ok(ACEMQ_YES)
    };
    unsafe { guard(error, entry) }
}

/// The rung for any delay: ACEMQ_NO when the delay is too short for the broker or there are no rungs, else the shortest rung
/// that is long enough, else the longest.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_rung_for(
    ladder: *const AcemqLadder,
    delay_ms: u64,
    rung: *mut AcemqRung,
    error: *mut *mut AcemqError,
) -> i32 {
    let entry = || unsafe {
        let out = out(rung, "rung")?;
        let ladder = &handle(ladder, "ladder")?.0;
        let Some(rung) = ladder.rung_for(delay_ms) else { return Ok(ACEMQ_NO) };
        let index = ladder.rungs().partition_point(|shorter| shorter.delay_ms < rung.delay_ms);
        out.put(AcemqRung { name: AcemqBytes::of(rung.name().as_bytes()), delay_ms: rung.delay_ms, index });
        Ok(ACEMQ_YES)
    };
    unsafe { guard(error, entry) }
}

/// Frees a ladder; null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn acemq_ladder_free(ladder: *mut AcemqLadder) {
    unsafe { free(ladder) }
}
