use super::policy;
use crate::retry::{Ladder, Question, RetryDocument};

#[test]
fn the_document_holds_what_the_policy_means() {
    let policy = policy("exponential(6, 10s, 5m)");
    let ladder = Ladder::new("orders", &policy).unwrap();
    let question = Question { attempt: 3, age_ms: Some(61_000), u: 0.5 };
    let document = RetryDocument::new(&policy, false).with_ladder(&ladder).with_decision(question);
    insta::assert_json_snapshot!("exponential_with_ladder_and_decision", document);
    insta::assert_snapshot!("exponential_with_ladder_and_decision_text", document.to_string());
    // The order of the two additions makes no difference.
    let other = RetryDocument::new(&policy, false).with_decision(question).with_ladder(&ladder);
    assert_eq!(serde_json::to_string(&document).unwrap(), serde_json::to_string(&other).unwrap());
}

#[test]
fn a_plain_document_has_neither_ladder_nor_decision() {
    let policy = policy("none()");
    let document = RetryDocument::new(&policy, false);
    assert_eq!(
        serde_json::to_value(&document).unwrap(),
        serde_json::json!({
            "format": "acemq.retry/1", "policy": "none()", "max_attempts": 1, "schedule_ms": [], "entries": 0,
            "complete": true, "broker_rungs_ms": [], "jitter": 0.0, "threshold_ms": 30_000, "max_age_ms": null
        })
    );
    insta::assert_snapshot!("none_text", document.to_string());
}

#[test]
fn a_decision_stands_at_the_top_level() {
    let policy = policy("exponential(3, 10s).give_up_after(1h).wait_in_broker_from(0)");
    let decision = |attempt, age_ms, u| {
        let document = RetryDocument::new(&policy, false).with_decision(Question { attempt, age_ms, u });
        (serde_json::to_value(&document).unwrap(), document.to_string().lines().last().unwrap().to_owned())
    };
    let (json, text) = decision(1, None, 0.0);
    assert_eq!((&json["retry"], &json["wait_ms"], &json["in_broker"]), (&true.into(), &8_000.into(), &false.into()));
    assert_eq!((&json["reason"], &json["rung"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    assert_eq!(text, "after attempt 1: wait 8s in the consumer");
    let (json, text) = decision(3, Some(1), 0.5);
    assert_eq!((&json["retry"], &json["reason"]), (&false.into(), &"attempts_exhausted".into()));
    assert_eq!(text, "after attempt 3 at an age of 1ms: give up, exhausted 3 attempts");
    let (json, text) = decision(0, Some(3_600_000), 0.5);
    assert_eq!((&json["reason"], &json["wait_ms"]), (&"too_old".into(), &0.into()));
    assert_eq!(text, "after attempt 1 at an age of 1h: give up, older than 1h");
}

#[test]
fn a_long_schedule_is_cut_unless_all_of_it_is_wanted() {
    let long = policy("exponential(4294967295, 10s, 5m)");
    let document = RetryDocument::new(&long, false);
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!((&json["entries"], &json["complete"]), (&4_294_967_294_u32.into(), &false.into()));
    assert_eq!(json["schedule_ms"].as_array().unwrap().len(), 100);
    assert!(document.to_string().contains("5m, … (4294967294 in all, the last 5m)\n"));
    let policy = policy("fixed(102, 1s)");
    let all = serde_json::to_value(RetryDocument::new(&policy, true)).unwrap();
    assert_eq!((all["schedule_ms"].as_array().unwrap().len(), &all["complete"]), (101, &true.into()));
}
