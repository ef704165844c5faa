//! One entry of a list: read fast when it is right, explained key by key when it is not.

use super::fault::{Fault, FaultCode, Located};
use super::json::{Arguments, RawObject};
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use crate::topology::{Position, shown_name};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// An entry as it was read, and the vhost that it names.
pub(super) type Read<'a, T> = (Option<Cow<'a, str>>, T);

/// What a key takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Flag,
    Whole,
    Table,
    Destination,
}

impl Kind {
    const fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Flag => "true or false",
            Self::Whole => "a whole number",
            Self::Table => "an object",
            Self::Destination => "\"queue\" or \"exchange\"",
        }
    }

    /// Whether a value can be of this kind; what stands inside a table is not looked at.
    fn takes(self, raw: &str) -> bool {
        match self {
            Self::Text => raw.starts_with('"'),
            Self::Flag => raw == "true" || raw == "false",
            Self::Whole => serde_json::from_str::<Priority>(raw).is_ok(),
            Self::Table => raw.starts_with(['{', '[']),
            Self::Destination => raw == "\"queue\"" || raw == "\"exchange\"",
        }
    }
}

/// A key of an entry, what it takes, and whether an import needs it.
pub(super) type KeyRule = (&'static str, Kind, bool);

const NAME: KeyRule = ("name", Kind::Text, true);
const VHOST: KeyRule = ("vhost", Kind::Text, false);
const DURABLE: KeyRule = ("durable", Kind::Flag, false);
const AUTO_DELETE: KeyRule = ("auto_delete", Kind::Flag, false);
const ARGUMENTS: KeyRule = ("arguments", Kind::Table, false);

/// A list of a definitions file whose entries become declarations.
pub(super) trait Section {
    /// The list's key.
    const NAME: &'static str;
    /// The keys that are read.
    const KEYS: &'static [KeyRule];
    /// What an entry becomes.
    type Output;

    /// Reads an entry that is right.
    fn read(raw: &str) -> Result<Read<'_, Self::Output>, serde_json::Error>;
}

/// `queues`
pub(super) struct Queues;

#[derive(Deserialize)]
struct QueueEntry<'a> {
    name: String,
    #[serde(borrow)]
    vhost: Option<Cow<'a, str>>,
    durable: Option<bool>,
    auto_delete: Option<bool>,
    arguments: Option<Arguments>,
}

impl Section for Queues {
    const NAME: &'static str = "queues";
    const KEYS: &'static [KeyRule] = &[NAME, VHOST, DURABLE, AUTO_DELETE, ARGUMENTS];
    type Output = QueueDeclaration;

    /// A missing `durable` is true, as on import (`rabbit_definitions:add_queue_int`). The `type` beside the arguments is
    /// informational there and is not read here.
    fn read(raw: &str) -> Result<Read<'_, QueueDeclaration>, serde_json::Error> {
        let entry: QueueEntry = serde_json::from_str(raw)?;
        let queue = QueueDeclaration {
            name: entry.name,
            durable: entry.durable.unwrap_or(true),
            exclusive: false,
            auto_delete: entry.auto_delete.unwrap_or(false),
            arguments: entry.arguments.unwrap_or_default().0,
        };
        Ok((entry.vhost, queue))
    }
}

/// `exchanges`
pub(super) struct Exchanges;

#[derive(Deserialize)]
struct ExchangeEntry<'a> {
    name: String,
    #[serde(borrow)]
    vhost: Option<Cow<'a, str>>,
    r#type: String,
    durable: Option<bool>,
    auto_delete: Option<bool>,
    internal: Option<bool>,
    arguments: Option<Arguments>,
}

impl Section for Exchanges {
    const NAME: &'static str = "exchanges";
    const KEYS: &'static [KeyRule] =
        &[NAME, VHOST, ("type", Kind::Text, true), DURABLE, AUTO_DELETE, ("internal", Kind::Flag, false), ARGUMENTS];
    type Output = (ExchangeDeclaration, bool);

