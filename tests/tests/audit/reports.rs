//! Which of the users' reports (numbered as in `catalogue.txt` and in the names of the scenarios) is judged where.

use crate::cases;
use acemq_core::topology::{Problem, Topology};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Who answers a report that the audit cannot: it needs two declarations, a client, or a text.
const ELSEWHERE: [(u8, &str, &str, &str); 16] = [
    (
        1,
        "the plan",
        "core/engine/src/plan/tests.rs",
        "a_drift_names_the_policy_that_mends_it_or_says_that_the_queue_must_be_replaced",
    ),
    (
        2,
        "reading refusals",
        "core/engine/src/rabbitmq/refusal/tests/grammar.rs",
        "an_inequivalence_gives_back_its_parts",
    ),
    (
        3,
        "reading refusals",
        "core/engine/src/rabbitmq/refusal/tests/sentences.rs",
        "every_wording_is_found_as_itself_and_has_its_sentence",
    ),
    (
        4,
        "the prediction",
        "core/engine/src/rabbitmq/predict/tests.rs",
        "an_absent_type_equals_classic_and_is_injected_from_4_0_on",
    ),
    (5, "the plan", "core/engine/src/plan/tests.rs", "a_typeless_queue_in_a_vhost_of_another_default_type_is_present"),
    (
        6,
        "the prediction",
        "core/engine/src/rabbitmq/predict/tests.rs",
        "integers_of_every_width_and_timestamps_are_one_number",
    ),
    (7, "the prediction", "core/engine/src/rabbitmq/predict/tests.rs", "values_are_refused_in_the_broker_s_words"),
    (
        8,
        "the prediction",
        "core/engine/src/rabbitmq/arguments/faults.rs",
        "only_what_every_version_refuses_is_a_problem",
    ),
    (
        9,
        "the prediction",
        "core/engine/src/rabbitmq/arguments/faults.rs",
        "every_fault_is_found_in_the_order_of_the_table",
    ),
    (
        11,
        "a document's problems",
        "core/engine/src/topology/tests/rules.rs",
        "equal_duplicates_are_one_object_and_unequal_ones_a_problem",
    ),
    (12, "the plan", "core/engine/src/plan/tests.rs", "drift_refuses_an_apply_before_anything_is_declared"),
    (
        14,
        "the import's preview",
        "core/engine/src/definitions/preview_tests.rs",
        "what_is_there_stays_whatever_the_file_says",
    ),
    (
        15,
        "the import's preview",
        "core/engine/src/definitions/preview_tests.rs",
        "a_binding_to_nothing_is_passed_over_or_refused_by_version",
    ),
    (17, "the plan", "core/engine/src/policy/tests.rs", "a_policy_is_a_remedy_only_where_its_value_holds"),
    (
        22,
        "a document's problems",
        "tests/tests/audit/reports.rs",
        "one_delay_queue_for_two_keys_is_refused_and_one_for_each_is_not",
    ),
    (
        44,
        "migrations",
        "core/engine/src/migration/tests/refusals.rs",
        "the_failures_that_were_measured_on_brokers_are_found",
    ),
];

/// Those that a scenario shows, and no finding is about: the binding that stays is only known beside what was asked for.
const SCENARIOS: [u8; 1] = [39];

const REPORTS: u8 = 44;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_report_is_judged_by_the_audit_or_it_is_said_where() {
    let judged: BTreeSet<u8> =
        cases::all().iter().filter_map(|case| case.name.strip_prefix("B-")?.get(..2)?.parse().ok()).collect();
    let elsewhere: BTreeSet<u8> = ELSEWHERE.iter().map(|(number, ..)| *number).chain(SCENARIOS).collect();
    let both: Vec<&u8> = judged.intersection(&elsewhere).collect();
    assert!(both.is_empty(), "{both:?} are judged here as well");
    let open: Vec<u8> =
        (1..=REPORTS).filter(|number| !judged.contains(number) && !elsewhere.contains(number)).collect();
    assert!(open.is_empty(), "nobody judges {open:?}");
    for (number, who, file, test) in ELSEWHERE {
        let text = fs::read_to_string(repository().join(file)).unwrap_or_default();
        assert!(text.contains(&format!("fn {test}(")), "B-{number:02}, {who}: there is no test {test} in {file}");
    }
    for number in SCENARIOS {
        let files = fs::read_dir(repository().join("examples/scenarios/reports")).unwrap();
        let prefix = format!("b-{number:02}-");
        let shown = files.into_iter().any(|file| file.unwrap().file_name().to_string_lossy().starts_with(&prefix));
        assert!(shown, "no scenario of B-{number:02}");
    }
}

#[test]
fn one_delay_queue_for_two_keys_is_refused_and_one_for_each_is_not() {
    let document = |second: &str| {
        let waits = |name: &str, key: &str| {
            format!(
                "  - {{ name: {name}, type: classic, arguments: {{ x-message-ttl: 1000, x-dead-letter-exchange: messages, x-dead-letter-routing-key: {key} }} }}\n"
            )
        };
        format!(
            "exchanges: [ {{ name: messages, type: direct }} ]\nqueues:\n{}{}",
            waits("delay_1000", "A"),
            waits(second, "B")
        )
    };
    let refused = Topology::from_yaml(&document("delay_1000")).unwrap();
    let named = |problem: &Problem| problem.to_string().contains("delay_1000");
    assert!(refused.problems().iter().any(named), "{:?}", refused.problems());
    let repaired = Topology::from_yaml(&document("delay_1000.B")).unwrap();
    assert!(repaired.problems().is_empty(), "{:?}", repaired.problems());
}
