//! What a recorded request asks, and the engine's answer to it.

use super::Options;
use super::recording::Object;
use super::steps;
use crate::steps::Steps;
use acemq_core::rabbitmq::{
    BindingDeclaration, Conditions, ExchangeDeclaration, ExistingQueue, Owner, Permissions, QueueDeclaration, Refused,
    Version, bind, declare_exchange, declare_exchange_passively, declare_queue, declare_queue_passively, short_string,
    stored_name,
};
use acemq_core::value::{Table, Value};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The vhost and user of requests that name none.
const VHOST: &str = "probe";
const USER: &str = "guest";
const EXCLUSIVE_ELSEWHERE: &str = "exclusive on another connection";

/// The exchanges that every vhost has.
const PREDECLARED: [(&str, &str); 6] = [
    ("amq.direct", "direct"),
    ("amq.fanout", "fanout"),
    ("amq.headers", "headers"),
    ("amq.match", "headers"),
    ("amq.rabbitmq.trace", "topic"),
    ("amq.topic", "topic"),
];

/// What the engine says that the broker answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The method's `-ok`, and the name of a declared queue.
    Ok {
        /// `queue.declare` and the like.
        method: &'static str,
        /// The queue's name; empty for one that the broker makes up.
        name: Option<String>,
        /// Messages in the queue, where that is known.
        messages: Option<u32>,
    },
    /// A message that nobody got came back.
    Returned,
    /// A message was confirmed.
    Published,
    /// There was no message to get.
    Nothing,
    /// The refusal.
    Refused(Refused),
    /// What the request says to exist could not have been declared.
    SetUpRefused(Refused),
}

/// A request with all that it depends on.
#[derive(Debug)]
pub enum Scene {
    /// One declare or bind, predicted from what exists.
    One(Box<Single>),
    /// Several requests, taken on the embedded broker.
    Steps(Steps),
    /// The same, with steps that the recorder tells.
    Told(Steps),
}

/// A declare or bind with all that it depends on.
#[derive(Debug)]
pub struct Single {
    vhost: String,
    user: String,
    permissions: Permissions,
    default_queue_type: Option<String>,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Queue { name: Vec<u8>, passive: bool, request: Properties, existing: Existing },
    Exchange { name: Vec<u8>, passive: bool, request: Properties, existing: Existing },
    Bind { queue: Vec<u8>, exchange: Vec<u8>, routing_key: Vec<u8>, arguments: Table },
}

#[derive(Debug)]
enum Existing {
    Nothing,
    Declared(Properties),
    ExclusiveElsewhere,
}

/// The properties of a declaration, for queues and exchanges alike.
#[derive(Debug, Clone)]
struct Properties {
    durable: bool,
    exclusive: bool,
    auto_delete: bool,
    internal: bool,
    /// Absent: `direct`, or the own type of a predeclared exchange.
    kind: Option<String>,
    arguments: Table,
}

impl Default for Properties {
    fn default() -> Self {
        Self {
            durable: true,
            exclusive: false,
            auto_delete: false,
            internal: false,
            kind: None,
            arguments: Table::new(),
        }
    }
}

