//! Exchanges: what is declared, what somebody else declares, and the two that every queue shares.

use super::super::describe::describe_exchange;
use super::super::finding::{Findings, Place, Section, Subject, exchange as named, joined, meant, told};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::tables::{DeclaredExchange, ExternalExchange};
use super::super::wish::{EXCHANGE_TYPES, ExchangeWish};
use super::{durable, table_too_large};
use crate::name::{self, DEAD_LETTER_EXCHANGE, NameKind, RESERVED_PREFIX, RETRY_EXCHANGE, SHARED_EXCHANGE_TYPE};
use crate::rabbitmq::{ExchangeDeclaration, predeclared_exchange};
use crate::value::Value;
use std::collections::HashMap;

/// The argument that names where unroutable messages go.
const ALTERNATE_EXCHANGE: &str = "alternate-exchange";

/// The types that come with a version or a plugin; whether a broker has them is for a plan to find out.
const OTHER_TYPES: [&str; 11] = [
    "x-consistent-hash",
    "x-delayed-message",
    "x-event",
    "x-jms-topic",
    "x-local-random",
    "x-lvc",
    "x-modulus-hash",
    "x-random",
    "x-recent-history",
    "x-rtopic",
    "x-script",
];

enum Known {
    Declared(usize),
    External(usize),
}

/// Every exchange of a topology, by name and in order.
#[derive(Default)]
pub(super) struct Exchanges {
    pub declared: Vec<DeclaredExchange>,
    pub external: Vec<ExternalExchange>,
    /// The document's entry of each declared exchange; none for a derived one.
    entries: Vec<Option<usize>>,
    known: HashMap<String, Known>,
}

impl Exchanges {
    pub fn read(wishes: Vec<ExchangeWish>, findings: &mut Findings) -> Self {
        let mut exchanges = Self::default();
        for (index, wish) in wishes.into_iter().enumerate() {
            let place = Place::new(Section::Exchanges, index);
            if wish.external || wish.name.starts_with(RESERVED_PREFIX) {
                exchanges.add_external(wish, place, findings);
            } else {
                exchanges.add_declared(wish, place, findings);
            }
        }
        exchanges
    }

    fn add_declared(&mut self, mut wish: ExchangeWish, place: Place, findings: &mut Findings) {
        let object = ObjectRef::exchange(&wish.name);
        for error in name::check_all(NameKind::Exchange, &wish.name) {
            findings.name_error(place.clone(), object.clone(), &error);
        }
        let kind = exchange_type(&mut wish, &place, findings);
        add_alternate_exchange(&mut wish, &place, findings);
        let subject = Subject::Exchange(&wish.name);
        table_too_large(&wish.arguments, subject, &place, findings);
        let declaration = ExchangeDeclaration {
            durable: durable(wish.durable, wish.transient, subject, &place, findings),
            kind,
            auto_delete: wish.auto_delete,
            internal: wish.internal,
            arguments: wish.arguments.into_sorted(),
            name: wish.name,
        };
        if [DEAD_LETTER_EXCHANGE, RETRY_EXCHANGE].contains(&declaration.name.as_str()) {
            let ours = shared(&declaration.name);
            if declaration.canonical() != ours.canonical() {
                findings.push(place, shared_differs(&declaration, &describe_exchange(&declaration)));
                return;
            }
        }
        match self.known.get(&declaration.name) {
            None => self.insert(DeclaredExchange { declaration, derived: false }, Some(place.index)),
            Some(Known::Declared(first)) => {
                let first = self.declared.get(*first).map(|first| &first.declaration);
                if let Some(first) = first.filter(|first| first.canonical() != declaration.canonical()) {
                    let both = (describe_exchange(first), describe_exchange(&declaration));
                    findings.push(place, duplicate(&declaration.name, &both.0, &both.1));
                }
            }
            Some(Known::External(_)) => {
                findings.push(place, duplicate(&declaration.name, "external", &describe_exchange(&declaration)));
            }
        }
    }

