//! Queues: the canonical argument table of each, and the queues that it brings with it.

use super::super::describe::describe_queue;
use super::super::finding::{
    Findings, Place, Section, Subject, exchange as exchange_named, joined, meant, queue as named, told,
};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::tables::{DeclaredBinding, DeclaredQueue};
use super::super::wish::QueueWish;
use super::exchanges::{Exchanges, undeclared_help};
use super::{arguments, drop_repeats, durable, repeats, retries, table_too_large};
use crate::name::{self, DEAD_LETTER_EXCHANGE, NameError, NameKind, RETRY_EXCHANGE, quoted};
use crate::rabbitmq::{BindingDeclaration, QueueDeclaration, QueueType};
use crate::value::Value;
use std::collections::HashSet;

const TYPE: &str = "x-queue-type";
const DLX: &str = "x-dead-letter-exchange";
const DLK: &str = "x-dead-letter-routing-key";

/// A queue and everything that it brings with it.
struct Family {
    /// The document's entry.
    entry: usize,
    source: QueueDeclaration,
    /// `.dlq` and `.parked`, when dead letters were asked for.
    dead_letters: Vec<QueueDeclaration>,
    /// One queue per delay that is spent in the broker.
    rungs: Vec<QueueDeclaration>,
}

impl Family {
    fn derived(&self) -> impl Iterator<Item = &QueueDeclaration> {
        self.dead_letters.iter().chain(&self.rungs)
    }

    fn equals(&self, other: &Self) -> bool {
        self.source.canonical() == other.source.canonical()
            && self.derived().map(|queue| &queue.name).eq(other.derived().map(|queue| &queue.name))
    }
}

/// Every queue of a topology, in order, with the bindings that the derived ones need.
#[derive(Default)]
pub(super) struct Queues {
    pub declared: Vec<DeclaredQueue>,
    pub bindings: Vec<DeclaredBinding>,
    /// The document's entry of each declared queue; none for a derived one.
    entries: Vec<Option<usize>>,
}

impl Queues {
    pub fn read(wishes: Vec<QueueWish>, exchanges: &mut Exchanges, findings: &mut Findings) -> Self {
        let mut queues = Self::default();
        for family in families(wishes, findings) {
            if let Err(problem) = family.need_exchanges(exchanges) {
                findings.push(Place::new(Section::Queues, family.entry), *problem);
            }
            queues.add(family);
        }
        queues.merge(findings);
        queues
    }

    fn add(&mut self, family: Family) {
        let Family { entry, source, dead_letters, rungs } = family;
        let dead_letter_bindings =
            dead_letters.iter().map(|queue| BindingDeclaration::queue(DEAD_LETTER_EXCHANGE, &queue.name, &queue.name));
        self.bindings.extend(dead_letter_bindings.map(derived));
        if !rungs.is_empty() {
            self.bindings.push(derived(BindingDeclaration::queue(RETRY_EXCHANGE, &source.name, &source.name)));
        }
        let name = source.name.clone();
        self.push(source, None, Some(entry));
        for queue in dead_letters.into_iter().chain(rungs) {
            self.push(queue, Some(name.clone()), None);
        }
    }

    fn push(&mut self, declaration: QueueDeclaration, derived_from: Option<String>, entry: Option<usize>) {
        self.declared.push(DeclaredQueue { declaration, derived_from });
        self.entries.push(entry);
    }

    /// A derived queue that is declared by hand as well must be declared equally, and is one queue.
    fn merge(&mut self, findings: &mut Findings) {
        let repeats = repeats(self.declared.iter().map(|queue| queue.declaration.name.as_str()));
        for (later, first) in &repeats {
            let (Some(one), Some(other)) = (self.declared.get(*first), self.declared.get(*later)) else { continue };
            let entry = |index: &usize| self.entries.get(*index).copied().flatten();
            // What can be taken out is the one by hand.
            let by_hand = entry(later).or(entry(first));
            if one.declaration.canonical() != other.declaration.canonical() {
                let problem = derived_differs(one, other);
                match by_hand {
                    Some(entry) => findings.push(Place::new(Section::Queues, entry), problem),
                    None => findings.push_unplaced(problem),
                }
            } else if by_hand.is_some()
                && let (Some(queue), Some(entry)) = (self.declared.get_mut(*first), self.entries.get_mut(*first))
            {
                queue.derived_from = None;
                *entry = by_hand;
            }
        }
        drop_repeats(&mut self.declared, &repeats);
        drop_repeats(&mut self.entries, &repeats);
    }

