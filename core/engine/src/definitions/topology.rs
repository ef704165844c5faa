//! From a live vhost to the topology document that describes it.

use crate::rabbitmq::{DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType};
use crate::state::{State, predeclared_exchange};
use crate::topology::shown_name;
use crate::value::{Table, Value};
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A topology document, in YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopologyText {
    /// The document. What was left out stands in it as comments.
    pub text: String,
    /// What has no place in a topology document, as sentences.
    pub left_out: Vec<String>,
}

/// The topology document that stands for everything in `state`: its tables are the state's again.
///
/// Every argument is written out; queues that AceMQ derived (`.dlq`, `.parked`, rungs) stand as queues of their own.
/// Exchanges that only bindings name are external. Left out are server-named queues and what else nobody can declare,
/// queues of a plugin's type, and operator policies.
pub fn topology_text(state: &State) -> TopologyText {
    let mut writer = Writer { text: String::from("acemq: 1\n"), left_out: Vec::new() };
    writer.exchanges(state);
    let queues = writer.queues(state);
    writer.bindings(state, &queues);
    writer.policies(&state.policies);
    for policy in &state.operator_policies {
        writer.leave_out(format!("operator policy {}: only an operator can set it", shown_name(&policy.name)));
    }
    let mut text = String::new();
    for sentence in &writer.left_out {
        let _ = writeln!(text, "# left out: {sentence}");
    }
    text.push_str(&writer.text);
    TopologyText { text, left_out: writer.left_out }
}

struct Writer {
    text: String,
    left_out: Vec<String>,
}

impl Writer {
    fn leave_out(&mut self, sentence: String) {
        self.left_out.push(sentence);
    }

    fn line(&mut self, name: &str, body: &[String]) {
        let body = if body.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", body.join(", ")) };
        let _ = writeln!(self.text, "  {}: {body}", scalar(name));
    }

    fn exchanges(&mut self, state: &State) {
        let named = state.bindings.iter().flat_map(|binding| {
            let to = (binding.destination_type == DestinationType::Exchange).then_some(binding.destination.as_str());
            std::iter::once(binding.source.as_str()).chain(to)
        });
        let external: BTreeSet<&str> =
            named.filter(|name| !state.exchanges.contains_key(*name) && predeclared_exchange(name).is_none()).collect();
        if state.exchanges.is_empty() && external.is_empty() {
            return;
        }
        self.text.push_str("exchanges:\n");
        for exchange in state.exchanges.values() {
            match undeclarable(&exchange.name) {
                Some(why) => self.leave_out(format!("exchange {}: {why}", shown_name(&exchange.name))),
                None => self.line(&exchange.name, &exchange_body(exchange)),
            }
        }
        for name in external {
            self.line(name, &["external: true".to_owned()]);
        }
    }

    /// The names of the queues that were written.
    fn queues<'a>(&mut self, state: &'a State) -> BTreeSet<&'a str> {
        let mut written = BTreeSet::new();
        if !state.queues.is_empty() {
            self.text.push_str("queues:\n");
        }
        for queue in state.queues.values() {
            let name = shown_name(&queue.name);
            match (undeclarable(&queue.name), queue_body(queue)) {
                (Some(why), _) => self.leave_out(format!("queue {name}: {why}")),
                (None, None) => self.leave_out(format!("queue {name}: its type comes from a plugin")),
                (None, Some(body)) => {
                    self.line(&queue.name, &body);
                    written.insert(queue.name.as_str());
                }
            }
        }
        written
    }

    fn bindings(&mut self, state: &State, queues: &BTreeSet<&str>) {
        let mut started = false;
        for binding in state.bindings.iter() {
            let destination = match binding.destination_type {
                DestinationType::Exchange => format!("to_exchange: {}", scalar(&binding.destination)),
                DestinationType::Queue if queues.contains(binding.destination.as_str()) => {
                    format!("queue: {}", scalar(&binding.destination))
                }
                DestinationType::Queue => {
                    self.leave_out(format!(
                        "binding {} -> {}: its queue is not in this document",
                        shown_name(&binding.source),
                        shown_name(&binding.destination)
                    ));
                    continue;
                }
            };
            if !started {
                self.text.push_str("bindings:\n");
                started = true;
            }
            let _ = write!(
                self.text,
                "  - {{ {destination}, exchange: {}, routing_key: {}",
                scalar(&binding.source),
                quoted(&binding.routing_key)
            );
            if !binding.arguments.is_empty() {
                let _ = write!(self.text, ", arguments: {}", table(&binding.arguments));
            }
            self.text.push_str(" }\n");
        }
    }

    fn policies(&mut self, policies: &[PolicyDeclaration]) {
        if !policies.is_empty() {
            self.text.push_str("policies:\n");
        }
        for policy in policies {
            let body = [
                format!("pattern: {}", quoted(&policy.pattern)),
                format!("apply_to: {}", scalar(&policy.apply_to)),
                format!("priority: {}", policy.priority),
                format!("definition: {}", table(&policy.definition)),
            ];
            self.line(&policy.name, &body);
        }
    }
}

fn exchange_body(exchange: &ExchangeDeclaration) -> Vec<String> {
    let mut body = vec![format!("type: {}", scalar(&exchange.kind))];
    flag(&mut body, "transient", !exchange.durable);
    flag(&mut body, "auto_delete", exchange.auto_delete);
    flag(&mut body, "internal", exchange.internal);
    if !exchange.arguments.is_empty() {
        body.push(format!("arguments: {}", table(&exchange.arguments)));
    }
    body
}

/// `None` for a queue of a plugin's type.
fn queue_body(queue: &QueueDeclaration) -> Option<Vec<String>> {
    let kind = queue.queue_type()?;
    let mut body = Vec::new();
    // Only a queue that may be a quorum queue is one without saying so.
    if kind != QueueType::Quorum {
        body.push(format!("type: {kind}"));
    }
    flag(&mut body, "exclusive", queue.exclusive);
    flag(&mut body, "transient", !queue.durable && !queue.exclusive);
    flag(&mut body, "auto_delete", queue.auto_delete);
    let mut arguments = queue.arguments.clone();
    arguments.remove("x-queue-type");
    if !arguments.is_empty() {
        body.push(format!("arguments: {}", table(&arguments)));
    }
    Some(body)
}

fn flag(body: &mut Vec<String>, name: &str, set: bool) {
    if set {
        body.push(format!("{name}: true"));
    }
}

/// Why nobody can declare an object of that name.
fn undeclarable(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it has no name")
    } else if name.starts_with("amq.") {
        Some("names that start with \"amq.\" are the broker's own")
    } else if name.contains(['\r', '\n']) {
        Some("its name has a line break")
    } else {
        None
    }
}

/// Bare when YAML cannot take it for anything but this text.
fn scalar(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { quoted(text) }
}

/// A string of JSON is one of YAML.
fn quoted(text: &str) -> String {
    printable(&Json::from(text).to_string())
}

/// A table of JSON is one of YAML.
fn table(table: &Table) -> String {
    printable(&Value::Table(table.clone()).to_json())
}

/// JSON in which the characters that YAML does not allow raw are escaped; they can only stand inside strings.
fn printable(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}') {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