    /// The flag beside the exchange is whether the entry says anything about being internal.
    fn read(raw: &str) -> Result<Read<'_, (ExchangeDeclaration, bool)>, serde_json::Error> {
        let entry: ExchangeEntry = serde_json::from_str(raw)?;
        let exchange = ExchangeDeclaration {
            name: entry.name,
            kind: entry.r#type,
            durable: entry.durable.unwrap_or(true),
            auto_delete: entry.auto_delete.unwrap_or(false),
            internal: entry.internal.unwrap_or(false),
            arguments: entry.arguments.unwrap_or_default().0,
        };
        Ok((entry.vhost, (exchange, entry.internal.is_some())))
    }
}

/// `bindings`
pub(super) struct BindingList;

#[derive(Deserialize)]
struct BindingEntry<'a> {
    source: String,
    #[serde(borrow)]
    vhost: Option<Cow<'a, str>>,
    destination: String,
    destination_type: DestinationName,
    routing_key: String,
    arguments: Option<Arguments>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DestinationName {
    Exchange,
    Queue,
}

impl Section for BindingList {
    const NAME: &'static str = "bindings";
    const KEYS: &'static [KeyRule] = &[
        ("source", Kind::Text, true),
        VHOST,
        ("destination", Kind::Text, true),
        ("destination_type", Kind::Destination, true),
        ("routing_key", Kind::Text, true),
        ARGUMENTS,
    ];
    type Output = BindingDeclaration;

    fn read(raw: &str) -> Result<Read<'_, BindingDeclaration>, serde_json::Error> {
        let entry: BindingEntry = serde_json::from_str(raw)?;
        let binding = BindingDeclaration {
            source: entry.source,
            destination: entry.destination,
            destination_type: match entry.destination_type {
                DestinationName::Exchange => DestinationType::Exchange,
                DestinationName::Queue => DestinationType::Queue,
            },
            routing_key: entry.routing_key,
            arguments: entry.arguments.unwrap_or_default().0,
        };
        Ok((entry.vhost, binding))
    }
}

/// `policies`
pub(super) struct Policies;

#[derive(Deserialize)]
struct PolicyHead<'a> {
    name: String,
    #[serde(borrow)]
    vhost: Option<Cow<'a, str>>,
}

/// What a policy and an operator policy have in common.
#[derive(Deserialize)]
pub(super) struct PolicyBody {
    pattern: String,
    #[serde(rename = "apply-to")]
    apply_to: Option<String>,
    priority: Option<Priority>,
    definition: Arguments,
}

impl PolicyBody {
    /// The keys of it.
    pub(super) const KEYS: &'static [KeyRule] = &[
        ("pattern", Kind::Text, true),
        ("apply-to", Kind::Text, false),
        ("priority", Kind::Whole, false),
        ("definition", Kind::Table, true),
    ];

    /// The policy of that name. A missing `apply-to` is `all` and a missing priority 0 (`rabbit_definitions:add_policy`).
    pub(super) fn named(self, name: String) -> PolicyDeclaration {
        PolicyDeclaration {
            name,
            pattern: self.pattern,
            apply_to: self.apply_to.unwrap_or_else(|| "all".to_owned()),
            priority: self.priority.map_or(0, |priority| priority.0),
            definition: self.definition.0,
        }
    }
}

impl Section for Policies {
    const NAME: &'static str = "policies";
    const KEYS: &'static [KeyRule] = &[
        NAME,
        VHOST,
        ("pattern", Kind::Text, true),
        ("apply-to", Kind::Text, false),
        ("priority", Kind::Whole, false),
        ("definition", Kind::Table, true),
    ];
    type Output = PolicyDeclaration;

    fn read(raw: &str) -> Result<Read<'_, PolicyDeclaration>, serde_json::Error> {
        let head: PolicyHead = serde_json::from_str(raw)?;
        let body: PolicyBody = serde_json::from_str(raw)?;
        Ok((head.vhost, body.named(head.name)))
    }
}

