//! What a vhost will be when a migration is through, so that the next one can be planned before anything is changed.

use crate::migration::{MigrationPlan, rehearsal};
use crate::state::State;

/// The vhost behind the last step of a plan that was made from `live`; `None` where the plan does not know where it is, and
/// where a broker would refuse a step.
pub fn forecast(plan: &MigrationPlan, live: &State) -> Option<State> {
    let left = plan.steps.get(plan.done()?..)?;
    let states = rehearsal::rehearse(live, left.iter().map(|step| &step.action)).ok()?;
    states.last().map(|state| State::clone(state))
}