    fn add_external(&mut self, wish: ExchangeWish, place: Place, findings: &mut Findings) {
        let object = ObjectRef::exchange(&wish.name);
        for error in name::check_all(NameKind::Exchange, &wish.name) {
            if error.code() != "name_reserved" {
                findings.name_error(place.clone(), object.clone(), &error);
            }
        }
        let said: Vec<&str> = [
            (wish.durable == Some(false), "durable"),
            (wish.transient == Some(true), "transient"),
            (wish.auto_delete, "auto_delete"),
            (wish.internal, "internal"),
            (!wish.arguments.is_empty(), "arguments"),
            (wish.alternate_exchange.is_some(), "alternate_exchange"),
        ]
        .into_iter()
        .filter_map(|(said, key)| said.then_some(key))
        .collect();
        if !said.is_empty() {
            let why = if wish.external { "external" } else { "the broker's own" };
            let sentence = format!(
                "{} is {why}, and {} would only hold for one that is declared here",
                named(&wish.name),
                joined(&said, "and")
            );
            let problem = Problem::new(ProblemCode::ExternalDescribed, object.clone(), sentence)
                .field("keys", said)
                .help("Leave only its type: an exchange that somebody else declares is asked for and never declared.");
            findings.push(place.clone(), problem);
        }
        match self.known.get(&wish.name) {
            None => self.insert_external(ExternalExchange { kind: wish.r#type, name: wish.name }),
            Some(Known::External(first)) => {
                let Some(first) = self.external.get_mut(*first) else { return };
                match (&first.kind, wish.r#type) {
                    (_, None) => {}
                    (None, kind) => first.kind = kind,
                    (Some(one), Some(other)) if *one == other => {}
                    (Some(one), Some(other)) => {
                        let problem = duplicate(&wish.name, &format!("external, {one}"), &format!("external, {other}"));
                        findings.push(place, problem);
                    }
                }
            }
            Some(Known::Declared(first)) => {
                let first = self.declared.get(*first).map(|first| describe_exchange(&first.declaration));
                findings.push(place, duplicate(&wish.name, &first.unwrap_or_default(), "external"));
            }
        }
    }

    fn insert(&mut self, exchange: DeclaredExchange, entry: Option<usize>) {
        self.entries.push(entry);
        self.known.insert(exchange.declaration.name.clone(), Known::Declared(self.declared.len()));
        self.declared.push(exchange);
    }

    fn insert_external(&mut self, mut exchange: ExternalExchange) {
        if exchange.kind.is_none() {
            exchange.kind = predeclared_exchange(&exchange.name).map(|known| known.kind);
        }
        self.known.insert(exchange.name.clone(), Known::External(self.external.len()));
        self.external.push(exchange);
    }

    /// Adds `acemq.dlx` or `acemq.retry` at its first need.
    ///
    /// # Errors
    /// When the topology says that somebody else declares it.
    pub fn need_shared(&mut self, name: &str) -> Result<(), Box<Problem>> {
        match self.known.get(name) {
            Some(Known::Declared(_)) => Ok(()),
            Some(Known::External(_)) => Err(Box::new(shared_differs(&shared(name), "external"))),
            None => {
                self.insert(DeclaredExchange { declaration: shared(name), derived: true }, None);
                Ok(())
            }
        }
    }

    /// Whether a binding may use `name`. The broker's own exchanges are there without being named; the first use adds them.
    pub fn resolve(&mut self, name: &str) -> bool {
        if self.known.contains_key(name) {
            return true;
        }
        let reserved = name.starts_with(RESERVED_PREFIX);
        if reserved {
            self.insert_external(ExternalExchange { name: name.to_owned(), kind: None });
        }
        reserved
    }

    /// Whether somebody declares `name`, as far as this topology says.
    pub fn contains(&self, name: &str) -> bool {
        name.is_empty() || name.starts_with(RESERVED_PREFIX) || self.known.contains_key(name)
    }

    /// The type of `name`, where it is known.
    pub fn kind(&self, name: &str) -> Option<&str> {
        match self.known.get(name)? {
            Known::Declared(index) => self.declared.get(*index).map(|exchange| exchange.declaration.kind.as_str()),
            Known::External(index) => self.external.get(*index).and_then(|exchange| exchange.kind.as_deref()),
        }
    }

    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }

    /// Warnings that need every exchange to be known.
    pub fn warn(&self, findings: &mut Findings) {
        for (DeclaredExchange { declaration, .. }, entry) in self.declared.iter().zip(&self.entries) {
            let Some(alternate) = declaration.arguments.get(ALTERNATE_EXCHANGE).and_then(Value::as_text) else {
                continue;
            };
            if !self.contains(alternate) {
                let sentence = format!(
                    "{} hands what it cannot route to {}, which this topology does not declare",
                    named(&declaration.name),
                    named(alternate)
                );
                let problem = Problem::new(
                    ProblemCode::AlternateExchangeUndeclared,
                    ObjectRef::exchange(&declaration.name),
                    sentence,
                )
                .field("exchange", alternate)
                .help(undeclared_help(alternate));
                findings.list.push((entry.map(|entry| Place::new(Section::Exchanges, entry)), problem));
            }
        }
    }
}

/// The way out for a dead-letter or alternate exchange that nobody declares here.
pub(super) fn undeclared_help(name: &str) -> String {
    format!(
        "Declare {}, or list it with external: true when somebody else does; while it is missing, the broker drops these messages in silence.",
        named(name)
    )
}

/// The exchange of that name that every queue shares.
pub(in super::super) fn shared(name: &str) -> ExchangeDeclaration {
    ExchangeDeclaration::durable(name, SHARED_EXCHANGE_TYPE)
}

fn shared_differs(ours: &ExchangeDeclaration, said: &str) -> Problem {
    let wanted = describe_exchange(&shared(&ours.name));
    let sentence = format!("{} is shared by all queues as ({wanted}), and here it is ({said})", named(&ours.name));
    Problem::new(ProblemCode::SharedExchangeDiffers, ObjectRef::exchange(&ours.name), sentence)
        .field("wanted", wanted)
        .field("said", said)
        .help("Take the entry out: dead letters and retries bring the exchange with them.")
}

fn duplicate(name: &str, first: &str, second: &str) -> Problem {
    let sentence = format!("{} is declared twice: ({first}) and ({second})", named(name));
    Problem::new(ProblemCode::DuplicateExchange, ObjectRef::exchange(name), sentence)
        .field("first", first)
        .field("second", second)
        .help("Keep one of the two; declarations that are equal count as one.")
}

fn exchange_type(wish: &mut ExchangeWish, place: &Place, findings: &mut Findings) -> String {
    let object = ObjectRef::exchange(&wish.name);
    let Some(kind) = wish.r#type.take() else {
        let problem =
            Problem::new(ProblemCode::ExchangeTypeMissing, object, format!("{} has no type", named(&wish.name)))
                .help("Add type: direct, fanout, topic or headers; or external: true when somebody else declares it.");
        findings.push(place.clone(), problem);
        return String::new();
    };
    if !EXCHANGE_TYPES.contains(&kind.as_str()) && !OTHER_TYPES.contains(&kind.as_str()) {
        let sentence =
            format!("{} has the type {}, which RabbitMQ does not have", named(&wish.name), name::quoted(&kind));
        let known = EXCHANGE_TYPES.into_iter().chain(OTHER_TYPES);
        let guess = meant(&kind, known).map(|near| format!("Did you mean \"{near}\"? ")).unwrap_or_default();
        let problem = Problem::new(ProblemCode::ExchangeTypeUnknown, object, sentence)
            .field("type", kind.as_str())
            .help(format!(
                "{guess}The types are direct, fanout, topic, headers and those of plugins that are known here: {}.",
                joined(&OTHER_TYPES, "and")
            ));
        findings.push(place.clone().at("type"), problem);
    }
    kind
}

