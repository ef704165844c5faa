//! The two readings of a document agree, and neither ever panics.

use super::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Words that documents are made of, right and wrong.
fn scalar() -> impl Strategy<Value = Json> {
    prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3_i64..3).prop_map(Json::from),
        Just(json!(18_446_744_073_709_551_615_u64)),
        Just(json!(1.5)),
        prop::sample::select(vec!["orders", "topic", "quorum", "true", "5", "60s", "", "é", "fixed(3, 1m)"])
            .prop_map(Json::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "name",
        "type",
        "durable",
        "transient",
        "exclusive",
        "auto_delete",
        "internal",
        "arguments",
        "dead_letter",
        "dead_letter_to",
        "retry",
        "queue",
        "to_exchange",
        "exchange",
        "routing_key",
        "alternate_exchange",
        "external",
        "pattern",
        "apply_to",
        "priority",
        "definition",
        "dead_leter",
        "@I",
        "@Q",
        "x-max-length",
    ])
    .prop_map(str::to_owned)
}

fn body() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        3 => scalar(),
        1 => prop::collection::btree_map(key(), scalar(), 0..3).prop_map(|map| json!(map)),
        1 => prop::collection::vec(scalar(), 0..3).prop_map(Json::from),
    ];
    prop_oneof![
        1 => scalar(),
        5 => prop::collection::btree_map(key(), leaf, 0..4).prop_map(|map| json!(map)),
    ]
}

fn document() -> impl Strategy<Value = Json> {
    let section = prop_oneof![
        1 => scalar(),
        3 => prop::collection::vec(body(), 0..3).prop_map(Json::from),
        3 => prop::collection::btree_map("[a-c]{1,2}", body(), 0..3).prop_map(|map| json!(map)),
    ];
    let name = prop::sample::select(vec!["exchanges", "queues", "bindings", "policies", "qeues"]);
    let version = prop_oneof![9 => Just(json!(1)), 1 => scalar()];
    (version, prop::collection::btree_map(name, section, 0..4)).prop_map(|(version, sections)| {
        let mut document = json!(sections);
        document["acemq"] = version;
        document
    })
}

/// Whether the shape of a document is right, by the schema.
fn has_the_shape(text: &str, format: Format) -> bool {
    let Ok(mut tree) = tree_of(text, format) else { return false };
    let schema = Topology::schema();
    let mut shape = Shape::new(&schema, format == Format::Yaml);
    shape.document(&mut tree, &schema);
    // What was left must always be readable: the schema is never weaker than the types.
    assert!(serde_json::from_str::<Document>(&tree.to_json()).is_ok(), "{}", tree.to_json());
    shape.problems.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_schema_and_the_types_take_the_same_documents(document in document()) {
        let text = document.to_string();
        for format in [Format::Json, Format::Yaml] {
            prop_assert_eq!(read(&text, format).is_some(), has_the_shape(&text, format), "{:?} {}", format, text);
        }
    }

    #[test]
    fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in [Format::Auto, Format::Json, Format::Yaml] {
            let _ = Topology::parse(&bytes, format);
        }
    }

    #[test]
    fn a_damaged_document_gives_an_answer(at in any::<prop::sample::Index>(), with in ".{0,3}", json in any::<bool>()) {
        let good = if json {
            r#"{"acemq": 1, "queues": {"a": {"retry": {"fixed": {"attempts": 3, "delay": "1m"}}}}, "bindings": [{"queue": "a", "exchange": "amq.topic"}]}"#
        } else {
            "acemq: 1\nqueues:\n  a: &a { retry: \"fixed(3, 1m)\" }\n  b: *a\nbindings:\n- queue: a\n  exchange: amq.topic\n"
        };
        let mut bytes = good.as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes.splice(at..=at, with.bytes());
        if let Err(problems) = Topology::parse(&bytes, Format::Auto) {
            prop_assert!(!problems.is_empty());
        }
    }
}

#[test]
fn columns_count_characters_in_a_line_of_any_length() {
    let text = format!("{{\"{}\": 1,\n \"é\": 2}}", "é".repeat(3000));
    let lines = Lines::new(&text);
    let at = |what: &str| lines.position(text.find(what).unwrap());
    assert_eq!(at("1"), Position { line: 1, column: 3006 });
    assert_eq!(at("2"), Position { line: 2, column: 7 });
    assert_eq!(lines.position(text.len()), Position { line: 2, column: 9 });
    let tree = json::read(&text).unwrap_or_else(|_| panic!("it is JSON"));
    assert_eq!(tree.get("é").map(|node| node.at), Some(Position { line: 2, column: 7 }));
    assert_eq!(tree.entry("é").map(|entry| entry.key_at), Some(Position { line: 2, column: 2 }));
}
