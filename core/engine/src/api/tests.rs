use super::{CONFORMANCE_VERSION, OPERATIONS, call};
use serde_json::{Value as Json, json};

fn answer(operation: &str, input: Json) -> Json {
    let output = call(operation, &input.to_string()).unwrap_or_else(|failure| panic!("{operation}: {failure}"));
    serde_json::from_str(&output).unwrap()
}

#[test]
fn operations_are_sorted_and_named_once() {
    let names: Vec<&str> = OPERATIONS.iter().map(|operation| operation.name).collect();
    assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    assert_eq!(CONFORMANCE_VERSION, 1);
}

#[test]
fn every_operation_has_closed_input_and_described_output() {
    for operation in OPERATIONS {
        let input = serde_json::to_value(operation.input_schema()).unwrap();
        assert_eq!(input["additionalProperties"], false, "{}", operation.name);
        assert_eq!(input["type"], "object", "{}", operation.name);
        let output = serde_json::to_value(operation.output_schema()).unwrap();
        assert_eq!(output["type"], "object", "{}", operation.name);
        assert!(operation.about.ends_with('.') && operation.codes().next().is_some(), "{}", operation.name);
    }
}

#[test]
fn an_unknown_operation_or_key_names_the_nearest_one() {
    let failure = call("retry.decid", "{}").unwrap_err();
    assert_eq!(
        (failure.code(), failure.to_string().as_str()),
        ("unknown_operation", "there is no operation \"retry.decid\"; did you mean retry.decide?")
    );
    let failure = call("retry.ladder", r#"{"queu": "q", "policy": "none()"}"#).unwrap_err();
    let json = serde_json::to_value(&failure).unwrap();
    assert_eq!((&json["code"], &json["fields"]["nearest"]), (&json!("unknown_key"), &json!("queue")));
    assert_eq!(json["problems"].as_array().unwrap().len(), 1);
}

#[test]
fn an_input_that_is_none_is_refused_at_its_place() {
    for input in ["", "{", "[]", "null", r#"{"text":1}"#, r#"{"text":"1s","text":"2s"}"#, "{\"text\":\"1s\"} x", "{}"] {
        let failure = call("duration.parse", input).unwrap_err();
        assert_eq!(failure.code(), "bad_input", "{input}");
    }
    let failure = call("duration.parse", "{\n\"text\": 1}").unwrap_err();
    assert_eq!(failure.problems().next().unwrap().fields["line"], 2);
}

#[test]
fn all_problems_of_a_policy_are_in_the_failure() {
    let failure = call("retry.policy", r#"{"policy": "exponential(0, 0, 0)"}"#).unwrap_err();
    let codes: Vec<&str> = failure.problems().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["attempts_too_few", "first_zero", "cap_zero"]);
    let random = call("retry.decide", r#"{"policy": "fixed(2, 1s)", "attempt": 1, "u": 1}"#).unwrap_err();
    assert_eq!(random.code(), "random_out_of_range");
}

#[test]
fn a_slice_of_a_schedule_may_start_anywhere() {
    let policy = "exponential(4294967295, 10s, 5m)";
    let slice = answer("retry.schedule", json!({"policy": policy, "from": 3, "count": 3}));
    assert_eq!(slice, json!({"entries": 4_294_967_294_u32, "delays_ms": [80_000, 160_000, 300_000]}));
    let end = answer("retry.schedule", json!({"policy": policy, "from": 4_294_967_293_u32}));
    assert_eq!(end["delays_ms"], json!([300_000]));
    assert!(call("retry.schedule", r#"{"policy": "none()", "count": 10001}"#).is_err());
}

#[test]
fn mapping_and_text_are_one_policy() {
    let mapping = json!({"exponential": {"attempts": 6, "first": "10s", "multiplier": 1.5}, "give_up_after": "2h"});
    assert_eq!(
        answer("retry.policy", json!({"policy": mapping})),
        json!({
            "text": "exponential(6, 10s).multiplier(1.5).give_up_after(2h)", "kind": "exponential", "max_attempts": 6,
            "first_ms": 10_000, "cap_ms": null, "multiplier_thousandths": 1_500, "jitter": 0.2,
            "max_age_ms": 7_200_000, "threshold_ms": 30_000, "broker_rungs_ms": [33_750, 50_625]
        })
    );
}
