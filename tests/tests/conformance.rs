//! Runs every fixture of `conformance/` through the engine's table of operations.
//!
//! The expectations come from elsewhere (each suite says from where), so this is where two independent readings of the
//! contract meet. A suite that is not run would go unnoticed, so the number of cases is compared with the index.

use acemq_core::api;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    format: String,
    spec_version: u32,
    cases: usize,
    suites: Vec<IndexEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct IndexEntry {
    suite: String,
    file: String,
    operation: String,
    cases: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    format: String,
    suite: String,
    operation: String,
    derivation: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    description: String,
    input: Map<String, Json>,
    expect: Option<Json>,
    error: Option<ExpectedError>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedError {
    code: Option<String>,
    #[serde(default)]
    fields: Map<String, Json>,
    problems: Option<Vec<ExpectedProblem>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedProblem {
    code: String,
    #[serde(default)]
    fields: Map<String, Json>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conformance")
}

fn read(file: &str) -> String {
    let path = folder().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether `actual` is what was expected: objects may have more keys, numbers compare by value.
fn agrees(expected: &Json, actual: &Json) -> bool {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => holds(expected, actual),
        (Json::Array(expected), Json::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(a, b)| agrees(a, b))
        }
        (Json::Number(expected), Json::Number(actual)) if expected.is_f64() || actual.is_f64() => {
            expected.as_f64() == actual.as_f64()
        }
        _ => expected == actual,
    }
}

fn holds(expected: &Map<String, Json>, actual: &Map<String, Json>) -> bool {
    expected.iter().all(|(key, value)| actual.get(key).is_some_and(|other| agrees(value, other)))
}

fn fields_hold(expected: &Map<String, Json>, problem: &api::FailureProblem) -> bool {
    holds(expected, &problem.fields.clone().into_iter().collect())
}

/// Whether the problems are those that were expected, in any order.
fn same_problems(expected: &[ExpectedProblem], failure: &api::Failure) -> bool {
    let mut left: Vec<&api::FailureProblem> = failure.problems().collect();
    expected.len() == left.len()
        && expected.iter().all(|wanted| {
            let found =
                left.iter().position(|problem| problem.code == wanted.code && fields_hold(&wanted.fields, problem));
            found.map(|index| left.remove(index)).is_some()
        })
}

/// What is wrong with the answer to a case, if anything is.
fn verdict(case: &Case, answer: Result<String, api::Failure>) -> Result<(), String> {
    match (&case.expect, &case.error, answer) {
        (Some(expected), None, Ok(output)) => {
            let output: Json = serde_json::from_str(&output).map_err(|error| format!("output is no JSON: {error}"))?;
            if agrees(expected, &output) { Ok(()) } else { Err(format!("expected {expected}\n     got {output}")) }
        }
        (Some(expected), None, Err(failure)) => Err(format!("expected {expected}\n     got the failure {failure}")),
        (None, Some(expected), Err(failure)) => {
            let first = failure.problems().next();
            let same_first = expected.code.as_ref().is_none_or(|code| code == failure.code())
                && first.is_some_and(|problem| fields_hold(&expected.fields, problem));
            let same_all = expected.problems.as_ref().is_none_or(|problems| same_problems(problems, &failure));
            if same_first && same_all {
                Ok(())
            } else {
                Err(format!("got {}", serde_json::to_string(&failure).unwrap_or_default()))
            }
        }
        (None, Some(_), Ok(output)) => Err(format!("expected a failure\n     got {output}")),
        _ => Err("a case has either expect or error".to_owned()),
    }
}

#[test]
fn every_fixture_passes() {
    let index: Index = serde_json::from_str(&read("index.json")).unwrap();
    assert_eq!(index.format, "acemq.conformance-index/1");
    assert_eq!(index.spec_version, api::CONFORMANCE_VERSION);
    let (mut passed, mut failures, mut ids) = (0, Vec::new(), BTreeSet::new());
    for entry in &index.suites {
        let suite: Suite =
            serde_json::from_str(&read(&entry.file)).unwrap_or_else(|error| panic!("{}: {error}", entry.file));
        assert_eq!(suite.format, "acemq.conformance/1");
        assert_eq!((&suite.suite, &suite.operation), (&entry.suite, &entry.operation));
        assert!(suite.derivation.len() >= 20, "{} does not say where its expectations come from", suite.suite);
        assert_eq!(suite.cases.len(), entry.cases, "{}: the index has another number of cases", suite.suite);
        for case in &suite.cases {
            assert!(ids.insert(case.id.clone()), "two cases are called {}", case.id);
            let input = Json::Object(case.input.clone()).to_string();
            match verdict(case, api::call(&suite.operation, &input)) {
                Ok(()) => passed += 1,
                Err(why) => failures.push(format!("{} {}\n  input {input}\n     {why}", case.id, case.description)),
            }
        }
    }
    println!("{passed} passed, {} failed", failures.len());
    assert_eq!(passed + failures.len(), index.cases, "the index has another number of cases");
    assert!(failures.is_empty(), "{} of {} fixtures failed:\n{}", failures.len(), index.cases, failures.join("\n"));
}

#[test]
fn every_expected_code_is_one_that_the_operation_declares() {
    let index: Index = serde_json::from_str(&read("index.json")).unwrap();
    for entry in &index.suites {
        let suite: Suite = serde_json::from_str(&read(&entry.file)).unwrap();
        let operation = api::OPERATIONS.iter().find(|operation| operation.name == suite.operation).unwrap();
        let declared: BTreeSet<&str> = operation.codes().chain(["bad_input", "unknown_key"]).collect();
        for error in suite.cases.iter().filter_map(|case| case.error.as_ref()) {
            let all = error.problems.iter().flatten().map(|problem| &problem.code);
            for code in error.code.iter().chain(all) {
                assert!(declared.contains(code.as_str()), "{} does not declare {code}", suite.operation);
            }
        }
    }
}

#[test]
fn every_suite_in_the_folder_is_in_the_index() {
    let index: Index = serde_json::from_str(&read("index.json")).unwrap();
    let indexed: BTreeSet<String> = index.suites.into_iter().map(|entry| entry.file).collect();
    let found: BTreeSet<String> = fs::read_dir(folder().join("suites"))
        .unwrap()
        .map(|entry| format!("suites/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    assert_eq!(found, indexed);
}

#[test]
fn derived_suites_are_what_the_second_routine_writes() {
    let script = folder().join("derive/derive.py");
    match Command::new("python3").arg("-B").arg(script).arg("--check").output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout)),
        Err(error) => println!("not checked, python3 cannot be started: {error}"),
    }
}