/// A priority: any whole number, also one that is written as `1.0`.
struct Priority(i64);

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PriorityVisitor;
        impl Visitor<'_> for PriorityVisitor {
            type Value = Priority;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Priority, E> {
                Ok(Priority(number))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Priority, E> {
                i64::try_from(number).map(Priority).map_err(|_| E::custom("a priority is at most 2^63 - 1"))
            }

            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and far inside the range")]
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Priority, E> {
                if number.fract() == 0.0 && number.abs() < 1e15 {
                    return Ok(Priority(number as i64));
                }
                Err(E::custom("a priority is a whole number"))
            }
        }
        deserializer.deserialize_any(PriorityVisitor)
    }
}

/// Where an entry stands, for messages.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The whole text.
    pub(super) text: &'a str,
    /// The list.
    pub(super) section: &'a str,
    /// Which entry of it.
    pub(super) index: usize,
    /// The entry.
    pub(super) raw: &'a RawValue,
}

impl Place<'_> {
    /// A fault at some part of the entry.
    pub(super) fn fault(self, code: FaultCode, part: &str, what: impl fmt::Display) -> Located {
        let object = serde_json::from_str::<RawObject>(self.raw.get()).ok();
        let name = object.as_ref().and_then(|object| object.text("name"));
        let vhost = object.as_ref().and_then(|object| object.text("vhost"));
        let shown = match &name {
            Some(name) => format!(" \"{}\"", shown_name(name)),
            None => String::new(),
        };
        Located {
            offset: offset_in(self.text, part),
            fault: Fault {
                code,
                section: self.section.to_owned(),
                index: Some(self.index),
                vhost,
                message: format!("{}[{}]{shown}: {what}", self.section, self.index),
                name,
                at: Position { line: 1, column: 1 },
            },
        }
    }
}

impl Place<'_> {
    /// A fault because the entry, or a part of it, is no object.
    pub(super) fn no_object(self, part: &str) -> Located {
        self.fault(FaultCode::WrongShape, part, format_args!("expected an object, found {}", kind_of(part)))
    }

    /// A fault because a part has not the key that it needs.
    pub(super) fn missing(self, key: &str, part: &str) -> Located {
        self.fault(
            FaultCode::MissingKey,
            part,
            format_args!("\"{key}\" is missing, and without it no broker imports this entry"),
        )
    }
}

/// Where `part`, a piece of `text`, starts in it.
pub(super) fn offset_in(text: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len())
}

/// Why an entry cannot be read: every key that is missing or of the wrong kind, else what the reader said.
pub(super) fn explain(place: Place<'_>, object: &str, keys: &[KeyRule], error: &serde_json::Error) -> Vec<Located> {
    let raw: RawObject = match serde_json::from_str(object) {
        Ok(raw) => raw,
        Err(_) => return vec![place.no_object(object)],
    };
    let mut faults = Vec::new();
    for (key, kind, required) in keys {
        let mut values = raw.0.iter().filter(|(known, _)| known == key).map(|(_, value)| value.get());
        let first = values.next();
        if let Some(second) = values.next() {
            faults.push(place.fault(FaultCode::DuplicateKey, second, format_args!("\"{key}\" stands twice; keep one")));
        }
        match first {
            None | Some("null") if *required => faults.push(place.missing(key, object)),
            Some(value) if value != "null" && !kind.takes(value) => faults.push(place.fault(
                FaultCode::WrongValue,
                value,
                format_args!("\"{key}\" is {}; expected {}", kind_of(value), kind.expected()),
            )),
            _ => {}
        }
    }
    if faults.is_empty() {
        // Something inside a table: the reader's own words, without the place that they give within the entry.
        let words = error.to_string();
        let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(words, _)| words);
        let code = if words.starts_with("duplicate ") { FaultCode::DuplicateKey } else { FaultCode::WrongValue };
        let from = line_and_column(object, error.line(), error.column());
        let part = object.get(from..).unwrap_or(object);
        faults.push(place.fault(code, part, words));
    }
    faults
}

/// The offset of a reader's line (from 1) and column (in bytes, counted up to what was read).
pub(super) fn line_and_column(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut offset = start.saturating_add(column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// What a piece of JSON is, in words.
pub(super) fn kind_of(raw: &str) -> &'static str {
    match raw.trim_start().bytes().next() {
        Some(b'"') => "text",
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) => "a number",
        None => "nothing",
    }
}
