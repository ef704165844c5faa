//! A whole definitions file: the lists by vhost, and the state of one.

use super::error::DefinitionsError;
use super::fault::{Cursor, Fault, position};
use super::vhost::Settings;
use crate::rabbitmq::{
    BindingDeclaration, Broker, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType, Version,
};
use crate::state::{DefaultTypeOrigin, KnownKinds, Links, State, predeclared_exchange};
use crate::topology::Position;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Which of the two shapes a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Every entry names its vhost.
    Cluster,
    /// One vhost, which no entry names.
    SingleVhost,
}

/// What the caller knows better than the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The version to judge by, instead of the one that wrote the file.
    pub version: Option<Version>,
    /// The vhost's default queue type.
    pub default_queue_type: Option<String>,
}

/// An entry of the file, and the piece of text that it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item<T> {
    /// What it declares.
    pub value: T,
    pub(super) span: Range<usize>,
}

/// A runtime parameter that is no policy: shovels, federation upstreams, limits and what plugins add.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// `shovel`, `federation-upstream`, `federation-upstream-set`, `vhost-limits`, …
    pub component: String,
    /// Name.
    pub name: String,
    /// Value as the file has it.
    pub value: Json,
}

/// A definitions file.
///
/// It keeps the text, so that nothing is lost that is not understood.
#[derive(Debug, Clone)]
pub struct Definitions {
    pub(super) text: String,
    pub(super) layout: Layout,
    pub(super) broker: Broker,
    /// The kinds whose lists the file has.
    pub(super) known: KnownKinds,
    /// Whether exchanges say if they are internal, as exports that hold internal ones do.
    pub(super) internal_exchanges: bool,
    pub(super) contents: BTreeMap<String, Contents>,
    pub(super) faults: Vec<Fault>,
}

/// What one vhost holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Contents {
    pub(super) settings: Settings,
    /// Whether it stands in the `vhosts` list (or the file is its own export).
    pub(super) listed: bool,
    pub(super) exchanges: Vec<Item<ExchangeDeclaration>>,
    pub(super) queues: Vec<Item<QueueDeclaration>>,
    pub(super) bindings: Vec<Item<BindingDeclaration>>,
    pub(super) policies: Vec<Item<PolicyDeclaration>>,
    pub(super) operator_policies: Vec<Item<PolicyDeclaration>>,
    pub(super) parameters: Vec<Item<Parameter>>,
}

impl Definitions {
    /// Which of the two shapes the file has.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The broker that wrote the file; without a version when the file does not say.
    pub fn broker(&self) -> &Broker {
        &self.broker
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The vhosts of the file, sorted: those of the `vhosts` list and those that entries name.
    pub fn vhosts(&self) -> Vec<&str> {
        self.contents.keys().map(String::as_str).collect()
    }

    /// Whether the file itself would create that vhost on import.
    pub fn lists_vhost(&self, name: &str) -> bool {
        self.contents.get(name).is_some_and(|vhost| vhost.listed)
    }

    /// Every entry that cannot be read, in the order of the file.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// The runtime parameters of a vhost that are no policies.
    pub fn parameters(&self, vhost: &str) -> &[Item<Parameter>] {
        self.contents.get(vhost).map_or(&[], |vhost| &vhost.parameters)
    }

    /// A cursor for places that are asked in ascending order.
    pub(super) fn places(&self) -> Cursor<'_> {
        Cursor::new(&self.text)
    }

    /// Where an item stands in the file.
    pub fn position<T>(&self, item: &Item<T>) -> Position {
        position(&self.text, item.span.start)
    }

    /// The text of an item, as the file has it.
    pub fn text_of<T>(&self, item: &Item<T>) -> &str {
        self.text.get(item.span.clone()).unwrap_or_default()
    }

    /// One vhost as the file shows it. Without a name it is the only one; the export of a single vhost takes any name.
    ///
    /// A kind whose list the file does not have at all is not known: exports always have each list, so such a file was
    /// written by hand and says nothing about the rest.
    ///
    /// # Errors
    /// When the choice is not clear, or when an entry that may belong to the vhost cannot be read: a plan made from the
    /// rest would be wrong.
    pub fn state(&self, vhost: Option<&str>, overrides: &Overrides) -> Result<State, DefinitionsError> {
        let chosen = self.choose(vhost);
        let name = chosen.as_ref().ok().map(|(name, _)| *name);
        let may_belong = |fault: &&Fault| match (fault.vhost.as_deref(), name) {
            (None, _) => true,
            (Some(of), Some(name)) => of == name || self.layout == Layout::SingleVhost,
            (Some(_), None) => false,
        };
        let faults: Vec<Fault> = self.faults.iter().filter(may_belong).cloned().collect();
        if !faults.is_empty() {
            return Err(DefinitionsError::Faulty { faults });
        }
        let (name, contents) = chosen?;
        let broker =
            Broker { product: self.broker.product.clone(), version: overrides.version.or(self.broker.version) };
        let (default_queue_type, default_type_origin) = default_type(contents, &broker, overrides)?;
        let mut state = State::empty(broker, vhost.unwrap_or(name));
        state.default_queue_type = default_queue_type;
        state.default_type_origin = default_type_origin;
        state.known = self.known;
        state.queue_limit = contents.settings.queue_limit;
        state.exclusive_queues_visible = false;
        state.internal_exchanges_visible = self.internal_exchanges;
        state.argument_types_lost = true;
        // What every vhost has is in no state; no export of RabbitMQ holds it, but other tools' files do.
        let own = named(&contents.exchanges, |exchange| &exchange.name);
        state.exchanges.extend(own.filter(|(name, _)| predeclared_exchange(name).is_none()));
        state.queues.extend(named(&contents.queues, |queue| &queue.name));
        // The default exchange's own bindings are no bindings that anybody made; old exports hold some.
        let made = contents.bindings.iter().filter(|binding| !binding.value.source.is_empty());
        state.bindings.extend(made.map(|binding| binding.value.clone()));
        state.policies = policies(&contents.policies);
        state.operator_policies = policies(&contents.operator_policies);
        state.links = links(&contents.parameters, name);
        Ok(state)
    }

