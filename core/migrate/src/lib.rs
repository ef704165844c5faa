//! Runs a migration against a real broker: AMQP makes the changes, the management API shows the table and the messages.
//!
//! The engine's [`Run`] decides; this crate reads, does and waits. Before every change the table is read anew and the lock is
//! held: an exclusive queue, which the broker frees by itself when its owner's connection ends. Nothing is remembered
//! between two changes, so a runner that dies is followed by one that goes on where the table says.
#![forbid(unsafe_code)]

mod error;
mod facts;
pub mod history;
mod journal;
mod lock;
mod nodes;
mod queues;
mod stop;

pub use error::RunError;
pub use journal::{Change, Journal, JournalError, Unrecorded};
pub use lock::{Held, LOCK_QUEUE};
pub use stop::{Stop, Stopper};

use acemq_core::migration::{
    Action, Beginning, Direction, Former, MigrationError, MigrationFile, MigrationPlan, Order, QueueSight, Run,
};
use acemq_core::rabbitmq::QueueType;
use acemq_core::state::State;
use acemq_live::{
    Answer, Client, Management, ManagementError, ManagementFailure, ManagementUrl, Operation, OperationError,
};
use queues::{Word, has_leader, waited_for};
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

/// How late the broker's statistics are (`collect_statistics_interval` is 5 s).
const STATISTICS_LAG: Duration = Duration::from_secs(6);

/// A vhost with the means to change it.
#[derive(Clone)]
pub struct Runner<'a> {
    client: &'a Client,
    management: &'a Management,
    vhost: &'a str,
    node_apis: Vec<ManagementUrl>,
    statistics_lag: Duration,
    user: Option<String>,
    keeps_history_there: bool,
    stop: Stop,
}

impl<'a> Runner<'a> {
    /// A runner for a vhost; `client` is connected to it.
    pub fn new(client: &'a Client, management: &'a Management, vhost: &'a str) -> Self {
        Self {
            client,
            management,
            vhost,
            node_apis: Vec::new(),
            statistics_lag: STATISTICS_LAG,
            user: None,
            keeps_history_there: false,
            stop: Stop::never(),
        }
    }

    /// Further addresses of management APIs, one for each node whose own address does not follow from its name: behind a load
    /// balancer, or where hosts have other names from here. Which node answers where is found out.
    #[must_use]
    pub fn with_node_apis(mut self, urls: Vec<ManagementUrl>) -> Self {
        self.node_apis = urls;
        self
    }

    /// How late the broker's statistics are: 6 s unless said, for RabbitMQ's own interval of 5 s. Before a queue is deleted it is
    /// watched for twice as long, for messages that come by its name; zero does not watch.
    #[must_use]
    pub const fn with_statistics_lag(mut self, lag: Duration) -> Self {
        self.statistics_lag = lag;
        self
    }

