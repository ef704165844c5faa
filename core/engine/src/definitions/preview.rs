//! What an import would do without saying so.
//!
//! A broker imports definitions quietly: an object that is there already is skipped whatever the file says about it
//! (`rabbit_definitions:add_queue_int` returns ok, rabbitmq-management #627), reserved names are skipped with a line in the
//! log, and a missing type becomes the vhost's default. The first entry that is refused aborts the rest. A preview lists
//! every such entry; what it does not list is created, or is there already as the file has it.

use super::document::{Contents, Definitions, Item, Layout};
use super::json::RawObject;
use crate::policy::{is_apply_to, recognises};
use crate::rabbitmq::changes::STRICT_BINDING_IMPORT;
use crate::rabbitmq::{
    BindingDeclaration, Broker, Conditions, DestinationType, Difference, ExchangeDeclaration, PolicyDeclaration,
    QueueDeclaration, Version, bind, declare_exchange, declare_queue, effective_request, exchange_differences,
    queue_differences,
};
use crate::state::{Presence, State, predeclared_exchange};
use crate::topology::{Position, shown_name, shown_value};
use crate::value::Value;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// What becomes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The import fails at it; entries of other lists, and of the same list in no order, may be done by then.
    Refused,
    /// Nothing happens, and nobody is told.
    Skipped,
    /// Something else comes out than the file says, or something that is there is replaced.
    Changed,
}

/// One entry that an import does not simply create.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Effect {
    /// What becomes of it.
    pub outcome: Outcome,
    /// The vhost.
    pub vhost: String,
    /// One sentence: the object and what becomes of it.
    pub message: String,
    /// Where in the file.
    pub at: Position,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, self.message)
    }
}

/// What importing `definitions` into a broker of `version` would skip, refuse or change, in the order of the file.
///
/// `there` are the vhosts that the broker has; without any it is a fresh one, which has the vhost `/`. Features that a
/// broker's configuration or plugins decide are taken as permitted and present.
pub fn preview(definitions: &Definitions, version: Version, there: &[&State]) -> Vec<Effect> {
    let mut effects: Vec<Effect> = definitions
        .faults
        .iter()
        .map(|fault| Effect {
            outcome: Outcome::Refused,
            vhost: fault.vhost.clone().unwrap_or_default(),
            message: fault.message.clone(),
            at: fault.at,
        })
        .collect();
    for (name, contents) in &definitions.contents {
        let known = there.iter().copied().find(|state| state.vhost == *name);
        let fresh = State::empty(Broker::rabbitmq(version), name.clone());
        let importer = Importer {
            definitions,
            version,
            contents,
            there: known.unwrap_or(&fresh),
            conditions: conditions(version, name, contents, known, definitions),
        };
        let is_there = known.is_some() || (there.is_empty() && name == "/");
        if definitions.layout == Layout::Cluster && !contents.listed && !is_there {
            effects.extend(importer.no_vhost());
            continue;
        }
        effects.extend(importer.effects());
    }
    effects.sort_by_key(|effect| effect.at);
    effects
}

/// The rules of the vhost into which the entries go: its own default type where it is there, else the file's.
fn conditions(
    version: Version,
    name: &str,
    contents: &Contents,
    there: Option<&State>,
    definitions: &Definitions,
) -> Conditions {
    let mut conditions = Conditions::new(version, name);
    conditions.default_queue_type = match there {
        Some(state) => state.default_queue_type.clone(),
        None => contents.settings.default_queue_type.clone(),
    };
    let kinds = definitions.contents.values().flat_map(|contents| &contents.exchanges);
    conditions.plugin_exchange_types =
        kinds.map(|exchange| exchange.value.kind.clone()).filter(|kind| kind.starts_with("x-")).collect();
    conditions
}

struct Importer<'a> {
    definitions: &'a Definitions,
    version: Version,
    contents: &'a Contents,
    there: &'a State,
    conditions: Conditions,
}

/// What becomes of an entry, and why.
type Verdict = Option<(Outcome, String)>;

