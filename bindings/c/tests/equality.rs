//! The functions without JSON answer what the table of operations answers, and the table is the same through C.

#![expect(clippy::undocumented_unsafe_blocks, reason = "every pointer here comes from a reference beside it")]

use acemq::*;
use acemq_core::api;
use serde_json::{Value as Json, json};
use std::ptr::{null, null_mut};

/// What a call gave: its text, or the code of its error.
type Answer = Result<String, String>;

fn text(call: impl FnOnce(*mut AcemqBuffer, *mut *mut AcemqError) -> i32) -> Answer {
    let mut buffer = AcemqBuffer { ptr: null_mut(), len: 0, capacity: 0 };
    let mut error = null_mut();
    let status = call(&raw mut buffer, &raw mut error);
    let answer = if status == ACEMQ_OK {
        assert!(error.is_null());
        let bytes = if buffer.len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(buffer.ptr, buffer.len) } };
        Ok(String::from_utf8(bytes.to_vec()).unwrap())
    } else {
        assert!(buffer.ptr.is_null() && status == ACEMQ_REFUSED, "{status}");
        Err(code(error))
    };
    unsafe { acemq_buffer_free(&raw mut buffer) };
    answer
}

fn code(error: *mut AcemqError) -> String {
    let AcemqBytes { ptr, len } = unsafe { acemq_error_code(error) };
    let code = String::from_utf8(unsafe { std::slice::from_raw_parts(ptr, len) }.to_vec()).unwrap();
    unsafe { acemq_error_free(error) };
    code
}

/// The field of an operation's output as text, or the code of its failure.
fn field(operation: &str, input: &Json, field: &str) -> Answer {
    match api::call(operation, &input.to_string()) {
        Ok(output) => match &serde_json::from_str::<Json>(&output).unwrap()[field] {
            Json::String(text) => Ok(text.clone()),
            other => Ok(other.to_string()),
        },
        Err(failure) => Err(failure.code().to_owned()),
    }
}

const NAMES: &[&str] = &["orders", "", "amq.x", "amq", "ü", "a\nb", "tab\there", "nul\0"];
const DELAYS: &[u64] = &[0, 1, 999, 1_000, 1_500, 59_999, 60_000, 61_000, 3_600_000, 5_400_000, u64::MAX];

#[test]
fn names() {
    let long = "x".repeat(252);
    for name in NAMES.iter().copied().chain([long.as_str()]) {
        let (ptr, len) = (name.as_ptr(), name.len());
        // An operation that derives both names reports the one that needs more room.
        let dead = text(|out, error| unsafe { acemq_dead_letter_queue(ptr, len, out, error) });
        let parked = text(|out, error| unsafe { acemq_parked_queue(ptr, len, out, error) });
        assert_eq!(parked, field("name.implied", &json!({"queue": name}), "parked_queue"), "{name:?}");
        assert_eq!(dead.is_ok(), parked.is_ok(), "{name:?}");
        if parked.is_ok() {
            assert_eq!(dead, field("name.implied", &json!({"queue": name}), "dead_letter_queue"));
        }
        for &delay_ms in DELAYS {
            let rung = text(|out, error| unsafe { acemq_retry_queue(ptr, len, delay_ms, out, error) });
            let input = json!({"queue": name, "delay_ms": delay_ms});
            assert_eq!(rung, field("name.retry_queue", &input, "name"), "{input}");
        }
    }
    for &delay_ms in DELAYS {
        let printed = text(|out, error| unsafe { acemq_delay_text(delay_ms, out, error) });
        assert_eq!(printed, field("name.delay", &json!({"delay_ms": delay_ms}), "text"), "{delay_ms}");
    }
}

fn number(call: impl FnOnce(*mut u64, *mut *mut AcemqError) -> i32) -> Answer {
    let (mut value, mut error) = (7, null_mut());
    match call(&raw mut value, &raw mut error) {
        ACEMQ_OK => Ok(value.to_string()),
        _ => Err(code(error)),
    }
}

#[test]
fn durations() {
    for duration in ["0", "1ms", "90s", "5m", "2h", "1", "", "-1s", "1.5s", "1s ", "1d", "99999999999999999999h"] {
        let (ptr, len) = (duration.as_ptr(), duration.len());
        let parsed = number(|out, error| unsafe { acemq_parse_duration(ptr, len, out, error) });
        assert_eq!(parsed, field("duration.parse", &json!({"text": duration}), "ms"), "{duration}");
    }
    for nanoseconds in [0, 1, 999_999, 1_000_000, 1_500_000, 30_000_000_000, u64::MAX] {
        let whole = number(|out, error| unsafe { acemq_milliseconds_from_nanoseconds(nanoseconds, out, error) });
        assert_eq!(whole, field("duration.from_nanoseconds", &json!({"nanoseconds": nanoseconds}), "ms"));
    }
    for seconds in [0.0, 0.3, 30.0, 30.0005, 1e-3, 1e-4, -0.5, 1e300, 1.000_000_5] {
        let whole = number(|out, error| unsafe { acemq_milliseconds_from_seconds(seconds, out, error) });
        assert_eq!(whole, field("duration.from_seconds", &json!({"seconds": seconds}), "ms"), "{seconds}");
    }
}

