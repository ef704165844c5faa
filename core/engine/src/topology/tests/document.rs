//! Reading documents.

use super::*;

/// The document of the format's description.
const EXAMPLE: &str = r##"acemq: 1
exchanges:
  orders: { type: topic }
  archive: { type: fanout }
  shipping-dlx: { external: true }
queues:
  orders.new:
    dead_letter: true
    retry: "exponential(6, 10s, 5m)"
  shipping: { dead_letter_to: shipping-dlx }
  audit: { type: stream, arguments: { x-max-age: 7D } }
  scratch: { type: classic, exclusive: true }
  plain:
bindings:
  - { queue: orders.new, exchange: orders, routing_key: "order.*" }
  - { to_exchange: archive, exchange: orders, routing_key: "#", arguments: {} }
policies:
  - { name: limits, pattern: "^orders\\.", apply_to: queues, priority: 1, definition: { max-length: 100000 } }
"##;

#[test]
fn a_document_and_the_builder_give_the_same_tables() {
    let read = Topology::from_yaml(EXAMPLE).unwrap();
    assert_eq!(read.check(), []);
    let policy = "exponential(6, 10s, 5m)".parse().unwrap();
    let built = Topology::builder()
        .exchange("orders", "topic")
        .exchange("archive", "fanout")
        .external_exchange("shipping-dlx")
        .queue_with_dead_letter("orders.new")
        .retries("orders.new", &policy)
        .queue("shipping")
        .dead_letter_to("shipping", "shipping-dlx")
        .queue("audit")
        .of_type("audit", crate::rabbitmq::QueueType::Stream)
        .queue_arg("audit", "x-max-age", "7D")
        .queue("scratch")
        .exclusive("scratch")
        .queue("plain")
        .bind("orders.new", "orders", "order.*")
        .bind_exchange("archive", "orders", "#")
        .build();
    let mut read = read.tables().unwrap();
    assert_eq!(read.policies.len(), 1);
    read.policies.clear();
    assert_eq!(read, built.tables().unwrap());
}

fn tables(text: &str) -> Tables {
    let topology = Topology::parse(text.as_bytes(), Format::Auto).unwrap_or_else(|problems| panic!("{problems:?}"));
    topology.tables().unwrap_or_else(|problems| panic!("{problems:?}"))
}

fn first(text: &str) -> Problem {
    let problems = Topology::parse(text.as_bytes(), Format::Auto).map_or_else(|p| p, |topology| topology.check());
    problems.into_iter().next().unwrap()
}

fn at(line: u64, column: u64) -> Option<Position> {
    Some(Position { line, column })
}

#[test]
fn json_yaml_and_a_byte_order_mark_make_no_difference() {
    let json = r#" {"acemq":1,"exchanges":{"e":{"type":"fanout"}},"queues":{"q":null},"bindings":[{"queue":"q","exchange":"e"}]}"#;
    let yaml = "\u{feff}acemq: 1\r\nexchanges:\r\n  e: { type: fanout }\r\nqueues:\r\n  q:\r\nbindings:\r\n- queue: q\r\n  exchange: e\r\n";
    assert_eq!(tables(json), tables(yaml));
    assert_eq!(tables(json), Topology::from_yaml(json).unwrap().tables().unwrap());
    assert_eq!(tables("queues: { q: }\n").queues.len(), 1, "the version may be left out");
    assert_eq!(tables("acemq: 1\n"), Tables::default());
    assert_eq!(tables("acemq: 1\nqueues:\nbindings:\nexchanges: {}\npolicies: []\n"), Tables::default());
}

#[test]
fn a_list_of_objects_with_names_is_the_mapping_and_keeps_its_order() {
    let mapping = tables(
        "exchanges: { z: { type: fanout }, a: { type: topic } }\nqueues: { z: , a: { type: classic }, m: {} }\n",
    );
    let list = tables(
        "exchanges: [ { name: z, type: fanout }, { name: a, type: topic } ]\nqueues: [ { name: z }, { name: a, type: classic }, { name: m } ]\n",
    );
    assert_eq!(mapping, list);
    let names: Vec<_> = list.queues.iter().map(|queue| queue.declaration.name.as_str()).collect();
    assert_eq!(names, ["z", "a", "m"]);
}

