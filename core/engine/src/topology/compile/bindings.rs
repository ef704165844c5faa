//! Bindings: both ends must be known, and equal ones are one.

use super::super::describe::readable;
use super::super::finding::{
    Findings, Place, Section, Subject, exchange as exchange_named, meant, queue as queue_named, told,
};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::tables::DeclaredBinding;
use super::super::wish::BindingWish;
use super::exchanges::Exchanges;
use super::{drop_repeats, repeats, table_too_large};
use crate::name::{MAX_NAME_BYTES, RESERVED_PREFIX};
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::value::write_table;
use std::collections::HashSet;

/// How many `#` a topic pattern may have everywhere; RabbitMQ 4.3.5 and later refuse more.
const HASHES: usize = 2;

/// More names than this are not searched for the one that was meant.
const SEARCHED: usize = 2_000;

/// What a headers exchange takes as `x-match`; the last two from RabbitMQ 3.10 on.
const MATCHES: [&str; 4] = ["all", "any", "all-with-x", "any-with-x"];

/// The derived bindings and then the document's own, each once. `queues` are the names of all queues.
pub(super) fn read(
    wishes: Vec<BindingWish>,
    derived: Vec<DeclaredBinding>,
    queues: &HashSet<&str>,
    exchanges: &mut Exchanges,
    findings: &mut Findings,
) -> Vec<DeclaredBinding> {
    let mut bindings = derived;
    bindings.reserve(wishes.len());
    for (entry, wish) in wishes.into_iter().enumerate() {
        let place = Place::new(Section::Bindings, entry);
        let Some(declaration) = ends(wish, &place, findings) else { continue };
        if !table_too_large(&declaration.arguments, Subject::Binding(&declaration), &place, findings) {
            check(&declaration, &place, queues, exchanges, findings);
            bindings.push(DeclaredBinding { declaration, derived: false });
        }
    }
    let repeats = repeats(bindings.iter().map(|binding| identity(&binding.declaration)));
    for (_, first) in &repeats {
        // Only the document repeats a binding.
        if let Some(first) = bindings.get_mut(*first) {
            first.derived = false;
        }
    }
    drop_repeats(&mut bindings, &repeats);
    bindings
}

/// What the broker tells bindings apart by: all of it, arguments with their types.
fn identity(binding: &BindingDeclaration) -> (DestinationType, &str, &str, &str, String) {
    let BindingDeclaration { source, destination, destination_type, routing_key, arguments } = binding;
    let mut table = String::new();
    if !arguments.is_empty() {
        write_table(&mut table, arguments);
    }
    (*destination_type, source, destination, routing_key, table)
}

/// The declaration, when the wish says where it leads from and to.
fn ends(wish: BindingWish, place: &Place, findings: &mut Findings) -> Option<BindingDeclaration> {
    let BindingWish { queue, to_exchange, exchange, routing_key, arguments } = wish;
    let (destination_type, destination, source) = match (queue, to_exchange, exchange) {
        (Some(queue), None, Some(source)) => (DestinationType::Queue, queue, source),
        (None, Some(exchange), Some(source)) => (DestinationType::Exchange, exchange, source),
        (queue, to_exchange, exchange) => {
            findings.push(place.clone(), end_missing(queue, to_exchange, exchange, routing_key));
            return None;
        }
    };
    Some(BindingDeclaration { source, destination, destination_type, routing_key, arguments: arguments.into_sorted() })
}

fn end_missing(queue: Option<String>, to_exchange: Option<String>, source: Option<String>, key: String) -> Problem {
    let shown = |end: &Option<String>| readable(end.as_deref().unwrap_or("?"));
    let destination = queue.clone().or_else(|| to_exchange.clone());
    let binding = format!("binding {} -> {} ({})", shown(&source), shown(&destination), readable(&key));
    let (sentence, help) = match (&queue, &to_exchange) {
        (Some(queue), Some(exchange)) => (
            format!("{binding} has both {} and {}", queue_named(queue), exchange_named(exchange)),
            "Make two bindings of it, one with queue and one with to_exchange.",
        ),
        (None, None) => (
            format!("{binding} leads nowhere"),
            "Add queue: with the name of a queue, or to_exchange: with that of an exchange.",
        ),
        _ => (format!("{binding} has no exchange"), "Add exchange: with the name of the exchange that it leads from."),
    };
    let object = ObjectRef::Binding {
        source: source.unwrap_or_default(),
        destination_type: if queue.is_none() && to_exchange.is_some() { "exchange" } else { "queue" },
        destination: destination.unwrap_or_default(),
        routing_key: key,
    };
    Problem::new(ProblemCode::BindingEndMissing, object, sentence).help(help)
}