    /// The names of all queues.
    pub fn names(&self) -> HashSet<&str> {
        self.declared.iter().map(|queue| queue.declaration.name.as_str()).collect()
    }

    /// Warnings that need every exchange and queue to be known.
    pub fn warn(&self, exchanges: &Exchanges, findings: &mut Findings) {
        let mut names = None;
        for (DeclaredQueue { declaration, .. }, entry) in self.declared.iter().zip(&self.entries) {
            let Some(entry) = entry else { continue };
            let place = Place::new(Section::Queues, *entry);
            if !declaration.durable && !declaration.exclusive {
                findings.push(place.clone(), transient(&declaration.name));
            }
            let dlx = declaration.arguments.get(DLX).and_then(Value::as_text);
            if let Some(dlx) = dlx.filter(|dlx| !exchanges.contains(dlx)) {
                let is_queue = names.get_or_insert_with(|| self.names()).contains(dlx);
                findings.push(place, undeclared_dlx(declaration, dlx, is_queue));
            }
        }
    }
}

impl Family {
    fn need_exchanges(&self, exchanges: &mut Exchanges) -> Result<(), Box<Problem>> {
        if !self.dead_letters.is_empty() {
            exchanges.need_shared(DEAD_LETTER_EXCHANGE)?;
        }
        if !self.rungs.is_empty() {
            exchanges.need_shared(RETRY_EXCHANGE)?;
        }
        Ok(())
    }
}

/// One family per name: equal wishes are one wish, unequal ones a problem.
fn families(wishes: Vec<QueueWish>, findings: &mut Findings) -> Vec<Family> {
    let repeats = repeats(wishes.iter().map(|wish| wish.name.as_str()));
    let mut families: Vec<Family> =
        wishes.into_iter().enumerate().map(|(entry, wish)| family(wish, entry, findings)).collect();
    for (later, first) in &repeats {
        if let (Some(first), Some(second)) = (families.get(*first), families.get(*later))
            && !first.equals(second)
        {
            findings.push(Place::new(Section::Queues, second.entry), duplicate(first, second));
        }
    }
    drop_repeats(&mut families, &repeats);
    families
}

fn family(mut wish: QueueWish, entry: usize, findings: &mut Findings) -> Family {
    let place = Place::new(Section::Queues, entry);
    let name_errors = name::check_all(NameKind::Queue, &wish.name);
    for error in &name_errors {
        findings.name_error(place.clone(), ObjectRef::queue(&wish.name), error);
    }
    let subject = Subject::Queue(&wish.name);
    let durable = durable(wish.durable, wish.transient, subject, &place, findings);
    let too_large = table_too_large(&wish.arguments, subject, &place, findings);
    let has_arguments = !wish.arguments.is_empty();
    let kind = queue_type(&mut wish, durable, &place, findings);
    let is_stream = kind == Some(QueueType::Stream);

    let mut dead_letters = Vec::new();
    let wants_dead_letters = wish.dead_letter || wish.dead_letter_to.is_some();
    if wants_dead_letters && is_stream {
        findings.push(place.clone(), on_stream(&wish.name, ProblemCode::DeadLetterOnStream, "dead letters are"));
    } else if let Some(problem) = dead_letter_conflict(&wish) {
        findings.push(place.clone(), problem);
        if !wish.arguments.contains(DLX) {
            // Whichever is picked, the routing key will not stand alone.
            wish.arguments.remove(DLK);
        }
    } else if wish.dead_letter && name_errors.is_empty() {
        match dead_letter_half(&wish.name) {
            Ok(queues) => {
                let [dead, _] = &queues;
                wish.arguments.insert(DLX, DEAD_LETTER_EXCHANGE);
                wish.arguments.insert(DLK, dead.name.as_str());
                dead_letters.extend(queues);
            }
            Err(errors) => {
                for error in errors {
                    findings.name_error(place.clone(), ObjectRef::queue(&wish.name), &error);
                }
            }
        }
    } else if let Some(exchange) = wish.dead_letter_to.take() {
        wish.arguments.insert(DLX, exchange);
    }
    let rungs = match wish.retry.take() {
        Some(_) if is_stream => {
            findings
                .push(place.clone().at("retry"), on_stream(&wish.name, ProblemCode::RetriesOnStream, "retries are"));
            Vec::new()
        }
        Some(policy) => retries::rungs(&wish.name, &policy, name_errors.is_empty(), &place, findings),
        None => Vec::new(),
    };

    let source = QueueDeclaration {
        name: wish.name,
        durable,
        exclusive: wish.exclusive,
        auto_delete: wish.auto_delete,
        arguments: wish.arguments.into_sorted(),
    };
    if let Some(kind) = kind
        && has_arguments
        && !too_large
    {
        arguments::check(&source, kind, &place, findings);
    }
    Family { entry, source, dead_letters, rungs }
}

