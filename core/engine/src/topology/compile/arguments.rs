//! The argument table of a queue against what RabbitMQ takes.

use super::super::finding::{Findings, Place, joined, meant, queue as named, told};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use crate::name::{MAX_NAME_BYTES, quoted};
use crate::rabbitmq::{ArgumentFault, Fault, QueueDeclaration, QueueType, Version, check_arguments, known_arguments};
use crate::retry::parse_duration;
use crate::value::Value;

/// The oldest version whose rules a document is held against.
const OLDEST: Version = Version::new(3, 10, 8);

/// Reports everything about the arguments of `queue`.
///
/// The newest rules decide. What only they refuse, or only older ones, is a warning: it depends on the broker.
pub(super) fn check(queue: &QueueDeclaration, kind: QueueType, place: &Place, findings: &mut Findings) {
    let newest = check_arguments(Version::NEWEST, kind, queue);
    for fault in &newest {
        if let Some(problem) = problem_of(queue, kind, fault) {
            findings.push(place.clone().at("arguments").at(fault.argument.clone()), problem);
        }
    }
    let older = check_arguments(OLDEST, kind, queue);
    for fault in older.iter().filter(|fault| !newest.iter().any(|seen| seen.argument == fault.argument)) {
        if let Fault::WrongType { expected, .. } | Fault::WrongValue { expected, .. } = &fault.fault {
            let problem = version_dependent(queue, fault, expected, "before 4.3");
            findings.push(place.clone().at("arguments").at(fault.argument.clone()), problem);
        }
    }
}

fn problem_of(queue: &QueueDeclaration, kind: QueueType, fault: &ArgumentFault) -> Option<Problem> {
    let value = queue.arguments.get(&fault.argument)?;
    let of = argument_of(queue, fault);
    let object = ObjectRef::queue(&queue.name);
    let problem = match &fault.fault {
        Fault::WrongType { expected, .. } => {
            let sentence = format!("{of} is {}, and RabbitMQ takes {expected}", told(value));
            Problem::new(ProblemCode::ArgumentType, object, sentence).help(conversion(&fault.argument, value, expected))
        }
        Fault::WrongValue { expected, every_version: true } => {
            let sentence = format!("{of} is {}, and RabbitMQ takes {expected}", told(value));
            Problem::new(ProblemCode::ArgumentRange, object, sentence).help(format!("Write {expected}."))
        }
        Fault::WrongValue { expected, every_version: false } => {
            version_dependent(queue, fault, expected, "from 4.3 on")
        }
        Fault::RoutingKeyWithoutExchange => {
            let sentence = format!("{of} stands without x-dead-letter-exchange");
            Problem::new(ProblemCode::DeadLetterKeyAlone, object, sentence)
                .help("Add x-dead-letter-exchange as an argument too: an exchange that a policy sets does not help.")
        }
        Fault::Foreign { known_to } => {
            let types: Vec<&str> = known_to.iter().map(|kind| kind.name()).collect();
            let sentence = format!(
                "{of} belongs to {} queues: a {kind} queue that is there ignores it, a new one is refused",
                joined(&types, "and")
            );
            Problem::new(ProblemCode::ArgumentForeign, object, sentence)
                .field("known_to", types)
                .help("Take it out, or choose a type that has it.")
        }
        Fault::Ignored { instead } if fault.argument == "x-overflow" => {
            let sentence = format!("{of} is {}, and {instead}", told(value));
            Problem::new(ProblemCode::OverflowOnQuorum, object, sentence)
                .help("Write \"reject-publish\" or \"drop-head\", or make the queue classic.")
        }
        Fault::Ignored { instead } => {
            let sentence = format!("{of} has no effect: {instead}");
            Problem::new(ProblemCode::ArgumentIgnored, object, sentence).help("Take it out.")
        }
        Fault::Unknown => {
            let sentence = format!("{of} is unknown to RabbitMQ: it is stored, never compared, and has no effect");
            let near = meant(&fault.argument, known_arguments(Version::NEWEST, kind));
            let help = near.map_or("Check the spelling, or take it out.".to_owned(), |near| {
                format!("Did you mean {near}? Otherwise take it out.")
            });
            Problem::new(ProblemCode::ArgumentUnknown, object, sentence).help(help)
        }
        Fault::MissingPrefix { meant: known } => {
            let sentence = format!("{of} lacks its x-: it is stored, never compared, and has no effect");
            Problem::new(ProblemCode::ArgumentWithoutPrefix, object, sentence)
                .field("meant", *known)
                .help(format!("Write {known}."))
        }
    };
    Some(problem.field("argument", fault.argument.as_str()).field("value", json(value)))
}

fn version_dependent(queue: &QueueDeclaration, fault: &ArgumentFault, expected: &str, versions: &str) -> Problem {
    let value = queue.arguments.get(&fault.argument);
    let sentence = format!(
        "{} is {}, which RabbitMQ refuses {versions}: it takes {expected}",
        argument_of(queue, fault),
        value.map(told).unwrap_or_default()
    );
    Problem::new(ProblemCode::ArgumentVersion, ObjectRef::queue(&queue.name), sentence)
        .field("argument", fault.argument.as_str())
        .field("value", value.map(json).unwrap_or_default())
        .help("Write a value that all versions take, or take the argument out.")
}

fn argument_of(queue: &QueueDeclaration, fault: &ArgumentFault) -> String {
    let plain = fault.argument.len() <= MAX_NAME_BYTES
        && fault.argument.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let argument = if plain { fault.argument.clone() } else { quoted(&fault.argument) };
    format!("argument {argument} of {}", named(&queue.name))
}

/// The way out of a wrong type; a text that plainly means a number gets that number.
fn conversion(argument: &str, value: &Value, expected: &str) -> String {
    let milliseconds = matches!(argument, "x-message-ttl" | "x-expires") || argument.ends_with("-timeout");
    let text = value.as_text().unwrap_or_default();
    if expected.contains("whole number") {
        if text.parse::<i64>().is_ok() {
            return format!("Write {text} without quotes.");
        }
        if milliseconds && let Ok(ms) = parse_duration(text) {
            return format!("Write {ms}: the broker counts in milliseconds.");
        }
    }
    if expected == "true or false" && matches!(text, "true" | "false") {
        return format!("Write {text} without quotes.");
    }
    format!("Write {expected}.")
}

fn json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}
