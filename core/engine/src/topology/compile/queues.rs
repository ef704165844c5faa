//! Queues: the canonical argument table of each, and the queues that it brings with it.

use super::super::describe::describe_queue;
use super::super::finding::{
    Findings, Place, Section, exchange as exchange_named, joined, meant, queue as named, told,
};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::tables::{DeclaredBinding, DeclaredQueue};
use super::super::wish::QueueWish;
use super::exchanges::{Exchanges, undeclared_help};
use super::{arguments, durable, retries, table_too_large};
use crate::name::{self, DEAD_LETTER_EXCHANGE, NameError, NameKind, RETRY_EXCHANGE, quoted};
use crate::rabbitmq::{BindingDeclaration, QueueDeclaration, QueueType};
use crate::value::Value;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

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
    by_name: HashMap<String, usize>,
}

impl Queues {
    pub fn read(wishes: Vec<QueueWish>, exchanges: &mut Exchanges, findings: &mut Findings) -> Self {
        let families = merge(wishes, findings);
        let mut queues = Self::default();
        for family in families {
            if let Err(problem) = family.need_exchanges(exchanges) {
                findings.push(Place::new(Section::Queues, family.entry), *problem);
            }
            queues.add(family, findings);
        }
        queues
    }

    fn add(&mut self, family: Family, findings: &mut Findings) {
        let source = family.source.name.clone();
        let dead_letters = family.dead_letters.iter();
        self.bindings.extend(
            dead_letters
                .map(|queue| derived(BindingDeclaration::queue(DEAD_LETTER_EXCHANGE, &queue.name, &queue.name))),
        );
        if !family.rungs.is_empty() {
            self.bindings.push(derived(BindingDeclaration::queue(RETRY_EXCHANGE, &source, &source)));
        }
        self.insert(family.source, None, family.entry, findings);
        for queue in family.dead_letters.into_iter().chain(family.rungs) {
            self.insert(queue, Some(source.clone()), family.entry, findings);
        }
    }

    /// Adds a queue once: a derived queue that is declared by hand as well must be declared equally.
    fn insert(
        &mut self,
        declaration: QueueDeclaration,
        derived_from: Option<String>,
        entry: usize,
        findings: &mut Findings,
    ) {
        match self.by_name.entry(declaration.name.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(self.declared.len());
                self.entries.push(derived_from.is_none().then_some(entry));
                self.declared.push(DeclaredQueue { declaration, derived_from });
            }
            Entry::Occupied(slot) => {
                let index = *slot.get();
                let (Some(first), Some(first_entry)) = (self.declared.get_mut(index), self.entries.get_mut(index))
                else {
                    return;
                };
                if first.declaration.canonical() != declaration.canonical() {
                    // Point at the entry that can be taken out: the one by hand.
                    let at = if derived_from.is_none() { entry } else { first_entry.unwrap_or(entry) };
                    let problem = derived_differs(first, &declaration, derived_from.as_deref());
                    findings.push(Place::new(Section::Queues, at), problem);
                } else if derived_from.is_none() {
                    first.derived_from = None;
                    *first_entry = Some(entry);
                }
            }
        }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Warnings that need every exchange and queue to be known.
    pub fn warn(&self, exchanges: &Exchanges, findings: &mut Findings) {
        for (DeclaredQueue { declaration, .. }, entry) in self.declared.iter().zip(&self.entries) {
            let Some(entry) = entry else { continue };
            let place = Place::new(Section::Queues, *entry);
            if !declaration.durable && !declaration.exclusive {
                findings.push(place.clone(), transient(&declaration.name));
            }
            let dlx = declaration.arguments.get(DLX).and_then(Value::as_text);
            if let Some(dlx) = dlx.filter(|dlx| !exchanges.contains(dlx)) {
                findings.push(place, self.undeclared_dlx(declaration, dlx));
            }
        }
    }

    fn undeclared_dlx(&self, queue: &QueueDeclaration, dlx: &str) -> Problem {
        let sentence = format!(
            "{} dead-letters to {}, which this topology does not declare",
            named(&queue.name),
            exchange_named(dlx)
        );
        // Exchanges and queues are easily taken for one another here.
        let hint = if self.contains(dlx) && !queue.arguments.contains(DLK) {
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
fn merge(wishes: Vec<QueueWish>, findings: &mut Findings) -> Vec<Family> {
    let mut families: Vec<Family> = Vec::with_capacity(wishes.len());
    let mut by_name: HashMap<String, usize> = HashMap::with_capacity(wishes.len());
    for (entry, wish) in wishes.into_iter().enumerate() {
        let family = family(wish, entry, findings);
        match by_name.entry(family.source.name.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(families.len());
                families.push(family);
            }
            Entry::Occupied(slot) => {
                if let Some(first) = families.get(*slot.get()).filter(|first| !first.equals(&family)) {
                    findings.push(Place::new(Section::Queues, entry), duplicate(first, &family));
                }
            }
        }
    }
    families
}

fn family(mut wish: QueueWish, entry: usize, findings: &mut Findings) -> Family {
    let place = Place::new(Section::Queues, entry);
    let object = ObjectRef::queue(&wish.name);
    let name_errors = name::check_all(NameKind::Queue, &wish.name);
    for error in &name_errors {
        findings.name_error(place.clone(), object.clone(), error);
    }
    let durable = durable(wish.durable, wish.transient, &object, &named(&wish.name), &place, findings);
    let too_large = table_too_large(&wish.arguments, || object.clone(), || named(&wish.name), &place, findings);
    let kind = queue_type(&mut wish, durable, &place, findings);
    let is_stream = kind == Some(QueueType::Stream);

    let mut dead_letters = Vec::new();
    let wants_dead_letters = wish.dead_letter || wish.dead_letter_to.is_some();
    if wants_dead_letters && is_stream {
        findings.push(place.clone(), on_stream(&wish.name, ProblemCode::DeadLetterOnStream, "dead letters are"));
    } else if let Some(problem) = dead_letter_conflict(&wish) {
        findings.push(place.clone(), problem);
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
                    findings.name_error(place.clone(), object.clone(), &error);
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
        arguments: wish.arguments.sorted(),
    };
    if let Some(kind) = kind
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
    let object = ObjectRef::queue(&wish.name);
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
                let problem = Problem::new(ProblemCode::ArgumentType, object, sentence)
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
        let problem = Problem::new(ProblemCode::QueueTypeConflict, object, sentence)
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
            let problem = Problem::new(ProblemCode::QueueTypeNeedsDurable, object, sentence)
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

fn derived_differs(first: &DeclaredQueue, second: &QueueDeclaration, second_from: Option<&str>) -> Problem {
    let name = &second.name;
    let describe = |queue: &QueueDeclaration, from: Option<&str>| match from {
        Some(source) => format!("({}) as part of {}", describe_queue(queue), named(source)),
        None => format!("({}) by hand", describe_queue(queue)),
    };
    let first = describe(&first.declaration, first.derived_from.as_deref());
    let second = describe(second, second_from);
    let sentence = format!("{} is declared twice: {first} and {second}", named(name));
    Problem::new(ProblemCode::DuplicateQueue, ObjectRef::queue(name), sentence)
        .field("first", first)
        .field("second", second)
        .help("Take the declaration by hand out, or make it equal; a dead-letter queue does not dead-letter in turn.")
}
