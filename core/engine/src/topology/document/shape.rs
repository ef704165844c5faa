//! Every key and value of a document against the JSON Schema, so that all mistakes of shape are reported at once.
//!
//! What is wrong is taken out of the tree, so that what remains can be read and judged as well.

use super::super::finding::{Section, exchange, joined, queue};
use super::super::problem::{ObjectRef, Position, Problem, ProblemCode};
use super::tree::{Entry, Kind, Node};
use crate::name::{nearest, quoted, shown};
use crate::value::{Table, Value};
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};

/// What a value of the document belongs to.
struct Owner {
    object: ObjectRef,
    /// As a sentence names it: `queue "orders"`.
    text: String,
}

/// What was found, and which entries it was found in.
pub(super) struct Shape<'a> {
    definitions: &'a Json,
    /// YAML writes a text without quotes, so a number may be meant as one.
    bare_texts: bool,
    pub problems: Vec<Problem>,
    pub tainted: BTreeSet<(Section, usize)>,
}

impl<'a> Shape<'a> {
    pub fn new(schema: &'a Json, bare_texts: bool) -> Self {
        let definitions = schema.get("$defs").unwrap_or(&Json::Null);
        Self { definitions, bare_texts, problems: Vec::new(), tainted: BTreeSet::new() }
    }

    /// Checks the whole document.
    pub fn document(&mut self, root: &mut Node, schema: &Json) {
        let owner = Owner { object: ObjectRef::Document {}, text: "the document".to_owned() };
        self.keys(root, schema, &owner);
        let Kind::Mapping(entries) = &mut root.kind else { return };
        for entry in entries {
            let (section, body) = match entry.key.as_str() {
                "exchanges" => (Section::Exchanges, "Exchange"),
                "policies" => (Section::Policies, "Policy"),
                "queues" => (Section::Queues, "Queue"),
                "bindings" => (Section::Bindings, "Binding"),
                "suppress" => (Section::Suppressions, "Suppression"),
                key => {
                    let property = schema.pointer(&format!("/properties/{key}")).unwrap_or(&Json::Null);
                    if !self.value(&mut entry.value, property, key, &owner) {
                        entry.value.kind = Kind::Null;
                    }
                    continue;
                }
            };
            self.section(entry, section, body, &owner);
        }
    }

