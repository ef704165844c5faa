//! The table of operations.

mod conformance;
mod documents;
mod handles;

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
        assert!(operation.about.ends_with('.') && operation.codes().all(|code| !code.is_empty()), "{}", operation.name);
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
    for input in [
        "",
        "{",
        "[]",
        r#"["1s"]"#,
        "null",
        r#"{"text":1}"#,
        r#"{"text":"1s","text":"2s"}"#,
        "{\"text\":\"1s\"} x",
        "{}",
    ] {
        let failure = call("duration.parse", input).unwrap_err();
        assert_eq!(failure.code(), "bad_input", "{input}");
    }
    let endless = format!("{{\n\"text\": {{\"{}\": 1}}}}", "x".repeat(10_000));
    for input in [format!("\"{}\"", "x".repeat(10_000)), endless] {
        let sentence = call("duration.parse", &input).unwrap_err().to_string();
        assert!(sentence.len() < 400 && sentence.contains(" at line "), "{sentence}");
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

#[test]
fn what_a_broker_answers_and_says() {
    let queue = json!({"name": "q", "arguments": {"x-message-ttl": 1}});
    let printed = answer("declaration.fingerprint", json!({"declaration": {"queue": queue}}));
    assert_eq!(
        printed["canonical"],
        r#"{"arguments":{"x-message-ttl":1},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"q"}"#
    );
    assert_eq!(
        answer("broker.equivalence", json!({"rabbitmq": "4.0.5", "stored": queue, "wanted": {"name": "q"}})),
        json!({
            "equivalent": false,
            "differences": [{"argument": "x-message-ttl", "wanted": null, "current": 1, "compared": true}]
        })
    );
    let asked = json!({"rabbitmq": "4.0.5", "declare": {"queue": {"wanted": {"name": "q"}, "existing": queue}}});
    let text = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q' in vhost '/': received none but \
                current is the value '1' of type 'long'";
    assert_eq!(
        answer("broker.predict", asked),
        json!({"accepted": false, "refused": {"code": 406, "text": text, "scope": "channel"}})
    );
    let explained = answer("broker.explain", json!({"text": text}));
    assert_eq!((&explained["format"], &explained["argument"]), (&json!("acemq.refusal/1"), &json!("x-message-ttl")));
    let unknown = r#"{"rabbitmq": "four", "declare": {"queue": {"wanted": {"name": "q"}}}}"#;
    assert_eq!(call("broker.predict", unknown).unwrap_err().code(), "version_unknown");
}

fn names_of(tables: &Json, kind: &str) -> Vec<String> {
    let objects = tables[kind].as_array().unwrap();
    objects.iter().map(|object| object["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn topologies_and_consumers() {
    let topology = json!({"document": {"acemq": 1, "queues": {"orders": {"dead_letter": true}}}});
    let tables = answer("topology.tables", json!({"topology": topology}));
    assert_eq!(names_of(&tables, "queues"), ["orders", "orders.dlq", "orders.parked"]);
    assert_eq!(answer("topology.check", json!({"topology": topology}))["problems"], json!([]));
    let shown = answer("topology.show", json!({"topology": {"text": "acemq: 1\nqueues: { a: {} }\n"}}));
    assert!(shown["text"].as_str().unwrap().starts_with("Topology: 0 exchanges, 1 queues, 0 bindings\n"));
    let binding = json!({"queue": "a", "exchange": "b", "routing_key": "c"});
    let wrong = json!({"topology": {"document": {"acemq": 1, "bindings": [binding]}}});
    let failure = call("topology.tables", &wrong.to_string()).unwrap_err();
    let codes: Vec<_> = failure.problems().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["binding_exchange_undeclared", "binding_queue_undeclared"]);
    let consumer = answer("topology.consumer", json!({"queue": "orders"}));
    assert_eq!(names_of(&consumer, "queues"), ["orders.dlq", "orders.parked"]);
}

#[test]
fn what_a_builder_collects_is_judged_as_a_whole() {
    let built = |settings: Json| {
        let document = json!({"acemq": 1, "queues": [{"name": "orders"}, {"name": "shipping"}]});
        json!({"topology": {"built": {"document": document, "settings": settings}}})
    };
    let codes = |settings: Json| -> Vec<String> {
        let problems = &answer("topology.check", built(settings))["problems"];
        problems.as_array().unwrap().iter().map(|problem| problem["code"].as_str().unwrap().to_owned()).collect()
    };
    let settings = json!([
        {"name": "orders", "dead_letter": true, "retry": "fixed(2, 1m)"},
        {"name": "shipping", "type": "classic"},
        {"name": "shipping", "arguments": {"x-message-ttl": 1000}},
    ]);
    let tables = answer("topology.tables", built(settings));
    assert_eq!(names_of(&tables, "queues"), ["orders", "orders.dlq", "orders.parked", "orders.retry.1m", "shipping"]);
    assert_eq!(tables["queues"][4]["arguments"], json!({"x-message-ttl": 1000}));
    assert_eq!(codes(json!([{"name": "ordres", "dead_letter": true}])), ["dead_letter_undeclared"]);
    assert_eq!(
        codes(json!([{"name": "orders", "type": "classic"}, {"name": "orders", "type": "quorum"}])),
        ["queue_type_conflict"]
    );
    assert_eq!(codes(json!([{"name": "orders", "typ": "classic"}])), ["unknown_key"]);
    assert_eq!(codes(json!(["orders"])), ["wrong_value"]);
}

#[test]
fn a_session_is_replayed_from_its_answers() {
    let run = |answers: Json| {
        let topology = json!({"document": {"acemq": 1, "queues": {"q": {"type": "classic"}}}});
        let input = json!({"topology": topology, "version": "4.0.5", "vhost": "/", "answers": answers});
        call("plan.session", &input.to_string()).map(|output| serde_json::from_str::<Json>(&output).unwrap())
    };
    let start = run(json!([])).unwrap();
    assert_eq!(start["questions"], json!([{"id": 1, "ask": "queue_passive", "name": "q", "declaration": null}]));
    assert_eq!(start["finished"], json!(false));
    let text = "NOT_FOUND - no queue 'q' in vhost '/'";
    let absent = json!({"id": 1, "refused": {"code": 404, "text": text, "scope": "channel"}});
    assert_eq!(run(json!([absent])).unwrap()["questions"][0]["ask"], "queue_offer");
    let text = "PRECONDITION_FAILED - invalid arg 'x-stream-max-segment-size-bytes' for queue 'q' in vhost '/' of queue \
                type rabbit_classic_queue";
    let refused = json!({"id": 2, "refused": {"code": 406, "text": text, "scope": "channel"}});
    let end = run(json!([absent, refused])).unwrap();
    assert_eq!((&end["finished"], &end["error"]), (&json!(true), &json!(null)));
    assert_eq!(end["text"], "topology plan:\n  create   queue q (classic)\n");
    assert_eq!(run(json!([absent, absent])).unwrap_err().code(), "answer_refused");
}

#[test]
fn patterns_match_one_by_one_and_in_batches() {
    assert_eq!(answer("topic.match", json!({"pattern": "a.#", "key": "a"})), json!({"matches": true}));
    let batch = json!({"patterns": ["a.#", "*", "#"], "keys": ["a", "a.b", ""]});
    assert_eq!(answer("topic.match_all", batch), json!({"matches": [[0, 1, 2], [0, 2], [2]]}));
}