    /// The user that `client` is logged in as: whether it has the rights for every step is looked at before the first.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>) -> Self {
        self.user = Some(user.into());
        self
    }

    /// The history is kept in a stream of the vhost, which counts as one of its queues.
    #[must_use]
    pub const fn with_history_in_the_vhost(mut self) -> Self {
        self.keeps_history_there = true;
        self
    }

    /// Where it is told to stop: it does so between two changes.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
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
        progress: impl FnMut(Progress),
    ) -> Result<Ending, RunError> {
        self.follow(file, |live| MigrationPlan::new(file, live), journal, progress).await
    }

    /// Takes a migration back, from wherever it is, to the definitions that the vhost had before its first step. `beginning` is
    /// what [`MigrationPlan::beginning`] said then: what was there already stays.
    ///
    /// # Errors
    /// As [`Runner::run_recorded`], and when the old queue is deleted.
    pub async fn undo_recorded(
        &self,
        file: &MigrationFile,
        beginning: &Beginning,
        journal: &mut dyn Journal,
        progress: impl FnMut(Progress),
    ) -> Result<Ending, RunError> {
        self.follow(file, |live| MigrationPlan::undo(file, live, beginning), journal, progress).await
    }

    /// Follows a plan to its end, made anew from the table before each step.
    async fn follow(
        &self,
        file: &MigrationFile,
        first: impl FnOnce(&State) -> Result<MigrationPlan, MigrationError>,
        journal: &mut dyn Journal,
        mut progress: impl FnMut(Progress),
    ) -> Result<Ending, RunError> {
        let started = Instant::now();
        let clock = || u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(why) = self.nodes_unfit().await? {
            return Ok(Ending::Waiting(format!("{why}; the migration does not go on before that; run again then")));
        }
        self.lock_or_wait(&mut progress).await?;
        let mut node_apis = self.find_node_apis().await?;
        let mut run = Run::new();
        let mut sights: Vec<QueueSight> = Vec::new();
        let mut told_of_leaders: Vec<String> = Vec::new();
        let mut unreachable_since = started;
        let mut watched: Vec<String> = Vec::new();
        let live = self.state().await?;
        let mut plan = first(&live)?;
        journal.planned(&plan);
        if let Some(why) = self.considered(plan.clone(), &live).await?.refusal() {
            return Ok(Ending::Stopped(why));
        }
        if plan.direction == Direction::Back {
            for finding in &plan.findings {
                progress(Progress::Note(finding.to_string()));
            }
        }
        let mut told_of_consumers = false;
        let mut told = 0;
        loop {
            if self.stop.is_asked_for() {
                return Ok(Ending::Waiting(stop::STOPPED.to_owned()));
            }
            let live = self.state().await?;
            plan = plan.renewed(file, &live)?;
            let order = run.next(&plan, &live, clock());
            match order {
                Order::Do(action) => {
                    if self.hold_lock().await? == Held::Again {
                        continue;
                    }
                    if let Action::DeleteQueue(queue) = &action {
                        if !watched.contains(queue) && is_worth_watching(&plan, queue) {
                            let arrived = self.arrivals(queue, unreachable_since).await?;
                            if arrived > 0 {
                                return Ok(Ending::Stopped(from_outside(queue, arrived, self.statistics_lag)));
                            }
                            watched.push(queue.clone());
                            // That took a while; the table is read anew.
                            continue;
                        }
                        if let Some(why) = self.nodes_unfit().await? {
                            return Ok(Ending::Waiting(format!(
                                "{why}; nothing is deleted before that; run again then"
                            )));
                        }
                        let must_be_empty = waited_for(&plan).any(|waited_for| waited_for == queue);
                        if must_be_empty && has_leader(&live, queue) {
                            match self.word_of_leader(queue).await? {
                                Word::Empty => {}
                                Word::Messages => return Ok(Ending::Stopped(not_empty_any_more(queue))),
                                Word::None(why) => {
                                    let why = no_word(queue, &why);
                                    return Ok(Ending::Waiting(format!(
                                        "{why}; nothing is deleted before that; run again then"
                                    )));
                                }
                            }
                        }
                    }
                    let number = run.step().saturating_add(1);
                    let is_plain = plan.subject.is_none() && plan.direction == Direction::Forward;
                    let former = if is_plain { Former::of(&action, &live) } else { None };
                    let change = Change { number, of: plan.steps.len(), action: &action, former: former.as_ref() };
                    journal.before(change).await?;
                    // What an undo takes away is nobody's: the broker is asked to see to that in the same moment.
                    let is_guarded = plan.subject.is_none() && plan.direction == Direction::Back;
                    self.perform(&action, is_guarded.then_some(&live)).await?;
                    journal.after(change).await?;
                    told_of_consumers = false;
                    // What has to be done once more is told once.
                    if std::mem::replace(&mut told, number) != number {
                        progress(Progress::Step { number, of: plan.steps.len(), action: action.to_string() });
                    }
                }
                Order::LookAt(names) => {
                    sights = self.look_at(&live, &names).await?;
                    run.saw_queues(&sights, clock());
                    if !run.waits_for_consumers() {
                        progress(Progress::Left { messages: run.messages_left() });
                    }
                }
                Order::Confirm(names) => {
                    for name in names {
                        let word = self.word_of_leader(&name).await?;
                        if let Word::None(why) = &word
                            && !told_of_leaders.contains(&name)
                        {
                            progress(Progress::Note(format!("{}; it is waited for", no_word(&name, why))));
                            told_of_leaders.push(name.clone());
                        }
                        for sight in sights.iter_mut().filter(|sight| sight.queue == name) {
                            (sight.ready, sight.unconfirmed) = match word {
                                Word::Empty => (sight.ready, false),
                                Word::Messages => (Some(sight.ready.unwrap_or_default().max(1)), false),
                                Word::None(_) => (None, true),
                            };
                        }
                    }
                    run.saw_queues(&sights, clock());
                }
                Order::AskNodes(action) => {
                    if let Action::AwaitNodes { binding, bound } = &action
                        && let Some(why) = self.nodes_know(&mut node_apis, binding, *bound, &mut progress).await?
                    {
                        return Ok(Ending::Waiting(why));
                    }
                    run.nodes_know();
                    unreachable_since = Instant::now();
                }
                Order::Pause(ms) => {
                    if run.waits_for_consumers() && ms > 0 && !told_of_consumers {
                        progress(Progress::Note(waits_for_consumers(&plan)));
                        told_of_consumers = true;
                    }
                    self.stop.or_after(Duration::from_millis(ms)).await;
                }
                Order::Finished => return Ok(Ending::Finished),
                Order::Waiting(why) => return Ok(Ending::Waiting(why + &self.held_by(&sights).await)),
                Order::Stopped(why) => return Ok(Ending::Stopped(why + &self.held_by(&sights).await)),
            }
        }
    }

    /// The table.
    async fn state(&self) -> Result<State, ManagementError> {
        patiently(async || self.management.state(self.vhost).await).await
    }

    /// Makes a change. With a table, the broker refuses to delete what is used, as far as it can be asked to.
    async fn perform(&self, action: &Action, guarded: Option<&State>) -> Result<(), RunError> {
        let is_classic = |queue: &str| guarded.is_some_and(|live| live.stored_type(queue) == Some(QueueType::Classic));
        let operation = match action {
            Action::DeleteExchange(exchange) if guarded.is_some() => {
                Operation::DeleteUnusedExchange(exchange.name.clone())
            }
            Action::DeleteQueue(queue) if is_classic(queue) => Operation::DeleteUnusedQueue(queue.clone()),
            Action::DeclareQueue(queue) => Operation::DeclareQueue(queue.clone()),
            Action::DeclareExchange(exchange) => Operation::DeclareExchange(exchange.clone()),
            Action::Bind(binding) => Operation::Bind(binding.clone()),
            Action::Unbind(binding) => Operation::Unbind(binding.clone()),
            Action::DeleteExchange(exchange) => Operation::DeleteExchange(exchange.name.clone()),
            Action::DeleteQueue(queue) => Operation::DeleteQueue(queue.clone()),
            Action::SetPolicy(policy) => {
                return Ok(patiently(async || self.management.set_policy(self.vhost, policy).await).await?);
            }
            Action::DeletePolicy(policy) => {
                return Ok(patiently(async || self.management.delete_policy(self.vhost, &policy.name).await).await?);
            }
            Action::AwaitConsumers { .. }
            | Action::AwaitNodes { .. }
            | Action::Drain { .. }
            | Action::CheckEmpty { .. }
            | Action::CheckUnused { .. }
            | Action::Rest { .. } => return Ok(()),
        };
        let cause = match self.client.ask(&operation).await {
            Answer::Done(_) => return Ok(()),
            Answer::Refused(refused) => acemq_live::Cause::Refused(refused),
            Answer::Failed(failure) => acemq_live::Cause::Failed(failure),
        };
        Err(RunError::Operation(Box::new(OperationError { operation: operation.describe(), cause })))
    }
}

