//! Replays what real brokers answered: every request is predicted by the engine and compared with the recording.
//!
//! # The file
//! ```json
//! {
//!   "brokers": {"4.3": "4.3.6"},
//!   "cases": [{
//!     "id": "q.ttl.value",
//!     "request": {"existing": {"args": {"x-message-ttl": {"I": 1000}}},
//!                 "queue.declare": "q", "args": {"x-message-ttl": {"I": 2000}}},
//!     "answers": [{"versions": ["4.3"], "outcome": "channel.close", "code": 406, "text": "PRECONDITION_FAILED - …"}]
//!   }]
//! }
//! ```
//! `brokers` gives the exact version behind each label of `versions`; a label without an entry is read as a version itself.
//! Keys that are not named here are ignored, except in a request: there an unknown key may change what was asked, so such a
//! request is not replayable. So is one whose set-up is told in words, unless the [recorder] has
//! [steps](crate::steps) under the same id: these are taken then.
//!
//! **A request** has `steps`, as [`steps`](crate::steps) describes, or one method. A method of one step stands for that step alone.
//! The others:
//!
//! | key | value |
//! |---|---|
//! | `queue.declare`, `exchange.declare` | the name |
//! | `queue.bind` | queue, exchange, routing key |
//! | `declare`, `declare-excl`, `declare-ttl-differs`, `passive` | the name of a queue that is exclusive to another connection |
//!
//! and, where they differ from the default: `durable` (1), `excl`, `auto`, `internal`, `passive` (0), `typ` (`direct`, and of a
//! predeclared exchange its own), `args` (a table), `vhost` (`probe`), `user` (`guest`; another one
//! with its rights: `NAME, configure/write/read PATTERN` or `NAME, configure PATTERN, write PATTERN, read PATTERN`),
//! `default-queue-type` (none).
//! `existing` is what was declared before under that name: absent or null for nothing, a table of the same keys, or the words
//! `exclusive on another connection`. A table maps names to `{TYPE: VALUE}` with AMQP's type letters. A name that is not
//! UTF-8 is written `bytes:` and its bytes in hexadecimal.
//!
//! **An answer** has an `outcome` (`channel.close`, `connection.close` or the method's `-ok`), `code` and `text` of a refusal,
//! `name` of a declared queue. Bytes of a text that are no UTF-8 are written `\xHH`.

mod recording;
mod request;
mod steps;

pub use recording::{Answer, Case, Recording};

use crate::recorder;
use crate::steps::Steps;
use acemq_core::rabbitmq::{Refused, Scope, Version};
use request::{Outcome, Scene};
use std::collections::BTreeMap;
use std::fmt;

/// What to replay and how.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only answers of this broker, by its label or its version.
    pub rabbitmq: Option<String>,
    /// Predict a broker that denies transient non-exclusive queues, as upstream's 4.3 does by default.
    pub deny_transient: bool,
}

/// How recording and prediction compare.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// By the label of the broker, in the order of their versions.
    pub brokers: Vec<Tally>,
    /// Everything that was predicted wrongly.
    pub disagreements: Vec<Disagreement>,
    /// Id and reason of each request that has no steps here.
    pub not_replayable: Vec<(String, String)>,
}

/// One broker's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// As the recording calls it.
    pub label: String,
    /// Whose rules predicted.
    pub version: Version,
    /// Answers that were predicted exactly.
    pub agree: usize,
    /// Answers that were predicted.
    pub of: usize,
}

/// A wrong prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disagreement {
    /// The case.
    pub id: String,
    /// The broker's label.
    pub label: String,
    /// The broker's version.
    pub version: Version,
    /// What the broker answered.
    pub recorded: String,
    /// What the engine says.
    pub predicted: String,
}

