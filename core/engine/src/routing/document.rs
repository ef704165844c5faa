//! An explanation as the document `acemq.route/1`, and as text for people.

use super::explain::{AlternateUse, Because, Copy, DeadEnd, Explanation, Fit, Hop};
use super::miss::{Miss, Target};
use super::{HeadersMatch, Opaque};
use crate::rabbitmq::{BindingIdentity, DestinationType};
use crate::value::Table;
use serde::Serialize;
use std::fmt::Write as _;

/// `acemq.route/1`: where a message goes and why.
#[derive(Debug, Serialize)]
pub struct RouteDocument<'a> {
    format: &'static str,
    exchange: &'a str,
    keys: Vec<String>,
    exchange_exists: bool,
    internal: bool,
    queues: Vec<&'a str>,
    copies: Vec<CopyDocument<'a>>,
    dead_ends: Vec<DeadEndDocument<'a>>,
    opaque: Vec<OpaqueDocument<'a>>,
    misses: Vec<MissDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct CopyDocument<'a> {
    queue: &'a str,
    path: Vec<HopDocument<'a>>,
    also: Vec<HopDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct HopDocument<'a> {
    exchange: &'a str,
    r#type: &'a str,
    to: EndDocument<'a>,
    via: &'static str,
    binding: Option<BindingIdentity<'a>>,
    matched: Option<MatchedDocument<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum EndDocument<'a> {
    Exchange(&'a str),
    Queue(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum MatchedDocument<'a> {
    Key { key: String },
    Words { key: String, words: Vec<WordsDocument> },
    Headers { x_match: &'static str, headers: &'a Table },
    ByPolicy { by_policy: bool },
}

#[derive(Debug, Serialize)]
struct WordsDocument {
    pattern: String,
    words: Vec<String>,
}

#[derive(Debug, Serialize)]
struct DeadEndDocument<'a> {
    exchange: &'a str,
    alternate_exchange: Option<&'a str>,
    alternate: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct OpaqueDocument<'a> {
    exchange: &'a str,
    r#type: &'a str,
    candidates: Vec<EndDocument<'a>>,
}

#[derive(Debug, Serialize)]
struct MissDocument<'a> {
    exchange: &'a str,
    binding: Option<BindingIdentity<'a>>,
    queue: Option<&'a str>,
    why: Vec<String>,
}

impl Explanation {
    /// The document `acemq.route/1`.
    pub fn to_document(&self) -> RouteDocument<'_> {
        RouteDocument {
            format: "acemq.route/1",
            exchange: &self.exchange,
            keys: self.keys.iter().map(|key| text(key)).collect(),
            exchange_exists: self.exchange_exists,
            internal: self.internal,
            queues: self.copies.iter().map(|copy| copy.queue.as_str()).collect(),
            copies: self.copies.iter().map(CopyDocument::of).collect(),
            dead_ends: self.dead_ends.iter().map(DeadEndDocument::of).collect(),
            opaque: self.opaque.iter().map(OpaqueDocument::of).collect(),
            misses: self.misses.iter().map(MissDocument::of).collect(),
        }
    }

    /// For people: every copy with its way, what became of alternate exchanges, and near misses.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(|key| quoted(key)).collect();
        writeln!(out, "published to {} with key {}", exchange(&self.exchange), keys.join(", also "))?;
        if !self.exchange_exists {
            return writeln!(out, "  refused: there is no such exchange (404, the channel is closed)");
        }
        if self.internal {
            writeln!(
                out,
                "  refused for clients: the exchange is internal (403); what another exchange sends goes on:"
            )?;
        }
        for copy in &self.copies {
            writeln!(out, "  queue {}", shown(&copy.queue))?;
            for hop in &copy.path {
                writeln!(out, "    {}", hop_text(hop))?;
            }
            for hop in &copy.also {
                writeln!(out, "    no second copy: {}", hop_text(hop))?;
            }
        }
        if self.copies.is_empty() && self.opaque.is_empty() {
            writeln!(out, "  reaches no queue: dropped, or returned to its publisher when mandatory (312 NO_ROUTE)")?;
        }
        for dead_end in &self.dead_ends {
            writeln!(out, "  {}", dead_end_text(dead_end))?;
        }
        for opaque in &self.opaque {
            writeln!(out, "  {}", opaque_text(opaque))?;
        }
        for miss in &self.misses {
            writeln!(out, "  near: {}", miss_text(miss))?;
        }
        Ok(())
    }
}

