//! Running a migration without I/O: the host reads the table, asks what to do now, does it, and reads the table again.
//!
//! What is done is never remembered, it is read: a plan made from the table that was just read says how far the vhost is
//! ([`MigrationPlan::done`]). So a runner may be killed at any moment and another one goes on, and each change is verified by
//! the plan that follows it. Only waiting leaves no trace in the table; [`Run`] keeps what was seen while waiting, and a new
//! run waits again.

use super::action::{Action, Condition};
use super::options::DrainOptions;
use super::plan::MigrationPlan;
use super::step::{Direction, Phase};
use crate::name::quoted;
use crate::state::State;
use crate::value::counted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a host does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Do this; then read the table, plan, and ask again.
    Do(Action),
    /// Look at these queues, and give what you see to [`Run::saw_queues`]; then ask again.
    LookAt(Vec<String>),
    /// These looked empty for long enough, and their zeros are [`unconfirmed`](QueueSight::unconfirmed): ask their leaders, and
    /// give [`Run::saw_queues`] the sights of the last look with what they say; then ask again.
    Confirm(Vec<String>),
    /// Wait until every running node knows whether the binding is there, and call [`Run::nodes_know`]; then ask again.
    AskNodes(Action),
    /// Wait so many milliseconds; then ask again.
    Pause(u64),
    /// Everything is done.
    Finished,
    /// It cannot go on now, and nothing is wrong: run it again later.
    Waiting(String),
    /// Somebody has to look at it first.
    Stopped(String),
}

/// A queue as the broker describes it at a moment.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSight {
    /// Its name.
    pub queue: String,
    /// Messages that are ready; `None` where nobody answers for it.
    pub ready: Option<u64>,
    /// Messages that consumers hold; `None` where nobody tells.
    pub unacknowledged: Option<u64>,
    /// Consumers; 0 unless said.
    #[serde(default)]
    pub consumers: u64,
    /// How long the zeros of its numbers may be old, in milliseconds: 0 for a classic queue, which answers for itself;
    /// statistics of a quorum queue come in rounds.
    #[serde(default)]
    pub lag_ms: u64,
    /// Whether its zeros may be others' guesses: those of a quorum queue are until its leader says `basic.get-empty`, because
    /// the answer to a passive declaration is 0 and 0 while the leader is silent (3.10 to 4.3). A host that says so is asked for
    /// that last of all, by an order to confirm, so that in practice no message is got.
    #[serde(default)]
    pub unconfirmed: bool,
}

/// What a run has seen while it waits. Serialises, so that a host may keep it; nothing is lost with it but time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// Which way it goes.
    direction: Direction,
    /// The steps that the table shows as done, when it was last looked at.
    base: usize,
    /// Steps behind them that leave no trace, and are done.
    passed: usize,
    /// How often the present change was sent.
    sent: u32,
    /// Since when the present step is waited for, in milliseconds of the host's clock.
    since_ms: Option<u64>,
    /// How many looks in a row found nothing, and from when on what they saw can be believed.
    quiet: u32,
    believed_from_ms: u64,
    /// Somebody did not answer at the last look.
    unclear: bool,
    /// Consumers are counted, not messages.
    counts_consumers: bool,
    /// Unacknowledged messages at the last look, and how many looks in a row found more.
    unacknowledged: u64,
    rising: u32,
    /// Consumers at the last look for messages.
    consumers: u64,
    /// Messages at the last look.
    left: u64,
    seen: BTreeMap<String, u64>,
    /// Queues whose leaders have not said themselves what was seen.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    unconfirmed: BTreeSet<String>,
}

/// A change that the broker accepts and the table does not show is sent so often.
const ATTEMPTS: u32 = 3;

/// So many looks in a row with more unacknowledged messages than before mean that consumers take and do not finish.
const RISES: u32 = 10;