impl Properties {
    /// Takes `key` when it is one of the properties.
    fn take(&mut self, key: &str, value: &RawValue) -> Result<bool, String> {
        match key {
            "durable" => self.durable = flag(value)?,
            "excl" => self.exclusive = flag(value)?,
            "auto" => self.auto_delete = flag(value)?,
            "internal" => self.internal = flag(value)?,
            "typ" => self.kind = Some(parse(value)?),
            "args" => self.arguments = table(value)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn queue(&self, name: &str) -> QueueDeclaration {
        QueueDeclaration {
            name: name.to_owned(),
            durable: self.durable,
            exclusive: self.exclusive,
            auto_delete: self.auto_delete,
            arguments: self.arguments.clone(),
        }
    }

    fn exchange(&self, name: &str) -> ExchangeDeclaration {
        let own = predeclared(name).map(|exchange| exchange.kind);
        ExchangeDeclaration {
            name: name.to_owned(),
            kind: self.kind.clone().or(own).unwrap_or_else(|| "direct".to_owned()),
            durable: self.durable,
            auto_delete: self.auto_delete,
            internal: self.internal,
            arguments: self.arguments.clone(),
        }
    }
}

impl Scene {
    /// Reads the request of a case. `told` gives the steps of requests whose set-up their own file tells in words only.
    ///
    /// # Errors
    /// Why it cannot be replayed.
    pub fn read(id: &str, request: &Object<Box<RawValue>>, told: &BTreeMap<String, Steps>) -> Result<Self, String> {
        if request.0.iter().any(|(key, _)| key == "steps") {
            return steps::read(&request.0).map(Self::Steps);
        }
        let own = match Single::read(request) {
            Ok(single) => return Ok(Self::One(Box::new(single))),
            Err(why) => why,
        };
        let step = steps::read_step(&request.0).ok();
        let is_same = |steps: &&Steps| match (&step, steps.steps.last()) {
            (Some(step), Some(last)) => step.ask.method() == last.ask.method(),
            _ => true,
        };
        match (told.get(id).filter(is_same), step) {
            (Some(steps), _) => Ok(Self::Told(steps.clone())),
            (None, Some(step)) => Ok(Self::Steps(Steps { steps: vec![step], ..Steps::default() })),
            (None, None) => Err(own),
        }
    }

    /// What a broker of `version` answers.
    pub fn predict(&self, version: Version, options: &Options) -> Outcome {
        match self {
            Self::One(single) => single.predict(version, options),
            Self::Steps(taken) | Self::Told(taken) => steps::predict(taken, version, options),
        }
    }
}

impl Single {
    fn read(request: &Object<Box<RawValue>>) -> Result<Self, String> {
        let mut properties = Properties::default();
        let mut existing = Existing::Nothing;
        let mut method: Option<(&str, &RawValue)> = None;
        let mut passive = false;
        let mut scene = Self {
            vhost: VHOST.to_owned(),
            user: USER.to_owned(),
            permissions: Permissions::all(),
            default_queue_type: None,
            step: Step::Bind { queue: vec![], exchange: vec![], routing_key: vec![], arguments: Table::new() },
        };
        for (key, value) in &request.0 {
            match key.as_str() {
                "vhost" => scene.vhost = parse(value)?,
                "user" => (scene.user, scene.permissions) = user(&parse::<String>(value)?)?,
                "default-queue-type" => scene.default_queue_type = Some(parse(value)?),
                "existing" => existing = read_existing(value)?,
                "passive" if flag(value).is_ok() => passive = flag(value)?,
                "queue.declare"
                | "exchange.declare"
                | "queue.bind"
                | "declare"
                | "declare-excl"
                | "declare-ttl-differs"
                | "passive" => {
                    if method.replace((key, value)).is_some() {
                        return Err("it has more than one method".to_owned());
                    }
                }
                _ if properties.take(key, value)? => {}
                _ => return Err(format!("no steps for \"{key}\"")),
            }
        }
        let (method, value) = method.ok_or_else(|| "it names no method".to_owned())?;
        scene.step = match method {
            "queue.declare" => Step::Queue { name: name(value)?, passive, request: properties, existing },
            "exchange.declare" => match existing {
                Existing::ExclusiveElsewhere => return Err("an exchange is never exclusive".to_owned()),
                existing => Step::Exchange { name: name(value)?, passive, request: properties, existing },
            },
            "queue.bind" => match existing {
                Existing::Nothing => binding(value, properties.arguments)?,
                _ => return Err("no steps for a binding to what exists".to_owned()),
            },
            short => match existing {
                Existing::ExclusiveElsewhere => {
                    properties.exclusive = short == "declare-excl";
                    if short == "declare-ttl-differs" {
                        properties.arguments.insert("x-message-ttl", 1);
                    }
                    Step::Queue { name: name(value)?, passive: short == "passive", request: properties, existing }
                }
                _ => return Err(format!("\"{short}\" tells nothing of what exists")),
            },
        };
        Ok(scene)
    }

    fn predict(&self, version: Version, options: &Options) -> Outcome {
        let mut conditions = Conditions::new(version, self.vhost.as_str());
        conditions.user.clone_from(&self.user);
        conditions.permissions = self.permissions.clone();
        conditions.default_queue_type.clone_from(&self.default_queue_type);
        conditions.transient_nonexclusive = !options.deny_transient;
        // What exists was declared by somebody who may.
        let owner = Conditions { permissions: Permissions::all(), ..conditions.clone() };
        match &self.step {
            Step::Queue { name, passive, request, existing } => {
                predict_queue(&conditions, &owner, name, *passive, request, existing)
            }
            Step::Exchange { name, passive, request, existing } => {
                predict_exchange(&conditions, &owner, name, *passive, request, existing)
            }
            Step::Bind { queue, exchange, routing_key, arguments } => {
                predict_bind(&conditions, queue, exchange, routing_key, arguments)
            }
        }
        .unwrap_or_else(Outcome::Refused)
    }
}

fn predict_queue(
    conditions: &Conditions,
    owner: &Conditions,
    name: &[u8],
    passive: bool,
    request: &Properties,
    existing: &Existing,
) -> Result<Outcome, Refused> {
    let name = short_string(name)?;
    let (stored, whose) = match existing {
        Existing::Nothing => (None, Owner::Nobody),
        Existing::Declared(properties) => {
            let whose = if properties.exclusive { Owner::Requester } else { Owner::Nobody };
            match declare_queue(owner, None, &properties.queue(name)) {
                Ok(stored) => (Some(stored), whose),
                Err(refused) => return Ok(Outcome::SetUpRefused(refused)),
            }
        }
        Existing::ExclusiveElsewhere => {
            let elsewhere = Properties { exclusive: true, ..Properties::default() };
            (Some(elsewhere.queue(&stored_name(name))), Owner::Another)
        }
    };
    let existing = stored.as_ref().map(|declaration| ExistingQueue { declaration, owner: whose });
    if passive {
        declare_queue_passively(conditions, existing, name)?;
    } else {
        declare_queue(conditions, existing, &request.queue(name))?;
    }
    Ok(Outcome::Ok { method: "queue.declare", name: Some(stored_name(name).into_owned()), messages: None })
}

fn predict_exchange(
    conditions: &Conditions,
    owner: &Conditions,
    name: &[u8],
    passive: bool,
    request: &Properties,
    existing: &Existing,
) -> Result<Outcome, Refused> {
    let name = short_string(name)?;
    let stored = match existing {
        Existing::Declared(properties) => match declare_exchange(owner, None, &properties.exchange(name)) {
            Ok(stored) => Some(stored),
            Err(refused) => return Ok(Outcome::SetUpRefused(refused)),
        },
        _ => predeclared(name),
    };
    if passive {
        declare_exchange_passively(conditions, stored.as_ref(), name)?;
    } else {
        declare_exchange(conditions, stored.as_ref(), &request.exchange(name))?;
    }
    Ok(Outcome::Ok { method: "exchange.declare", name: None, messages: None })
}

fn predict_bind(
    conditions: &Conditions,
    queue: &[u8],
    exchange: &[u8],
    routing_key: &[u8],
    arguments: &Table,
) -> Result<Outcome, Refused> {
    let mut binding =
        BindingDeclaration::queue(short_string(exchange)?, short_string(queue)?, short_string(routing_key)?);
    binding.arguments = arguments.clone();
    bind(conditions, &binding, predeclared(&binding.source).as_ref(), false, false)?;
    Ok(Outcome::Ok { method: "queue.bind", name: None, messages: None })
}

pub(super) fn predeclared(name: &str) -> Option<ExchangeDeclaration> {
    let (name, kind) = PREDECLARED.iter().find(|(known, _)| *known == name)?;
    let mut exchange = ExchangeDeclaration::durable(*name, *kind);
    exchange.internal = *name == "amq.rabbitmq.trace";
    Some(exchange)
}

pub(super) fn parse<'a, T: Deserialize<'a>>(value: &'a RawValue) -> Result<T, String> {
    serde_json::from_str(value.get()).map_err(|error| format!("{}: {error}", value.get()))
}

pub(super) fn flag(value: &RawValue) -> Result<bool, String> {
    match value.get() {
        "0" | "false" => Ok(false),
        "1" | "true" => Ok(true),
        other => Err(format!("{other} is neither 0 nor 1")),
    }
}

/// `NAME`, with what it may do: `NAME, configure/write/read PATTERN`, or each right with a pattern of its own. The pattern ends
/// where the next right begins, so it may hold anything else.
pub(super) fn user(text: &str) -> Result<(String, Permissions), String> {
    let untold = || format!("what user \"{text}\" may do is not told");
    let Some((name, rights)) = text.split_once(", ") else {
        return if text == USER { Ok((USER.to_owned(), Permissions::all())) } else { Err(untold()) };
    };
    let [configure, write, read] = match rights.strip_prefix("configure/write/read ") {
        Some(pattern) => [pattern; 3],
        None => {
            let (configure, rest) =
                rights.strip_prefix("configure ").and_then(|rest| rest.split_once(", write ")).ok_or_else(untold)?;
            let (write, read) = rest.split_once(", read ").ok_or_else(untold)?;
            [configure, write, read]
        }
    };
    let permissions = Permissions::new(configure, write, read).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), permissions))
}

