//! Scenarios: what the format takes, what a report says, and the runs that the documents of others show.

use super::*;

fn scenario(text: &str) -> Scenario {
    Scenario::parse(text.as_bytes(), Format::Yaml).unwrap()
}

fn played(text: &str) -> Report {
    scenario(text).play(Base::Own).unwrap()
}

/// Example scenarios.
const REJECT: &str = include_str!("../../../../../examples/scenarios/reject.yaml");
const EXPIRY: &str = include_str!("../../../../../examples/scenarios/expiry.yaml");
const REQUEUE_LOOP: &str = include_str!("../../../../../examples/scenarios/requeue-loop.yaml");

#[test]
fn two_hundred_attempts_are_199_redeliveries_and_no_death() {
    let report = played(REQUEUE_LOOP);
    let repeated = &report.steps[1];
    assert_eq!((repeated.deliveries, repeated.redelivered), (200, 199));
    let story: Vec<&str> = report.messages[0].story.iter().map(|line| line.what.as_str()).collect();
    assert_eq!(
        story,
        [
            "published to the default exchange [orders.work]: orders.work",
            "200 times: got from orders.work, put back into orders.work"
        ]
    );
}

#[test]
fn the_report_tells_where_everything_is_and_how_it_got_there() {
    let report = played(EXPIRY);
    insta::assert_snapshot!("expiry", report.to_string());
    insta::assert_json_snapshot!("expiry_json", report);
}

#[test]
fn the_x_death_of_the_documents_is_written_per_version() {
    let headers = |version: &str| {
        let report = scenario(REJECT).for_version(version.parse().unwrap()).play(Base::Own).unwrap();
        serde_json::to_value(&report.messages[0].headers).unwrap()
    };
    let death = serde_json::json!([{
        "count": 1, "reason": "rejected", "queue": "orders.work", "time": {"@T": 0}, "exchange": "",
        "routing-keys": ["orders.work"]
    }]);
    let first = serde_json::json!({
        "x-death": death, "x-first-death-exchange": "", "x-first-death-queue": "orders.work",
        "x-first-death-reason": "rejected"
    });
    assert_eq!(headers("3.10.8"), first);
    let mut both = first;
    both["x-last-death-exchange"] = "".into();
    both["x-last-death-queue"] = "orders.work".into();
    both["x-last-death-reason"] = "rejected".into();
    assert_eq!(headers("4.0.5"), both);
    assert_eq!(headers("4.3.6"), both);
}