fn check(
    binding: &BindingDeclaration,
    place: &Place,
    queues: &HashSet<&str>,
    exchanges: &mut Exchanges,
    findings: &mut Findings,
) {
    let subject = Subject::Binding(binding);
    let object = || subject.object();
    let to_exchange = binding.destination_type == DestinationType::Exchange;
    if binding.routing_key.len() > MAX_NAME_BYTES {
        let sentence = format!(
            "{subject} has a routing key of {} bytes, and AMQP takes at most {MAX_NAME_BYTES}",
            binding.routing_key.len()
        );
        let problem = Problem::new(ProblemCode::RoutingKeyTooLong, object(), sentence)
            .field("bytes", binding.routing_key.len())
            .help("Shorten the routing key.");
        findings.push(place.clone().at("routing_key"), problem);
    }
    let ends = [
        ("exchange", "source", true, binding.source.as_str()),
        ("to_exchange", "destination", to_exchange, binding.destination.as_str()),
    ];
    for (key, end, is_exchange, name) in ends {
        if !is_exchange || (!name.is_empty() && exchanges.resolve(name)) {
            continue;
        }
        let problem = if name.is_empty() {
            let sentence = format!("{subject} has the default exchange as its {end}, which nobody can bind");
            Problem::new(ProblemCode::BindingDefaultExchange, object(), sentence).field("end", end).help(
                "Take the binding out: the default exchange reaches every queue under the queue's own name, and nothing else.",
            )
        } else {
            let sentence = format!("{subject} names {}, which this topology does not declare", exchange_named(name));
            let help = guess(name, exchanges.names())
                + "Declare the exchange here, or list it with external: true when somebody else declares it.";
            Problem::new(ProblemCode::BindingExchangeUndeclared, object(), sentence).field("exchange", name).help(help)
        };
        findings.push(place.clone().at(key), problem);
    }
    if !to_exchange && !queues.contains(binding.destination.as_str()) {
        let name = &binding.destination;
        let sentence = format!("{subject} names {}, which this topology does not declare", queue_named(name));
        let help = if name.starts_with(RESERVED_PREFIX) {
            "Bind a queue with a name of its own: names that start with amq. belong to the broker.".to_owned()
        } else {
            guess(name, queues.iter().copied()) + "Declare the queue here, or correct the name."
        };
        let problem = Problem::new(ProblemCode::BindingQueueUndeclared, object(), sentence)
            .field("queue", name.as_str())
            .help(help);
        findings.push(place.clone().at("queue"), problem);
    }
    match exchanges.kind(&binding.source) {
        Some("topic") => hashes(binding, subject, place, findings),
        Some("headers") => x_match(binding, subject, place, findings),
        _ => {}
    }
}

fn hashes(binding: &BindingDeclaration, subject: Subject<'_>, place: &Place, findings: &mut Findings) {
    let hashes = binding.routing_key.split('.').filter(|word| *word == "#").count();
    if hashes > HASHES {
        let sentence =
            format!("{subject} has {hashes} # in its pattern, and RabbitMQ refuses more than {HASHES} from 4.3.5 on");
        let problem = Problem::new(ProblemCode::ManyHashes, ObjectRef::binding(binding), sentence)
            .field("hashes", hashes)
            .help("Write the pattern with one or two #: each one stands for any number of words.");
        findings.push(place.clone().at("routing_key"), problem);
    }
}

fn x_match(binding: &BindingDeclaration, subject: Subject<'_>, place: &Place, findings: &mut Findings) {
    let Some(value) = binding.arguments.get("x-match") else { return };
    if value.as_text().is_none_or(|text| !MATCHES.contains(&text)) {
        let sentence = format!(
            "{subject} has x-match {}, and a headers exchange takes all, any, all-with-x or any-with-x",
            told(value)
        );
        let problem = Problem::new(ProblemCode::BindingArgument, ObjectRef::binding(binding), sentence)
            .field("argument", "x-match")
            .help("Write one of the four as text; all is what holds without x-match.");
        findings.push(place.clone().at("arguments").at("x-match"), problem);
    }
}

fn guess<'a>(name: &str, known: impl ExactSizeIterator<Item = &'a str>) -> String {
    if known.len() > SEARCHED {
        return String::new();
    }
    // The names come from a hash map: sorted, so that the same document always gets the same answer.
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    meant(name, known).map(|near| format!("Did you mean \"{}\"? ", readable(near))).unwrap_or_default()
}
