//! What goes over the wire when something is declared, its canonical line and its fingerprint.

use crate::value::{Table, Value, fingerprint, write_string, write_table};
use std::fmt;

/// The three queue types that every RabbitMQ since 3.9 has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueType {
    /// One copy; any combination of durable, exclusive and auto-delete.
    Classic,
    /// Replicated by Raft; durable only.
    Quorum,
    /// An append-only log (3.9 and later); durable only, never dead-letters.
    Stream,
}

impl QueueType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Classic, Self::Quorum, Self::Stream];

    /// The value of `x-queue-type`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Quorum => "quorum",
            Self::Stream => "stream",
        }
    }

    /// The type with that `x-queue-type`; names are case-sensitive, as on the broker.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for QueueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `queue.declare`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueDeclaration {
    /// Name; empty asks the broker for one.
    pub name: String,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Belongs to the connection that declares it and goes with it.
    pub exclusive: bool,
    /// Goes with its last consumer.
    pub auto_delete: bool,
    /// The argument table.
    pub arguments: Table,
}

impl QueueDeclaration {
    /// A durable queue without arguments.
    pub fn durable(name: impl Into<String>) -> Self {
        Self { name: name.into(), durable: true, exclusive: false, auto_delete: false, arguments: Table::new() }
    }

    /// This declaration with one argument more.
    #[must_use]
    pub fn with(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(argument, value);
        self
    }

    /// The type that the arguments name: classic when `x-queue-type` is absent, `None` when it is not one of the three.
    pub fn queue_type(&self) -> Option<QueueType> {
        match self.arguments.get("x-queue-type") {
            None => Some(QueueType::Classic),
            Some(value) => value.as_text().and_then(QueueType::from_name),
        }
    }

    /// The word for the type: `x-queue-type` as it stands, whatever it says, and `classic` when there is none.
    pub(crate) fn type_name(&self) -> &str {
        self.arguments.get("x-queue-type").and_then(Value::as_text).unwrap_or("classic")
    }

    /// One line of canonical JSON. An `x-queue-type` of `classic` is left out: absent means the same.
    pub fn canonical(&self) -> String {
        let mut arguments = self.arguments.clone();
        if arguments.get("x-queue-type").and_then(Value::as_text) == Some("classic") {
            arguments.remove("x-queue-type");
        }
        let mut out = String::from("{\"arguments\":");
        write_table(&mut out, &arguments);
        write_flags(
            &mut out,
            &[("auto_delete", self.auto_delete), ("durable", self.durable), ("exclusive", self.exclusive)],
        );
        out.push_str(",\"kind\":\"queue\",\"name\":");
        write_string(&mut out, &self.name);
        out.push('}');
        out
    }
}

/// `exchange.declare`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangeDeclaration {
    /// Name.
    pub name: String,
    /// `direct`, `fanout`, `topic`, `headers` or a plugin's type.
    pub kind: String,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Goes with its last binding.
    pub auto_delete: bool,
    /// Clients cannot publish to it.
    pub internal: bool,
    /// The argument table; only `alternate-exchange` is ever compared.
    pub arguments: Table,
}

impl ExchangeDeclaration {
    /// A durable exchange without arguments.
    pub fn durable(name: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            kind: kind.into(),
            durable: true,
            auto_delete: false,
            internal: false,
            arguments: Table::new(),
        }
    }

    /// This declaration with one argument more.
    #[must_use]
    pub fn with(mut self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.arguments.insert(argument, value);
        self
    }

    /// One line of canonical JSON.
    pub fn canonical(&self) -> String {
        let mut out = String::from("{\"arguments\":");
        write_table(&mut out, &self.arguments);
        write_flags(
            &mut out,
            &[("auto_delete", self.auto_delete), ("durable", self.durable), ("internal", self.internal)],
        );
        out.push_str(",\"kind\":\"exchange\",\"name\":");
        write_string(&mut out, &self.name);
        out.push_str(",\"type\":");
        write_string(&mut out, &self.kind);
        out.push('}');
        out
    }
}

/// What a binding leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DestinationType {
    /// `exchange.bind`
    Exchange,
    /// `queue.bind`
    Queue,
}

impl DestinationType {
    /// `exchange` or `queue`, as definitions files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exchange => "exchange",
            Self::Queue => "queue",
        }
    }
}

/// `queue.bind` or `exchange.bind`. All of it, arguments with their types included, is a binding's identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingDeclaration {
    /// The exchange that messages come from.
    pub source: String,
    /// The queue or exchange that they go to.
    pub destination: String,
    /// Which of the two.
    pub destination_type: DestinationType,
    /// Routing key or pattern.
    pub routing_key: String,
    /// Arguments, used by headers exchanges.
    pub arguments: Table,
}

