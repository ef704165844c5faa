//! Runs a migration against a real broker: AMQP makes the changes, the management API shows the table and the messages.
//!
//! The engine's [`Run`] decides; this crate reads, does and waits. Before every change the table is read anew and the lock is
//! held: an exclusive queue, which the broker frees by itself when its owner's connection ends. Nothing is remembered
//! between two changes, so a runner that dies is followed by one that goes on where the table says.
#![forbid(unsafe_code)]

mod error;
mod journal;
mod lock;
mod queues;

pub use error::RunError;
pub use journal::{Change, Journal, JournalError, Unrecorded};
pub use lock::LOCK_QUEUE;

use acemq_core::migration::{Action, MigrationFile, MigrationPlan, Order, Run};
use acemq_core::state::State;
use acemq_live::{Answer, Client, Management, ManagementError, ManagementFailure, Operation, OperationError};
use std::time::Duration;
use tokio::time::Instant;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// Every step is done.
    Finished,
    /// It cannot go on now; run it again later.
    Waiting(String),
    /// Somebody has to look at it first.
    Stopped(String),
}

/// What a run tells while it goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// A step is done.
    Step {
        /// Its number, from 1.
        number: usize,
        /// Of how many.
        of: usize,
        /// What was done.
        action: String,
    },
    /// Messages are waited for.
    Left {
        /// How many there still are.
        messages: u64,
    },
    /// Something to know.
    Note(String),
}

/// How long the management API may fail before a run gives up; it may be restarted in the meantime.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the other nodes of a cluster get to apply a change, where only one of them can be asked. The longest delay that was
/// measured is 0.2 seconds; a node that hangs for longer is not covered.
const SETTLE: Duration = Duration::from_secs(5);

/// A vhost with the means to change it.
pub struct Runner<'a> {
    client: &'a Client,
    management: &'a Management,
    vhost: &'a str,
}

impl<'a> Runner<'a> {
    /// A runner for a vhost; `client` is connected to it.
    pub fn new(client: &'a Client, management: &'a Management, vhost: &'a str) -> Self {
        Self { client, management, vhost }
    }

    /// Runs a migration to its end, or to where it has to wait.
    ///
    /// # Errors
    /// When broker or management API cannot be used, and when the migration cannot be planned. What was done is done; running
    /// again goes on from there.
    pub async fn run(&self, file: &MigrationFile, progress: impl FnMut(Progress)) -> Result<Ending, RunError> {
        self.run_recorded(file, &mut Unrecorded, progress).await
    }

    /// As [`Runner::run`]; the journal is told of each change before and after it is made.
    ///
    /// # Errors
    /// As [`Runner::run`], and when the journal cannot record a change, which is not made then.
    pub async fn run_recorded(
        &self,
        file: &MigrationFile,
        journal: &mut dyn Journal,
        mut progress: impl FnMut(Progress),
    ) -> Result<Ending, RunError> {
        let started = Instant::now();
        let clock = || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(why) = self.nodes_unfit().await? {
            return Ok(Ending::Stopped(format!("{why}; the migration does not start")));
        }
        self.lock_or_wait(&mut progress).await?;
        let mut run = Run::new();
        loop {
            let live = self.state().await?;
            let plan = MigrationPlan::new(file, &live)?;
            let order = run.next(&plan, &live, clock());
            match order {
                Order::Do(action) => {
                    self.hold_lock().await?;
                    if matches!(action, Action::DeleteQueue(_))
                        && let Some(why) = self.nodes_unfit().await?
                    {
                        return Ok(Ending::Stopped(format!("{why}; nothing is deleted until that is over")));
                    }
                    let number = plan.steps.iter().position(|step| step.action == action).map_or(0, |at| at + 1);
                    let change = Change { number, of: plan.steps.len(), action: &action };
                    journal.before(change).await?;
                    self.perform(&action).await?;
                    journal.after(change).await?;
                    progress(Progress::Step { number, of: plan.steps.len(), action: action.to_string() });
                }
                Order::LookAt(names) => {
                    let waits_for_consumers = plan.subject.as_ref().is_some_and(|subject| names.contains(&subject.new));
                    let sights = self.look_at(&names).await?;
                    run.saw_queues(&sights, waits_for_consumers, clock());
                    if !waits_for_consumers {
                        progress(Progress::Left { messages: run.messages_left() });
                    }
                }
                Order::AskNodes(_) => {
                    if let Some(why) = self.nodes_know(&mut progress).await? {
                        return Ok(Ending::Waiting(why));
                    }
                    run.nodes_know();
                }
                Order::Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Order::Finished => return Ok(Ending::Finished),
                Order::Waiting(why) => return Ok(Ending::Waiting(why)),
                Order::Stopped(why) => return Ok(Ending::Stopped(why)),
            }
        }
    }