impl Importer<'_> {
    fn effects(&self) -> Vec<Effect> {
        let mut found: Vec<(usize, Outcome, String)> = Vec::new();
        let mut add = |start: usize, what: String, verdict: Verdict| {
            found.extend(verdict.map(|(outcome, why)| (start, outcome, format!("{what}: {why}"))));
        };
        for item in &self.contents.exchanges {
            add(item.span.start, format!("exchange {}", shown_name(&item.value.name)), self.exchange(&item.value));
        }
        for (policies, kind) in
            [(&self.contents.policies, "policy"), (&self.contents.operator_policies, "operator policy")]
        {
            for item in policies {
                let what = format!("{kind} {}", shown_name(&item.value.name));
                add(item.span.start, what, self.policy(&item.value, kind == "operator policy"));
            }
        }
        for item in &self.contents.queues {
            add(item.span.start, format!("queue {}", shown_name(&item.value.name)), self.queue(item));
        }
        let names = Names::of(self.contents);
        for item in &self.contents.bindings {
            let what = crate::topology::describe_binding(&item.value);
            add(item.span.start, format!("binding {what}"), self.binding(&item.value, &names));
        }
        if let Some((start, why)) = self.limit() {
            add(start, "queues".to_owned(), Some((Outcome::Refused, why)));
        }
        found.sort_by_key(|(start, ..)| *start);
        let mut places = self.definitions.places();
        found
            .into_iter()
            .map(|(start, outcome, message)| Effect {
                outcome,
                vhost: self.conditions.vhost.clone(),
                message,
                at: places.advance(start),
            })
            .collect()
    }

    fn no_vhost(&self) -> Option<Effect> {
        let contents = self.contents;
        let starts = (contents.queues.iter().map(|item| item.span.start))
            .chain(contents.exchanges.iter().map(|item| item.span.start))
            .chain(contents.bindings.iter().map(|item| item.span.start))
            .chain(contents.policies.iter().chain(&contents.operator_policies).map(|item| item.span.start))
            .chain(contents.parameters.iter().map(|item| item.span.start));
        let first = starts.min()?;
        let vhost = &self.conditions.vhost;
        Some(Effect {
            outcome: Outcome::Refused,
            vhost: vhost.clone(),
            message: format!(
                "vhost {}: it is neither in the file's \"vhosts\" nor on the broker; create it first, or list it",
                shown_name(vhost)
            ),
            at: self.definitions.places().advance(first),
        })
    }

    fn exchange(&self, exchange: &ExchangeDeclaration) -> Verdict {
        if let Some(skipped) = reserved(&exchange.name) {
            return Some(skipped);
        }
        if let Presence::There(there) = self.there.exchange(&exchange.name) {
            return kept("exchange", &exchange_differences(self.version, &there, exchange));
        }
        refused(declare_exchange(&self.conditions, None, exchange))
    }

    fn queue(&self, item: &Item<QueueDeclaration>) -> Verdict {
        let queue = &item.value;
        if let Some(skipped) = reserved(&queue.name) {
            return Some(skipped);
        }
        if let Presence::There(there) = self.there.queue(&queue.name) {
            let effective = effective_request(&self.conditions, queue);
            return kept("queue", &queue_differences(self.version, there, &effective));
        }
        let stored = match declare_queue(&self.conditions, None, queue) {
            Ok(stored) => stored,
            refusal => return refused(refusal),
        };
        if stored.queue_type() != queue.queue_type() {
            let kind = stored.type_name();
            return changed(format!(
                "it names no type, so the default queue type of the vhost makes it a {kind} queue"
            ));
        }
        let beside =
            serde_json::from_str::<RawObject>(self.definitions.text_of(item)).ok().and_then(|raw| raw.text("type"));
        if let Some(beside) = beside.filter(|beside| *beside != stored.type_name()) {
            return changed(format!(
                "it becomes a {} queue: the type \"{}\" beside its arguments is not read",
                stored.type_name(),
                shown_name(&beside)
            ));
        }
        let lost = queue.arguments.iter().find_map(|(name, value)| Some((name, lost_type(value)?)));
        let (name, was) = lost?;
        changed(format!("its argument {name} was {was} when it was exported, and becomes a text"))
    }

    fn binding(&self, binding: &BindingDeclaration, names: &Names<'_>) -> Verdict {
        if binding.source.is_empty() {
            return Some((Outcome::Skipped, "the default exchange's bindings make themselves".to_owned()));
        }
        let source = match names.exchanges.get(binding.source.as_str()) {
            Some(exchange) => Some(Cow::Borrowed(*exchange)),
            None => self.there.exchange(&binding.source).there(),
        };
        let destination = &binding.destination;
        let there = match binding.destination_type {
            DestinationType::Queue => {
                names.queues.contains(destination.as_str()) || self.there.queue(destination).there().is_some()
            }
            DestinationType::Exchange => {
                names.exchanges.contains_key(destination.as_str()) || self.there.exchange(destination).there().is_some()
            }
        };
        match bind(&self.conditions, binding, source.as_deref(), there, false) {
            Ok(()) => None,
            Err(refused) if source.is_some() && there => Some((Outcome::Refused, explanation(&refused.text))),
            Err(refused) => {
                let why = format!(
                    "{}, neither in the file nor on the broker{}",
                    explanation(&refused.text),
                    if source.is_none() {
                        " (exports leave internal exchanges out, and keep their bindings)"
                    } else {
                        ""
                    }
                );
                let strict = STRICT_BINDING_IMPORT.holds(self.version);
                Some((if strict { Outcome::Refused } else { Outcome::Skipped }, why))
            }
        }
    }

    fn policy(&self, policy: &PolicyDeclaration, operator: bool) -> Verdict {
        if policy.definition.is_empty() {
            return Some((Outcome::Refused, "its definition is empty (no policy provided)".to_owned()));
        }
        let unknown: Vec<Cow<'_, str>> = (policy.definition.iter())
            .filter(|(key, _)| !recognises(self.version, key))
            .map(|(key, _)| shown_name(key))
            .collect();
        if !unknown.is_empty() {
            return Some((
                Outcome::Refused,
                format!("RabbitMQ {} does not recognise {} without a plugin", self.version, unknown.join(", ")),
            ));
        }
        if !is_apply_to(self.version, &policy.apply_to) {
            let to = shown_name(&policy.apply_to);
            return Some((Outcome::Refused, format!("RabbitMQ {} has no apply-to \"{to}\"", self.version)));
        }
        let there = if operator { &self.there.operator_policies } else { &self.there.policies };
        let there = there.iter().find(|there| there.name == policy.name)?;
        let same = there.definition.sorted() == policy.definition.sorted()
            && (&there.pattern, &there.apply_to, there.priority)
                == (&policy.pattern, &policy.apply_to, policy.priority);
        if same { None } else { changed("it replaces the one that is there".to_owned()) }
    }

    /// Whether the new queues are more than the vhost may hold, and where the first of them stands.
    fn limit(&self) -> Option<(usize, String)> {
        let limit = self.there.queue_limit.or(self.contents.settings.queue_limit)?;
        let new: Vec<usize> = (self.contents.queues.iter())
            .filter(|item| !self.there.queues.contains_key(&item.value.name))
            .map(|item| item.span.start)
            .collect();
        let (present, adding) = (self.there.queues.len() as u64, new.len() as u64);
        let first = *new.first()?;
        (present.saturating_add(adding) > limit).then(|| {
            (first, format!("{adding} new ones beside {present} that are there exceed the vhost's limit of {limit}; nothing is imported"))
        })
    }
}

