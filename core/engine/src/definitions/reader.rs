//! From the text to the lists by vhost.

use super::document::{Contents, Definitions, Item, Layout, Parameter};
use super::entry::{
    BindingList, Exchanges, Place, Policies, PolicyBody, Queues, Read, Section, explain, kind_of, line_and_column,
    offset_in,
};
use super::error::DefinitionsError;
use super::fault::{Fault, FaultCode, Located, place, position};
use super::json::RawObject;
use super::vhost::{Settings, queue_limit};
use crate::rabbitmq::{Broker, PolicyDeclaration, Product, Version};
use crate::state::KnownKinds;
use crate::topology::{Position, shown_name};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Reads a definitions file.
///
/// Entries that cannot be read are kept as [`Definitions::faults`], so that all of them can be shown at once.
///
/// # Errors
/// When the bytes are no JSON object with at least one of the lists that definitions have.
pub fn read(bytes: &[u8]) -> Result<Definitions, DefinitionsError> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => {
            let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let good = String::from_utf8_lossy(good);
            return Err(DefinitionsError::NotUtf8 { at: position(&good, good.len()) });
        }
    };
    if text.trim_ascii().is_empty() {
        return Err(DefinitionsError::Empty);
    }
    let top: RawObject = serde_json::from_str(text).map_err(|error| not_an_object(text, &error))?;
    recognise(&top)?;
    let mut reader = Reader { text, faults: Vec::new() };
    let queues = reader.list::<Queues>(&top);
    let exchanges = reader.list::<Exchanges>(&top);
    let bindings = reader.list::<BindingList>(&top);
    let policies = reader.list::<Policies>(&top);
    let parameters = reader.parameters(&top);
    let vhosts = reader.vhosts(&top);

    // RabbitMQ 3 names the vhost in the policies and parameters of a single vhost's export, and in nothing else of it.
    let named = queues.iter().any(Entry::names_vhost)
        || exchanges.iter().any(Entry::names_vhost)
        || bindings.iter().any(Entry::names_vhost);
    let named = named
        || queues.is_empty()
            && exchanges.is_empty()
            && bindings.is_empty()
            && (policies.iter().any(Entry::names_vhost) || parameters.iter().any(Entry::names_vhost))
        || reader.faults.iter().any(|located| located.fault.vhost.is_some());
    if !named && lists_of_a_topology(&top) {
        return Err(DefinitionsError::TopologyDocument);
    }
    let layout = layout(&top, named);
    let mut contents: BTreeMap<String, Contents> = BTreeMap::new();
    let single = match layout {
        Layout::Cluster => None,
        Layout::SingleVhost => {
            let by_others = || policies.iter().find_map(|entry| entry.vhost.clone());
            let by_others = || by_others().or_else(|| parameters.iter().find_map(|entry| entry.vhost.clone()));
            let name = top.text("original_vhost_name").or_else(|| by_others().map(Cow::into_owned));
            let name = name.unwrap_or_else(|| "/".to_owned());
            let vhost = contents.entry(name.clone()).or_default();
            vhost.settings = Settings::read(&settings_of(&top));
            vhost.listed = true;
            Some(name)
        }
    };
    for (name, settings) in vhosts {
        let vhost = contents.entry(name).or_default();
        vhost.settings = settings;
        vhost.listed = true;
    }
    let internal_exchanges = exchanges.iter().any(|entry| entry.value.1);
    let mut sorter = Sorter { reader: &mut reader, single: single.as_deref(), contents: &mut contents };
    sorter.sort(Queues::NAME, queues, |vhost, queue| vhost.queues.push(queue));
    sorter.sort(Exchanges::NAME, exchanges, |vhost, exchange| {
        vhost.exchanges.push(Item { value: exchange.value.0, span: exchange.span });
    });
    sorter.sort(BindingList::NAME, bindings, |vhost, binding| vhost.bindings.push(binding));
    sorter.sort(Policies::NAME, policies, |vhost, policy| vhost.policies.push(policy));
    sorter.sort(PARAMETERS, parameters, |vhost, parameter| match parameter.value {
        AnyParameter::OperatorPolicy(value) => vhost.operator_policies.push(Item { value, span: parameter.span }),
        AnyParameter::Other(value) => {
            if value.component == "vhost-limits" && vhost.settings.queue_limit.is_none() {
                vhost.settings.queue_limit = queue_limit(&value.value);
            }
            vhost.parameters.push(Item { value, span: parameter.span });
        }
    });
    for (name, vhost) in &contents {
        reader.duplicates(name, Queues::NAME, &vhost.queues, |queue| &queue.name);
        reader.duplicates(name, Exchanges::NAME, &vhost.exchanges, |exchange| &exchange.name);
        reader.duplicates(name, Policies::NAME, &vhost.policies, |policy| &policy.name);
        reader.duplicates(name, PARAMETERS, &vhost.operator_policies, |policy| &policy.name);
    }
    let has = |section| top.get(section).is_some();
    let known = KnownKinds {
        exchanges: has(Exchanges::NAME),
        queues: has(Queues::NAME),
        bindings: has(BindingList::NAME),
        policies: has(Policies::NAME),
    };
    let broker = broker(&top);
    let faults = place(text, reader.faults);
    Ok(Definitions { layout, broker, known, internal_exchanges, contents, faults, text: text.to_owned() })
}