impl<'a> CopyDocument<'a> {
    fn of(copy: &'a Copy) -> Self {
        Self {
            queue: &copy.queue,
            path: copy.path.iter().map(HopDocument::of).collect(),
            also: copy.also.iter().map(HopDocument::of).collect(),
        }
    }
}

impl<'a> HopDocument<'a> {
    fn of(hop: &'a Hop) -> Self {
        let (via, binding, matched) = match &hop.because {
            Because::Named(key) => ("default_exchange", None, Some(MatchedDocument::Key { key: text(key) })),
            Because::Binding { binding, fit } => {
                ("binding", Some(BindingIdentity::of(binding)), MatchedDocument::of(fit))
            }
            Because::Alternate { by_policy } => {
                ("alternate_exchange", None, Some(MatchedDocument::ByPolicy { by_policy: *by_policy }))
            }
        };
        Self { exchange: &hop.exchange, r#type: &hop.kind, to: EndDocument::of(&hop.to), via, binding, matched }
    }
}

impl<'a> EndDocument<'a> {
    fn of((kind, name): &'a (DestinationType, String)) -> Self {
        match kind {
            DestinationType::Exchange => Self::Exchange(name),
            DestinationType::Queue => Self::Queue(name),
        }
    }
}

impl<'a> MatchedDocument<'a> {
    fn of(fit: &'a Fit) -> Option<Self> {
        match fit {
            Fit::Always => None,
            Fit::Equal(key) => Some(Self::Key { key: text(key) }),
            Fit::Words(key, words) => {
                let words = words
                    .iter()
                    .map(|(pattern, covered)| WordsDocument {
                        pattern: text(pattern),
                        words: covered.iter().map(|word| text(word)).collect(),
                    })
                    .collect();
                Some(Self::Words { key: text(key), words })
            }
            Fit::Headers(x_match, headers) => Some(Self::Headers { x_match: x_match_name(*x_match), headers }),
        }
    }
}

impl<'a> DeadEndDocument<'a> {
    fn of(dead_end: &'a DeadEnd) -> Self {
        Self {
            exchange: &dead_end.exchange,
            alternate_exchange: dead_end.alternate.as_ref().map(|(name, _)| name.as_str()),
            alternate: dead_end.alternate.as_ref().map(|(_, used)| match used {
                AlternateUse::Used => "used",
                AlternateUse::Missing => "missing",
                AlternateUse::Visited => "visited",
                AlternateUse::Default => "default",
            }),
        }
    }
}

impl<'a> OpaqueDocument<'a> {
    fn of(opaque: &'a Opaque) -> Self {
        Self {
            exchange: &opaque.exchange,
            r#type: &opaque.kind,
            candidates: opaque.candidates.iter().map(EndDocument::of).collect(),
        }
    }
}

impl<'a> MissDocument<'a> {
    fn of(miss: &'a Miss) -> Self {
        let (binding, queue) = match &miss.target {
            Target::Binding(binding) => (Some(BindingIdentity::of(binding)), None),
            Target::Queue(queue) => (None, Some(queue.as_str())),
        };
        Self { exchange: &miss.exchange, binding, queue, why: miss.why.iter().map(ToString::to_string).collect() }
    }
}

fn x_match_name(x_match: HeadersMatch) -> &'static str {
    match x_match {
        HeadersMatch::All => "all",
        HeadersMatch::Any => "any",
        HeadersMatch::AllWithX => "all-with-x",
        HeadersMatch::AnyWithX => "any-with-x",
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn quoted(bytes: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(bytes).escape_debug())
}

fn shown(name: &str) -> String {
    name.escape_debug().to_string()
}

fn exchange(name: &str) -> String {
    if name.is_empty() { "the default exchange".to_owned() } else { format!("exchange {}", shown(name)) }
}

fn end(kind: DestinationType, name: &str) -> String {
    format!("{} {}", kind.name(), shown(name))
}

fn hop_text(hop: &Hop) -> String {
    let from = exchange(&hop.exchange);
    let to = end(hop.to.0, &hop.to.1);
    match &hop.because {
        Because::Named(key) => format!("{from}: the key {} is the name of {to}", quoted(key)),
        Because::Alternate { by_policy } => {
            let by = if *by_policy { " (by policy)" } else { "" };
            format!("{from} ({}): no binding fits, so its alternate{by}, {to}", shown(&hop.kind))
        }
        Because::Binding { binding, fit } => {
            let why = match fit {
                Fit::Always => "takes every message".to_owned(),
                Fit::Equal(key) => format!("[{}] is the key", shown(&text(key))),
                Fit::Words(_, words) => {
                    let words: Vec<String> = words
                        .iter()
                        .map(|(pattern, covered)| {
                            let covered: Vec<String> = covered.iter().map(|word| text(word)).collect();
                            format!("{} = {}", shown(&text(pattern)), quoted(covered.join(".").as_bytes()))
                        })
                        .collect();
                    let words = if words.is_empty() { "both are empty".to_owned() } else { words.join(", ") };
                    format!("[{}] fits: {words}", shown(&binding.routing_key))
                }
                Fit::Headers(x_match, headers) if headers.is_empty() => {
                    format!("({}) asks for no header", x_match_name(*x_match))
                }
                Fit::Headers(x_match, headers) => {
                    let headers: Vec<String> =
                        headers.iter().map(|(name, value)| format!("{} = {}", shown(name), value.to_json())).collect();
                    format!("({}) fits: {}", x_match_name(*x_match), headers.join(", "))
                }
            };
            format!("{from} ({}) to {to}: {why}", shown(&hop.kind))
        }
    }
}

fn dead_end_text(dead_end: &DeadEnd) -> String {
    let name = exchange(&dead_end.exchange);
    match &dead_end.alternate {
        None => format!("{name}: no binding fits, and it has no alternate exchange"),
        Some((alternate, used)) => {
            let what = match used {
                AlternateUse::Used => "which takes the message",
                AlternateUse::Missing => "which does not exist: dropped without a word",
                AlternateUse::Visited => "where the message has been already",
                AlternateUse::Default => "the default exchange, which leads nowhere as an alternate",
            };
            format!("{name}: no binding fits; its alternate is {}, {what}", quoted(alternate.as_bytes()))
        }
    }
}

fn opaque_text(opaque: &Opaque) -> String {
    let kind = if opaque.kind.is_empty() { "a type that is not known".to_owned() } else { shown(&opaque.kind) };
    let candidates: Vec<String> = opaque.candidates.iter().map(|(kind, name)| end(*kind, name)).collect();
    let candidates = if candidates.is_empty() { "nothing".to_owned() } else { candidates.join(", ") };
    format!("{} ({kind}) decides by rules of its own; bound to it: {candidates}", exchange(&opaque.exchange))
}

fn miss_text(miss: &Miss) -> String {
    let why: Vec<String> = miss.why.iter().map(ToString::to_string).collect();
    let target = match &miss.target {
        Target::Queue(queue) => format!("queue {}", shown(queue)),
        Target::Binding(binding) => {
            let to = end(binding.destination_type, &binding.destination);
            format!("{} to {to} [{}]", exchange(&miss.exchange), shown(&binding.routing_key))
        }
    };
    format!("{target}: {}", why.join("; "))
}