const POLICIES: &[&str] = &[
    "none()",
    "fixed(3, 40s)",
    "exponential(6, 10s)",
    "exponential(20, 1ms, 10h).multiplier(3.7).jitter(1).give_up_after(1h)",
    "exponential(9, 5s).wait_in_broker_from(0)",
    "exponential(12, 7s, 20m).wait_in_broker_from(1ms)",
];

#[test]
fn policies_and_ladders() {
    for policy in POLICIES {
        let mut handle = null_mut();
        let mut ladder = null_mut();
        unsafe {
            assert_eq!(acemq_retry_policy_parse(policy.as_ptr(), policy.len(), &raw mut handle, null_mut()), ACEMQ_OK);
            assert_eq!(acemq_ladder_new("q".as_ptr(), 1, handle, &raw mut ladder, null_mut()), ACEMQ_OK);
        }
        let same = |operation: &str, input: Json, printed: Answer| {
            assert_eq!(printed.unwrap(), api::call(operation, &input.to_string()).unwrap(), "{policy}");
        };
        let document = text(|out, error| unsafe { acemq_retry_policy_document(handle, out, error) });
        same("retry.policy", json!({"policy": policy}), document);
        let document = text(|out, error| unsafe { acemq_ladder_document(ladder, out, error) });
        same("retry.ladder", json!({"policy": policy, "queue": "q"}), document);

        for attempt in (0..25).chain([u32::MAX]) {
            for age_ms in [None, Some(0), Some(3_599_999), Some(3_600_000)] {
                for u in [0.0, 0.25, 0.5, 0.999] {
                    let input = json!({"policy": policy, "queue": "q", "attempt": attempt, "age_ms": age_ms, "u": u});
                    let wanted: Json =
                        serde_json::from_str(&api::call("retry.decide", &input.to_string()).unwrap()).unwrap();
                    assert_eq!(decided(handle, ladder, attempt, age_ms, u), wanted, "{input}");
                }
            }
        }
        for delay_ms in [0, 1, 29_999, 30_000, 40_000, 41_000, 80_001, 3_600_000, u64::MAX] {
            let input = json!({"policy": policy, "queue": "q", "delay_ms": delay_ms});
            let wanted: Json = serde_json::from_str(&api::call("retry.rung_for", &input.to_string()).unwrap()).unwrap();
            let (mut own, mut rung) = (0, AcemqRung::default());
            let found = unsafe { acemq_retry_policy_rung_for(handle, delay_ms, &raw mut own, null_mut()) };
            assert_eq!(found == ACEMQ_YES, !wanted["delay_ms"].is_null(), "{input}");
            assert_eq!(unsafe { acemq_ladder_rung_for(ladder, delay_ms, &raw mut rung, null_mut()) }, found, "{input}");
            if found == ACEMQ_YES {
                assert_eq!(json!({"delay_ms": own, "rung": name_of(&rung)}), wanted, "{input}");
                assert_eq!(rung.delay_ms, own);
            }
        }
        let schedule = api::call("retry.schedule", &json!({"policy": policy}).to_string()).unwrap();
        let mut delays = Vec::new();
        let mut delay_ms = 0;
        while unsafe {
            acemq_retry_policy_delay(handle, u32::try_from(delays.len()).unwrap(), &raw mut delay_ms, null_mut())
        } == ACEMQ_YES
        {
            delays.push(delay_ms);
        }
        assert_eq!(json!(delays), serde_json::from_str::<Json>(&schedule).unwrap()["delays_ms"], "{policy}");
        unsafe {
            acemq_ladder_free(ladder);
            acemq_retry_policy_free(handle);
        }
    }
}