fn read_existing(value: &RawValue) -> Result<Existing, String> {
    if value.get() == "null" {
        return Ok(Existing::Nothing);
    }
    if value.get().starts_with('"') {
        return match parse::<String>(value)?.as_str() {
            EXCLUSIVE_ELSEWHERE => Ok(Existing::ExclusiveElsewhere),
            other => Err(format!("no steps for what exists: \"{other}\"")),
        };
    }
    let mut properties = Properties::default();
    for (key, value) in &parse::<Object<Box<RawValue>>>(value)?.0 {
        if !properties.take(key, value)? {
            return Err(format!("no steps for \"{key}\" of what exists"));
        }
    }
    Ok(Existing::Declared(properties))
}

fn binding(value: &RawValue, arguments: Table) -> Result<Step, String> {
    let [queue, exchange, routing_key] = parse::<[Box<RawValue>; 3]>(value)?;
    Ok(Step::Bind { queue: name(&queue)?, exchange: name(&exchange)?, routing_key: name(&routing_key)?, arguments })
}

pub(super) fn name(value: &RawValue) -> Result<Vec<u8>, String> {
    let text: String = parse(value)?;
    let Some(hex) = text.strip_prefix("bytes:") else { return Ok(text.into_bytes()) };
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap_or_default());
    digits.map(|pair| u8::from_str_radix(pair, 16).map_err(|_| format!("\"{text}\" is not in hexadecimal"))).collect()
}

