//! What is known beside the table before a run begins: shovels, rights and consumers.

use crate::queues::{has_leader, waited_for};
use crate::{LOCK_QUEUE, history::HISTORY_STREAM};
use crate::{RunError, Runner, patiently};
use acemq_core::migration::{Facts, MigrationPlan, RoomFact};
use acemq_core::state::State;

impl Runner<'_> {
    /// The plan for a table, with what the broker tells beside it. Nodes are looked at again and again while a run goes on, and
    /// messages that come by name right before the old queue goes, so they are not among it.
    ///
    /// # Errors
    /// When the management API cannot be asked; what the user may not see there is not told and not judged.
    pub async fn considered(&self, plan: MigrationPlan, live: &State) -> Result<MigrationPlan, RunError> {
        let Some(subject) = &plan.subject else { return Ok(plan) };
        let (management, vhost) = (self.management, self.vhost);
        let facts = Facts {
            shovels: patiently(async || management.shovels(vhost).await).await?,
            permissions: patiently(async || management.permissions(vhost).await).await?,
            user: self.user.clone(),
            consumers: patiently(async || management.consumers(vhost, &subject.old).await).await?,
            asks_leaders: waited_for(&plan).filter(|queue| has_leader(live, queue)).map(str::to_owned).collect(),
            room: self.room(live),
            ..Facts::default()
        };
        Ok(plan.considering(&facts))
    }

    /// How many queues there may be and are. The lock and the history are queues as well.
    fn room(&self, live: &State) -> Option<RoomFact> {
        let own = [(LOCK_QUEUE, true), (HISTORY_STREAM, self.keeps_history_there)].into_iter();
        let own = own.filter(|(name, is_used)| *is_used && !live.queues.contains_key(*name));
        Some(RoomFact {
            limit: live.queue_limit?,
            declared: u64::try_from(live.queues.len()).unwrap_or(u64::MAX),
            own: own.map(|(name, _)| name.to_owned()).collect(),
        })
    }
}
