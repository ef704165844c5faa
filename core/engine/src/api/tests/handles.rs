//! The handles that bindings hold.

use super::answer;
use crate::api::{BrokerHandle, RouterHandle, SessionHandle, call};
use serde_json::{Value as Json, json};

fn parsed(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

fn broker(settings: Json) -> BrokerHandle {
    BrokerHandle::new(&settings.to_string()).unwrap_or_else(|failure| panic!("{failure}"))
}

fn ask(broker: &mut BrokerHandle, command: Json) -> Json {
    parsed(&broker.call(&command.to_string()).unwrap_or_else(|failure| panic!("{command}: {failure}")))
}

/// A broker and an open channel of it.
fn with_channel(settings: Json) -> (BrokerHandle, Json) {
    let mut broker = broker(settings);
    let connection = ask(&mut broker, json!({"connect": {}}))["connection"].clone();
    let channel = ask(&mut broker, json!({"connection": connection, "open_channel": {}}))["channel"].clone();
    (broker, channel)
}

#[test]
fn a_session_is_answered_question_by_question_and_replays_alike() {
    let topology = json!({"document": {"acemq": 1, "queues": {"q": {"type": "classic"}, "r": {}}}});
    let input = json!({"topology": topology, "version": "4.0.5", "vhost": "/"});
    let mut session = SessionHandle::new(&input.to_string()).unwrap();
    let first = parsed(&session.next_questions(1));
    assert_eq!(first, json!([{"id": 1, "ask": "queue_passive", "name": "q", "declaration": null}]));
    let asked = |questions: Json| questions.as_array().unwrap().iter().map(|q| q["id"].clone()).collect::<Vec<_>>();
    assert_eq!(asked(parsed(&session.next_questions(9))), [2]);
    assert_eq!(asked(parsed(&session.questions())), [1, 2]);

    let answers = [json!({"id": 2, "failed": "timed out"}), json!({"id": 1, "cannot": "no channel"})];
    for answer in &answers {
        session.answer(&answer.to_string()).unwrap();
    }
    assert!(session.finished());
    let mut replayed = input;
    replayed["answers"] = json!(answers);
    assert_eq!(parsed(&session.state()), answer("plan.session", replayed.clone()));
    let resumed = SessionHandle::new(&replayed.to_string()).unwrap();
    assert_eq!(resumed.state(), session.state());

    let again = session.answer(r#"{"id": 1, "failed": "again"}"#).unwrap_err();
    assert_eq!(again.code(), "answer_refused");
    assert_eq!(session.answer("{").unwrap_err().code(), "answer_refused");
    assert_eq!(SessionHandle::new(r#"{"topolgy": {}}"#).unwrap_err().code(), "unknown_key");
}

#[test]
fn an_interrupted_session_says_what_it_did_not_ask() {
    let mut session = SessionHandle::new(r#"{"topology": {"text": "queues: { q: {} }"}, "apply": true}"#).unwrap();
    session.interrupt();
    assert!(session.finished());
    assert_eq!(parsed(&session.state())["plan"]["actions"][0]["verdict"], "unknown");
}

/// The plan of a topology, asked of an embedded broker question by question.
fn applied(broker: &mut BrokerHandle, topology: &Json) -> Json {
    let input = json!({"topology": topology, "version": "4.0.5", "vhost": "/", "apply": true});
    let mut session = SessionHandle::new(&input.to_string()).unwrap();
    while !session.finished() {
        for question in parsed(&session.next_questions(8)).as_array().unwrap() {
            let connection = ask(broker, json!({"connect": {}}))["connection"].clone();
            let reply = ask(broker, json!({"connection": connection, "answer_question": question}));
            session.answer(&reply["answer"].to_string()).unwrap();
            ask(broker, json!({"connection": connection, "disconnect": {}}));
        }
    }
    parsed(&session.state())
}

#[test]
fn a_session_and_a_broker_meet_in_json() {
    let mut broker = broker(json!({"rabbitmq": "4.0.5"}));
    let topology = json!({"document": {"acemq": 1,
        "exchanges": {"orders": {"type": "topic"}, "copies": {"type": "fanout"}},
        "queues": {"orders.new": {"dead_letter": true, "retry": "exponential(6, 10s)"}},
        "bindings": [{"queue": "orders.new", "exchange": "orders", "routing_key": "order.*"},
                     {"to_exchange": "copies", "exchange": "orders", "routing_key": "#", "arguments": {"n": {"@I": 5}}}]}});
    let first = applied(&mut broker, &topology);
    assert_eq!((&first["error"], &first["plan"]["summary"]["create"]), (&json!(null), &json!(10)));
    let second = applied(&mut broker, &topology);
    // Four exchanges and six queues; AMQP cannot report the five bindings.
    let summary = &second["plan"]["summary"];
    assert_eq!((&summary["create"], &summary["present"], &summary["unknown"]), (&json!(0), &json!(10), &json!(5)));
    let differs = json!({"document": {"acemq": 1, "queues": {"orders.new": {"arguments": {"x-max-length": 5}}}}});
    let drift = applied(&mut broker, &differs);
    assert!(drift["error"].as_str().unwrap().contains("1 queue differs from the broker"), "{drift}");
    let wrong = json!({"connection": 1, "answer_question": {"id": 1, "ask": "bind", "name": "q", "declaration": null}});
    assert_eq!(broker.call(&wrong.to_string()).unwrap_err().code(), "question_invalid");
}

#[test]
fn a_router_routes_many_messages() {
    let text = "exchanges: { orders: { type: topic } }\nqueues: { eu: {}, all: {} }\n\
                bindings: [ { queue: eu, exchange: orders, routing_key: eu.# }, { queue: all, exchange: orders, routing_key: \"#\" } ]";
    let router = RouterHandle::new(&json!({"topology": {"text": text}}).to_string()).unwrap();
    let route = |message: Json| parsed(&router.route(&message.to_string()).unwrap());
    let explained = route(json!({"exchange": "orders", "key": "eu.paid"}));
    assert_eq!((&explained["format"], &explained["queues"]), (&json!("acemq.route/1"), &json!(["all", "eu"])));
    assert_eq!(explained["copies"][1]["path"][0]["matched"]["words"][1]["words"], json!(["paid"]));
    let short = route(json!({"exchange": "orders", "key": "us", "bcc": ["eu"], "explain": false}));
    assert_eq!((&short["queues"], short.get("copies")), (&json!(["all", "eu"]), None));
    assert_eq!(route(json!({"exchange": "none"}))["exchange_exists"], false);
    assert_eq!(
        router.route(r#"{"exchang": ""}"#).unwrap_err().problems().next().unwrap().fields["nearest"],
        "exchange"
    );

    let state = json!({"topology": {"text": text}});
    let message = json!({"exchange": "orders", "key": "eu.paid"});
    assert_eq!(answer("routing.route", json!({"state": state, "message": message})), explained);
    for (source, code) in [(json!({}), "state_not_given"), (json!({"definitions": {"text": "[]"}}), "not_definitions")]
    {
        assert_eq!(RouterHandle::new(&source.to_string()).unwrap_err().code(), code);
    }
}

#[test]
fn a_message_lives_in_the_embedded_broker() {
    let (mut broker, channel) = with_channel(json!({"rabbitmq": "4.0.5", "history": true}));
    let arguments = json!({"x-message-ttl": 1000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"});
    ask(&mut broker, json!({"channel": channel, "declare_queue": {"name": "q", "arguments": arguments}}));
    let dead = ask(&mut broker, json!({"channel": channel, "declare_queue": {"name": "dead"}}));
    assert_eq!(dead, json!({"name": "dead", "messages": 0, "consumers": 0}));
    let properties = json!({"headers": {"n": {"@I": 5}}, "type": "order"});
    let publish = json!({"routing_key": "q", "properties": properties, "body": {"base64": "/w=="}});
    let published = ask(&mut broker, json!({"channel": channel, "publish": publish}));
    assert_eq!(published, json!({"message": 1, "queues": ["q"], "confirmed": true, "returned": false, "opaque": []}));
    assert_eq!(ask(&mut broker, json!({"advance": {"ms": 1000}})), json!({"now_ms": 1000}));
    let contents = ask(&mut broker, json!({"contents": {"queue": "dead"}}));
    assert_eq!(contents["contents"]["ready"][0]["body"], json!({"base64": "/w=="}));
    let got = ask(&mut broker, json!({"channel": channel, "get": {"queue": "dead"}}));
    let delivery = &got["delivery"];
    assert_eq!(
        (&delivery["properties"]["headers"]["n"], &delivery["properties"]["type"]),
        (&json!({"@I": 5}), &json!("order"))
    );
    assert_eq!(delivery["properties"]["headers"]["x-death"][0]["reason"], "expired");
    let history = ask(&mut broker, json!({"history": {}}));
    assert_eq!(history["history"][1]["what"], "expired in q, dead-lettered to the default exchange [dead]: dead");
    assert_eq!(
        ask(&mut broker, json!({"channel": channel, "ack": {"delivery_tag": delivery["delivery_tag"]}})),
        json!({})
    );
    let refused = ask(&mut broker, json!({"channel": channel, "ack": {"delivery_tag": 1}}));
    assert_eq!((&refused["refused"]["code"], &refused["refused"]["scope"]), (&json!(406), &json!("channel")));
    assert_eq!(ask(&mut broker, json!({"channel": channel, "is_open": {}})), json!({"open": false}));
}

#[test]
fn consumers_policies_and_users() {
    let settings = json!({
        "rabbitmq": "3.10.8", "topology": {"text": "queues: { q: { type: classic } }"}, "vhost": "shop",
        "permissions": [{"user": "reader", "configure": "", "write": "", "read": ".*"}]
    });
    let (mut broker, channel) = with_channel(settings);
    let consuming = ask(&mut broker, json!({"channel": channel, "consume": {"queue": "q", "consumer_tag": "c"}}));
    assert_eq!(consuming, json!({"consumer_tag": "c"}));
    ask(&mut broker, json!({"channel": channel, "publish": {"routing_key": "q", "body": "hi"}}));
    let events = ask(&mut broker, json!({"channel": channel, "take_events": {}}));
    assert_eq!(events["events"][0]["delivered"]["body"], "hi");
    ask(&mut broker, json!({"channel": channel, "reject": {"delivery_tag": 1, "requeue": false}}));
    ask(&mut broker, json!({"set_policy": {"name": "p", "pattern": "^q$", "definition": {"max-length": 1}}}));
    for body in ["1", "2", "3"] {
        ask(&mut broker, json!({"channel": channel, "cancel": {"consumer_tag": "c"}}));
        ask(&mut broker, json!({"channel": channel, "publish": {"routing_key": "q", "body": body}}));
    }
    let contents = ask(&mut broker, json!({"contents": {"queue": "q"}}));
    assert_eq!(contents["contents"]["ready"].as_array().unwrap().len(), 1);
    let state = ask(&mut broker, json!({"state": {}}));
    assert_eq!((&state["state"]["vhost"], &state["state"]["policies"][0]["name"]), (&json!("shop"), &json!("p")));
    assert_eq!(ask(&mut broker, json!({"definitions": {}}))["definitions"]["queues"][0]["name"], "q");
    assert_eq!(ask(&mut broker, json!({"clear_policy": {"name": "p"}})), json!({"cleared": true}));
    let reader = ask(&mut broker, json!({"connect": {"user": "reader"}}))["connection"].clone();
    let denied = ask(&mut broker, json!({"connection": reader, "purge": {"queue": "q"}}));
    assert_eq!(denied, json!({"messages": 1}));
    let denied = ask(&mut broker, json!({"connection": reader, "declare_queue": {"name": "r"}}));
    assert_eq!(
        denied["refused"]["text"],
        "ACCESS_REFUSED - access to queue 'r' in vhost 'shop' refused for user 'reader'"
    );
    assert_eq!(ask(&mut broker, json!({"connect": {"user": "nobody"}}))["refused"]["code"], 530);
}

#[test]
fn a_command_that_no_client_could_send_is_an_error() {
    let (mut broker, channel) = with_channel(json!({}));
    for (command, code) in [
        (json!({}), "command_not_one"),
        (json!({"channel": channel, "recover": {}, "take_events": {}}), "command_not_one"),
        (json!({"get": {"queue": "q"}}), "caller_not_given"),
        (json!({"connection": 1, "get": {"queue": "q"}}), "caller_not_given"),
        (json!({"connection": 1, "channel": channel, "purge": {"queue": "q"}}), "caller_not_given"),
        (json!({"channel": channel, "publish": {"body": {"base64": "?"}}}), "body_not_base64"),
        (json!({"channel": channel, "publishh": {}}), "unknown_key"),
        (json!({"channel": channel, "publish": {"key": "q"}}), "bad_input"),
        (json!({"set_permissions": {"user": "u", "configure": "(", "write": "", "read": ""}}), "permission_invalid"),
    ] {
        assert_eq!(broker.call(&command.to_string()).unwrap_err().code(), code, "{command}");
    }
    let refused =
        BrokerHandle::new(r#"{"rabbitmq": "3.8.9", "topology": {"text": "queues: { s: { type: stream } }"}}"#);
    let failure = refused.unwrap_err();
    assert_eq!(failure.code(), "topology_refused");
    assert_eq!(failure.problems().next().unwrap().fields["refused"]["code"], 406);
    let run = json!({"commands": [{"connect": {}}, {"connection": 1, "get": {"queue": "q"}}]});
    let failure = call("embedded.run", &run.to_string()).unwrap_err();
    assert_eq!(failure.problems().next().unwrap().fields["index"], 1);
}

#[test]
fn the_operation_replays_what_a_handle_was_told() {
    let commands = [
        json!({"connect": {}}),
        json!({"connection": 1, "open_channel": {}}),
        json!({"channel": 2, "declare_queue": {"name": ""}}),
        json!({"channel": 2, "declare_queue": {"name": "amq.nobody"}}),
        json!({"channel": 2, "take_events": {}}),
    ];
    let mut handle = broker(json!({"rabbitmq": "4.3"}));
    let replies: Vec<Json> = commands.iter().map(|command| ask(&mut handle, command.clone())).collect();
    let run = answer("embedded.run", json!({"broker": {"rabbitmq": "4.3"}, "commands": commands}));
    assert_eq!(run["replies"], json!(replies));
    assert_eq!(replies[3]["refused"]["code"], 403);
}
