//! What is known beside the table before a run begins: shovels, rights and consumers.

use crate::{RunError, Runner, patiently};
use acemq_core::migration::{Facts, MigrationPlan};

impl Runner<'_> {
    /// The plan with what the broker tells beside its table. Nodes are looked at again and again while a run goes on, and
    /// messages that come by name right before the old queue goes, so they are not among it.
    ///
    /// # Errors
    /// When the management API cannot be asked; what the user may not see there is not told and not judged.
    pub async fn considered(&self, plan: MigrationPlan) -> Result<MigrationPlan, RunError> {
        let Some(subject) = &plan.subject else { return Ok(plan) };
        let (management, vhost) = (self.management, self.vhost);
        let facts = Facts {
            shovels: patiently(async || management.shovels(vhost).await).await?,
            permissions: patiently(async || management.permissions(vhost).await).await?,
            user: self.user.clone(),
            consumers: patiently(async || management.consumers(vhost, &subject.old).await).await?,
            ..Facts::default()
        };
        Ok(plan.considering(&facts))
    }
}