impl Run {
    /// A run that has seen nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to do now. `plan` is made from `live`, which was read just now; `now_ms` is a clock that does not go back.
    pub fn next(&mut self, plan: &MigrationPlan, live: &State, now_ms: u64) -> Order {
        if let Some(refusal) = plan.refusal() {
            return Order::Stopped(refusal);
        }
        let done = plan.done().unwrap_or_default();
        if (plan.direction, done) != (self.direction, self.base) {
            *self = Self { direction: plan.direction, base: done, ..Self::default() };
        }
        while let Some(step) = plan.steps.get(self.step()) {
            if !step.action.changes() {
                return self.wait(plan, &step.action, step.phase, now_ms);
            }
            let is_true = |condition: &Condition| condition.holds(live) == Some(true);
            if self.sent > 0 && step.after.iter().all(is_true) {
                self.pass();
                continue;
            }
            let unmet = step.before.iter().find(|condition| !condition.is_observed() && !is_true(condition));
            if let Some(unmet) = unmet {
                return Order::Stopped(format!("before \"{}\" this must be true and is not: {unmet}", step.action));
            }
            if self.sent >= ATTEMPTS {
                return Order::Stopped(format!(
                    "the broker accepted \"{}\", and its table does not show it: somebody takes it back each time, or the management API is another broker's; mend that, and run again",
                    step.action
                ));
            }
            self.sent += 1;
            return Order::Do(step.action.clone());
        }
        Order::Finished
    }

    /// The step that was waited for is done.
    fn pass(&mut self) {
        *self = Self {
            direction: self.direction,
            base: self.base,
            passed: self.passed.saturating_add(1),
            ..Self::default()
        };
    }

    fn wait(&mut self, plan: &MigrationPlan, action: &Action, phase: Phase, now_ms: u64) -> Order {
        let first = self.since_ms.is_none();
        let since = *self.since_ms.get_or_insert(now_ms);
        let waited = now_ms.saturating_sub(since);
        let options = plan.waiting;
        match action {
            Action::Rest { ms } if waited >= *ms => {
                self.pass();
                Order::Pause(0)
            }
            Action::Rest { ms } => Order::Pause(ms.saturating_sub(waited)),
            Action::AwaitNodes { .. } => Order::AskNodes(action.clone()),
            Action::AwaitConsumers { queue, count } => {
                self.counts_consumers = true;
                let consumers = self.seen.get(queue).copied().unwrap_or_default();
                if consumers >= u64::from(*count) {
                    self.pass();
                    Order::Pause(0)
                } else if waited >= options.timeout_ms {
                    Order::Waiting(format!(
                        "queue {} has {consumers} of {}; start them and run again",
                        quoted(queue),
                        counted(*count, "consumer")
                    ))
                } else if first || !self.seen.contains_key(queue) {
                    Order::LookAt(vec![queue.clone()])
                } else {
                    self.seen.clear();
                    Order::Pause(options.poll_ms)
                }
            }
            Action::Drain { queue, returning } => {
                let mut queues = vec![queue.clone()];
                queues.extend(returning.iter().cloned());
                self.drain(options, &queues, phase, now_ms, waited)
            }
            Action::CheckEmpty { queue } => self.check_empty(options, queue, now_ms, waited),
            Action::CheckUnused { queue } if self.consumers > 0 && self.seen.contains_key(queue) => {
                Order::Stopped(format!(
                    "queue {} has {}, and it is not deleted under them; stop them, and undo again",
                    quoted(queue),
                    counted(self.consumers, "consumer")
                ))
            }
            Action::CheckUnused { queue } => self.check_empty(options, queue, now_ms, waited),
            _ => Order::Stopped(format!("\"{action}\" is no waiting")),
        }
    }

    fn check_empty(&mut self, options: DrainOptions, queue: &str, now_ms: u64, waited: u64) -> Order {
        let Some(left) = self.seen.get(queue).copied() else { return Order::LookAt(vec![queue.to_owned()]) };
        let name = quoted(queue);
        if left > 0 {
            return Order::Stopped(format!(
                "queue {name} holds {}, and it is not deleted with them; take them out or move them, and run again",
                counted(left, "message")
            ));
        }
        if self.is_quiet(options, now_ms) {
            return self.pass_confirmed();
        }
        if waited >= options.timeout_ms {
            return Order::Waiting(if self.unclear {
                nobody_tells(&name)
            } else {
                not_for_long_enough(&name, options)
            });
        }
        self.seen.clear();
        Order::Pause(options.poll_ms)
    }

    /// Done, when whoever has the last word on it said so.
    fn pass_confirmed(&mut self) -> Order {
        if !self.unconfirmed.is_empty() {
            return Order::Confirm(self.unconfirmed.iter().cloned().collect());
        }
        self.pass();
        Order::Pause(0)
    }

    /// Whether enough looks found nothing, and can be believed.
    const fn is_quiet(&self, options: DrainOptions, now_ms: u64) -> bool {
        self.quiet >= options.stable && now_ms >= self.believed_from_ms
    }

