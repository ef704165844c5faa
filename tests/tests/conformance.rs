//! Runs every fixture of `conformance/` through the engine's table of operations.
//!
//! The expectations come from elsewhere (each suite says from where), so this is where two independent readings of the
//! contract meet. A suite that is not run would go unnoticed, so the number of cases is compared with the index.

use acemq_core::api::{self, Case, Index, Suite};
use jsonschema::Validator;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../conformance")
}

fn read(file: &str) -> String {
    let path = folder().join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn index() -> Index {
    serde_json::from_str(&read("index.json")).unwrap()
}

fn suites() -> Vec<Suite> {
    let read_suite = |file: &str| serde_json::from_str(&read(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    index().suites.iter().map(|entry| read_suite(&entry.file)).collect()
}

/// What is wrong with the engine's answer to a case, if anything is.
fn verdict(operation: &str, case: &Case) -> Result<(), String> {
    let answer = match api::call(operation, case.input.get()) {
        Ok(output) => case.judge(Ok(&serde_json::from_str(&output).unwrap())),
        Err(failure) => case.judge(Err(&serde_json::to_value(&failure).unwrap())),
    };
    answer.map_err(|mismatch| mismatch.to_string())
}

#[test]
fn every_fixture_passes() {
    let index = index();
    assert_eq!(index.spec_version, api::CONFORMANCE_VERSION);
    let (mut passed, mut failures, mut ids) = (0, Vec::new(), BTreeSet::new());
    for (entry, suite) in index.suites.iter().zip(suites()) {
        assert_eq!((&suite.suite, &suite.operation), (&entry.suite, &entry.operation));
        assert!(suite.derivation.len() >= 20, "{} does not say where its expectations come from", suite.suite);
        assert_eq!(suite.cases.len(), entry.cases, "{}: the index has another number of cases", suite.suite);
        for case in &suite.cases {
            assert!(ids.insert(case.id.clone()), "two cases are called {}", case.id);
            match verdict(&suite.operation, case) {
                Ok(()) => passed += 1,
                Err(why) => failures.push(format!("{} {}\n  input {}\n  {why}", case.id, case.description, case.input)),
            }
        }
    }
    println!("{passed} passed, {} failed", failures.len());
    assert_eq!(passed + failures.len(), index.cases, "the index has another number of cases");
    assert!(failures.is_empty(), "{} of {} fixtures failed:\n{}", failures.len(), index.cases, failures.join("\n"));
}

#[test]
fn every_expected_code_is_one_that_the_operation_declares() {
    for suite in suites() {
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
    let indexed: BTreeSet<String> = index().suites.into_iter().map(|entry| entry.file).collect();
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

fn validator(schema: impl serde::Serialize) -> Validator {
    jsonschema::validator_for(&serde_json::to_value(schema).unwrap()).unwrap()
}

fn must_fit(validator: &Validator, instance: &Json, what: &str) {
    let faults: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{what}: {}", faults.join("; "));
}

#[test]
fn the_files_fit_their_schemas() {
    let parsed = |file: &str| -> Json { serde_json::from_str(&read(file)).unwrap() };
    must_fit(&validator(parsed("schema/index.schema.json")), &parsed("index.json"), "index.json");
    let suite = validator(parsed("schema/suite.schema.json"));
    for entry in index().suites {
        must_fit(&suite, &parsed(&entry.file), &entry.file);
    }
}

/// The schema is written by hand from the format, for hosts that read plans.
#[test]
fn every_migration_plan_fits_its_schema() {
    let schema = validator(serde_json::from_str::<Json>(&read("schema/migration-plan.schema.json")).unwrap());
    let mut seen = 0;
    for case in suites().iter().filter(|suite| suite.operation == "migration.plan").flat_map(|suite| &suite.cases) {
        let Ok(answer) = api::call("migration.plan", case.input.get()) else { continue };
        let answer: Json = serde_json::from_str(&answer).unwrap();
        must_fit(&schema, &answer["plan"], &case.id);
        seen += 1;
    }
    assert!(seen > 100, "{seen} plans");
}

/// Real inputs and outputs of every operation that has a suite, held against what the table says of them.
#[test]
fn what_goes_in_and_comes_out_fits_the_schemas_of_the_operations() {
    for suite in suites() {
        let operation = api::OPERATIONS.iter().find(|operation| operation.name == suite.operation).unwrap();
        let (input, output) = (validator(operation.input_schema()), validator(operation.output_schema()));
        for case in &suite.cases {
            let Ok(answer) = operation.call(case.input.get()) else { continue };
            must_fit(&input, &serde_json::from_str(case.input.get()).unwrap(), &case.id);
            must_fit(&output, &serde_json::from_str(&answer).unwrap(), &case.id);
        }
    }
}

/// Inputs of the operations that need no suite: they only read, or show what others compute.
const WITHOUT_SUITE: &[(&str, &str)] = &[
    (
        "audit.check",
        r#"{"state": {"topology": {"text": "queues: { q: { dead_letter_to: nobody } }"}}, "target": "4.3"}"#,
    ),
    (
        "audit.sarif",
        r#"{"state": {"topology": {"text": "queues: { q: { dead_letter_to: nobody } }"}}, "file": "q.yaml", "baseline": {"format": "acemq.baseline/1", "findings": []}}"#,
    ),
    ("audit.baseline", r#"{"state": {"topology": {"text": "queues: { q: { dead_letter_to: nobody } }"}}}"#),
    ("audit.explain", r#"{"code": "dead_letter_exchange_missing"}"#),
    ("audit.graph", r#"{"state": {"topology": {"text": "queues: { q: { dead_letter: true } }"}}, "form": "dot"}"#),
    (
        "definitions.read",
        r#"{"definitions": {"text": "{\"vhosts\": [{\"name\": \"/\"}], \"queues\": [{\"name\": 5}]}"}}"#,
    ),
    ("definitions.to_topology", r#"{"state": {"topology": {"text": "queues: { q: { dead_letter: true } }"}}}"#),
    ("topology.to_definitions", r#"{"state": {"topology": {"text": "queues: { q: { dead_letter: true } }"}}}"#),
    ("retry.describe", r#"{"policy": "exponential(6, 10s)", "queue": "q", "attempt": 3}"#),
];

#[test]
fn operations_without_a_suite_fit_their_schemas_too() {
    let covered: BTreeSet<String> = suites().into_iter().map(|suite| suite.operation).collect();
    for operation in api::OPERATIONS.iter().filter(|operation| !covered.contains(operation.name)) {
        let inputs: Vec<&str> =
            WITHOUT_SUITE.iter().filter(|(name, _)| *name == operation.name).map(|(_, input)| *input).collect();
        assert!(!inputs.is_empty(), "{} has neither a suite nor an input here", operation.name);
        for input in inputs {
            let answer = operation.call(input).unwrap_or_else(|failure| panic!("{}: {failure}", operation.name));
            let (taken, given) = (validator(operation.input_schema()), validator(operation.output_schema()));
            must_fit(&taken, &serde_json::from_str(input).unwrap(), operation.name);
            must_fit(&given, &serde_json::from_str(&answer).unwrap(), operation.name);
        }
    }
}

/// The disagreements that are the client runtimes' own, not the engine's.
const OUT_OF_SCOPE: std::ops::RangeInclusive<u32> = 35..=38;

#[test]
fn every_disagreement_is_settled_by_a_case_or_out_of_scope() {
    let table = read("DISAGREEMENTS.md");
    let mut rows: BTreeMap<u32, &str> = BTreeMap::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| D")) {
        let (number, rest) = row.split_once(" |").unwrap();
        assert_eq!(rows.insert(number.parse().unwrap(), rest), None, "D{number} has two rows");
    }
    assert_eq!(rows.keys().copied().collect::<Vec<_>>(), (1..=45).collect::<Vec<_>>());
    let mut settled: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for suite in suites() {
        for case in &suite.cases {
            let words = case.description.split(|c: char| !c.is_ascii_alphanumeric());
            for number in words.filter_map(|word| word.strip_prefix('D')?.parse().ok()) {
                settled.entry(number).or_default().insert(suite.suite.clone());
            }
        }
    }
    for (number, row) in rows {
        if OUT_OF_SCOPE.contains(&number) {
            assert!(row.contains("out of scope") && !settled.contains_key(&number), "D{number}");
            continue;
        }
        let suites = settled.get(&number).unwrap_or_else(|| panic!("no case names D{number}"));
        for suite in suites {
            assert!(row.contains(&format!("`{suite}`")), "D{number} is in {suite} too, which its row does not say");
        }
    }
}
