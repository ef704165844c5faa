//! From a state to a definitions file: a new one, or changes to one that was read.
//!
//! A file that was read keeps every byte that does not have to change: users, permissions and other vhosts, keys that
//! nothing here understands, numbers that no type holds. Only entries of the vhost that differ from the state are written
//! anew, and a changed entry keeps the keys that are not about the change.

use super::document::{Contents, Definitions, Item, Layout};
use super::entry::offset_in;
use super::json::RawObject;
use super::to_json::{OPERATOR_POLICIES, Object, SECTIONS, entry, exported, vhost_entry};
use crate::state::{State, predeclared_exchange};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// The definitions of whole vhosts, as a cluster's export. Exclusive queues have no place in it, and argument values lose
/// the types that JSON does not have.
pub fn write(states: &[&State]) -> String {
    let mut top = Map::new();
    if let Some(version) = states.iter().find_map(|state| state.broker.version) {
        top.insert("rabbit_version".to_owned(), json!(version.to_string()));
        top.insert("rabbitmq_version".to_owned(), json!(version.to_string()));
    }
    top.insert("vhosts".to_owned(), states.iter().map(|state| vhost_entry(state)).collect());
    for section in SECTIONS {
        let entries = states.iter().flat_map(|state| {
            exported(section, state).into_iter().map(|object| Json::Object(entry(&object, Some(&state.vhost))))
        });
        top.insert(section.to_owned(), entries.collect());
    }
    serde_json::to_string_pretty(&Json::Object(top)).unwrap_or_default()
}

impl Definitions {
    /// The text of this file with one vhost's exchanges, queues, bindings, policies and operator policies as `state` has
    /// them, and everything else as it is. Where nothing differs it is the same text, byte for byte.
    ///
    /// Entries with a fault stay, and so do the settings of a vhost that the file lists.
    pub fn rewrite(&self, vhost: &str, state: &State) -> String {
        let Ok(top) = serde_json::from_str::<RawObject>(&self.text) else { return self.text.clone() };
        let empty = Contents::default();
        let (contents, named) = match self.layout {
            Layout::Cluster => (self.contents.get(vhost), Some(vhost)),
            Layout::SingleVhost => (self.contents.values().next(), None),
        };
        let contents = contents.unwrap_or(&empty);
        let mut lists: Vec<(&str, Changes)> =
            SECTIONS.into_iter().map(|section| (section, self.changes(section, contents, state, named))).collect();
        if named.is_some() && !contents.listed && top.get("vhosts").is_some() {
            let added = vec![vhost_entry(state).to_string()];
            lists.push(("vhosts", Changes { fates: BTreeMap::new(), added }));
        }
        // By the place in the text: the length of what goes, and what comes instead.
        let mut edits: BTreeMap<usize, (usize, String)> = BTreeMap::new();
        let mut missing = String::new();
        for (section, changes) in lists.iter().filter(|(_, changes)| !changes.is_empty()) {
            match top.get(section).filter(|raw| raw.get().starts_with('[')) {
                Some(raw) => {
                    let start = offset_in(&self.text, raw.get());
                    edits.insert(start, (raw.get().len(), self.list(raw, changes)));
                }
                None => missing.push_str(&format!(",\"{section}\":[{}]", changes.added.join(","))),
            }
        }
        if let Some(end) = self.text.rfind('}').filter(|_| !missing.is_empty()) {
            edits.insert(end, (0, missing));
        }
        let mut text = String::with_capacity(self.text.len());
        let mut from = 0;
        for (start, (length, replacement)) in edits {
            text.push_str(self.text.get(from..start).unwrap_or_default());
            text.push_str(&replacement);
            from = start.saturating_add(length);
        }
        text.push_str(self.text.get(from..).unwrap_or_default());
        text
    }

    /// What becomes of each entry of a list that belongs to the vhost, and what is new.
    fn changes(&self, section: &str, contents: &Contents, state: &State, vhost: Option<&str>) -> Changes {
        let mut wanted: BTreeMap<String, Object> =
            exported(section, state).into_iter().map(|object| (object.identity(), object)).collect();
        let mut changes = Changes { fates: BTreeMap::new(), added: Vec::new() };
        let mut found = BTreeSet::new();
        for (start, length, object) in stored(section, contents) {
            let identity = object.identity();
            let fate = match wanted.get(&identity) {
                Some(wanted) if wanted.is_like(&object) => None,
                Some(wanted) => {
                    let raw = self.text.get(start..start.saturating_add(length)).unwrap_or_default();
                    Some(Fate::Becomes(changed(raw, wanted, vhost)))
                }
                None => Some(Fate::Goes),
            };
            changes.fates.extend(fate.map(|fate| (start, fate)));
            found.insert(identity);
        }
        wanted.retain(|identity, _| !found.contains(identity));
        changes.added = wanted.values().map(|object| Json::Object(entry(object, vhost)).to_string()).collect();
        changes
    }