#[test]
fn nothing_is_guessed_from_texts() {
    let arguments = |text: &str| {
        tables(&format!("queues: {{ q: {{ type: classic, arguments: {{ x-a: {text} }} }} }}")).queues[0]
            .declaration
            .arguments
            .get("x-a")
            .cloned()
            .unwrap()
    };
    use crate::value::Value;
    for (written, value) in [
        ("60000", Value::I64(60_000)),
        ("-1", Value::I64(-1)),
        ("0x10", Value::I64(16)),
        ("1.5", Value::F64(1.5)),
        ("true", Value::Bool(true)),
        ("\"60000\"", Value::text("60000")),
        ("60s", Value::text("60s")),
        ("yes", Value::text("yes")),
        ("off", Value::text("off")),
        ("0755", Value::text("0755")),
        ("1_000", Value::text("1_000")),
        ("2026-01-01", Value::text("2026-01-01")),
        ("{ \"@I\": 5 }", Value::I32(5)),
    ] {
        assert_eq!(arguments(written), value, "{written}");
    }
    for flag in ["yes", "\"true\"", "1", "on"] {
        assert_eq!(first(&format!("queues: {{ q: {{ durable: {flag} }} }}")).code, ProblemCode::WrongValue, "{flag}");
    }
    // A name is a text, so YAML needs no quotes for one that looks like a number.
    assert_eq!(tables("queues: { 1.10: , 0x1F: }").queues[0].declaration.name, "1.10");
    assert_eq!(tables("exchanges: { e: { type: topic } }\nqueues: { q: }\nbindings: [ { queue: q, exchange: e, routing_key: 1.10 } ]").bindings[0].declaration.routing_key, "1.10");
}

#[test]
fn problems_point_at_what_has_to_change() {
    let text = "\
acemq: 1
exchanges:
  orders: { type: topic }
queues:
  - name: a
    arguments:
      x-message-ttl: 60s
  - { name: b, retry: 5 }
bindings:
- { queue: a, exchange: orders, routing_key: k }
- { queue: nobody, exchange: orders }
";
    let topology = Topology::from_yaml(text).unwrap();
    let places: Vec<_> = topology.problems().iter().map(|problem| (problem.code.as_str(), problem.at)).collect();
    assert_eq!(
        places,
        [("argument_type", at(7, 22)), ("retry_policy_invalid", at(8, 23)), ("binding_queue_undeclared", at(11, 12)),]
    );
    let json = "{\"acemq\":1,\n\t\"queues\":{\"é\":{\"type\":\"stream\",\"dead_letter\":true},\"b\":{\"type\":\"x\"}}}";
    let topology = Topology::from_json(json).unwrap();
    let places: Vec<_> = topology.problems().iter().map(|problem| (problem.code.as_str(), problem.at)).collect();
    assert_eq!(places, [("dead_letter_on_stream", at(2, 12)), ("queue_type_unknown", at(2, 65))]);
}

