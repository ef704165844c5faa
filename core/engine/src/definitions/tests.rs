//! Each shape of a definitions file, restated as small as it goes, and each message.

use super::*;
use crate::rabbitmq::{BindingDeclaration, Broker, ExchangeDeclaration, Product, QueueDeclaration, Version};
use crate::state::{DefaultTypeOrigin, KnownKinds, Presence, State};
use crate::topology::Position;
use crate::value::{Table, Value};
use proptest::prelude::*;

fn state(text: &str) -> State {
    read(text.as_bytes()).unwrap().state(None, &Overrides::default()).unwrap()
}

fn refusal(text: &str) -> String {
    match read(text.as_bytes()) {
        Err(error) => error.to_string(),
        Ok(definitions) => definitions.state(None, &Overrides::default()).unwrap_err().to_string(),
    }
}

/// A file with one list, of a broker that does not tell its version.
fn with(section: &str, entries: &str) -> String {
    format!(r#"{{"vhosts": [{{"name": "/", "metadata": {{}}}}], "{section}": [{entries}]}}"#)
}

/// As `rabbitmqctl export_definitions` of 4.0.5 writes it: a type beside each queue, the injected type in its arguments.
#[test]
fn the_command_lines_export_is_read() {
    let state = state(
        r#"{
        "rabbit_version": "4.0.5", "rabbitmq_version": "4.0.5",
        "vhosts": [{"name": "/", "limits": [], "default_queue_type": "quorum",
                    "metadata": {"description": "", "tags": [], "default_queue_type": "quorum"}}],
        "users": [], "permissions": [], "topic_permissions": [], "parameters": [], "global_parameters": [],
        "policies": [{"vhost": "/", "name": "p", "pattern": "^a", "apply-to": "queues", "priority": -1,
                      "definition": {"max-length": 5}}],
        "queues": [{"vhost": "/", "name": "q", "type": "quorum", "durable": true, "auto_delete": false,
                    "arguments": {"x-queue-type": "quorum", "x-message-ttl": 60000, "x-delivery-limit": -1}}],
        "exchanges": [{"vhost": "/", "name": "e", "type": "topic", "durable": false, "auto_delete": true,
                       "arguments": {"alternate-exchange": "other"}}],
        "bindings": [{"vhost": "/", "source": "e", "destination": "q", "destination_type": "queue",
                      "routing_key": "a.*", "arguments": {}}]
    }"#,
    );
    assert_eq!(state.broker, Broker::rabbitmq(Version::new(4, 0, 5)));
    assert_eq!(state.vhost, "/");
    assert_eq!(state.default_queue_type.as_deref(), Some("quorum"));
    assert_eq!(state.default_type_origin, DefaultTypeOrigin::Vhost);
    assert_eq!(state.known, KnownKinds::ALL);
    assert!(!state.exclusive_queues_visible && !state.internal_exchanges_visible && state.argument_types_lost);
    let queue = QueueDeclaration::durable("q")
        .with("x-queue-type", "quorum")
        .with("x-message-ttl", 60000)
        .with("x-delivery-limit", -1);
    assert_eq!(state.queue("q"), Presence::There(&queue));
    let exchange = ExchangeDeclaration {
        durable: false,
        auto_delete: true,
        ..ExchangeDeclaration::durable("e", "topic").with("alternate-exchange", "other")
    };
    assert_eq!(state.exchanges["e"], exchange);
    assert_eq!(state.binding(&BindingDeclaration::queue("e", "q", "a.*")), Presence::There(()));
    assert_eq!(state.policies[0].priority, -1);
    assert_eq!(state.policies[0].definition, Table::from([("max-length", 5)]));
}

#[test]
fn the_export_of_one_vhost_takes_the_name_that_it_is_given() {
    let text = r#"{"rabbit_version": "4.1.0", "rabbitmq_definition_format": "single_virtual_host",
        "original_vhost_name": "orders", "metadata": {"default_queue_type": "quorum"}, "limits": {"max-queues": 7},
        "queues": [{"name": "q", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "quorum"}}]}"#;
    let definitions = read(text.as_bytes()).unwrap();
    assert_eq!(definitions.layout(), Layout::SingleVhost);
    assert_eq!(definitions.vhosts(), ["orders"]);
    let own = definitions.state(None, &Overrides::default()).unwrap();
    assert_eq!((own.vhost.as_str(), own.queue_limit), ("orders", Some(7)));
    assert_eq!(own.default_queue_type.as_deref(), Some("quorum"));
    let other = definitions.state(Some("invoices"), &Overrides::default()).unwrap();
    assert_eq!(other.vhost, "invoices");
    assert!(other.queues.contains_key("q"));
}

