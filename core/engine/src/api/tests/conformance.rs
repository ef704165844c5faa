//! What counts as the expected answer to a case.

use crate::api::Case;
use serde_json::{Value as Json, json};

fn case(expectation: Json) -> Case {
    let mut case = json!({"id": "x-001", "description": "x", "input": {}});
    case.as_object_mut().unwrap().extend(expectation.as_object().unwrap().clone());
    serde_json::from_str(&case.to_string()).unwrap()
}

#[test]
fn an_output_may_hold_more_and_numbers_compare_by_value() {
    let expected = case(json!({"expect": {"a": 1, "b": [1, 2.0], "c": {"d": null}}}));
    assert_eq!(expected.judge(Ok(&json!({"a": 1.0, "b": [1, 2], "c": {"d": null, "e": 1}, "more": true}))), Ok(()));
    for (wrong, why) in [
        (json!({"a": 2}), "at a: expected 1, got 2"),
        (json!({}), "at a: expected 1, got nothing"),
        (json!({"a": "1"}), "at a: expected 1, got \"1\""),
        (json!({"a": 1, "b": [1]}), "at b: expected [1,2.0], got [1]"),
        (json!({"a": 1, "b": [2, 1]}), "at b[0]: expected 1, got 2"),
        (json!({"a": 1, "b": [1, 2], "c": {}}), "at c.d: expected null, got nothing"),
    ] {
        assert_eq!(expected.judge(Ok(&wrong)).unwrap_err().to_string(), why, "{wrong}");
    }
    let large = case(json!({"expect": {"n": 9_007_199_254_740_993_u64}}));
    assert!(large.judge(Ok(&json!({"n": 9_007_199_254_740_992_u64}))).is_err());
    assert!(expected.judge(Err(&json!({"code": "a"}))).unwrap_err().to_string().starts_with("expected an output, got"));
}

#[test]
fn an_error_is_its_first_problem_or_all_of_them_in_any_order() {
    let error = json!({
        "code": "b", "fields": {"n": 1, "more": 2}, "message": "…",
        "problems": [{"code": "b", "fields": {"n": 1, "more": 2}}, {"code": "c", "fields": {}}]
    });
    for right in [
        json!({"code": "b"}),
        json!({"code": "b", "fields": {"n": 1}}),
        json!({"problems": [{"code": "c"}, {"code": "b", "fields": {"more": 2}}]}),
    ] {
        assert_eq!(case(json!({"error": right})).judge(Err(&error)), Ok(()), "{right}");
    }
    for wrong in [
        json!({"code": "c"}),
        json!({"code": "b", "fields": {"n": 2}}),
        json!({"problems": [{"code": "b"}]}),
        json!({"problems": [{"code": "b"}, {"code": "b"}]}),
        json!({"problems": [{"code": "b"}, {"code": "c", "fields": {"n": 1}}]}),
    ] {
        assert!(case(json!({"error": wrong})).judge(Err(&error)).is_err(), "{wrong}");
    }
    // A library that reports only one problem says so without a list.
    let one = case(json!({"error": {"problems": [{"code": "b"}]}}));
    assert_eq!(one.judge(Err(&json!({"code": "b", "fields": {}}))), Ok(()));
    let expected = case(json!({"error": {"code": "b"}}));
    assert_eq!(expected.judge(Ok(&json!({}))).unwrap_err().to_string(), "expected the error b, got an output");
}

#[test]
fn a_case_expects_one_of_the_two() {
    for expectation in [json!({}), json!({"expect": {}, "error": {"code": "a"}})] {
        assert!(case(expectation).judge(Ok(&json!({}))).is_err());
    }
}
