//! Operations on scenarios, definitions and policies.

use super::answer;
use crate::api::call;
use serde_json::{Value as Json, json};

/// A small export of one broker.
fn export() -> Json {
    json!({
        "rabbitmq_version": "4.0.5",
        "vhosts": [{"name": "/"}, {"name": "shop", "default_queue_type": "quorum"}],
        "policies": [{"vhost": "shop", "name": "p", "pattern": "^a", "apply-to": "queues", "priority": 1,
                      "definition": {"max-length": 5}}],
        "queues": [{"vhost": "shop", "name": "a", "durable": true, "auto_delete": false,
                    "arguments": {"x-queue-type": "classic", "x-max-length": 9}}],
        "exchanges": [{"vhost": "shop", "name": "e", "type": "topic", "durable": true, "auto_delete": false,
                       "internal": false, "arguments": {}}],
        "bindings": [{"vhost": "shop", "source": "e", "destination": "a", "destination_type": "queue",
                      "routing_key": "k.#", "arguments": {}}]
    })
}

fn shop() -> Json {
    json!({"definitions": {"document": export()}, "vhost": "shop"})
}

#[test]
fn definitions_are_read_shown_and_turned_into_a_topology_and_back() {
    let read = answer("definitions.read", json!({"definitions": {"text": export().to_string()}}));
    assert_eq!((&read["vhosts"], &read["layout"]), (&json!(["/", "shop"]), &json!("cluster")));
    let state = answer("definitions.state", json!({"state": shop()}));
    assert_eq!((&state["format"], &state["queues"][0]["name"]), (&json!("acemq.state/1"), &json!("a")));
    let topology = answer("definitions.to_topology", json!({"state": shop()}));
    assert_eq!(topology["left_out"], json!([]));
    let back = json!({"topology": {"text": topology["text"]}, "rabbitmq": "4.0.5", "vhost": "shop"});
    let written = answer("topology.to_definitions", json!({"state": back}));
    assert_eq!(written["definitions"]["bindings"][0]["routing_key"], "k.#");
    assert_eq!(
        answer("routing.route", json!({"state": shop(), "message": {"exchange": "e", "key": "k"}}))["queues"],
        json!(["a"])
    );
}

#[test]
fn a_file_that_cannot_be_used_says_what_it_is() {
    let state = |source: Json| call("definitions.state", &json!({"state": source}).to_string()).unwrap_err();
    let file = json!({"definitions": {"document": export()}});
    assert_eq!(state(file).problems().next().unwrap().fields["vhosts"], json!(["/", "shop"]));
    assert_eq!(state(json!({"definitions": {"document": {"acemq": 1}}})).code(), "definitions_is_a_topology");
    assert_eq!(state(json!({"definitions": {"text": ""}})).code(), "definitions_empty");
    let mut faulty = export();
    faulty["queues"][0]["durable"] = json!(7);
    faulty["exchanges"][0]["type"] = json!(7);
    let failure = state(json!({"definitions": {"document": faulty}, "vhost": "shop"}));
    let codes: Vec<&str> = failure.problems().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["definitions_faulty"; 2]);
    let unknown = json!({"topology": {"text": "queues: {}"}, "default_queue_type": "bogus"});
    assert_eq!(state(unknown).code(), "unknown_queue_type");
}

#[test]
fn an_import_tells_beforehand_what_it_would_not_create() {
    let there = json!({"topology": {"text": "queues: { a: { type: classic } }"}, "rabbitmq": "4.0.5", "vhost": "shop"});
    let preview = answer(
        "definitions.preview",
        json!({"definitions": {"document": export()}, "rabbitmq": "4.0.5", "there": [there]}),
    );
    assert_eq!(preview["effects"][0]["outcome"], "skipped");
    let message = preview["effects"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("queue a: it is there"), "{message}");
}

#[test]
fn argument_and_policy_are_merged_with_a_reason() {
    let effective = answer("policy.effective", json!({"state": shop(), "kind": "queue", "name": "a"}));
    // For max-length the smaller of the two holds.
    assert_eq!(
        (&effective["settings"]["max-length"]["value"], &effective["settings"]["max-length"]["policy"]),
        (&json!(5), &json!("p"))
    );
    let missing = json!({"state": shop(), "kind": "exchange", "name": "b"});
    assert_eq!(call("policy.effective", &missing.to_string()).unwrap_err().code(), "no_such_object");
}

#[test]
fn a_scenario_is_played() {
    let scenario = "topology: { queues: { q: { type: classic } } }\nsteps: [ { publish: { key: q, body: m } }, { expect: { q: [m] } } ]";
    let report = answer("embedded.simulate", json!({"scenario": {"text": scenario}, "rabbitmq": "4.0.5"}));
    assert_eq!((&report["format"], &report["failed"]), (&json!("acemq.simulation/1"), &json!(0)));
    assert_eq!(report["queues"][0]["ready"], json!(["m"]));
    let named = json!({"scenario": {"document": {"topology": "orders.yaml"}}});
    let failure = call("embedded.simulate", &named.to_string()).unwrap_err();
    assert_eq!(
        (failure.code(), failure.to_string().as_str()),
        ("scenario_invalid", "the topology file \"orders.yaml\" was not given")
    );
    let mut given = named;
    given["state"] = json!({"topology": {"text": "queues: { q: {} }"}});
    assert_eq!(answer("embedded.simulate", given)["queues"][0]["type"], "quorum");
}

#[test]
fn the_order_of_a_document_is_the_order_of_its_tables() {
    let input = r#"{"topology": {"document": {"acemq": 1, "queues": {"z": {}, "a": {}, "m": {}}}}}"#;
    let tables: Json = serde_json::from_str(&call("topology.tables", input).unwrap()).unwrap();
    let names: Vec<&Json> = tables["queues"].as_array().unwrap().iter().map(|queue| &queue["name"]).collect();
    assert_eq!(names, ["z", "a", "m"]);
    let twice = r#"{"topology": {"document": {"acemq": 1, "queues": {"z": {}, "z": {}}}}}"#;
    assert_eq!(call("topology.tables", twice).unwrap_err().code(), "duplicate_key");
}