/// Before 4.1 nothing marks such a file; only that no entry names a vhost.
#[test]
fn the_export_of_one_vhost_is_known_by_the_missing_vhosts() {
    let text = r#"{"rabbit_version": "3.12.8", "parameters": [], "policies": [], "exchanges": [], "bindings": [],
        "queues": [{"name": "qq", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "quorum"}}]}"#;
    let definitions = read(text.as_bytes()).unwrap();
    assert_eq!(definitions.layout(), Layout::SingleVhost);
    assert_eq!(state(text).vhost, "/");
    assert_eq!(state(text).default_type_origin, DefaultTypeOrigin::Unknown);
}

/// As the management API of 3.10.8 exports one vhost.
#[test]
fn the_export_of_one_vhost_may_name_it_in_policies_and_parameters_only() {
    let text = r#"{"rabbit_version": "3.10.8",
        "parameters": [{"value": {"max-queues": 500}, "vhost": "team", "component": "vhost-limits", "name": "limits"}],
        "policies": [{"vhost": "team", "name": "p", "pattern": "^a", "apply-to": "queues", "definition": {}, "priority": 0}],
        "queues": [{"name": "q", "durable": true, "auto_delete": false, "arguments": {}}],
        "exchanges": [], "bindings": []}"#;
    let state = state(text);
    assert_eq!((state.vhost.as_str(), state.queue_limit, state.policies.len()), ("team", Some(500), 1));
    assert!(matches!(state.queue("q"), Presence::There(_)));
}

#[test]
fn what_is_missing_is_what_an_import_makes_of_it() {
    let state = state(
        r#"{"rabbit_version": "3.7.17",
        "queues": [{"vhost": "/", "name": "q"}, {"vhost": "/", "name": "r", "durable": false, "arguments": []}],
        "policies": [{"vhost": "/", "name": "p", "pattern": "", "definition": {"ha-mode": "all"}}],
        "bindings": [{"vhost": "/", "source": "e", "destination": "f", "destination_type": "exchange", "routing_key": ""}]}"#,
    );
    assert_eq!(state.queues["q"], QueueDeclaration::durable("q"));
    assert_eq!(state.queues["r"], QueueDeclaration { durable: false, ..QueueDeclaration::durable("r") });
    assert_eq!((state.policies[0].apply_to.as_str(), state.policies[0].priority), ("all", 0));
    assert_eq!(state.bindings.iter().next(), Some(&BindingDeclaration::exchange("e", "f", "")));
    // Vhosts had no default type then, so there is none.
    assert_eq!(state.default_type_origin, DefaultTypeOrigin::NotSet);
    // No export lacks a list: whoever wrote this says nothing about exchanges.
    assert_eq!(state.known, KnownKinds { exchanges: false, ..KnownKinds::ALL });
    assert_eq!(state.exchange("f"), Presence::Unknown);
}

/// The definition of an operator policy is a list of pairs in exports of 3.10 to 4.0 and an object in later ones.
#[test]
fn operator_policies_are_found_among_the_parameters() {
    for definition in
        [r#"[["expires", 300000], ["message-ttl", 60000]]"#, r#"{"expires": 300000, "message-ttl": 60000}"#]
    {
        let text = with(
            "parameters",
            &format!(
                r#"{{"vhost": "/", "component": "operator_policy", "name": "o", "value":
                    {{"pattern": "^t", "apply-to": "queues", "priority": 10, "definition": {definition}}}}},
                {{"vhost": "/", "component": "shovel", "name": "s", "value": {{"src-queue": "a"}}}},
                {{"vhost": "/", "component": "vhost-limits", "name": "limits", "value": {{"max-queues": 3}}}}"#
            ),
        );
        let definitions = read(text.as_bytes()).unwrap();
        let state = definitions.state(None, &Overrides::default()).unwrap();
        assert_eq!(state.operator_policies.len(), 1);
        assert_eq!(state.operator_policies[0].priority, 10);
        assert_eq!(state.operator_policies[0].definition, Table::from([("expires", 300_000), ("message-ttl", 60_000)]));
        assert!(state.policies.is_empty());
        assert_eq!(state.queue_limit, Some(3));
        let components: Vec<&str> =
            definitions.parameters("/").iter().map(|parameter| parameter.value.component.as_str()).collect();
        assert_eq!(components, ["shovel", "vhost-limits"]);
    }
}

