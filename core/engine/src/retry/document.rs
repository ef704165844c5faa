//! A policy laid open: `acemq.retry/1` and its text.

use super::{Decision, GiveUpReason, Ladder, RetryPolicy, Rung, Schedule};
use crate::name::{Delay, shown};
use crate::rabbitmq::{BindingTable, ExchangeTable, QueueTable};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// How many waits are shown of a long schedule.
const SHOWN_WAITS: usize = 100;

/// A failed delivery to decide about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The number of the delivery, from 1.
    pub attempt: u32,
    /// Milliseconds since the message was first seen, where that is known.
    pub age_ms: Option<u64>,
    /// The random number in [0, 1) for the jitter; 0.5 is none.
    pub u: f64,
}

/// `acemq.retry/1`: what a policy means, with the ladder of a queue and a decision where they are asked for.
///
/// Serialises as the document, and prints (`Display`) as its text.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RetryDocument {
    format: &'static str,
    policy: RetryPolicy,
    max_attempts: u32,
    schedule_ms: Waits,
    entries: u32,
    complete: bool,
    broker_rungs_ms: Vec<u64>,
    jitter: f64,
    threshold_ms: u64,
    max_age_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ladder: Option<LadderDocument>,
    #[serde(flatten)]
    decision: Option<DecisionDocument>,
}

impl RetryDocument {
    /// The document of a policy. A schedule of more than 100 waits is cut, unless `all` of it is wanted.
    pub fn new(policy: &RetryPolicy, all: bool) -> Self {
        let schedule = policy.schedule();
        let shown = if all { schedule.len() as usize } else { SHOWN_WAITS.min(schedule.len() as usize) };
        Self {
            format: "acemq.retry/1",
            policy: policy.clone(),
            max_attempts: policy.max_attempts(),
            schedule_ms: Waits { schedule: schedule.clone(), shown },
            entries: schedule.len(),
            complete: shown == schedule.len() as usize,
            broker_rungs_ms: policy.broker_delays().to_vec(),
            jitter: policy.jitter(),
            threshold_ms: policy.threshold_ms(),
            max_age_ms: policy.give_up_after_ms(),
            ladder: None,
            decision: None,
        }
    }

    /// This document with the ladder of a queue: names and tables.
    #[must_use]
    pub fn with_ladder(mut self, ladder: &Ladder) -> Self {
        if let Some(decision) = &mut self.decision {
            decision.name_rung(ladder);
        }
        self.ladder = Some(ladder.clone().into());
        self
    }

    /// This document with the decision for one failed delivery, at its top level. The rung has a name where there is a
    /// ladder.
    #[must_use]
    pub fn with_decision(mut self, question: Question) -> Self {
        let ladder = self.ladder.as_ref().map(|ladder| &ladder.0);
        self.decision = Some(DecisionDocument::new(&self.policy, question, ladder));
        self
    }
}

/// The waits that are shown.
#[derive(Debug, Clone)]
struct Waits {
    schedule: Schedule,
    shown: usize,
}

impl Serialize for Waits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.schedule.iter().take(self.shown))
    }
}

impl JsonSchema for Waits {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<u64>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<u64>::json_schema(generator)
    }
}

/// A ladder with its tables: `{"queue", "rungs": […], "exchange", "binding"}`.
#[derive(Debug, Clone)]
pub struct LadderDocument(Ladder);

impl From<Ladder> for LadderDocument {
    fn from(ladder: Ladder) -> Self {
        Self(ladder)
    }
}

impl Serialize for LadderDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (exchange, binding) = (self.0.exchange(), self.0.home_binding());
        LadderTables {
            queue: self.0.queue(),
            rungs: self.0.rungs().iter().map(RungTable::of).collect(),
            exchange: exchange.as_ref().map(ExchangeTable::of),
            binding: binding.as_ref().map(BindingTable::of),
        }
        .serialize(serializer)
    }
}

impl JsonSchema for LadderDocument {
    fn schema_name() -> Cow<'static, str> {
        "Ladder".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        LadderTables::json_schema(generator)
    }
}

/// The rungs of a queue, shortest first, and what leads back from them; `null` without rungs.
#[derive(Debug, Serialize, JsonSchema)]
struct LadderTables<'a> {
    queue: &'a str,
    rungs: Vec<RungTable<'a>>,
    exchange: Option<ExchangeTable<'a>>,
    binding: Option<BindingTable<'a>>,
}

/// A rung: a queue that holds a message for `delay_ms`.
#[derive(Debug, Serialize, JsonSchema)]
struct RungTable<'a> {
    delay_ms: u64,
    #[serde(flatten)]
    queue: QueueTable<'a>,
}

