//! A step of a migration: an action with its place in the sequence, what must hold before it and after it, and its inverse.

use super::action::{Action, Condition};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Which way steps lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the new queue.
    #[default]
    Forward,
    /// To the definitions of the start.
    Back,
}

impl Direction {
    /// One word for documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Back => "back",
        }
    }
}

/// What a step is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The new queue comes to be.
    Prepare,
    /// The exchanges in between come to be.
    Bootstrap,
    /// Messages go to the new queue from here on.
    Switch,
    /// The old queue's last messages are waited for.
    Drain,
    /// The exchanges in between go.
    Teardown,
    /// The old queue goes.
    Retire,
    /// Undo: messages go to the old queue again, and what was in between goes.
    Restore,
    /// Undo: the new queue goes, with what it brought along.
    Remove,
    /// A plain change.
    Change,
}

impl Phase {
    /// One word for documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Bootstrap => "bootstrap",
            Self::Switch => "switch",
            Self::Drain => "drain",
            Self::Teardown => "teardown",
            Self::Retire => "retire",
            Self::Restore => "restore",
            Self::Remove => "remove",
            Self::Change => "change",
        }
    }
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is for.
    pub phase: Phase,
    /// What is done.
    pub action: Action,
    /// What must hold before it.
    pub before: Vec<Condition>,
    /// What holds after it.
    pub after: Vec<Condition>,
    /// What takes it back while messages flow; `None` where nothing has to be, or where nothing can.
    pub inverse: Option<Action>,
    /// Nothing from here on can be taken back.
    pub point_of_no_return: bool,
}

impl Step {
    pub(super) fn new(phase: Phase, action: Action) -> Self {
        Self {
            before: action.precondition(),
            after: action.postcondition(),
            inverse: action.inverse(),
            point_of_no_return: matches!(action, Action::DeleteQueue(_)),
            phase,
            action,
        }
    }

    #[must_use]
    pub(super) fn requiring(mut self, conditions: impl IntoIterator<Item = Condition>) -> Self {
        self.before.extend(conditions);
        self
    }

    /// The step as documents carry it.
    pub fn to_json(&self, number: usize) -> Json {
        json!({
            "number": number,
            "phase": self.phase.name(),
            "do": self.action.to_json(),
            "text": self.action.to_string(),
            "before": self.before,
            "after": self.after,
            "inverse": self.inverse.as_ref().map(Action::to_json),
            "point_of_no_return": self.point_of_no_return,
        })
    }
}