/// What the file itself brings for its bindings.
struct Names<'a> {
    exchanges: BTreeMap<&'a str, &'a ExchangeDeclaration>,
    queues: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(contents: &'a Contents) -> Self {
        let exchanges = contents.exchanges.iter().map(|item| (item.value.name.as_str(), &item.value));
        let queues = contents.queues.iter().map(|item| item.value.name.as_str());
        Self {
            exchanges: exchanges.filter(|(name, _)| reserved(name).is_none()).collect(),
            queues: queues.filter(|name| reserved(name).is_none()).collect(),
        }
    }
}

fn reserved(name: &str) -> Verdict {
    let why = if name.is_empty() || predeclared_exchange(name).is_some() {
        "every vhost has it already"
    } else if name.starts_with("amq.") {
        "an import skips names that start with \"amq.\""
    } else {
        return None;
    };
    Some((Outcome::Skipped, why.to_owned()))
}

fn changed(why: String) -> Verdict {
    Some((Outcome::Changed, why))
}

fn refused<T>(answer: Result<T, crate::rabbitmq::Refused>) -> Verdict {
    answer.err().map(|refused| (Outcome::Refused, explanation(&refused.text)))
}

/// A reply text without the name of its code.
fn explanation(text: &str) -> String {
    let words = text.split_once(" - ").map_or(text, |(_, explanation)| explanation);
    shown_name(words).into_owned()
}

/// An object that is there stays as it is.
fn kept(kind: &str, differences: &[Difference]) -> Verdict {
    let shown = |value: &Option<Value>| {
        value.as_ref().map_or(Cow::Borrowed("not set"), |value| Cow::Owned(shown_value(value).into_owned()))
    };
    let parts: Vec<String> = differences
        .iter()
        .map(|difference| {
            let name = shown_name(&difference.argument);
            format!("{name} is {} there and {} in the file", shown(&difference.current), shown(&difference.wanted))
        })
        .collect();
    (!parts.is_empty())
        .then(|| (Outcome::Skipped, format!("it is there, and an import never changes a {kind}: {}", parts.join("; "))))
}

/// What a value was before an export made it a text, when it shows that.
fn lost_type(value: &Value) -> Option<&'static str> {
    match value.as_text()? {
        "undefined" => Some("void"),
        text if text.starts_with("Not UTF-8, base64 is: ") => Some("binary"),
        _ => None,
    }
}