#[test]
fn mistakes_of_shape_do_not_hide_other_mistakes() {
    let problems = Topology::from_yaml(
        "\
queues:
  a: { dead_leter: true, type: quorom }
  b: { arguments: { x-max-length: -1 } }
  c: 5
bindings:
  - { queue: a.dlq, exchange: amq.topic }
  - { queue: b, exchange: \"\" }
",
    )
    .unwrap_err();
    let found: Vec<_> = problems.iter().map(|problem| (problem.code.as_str(), problem.at.unwrap().line)).collect();
    // The binding to a.dlq is no mistake once dead_letter is spelt right, so it is not reported.
    assert_eq!(found, [("unknown_key", 2), ("argument_range", 3), ("wrong_value", 4), ("binding_default_exchange", 7)]);
}

#[test]
fn hostile_documents_are_refused_quickly() {
    let long = "a".repeat(300);
    for (text, code) in [
        (format!("queues: {{ {long}: {{}} }}"), "name_too_long"),
        (format!("queues: {{ ? {} : {{}} }}", "a".repeat(100_000)), "name_too_long"),
        ("queues: { amq.q: {} }".to_owned(), "name_reserved"),
        ("{\"queues\": {\"a\\nb\": {}}}".to_owned(), "name_line_break"),
        ("{\"queues\": {\"a\": {\"arguments\": {\"x\": 1e999}}}}".to_owned(), "wrong_value"),
        (format!("{{\"queues\": {}{}}}", "[".repeat(20_000), "]".repeat(20_000)), "document_too_complex"),
        (format!("queues: {}", "[".repeat(20_000)), "document_too_complex"),
        (
            format!("queues:\n{}", (0..1_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect::<String>()),
            "document_too_complex",
        ),
        (
            format!("{{\"queues\": {{\"a\": {{\"arguments\": {{{}}}}}}}}}", vec!["\"x-a\": 1"; 20_000].join(",")),
            "duplicate_key",
        ),
        (
            format!(
                "{{\"queues\": {{\"a\": {{\"arguments\": {{{}}}}}}}}}",
                (0..20_000).map(|n| format!("\"x{n}\":1")).collect::<Vec<_>>().join(",")
            ),
            "table_too_large",
        ),
        (format!("queues: {{ a: {{ arguments: {{ x: {} }} }} }}", "9".repeat(100_000)), "document_syntax"),
        (format!("queues: {{ a: {{ type: {} }} }}", "q".repeat(1_000_000)), "queue_type_unknown"),
        (format!("queues: {{ q: {{ arguments: {{ x-max-length: {} }} }} }}", "q".repeat(100_000)), "argument_type"),
        (format!("queues: {{ q: {{ arguments: {{ \"{}\": 1 }} }} }}", "x-".repeat(500)), "argument_unknown"),
        (
            format!("bindings: [ {{ queue: {0}, exchange: {0}, routing_key: {0} }} ]", "q".repeat(100_000)),
            "binding_queue_undeclared",
        ),
        (format!("bindings: [{}]", "{},".repeat(20_000)), "binding_end_missing"),
    ] {
        let problem = first(&text);
        assert_eq!(problem.code.as_str(), code, "{}", problem.message.get(..200).unwrap_or(&problem.message));
        assert!(problem.message.len() < 1_500, "{code}: {} bytes of message", problem.message.len());
    }
}

#[test]
fn the_format_of_a_file_is_told_by_its_name_or_its_first_character() {
    assert_eq!(Format::of_file("a/orders.JSON"), Format::Json);
    assert_eq!(Format::of_file("orders.v1.yml"), Format::Yaml);
    assert_eq!(Format::of_file("orders.yaml"), Format::Yaml);
    assert_eq!(Format::of_file("json"), Format::Auto);
    // A document of YAML that begins with a brace has to be called so.
    let yaml = b"{ acemq: 1, queues: { q: } }";
    assert!(Topology::parse(yaml, Format::Auto).is_err());
    assert!(Topology::parse(yaml, Format::Yaml).is_ok());
}

#[test]
fn documents_of_the_module_have_their_golden_form() {
    let topology = Topology::from_yaml(EXAMPLE).unwrap();
    let tables = topology.tables().unwrap();
    insta::assert_json_snapshot!("tables_document", tables.to_document());
    // Computed apart from this code, with the json and hashlib modules of Python, as each fingerprint of the golden was.
    assert_eq!(tables.fingerprint(), "b02db7153605be24c967e562eeeb947b78719ef2f0aad433305c177e988a7d27");
    insta::assert_snapshot!("intent", topology.intent());
    let broken = Topology::from_yaml("queues: { q: { arguments: { x-message-ttl: 60s } } }").unwrap();
    insta::assert_json_snapshot!("check_document", CheckDocument::new(broken.problems()));
    insta::assert_json_snapshot!("schema", Topology::schema());
}