#[test]
fn a_wrong_answer_is_noticed() {
    assert!(agrees(&json!({"a": 1, "b": [1, 2.0]}), &json!({"a": 1.0, "b": [1, 2], "more": true})));
    for (expected, actual) in [
        (json!({"a": 1}), json!({"a": 2})),
        (json!({"a": 1}), json!({})),
        (json!({"a": null}), json!({})),
        (json!([1, 2]), json!([1])),
        (json!([1, 2]), json!([2, 1])),
        (json!("1"), json!(1)),
        (json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992_u64)),
    ] {
        assert!(!agrees(&expected, &actual), "{expected} {actual}");
    }
    let case = |error: Json| -> Case {
        serde_json::from_value(json!({"id": "x", "description": "x", "input": {}, "error": error})).unwrap()
    };
    let bad = || api::call("retry.policy", r#"{"policy": "exponential(0, 1s, 0)"}"#);
    assert!(verdict(&case(json!({"code": "attempts_too_few"})), bad()).is_ok());
    assert!(verdict(&case(json!({"problems": [{"code": "cap_zero"}, {"code": "attempts_too_few"}]})), bad()).is_ok());
    for wrong in [
        json!({"code": "cap_zero"}),
        json!({"code": "attempts_too_few", "fields": {"attempts": 1}}),
        json!({"problems": [{"code": "attempts_too_few"}]}),
        json!({"problems": [{"code": "attempts_too_few"}, {"code": "attempts_too_few"}]}),
    ] {
        assert!(verdict(&case(wrong.clone()), bad()).is_err(), "{wrong}");
    }
    assert!(verdict(&case(json!({"code": "x"})), api::call("name.delay", r#"{"delay_ms": 1}"#)).is_err());
}
