//! Operations on names.

use super::{Failure, Request};
use crate::name::{self, NameKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The codes of a bad name.
pub(super) const NAME_CODES: &[&str] = &["name_empty", "name_too_long", "name_reserved", "name_line_break"];

/// `name.check`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckName {
    /// What is named.
    pub kind: Named,
    /// The name.
    pub name: String,
}

/// What has a name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Named {
    /// A queue, or a stream.
    Queue,
    /// An exchange.
    Exchange,
}

impl Request for CheckName {
    type Answer = CheckedName;
    const NAME: &'static str = "name.check";
    const ABOUT: &'static str = "Whether RabbitMQ takes a name as it stands, for something that is to be declared.";
    const CODES: &'static [&'static [&'static str]] = &[NAME_CODES];

    fn answer(self) -> Result<CheckedName, Failure> {
        let kind = match self.kind {
            Named::Queue => NameKind::Queue,
            Named::Exchange => NameKind::Exchange,
        };
        match Failure::of(name::check_all(kind, &self.name).into_iter().map(Into::into)) {
            Some(failure) => Err(failure),
            None => Ok(CheckedName { bytes: self.name.len(), shown: name::shown(&self.name).into_owned() }),
        }
    }
}

/// A name that RabbitMQ takes.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CheckedName {
    /// Its length in UTF-8.
    pub bytes: usize,
    /// As people see it: control characters escaped.
    pub shown: String,
}

/// `name.delay`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayText {
    /// Milliseconds.
    pub delay_ms: u64,
}

impl Request for DelayText {
    type Answer = TextAnswer;
    const NAME: &'static str = "name.delay";
    const ABOUT: &'static str = "The exact text of a delay in the name of a retry rung.";
    const CODES: &'static [&'static [&'static str]] = &[&["delay_zero"]];

    fn answer(self) -> Result<TextAnswer, Failure> {
        Ok(TextAnswer { text: name::delay(self.delay_ms)? })
    }
}

/// A text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextAnswer {
    /// It.
    pub text: String,
}

/// `name.implied`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImpliedNames {
    /// The queue.
    pub queue: String,
}

/// The names that a queue implies, whatever its retries.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DerivedNames {
    /// Where its rejected messages go.
    pub dead_letter_queue: String,
    /// Where its messages are set aside for a person.
    pub parked_queue: String,
    /// The exchange that leads to both.
    pub dead_letter_exchange: &'static str,
    /// The exchange that leads back from its retry rungs.
    pub retry_exchange: &'static str,
}

impl Request for ImpliedNames {
    type Answer = DerivedNames;
    const NAME: &'static str = "name.implied";
    const ABOUT: &'static str = "The dead-letter queue, the parked queue and the shared exchanges of a queue.";
    const CODES: &'static [&'static [&'static str]] = &[NAME_CODES];

    fn answer(self) -> Result<DerivedNames, Failure> {
        match (name::dead_letter_queue(&self.queue), name::parked_queue(&self.queue)) {
            (Ok(dead_letter_queue), Ok(parked_queue)) => Ok(DerivedNames {
                dead_letter_queue,
                parked_queue,
                dead_letter_exchange: name::DEAD_LETTER_EXCHANGE,
                retry_exchange: name::RETRY_EXCHANGE,
            }),
            // The longer suffix: what makes room for it makes room for both.
            (_, Err(error)) | (Err(error), Ok(_)) => Err(error.into()),
        }
    }
}

/// `name.retry_queue`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryQueueName {
    /// The queue whose messages wait.
    pub queue: String,
    /// How long, in milliseconds.
    pub delay_ms: u64,
}

impl Request for RetryQueueName {
    type Answer = NameAnswer;
    const NAME: &'static str = "name.retry_queue";
    const ABOUT: &'static str = "The name of a retry rung.";
    const CODES: &'static [&'static [&'static str]] = &[&["delay_zero"], NAME_CODES];

    fn answer(self) -> Result<NameAnswer, Failure> {
        Ok(NameAnswer { name: name::retry_queue(&self.queue, self.delay_ms)? })
    }
}

/// A name.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NameAnswer {
    /// It.
    pub name: String,
}