    /// The table; a management API that is away for a moment is waited for.
    async fn state(&self) -> Result<State, ManagementError> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.management.state(self.vhost).await {
                Err(error) if may_pass(&error) && Instant::now() < until => {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
                answered => return answered,
            }
        }
    }

    async fn perform(&self, action: &Action) -> Result<(), RunError> {
        let operation = match action {
            Action::DeclareQueue(queue) => Operation::DeclareQueue(queue.clone()),
            Action::DeclareExchange(exchange) => Operation::DeclareExchange(exchange.clone()),
            Action::Bind(binding) => Operation::Bind(binding.clone()),
            Action::Unbind(binding) => Operation::Unbind(binding.clone()),
            Action::DeleteExchange(exchange) => Operation::DeleteExchange(exchange.name.clone()),
            Action::DeleteQueue(queue) => Operation::DeleteQueue(queue.clone()),
            Action::SetPolicy(policy) => return Ok(self.management.set_policy(self.vhost, policy).await?),
            Action::DeletePolicy(policy) => return Ok(self.management.delete_policy(self.vhost, &policy.name).await?),
            Action::AwaitConsumers { .. } | Action::AwaitNodes { .. } | Action::Drain { .. } | Action::Rest { .. } => {
                return Ok(());
            }
        };
        let cause = match self.client.ask(&operation).await {
            Answer::Done(_) => return Ok(()),
            Answer::Refused(refused) => acemq_live::Cause::Refused(refused),
            Answer::Failed(failure) => acemq_live::Cause::Failed(failure),
        };
        Err(RunError::Operation(Box::new(OperationError { operation: operation.describe(), cause })))
    }

    /// Why the cluster is in no state to be changed.
    async fn nodes_unfit(&self) -> Result<Option<String>, RunError> {
        let nodes = match self.management.nodes().await {
            Err(ManagementError { failure: ManagementFailure::Forbidden { .. }, .. }) => return Ok(None),
            answered => answered?,
        };
        Ok(nodes.iter().find_map(|node| {
            if !node.running {
                Some(format!("node {} is not running", node.name))
            } else if node.mem_alarm || node.disk_free_alarm {
                Some(format!("node {} has an alarm: it is short of memory or disk space", node.name))
            } else {
                None
            }
        }))
    }

    /// Waits until every node has applied the last change; why it cannot be told.
    async fn nodes_know(&self, progress: &mut impl FnMut(Progress)) -> Result<Option<String>, RunError> {
        let nodes = match self.management.nodes().await {
            Err(ManagementError { failure: ManagementFailure::Forbidden { user, .. }, .. }) => {
                let note = format!(
                    "user {user} may not see the nodes, so {} s are waited; a node that hangs is not covered",
                    SETTLE.as_secs()
                );
                progress(Progress::Note(note));
                tokio::time::sleep(SETTLE).await;
                return Ok(None);
            }
            answered => answered?,
        };
        if let Some(down) = nodes.iter().find(|node| !node.running) {
            return Ok(Some(format!("node {} is not running; run again when it is back", down.name)));
        }
        if nodes.len() > 1 {
            let note = format!(
                "{} nodes run and one address is given, so {} s are waited; a node that hangs is not covered",
                nodes.len(),
                SETTLE.as_secs()
            );
            progress(Progress::Note(note));
            tokio::time::sleep(SETTLE).await;
        }
        Ok(None)
    }
}

fn may_pass(error: &ManagementError) -> bool {
    match &error.failure {
        ManagementFailure::Connect(failure) => failure.may_pass(),
        ManagementFailure::Timeout { .. } | ManagementFailure::Lost { .. } => true,
        ManagementFailure::Refused { status, .. } => *status >= 500,
        _ => false,
    }
}