#[test]
fn what_is_not_as_expected_fails_its_step_and_the_rest_goes_on() {
    let report = played(
        "topology: { queues: { q: { type: classic } } }
steps:
  - publish: { key: q, body: a }
  - expect: { q: [b] }
  - expect: { q: 2, nothing: 0 }
  - expect: { death: { message: a, reason: expired } }
  - get: { queue: missing }
  - get: { queue: q }
  - ack: { message: other }
  - { refused: 404, get: { queue: missing } }
  - { refused: { code: 404, text: \"NOT_FOUND - no queue 'missing' in vhost '/'\" }, get: { queue: missing } }
  - { refused: 406, get: { queue: missing } }
  - { refused: 404, get: { queue: q } }
",
    );
    let outcomes: Vec<_> = report.steps.iter().map(|step| step.outcome).collect();
    use StepOutcome::{Done, Failed, Refused};
    assert_eq!(
        outcomes,
        [Done, Failed, Failed, Failed, Failed, Done, Failed, Refused, Refused, Failed, Failed],
        "{report}"
    );
    let details: Vec<String> = report.steps.iter().flat_map(|step| step.details.clone()).collect();
    for expected in [
        "q: expected [b], has 1 [a]",
        "q: expected 2 messages, has 1 [a]",
        "there is no queue nothing",
        "a has no such death; its x-death is []",
        "the broker refused it",
        "the channel holds no other to settle",
        "expected 406",
        "the broker was to refuse it, and did not",
    ] {
        assert!(details.iter().any(|detail| detail == expected), "{expected}: {details:?}");
    }
    assert_eq!(report.failed, 7);
}

#[test]
fn a_file_that_is_no_scenario_is_told_what_is_wrong_with_it() {
    let sentence = |text: &str| Scenario::parse(text.as_bytes(), Format::Auto).unwrap_err().to_string();
    for (text, expected) in [
        ("", "the scenario is empty; write rabbitmq, topology and steps"),
        ("steps: [{}]", "steps[0] does nothing; give it one action, such as publish"),
        ("steps: [{ publish: {}, get: { queue: q } }]", "steps[0] has publish and get; make each a step of its own"),
        ("steps: [{ bind: { exchange: e } }]", "steps[0] needs either queue or to_exchange"),
        ("steps: [{ delete: {} }]", "steps[0] needs either queue or exchange"),
        (
            "rabbitmq: four",
            "rabbitmq: \"four\" is no RabbitMQ version; write three numbers as in \"4.0.5\", or two as in \"4.3\" for the newest known patch",
        ),
    ] {
        assert_eq!(sentence(text), expected);
    }
    let unknown = sentence("stepz: []");
    assert!(unknown.contains("line 1") && unknown.contains("stepz"), "{unknown}");
    assert!(sentence("{\"steps\": [{\"advance\": \"10\"}]}").contains("10ms"));
    assert!(sentence("topology: { queues: { q: { type: bogus } } }").starts_with("topology: "));
    let file = scenario("topology: orders.yaml");
    assert_eq!(file.topology_file(), Some("orders.yaml"));
    assert_eq!(file.play(Base::Own).unwrap_err().to_string(), "the topology file \"orders.yaml\" was not given");
}

#[test]
fn policies_take_effect_and_what_cannot_be_told_is_said() {
    let report = played(
        "rabbitmq: \"4.0.5\"
topology: { queues: { q: { type: classic }, dead: { type: classic } } }
steps:
  - publish: { key: q, body: a }
  - publish: { key: q, body: b }
  - set_policy: { name: limits, pattern: ^q$, apply_to: queues, definition: { max-length: 1, dead-letter-exchange: \"\", dead-letter-routing-key: dead } }
  - expect: { q: [b], dead: [a] }
  - set_operator_policy: { name: none, pattern: \".*\", apply_to: queues, definition: { max-length: 0 } }
  - expect: { q: 0, dead: 0 }
  - clear_operator_policy: none
  - clear_policy: limits
  - publish: { key: q, body: c }
  - publish: { key: q, body: d }
  - expect: { q: [c, d] }
  - set_policy: { name: one, pattern: q, definition: { max-length: 1 } }
  - set_policy: { name: two, pattern: q, definition: { max-length: 2 } }
",
    );
    assert_eq!(report.failed, 0, "{report}");
    assert_eq!(report.uncertain.len(), 1);
    assert!(report.uncertain[0].contains("same priority"), "{:?}", report.uncertain);
}

#[test]
fn steps_of_other_versions_are_left_out() {
    let text = r#"
topology: { queues: { q: { type: classic } } }
steps:
  - before: "4.3"
    publish: { key: q, body: old }
  - since: "4.3"
    publish: { key: q, body: new }
  - repeat: { times: 2, steps: [ { since: "4.0.6", publish: { key: q, body: both } } ] }
"#;
    let ready = |version: &str| {
        scenario(text).for_version(version.parse().unwrap()).play(Base::Own).unwrap().queues[0].ready.clone()
    };
    assert_eq!(ready("4.0.5"), ["old"]);
    assert_eq!(ready("4.2.9"), ["old", "both", "both"]);
    assert_eq!(ready("4.3.0"), ["new", "both", "both"]);
}

#[test]
fn a_faster_scenario_has_every_time_divided() {
    let text = r#"
topology: { queues: { q: { type: classic, arguments: { x-message-ttl: 5000 } } } }
steps:
  - publish: { key: q, body: m }
  - at: 4900ms
    expect: { q: [m] }
  - advance: 200ms
  - expect: { q: 0 }
"#;
    let report = scenario(text).times_as_fast(100).play(Base::Own).unwrap();
    assert_eq!((report.failed, report.ended_at_ms), (0, 51));
}

#[test]
fn a_circle_that_is_cut_by_an_old_version_says_so() {
    let text = include_str!("../../../../../examples/scenarios/reports/b-26-a-loop-with-a-rejection-is-no-cycle.yaml");
    let notes = |version: &str| {
        let report = scenario(text).for_version(version.parse().unwrap()).play(Base::Own).unwrap();
        report.messages[0].story.iter().filter(|line| line.what.contains("before 3.13.3")).count()
    };
    assert_eq!(["3.10.8", "3.13.2", "3.13.7", "4.0.5"].map(notes), [1, 1, 0, 0]);
}
