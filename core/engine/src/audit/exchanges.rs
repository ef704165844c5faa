//! Exchanges that drop what they are given: unbound ones, chains that end nowhere, alternates that do not help.

use super::Report;
use super::codes::Code;
use super::exchange::{Exchange, Kind};
use super::finding::{Finding, ObjectKind, binding_name, exchange_words, few, quoted};
use super::keys::{Answer, KeySet};
use super::patterns::PatternTree;
use super::world::{Given, World};
use crate::rabbitmq::{DestinationType, predeclared_exchange};
use crate::value::Table;
use std::collections::BTreeSet;

/// Every exchange of the vhost.
pub(super) fn check(world: &World<'_>, report: &mut Report) {
    let alternates: BTreeSet<&str> = world
        .exchanges
        .values()
        .filter_map(|exchange| match &exchange.alternate {
            Given::Value(name) => Some(name.as_str()),
            Given::Nothing | Given::Undecided => None,
        })
        .collect();
    for exchange in world.exchanges.values().filter(|exchange| !exchange.name.is_empty() && exchange.is_known()) {
        alternate(world, exchange, report);
        let object = world.object(ObjectKind::Exchange, exchange.name);
        if exchange.outgoing.is_empty() {
            let fed = alternates.contains(exchange.name)
                || !world.into(DestinationType::Exchange, exchange.name).is_empty()
                || exchange.alternate != Given::Nothing;
            if !fed && predeclared_exchange(exchange.name).is_none() {
                let message = format!("exchange {} leads nowhere: it has no bindings", quoted(exchange.name));
                let finding = Finding::new(Code::ExchangeUnbound, object, message);
                report.add(world.shown_by(finding, exchange, "", &Table::new(), ", which has no bindings"));
            }
        } else if !world.leads_to_a_queue(exchange.name) {
            let ends: BTreeSet<&str> = exchange.outgoing.iter().map(|binding| binding.destination.as_str()).collect();
            let message = format!(
                "exchange {} has bindings, and none of them leads to a queue: they end at {}",
                quoted(exchange.name),
                few(ends.into_iter().collect::<Vec<_>>().into_iter())
            );
            let finding = Finding::new(Code::ExchangeLeadsNowhere, object, message);
            let taken = exchange.outgoing.first().and_then(|binding| world.sample(&world.keys_of(binding)?));
            report.add(match taken {
                Some(key) => {
                    let ending = ", where a binding takes it to an exchange that drops it";
                    world.shown_by(finding, exchange, &key, &Table::new(), ending)
                }
                None => finding,
            });
        } else {
            between(world, exchange, report);
        }
    }
}

/// Bindings to other exchanges that take keys which are dropped there.
fn between(world: &World<'_>, exchange: &Exchange<'_>, report: &mut Report) {
    if exchange.alternate != Given::Nothing {
        return;
    }
    for binding in exchange.outgoing.iter().filter(|binding| binding.destination_type == DestinationType::Exchange) {
        let keys = match exchange.kind {
            Kind::Direct => KeySet::literal(&binding.routing_key),
            Kind::Topic => KeySet::topic(&binding.routing_key),
            Kind::Fanout | Kind::Headers | Kind::Opaque => continue,
        };
        if world.takes_all(&binding.destination) {
            continue;
        }
        // Reaches nothing from the first exchange: another binding of it may take the key as well.
        let Answer::Key(key) = world.unrouted(&keys, exchange.name) else { continue };
        let message = format!(
            "a message with key {} that is published to {} is taken to {} and dropped there",
            quoted(&key),
            exchange_words(exchange.name),
            exchange_words(&binding.destination)
        );
        let object = world.object(ObjectKind::Binding, binding_name(binding));
        let finding = Finding::new(Code::KeysLostBetweenExchanges, object, message);
        report.add(world.shown_by(
            finding,
            exchange,
            &key,
            &Table::new(),
            ", where no binding takes it: it is dropped",
        ));
    }
}

