//! What came of a scenario.

use crate::rabbitmq::{Refused, Scope};
use crate::value::Table;
use serde::Serialize;

/// `acemq.simulation/1`: what each step did, and where everything is at the end.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub(super) format: &'static str,
    /// The version that was played by.
    pub rabbitmq: String,
    /// Milliseconds from the start to the end.
    pub ended_at_ms: u64,
    /// How many steps failed.
    pub failed: usize,
    /// The steps, in order.
    pub steps: Vec<StepReport>,
    /// The queues at the end, sorted by name.
    pub queues: Vec<QueueReport>,
    /// The messages, in the order in which they were published.
    pub messages: Vec<MessageReport>,
    /// What cannot be told about policies, as sentences; it counted as not set.
    pub uncertain: Vec<String>,
}

/// What a step did.
#[derive(Debug, Clone, Serialize)]
pub struct StepReport {
    /// When it happened, in milliseconds from the start.
    pub at_ms: u64,
    /// The step in words.
    pub step: String,
    /// How it went.
    pub outcome: StepOutcome,
    /// What came of it, and what failed.
    pub details: Vec<String>,
    /// What the broker refused.
    pub refusal: Option<Refusal>,
    /// Messages that clients got in it.
    pub deliveries: u64,
    /// How many of them were marked as redelivered.
    pub redelivered: u64,
}

/// How a step went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepOutcome {
    /// As it should.
    Done,
    /// The broker refused it, as was expected.
    Refused,
    /// The broker refused what it should not, or did not refuse what it should, or something was not as expected.
    Failed,
}

/// A refusal of the broker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The reply code.
    pub code: u16,
    /// The whole reply text.
    pub text: String,
    /// `channel` or `connection`.
    pub scope: &'static str,
}

impl From<&Refused> for Refusal {
    fn from(refused: &Refused) -> Self {
        let scope = match refused.scope {
            Scope::Channel => "channel",
            Scope::Connection => "connection",
        };
        Self { code: refused.code, text: refused.text.clone(), scope }
    }
}

/// A queue at the end.
#[derive(Debug, Clone, Serialize)]
pub struct QueueReport {
    /// Its name.
    pub name: String,
    /// `classic`, `quorum` or `stream`.
    pub r#type: String,
    /// The messages that are ready, in the order in which they would leave.
    pub ready: Vec<String>,
    /// How many messages clients hold.
    pub unacknowledged: u32,
    /// Dead letters that wait until their targets take them.
    pub waiting: Vec<String>,
}

/// A message and its story.
#[derive(Debug, Clone, Serialize)]
pub struct MessageReport {
    /// What the scenario calls it.
    pub name: String,
    /// The queues that have it ready at the end.
    pub queues: Vec<String>,
    /// Its headers in the first of these.
    pub headers: Option<Table>,
    /// What happened to it, in order: when, and what.
    pub story: Vec<StoryLine>,
}

/// One thing that happened to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StoryLine {
    /// When, in milliseconds from the start.
    pub at_ms: u64,
    /// What.
    pub what: String,
}
