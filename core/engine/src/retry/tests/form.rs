use super::policy;
use crate::retry::{RetryForm, RetryPolicy};

fn json(text: &str) -> Result<RetryPolicy, Vec<(&'static str, String)>> {
    let form: RetryForm = serde_json::from_str(text).unwrap();
    form.policy().map_err(|problems| {
        let key = |fields: &std::collections::BTreeMap<_, serde_json::Value>| {
            fields.get("key").and_then(|key| key.as_str()).unwrap_or_default().to_owned()
        };
        problems.iter().map(|problem| (problem.code.as_str(), key(&problem.fields))).collect()
    })
}

#[test]
fn a_mapping_means_the_same_as_its_text() {
    for (mapping, text) in [
        (r#""exponential(6, 10s, 5m)""#, "exponential(6, 10s, 5m)"),
        (r#"{"none":{}}"#, "none()"),
        (r#"{"fixed":{"attempts":3,"delay":"30s"}}"#, "fixed(3, 30s)"),
        (r#"{"fixed":{"attempts":3,"delay":0},"wait_in_broker_from":0}"#, "fixed(3, 0).wait_in_broker_from(0)"),
        (
            r#"{"exponential":{"attempts":6,"first":"10s","cap":"5m","multiplier":1.5},"jitter":0.1,"give_up_after":"2h"}"#,
            "exponential(6, 10s, 5m).multiplier(1.5).jitter(0.1).give_up_after(2h)",
        ),
        (
            r#"{"exponential":{"attempts":2,"first":"1s","multiplier":1.001e2},"jitter":1}"#,
            "exponential(2, 1s).multiplier(100.1).jitter(1)",
        ),
    ] {
        assert_eq!(json(mapping), Ok(policy(text)), "{mapping}");
    }
}

#[test]
fn yaml_gives_the_same_policy() {
    let mapping = "exponential: { attempts: 6, first: 10s, cap: 5m, multiplier: 1.5 }\njitter: 0.1\ngive_up_after: 2h\nwait_in_broker_from: 1m\n";
    assert_eq!(
        serde_saphyr::from_str::<RetryPolicy>(mapping).unwrap(),
        policy("exponential(6, 10s, 5m).multiplier(1.5).jitter(0.1).give_up_after(2h).wait_in_broker_from(1m)")
    );
    assert_eq!(serde_saphyr::from_str::<RetryPolicy>("\"fixed(3, 30s)\"").unwrap(), policy("fixed(3, 30s)"));
    assert!(serde_saphyr::from_str::<RetryPolicy>("fixed: { attempts: 3, delay: 30 }").is_err());
}

#[test]
fn a_multiplier_is_the_decimal_that_was_written() {
    for (written, thousandths) in [("1.5", "1.5"), ("1.1", "1.1"), ("1.01", "1.01"), ("999.999", "999.999"), ("3", "3")]
    {
        let mapping = format!(r#"{{"exponential":{{"attempts":2,"first":"1s","multiplier":{written}}}}}"#);
        assert_eq!(json(&mapping), Ok(policy(&format!("exponential(2, 1s).multiplier({thousandths})"))));
    }
    for (written, code) in [
        ("1.0005", "multiplier_too_precise"),
        ("1.001", "multiplier_out_of_range"),
        ("-1", "multiplier_out_of_range"),
        ("1e300", "multiplier_out_of_range"),
        ("\"1.5\"", "wrong_value"),
    ] {
        let mapping = format!(r#"{{"exponential":{{"attempts":2,"first":"1s","multiplier":{written}}}}}"#);
        assert_eq!(json(&mapping), Err(vec![(code, "exponential.multiplier".to_owned())]), "{written}");
    }
}

#[test]
fn every_problem_of_a_mapping_is_found_with_its_key() {
    let problems = json(
        r#"{"exponential":{"atempts":6,"first":10,"cap":"5m","cap":"6m","multiplier":true},"jitter":"x","giveup":"2h","wait_in_broker_from":1.5}"#,
    )
    .unwrap_err();
    let expected = [
        ("unknown_key", "giveup"),
        ("unknown_key", "exponential.atempts"),
        ("duplicate_key", "exponential.cap"),
        ("missing_key", "exponential.attempts"),
        ("duration_no_unit", "exponential.first"),
        ("wrong_value", "exponential.multiplier"),
        ("wrong_value", "jitter"),
        ("wrong_value", "wait_in_broker_from"),
    ];
    assert_eq!(problems, expected.map(|(code, key)| (code, key.to_owned())));
}

#[test]
fn a_policy_has_exactly_one_kind() {
    assert_eq!(json("{}").unwrap_err()[0].0, "missing_key");
    assert_eq!(json(r#"{"none":{},"fixed":{"attempts":3,"delay":"1s"}}"#).unwrap_err()[0].0, "duplicate_key");
    assert_eq!(json(r#"{"none":null}"#).unwrap_err(), [("wrong_value", "none".to_owned())]);
    assert_eq!(json(r#"{"none":{"attempts":1}}"#).unwrap_err(), [("unknown_key", "none.attempts".to_owned())]);
    for other in ["null", "true", "3", "[]", "1.5"] {
        assert_eq!(json(other).unwrap_err()[0].0, "wrong_value", "{other}");
    }
}

#[test]
fn an_unknown_key_is_answered_with_the_nearest_one() {
    let error = serde_json::from_str::<RetryPolicy>(r#"{"fixed":{"atempts":3,"delay":"1s"}}"#).unwrap_err().to_string();
    assert!(error.contains("fixed.atempts: unknown key; did you mean attempts?"), "{error}");
}

#[test]
fn the_schema_describes_both_forms() {
    let schema = serde_json::to_value(schemars::schema_for!(RetryPolicy)).unwrap();
    let forms = schema["oneOf"].as_array().unwrap();
    assert_eq!(forms[0]["type"], "string");
    assert_eq!(forms[1]["additionalProperties"], false);
    assert_eq!(forms[1]["properties"]["exponential"]["required"], serde_json::json!(["attempts", "first"]));
}