fn alternate<'a>(world: &World<'a>, exchange: &Exchange<'a>, report: &mut Report) {
    let Given::Value(name) = &exchange.alternate else { return };
    let object = || world.object(ObjectKind::Exchange, exchange.name);
    if exchange.kind_name == "x-delayed-message" {
        let message = format!(
            "every delayed message of exchange {} also goes to its alternate exchange {}, at once",
            quoted(exchange.name),
            quoted(name)
        );
        report.add(Finding::new(Code::AlternateOnDelayed, object(), message));
    }
    if exchange.kind == Kind::Opaque {
        return;
    }
    let missing = !name.is_empty() && world.has_exchange(name) == Some(false);
    let useless = name.is_empty() || missing || !world.leads_to_a_queue(name);
    // A key that no binding takes, and the alternate neither.
    let lost = world.unmatched_and_unrouted(exchange);
    if useless {
        let (code, why, fix) = if name.is_empty() {
            (Code::AlternateExchangeDefault, "the default exchange leads nowhere as an alternate", String::new())
        } else if missing {
            let fix = format!("declare exchange {} (a fanout) and bind a queue to it", quoted(name));
            (Code::AlternateExchangeMissing, "it does not exist", fix)
        } else {
            let fix = format!("bind a queue to {}", exchange_words(name));
            (Code::AlternateExchangeCannotRoute, "it leads to no queue", fix)
        };
        // Where every key is taken anyway the alternate is not used.
        if let Answer::Key(key) = lost {
            let message = format!(
                "what no binding of exchange {} takes is dropped: its alternate is {}, and {why}",
                quoted(exchange.name),
                exchange_words(name)
            );
            let mut finding = Finding::new(code, object(), message);
            if !fix.is_empty() {
                finding = finding.fix(fix);
            }
            report.add(world.shown_by(finding, exchange, &key, &Table::new(), ", and its alternate does not keep it"));
        }
        return;
    }
    if let Answer::Key(key) = lost {
        let message = format!(
            "a message with key {} that no binding of exchange {} takes is taken by none of its alternate {} either",
            quoted(&key),
            quoted(exchange.name),
            exchange_words(name)
        );
        let finding = Finding::new(Code::AlternateExchangeLosesSome, object(), message);
        report.add(world.shown_by(finding, exchange, &key, &Table::new(), ", and the alternate drops it too"));
    }
    if let Answer::Key(key) = world.bypassed(exchange) {
        let message = format!(
            "a message with key {} fits a binding of exchange {} to another exchange, which drops it: the alternate {} is not used",
            quoted(&key),
            quoted(exchange.name),
            exchange_words(name)
        );
        let finding = Finding::new(Code::AlternateExchangeBypassed, object(), message);
        let ending =
            ", where a binding to another exchange takes it: it is dropped there, and the alternate is not used";
        report.add(world.shown_by(finding, exchange, &key, &Table::new(), ending));
    }
}

/// Queues that no message can come to.
pub(super) fn queues(world: &World<'_>, dead_targets: &BTreeSet<&str>, report: &mut Report) {
    let entered = world.entered();
    let shovelled: BTreeSet<&str> = world.state.links.shovels.values().map(String::as_str).collect();
    for queue in world.queues.values() {
        let bindings = world.into(DestinationType::Queue, queue.name);
        let object = || world.queue_object(queue.name);
        if bindings.is_empty() {
            let named_by_the_broker = queue.name.starts_with("amq.");
            // Where messages wait for their time they are published by the queue's name.
            let waits = queue.expires_messages() && queue.dead_letters().is_some();
            if !dead_targets.contains(queue.name)
                && !shovelled.contains(queue.name)
                && !named_by_the_broker
                && !waits
                && !queue.declaration.exclusive
                && world.state.known.bindings
            {
                let message =
                    format!("only the default exchange reaches queue {}: it has no bindings", quoted(queue.name));
                report.add(Finding::new(Code::QueueUnreachable, object(), message));
            }
        } else if !dead_targets.contains(queue.name)
            && bindings.iter().all(|binding| !entered.contains(binding.source.as_str()))
        {
            let sources: BTreeSet<&str> = bindings.iter().map(|binding| binding.source.as_str()).collect();
            let message = format!(
                "no message comes through the bindings of queue {}: nothing leads to {}",
                quoted(queue.name),
                few(sources.into_iter().collect::<Vec<_>>().into_iter())
            );
            report.add(Finding::new(Code::QueueCutOff, object(), message));
        }
    }
    for exchange in fed_by_bindings_only(world) {
        let into = world.into(DestinationType::Exchange, exchange.name);
        let arriving: Vec<KeySet<'_>> = into.iter().filter_map(|binding| world.keys_of(binding)).collect();
        if arriving.is_empty() || arriving.len() != into.len() {
            continue;
        }
        let mut tree = PatternTree::new();
        for (number, keys) in arriving.iter().enumerate() {
            tree.insert(keys.pattern().iter().copied(), number);
        }
        for binding in &exchange.outgoing {
            let Some(keys) = world.keys_of(binding) else { continue };
            // Whether both have a key in common is decided on their intersection.
            let meets = |number: &usize| arriving.get(*number).is_some_and(|some| !world.is_empty(&some.and(&keys)));
            if !keys.is_any() && !tree.meeting(keys.pattern()).iter().any(meets) {
                let object = world.object(ObjectKind::Binding, binding_name(binding));
                let message = format!(
                    "no key that comes to internal exchange {} fits {}",
                    quoted(exchange.name),
                    quoted(&binding.routing_key)
                );
                report.add(Finding::new(Code::BindingNeverMatches, object, message));
            }
        }
    }
}

/// Exchanges that get messages through bindings of other exchanges and in no other way.
fn fed_by_bindings_only<'w, 'a>(world: &'w World<'a>) -> Vec<&'w Exchange<'a>> {
    let dead = world.queues.values().filter_map(|queue| Some(queue.dead_letters()?.exchange.as_str()));
    let mut otherwise: BTreeSet<&str> = dead.collect();
    for exchange in world.exchanges.values() {
        match &exchange.alternate {
            Given::Nothing => {}
            Given::Value(name) => _ = otherwise.insert(name),
            // It may be any of them.
            Given::Undecided => return Vec::new(),
        }
    }
    let only = |exchange: &&Exchange<'_>| {
        exchange.internal && exchange.is_known() && !exchange.outgoing.is_empty() && !otherwise.contains(exchange.name)
    };
    world.exchanges.values().filter(only).collect()
}