    fn drain(&mut self, options: DrainOptions, queues: &[String], phase: Phase, now_ms: u64, waited: u64) -> Order {
        let left: u64 = self.seen.values().sum();
        if queues.iter().any(|queue| !self.seen.contains_key(queue)) {
            return Order::LookAt(queues.to_vec());
        }
        let name = queues.first().map(|queue| quoted(queue)).unwrap_or_default();
        if phase == Phase::Retire && left > 0 {
            return Order::Stopped(format!(
                "{} arrived in queue {name} from outside after it was empty: somebody publishes to it by its name, a shovel or a retry queue leads to it; change that, let it run empty, and run again",
                counted(left, "message")
            ));
        }
        if self.is_quiet(options, now_ms) {
            return self.pass_confirmed();
        }
        if self.rising >= RISES {
            return Order::Stopped(format!(
                "consumers of queue {name} take more messages than they finish: {} are unacknowledged, and more at each look",
                self.unacknowledged
            ));
        }
        if waited >= options.timeout_ms && self.unclear {
            return Order::Waiting(nobody_tells(&name));
        }
        if waited >= options.timeout_ms && left == 0 {
            return Order::Waiting(not_for_long_enough(&name, options));
        }
        if waited >= options.timeout_ms {
            return Order::Waiting(format!(
                "queue {name} still holds {}, {} of them unacknowledged; run again when its consumers are through",
                counted(left, "message"),
                self.unacknowledged
            ));
        }
        self.seen.clear();
        Order::Pause(options.poll_ms)
    }

    /// The position, from 0, of the step that the last order belongs to; the number of steps when all are done.
    pub const fn step(&self) -> usize {
        self.base.saturating_add(self.passed)
    }

    /// Whether the queues to look at are looked at for their consumers, and not for their messages.
    pub const fn waits_for_consumers(&self) -> bool {
        self.counts_consumers
    }

    /// Tells what the broker says about the queues that were to be looked at.
    pub fn saw_queues(&mut self, sights: &[QueueSight], now_ms: u64) {
        if self.counts_consumers {
            self.seen = sights.iter().map(|sight| (sight.queue.clone(), sight.consumers)).collect();
            return;
        }
        let held = |sight: &QueueSight| sight.ready.unwrap_or(0).saturating_add(sight.unacknowledged.unwrap_or(0));
        self.seen = sights.iter().map(|sight| (sight.queue.clone(), held(sight))).collect();
        self.left = self.seen.values().sum();
        self.consumers = sights.iter().map(|sight| sight.consumers).fold(0, u64::saturating_add);
        self.unconfirmed = sights.iter().filter(|sight| sight.unconfirmed).map(|sight| sight.queue.clone()).collect();
        self.unclear = sights.iter().any(|sight| sight.ready.is_none() || sight.unacknowledged.is_none());
        let unacknowledged = sights.iter().filter_map(|sight| sight.unacknowledged).sum();
        self.rising = if unacknowledged > self.unacknowledged { self.rising.saturating_add(1) } else { 0 };
        self.unacknowledged = unacknowledged;
        // What nobody tells is not nothing.
        if !self.unclear && self.seen.values().all(|left| *left == 0) {
            if self.quiet == 0 {
                let lag = sights.iter().map(|sight| sight.lag_ms).max().unwrap_or_default();
                self.believed_from_ms = now_ms.saturating_add(lag);
            }
            self.quiet = self.quiet.saturating_add(1);
        } else {
            self.quiet = 0;
        }
    }

    /// Tells that every running node has applied the change that was asked about.
    pub fn nodes_know(&mut self) {
        self.pass();
    }

    /// Messages that the queues which are waited for still held at the last look.
    pub const fn messages_left(&self) -> u64 {
        self.left
    }
}

/// A time limit that is shorter than believing takes would end every run here.
fn not_for_long_enough(name: &str, options: DrainOptions) -> String {
    format!(
        "queue {name} is empty, and was not for long enough when drain.timeout was over: it has to be found so {} in a row, and a quorum queue for two rounds of statistics, some 11 s; give drain.timeout more, accept the changed file with acemq migrate repair, and run again",
        counted(options.stable, "time")
    )
}

fn nobody_tells(name: &str) -> String {
    format!(
        "nobody tells whether queue {name} is empty: the management API shows no message counts, or the queue's leader does not answer; see to that, and run again"
    )
}
