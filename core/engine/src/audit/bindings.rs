//! Bindings that do something else than they look like.

use super::Report;
use super::codes::{Code, Severity};
use super::exchange::{Exchange, Kind};
use super::finding::{Finding, ObjectKind, binding_name, few, quoted};
use super::keys::{Answer, KeySet, shortest, topic_words};
use super::world::{World, asks_for_nothing};
use crate::rabbitmq::{BindingDeclaration, DestinationType, Version};
use crate::topic::{TopicMatcher, TopicPattern, Words};
use crate::topology::describe_binding_arguments;
use crate::value::Table;
use std::collections::{BTreeMap, BTreeSet};

const X_MATCH: &str = "x-match";

/// Every binding, and the arguments that belong to bindings and stand elsewhere.
pub(super) fn check(world: &World<'_>, report: &mut Report) {
    for queue in world.queues.values().filter(|queue| queue.declaration.arguments.contains(X_MATCH)) {
        let message = format!("queue {} has x-match among its arguments, where nothing reads it", quoted(queue.name));
        report.add(Finding::new(Code::XMatchMisplaced, world.queue_object(queue.name), message));
    }
    missing(world, report);
    for exchange in world.exchanges.values() {
        if exchange.arguments.is_some_and(|arguments| arguments.contains(X_MATCH)) {
            let message =
                format!("exchange {} has x-match among its arguments, where nothing reads it", quoted(exchange.name));
            report.add(Finding::new(Code::XMatchMisplaced, world.object(ObjectKind::Exchange, exchange.name), message));
        }
        for binding in &exchange.outgoing {
            one(world, exchange, binding, report);
        }
        if exchange.kind == Kind::Fanout {
            let keys: BTreeSet<&str> = exchange.outgoing.iter().map(|binding| binding.routing_key.as_str()).collect();
            if keys.len() > 1 {
                let message = format!(
                    "the bindings of fanout exchange {} have different keys ({}), and every message goes to all of them",
                    quoted(exchange.name),
                    few(keys.into_iter().collect::<Vec<_>>().into_iter())
                );
                report.add(Finding::new(
                    Code::KeysOnFanout,
                    world.object(ObjectKind::Exchange, exchange.name),
                    message,
                ));
            }
        }
        let mut ends: BTreeMap<(DestinationType, &str), Vec<&BindingDeclaration>> = BTreeMap::new();
        for binding in &exchange.outgoing {
            ends.entry((binding.destination_type, &binding.destination)).or_default().push(binding);
        }
        for bindings in ends.values().filter(|bindings| bindings.len() > 1) {
            repeated(world, exchange, bindings, report);
        }
    }
}

/// Bindings whose ends are not there.
fn missing(world: &World<'_>, report: &mut Report) {
    for binding in world.state.bindings.iter() {
        let absent_source = world.has_exchange(&binding.source) == Some(false);
        let absent_end = match binding.destination_type {
            DestinationType::Queue => world.has_queue(&binding.destination) == Some(false),
            DestinationType::Exchange => world.has_exchange(&binding.destination) == Some(false),
        };
        let what = match (absent_source, absent_end) {
            (true, _) => format!("exchange {}", quoted(&binding.source)),
            (false, true) => format!("{} {}", binding.destination_type.name(), quoted(&binding.destination)),
            (false, false) => continue,
        };
        let object = world.object(ObjectKind::Binding, binding_name(binding));
        let message = format!("binding {} names {what}, which is not declared", binding_name(binding));
        report.add(Finding::new(Code::BindingToMissing, object, message));
    }
}