/// Whether messages that come to a queue by its name would be lost with it: to one that was in use, not to its dead letters'.
fn is_worth_watching(plan: &MigrationPlan, queue: &str) -> bool {
    plan.subject.as_ref().is_none_or(|subject| subject.old == queue || subject.new == queue)
}

/// What is waited for, as the step says it.
fn waits_for_consumers(plan: &MigrationPlan) -> String {
    let step = plan.steps.iter().find(|step| matches!(step.action, Action::AwaitConsumers { .. }));
    let what = step.map_or_else(|| "wait for consumers".to_owned(), |step| step.action.to_string());
    let minutes = plan.waiting.timeout_ms.div_ceil(60_000);
    format!("{what}: start them; that is waited for up to {minutes} min")
}

fn from_outside(queue: &str, arrived: u64, within: Duration) -> String {
    format!(
        "{arrived} messages arrived in queue \"{}\" from outside within {} s, while no exchange leads to it: somebody publishes to it by its name, or a shovel or retry queue does; change that, and run again",
        queue.escape_debug(),
        within.as_secs()
    )
}

/// That a queue's leader has not said whether it is empty.
fn no_word(queue: &str, why: &str) -> String {
    format!("the leader of queue \"{}\" does not say whether it is empty ({why})", queue.escape_debug())
}

fn not_empty_any_more(queue: &str) -> String {
    format!(
        "messages arrived in queue \"{}\" from outside right before it would be deleted: somebody publishes to it by its name, or a shovel or retry queue does; change that, let it run empty, and run again",
        queue.escape_debug()
    )
}

/// Asks the management API again while what fails may pass: it may be restarted, or be busy for a moment.
async fn patiently<T>(ask: impl AsyncFn() -> Result<T, ManagementError>) -> Result<T, ManagementError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match ask().await {
            Err(error) if may_pass(&error) && Instant::now() < until => {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            answered => return answered,
        }
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