    fn section(&mut self, section_entry: &mut Entry, section: Section, body: &str, owner: &Owner) {
        let schema = self.definitions.get(body).cloned().unwrap_or_default();
        let key = section_entry.key.clone();
        let node = &mut section_entry.value;
        match &mut node.kind {
            Kind::Null => {}
            Kind::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    let owner = owner_of(section, index, item.get("name").and_then(Node::text), item);
                    self.body(item, &schema, &owner, (section, index));
                }
            }
            Kind::Mapping(entries) if section.has_names() => {
                let section_owner = Owner { object: ObjectRef::Document {}, text: key };
                self.no_duplicates(entries, &section_owner);
                for (index, entry) in entries.iter_mut().enumerate() {
                    let owner = owner_of(section, index, Some(&entry.key), &entry.value);
                    if matches!(entry.value.kind, Kind::Null) {
                        continue;
                    }
                    if let Some(name) = entry.value.entry("name") {
                        let sentence =
                            format!("{} has the key name, and its name stands before it already", owner.text);
                        let problem = Problem::new(ProblemCode::UnknownKey, owner.object.clone(), sentence)
                            .field("key", "name")
                            .help("Take the key out; a name of its own is for the list form.");
                        self.report(problem, name.key_at, (section, index));
                        if let Kind::Mapping(body) = &mut entry.value.kind {
                            body.retain(|entry| entry.key != "name");
                        }
                    }
                    self.body(&mut entry.value, &schema, &owner, (section, index));
                }
            }
            _ => {
                let expected = if section.has_names() { "a mapping of names, or a list" } else { "a list" };
                let problem = wrong_value(owner, &key, node, expected);
                self.problems.push(Problem { at: Some(node.at), ..problem });
                node.kind = Kind::Null;
            }
        }
    }

    fn body(&mut self, node: &mut Node, schema: &Json, owner: &Owner, entry: (Section, usize)) {
        let before = self.problems.len();
        if matches!(node.kind, Kind::Mapping(_)) {
            self.keys(node, schema, owner);
            if let Kind::Mapping(entries) = &mut node.kind {
                entries.retain_mut(|entry| {
                    let property = schema.pointer(&format!("/properties/{}", entry.key)).unwrap_or(&Json::Null);
                    self.value(&mut entry.value, property, &entry.key, owner)
                });
            }
        } else {
            let sentence = format!("{} is {}, and the format takes a mapping", owner.text, node.described());
            let problem = Problem::new(ProblemCode::WrongValue, owner.object.clone(), sentence)
                .field("expected", "a mapping")
                .field("found", node.described())
                .help(format!("Write its keys in braces or indented below it: {}.", keys_of(schema)));
            self.problems.push(Problem { at: Some(node.at), ..problem });
            node.kind = Kind::Mapping(Vec::new());
        }
        if self.problems.len() > before {
            self.tainted.insert(entry);
        }
    }

    fn report(&mut self, problem: Problem, at: Position, entry: (Section, usize)) {
        self.problems.push(Problem { at: Some(at), ..problem });
        self.tainted.insert(entry);
    }

    /// Takes repeated and unknown keys out of a mapping.
    fn keys(&mut self, node: &mut Node, schema: &Json, owner: &Owner) {
        let Kind::Mapping(entries) = &mut node.kind else { return };
        self.no_duplicates(entries, owner);
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else { return };
        entries.retain(|entry| {
            if properties.contains_key(&entry.key) {
                return true;
            }
            let sentence = format!("{} has the key {}, which the format does not have", owner.text, quoted(&entry.key));
            let near = nearest(&entry.key, properties.keys().map(String::as_str)).unwrap_or_default();
            let problem = Problem::new(ProblemCode::UnknownKey, owner.object.clone(), sentence)
                .field("key", entry.key.as_str())
                .field("nearest", near)
                .help(format!("The nearest key is {near}. The keys are {}.", keys_of(schema)));
            self.problems.push(Problem { at: Some(entry.key_at), ..problem });
            false
        });
    }

    /// Takes the second and every later one of equal keys out of a mapping.
    fn no_duplicates(&mut self, entries: &mut Vec<Entry>, owner: &Owner) {
        let mut seen = HashSet::with_capacity(entries.len());
        entries.retain(|entry| {
            if seen.insert(entry.key.clone()) {
                return true;
            }
            let sentence = format!("{} has the key {} twice", owner.text, quoted(&entry.key));
            let problem = Problem::new(ProblemCode::DuplicateKey, owner.object.clone(), sentence)
                .field("key", entry.key.as_str())
                .help("Keep one of the two.");
            self.problems.push(Problem { at: Some(entry.key_at), ..problem });
            false
        });
    }

    /// Whether the value under `key` is one that `schema` takes; reports it when not.
    fn value(&mut self, node: &mut Node, schema: &Json, key: &str, owner: &Owner) -> bool {
        match reference(schema) {
            Some("Arguments") => return self.arguments(node, key, owner),
            // The policy's own reader finds more than its shape.
            Some("RetryPolicy") => return self.nested_duplicates(node, owner),
            _ => {}
        }
        let types: Vec<&str> = match schema.get("type") {
            Some(Json::String(one)) => vec![one],
            Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).collect(),
            _ => return true,
        };
        let takes = |kind: &str| types.contains(&kind);
        let fits = match &node.kind {
            Kind::Null => takes("null"),
            Kind::Bool(flag) => {
                let (fits, text) = (takes("boolean"), flag.to_string());
                if !fits && self.bare_texts && takes("string") {
                    node.kind = Kind::Text(text);
                    return true;
                }
                fits
            }
            Kind::Number { json, written } => {
                if takes("integer") {
                    json.parse::<i64>().is_ok()
                } else if self.bare_texts && takes("string") {
                    node.kind = Kind::Text(written.clone());
                    true
                } else {
                    false
                }
            }
            Kind::Text(_) => takes("string"),
            Kind::List(_) => takes("array"),
            Kind::Mapping(_) => takes("object"),
        };
        if !fits {
            let words: Vec<&str> = types.iter().filter(|kind| **kind != "null").map(|kind| word(kind)).collect();
            // A number that can only be one number.
            let only = schema.get("minimum").filter(|minimum| schema.get("maximum") == Some(*minimum));
            let expected = only.map_or_else(|| joined(&words, "or"), Json::to_string);
            let problem = wrong_value(owner, key, node, &expected);
            self.problems.push(Problem { at: Some(node.at), ..problem });
        }
        fits
    }

    /// An argument table: names with AMQP values.
    fn arguments(&mut self, node: &mut Node, key: &str, owner: &Owner) -> bool {
        let at = node.at;
        let Kind::Mapping(entries) = &mut node.kind else {
            let problem = wrong_value(owner, key, node, "a mapping of names to values");
            self.problems.push(Problem { at: Some(at), ..problem });
            return false;
        };
        let table_owner = Owner { object: owner.object.clone(), text: format!("{key} of {}", owner.text) };
        self.no_duplicates(entries, &table_owner);
        entries.retain_mut(|entry| {
            if !self.nested_duplicates(&mut entry.value, &table_owner) {
                return false;
            }
            match serde_json::from_str::<Value>(&entry.value.to_json()) {
                Ok(_) => true,
                Err(error) => {
                    let problem = no_value(owner, &entry.key, &entry.value, &error);
                    self.problems.push(Problem { at: Some(entry.value.at), ..problem });
                    // A tag as a name is taken up by the check of the whole table.
                    false
                }
            }
        });
        match serde_json::from_str::<Table>(&node.to_json()) {
            Ok(_) => true,
            Err(error) => {
                let problem = no_value(owner, key, node, &error);
                self.problems.push(Problem { at: Some(at), ..problem });
                false
            }
        }
    }

    /// Whether no mapping below `node` has a key twice.
    fn nested_duplicates(&mut self, node: &mut Node, owner: &Owner) -> bool {
        let before = self.problems.len();
        match &mut node.kind {
            Kind::Mapping(entries) => {
                self.no_duplicates(entries, owner);
                for entry in entries {
                    self.nested_duplicates(&mut entry.value, owner);
                }
            }
            Kind::List(items) => {
                for item in items {
                    self.nested_duplicates(item, owner);
                }
            }
            _ => {}
        }
        self.problems.len() == before
    }
}