impl BindingDeclaration {
    /// A binding of a queue without arguments.
    pub fn queue(source: impl Into<String>, queue: impl Into<String>, routing_key: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            destination: queue.into(),
            destination_type: DestinationType::Queue,
            routing_key: routing_key.into(),
            arguments: Table::new(),
        }
    }

    /// A binding of an exchange without arguments.
    pub fn exchange(source: impl Into<String>, exchange: impl Into<String>, routing_key: impl Into<String>) -> Self {
        Self { destination_type: DestinationType::Exchange, ..Self::queue(source, exchange, routing_key) }
    }

    /// One line of canonical JSON.
    pub fn canonical(&self) -> String {
        let mut out = String::from("{\"arguments\":");
        write_table(&mut out, &self.arguments);
        out.push_str(",\"destination\":");
        write_string(&mut out, &self.destination);
        out.push_str(",\"destination_type\":");
        write_string(&mut out, self.destination_type.name());
        out.push_str(",\"kind\":\"binding\",\"routing_key\":");
        write_string(&mut out, &self.routing_key);
        out.push_str(",\"source\":");
        write_string(&mut out, &self.source);
        out.push('}');
        out
    }
}

/// A policy. Only the management API or `rabbitmqctl` can set one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyDeclaration {
    /// Name, unique in its vhost.
    pub name: String,
    /// Regular expression (PCRE, unanchored) on names.
    pub pattern: String,
    /// `all`, `queues`, `exchanges`; `classic_queues`, `quorum_queues`, `streams` from 3.12.
    pub apply_to: String,
    /// The highest wins; absent means 0.
    pub priority: i64,
    /// What it sets, by keys without `x-`.
    pub definition: Table,
}

impl PolicyDeclaration {
    /// One line of canonical JSON.
    pub fn canonical(&self) -> String {
        self.canonical_as("policy")
    }

    /// One line of canonical JSON, for an operator policy.
    pub fn canonical_operator(&self) -> String {
        self.canonical_as("operator_policy")
    }

    fn canonical_as(&self, kind: &str) -> String {
        let mut out = String::from("{\"apply_to\":");
        write_string(&mut out, &self.apply_to);
        out.push_str(",\"definition\":");
        write_table(&mut out, &self.definition);
        out.push_str(",\"kind\":\"");
        out.push_str(kind);
        out.push_str("\",\"name\":");
        write_string(&mut out, &self.name);
        out.push_str(",\"pattern\":");
        write_string(&mut out, &self.pattern);
        out.push_str(",\"priority\":");
        out.push_str(&self.priority.to_string());
        out.push('}');
        out
    }
}

/// Anything that can be declared over AMQP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declaration {
    /// An exchange.
    Exchange(ExchangeDeclaration),
    /// A queue.
    Queue(QueueDeclaration),
    /// A binding.
    Binding(BindingDeclaration),
}

impl Declaration {
    /// One line of canonical JSON.
    pub fn canonical(&self) -> String {
        match self {
            Self::Exchange(exchange) => exchange.canonical(),
            Self::Queue(queue) => queue.canonical(),
            Self::Binding(binding) => binding.canonical(),
        }
    }

    /// The SHA-256 of the canonical line, in lower-case hexadecimal.
    pub fn fingerprint(&self) -> String {
        fingerprint(self.canonical().as_bytes())
    }
}

fn write_flags(out: &mut String, flags: &[(&str, bool)]) {
    for (name, set) in flags {
        out.push_str(",\"");
        out.push_str(name);
        out.push_str(if *set { "\":true" } else { "\":false" });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canonical_line_is_sorted_and_leaves_out_classic() {
        let queue = QueueDeclaration::durable("a\"b\n")
            .with("x-queue-type", "classic")
            .with("x-message-ttl", Value::I32(5))
            .with("a", Value::F32(1.5));
        assert_eq!(
            queue.canonical(),
            r#"{"arguments":{"a":{"@d":"0x3ff8000000000000"},"x-message-ttl":5},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"a\"b\u000a"}"#
        );
        let exchange = ExchangeDeclaration::durable("e", "topic");
        assert_eq!(
            exchange.canonical(),
            r#"{"arguments":{},"auto_delete":false,"durable":true,"internal":false,"kind":"exchange","name":"e","type":"topic"}"#
        );
        let binding = BindingDeclaration::queue("e", "q", "a.*");
        let line = r#"{"arguments":{},"destination":"q","destination_type":"queue","kind":"binding","routing_key":"a.*","source":"e"}"#;
        assert_eq!(binding.canonical(), line);
        // printf '%s' "$line" | sha256sum
        assert_eq!(
            Declaration::Binding(binding).fingerprint(),
            "c4f92aded4e95a8d3906cebaae12a19e7c949eca3ec80c01529b4faf2684ab58"
        );
    }
}