fn one(world: &World<'_>, exchange: &Exchange<'_>, binding: &BindingDeclaration, report: &mut Report) {
    let object = || world.object(ObjectKind::Binding, binding_name(binding));
    let arguments = || describe_binding_arguments(&binding.arguments);
    let key = binding.routing_key.as_str();
    if exchange.kind != Kind::Headers && exchange.kind != Kind::Opaque && binding.arguments.contains(X_MATCH) {
        let message = format!(
            "binding {} has x-match, which {} exchange {} does not look at",
            binding_name(binding),
            exchange.kind_name,
            quoted(exchange.name)
        );
        report.add(Finding::new(Code::XMatchMisplaced, object(), message).told_by(&arguments()));
    }
    match exchange.kind {
        Kind::Headers => match asks_for_nothing(&binding.arguments) {
            Some(true) => {
                let message =
                    format!("headers binding {} asks for no header and takes every message", binding_name(binding));
                let mut finding = Finding::new(Code::HeadersMatchAll, object(), message).told_by(&arguments());
                // The only binding of an exchange misleads nobody: it makes a fanout of it.
                if exchange.outgoing.len() == 1 {
                    finding.severity = Severity::Info;
                }
                report.add(world.shown_by(finding, exchange, "", &Table::new(), " without any header"));
            }
            Some(false) => {
                let message = format!(
                    "headers binding {} asks for any of no headers and takes no message",
                    binding_name(binding)
                );
                let finding = Finding::new(Code::HeadersMatchNone, object(), message).told_by(&arguments());
                let ending = " without any header, and the binding does not take it";
                report.add(world.shown_by(finding, exchange, "", &Table::new(), ending));
            }
            None => {}
        },
        Kind::Direct if Words::new(key.as_bytes()).any(|word| word == b"*" || word == b"#") => {
            let message = format!(
                "direct exchange {} compares the whole key: {} is no pattern there",
                quoted(exchange.name),
                quoted(key)
            );
            let example: Vec<&str> = key
                .split('.')
                .map(|word| if matches!(word, "*" | "#") { world.stranger.as_str() } else { word })
                .collect();
            let finding = Finding::new(Code::WildcardOnDirect, object(), message);
            report.add(world.shown_by(
                finding,
                exchange,
                &example.join("."),
                &Table::new(),
                ", and the binding does not take it",
            ));
        }
        Kind::Topic if key.is_empty() => {
            let message = format!("topic binding {} takes the empty key and nothing else", binding_name(binding));
            let finding = Finding::new(Code::EmptyKeyOnTopic, object(), message);
            report.add(world.shown_by(
                finding,
                exchange,
                &world.stranger,
                &Table::new(),
                ", and the binding does not take it",
            ));
            if world.state.broker.version == Some(Version::new(4, 3, 0)) {
                let message = format!(
                    "topic binding {} takes the empty key of every topic exchange on 4.3.0",
                    binding_name(binding)
                );
                report.add(Finding::new(Code::EmptyKeyLeaks, object(), message));
            }
        }
        Kind::Topic => {
            let inside = Words::new(key.as_bytes())
                .find(|word| word.len() > 1 && word.iter().any(|byte| matches!(byte, b'*' | b'#')));
            if let Some(word) = inside {
                let word = String::from_utf8_lossy(word);
                let message =
                    format!("in topic binding {} the word {} is literal text", binding_name(binding), quoted(&word));
                let example = key.replace(['*', '#'], &world.stranger);
                let finding = Finding::new(Code::WildcardInsideWord, object(), message);
                report.add(world.shown_by(
                    finding,
                    exchange,
                    &example,
                    &Table::new(),
                    ", and the binding does not take it",
                ));
            }
        }
        Kind::Direct | Kind::Fanout | Kind::Opaque => {}
    }
}

/// Bindings of the same two ends.
fn repeated(world: &World<'_>, exchange: &Exchange<'_>, bindings: &[&BindingDeclaration], report: &mut Report) {
    let Some(first) = bindings.first() else { return };
    if exchange.kind != Kind::Headers && exchange.kind != Kind::Opaque {
        let mut keys: BTreeMap<&str, usize> = BTreeMap::new();
        for binding in bindings {
            *keys.entry(&binding.routing_key).or_default() += 1;
        }
        if let Some((key, count)) = keys.iter().find(|(_, count)| **count > 1) {
            let message = format!(
                "{count} bindings from {} to {} with key {} differ only in arguments",
                quoted(exchange.name),
                quoted(&first.destination),
                quoted(key)
            );
            let object = world.object(ObjectKind::Binding, binding_name(first));
            report.add(Finding::new(Code::BindingTwice, object, message));
        }
    }
    if let Some((narrow, wide)) = redundant(exchange, bindings, &world.stranger) {
        let message = match exchange.kind {
            Kind::Fanout => format!(
                "{} bindings from fanout {} to {} do what one does",
                bindings.len(),
                quoted(exchange.name),
                quoted(&first.destination)
            ),
            _ => format!(
                "binding {} takes nothing that {} does not take",
                binding_name(narrow),
                quoted(&wide.routing_key)
            ),
        };
        report.add(Finding::new(
            Code::BindingRedundant,
            world.object(ObjectKind::Binding, binding_name(narrow)),
            message,
        ));
    }
}

/// How many patterns with wildcards are held against each other.
const PATTERNS: usize = 8;

/// A binding that another one of the same ends makes superfluous.
fn redundant<'b>(
    exchange: &Exchange<'_>,
    bindings: &[&'b BindingDeclaration],
    stranger: &str,
) -> Option<(&'b BindingDeclaration, &'b BindingDeclaration)> {
    if exchange.kind == Kind::Fanout {
        return Some((bindings.get(1)?, bindings.first()?));
    }
    if exchange.kind != Kind::Topic {
        return None;
    }
    let (literal, wild): (Vec<&BindingDeclaration>, Vec<&BindingDeclaration>) =
        bindings.iter().partition(|binding| TopicPattern::new(&binding.routing_key).is_literal());
    let mut matcher = TopicMatcher::new();
    for (number, binding) in wild.iter().enumerate() {
        matcher.insert(binding.routing_key.as_bytes(), number);
    }
    if !wild.is_empty() {
        let taken = literal.iter().find_map(|binding| {
            let number = matcher.matches(binding.routing_key.as_bytes()).into_iter().min()?;
            Some((*binding, *wild.get(number)?))
        });
        if taken.is_some() {
            return taken;
        }
    }
    if wild.len() > PATTERNS {
        return None;
    }
    wild.iter().find_map(|narrow| {
        // One key that only the narrower one takes is enough to tell most of them apart.
        let shortest = shortest(&KeySet::topic(&narrow.routing_key), stranger);
        let wide = wild.iter().find(|wide| {
            wide.routing_key != narrow.routing_key
                && !matches!(&shortest, Answer::Key(key) if !TopicPattern::new(&wide.routing_key).matches(key))
                && super::keys::uncovered(&narrow.routing_key, topic_words(&wide.routing_key), stranger) == Answer::None
        })?;
        Some((*narrow, *wide))
    })
}