/// Settles the queue's type and writes it into the arguments: `x-queue-type` for quorum and stream, nothing for classic.
///
/// `None` when the document asks for no type that there is.
fn queue_type(wish: &mut QueueWish, durable: bool, place: &Place, findings: &mut Findings) -> Option<QueueType> {
    let written = wish.arguments.remove(TYPE);
    let by_hand = match &written {
        None => None,
        Some(value) => match value.as_text() {
            Some(text) => Some(text),
            None => {
                let sentence = format!(
                    "argument {TYPE} of {} is {}, and RabbitMQ takes one of classic, quorum, stream",
                    named(&wish.name),
                    told(value)
                );
                let problem = Problem::new(ProblemCode::ArgumentType, ObjectRef::queue(&wish.name), sentence)
                    .field("argument", TYPE)
                    .help("Use the key type instead of the argument.");
                findings.push(place.clone().at("arguments").at(TYPE), problem);
                return None;
            }
        },
    };
    if let (Some(asked), Some(by_hand)) = (wish.r#type.as_deref(), by_hand)
        && asked != by_hand
    {
        let sentence =
            format!("{} has the type {} and the argument {TYPE} {}", named(&wish.name), quoted(asked), quoted(by_hand));
        let problem = Problem::new(ProblemCode::QueueTypeConflict, ObjectRef::queue(&wish.name), sentence)
            .field("first", asked)
            .field("second", by_hand)
            .help("Take the argument out: the key type writes it.");
        findings.push(place.clone().at("arguments").at(TYPE), problem);
        return None;
    }
    let flags: Vec<&str> = [(!durable, "transient"), (wish.exclusive, "exclusive"), (wish.auto_delete, "auto-delete")]
        .into_iter()
        .filter_map(|(set, flag)| set.then_some(flag))
        .collect();
    let kind = match wish.r#type.as_deref().or(by_hand) {
        None if flags.is_empty() => QueueType::Quorum,
        None => QueueType::Classic,
        Some(asked) => match QueueType::from_name(asked) {
            Some(kind) => kind,
            None => {
                let at = if wish.r#type.is_some() {
                    place.clone().at("type")
                } else {
                    place.clone().at("arguments").at(TYPE)
                };
                findings.push(at, unknown_type(&wish.name, asked));
                return None;
            }
        },
    };
    if kind != QueueType::Classic {
        if !flags.is_empty() {
            let sentence = format!(
                "{} is to be {kind} and {}, and RabbitMQ has {kind} queues only durable, shared and permanent",
                named(&wish.name),
                joined(&flags, "and")
            );
            let problem = Problem::new(ProblemCode::QueueTypeNeedsDurable, ObjectRef::queue(&wish.name), sentence)
                .field("type", kind.name())
                .field("flags", flags)
                .help("Take the flags out, or write type: classic.");
            findings.push(place.clone(), problem);
        }
        wish.arguments.insert(TYPE, kind.name());
    }
    Some(kind)
}

fn unknown_type(queue: &str, asked: &str) -> Problem {
    let sentence = format!("{} has the type {}, which RabbitMQ does not have", named(queue), quoted(asked));
    let guess = meant(asked, QueueType::ALL.map(QueueType::name))
        .map(|near| format!("Did you mean \"{near}\"? "))
        .unwrap_or_default();
    Problem::new(ProblemCode::QueueTypeUnknown, ObjectRef::queue(queue), sentence)
        .field("type", asked)
        .help(format!("{guess}The types are classic, quorum and stream, in lower case."))
}

