//! The operations `migration.plan` and `migration.step`: with them a program in any language runs a migration through its own
//! AMQP client.
//!
//! Nothing is kept between two calls but the run, which the program passes back. It reads the vhost, asks `migration.step`, does
//! the one thing that it is told, and asks again; after a change it reads the vhost anew.

use super::declared::Document;
use super::source::{STATE_CODES, StateSource};
use super::{Failure, Request};
use crate::migration::{
    Action, Beginning, Direction, Facts, MigrationError, MigrationFile, MigrationPlan, Order, QueueSight, Run,
};
use crate::state::State;
use crate::topology::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const CODES: &[&[&str]] = &[MigrationError::CODES, STATE_CODES[0], STATE_CODES[1], STATE_CODES[2], STATE_CODES[3]];

/// `migration.plan`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanMigration {
    /// The text of the migration file, YAML or JSON.
    pub file: String,
    /// The vhost as it is.
    pub state: StateSource,
    /// To the new queue, unless said.
    #[serde(default)]
    pub direction: Direction,
    /// For the way back: what `beginning` said before the first step.
    pub beginning: Option<Beginning>,
    /// What an operator sees beside the table.
    #[serde(default)]
    pub facts: Facts,
}

/// A migration against a vhost.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlannedMigration {
    /// The plan, acemq.migration_plan/1.
    pub plan: Document,
    /// The plan for people.
    pub text: String,
    /// SHA-256 of the file's lines, whatever ends them.
    pub checksum: String,
    /// Why the migration must not run.
    pub refused: Option<String>,
}

impl Request for PlanMigration {
    type Answer = PlannedMigration;
    const NAME: &'static str = "migration.plan";
    const ABOUT: &'static str = "The steps that replace a live queue, or take that back, the proof that no message is lost or doubled, and how many steps are done.";
    const CODES: &'static [&'static [&'static str]] = CODES;

    fn answer(self) -> Result<PlannedMigration, Failure> {
        let file = MigrationFile::parse(&self.file, Format::Auto)?;
        let plan = plan(&file, &self.state.state()?, self.direction, self.beginning)?.considering(&self.facts);
        Ok(PlannedMigration {
            plan: Document::of(&plan.to_json()),
            text: plan.to_text(),
            checksum: file.checksum,
            refused: plan.refusal(),
        })
    }
}

fn plan(
    file: &MigrationFile,
    live: &State,
    direction: Direction,
    beginning: Option<Beginning>,
) -> Result<MigrationPlan, MigrationError> {
    match direction {
        Direction::Forward => MigrationPlan::new(file, live),
        Direction::Back => MigrationPlan::undo(file, live, &beginning.unwrap_or_else(Beginning::unrecorded)),
    }
}

/// `migration.step`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepMigration {
    /// The text of the migration file, YAML or JSON.
    pub file: String,
    /// The vhost as it is now.
    pub state: StateSource,
    /// To the new queue, unless said.
    #[serde(default)]
    pub direction: Direction,
    /// For the way back: what `beginning` said before the first step.
    pub beginning: Option<Beginning>,
    /// What an operator sees beside the table.
    #[serde(default)]
    pub facts: Facts,
    /// What the last call answered; nothing before the first.
    #[serde(default)]
    pub run: Run,
    /// What was seen after an order to look at queues, or that all nodes know.
    pub saw: Option<Saw>,
    /// The time in milliseconds, of a clock that does not go back.
    pub now_ms: u64,
}

/// What a program saw.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Saw {
    /// The queues that it was to look at.
    Queues(Vec<QueueSight>),
    /// Every running node knows the change that it was to ask about.
    NodesKnow,
}

/// What a program does next.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextStep {
    /// What to do.
    pub order: OrderDocument,
    /// To pass to the next call.
    pub run: Run,
    /// The number of the step that the order belongs to, from 1; none when it is over.
    pub step: Option<usize>,
    /// The step, in words.
    pub text: Option<String>,
    /// How many steps are done.
    pub done: usize,
    /// How many steps there are.
    pub of: usize,
    /// Messages that the queues which are waited for held at the last look.
    pub messages_left: u64,
    /// What of the new queue and what belongs to it was there, or what plain changes find. That of the first call is to be recorded:
    /// the way back takes it.
    pub beginning: Beginning,
}