pub(super) fn table(value: &RawValue) -> Result<Table, String> {
    let mut table = Table::new();
    for (name, value) in &parse::<Object<Box<RawValue>>>(value)?.0 {
        table.insert(name.as_str(), typed(value)?);
    }
    Ok(table)
}

/// `{"I": 5}`
fn typed(value: &RawValue) -> Result<Value, String> {
    let entries = parse::<Object<Box<RawValue>>>(value)?.0;
    let [(letter, value)] = entries.as_slice() else {
        return Err(format!("{} is no value with its type", value.get()));
    };
    Ok(match letter.as_str() {
        "t" => Value::Bool(parse(value)?),
        "b" => Value::I8(parse(value)?),
        "B" => Value::U8(parse(value)?),
        "s" => Value::I16(parse(value)?),
        "u" => Value::U16(parse(value)?),
        "I" => Value::I32(parse(value)?),
        "i" => Value::U32(parse(value)?),
        "l" | "L" => Value::I64(parse(value)?),
        "f" => Value::F32(parse(value)?),
        "d" => Value::F64(parse(value)?),
        "T" => Value::Timestamp(parse(value)?),
        "D" => {
            let (scale, unscaled) = parse(value)?;
            Value::Decimal { scale, unscaled }
        }
        "S" => Value::LongStr(name(value)?),
        "x" => Value::Binary(name(value)?),
        "V" => Value::Void,
        "F" => Value::Table(table(value)?),
        "A" => {
            Value::Array(parse::<Vec<Box<RawValue>>>(value)?.iter().map(|item| typed(item)).collect::<Result<_, _>>()?)
        }
        other => return Err(format!("\"{other}\" is no AMQP type")),
    })
}
