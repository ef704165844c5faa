//! Both queues bound for a moment, for consumers that do not mind a message twice.

use super::Setting;
use crate::migration::action::{Action, Condition};
use crate::migration::step::{Phase, Step};
use crate::rabbitmq::DestinationType;

pub(super) fn steps(setting: &Setting<'_>) -> Vec<Step> {
    let direct = setting.led_to(DestinationType::Queue, setting.new_queue());
    let mut steps = setting.prepare();
    steps.extend(setting.await_consumers());
    for binding in &direct {
        steps.push(Step::new(Phase::Switch, Action::Bind(binding.clone())));
    }
    for binding in &setting.sources {
        let all_bound = direct.iter().cloned().map(Condition::Bound);
        steps.push(Step::new(Phase::Switch, Action::Unbind(binding.clone())).requiring(all_bound));
    }
    if let Some(last) = setting.sources.last() {
        steps.extend(setting.drain(last));
        steps.extend(setting.retire(last));
    }
    steps
}
