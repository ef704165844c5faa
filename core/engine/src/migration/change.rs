//! Plain changes: what a migration does besides replacing a queue.

use super::action::Action;
use super::error::MigrationError;
use crate::name::{nearest, quoted};
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::topology::{Format, Tables, Topology};
use crate::value::Table;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// One entry of `changes`.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Things that are done as they stand.
    Do(Vec<Action>),
    /// A queue is deleted.
    DeleteQueue {
        /// Its name.
        queue: String,
        /// Only after it is empty and no exchange leads to it.
        guarded: bool,
    },
    /// An exchange without bindings is deleted.
    DeleteExchange(String),
}

/// What an entry can be.
const KINDS: [&str; 5] = ["declare", "bind", "unbind", "policy", "delete"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Binding {
    exchange: String,
    queue: Option<String>,
    to_exchange: Option<String>,
    #[serde(default)]
    routing_key: String,
    #[serde(default)]
    arguments: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    queue: Option<String>,
    exchange: Option<String>,
    guard: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Declare {
    queue: Option<Json>,
    exchange: Option<Json>,
}

impl Change {
    pub(super) fn read_all(changes: &[Json]) -> Result<Vec<Self>, MigrationError> {
        changes.iter().enumerate().map(|(at, change)| Self::read(at + 1, change)).collect()
    }

    fn read(number: usize, change: &Json) -> Result<Self, MigrationError> {
        let wrong = |message: String| {
            MigrationError::new(
                "migration_shape",
                format!("change {number} {message}"),
                "write one of declare, bind, unbind, policy and delete, with the keys that a file of acemq migrate new shows",
            )
            .with("change", number)
        };
        let entries = change.as_object().ok_or_else(|| wrong("is no mapping".to_owned()))?;
        let mut entries = entries.iter();
        let (Some((kind, body)), None) = (entries.next(), entries.next()) else {
            return Err(wrong("is not exactly one thing".to_owned()));
        };
        let unreadable = |error: serde_json::Error| wrong(format!("({kind}) cannot be read: {error}"));
        match kind.as_str() {
            "declare" => {
                let declare = Declare::deserialize(body).map_err(unreadable)?;
                let document = json!({
                    "acemq": 1,
                    "queues": declare.queue.into_iter().collect::<Vec<_>>(),
                    "exchanges": declare.exchange.into_iter().collect::<Vec<_>>(),
                });
                let tables = tables(&document).map_err(wrong)?;
                let actions = declarations(&tables);
                if actions.is_empty() {
                    return Err(wrong("declares nothing".to_owned()));
                }
                Ok(Self::Do(actions))
            }
            "policy" => {
                let tables = tables(&json!({ "acemq": 1, "policies": [body] })).map_err(wrong)?;
                Ok(Self::Do(tables.policies.into_iter().map(Action::SetPolicy).collect()))
            }
            "bind" | "unbind" => {
                let Binding { exchange, queue, to_exchange, routing_key, arguments } =
                    Binding::deserialize(body).map_err(unreadable)?;
                let (destination, destination_type) = match (queue, to_exchange) {
                    (Some(queue), None) => (queue, DestinationType::Queue),
                    (None, Some(exchange)) => (exchange, DestinationType::Exchange),
                    _ => return Err(wrong("leads to a queue or to an exchange, to exactly one".to_owned())),
                };
                if exchange.is_empty() {
                    return Err(wrong("names the default exchange, which nobody can bind".to_owned()));
                }
                if destination.is_empty() {
                    return Err(wrong("leads to an empty name".to_owned()));
                }
                let binding =
                    BindingDeclaration { source: exchange, destination, destination_type, routing_key, arguments };
                Ok(Self::Do(vec![if kind == "bind" { Action::Bind(binding) } else { Action::Unbind(binding) }]))
            }
            "delete" => {
                let delete = Delete::deserialize(body).map_err(unreadable)?;
                let guarded = match delete.guard.as_deref() {
                    None | Some("empty") => true,
                    Some("none") => false,
                    Some(other) => {
                        return Err(wrong(format!("has the guard {}, and there are empty and none", quoted(other))));
                    }
                };
                if [&delete.queue, &delete.exchange].into_iter().flatten().any(String::is_empty) {
                    return Err(wrong("deletes what has an empty name".to_owned()));
                }
                match (delete.queue, delete.exchange) {
                    (Some(queue), None) => Ok(Self::DeleteQueue { queue, guarded }),
                    (None, Some(exchange)) => Ok(Self::DeleteExchange(exchange)),
                    _ => Err(wrong("deletes a queue or an exchange, exactly one".to_owned())),
                }
            }
            other => {
                let near = nearest(other, KINDS).unwrap_or_default();
                Err(wrong(format!("is {}; did you mean {near}?", quoted(other))).with("nearest", near))
            }
        }
    }
}

fn tables(document: &Json) -> Result<Tables, String> {
    Topology::parse(document.to_string().as_bytes(), Format::Json).and_then(Topology::into_tables).map_err(|problems| {
        let problem = problems.iter().find(|problem| problem.is_error()).or(problems.first());
        let message = problem.map_or("cannot be read", |problem| &problem.message);
        format!("is wrong: {}", message.strip_prefix("acemq: ").unwrap_or(message))
    })
}

/// Everything that tables declare, in their order.
pub(super) fn declarations(tables: &Tables) -> Vec<Action> {
    let exchanges = tables.exchanges.iter().map(|exchange| Action::DeclareExchange(exchange.declaration.clone()));
    let queues = tables.queues.iter().map(|queue| Action::DeclareQueue(queue.declaration.clone()));
    let bindings = tables.bindings.iter().map(|binding| Action::Bind(binding.declaration.clone()));
    exchanges.chain(queues).chain(bindings).collect()
}
