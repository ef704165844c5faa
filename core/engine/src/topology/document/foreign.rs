//! Files that are often given instead of a topology, and what to do with each.

use super::super::problem::{ObjectRef, Position, Problem, ProblemCode};
use super::tree::{Kind, Node, short};

/// Keys that only a definitions export has.
const EXPORT: [&str; 11] = [
    "global_parameters",
    "parameters",
    "permissions",
    "product_name",
    "product_version",
    "rabbit_version",
    "rabbitmq_version",
    "topic_permissions",
    "user_limits",
    "users",
    "vhosts",
];

/// The keys of a topology.
const TOPOLOGY: [&str; 6] = ["acemq", "exchanges", "queues", "bindings", "policies", "suppress"];

/// What the document is, when it is no topology.
pub(super) fn recognise(root: &Node) -> Option<Problem> {
    let Kind::Mapping(entries) = &root.kind else {
        let sentence = format!("the document is {}, and a topology is a mapping", root.described());
        return Some(no_topology(
            sentence,
            "Begin with acemq: 1, and exchanges, queues and bindings below it.",
            root.at,
        ));
    };
    let has = |key: &str| root.get(key).is_some();
    if has("acemq") {
        return None;
    }
    if has("acemq_migration") {
        return Some(no_topology(
            "the document is a migration, not a topology".to_owned(),
            "Run it with acemq migrate; check takes the topology that it leads to.",
            root.at,
        ));
    }
    if let Some(format) = root.get("format").and_then(Node::text).filter(|format| format.starts_with("acemq.")) {
        return Some(no_topology(
            format!("the document is {} as acemq prints it, not a topology", short(format)),
            "Give the topology that it was made from.",
            root.at,
        ));
    }
    if has("steps") && (has("topology") || has("rabbitmq")) {
        return Some(no_topology(
            "the document is a scenario for acemq simulate, not a topology".to_owned(),
            "Run it with acemq simulate; check takes the topology that it names.",
            root.at,
        ));
    }
    if EXPORT.iter().any(|key| has(key)) || TOPOLOGY.iter().any(|section| of_an_export(root.get(section))) {
        return Some(no_topology(
            "the document is a RabbitMQ definitions export, not a topology".to_owned(),
            "Use it as the broker that a topology is compared with: acemq plan TOPOLOGY --broker definitions:FILE.",
            root.at,
        ));
    }
    if !entries.iter().any(|entry| TOPOLOGY.contains(&entry.key.as_str())) {
        let found = match entries.first() {
            None => "is empty".to_owned(),
            Some(first) => format!("begins with the key \"{}\"", short(&first.key)),
        };
        return Some(no_topology(
            format!("the document {found}, and has none of a topology's keys"),
            "Begin with acemq: 1, and exchanges, queues and bindings below it.",
            root.at,
        ));
    }
    None
}

/// Whether a section holds what only an export writes: vhosts, or bindings with a source.
fn of_an_export(section: Option<&Node>) -> bool {
    match section.map(|section| &section.kind) {
        Some(Kind::List(items)) => {
            items.first().is_some_and(|first| first.get("vhost").is_some() || first.get("source").is_some())
        }
        _ => false,
    }
}

pub(super) fn no_topology(sentence: String, help: &str, at: Position) -> Problem {
    let problem = Problem::new(ProblemCode::DocumentNotATopology, ObjectRef::Document {}, sentence).help(help);
    Problem { at: Some(at), ..problem }
}