/// Two answers to where the dead letters go.
fn dead_letter_conflict(wish: &QueueWish) -> Option<Problem> {
    let asked = [(wish.dead_letter, "dead_letter"), (wish.dead_letter_to.is_some(), "dead_letter_to")];
    if !asked.iter().any(|(asked, _)| *asked) {
        return None;
    }
    // A routing key of one's own is what `dead_letter_to` needs, and what `dead_letter` writes itself.
    let by_hand = [(wish.arguments.contains(DLX), DLX), (wish.dead_letter && wish.arguments.contains(DLK), DLK)];
    let conflicting: Vec<&str> =
        asked.into_iter().chain(by_hand).filter_map(|(there, what)| there.then_some(what)).collect();
    (conflicting.len() > 1).then(|| {
        let sentence = format!("{} has {}", named(&wish.name), joined(&conflicting, "and"));
        Problem::new(ProblemCode::DeadLetterConflict, ObjectRef::queue(&wish.name), sentence)
            .field("conflicting", conflicting)
            .help("Pick one: each of them says where the dead letters of this queue go.")
    })
}

/// `{queue}.dlq` and `{queue}.parked`: classic and durable, whatever the source is.
///
/// # Errors
/// When RabbitMQ would not take one of the names.
pub(in super::super) fn dead_letter_half(queue: &str) -> Result<[QueueDeclaration; 2], Vec<NameError>> {
    match (name::dead_letter_queue(queue), name::parked_queue(queue)) {
        (Ok(dead), Ok(parked)) => Ok([QueueDeclaration::durable(dead), QueueDeclaration::durable(parked)]),
        (dead, parked) => Err([dead.err(), parked.err()].into_iter().flatten().collect()),
    }
}

fn derived(declaration: BindingDeclaration) -> DeclaredBinding {
    DeclaredBinding { declaration, derived: true }
}

fn on_stream(queue: &str, code: ProblemCode, what: &str) -> Problem {
    let sentence = format!("{what} asked for on {}, which is a stream", named(queue));
    Problem::new(code, ObjectRef::queue(queue), sentence)
        .help("Take them out: a stream keeps every message and never sends one elsewhere; or choose another type.")
}

fn undeclared_dlx(queue: &QueueDeclaration, dlx: &str, is_queue: bool) -> Problem {
    let sentence =
        format!("{} dead-letters to {}, which this topology does not declare", named(&queue.name), exchange_named(dlx));
    // Exchanges and queues are easily taken for one another here.
    let hint = if is_queue && !queue.arguments.contains(DLK) {
        format!(
            " {} is a queue of this topology: to reach it through the default exchange, set {DLX} to \"\" and {DLK} to {}.",
            quoted(dlx),
            quoted(dlx)
        )
    } else {
        String::new()
    };
    Problem::new(ProblemCode::DeadLetterExchangeUndeclared, ObjectRef::queue(&queue.name), sentence)
        .field("exchange", dlx)
        .help(undeclared_help(dlx) + &hint)
}

fn transient(queue: &str) -> Problem {
    let sentence = format!(
        "{} is transient and not exclusive, which RabbitMQ calls deprecated since 3.13 and refuses from 4.3 on unless it is permitted",
        named(queue)
    );
    Problem::new(ProblemCode::TransientQueue, ObjectRef::queue(queue), sentence)
        .help("Make it durable, or exclusive if only one connection uses it.")
}

fn duplicate(first: &Family, second: &Family) -> Problem {
    let name = &first.source.name;
    let text = |family: &Family| {
        let mut text = describe_queue(&family.source);
        let derived: Vec<&str> = family.derived().filter_map(|queue| queue.name.strip_prefix(name.as_str())).collect();
        if !derived.is_empty() {
            text.push_str(", with ");
            text.push_str(&joined(&derived, "and"));
        }
        text
    };
    let (first, second) = (text(first), text(second));
    let sentence = format!("{} is declared twice: ({first}) and ({second})", named(name));
    Problem::new(ProblemCode::DuplicateQueue, ObjectRef::queue(name), sentence)
        .field("first", first)
        .field("second", second)
        .help("Keep one of the two; declarations that are equal count as one.")
}

fn derived_differs(first: &DeclaredQueue, second: &DeclaredQueue) -> Problem {
    let name = &first.declaration.name;
    let describe = |queue: &DeclaredQueue| match &queue.derived_from {
        Some(source) => format!("({}) as part of {}", describe_queue(&queue.declaration), named(source)),
        None => format!("({}) by hand", describe_queue(&queue.declaration)),
    };
    let (first, second) = (describe(first), describe(second));
    let sentence = format!("{} is declared twice: {first} and {second}", named(name));
    Problem::new(ProblemCode::DuplicateQueue, ObjectRef::queue(name), sentence)
        .field("first", first)
        .field("second", second)
        .help("Take the declaration by hand out, or make it equal; a dead-letter queue does not dead-letter in turn.")
}
