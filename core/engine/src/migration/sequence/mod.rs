//! The steps that replace a queue, by each method.
//!
//! All of them add before they remove: a queue that two paths reach gets one copy, so every state in between is safe by
//! itself, however long it lasts.

mod fanout;
mod overlap;
mod policy;

use super::action::{Action, Condition, leading_to};
use super::change::declarations;
use super::error::MigrationError;
use super::file::Replacement;
use super::options::Method;
use super::step::{Phase, Step};
use crate::name::{self, NameKind, quoted};
use crate::rabbitmq::{BindingDeclaration, DestinationType};
use crate::state::State;

/// What a sequence is made from.
pub(super) struct Setting<'a> {
    pub replacement: &'a Replacement,
    /// The table before the first step.
    pub state: &'a State,
    /// The bindings that lead to the old queue then.
    pub sources: Vec<BindingDeclaration>,
    /// The exchange in between.
    pub between: String,
    /// Its alternate exchange.
    pub catch: String,
    /// Queues whose dead letters come back to the old queue through the default exchange.
    pub returning: Vec<String>,
}

impl<'a> Setting<'a> {
    pub fn new(replacement: &'a Replacement, state: &'a State) -> Result<Self, MigrationError> {
        let (between, catch) = scaffolding(&replacement.old)?;
        Ok(Self {
            replacement,
            state,
            sources: leading_to(state, &replacement.old).cloned().collect(),
            between,
            catch,
            returning: super::feeding::returning(state, &replacement.old),
        })
    }

    fn old(&self) -> &str {
        &self.replacement.old
    }

    fn new_queue(&self) -> &str {
        &self.replacement.new
    }

    /// The bindings of the old queue, leading to another destination.
    fn led_to(&self, kind: DestinationType, name: &str) -> Vec<BindingDeclaration> {
        let lead = |binding: &BindingDeclaration| BindingDeclaration {
            destination: name.to_owned(),
            destination_type: kind,
            ..binding.clone()
        };
        self.sources.iter().map(lead).collect()
    }

    /// The new queue and what belongs to it; the wait for its consumers.
    fn prepare(&self) -> Vec<Step> {
        declarations(&self.replacement.tables).into_iter().map(|action| Step::new(Phase::Prepare, action)).collect()
    }

    fn await_consumers(&self) -> Option<Step> {
        let count = self.replacement.options.wait_for_consumers;
        let queue = self.new_queue().to_owned();
        (count > 0).then(|| Step::new(Phase::Switch, Action::AwaitConsumers { queue, count }))
    }

    /// The wait for every node, and for the old queue's last message.
    fn drain(&self, switched: &BindingDeclaration) -> Vec<Step> {
        let (queue, returning) = (self.old().to_owned(), self.returning.clone());
        vec![
            Step::new(Phase::Drain, Action::AwaitNodes { binding: switched.clone(), bound: false }),
            Step::new(Phase::Drain, Action::Drain { queue: queue.clone(), returning })
                .requiring([Condition::Unreachable(queue)]),
        ]
    }

    /// The end of the old queue: every node knows the last change before, and it is empty still.
    fn retire(&self, last: &BindingDeclaration) -> Vec<Step> {
        let (queue, returning) = (self.old().to_owned(), self.returning.clone());
        let mut steps = vec![Step::new(Phase::Retire, Action::AwaitNodes { binding: last.clone(), bound: false })];
        if self.replacement.options.retire_after_ms > 0 {
            steps.push(Step::new(Phase::Retire, Action::Rest { ms: self.replacement.options.retire_after_ms }));
        }
        steps.push(Step::new(Phase::Retire, Action::Drain { queue: queue.clone(), returning }));
        steps.push(Step::new(Phase::Retire, Action::DeleteQueue(queue)));
        steps
    }
}

/// The names of the exchange between the sources and a queue, and of its alternate exchange.
pub(super) fn scaffolding(old: &str) -> Result<(String, String), MigrationError> {
    let names = [format!("{old}.migration"), format!("{old}.migration.catch")];
    for name in &names {
        name::check(NameKind::Exchange, name).map_err(|error| {
            let message =
                format!("the exchange for the migration of queue {} cannot be named: {}", quoted(old), error.message());
            MigrationError::new("migration_queue", message, error.help())
        })?;
    }
    let [between, catch] = names;
    Ok((between, catch))
}

/// The sequence of the method that the file asks for.
pub(super) fn steps(setting: &Setting<'_>) -> Result<Vec<Step>, MigrationError> {
    if setting.sources.is_empty() {
        let message = format!("no exchange leads to queue {}", quoted(setting.old()));
        let help = "messages that are published to it by name cannot be moved by the broker: change their publishers to the \
                    new queue's name, let the old queue run empty, and delete it with changes";
        return Err(MigrationError::new("migration_refused", message, help).with("reason", "no_source"));
    }
    match setting.replacement.options.method {
        Method::Fanout => Ok(fanout::steps(setting)),
        Method::Overlap => Ok(overlap::steps(setting)),
        Method::Policy => policy::steps(setting),
    }
}