impl<'a> RungTable<'a> {
    fn of(rung: &'a Rung) -> Self {
        Self { delay_ms: rung.delay_ms, queue: QueueTable::of(&rung.queue) }
    }
}

/// A decision as a document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionDocument {
    /// Whether the message is tried again.
    pub retry: bool,
    /// Why not: `attempts_exhausted` or `too_old`.
    pub reason: Option<&'static str>,
    /// How long it waits before that.
    pub wait_ms: u64,
    /// Whether it waits on a rung.
    pub in_broker: bool,
    /// The rung's name, where the queue is known.
    pub rung: Option<String>,
    /// What it is set aside with.
    pub give_up_text: Option<String>,
    #[serde(skip)]
    question: Question,
}

impl DecisionDocument {
    /// The decision of a policy, with the rung's name where there is a ladder.
    pub fn new(policy: &RetryPolicy, question: Question, ladder: Option<&Ladder>) -> Self {
        let (reason, wait_ms, in_broker) = match policy.decide(question.attempt, question.age_ms, question.u) {
            Decision::GiveUp(reason) => (Some(reason), 0, false),
            Decision::Retry { wait_ms, in_broker } => (None, wait_ms, in_broker),
        };
        let mut document = Self {
            retry: reason.is_none(),
            reason: reason.map(GiveUpReason::code),
            wait_ms,
            in_broker,
            rung: None,
            give_up_text: reason.map(|reason| policy.give_up_text(reason)),
            question,
        };
        if let Some(ladder) = ladder {
            document.name_rung(ladder);
        }
        document
    }

    fn name_rung(&mut self, ladder: &Ladder) {
        if self.in_broker {
            self.rung = ladder.rung_for(self.wait_ms).map(|rung| rung.name().to_owned());
        }
    }
}

impl fmt::Display for RetryDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.policy)?;
        writeln!(f, "  attempts   {}", self.max_attempts)?;
        let waits = self.schedule_ms.schedule.iter().take(self.schedule_ms.shown);
        write!(f, "  waits      {}", Delays(waits))?;
        if !self.complete {
            write!(
                f,
                ", … ({} in all, the last {})",
                self.entries,
                Delay(self.schedule_ms.schedule.last().unwrap_or_default())
            )?;
        }
        match self.threshold_ms {
            0 => writeln!(f, "\n  in broker  never")?,
            from => {
                writeln!(f, "\n  in broker  from {}: {}", Delay(from), Delays(self.broker_rungs_ms.iter().copied()))?
            }
        }
        writeln!(f, "  jitter     {} of a wait in the consumer", self.jitter)?;
        match self.max_age_ms {
            None => writeln!(f, "  age limit  none")?,
            Some(limit) => writeln!(f, "  age limit  {}", Delay(limit))?,
        }
        if let Some(LadderDocument(ladder)) = &self.ladder {
            writeln!(f, "rungs of {}:", shown(ladder.queue()))?;
            for rung in ladder.rungs() {
                write!(f, "  {}", shown(rung.name()))?;
                for (index, (name, value)) in rung.queue.arguments.iter().enumerate() {
                    let value = value.as_text().map_or_else(|| value.to_json(), |text| shown(text).into_owned());
                    write!(f, "{}{name}={value}", if index == 0 { "  " } else { ", " })?;
                }
                writeln!(f)?;
            }
            if ladder.rungs().is_empty() {
                writeln!(f, "  none")?;
            }
        }
        match &self.decision {
            Some(decision) => writeln!(f, "{decision}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for DecisionDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after attempt {}", self.question.attempt.max(1))?;
        if let Some(age_ms) = self.question.age_ms {
            write!(f, " at an age of {}", Delay(age_ms))?;
        }
        match (&self.give_up_text, self.in_broker, &self.rung) {
            (Some(text), ..) => write!(f, ": give up, {text}"),
            (None, true, Some(rung)) => write!(f, ": wait {} in the broker, on {}", Delay(self.wait_ms), shown(rung)),
            (None, true, None) => write!(f, ": wait {} in the broker", Delay(self.wait_ms)),
            (None, false, _) => write!(f, ": wait {} in the consumer", Delay(self.wait_ms)),
        }
    }
}

/// Delays separated by commas, or `none`.
struct Delays<I>(I);

impl<I: Iterator<Item = u64> + Clone> fmt::Display for Delays<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, delay_ms) in self.0.clone().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, Delay(delay_ms))?;
        }
        if self.0.clone().next().is_none() { f.write_str("none") } else { Ok(()) }
    }
}
