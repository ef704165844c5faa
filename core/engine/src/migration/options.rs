//! How a queue is replaced.

use super::error::MigrationError;
use crate::name::{nearest, quoted};
use crate::retry::parse_duration;
use serde::Deserialize;
use serde_json::{Value as Json, json};

/// By which sequence a queue is replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Method {
    /// An exchange of type fanout is put between the sources and the queue; its alternate exchange, an argument, leads to the
    /// new queue. Removing one binding switches everything at once. Needs no right to set policies.
    #[default]
    Fanout,
    /// Both queues are bound for a moment: every message of that moment comes twice. For consumers that do not mind.
    Overlap,
    /// The exchange in between has its source's type, and a policy gives it the alternate exchange.
    Policy,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Fanout, Self::Overlap, Self::Policy];

    /// As files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fanout => "fanout",
            Self::Overlap => "overlap",
            Self::Policy => "policy",
        }
    }
}

/// When the exchanges in between are taken down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Teardown {
    /// In the same run.
    #[default]
    Now,
    /// By a file of its own.
    Later,
}

/// How the end of the old queue's messages is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrainOptions {
    /// After so many milliseconds the run stops and waits to be run again.
    pub timeout_ms: u64,
    /// Milliseconds between two looks.
    pub poll_ms: u64,
    /// How many looks in a row must find nothing.
    pub stable: u32,
}

impl Default for DrainOptions {
    fn default() -> Self {
        Self { timeout_ms: 600_000, poll_ms: 1_000, stable: 3 }
    }
}

/// How a queue is replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The sequence.
    pub method: Method,
    /// How many consumers the new queue must have before the switch.
    pub wait_for_consumers: u32,
    /// The wait for the old queue's last message.
    pub drain: DrainOptions,
    /// Whether a second migration brings the old name back.
    pub keep_name: bool,
    /// When the exchanges in between go.
    pub teardown: Teardown,
    /// How many milliseconds the empty old queue stays before it is deleted.
    pub retire_after_ms: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            method: Method::Fanout,
            wait_for_consumers: 1,
            drain: DrainOptions::default(),
            keep_name: false,
            teardown: Teardown::Now,
            retire_after_ms: 0,
        }
    }
}

impl Options {
    /// The options as a file has them, but for `keep_name` and `teardown`, which are about what follows.
    pub(super) fn to_json(&self) -> Json {
        let duration = |ms: u64| format!("{ms}ms");
        json!({
            "method": self.method.name(),
            "wait_for_consumers": self.wait_for_consumers,
            "drain": {
                "timeout": duration(self.drain.timeout_ms),
                "poll": duration(self.drain.poll_ms),
                "stable": self.drain.stable,
            },
            "retire_after": duration(self.retire_after_ms),
        })
    }
}

/// The options as a file has them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct OptionsDocument {
    method: Option<Json>,
    wait_for_consumers: Option<Json>,
    drain: Option<DrainDocument>,
    keep_name: Option<Json>,
    teardown: Option<Json>,
    retire_after: Option<Json>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DrainDocument {
    timeout: Option<Json>,
    poll: Option<Json>,
    stable: Option<Json>,
}

impl Options {
    pub(super) fn read(document: OptionsDocument) -> Result<Self, MigrationError> {
        let standard = Self::default();
        let drain = document.drain.unwrap_or_default();
        let methods = Method::ALL.map(Method::name);
        let method = word("method", document.method.as_ref(), &methods, "fanout, overlap or policy")?;
        let teardown = word("teardown", document.teardown.as_ref(), &["now", "later"], "now or later")?;
        let options = Self {
            method: method.and_then(|at| Method::ALL.get(at).copied()).unwrap_or_default(),
            wait_for_consumers: count("wait_for_consumers", document.wait_for_consumers.as_ref())?
                .unwrap_or(standard.wait_for_consumers),
            drain: DrainOptions {
                timeout_ms: duration("drain.timeout", drain.timeout.as_ref(), "10m")?
                    .unwrap_or(standard.drain.timeout_ms),
                poll_ms: duration("drain.poll", drain.poll.as_ref(), "1s")?.unwrap_or(standard.drain.poll_ms),
                stable: count("drain.stable", drain.stable.as_ref())?.unwrap_or(standard.drain.stable),
            },
            keep_name: flag("keep_name", document.keep_name.as_ref())?.unwrap_or(standard.keep_name),
            teardown: if teardown == Some(1) { Teardown::Later } else { Teardown::Now },
            retire_after_ms: duration("retire_after", document.retire_after.as_ref(), "24h")?.unwrap_or(0),
        };
        if options.drain.poll_ms == 0 || options.drain.stable == 0 {
            let message = "options drain.poll and drain.stable are at least 1ms and 1";
            return Err(MigrationError::new("migration_option_value", message, "write drain: { poll: 1s, stable: 3 }"));
        }
        if options.keep_name && options.teardown == Teardown::Later {
            let message = "keep_name: true and teardown: later exclude each other";
            let help = "take one of them out: the second migration needs the first one's exchanges gone";
            return Err(MigrationError::new("migration_option_value", message, help));
        }
        Ok(options)
    }
}

fn wrong(option: &str, found: &Json, expected: &str) -> MigrationError {
    let found: String = found.to_string().chars().take(60).collect();
    MigrationError::new("migration_option_value", format!("option {option} is {found}"), format!("write {expected}"))
        .with("option", option)
        .with("expected", expected)
}

/// The position of a word among those that an option takes.
fn word(option: &str, value: Option<&Json>, words: &[&str], expected: &str) -> Result<Option<usize>, MigrationError> {
    let Some(value) = value else { return Ok(None) };
    let text = value.as_str().unwrap_or_default();
    match words.iter().position(|word| *word == text) {
        Some(at) => Ok(Some(at)),
        None => {
            let near = nearest(text, words.iter().copied()).unwrap_or_default();
            Err(wrong(option, value, expected).with("nearest", near))
        }
    }
}

fn count(option: &str, value: Option<&Json>) -> Result<Option<u32>, MigrationError> {
    let Some(value) = value else { return Ok(None) };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.map(Some).ok_or_else(|| wrong(option, value, "a whole number from 0 on"))
}

fn flag(option: &str, value: Option<&Json>) -> Result<Option<bool>, MigrationError> {
    let Some(value) = value else { return Ok(None) };
    value.as_bool().map(Some).ok_or_else(|| wrong(option, value, "true or false"))
}

fn duration(option: &str, value: Option<&Json>, example: &str) -> Result<Option<u64>, MigrationError> {
    let Some(value) = value else { return Ok(None) };
    let expected = format!("a number with its unit, as in {}", quoted(example));
    let Some(text) = value.as_str() else {
        return if value.as_u64() == Some(0) { Ok(Some(0)) } else { Err(wrong(option, value, &expected)) };
    };
    parse_duration(text).map(Some).map_err(|_| wrong(option, value, &expected))
}
