//! Objects as entries of a definitions file.

use crate::rabbitmq::{BindingDeclaration, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use crate::state::{State, as_exported};
use crate::value::{Table, Value};
use serde_json::{Map, Value as Json, json};

/// The list that operator policies share with other parameters.
pub(super) const OPERATOR_POLICIES: &str = "parameters";

/// The lists that hold a vhost's objects, in the order in which a new file has them.
pub(super) const SECTIONS: [&str; 5] = ["policies", OPERATOR_POLICIES, "queues", "exchanges", "bindings"];

/// An object of a vhost, its values as JSON can hold them.
pub(super) enum Object {
    Queue(QueueDeclaration),
    Exchange(ExchangeDeclaration),
    Binding(BindingDeclaration),
    Policy(PolicyDeclaration),
    OperatorPolicy(PolicyDeclaration),
}

/// The objects of a list that an export of `state` holds.
pub(super) fn exported(section: &str, state: &State) -> Vec<Object> {
    let policy = |policy: &PolicyDeclaration| PolicyDeclaration {
        definition: as_exported(&policy.definition),
        ..policy.clone()
    };
    match section {
        "queues" => (state.queues.values().filter(|queue| !queue.exclusive))
            .map(|queue| Object::Queue(QueueDeclaration { arguments: as_exported(&queue.arguments), ..queue.clone() }))
            .collect(),
        "exchanges" => (state.exchanges.values())
            .map(|exchange| {
                Object::Exchange(ExchangeDeclaration {
                    arguments: as_exported(&exchange.arguments),
                    ..exchange.clone()
                })
            })
            .collect(),
        "bindings" => (state.bindings.iter())
            .map(|binding| {
                Object::Binding(BindingDeclaration { arguments: as_exported(&binding.arguments), ..binding.clone() })
            })
            .collect(),
        "policies" => state.policies.iter().map(policy).map(Object::Policy).collect(),
        OPERATOR_POLICIES => state.operator_policies.iter().map(policy).map(Object::OperatorPolicy).collect(),
        _ => Vec::new(),
    }
}

impl Object {
    /// What makes it this object and no other: its name, or all of a binding.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Queue(queue) => queue.name.clone(),
            Self::Exchange(exchange) => exchange.name.clone(),
            Self::Binding(binding) => binding.canonical(),
            Self::Policy(policy) | Self::OperatorPolicy(policy) => policy.name.clone(),
        }
    }

    /// Whether an entry for the other would say the same, whatever the order of its arguments.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let like = |one: &Table, other: &Table| one.sorted() == other.sorted();
        match (self, other) {
            (Self::Queue(one), Self::Queue(other)) => {
                like(&one.arguments, &other.arguments)
                    && (one.durable, one.auto_delete) == (other.durable, other.auto_delete)
            }
            (Self::Exchange(one), Self::Exchange(other)) => {
                like(&one.arguments, &other.arguments)
                    && (&one.kind, one.durable, one.auto_delete, one.internal)
                        == (&other.kind, other.durable, other.auto_delete, other.internal)
            }
            (Self::Binding(_), Self::Binding(_)) => self.identity() == other.identity(),
            (Self::Policy(one), Self::Policy(other)) | (Self::OperatorPolicy(one), Self::OperatorPolicy(other)) => {
                like(&one.definition, &other.definition)
                    && (&one.pattern, &one.apply_to, one.priority) == (&other.pattern, &other.apply_to, other.priority)
            }
            _ => false,
        }
    }

    /// Whether a key of an entry says what its absence says too.
    pub(super) fn is_default(&self, key: &str, value: &Json) -> bool {
        match key {
            "durable" => *value == Json::Bool(true),
            "auto_delete" | "internal" => *value == Json::Bool(false),
            "arguments" => value.as_object().is_some_and(Map::is_empty),
            "apply-to" => value == "all",
            "priority" => *value == json!(0),
            // Beside the arguments it only informs.
            "type" => matches!(self, Self::Queue(_)),
            _ => false,
        }
    }
}

/// An object as an entry, as `rabbitmqctl export_definitions` of 3.10 to 4.3 writes it.
pub(super) fn entry(object: &Object, vhost: Option<&str>) -> Map<String, Json> {
    let entry = match object {
        Object::Queue(queue) => json!({
            "name": queue.name,
            "type": queue.type_name(),
            "durable": queue.durable,
            "auto_delete": queue.auto_delete,
            "arguments": table(&queue.arguments),
        }),
        Object::Exchange(exchange) => json!({
            "name": exchange.name,
            "type": exchange.kind,
            "durable": exchange.durable,
            "auto_delete": exchange.auto_delete,
            "internal": exchange.internal,
            "arguments": table(&exchange.arguments),
        }),
        Object::Binding(binding) => json!({
            "source": binding.source,
            "destination": binding.destination,
            "destination_type": binding.destination_type.name(),
            "routing_key": binding.routing_key,
            "arguments": table(&binding.arguments),
        }),
        Object::Policy(policy) => {
            let mut entry = body(policy);
            entry.insert("name".to_owned(), json!(policy.name));
            Json::Object(entry)
        }
        Object::OperatorPolicy(policy) => json!({
            "component": "operator_policy",
            "name": policy.name,
            "value": body(policy),
        }),
    };
    let mut entry = match entry {
        Json::Object(entry) => entry,
        _ => Map::new(),
    };
    if let Some(vhost) = vhost {
        entry.insert("vhost".to_owned(), json!(vhost));
    }
    entry
}

fn body(policy: &PolicyDeclaration) -> Map<String, Json> {
    Map::from_iter([
        ("pattern".to_owned(), json!(policy.pattern)),
        ("apply-to".to_owned(), json!(policy.apply_to)),
        ("priority".to_owned(), json!(policy.priority)),
        ("definition".to_owned(), table(&policy.definition)),
    ])
}

/// A vhost as an entry of `vhosts`.
pub(super) fn vhost_entry(state: &State) -> Json {
    let mut metadata = Map::new();
    if let Some(kind) = &state.default_queue_type {
        metadata.insert("default_queue_type".to_owned(), json!(kind));
    }
    let mut limits = Map::new();
    if let Some(limit) = state.queue_limit {
        limits.insert("max-queues".to_owned(), json!(limit));
    }
    json!({ "name": state.vhost, "metadata": metadata, "limits": limits })
}

/// A table that [`as_exported`] gave: only types that JSON has.
fn table(table: &Table) -> Json {
    table.iter().map(|(name, value)| (name.to_owned(), value_to_json(value))).collect::<Map<_, _>>().into()
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::F64(number) => json!(number),
        Value::Array(items) => items.iter().map(value_to_json).collect(),
        Value::Table(inner) => table(inner),
        other => match (other.as_integer(), other.as_text()) {
            (Some(number), _) => json!(number),
            (None, Some(text)) => json!(text),
            (None, None) => Json::Null,
        },
    }
}