fn add_alternate_exchange(wish: &mut ExchangeWish, place: &Place, findings: &mut Findings) {
    let object = ObjectRef::exchange(&wish.name);
    let by_hand = wish.arguments.get(ALTERNATE_EXCHANGE);
    if let Some(value) = by_hand.filter(|value| !matches!(value, Value::LongStr(_))) {
        let sentence = format!(
            "argument {ALTERNATE_EXCHANGE} of {} is {}, and RabbitMQ takes only the name of an exchange",
            named(&wish.name),
            told(value)
        );
        let problem = Problem::new(ProblemCode::ArgumentType, object.clone(), sentence)
            .field("argument", ALTERNATE_EXCHANGE)
            .help("Write the name as text, or use the key alternate_exchange.");
        findings.push(place.clone().at("arguments").at(ALTERNATE_EXCHANGE), problem);
    }
    let Some(alternate) = wish.alternate_exchange.take() else { return };
    match by_hand {
        None => {
            wish.arguments.insert(ALTERNATE_EXCHANGE, alternate);
        }
        Some(_) => {
            let sentence =
                format!("{} has both alternate_exchange and the argument {ALTERNATE_EXCHANGE}", named(&wish.name));
            let problem = Problem::new(ProblemCode::AlternateExchangeConflict, object, sentence)
                .help("Pick one: the key writes the argument.");
            findings.push(place.clone().at("alternate_exchange"), problem);
        }
    }
}