/// Predicts every answer of `recording` that `options` select.
///
/// # Errors
/// A broker that the recording does not have, or a label that is no version.
pub fn replay(recording: &Recording, options: &Options) -> Result<Report, String> {
    let mut brokers = BTreeMap::new();
    for label in recording.labels() {
        let version = recording.version(label)?;
        let wanted = options.rabbitmq.as_deref().is_none_or(|only| only == label || only == version.to_string());
        if wanted {
            brokers.insert((version, label.to_owned()), (0_usize, 0_usize));
        }
    }
    if brokers.is_empty() {
        let known: Vec<String> = recording.labels().into_iter().map(str::to_owned).collect();
        let asked = options.rabbitmq.as_deref().unwrap_or("any broker");
        return Err(format!("the recording has no answers of {asked}; it has those of: {}", known.join(", ")));
    }
    let mut report = Report::default();
    let told = told();
    for case in &recording.cases {
        let scene = match Scene::read(&case.id, &case.request, &told) {
            Ok(scene) => scene,
            Err(why) => {
                report.not_replayable.push((case.id.clone(), why));
                continue;
            }
        };
        for answer in &case.answers {
            if answer.is_about_the_channel() {
                let why = "the answer is about the state of the channel, which the request does not tell".to_owned();
                report.not_replayable.push((case.id.clone(), why));
                continue;
            }
            for ((version, label), (agree, of)) in &mut brokers {
                if !answer.versions.contains(label) {
                    continue;
                }
                let predicted = scene.predict(*version, options);
                if let (Scene::Told(_), Outcome::SetUpRefused(refused)) = (&scene, &predicted) {
                    let why = format!("{version} refuses what comes before it: {:?}", refused.text);
                    report.not_replayable.push((case.id.clone(), why));
                    continue;
                }
                *of += 1;
                if agrees(answer, &predicted) {
                    *agree += 1;
                } else {
                    report.disagreements.push(Disagreement {
                        id: case.id.clone(),
                        label: label.clone(),
                        version: *version,
                        recorded: answer.to_string(),
                        predicted: predicted.to_string(),
                    });
                }
            }
        }
    }
    report.brokers =
        brokers.into_iter().map(|((version, label), (agree, of))| Tally { label, version, agree, of }).collect();
    Ok(report)
}

/// The recorder's steps, by the ids of their cases.
fn told() -> BTreeMap<String, Steps> {
    let steps = |case: recorder::Case| match case.question {
        recorder::Question::Steps(steps) => Some((case.id, steps)),
        recorder::Question::Declare(_) => None,
    };
    recorder::cases::all().into_iter().filter_map(steps).collect()
}

fn agrees(answer: &Answer, predicted: &Outcome) -> bool {
    match predicted {
        Outcome::Ok { method, name, messages } => {
            answer.outcome == format!("{method}-ok")
                && (answer.messages.is_none() || messages.is_none() || answer.messages == *messages)
                && match (&answer.name, name) {
                    (Some(recorded), Some(name)) if name.is_empty() => recorded.starts_with("amq.gen-"),
                    (Some(recorded), Some(name)) => recorded == name,
                    _ => true,
                }
        }
        Outcome::Refused(refused) => {
            answer.outcome == closes(refused)
                && answer.code == Some(refused.code)
                && answer.text.as_deref().is_some_and(|text| recording::lossy(text) == refused.text)
        }
        Outcome::Returned => answer.outcome == "basic.return" && answer.code == Some(312),
        Outcome::Published => answer.outcome == "basic.ack",
        Outcome::Nothing => answer.outcome == "basic.get-empty",
        Outcome::SetUpRefused(_) => false,
    }
}

fn closes(refused: &Refused) -> &'static str {
    match refused.scope {
        Scope::Channel => "channel.close",
        Scope::Connection => "connection.close",
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok { method, name: Some(name), .. } => write!(f, "{method}-ok {name:?}"),
            Self::Ok { method, messages: Some(messages), .. } => write!(f, "{method}-ok, {messages} messages"),
            Self::Ok { method, .. } => write!(f, "{method}-ok"),
            Self::Returned => f.write_str("basic.return 312 NO_ROUTE"),
            Self::Published => f.write_str("basic.ack"),
            Self::Nothing => f.write_str("basic.get-empty"),
            Self::Refused(refused) => write!(f, "{} {} {:?}", closes(refused), refused.code, refused.text),
            Self::SetUpRefused(refused) => write!(f, "what exists is refused already: {:?}", refused.text),
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.outcome)?;
        if let Some(code) = self.code {
            write!(f, " {code}")?;
        }
        match self.text.as_ref().or(self.name.as_ref()) {
            Some(text) => write!(f, " {text:?}"),
            None => Ok(()),
        }
    }
}

impl Report {
    /// Whether every prediction was right.
    pub fn is_clean(&self) -> bool {
        self.disagreements.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for wrong in &self.disagreements {
            writeln!(f, "{}: RabbitMQ {}", wrong.id, wrong.version)?;
            writeln!(f, "  recorded  {}", wrong.recorded)?;
            writeln!(f, "  predicted {}", wrong.predicted)?;
        }
        for (id, why) in &self.not_replayable {
            writeln!(f, "not replayable: {id}: {why}")?;
        }
        for tally in &self.brokers {
            writeln!(f, "RabbitMQ {}: {} of {} agree", tally.version, tally.agree, tally.of)?;
        }
        Ok(())
    }
}
