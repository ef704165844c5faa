//! What an import does in silence, by the bug reports and the broker's own test files.

use super::*;
use crate::rabbitmq::{Broker, QueueDeclaration, Version};
use crate::state::State;

const V3_13: Version = Version::new(3, 13, 0);
const V4_0: Version = Version::new(4, 0, 5);

fn previewed(text: &str, version: Version, there: &[&State]) -> String {
    let definitions = read(text.as_bytes()).unwrap();
    let lines = preview(&definitions, version, there);
    lines.iter().map(|effect| format!("{:?} {effect}\n", effect.outcome).to_lowercase()).collect()
}

fn broker(version: Version) -> State {
    State::empty(Broker::rabbitmq(version), "/")
}

/// rabbitmq-management #627: an import answers 204 and leaves what is there.
#[test]
fn what_is_there_stays_whatever_the_file_says() {
    let mut there = broker(V4_0);
    there.insert_queue(QueueDeclaration::durable("q1").with("x-queue-type", "classic"));
    there.insert_queue(QueueDeclaration::durable("same").with("x-queue-type", "classic"));
    let text = r#"{"queues": [{"vhost": "/", "name": "q1", "durable": false, "arguments": {"x-max-length": 5}},
{"vhost": "/", "name": "same"}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[&there]),
        "skipped line 1, column 13: queue q1: it is there, and an import never changes a queue: durable is true there and false in the file; x-max-length is not set there and 5 in the file\n"
    );
}

/// As the server's own test file failing_case12: a reserved queue name and an exchange type that does not exist.
#[test]
fn reserved_names_are_skipped_and_unknown_types_refused() {
    let text = r#"{"queues": [{"vhost": "/", "name": "amq.queuebar"}],
"exchanges": [{"vhost": "/", "name": "e", "type": "definitly not direct"}, {"vhost": "/", "name": "amq.topic", "type": "topic"}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[]),
        "skipped line 1, column 13: queue amq.queuebar: an import skips names that start with \"amq.\"\n\
         refused line 2, column 15: exchange e: unknown exchange type 'definitly not direct'\n\
         skipped line 2, column 76: exchange amq.topic: every vhost has it already\n"
    );
}

/// As failing_case17.
#[test]
fn an_entry_that_cannot_be_read_is_refused() {
    let text =
        r#"{"vhosts": [{"name": "/"}], "policies": [{"vhost": "/", "pattern": "^a", "definition": {"expires": 5}}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[]),
        "refused line 1, column 42: policies[0]: \"name\" is missing, and without it no broker imports this entry\n"
    );
}

#[test]
fn a_vhost_has_to_be_there_or_in_the_file() {
    let text = r#"{"queues": [{"vhost": "orders", "name": "q"}]}"#;
    let missing = "refused line 1, column 13: vhost orders: it is neither in the file's \"vhosts\" nor on the broker; create it first, or list it\n";
    assert_eq!(previewed(text, V4_0, &[]), missing);
    assert_eq!(previewed(text, V4_0, &[&broker(V4_0)]), missing);
    let there = State::empty(Broker::rabbitmq(V4_0), "orders");
    assert_eq!(previewed(text, V4_0, &[&there]), "");
    assert_eq!(
        previewed(&text.replace("{\"queues\"", "{\"vhosts\": [{\"name\": \"orders\"}], \"queues\""), V4_0, &[]),
        ""
    );
}

/// Up to 3.13.5 such a binding was passed over; the export of a vhost with internal exchanges holds some.
#[test]
fn a_binding_to_nothing_is_passed_over_or_refused_by_version() {
    let text = r#"{"queues": [{"vhost": "/", "name": "q"}],
"bindings": [{"vhost": "/", "source": "hidden", "destination": "q", "destination_type": "queue", "routing_key": "k"},
{"vhost": "/", "source": "amq.topic", "destination": "gone", "destination_type": "queue", "routing_key": "k"},
{"vhost": "/", "source": "amq.topic", "destination": "q", "destination_type": "queue", "routing_key": "k"}]}"#;
    let lines = |outcome: &str| {
        format!(
            "{outcome} line 2, column 14: binding hidden -> q (k): no exchange 'hidden' in vhost '/', neither in the file nor on the broker (exports leave internal exchanges out, and keep their bindings)\n\
             {outcome} line 3, column 1: binding amq.topic -> gone (k): no queue 'gone' in vhost '/', neither in the file nor on the broker\n"
        )
    };
    assert_eq!(previewed(text, V3_13, &[]), lines("skipped"));
    assert_eq!(previewed(text, V4_0, &[]), lines("refused"));
}