    /// A list with its changes, entries and the blanks between them as they were.
    fn list(&self, list: &RawValue, changes: &Changes) -> String {
        let entries: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
        let inside = |from: usize, to: usize| list.get().get(from..to).unwrap_or_default();
        let span = |entry: &RawValue| {
            let start = offset_in(list.get(), entry.get());
            (start, start.saturating_add(entry.get().len()))
        };
        let spans: Vec<(usize, usize)> = entries.iter().map(|entry| span(entry)).collect();
        let lead = spans.first().map_or("", |(start, _)| inside(1, *start));
        let between = match spans.as_slice() {
            [(_, end), (start, _), ..] => inside(*end, *start).to_owned(),
            _ => format!(",{lead}"),
        };
        let tail = spans.last().map_or("", |(_, end)| inside(*end, list.get().len().saturating_sub(1)));
        let kept = entries.iter().filter_map(|entry| match changes.fates.get(&offset_in(&self.text, entry.get())) {
            None => Some(entry.get()),
            Some(Fate::Becomes(text)) => Some(text.as_str()),
            Some(Fate::Goes) => None,
        });
        let entries: Vec<&str> = kept.chain(changes.added.iter().map(String::as_str)).collect();
        if entries.is_empty() { "[]".to_owned() } else { format!("[{lead}{}{tail}]", entries.join(&between)) }
    }
}

/// What becomes of an entry that does not stay as it is.
enum Fate {
    Goes,
    Becomes(String),
}

struct Changes {
    /// By the place of the entry in the text.
    fates: BTreeMap<usize, Fate>,
    added: Vec<String>,
}

impl Changes {
    fn is_empty(&self) -> bool {
        self.fates.is_empty() && self.added.is_empty()
    }
}

/// The entries of a list that belong to the vhost, with place and length.
fn stored(section: &str, contents: &Contents) -> Vec<(usize, usize, Object)> {
    fn all<T: Clone>(items: &[Item<T>], object: fn(T) -> Object) -> Vec<(usize, usize, Object)> {
        items.iter().map(|item| (item.span.start, item.span.len(), object(item.value.clone()))).collect()
    }
    let mut stored = match section {
        "queues" => all(&contents.queues, Object::Queue),
        "exchanges" => all(&contents.exchanges, Object::Exchange),
        "bindings" => all(&contents.bindings, Object::Binding),
        "policies" => all(&contents.policies, Object::Policy),
        OPERATOR_POLICIES => all(&contents.operator_policies, Object::OperatorPolicy),
        _ => Vec::new(),
    };
    // What every vhost has is in no state, and stays in the file.
    stored.retain(|(_, _, object)| match object {
        Object::Exchange(exchange) => predeclared_exchange(&exchange.name).is_none(),
        Object::Binding(binding) => !binding.source.is_empty(),
        _ => true,
    });
    stored
}

/// An entry with the values of `object`; what is the same keeps its text, and unknown keys stay.
fn changed(raw: &str, object: &Object, vhost: Option<&str>) -> String {
    let mut new = entry(object, vhost);
    let old: RawObject = serde_json::from_str(raw).unwrap_or(RawObject(Vec::new()));
    let mut parts: Vec<String> = Vec::new();
    for (key, value) in &old.0 {
        let text = match new.remove(key.as_ref()) {
            Some(new) if serde_json::from_str::<Json>(value.get()).is_ok_and(|old| old == new) => {
                value.get().to_owned()
            }
            Some(new) => new.to_string(),
            None => value.get().to_owned(),
        };
        parts.push(format!("{}:{text}", Json::from(key.as_ref())));
    }
    // What the entry did without and means nothing new stays out.
    new.retain(|key, value| !object.is_default(key, value));
    parts.extend(new.into_iter().map(|(key, value)| format!("{}:{value}", Json::from(key))));
    format!("{{{}}}", parts.join(","))
}