#[test]
fn numbers_and_nested_values_get_the_types_that_an_import_gives_them() {
    let state = state(&with(
        "queues",
        r#"{"vhost": "/", "name": "q", "arguments": {"i": 5, "d": 5.0, "t": true, "s": "\u00e9", "l": [1, {"@T": 7}], "o": {}}}"#,
    ));
    let expected = [
        ("i", Value::I64(5)),
        ("d", Value::F64(5.0)),
        ("t", Value::Bool(true)),
        ("s", Value::text("é")),
        // No tag: in a broker's JSON "@T" is a name like any other.
        ("l", Value::Array(vec![Value::I64(1), Value::Table(Table::from([("@T", 7)]))])),
        ("o", Value::Table(Table::new())),
    ];
    assert_eq!(state.queues["q"].arguments, Table::from(expected));
}

/// The management API's export holds internal exchanges up to 4.2.8 and 4.3.2, and says of each exchange whether it is.
#[test]
fn internal_exchanges_are_visible_where_exchanges_say_what_they_are() {
    let http = state(&with("exchanges", r#"{"vhost": "/", "name": "e", "type": "fanout", "internal": true}"#));
    assert!(http.internal_exchanges_visible && http.exchanges["e"].internal);
    let cli = state(&with("exchanges", r#"{"vhost": "/", "name": "e", "type": "fanout"}"#));
    assert!(!cli.internal_exchanges_visible && !cli.exchanges["e"].internal);
}

#[test]
fn versions_with_suffixes_are_read_and_others_left_open() {
    let version = |text: &str| read(format!(r#"{{"queues": [], {text}}}"#).as_bytes()).unwrap().broker().version;
    assert_eq!(version(r#""rabbit_version": "3.8.0+rc.1.5.g9148053""#), Some(Version::new(3, 8, 0)));
    assert_eq!(
        version(r#""rabbit_version": "3.9.1", "rabbitmq_version": "3.13.0+376.dirty""#),
        Some(Version::new(3, 13, 0))
    );
    assert_eq!(version(r#""rabbit_version": "0.0.0""#), None);
    assert_eq!(version(r#""rabbit_version": 4"#), None);
    let lavin = read(br#"{"lavinmq_version": "2.4.0", "queues": []}"#).unwrap();
    assert_eq!(lavin.broker().product, Product::LavinMq);
}

#[test]
fn the_caller_overrides_version_and_default_type() {
    let definitions = read(with("queues", "").as_bytes()).unwrap();
    let overrides = Overrides { version: Some(Version::new(4, 3, 6)), default_queue_type: Some("quorum".into()) };
    let state = definitions.state(None, &overrides).unwrap();
    assert_eq!(state.broker, Broker::rabbitmq(Version::new(4, 3, 6)));
    assert_eq!(state.default_queue_type.as_deref(), Some("quorum"));
    assert_eq!(state.default_type_origin, DefaultTypeOrigin::Caller);
    let wrong = Overrides { default_queue_type: Some("Quorum".into()), ..Overrides::default() };
    assert_eq!(
        definitions.state(None, &wrong).unwrap_err().to_string(),
        "\"Quorum\" is no queue type; a default queue type is classic, quorum or stream"
    );
}

#[test]
fn vhosts_are_those_that_are_listed_and_those_that_are_named() {
    let text = r#"{"vhosts": [{"name": "b", "metadata": {"default_queue_type": "quorum"}}, {"name": "c"}],
        "queues": [{"vhost": "a", "name": "q"}, {"vhost": "b", "name": "q", "durable": false}]}"#;
    let definitions = read(text.as_bytes()).unwrap();
    assert_eq!(definitions.vhosts(), ["a", "b", "c"]);
    assert!(!definitions.lists_vhost("a") && definitions.lists_vhost("b"));
    let b = definitions.state(Some("b"), &Overrides::default()).unwrap();
    assert!(!b.queues["q"].durable);
    assert_eq!(b.default_queue_type.as_deref(), Some("quorum"));
    assert_eq!(
        definitions.state(None, &Overrides::default()).unwrap_err().to_string(),
        "the definitions hold 3 vhosts, so one has to be chosen (`?vhost=NAME`): \"a\", \"b\", \"c\""
    );
    assert_eq!(
        definitions.state(Some("d"), &Overrides::default()).unwrap_err().to_string(),
        "the definitions hold no vhost \"d\"; they hold \"a\", \"b\", \"c\""
    );
}

#[test]
fn a_fault_stops_only_the_vhost_that_it_is_in() {
    let text = r#"{"queues": [{"vhost": "a", "name": "q"}, {"vhost": "b", "name": "q", "durable": "yes"}]}"#;
    let definitions = read(text.as_bytes()).unwrap();
    assert_eq!(definitions.faults().len(), 1);
    assert!(definitions.state(Some("a"), &Overrides::default()).is_ok());
    assert!(definitions.state(Some("b"), &Overrides::default()).is_err());
}

#[test]
fn entries_keep_their_place_and_their_text() {
    let text = "{\"vhosts\": [{\"name\": \"/\"}], \"parameters\": [\n  {\"vhost\": \"/\", \"component\": \"shovel\", \"name\": \"s\",\n   \"value\": {\"n\": 1e400, \"later\": true}}]}";
    let definitions = read(text.as_bytes()).unwrap();
    let [shovel] = definitions.parameters("/") else { panic!("one parameter") };
    assert_eq!(definitions.position(shovel), Position { line: 2, column: 3 });
    // A number that nothing here can hold is not lost.
    assert!(definitions.text_of(shovel).ends_with(r#""value": {"n": 1e400, "later": true}}"#));
    assert_eq!(definitions.text(), text);
}

#[test]
fn equal_duplicates_are_one_object() {
    let queue = r#"{"vhost": "/", "name": "q", "durable": true}"#;
    assert_eq!(state(&with("queues", &format!("{queue}, {queue}"))).queues.len(), 1);
    let policy = r#"{"vhost": "/", "name": "p", "pattern": "", "definition": {"expires": 5}}"#;
    assert_eq!(state(&with("policies", &format!("{policy}, {policy}"))).policies.len(), 1);
}

#[test]
fn bindings_of_the_default_exchange_are_left_out() {
    let text = with(
        "bindings",
        r#"{"vhost": "/", "source": "", "destination": "q", "destination_type": "queue", "routing_key": "q"}"#,
    );
    assert!(state(&text).bindings.is_empty());
}

/// What each text is answered with, as a golden.
fn answers(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{text}\n=> {}\n\n", refusal(text))).collect()
}

#[test]
fn what_is_no_definitions_file_is_named() {
    insta::assert_snapshot!(answers(&[
        " \n",
        "{\n{\n  \"users\": []\n}",
        "{\"queues\": [\n  {\"name\": \"é\" \"x\"}]}",
        "{\"queues\": [",
        "queues = 5",
        "[]",
        "5",
        "{}",
        r#"{"items": []}"#,
        r#"{"format": "acemq.plan/1", "actions": []}"#,
        r#"{"acemq_migration": 1}"#,
        r#"{"acemq": 1, "queues": {}}"#,
        r#"{"vhosts": [], "queues": []}"#,
    ]));
    let not_utf8 = read(b"{\"queues\":\n \xff").unwrap_err();
    assert_eq!(not_utf8.at(), Some(Position { line: 2, column: 2 }));
    assert!(not_utf8.to_string().starts_with("line 2, column 2: the text is not UTF-8"), "{not_utf8}");
}

#[test]
fn a_topology_document_is_recognised() {
    let expected = DefinitionsError::TopologyDocument;
    for text in [
        r#"{"acemq": 1, "queues": []}"#,
        r#"{"queues": {"orders": {"dead_letter": true}}}"#,
        r#"{"queues": [{"name": "orders", "dead_letter": true}]}"#,
        r#"{"bindings": [{"queue": "orders", "exchange": "e", "routing_key": "k"}]}"#,
        "acemq: 1\nqueues:\n  orders: {}\n",
        "# our queues\nqueues:\n  orders: {}\n",
    ] {
        assert_eq!(read(text.as_bytes()).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn every_fault_says_where_and_what() {
    let queue = |rest: &str| with("queues", &format!("\n{{\"vhost\": \"/\", \"name\": \"q\"{rest}}}"));
    let texts = [
        with("queues", "\n{\"vhost\": \"/\", \"name\": \"q\\n\", \"durable\": \"yes\", \"arguments\": 5}, 7, {}"),
        with("exchanges", "\n{\"vhost\": \"/\", \"name\": 5, \"internal\": null, \"auto_delete\": 0}"),
        with("bindings", "\n{\"vhost\": \"/\", \"source\": \"e\", \"destination_type\": \"queues\"}"),
        with("policies", "\n{\"vhost\": \"/\", \"pattern\": \"^a\", \"priority\": 1.5, \"definition\": \"x\"}"),
        queue(", \"arguments\": {\"a\": 1,\n \"b\": null}"),
        queue(", \"arguments\": {\"a\": 1, \"a\": 2}"),
        queue(", \"arguments\": {\"a\": 18446744073709551615}"),
        queue(", \"durable\": true, \"durable\": false"),
        queue("},\n{\"vhost\": \"/\", \"name\": \"q\", \"durable\": false"),
        queue("},\n{\"name\": \"r\""),
        with(
            "parameters",
            "\n{\"vhost\": \"/\", \"component\": \"operator_policy\", \"name\": \"o\", \"value\": {\"pattern\": \"a\"}},\n{\"name\": \"x\", \"vhost\": \"/\"}, 5",
        ),
        r#"{"queues": 5, "vhosts": [{}], "policies": "x", "bindings": null}"#.to_owned(),
    ];
    insta::assert_snapshot!(answers(&texts.each_ref().map(String::as_str)));
}

#[test]
fn many_faults_are_counted() {
    let entries = vec!["{}"; 25].join(",\n");
    let text = refusal(&with("queues", &entries));
    assert_eq!(text.lines().count(), 21);
    assert_eq!(text.lines().last(), Some("and 5 more"));
    assert!(text.starts_with("line 1, column 56: queues[0]: "), "{text}");
    assert!(text.contains("\nline 20, column 1: queues[19]: "), "{text}");
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>()
            .prop_map(|number| serde_json::Number::from_f64(number).map_or(serde_json::Value::Null, Into::into)),
        prop_oneof![Just("q".to_owned()), Just("/".to_owned()), Just("queue".to_owned()), ".*"].prop_map(Into::into),
    ];
    let key = prop_oneof![
        proptest::sample::select(vec![
            "queues",
            "exchanges",
            "bindings",
            "policies",
            "parameters",
            "vhosts",
            "name",
            "vhost",
            "type",
            "durable",
            "arguments",
            "source",
            "destination",
            "destination_type",
            "routing_key",
            "pattern",
            "priority",
            "definition",
            "component",
            "value",
            "limits",
            "metadata",
            "apply-to",
            "rabbit_version",
        ])
        .prop_map(str::to_owned),
        ".*",
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|entries| entries.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

/// Reads everything there is to read.
fn exercise(bytes: &[u8]) {
    match read(bytes) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(definitions) => {
            for vhost in definitions.vhosts() {
                match definitions.state(Some(vhost), &Overrides::default()) {
                    Ok(state) => assert!(state.canonical().ends_with('\n')),
                    Err(error) => assert!(!error.to_string().is_empty()),
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(json in any_json()) {
        exercise(json.to_string().as_bytes());
    }

    #[test]
    fn any_json_in_the_lists_is_read_or_refused(lists in prop::collection::vec(any_json(), 6)) {
        let sections = ["queues", "exchanges", "bindings", "policies", "parameters", "vhosts"];
        let top: serde_json::Map<_, _> =
            sections.into_iter().zip(lists).map(|(name, list)| (name.to_owned(), list)).collect();
        exercise(serde_json::Value::from(top).to_string().as_bytes());
    }

    #[test]
    fn a_cut_or_changed_file_is_read_or_refused(cut in 0usize..700, changed in 0usize..700, byte in any::<u8>()) {
        let whole = with("queues", r#"{"vhost": "/", "name": "é", "durable": true, "arguments": {"x": [1, {"a": "b"}]}}"#)
            + &with("policies", r#"{"vhost": "/", "name": "p", "pattern": "^a", "definition": {"k": 1.5}}"#);
        let mut bytes = whole.into_bytes();
        let at = changed % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut);
        exercise(&bytes);
    }
}