/// `ha-` keys have no validator from 4.0 on, and taking them out can leave nothing.
#[test]
fn policies_that_a_version_does_not_take_are_refused() {
    let text = r#"{"policies": [{"vhost": "/", "name": "ha", "pattern": "", "definition": {"ha-mode": "all"}},
{"vhost": "/", "name": "none", "pattern": "", "definition": {}},
{"vhost": "/", "name": "typed", "pattern": "", "apply-to": "quorum_queues", "definition": {"max-length": 5}}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[]),
        "refused line 1, column 15: policy ha: rabbitmq 4.0.5 does not recognise ha-mode without a plugin\n\
         refused line 2, column 1: policy none: its definition is empty (no policy provided)\n"
    );
    assert_eq!(
        previewed(text, Version::new(3, 11, 0), &[]),
        "refused line 2, column 1: policy none: its definition is empty (no policy provided)\n\
         refused line 3, column 1: policy typed: rabbitmq 3.11.0 has no apply-to \"quorum_queues\"\n"
    );
}

#[test]
fn a_policy_of_the_same_name_is_replaced() {
    let text = r#"{"policies": [{"vhost": "/", "name": "p", "pattern": "^a", "definition": {"max-length": 5}}]}"#;
    let mut there = read(text.as_bytes()).unwrap().state(None, &Overrides::default()).unwrap();
    assert_eq!(previewed(text, V4_0, &[&there]), "");
    there.policies[0].priority = 3;
    assert_eq!(
        previewed(text, V4_0, &[&there]),
        "changed line 1, column 15: policy p: it replaces the one that is there\n"
    );
}

/// An export of 3.x whose classic queues have no type, into a vhost whose default is quorum.
#[test]
fn a_queue_without_a_type_becomes_what_the_vhost_says() {
    let text = r#"{"vhosts": [{"name": "/", "metadata": {"default_queue_type": "quorum"}}],
"queues": [{"vhost": "/", "name": "q", "type": "classic"}, {"vhost": "/", "name": "brief", "auto_delete": true}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[]),
        "changed line 2, column 12: queue q: it names no type, so the default queue type of the vhost makes it a quorum queue\n"
    );
}

#[test]
fn what_an_export_lost_is_named() {
    let text = r#"{"queues": [{"vhost": "/", "name": "q", "type": "quorum"},
{"vhost": "/", "name": "r", "arguments": {"x-a": "undefined"}}, {"vhost": "/", "name": "s", "arguments": {"x-message-ttl": -1}}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[]),
        "changed line 1, column 13: queue q: it becomes a classic queue: the type \"quorum\" beside its arguments is not read\n\
         changed line 2, column 1: queue r: its argument x-a was void when it was exported, and becomes a text\n\
         refused line 2, column 65: queue s: invalid arg 'x-message-ttl' for queue 's' in vhost '/': {value_negative,-1}\n"
    );
}

#[test]
fn a_limit_stops_the_whole_import() {
    let mut there = broker(V4_0);
    there.queue_limit = Some(2);
    there.insert_queue(QueueDeclaration::durable("a").with("x-queue-type", "classic"));
    let text = r#"{"queues": [{"vhost": "/", "name": "a"}, {"vhost": "/", "name": "b"}, {"vhost": "/", "name": "c"}]}"#;
    assert_eq!(
        previewed(text, V4_0, &[&there]),
        "refused line 1, column 42: queues: 2 new ones beside 1 that are there exceed the vhost's limit of 2; nothing is imported\n"
    );
}