/// The list that holds operator policies, beside everything else that has a component.
const PARAMETERS: &str = "parameters";

enum AnyParameter {
    OperatorPolicy(PolicyDeclaration),
    Other(Parameter),
}

struct Entry<'a, T> {
    vhost: Option<Cow<'a, str>>,
    value: T,
    raw: &'a RawValue,
    index: usize,
}

impl<T> Entry<'_, T> {
    fn names_vhost(&self) -> bool {
        self.vhost.is_some()
    }
}

struct Reader<'a> {
    text: &'a str,
    faults: Vec<Located>,
}

impl<'a> Reader<'a> {
    /// The entries of a list; a missing list is an empty one.
    fn entries(&mut self, top: &RawObject<'a>, section: &str) -> Vec<&'a RawValue> {
        let Some(raw) = top.get(section).filter(|raw| raw.get() != "null") else { return Vec::new() };
        match serde_json::from_str(raw.get()) {
            Ok(entries) => entries,
            Err(_) => {
                self.faults.push(Located {
                    offset: offset_in(self.text, raw.get()),
                    fault: Fault {
                        code: FaultCode::WrongShape,
                        section: section.to_owned(),
                        index: None,
                        vhost: None,
                        name: None,
                        message: format!("\"{section}\" is {}; expected a list", kind_of(raw.get())),
                        at: Position { line: 1, column: 1 },
                    },
                });
                Vec::new()
            }
        }
    }

    fn list<S: Section>(&mut self, top: &RawObject<'a>) -> Vec<Entry<'a, S::Output>> {
        let entries = self.entries(top, S::NAME);
        let mut read = Vec::with_capacity(entries.len());
        for (index, raw) in entries.into_iter().enumerate() {
            let place = Place { text: self.text, section: S::NAME, index, raw };
            if !raw.get().starts_with('{') {
                self.faults.push(place.no_object(raw.get()));
                continue;
            }
            match S::read(raw.get()) {
                Ok((vhost, value)) => read.push(Entry { vhost, value, raw, index }),
                Err(error) => self.faults.extend(explain(place, raw.get(), S::KEYS, &error)),
            }
        }
        read
    }

    /// Operator policies are parameters (3.7 to 4.3); the definition of one is an object or, in 3.10 to 4.0, a list of pairs.
    fn parameters(&mut self, top: &RawObject<'a>) -> Vec<Entry<'a, AnyParameter>> {
        let mut read = Vec::new();
        for (index, raw) in self.entries(top, PARAMETERS).into_iter().enumerate() {
            let place = Place { text: self.text, section: PARAMETERS, index, raw };
            match Self::parameter(place, raw) {
                Ok((vhost, value)) => read.push(Entry { vhost, value, raw, index }),
                Err(faults) => self.faults.extend(faults),
            }
        }
        read
    }

    fn parameter(place: Place<'a>, raw: &'a RawValue) -> Result<Read<'a, AnyParameter>, Vec<Located>> {
        let object: RawObject = serde_json::from_str(raw.get()).map_err(|_| vec![place.no_object(raw.get())])?;
        let faults: Vec<Located> = ["component", "name", "value"]
            .into_iter()
            .filter(|key| object.get(key).is_none())
            .map(|key| place.missing(key, raw.get()))
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let component = object.text("component").unwrap_or_default();
        let name = object.text("name").unwrap_or_default();
        let vhost = object.text("vhost").map(Cow::Owned);
        let value = object.get("value").unwrap_or(raw).get();
        if component != "operator_policy" {
            // What no JSON reader's number holds stays in the text; here it only counts that it is there.
            let value = serde_json::from_str(value).unwrap_or_default();
            return Ok((vhost, AnyParameter::Other(Parameter { component, name, value })));
        }
        if !value.starts_with('{') {
            return Err(vec![place.no_object(value)]);
        }
        match serde_json::from_str::<PolicyBody>(value) {
            Ok(body) => Ok((vhost, AnyParameter::OperatorPolicy(body.named(name)))),
            Err(error) => Err(explain(place, value, PolicyBody::KEYS, &error)),
        }
    }

    fn vhosts(&mut self, top: &RawObject<'a>) -> Vec<(String, Settings)> {
        let mut read = Vec::new();
        for (index, raw) in self.entries(top, "vhosts").into_iter().enumerate() {
            let entry: Json = serde_json::from_str(raw.get()).unwrap_or_default();
            match entry.get("name").and_then(Json::as_str) {
                Some(name) => read.push((name.to_owned(), Settings::read(&entry))),
                None => {
                    let place = Place { text: self.text, section: "vhosts", index, raw };
                    self.faults.push(place.missing("name", raw.get()));
                }
            }
        }
        read
    }

    fn duplicates<T: PartialEq>(
        &mut self,
        vhost: &str,
        section: &str,
        items: &[Item<T>],
        name: impl Fn(&T) -> &String,
    ) {
        let mut first: BTreeMap<&str, &Item<T>> = BTreeMap::new();
        for item in items {
            let known = *first.entry(name(&item.value)).or_insert(item);
            if known.value == item.value {
                continue;
            }
            let shown = shown_name(name(&item.value));
            self.faults.push(Located {
                offset: item.span.start,
                fault: Fault {
                    code: FaultCode::Duplicate,
                    section: section.to_owned(),
                    index: None,
                    vhost: Some(vhost.to_owned()),
                    name: Some(name(&item.value).clone()),
                    message: format!(
                        "{section}: an entry before this one also describes \"{shown}\", differently, and which of them an import keeps is undefined; keep one"
                    ),
                    at: Position { line: 1, column: 1 },
                },
            });
        }
    }
}

/// Puts entries into their vhosts.
struct Sorter<'r, 'a> {
    reader: &'r mut Reader<'a>,
    single: Option<&'r str>,
    contents: &'r mut BTreeMap<String, Contents>,
}

impl<'a> Sorter<'_, 'a> {
    fn sort<T>(&mut self, section: &str, entries: Vec<Entry<'a, T>>, mut put: impl FnMut(&mut Contents, Item<T>)) {
        for Entry { vhost, value, raw, index } in entries {
            let name = match (self.single, vhost) {
                (Some(single), _) => Cow::Borrowed(single),
                (None, Some(vhost)) => vhost,
                (None, None) => {
                    let place = Place { text: self.reader.text, section, index, raw };
                    self.reader.faults.push(place.fault(
                        FaultCode::MissingVhost,
                        raw.get(),
                        "\"vhost\" is missing; every entry of a whole cluster's definitions names its vhost (the export of a single vhost is imported into one vhost)",
                    ));
                    continue;
                }
            };
            let start = offset_in(self.reader.text, raw.get());
            let item = Item { value, span: start..start.saturating_add(raw.get().len()) };
            match self.contents.get_mut(name.as_ref()) {
                Some(contents) => put(contents, item),
                None => put(self.contents.entry(name.into_owned()).or_default(), item),
            }
        }
    }
}

/// The lists and the marks of a definitions file.
const KEYS: [&str; 14] = [
    "queues",
    "exchanges",
    "bindings",
    "policies",
    "parameters",
    "global_parameters",
    "vhosts",
    "users",
    "permissions",
    "topic_permissions",
    "rabbit_version",
    "rabbitmq_version",
    "lavinmq_version",
    "rabbitmq_definition_format",
];

fn recognise(top: &RawObject<'_>) -> Result<(), DefinitionsError> {
    if top.get("acemq_migration").is_some() {
        return Err(DefinitionsError::NotDefinitions { found: "a migration".to_owned() });
    }
    let is_object = |key| top.get(key).is_some_and(|raw| raw.get().starts_with('{'));
    if top.get("acemq").is_some() || is_object("queues") || is_object("exchanges") {
        return Err(DefinitionsError::TopologyDocument);
    }
    if let Some(format) = top.text("format") {
        return Err(DefinitionsError::NotDefinitions {
            found: format!("a document of format \"{}\"", shown_name(&format)),
        });
    }
    if top.0.is_empty() {
        return Err(DefinitionsError::NotDefinitions { found: "an empty object".to_owned() });
    }
    if !top.0.iter().any(|(key, _)| KEYS.contains(&key.as_ref())) {
        return Err(DefinitionsError::NotDefinitions { found: "another JSON object".to_owned() });
    }
    Ok(())
}

/// Whether the lists are those of a topology document, which may be lists too and need not have its mark.
fn lists_of_a_topology(top: &RawObject<'_>) -> bool {
    first_has(top, "queues", &["dead_letter", "dead_letter_to", "retry"])
        || first_has(top, "bindings", &["exchange", "queue", "to_exchange"])
}

/// Whether the first entry of a list has one of these keys.
fn first_has(top: &RawObject<'_>, section: &str, keys: &[&str]) -> bool {
    let entries = top.get(section).and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    let first =
        entries.as_deref().and_then(<[_]>::first).and_then(|raw| serde_json::from_str::<RawObject>(raw.get()).ok());
    first.is_some_and(|first| keys.iter().any(|key| first.get(key).is_some()))
}

fn not_an_object(text: &str, error: &serde_json::Error) -> DefinitionsError {
    let start = text.trim_start();
    if error.is_data() {
        return DefinitionsError::NotDefinitions { found: format!("{} in JSON", kind_of(start)) };
    }
    let topology = ["acemq:", "queues:", "exchanges:", "bindings:"];
    if !start.starts_with(['{', '[']) && text.lines().any(|line| topology.iter().any(|key| line.starts_with(key))) {
        return DefinitionsError::TopologyDocument;
    }
    let words = error.to_string();
    let reason = words.rsplit_once(" at line ").map_or(words.as_str(), |(reason, _)| reason).to_owned();
    let at = position(text, line_and_column(text, error.line(), error.column()));
    DefinitionsError::NotJson { at, reason }
}

fn layout(top: &RawObject<'_>, entries_name_vhosts: bool) -> Layout {
    match top.text("rabbitmq_definition_format").as_deref() {
        Some("cluster") => Layout::Cluster,
        Some("single_virtual_host") => Layout::SingleVhost,
        _ if entries_name_vhosts || top.get("vhosts").is_some() || top.get("users").is_some() => Layout::Cluster,
        _ => Layout::SingleVhost,
    }
}

/// The keys at the top of a single vhost's export that a cluster's export has in its `vhosts` list.
fn settings_of(top: &RawObject<'_>) -> Json {
    let keys = ["metadata", "default_queue_type", "limits"];
    keys.into_iter()
        .filter_map(|key| Some((key.to_owned(), serde_json::from_str(top.get(key)?.get()).ok()?)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// The broker by the versions in the file; `rabbitmq_version` is the newer key, LavinMQ writes its own.
fn broker(top: &RawObject<'_>) -> Broker {
    if let Some(version) = top.text("lavinmq_version") {
        return Broker { product: Product::LavinMq, version: version.parse().ok() };
    }
    let version = ["rabbitmq_version", "rabbit_version", "product_version"]
        .iter()
        .find_map(|key| top.text(key).and_then(|text| text.parse().ok()))
        // A broker that was built without a version.
        .filter(|version| *version != Version::new(0, 0, 0));
    Broker { product: Product::RabbitMq, version }
}