/// An order.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "order", rename_all = "snake_case")]
pub enum OrderDocument {
    /// Do this, then read the vhost and ask again.
    Do {
        /// As a step of acemq.migration_plan/1 has it.
        action: Document,
    },
    /// Look at these queues, and tell what you see with the next call.
    LookAt {
        /// The queues.
        queues: Vec<String>,
        /// `consumers` or `messages`: which of the numbers matter.
        #[serde(rename = "for")]
        wanted: &'static str,
    },
    /// These queues looked empty, by sights that are `unconfirmed`: ask their leaders, and tell the sights of the last look again,
    /// with what they say.
    Confirm {
        /// The queues.
        queues: Vec<String>,
    },
    /// Wait until every running node knows this, and tell that with the next call.
    AskNodes {
        /// `{"action": "await_nodes", "binding", "bound"}`
        action: Document,
    },
    /// Wait, then ask again.
    Pause {
        /// Milliseconds.
        ms: u64,
    },
    /// Everything is done.
    Finished,
    /// It cannot go on now, and nothing is wrong: run it again later.
    Waiting {
        /// Why, with the way out.
        why: String,
    },
    /// Somebody has to look at it first.
    Stopped {
        /// Why, with the way out.
        why: String,
    },
}

impl OrderDocument {
    fn of(order: Order, run: &Run) -> Self {
        let action = |action: &Action| Document::of(&action.to_json());
        match order {
            Order::Do(change) => Self::Do { action: action(&change) },
            Order::LookAt(queues) => {
                Self::LookAt { queues, wanted: if run.waits_for_consumers() { "consumers" } else { "messages" } }
            }
            Order::Confirm(queues) => Self::Confirm { queues },
            Order::AskNodes(wait) => Self::AskNodes { action: action(&wait) },
            Order::Pause(ms) => Self::Pause { ms },
            Order::Finished => Self::Finished,
            Order::Waiting(why) => Self::Waiting { why },
            Order::Stopped(why) => Self::Stopped { why },
        }
    }
}

impl Request for StepMigration {
    type Answer = NextStep;
    const NAME: &'static str = "migration.step";
    const ABOUT: &'static str = "What to do next in a migration, or on its way back: one change, one look or one wait, from the vhost as it is and what was seen.";
    const CODES: &'static [&'static [&'static str]] = CODES;

    fn answer(self) -> Result<NextStep, Failure> {
        let file = MigrationFile::parse(&self.file, Format::Auto)?;
        let live = self.state.state()?;
        let plan = plan(&file, &live, self.direction, self.beginning)?.considering(&self.facts);
        let mut run = self.run;
        match self.saw {
            Some(Saw::Queues(sights)) => run.saw_queues(&sights, self.now_ms),
            Some(Saw::NodesKnow) => run.nodes_know(),
            None => {}
        }
        let order = run.next(&plan, &live, self.now_ms);
        let at = run.step();
        let step = plan.steps.get(at).filter(|_| !matches!(order, Order::Finished));
        Ok(NextStep {
            step: step.map(|_| at + 1),
            text: step.map(|step| step.action.to_string()),
            done: at.min(plan.steps.len()),
            of: plan.steps.len(),
            messages_left: run.messages_left(),
            beginning: plan.beginning().clone(),
            order: OrderDocument::of(order, &run),
            run,
        })
    }
}

impl From<MigrationError> for Failure {
    fn from(error: MigrationError) -> Self {
        let mut failure = Self::one(error.code, error.message, error.help);
        for (field, value) in error.fields {
            failure = failure.with(field, value);
        }
        match error.at {
            Some(at) => failure.with("line", at.line).with("column", at.column),
            None => failure,
        }
    }
}