fn name_of(rung: &AcemqRung) -> String {
    let bytes = unsafe { std::slice::from_raw_parts(rung.name.ptr, rung.name.len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A decision as the operation writes it.
fn decided(
    policy: *const AcemqRetryPolicy,
    ladder: *const AcemqLadder,
    attempt: u32,
    age_ms: Option<u64>,
    u: f64,
) -> Json {
    let mut decision = AcemqDecision::default();
    let age_ms = age_ms.unwrap_or(ACEMQ_AGE_UNKNOWN);
    let status = unsafe { acemq_retry_policy_decide(policy, attempt, age_ms, u, &raw mut decision, null_mut()) };
    assert_eq!(status, ACEMQ_OK);
    let reason = match decision.reason {
        ACEMQ_REASON_ATTEMPTS_EXHAUSTED => Some("attempts_exhausted"),
        ACEMQ_REASON_TOO_OLD => Some("too_old"),
        _ => None,
    };
    let give_up_text = reason.map(|_| {
        text(|out, error| unsafe { acemq_retry_policy_give_up_text(policy, decision.reason, out, error) }).unwrap()
    });
    let mut rung = AcemqRung::default();
    let named = usize::try_from(decision.rung).ok().map(|index| {
        assert_eq!(unsafe { acemq_ladder_rung(ladder, index, &raw mut rung, null_mut()) }, ACEMQ_YES);
        assert_eq!(rung.delay_ms, decision.wait_ms);
        name_of(&rung)
    });
    json!({
        "retry": decision.retry == 1, "reason": reason, "wait_ms": decision.wait_ms,
        "in_broker": decision.in_broker == 1, "rung": named, "give_up_text": give_up_text,
    })
}

#[test]
fn patterns_and_matchers() {
    let patterns = ["", "#", "*", "a.#", "a.*", "*.b", "#.b", "a.b", "a*", "a..b", "*.#.*", "#.#"];
    let keys = ["", "a", "b", "a.b", "a..b", ".", "a.b.c", "a*", "#"];
    let joined = keys.concat();
    let mut offsets = vec![0_u32];
    offsets.extend(keys.iter().scan(0, |end, key| {
        *end += u32::try_from(key.len()).unwrap();
        Some(*end)
    }));
    let all: Json = {
        let output = api::call("topic.match_all", &json!({"patterns": patterns, "keys": keys}).to_string()).unwrap();
        serde_json::from_str::<Json>(&output).unwrap()["matches"].clone()
    };
    let mut matcher = null_mut();
    assert_eq!(unsafe { acemq_matcher_new(&raw mut matcher, null_mut()) }, ACEMQ_OK);
    for (index, pattern) in patterns.iter().enumerate() {
        let (ptr, len) = (pattern.as_ptr(), pattern.len());
        let mut compiled = null_mut();
        let mut results = vec![7_u8; keys.len()];
        unsafe {
            assert_eq!(acemq_matcher_insert(matcher, ptr, len, index as u64, null_mut()), ACEMQ_YES);
            assert_eq!(acemq_pattern_new(ptr, len, &raw mut compiled, null_mut()), ACEMQ_OK);
            let status = acemq_pattern_matches_batch(
                compiled,
                joined.as_ptr(),
                joined.len(),
                offsets.as_ptr(),
                keys.len(),
                results.as_mut_ptr(),
                null_mut(),
            );
            assert_eq!(status, ACEMQ_OK);
        }
        for (key, result) in keys.iter().zip(results) {
            let wanted = field("topic.match", &json!({"pattern": pattern, "key": key}), "matches").unwrap() == "true";
            let direct = unsafe { acemq_topic_matches(ptr, len, key.as_ptr(), key.len(), null_mut()) };
            let once = unsafe { acemq_pattern_matches(compiled, key.as_ptr(), key.len(), null_mut()) };
            let answers = [direct == ACEMQ_YES, once == ACEMQ_YES, result == 1];
            assert_eq!(answers, [wanted; 3], "{pattern} {key}");
        }
        unsafe { acemq_pattern_free(compiled) };
    }
    let (mut values, mut ends, mut found) = (vec![0_u64; 200], vec![0_u64; keys.len()], 0);
    let status = unsafe {
        acemq_matcher_matches_batch(
            matcher,
            joined.as_ptr(),
            joined.len(),
            offsets.as_ptr(),
            keys.len(),
            values.as_mut_ptr(),
            values.len(),
            ends.as_mut_ptr(),
            &raw mut found,
            null_mut(),
        )
    };
    assert_eq!(status, ACEMQ_OK);
    let mut start = 0;
    for ((key, end), wanted) in keys.iter().zip(ends).zip(all.as_array().unwrap()) {
        let end = usize::try_from(end).unwrap();
        assert_eq!(json!(values[start..end]), *wanted, "{key}");
        let (mut one, mut count) = ([0_u64; 20], 0);
        let status = unsafe {
            acemq_matcher_matches(matcher, key.as_ptr(), key.len(), one.as_mut_ptr(), 20, &raw mut count, null_mut())
        };
        assert_eq!((status, json!(one[..count])), (ACEMQ_OK, wanted.clone()), "{key}");
        start = end;
    }
    assert_eq!(start, found);
    unsafe { acemq_matcher_free(matcher) };
}

#[test]
fn the_table_of_operations_is_complete() {
    let listed = text(|out, error| unsafe { acemq_operations(out, error) }).unwrap();
    let listed: Json = serde_json::from_str(&listed).unwrap();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let wanted: Vec<&str> = api::OPERATIONS.iter().map(|operation| operation.name).collect();
    assert_eq!(names, wanted);
    let none: Answer = text(|out, error| unsafe { acemq_call(null(), 0, null(), 0, out, error) });
    assert_eq!(none.unwrap_err(), "unknown_operation");
}