/// The definition that a schema refers to, with or without `null` beside it.
fn reference(schema: &Json) -> Option<&str> {
    let path = schema.get("$ref").or_else(|| schema.get("anyOf")?.as_array()?.iter().find_map(|one| one.get("$ref")));
    path?.as_str()?.rsplit('/').next()
}

fn word(kind: &str) -> &'static str {
    match kind {
        "boolean" => "true or false",
        "integer" => "a whole number within ±2^63",
        "number" => "a number",
        "string" => "a text",
        "array" => "a list",
        _ => "a mapping",
    }
}

fn keys_of(schema: &Json) -> String {
    let properties = schema.get("properties").and_then(Json::as_object);
    let keys: Vec<&str> = properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str).collect();
    joined(&keys, "and")
}

fn wrong_value(owner: &Owner, key: &str, node: &Node, expected: &str) -> Problem {
    let sentence = format!("key {key} of {} is {}, and the format takes {expected}", owner.text, node.described());
    Problem::new(ProblemCode::WrongValue, owner.object.clone(), sentence)
        .field("key", key)
        .field("expected", expected)
        .field("found", node.described())
        .help(way_out(node, expected))
}

fn way_out(node: &Node, expected: &str) -> String {
    let text = node.text().unwrap_or_default();
    if expected.starts_with("true or false") {
        match text.to_lowercase().as_str() {
            "yes" | "on" | "true" | "y" => return "Write true without quotes.".to_owned(),
            "no" | "off" | "false" | "n" => return "Write false without quotes.".to_owned(),
            _ => {}
        }
    }
    if expected.starts_with("a whole number") && text.parse::<i64>().is_ok() {
        return format!("Write {text} without quotes.");
    }
    if expected == "a text" && matches!(node.kind, Kind::Number { .. } | Kind::Bool(_)) {
        return "Write it in quotes.".to_owned();
    }
    format!("Write {expected}, or take the key out.")
}

fn no_value(owner: &Owner, argument: &str, node: &Node, error: &serde_json::Error) -> Problem {
    let message = match &node.kind {
        // Beyond 64 bits JSON's reader sees a double and speaks of one.
        Kind::Number { json, .. } if json.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
            "whole numbers end at ±2^63".to_owned()
        }
        _ => error.to_string(),
    };
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    let sentence = format!("argument {} of {} is {}: {}", quoted(argument), owner.text, node.described(), reason);
    Problem::new(ProblemCode::WrongValue, owner.object.clone(), sentence)
        .field("argument", argument)
        .field("found", node.described())
        .help("Write a value that AMQP has: a whole number within ±2^63, a text, true, false, a list, a mapping, or a tagged value such as {\"@T\": 1700000000}.")
}

/// How a problem of an entry names it.
fn owner_of(section: Section, index: usize, name: Option<&str>, body: &Node) -> Owner {
    let numbered = |word: &str| format!("{word} {} of {}", index + 1, section.key());
    let named = name.filter(|name| !name.is_empty());
    match section {
        Section::Exchanges => Owner {
            object: ObjectRef::exchange(name.unwrap_or_default()),
            text: named.map_or_else(|| numbered("entry"), exchange),
        },
        Section::Queues => Owner {
            object: ObjectRef::queue(name.unwrap_or_default()),
            text: named.map_or_else(|| numbered("entry"), queue),
        },
        Section::Policies => Owner {
            object: ObjectRef::policy(name.unwrap_or_default()),
            text: named.map_or_else(|| numbered("entry"), |name| format!("policy {}", quoted(name))),
        },
        Section::Suppressions => Owner { object: ObjectRef::Document {}, text: numbered("entry") },
        Section::Bindings => {
            let text = |key: &str| body.get(key).and_then(Node::text);
            let (queue, to_exchange) = (text("queue"), text("to_exchange"));
            let (source, destination, key) =
                (text("exchange"), queue.or(to_exchange), text("routing_key").unwrap_or_default());
            let show = |end: Option<&str>| end.map_or(Cow::Borrowed("?"), |end| Cow::Owned(shown(end).into_owned()));
            let words = if source.is_none() && destination.is_none() {
                numbered("entry")
            } else {
                format!("binding {} -> {} ({})", show(source), show(destination), shown(key))
            };
            Owner {
                object: ObjectRef::Binding {
                    source: source.unwrap_or_default().to_owned(),
                    destination: destination.unwrap_or_default().to_owned(),
                    destination_type: if queue.is_none() && to_exchange.is_some() { "exchange" } else { "queue" },
                    routing_key: key.to_owned(),
                },
                text: words,
            }
        }
    }
}