    pub(super) fn contents_of(&self, vhost: Option<&str>) -> Option<&Contents> {
        self.choose(vhost).ok().map(|(_, contents)| contents)
    }

    fn choose(&self, wanted: Option<&str>) -> Result<(&str, &Contents), DefinitionsError> {
        let names = || self.contents.keys().cloned().collect();
        let found = match (wanted, self.layout) {
            (Some(wanted), Layout::Cluster) => self.contents.get_key_value(wanted),
            _ => {
                let mut all = self.contents.iter();
                let first = all.next();
                if all.next().is_some() {
                    return Err(DefinitionsError::VhostNotChosen { vhosts: names() });
                }
                first
            }
        };
        match found {
            Some((name, contents)) => Ok((name, contents)),
            None => Err(DefinitionsError::NoSuchVhost { wanted: wanted.map(str::to_owned), vhosts: names() }),
        }
    }
}

/// The values by name; equal duplicates are one, and unequal ones were refused.
fn named<T: Clone>(items: &[Item<T>], name: impl Fn(&T) -> &String) -> impl Iterator<Item = (String, T)> {
    items.iter().map(move |item| (name(&item.value).clone(), item.value.clone()))
}

/// Policies in the order of the file; equal duplicates are one, and unequal ones were refused.
fn policies(items: &[Item<PolicyDeclaration>]) -> Vec<PolicyDeclaration> {
    let mut names = BTreeSet::new();
    items.iter().filter(|item| names.insert(&item.value.name)).map(|item| item.value.clone()).collect()
}

/// The default queue type and where it was read. Vhosts have one from 3.10.8 on.
fn default_type(
    contents: &Contents,
    broker: &Broker,
    overrides: &Overrides,
) -> Result<(Option<String>, DefaultTypeOrigin), DefinitionsError> {
    if let Some(given) = &overrides.default_queue_type {
        if QueueType::from_name(given).is_none() {
            return Err(DefinitionsError::UnknownQueueType { given: given.clone() });
        }
        return Ok((Some(given.clone()), DefaultTypeOrigin::Caller));
    }
    if let Some(own) = &contents.settings.default_queue_type {
        return Ok((Some(own.clone()), DefaultTypeOrigin::Vhost));
    }
    let too_old = broker.version.is_some_and(|version| !version.at_least(3, 10, 8));
    let origin =
        if contents.settings.shown || too_old { DefaultTypeOrigin::NotSet } else { DefaultTypeOrigin::Unknown };
    Ok((None, origin))
}

/// What the runtime parameters of a vhost say of shovels and federation.
fn links(parameters: &[Item<Parameter>], vhost: &str) -> Links {
    let mut links = Links::default();
    for parameter in parameters.iter().map(|parameter| &parameter.value) {
        let text = |key: &str| parameter.value.get(key).and_then(Json::as_str);
        match parameter.component.as_str() {
            "shovel" if text("dest-uri").is_some_and(|uri| leads_here(uri, vhost)) => {
                if let Some(queue) = text("dest-queue") {
                    links.shovels.insert(parameter.name.clone(), queue.to_owned());
                }
            }
            "federation-upstream" => _ = links.upstreams.insert(parameter.name.clone()),
            "federation-upstream-set" => {
                let named = parameter.value.as_array().into_iter().flatten();
                let named = named.filter_map(|entry| entry.get("upstream")?.as_str());
                links.upstream_sets.insert(parameter.name.clone(), named.map(str::to_owned).collect());
            }
            _ => {}
        }
    }
    links
}

/// Whether a shovel's address is this vhost of its own node: `amqp://` without a host, or with nothing behind it but the vhost.
fn leads_here(uri: &str, vhost: &str) -> bool {
    let Some(path) = uri.strip_prefix("amqp://") else { return false };
    let named = path.strip_prefix('/').map(|name| name.replace("%2F", "/").replace("%2f", "/"));
    if path.is_empty() { vhost == "/" } else { named.as_deref() == Some(vhost) }
}
