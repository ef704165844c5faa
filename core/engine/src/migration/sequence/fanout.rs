//! One exchange between all sources and the queue, one call that switches.
//!
//! Both exchanges in between are fanouts, so keys, patterns and headers matter only where they did before: at the sources. The
//! exchange in between leads to the old queue; its alternate exchange leads to the new one and sleeps as long as that
//! binding is there. Taking it away moves every source, key and pattern to the new queue in one call, which each node applies
//! at once. The binding to the old queue comes before the first source leads here, or messages would go both ways.

use super::Setting;
use crate::migration::action::{Action, Condition};
use crate::migration::options::Teardown;
use crate::migration::step::{Phase, Step};
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration};

pub(super) fn steps(setting: &Setting<'_>) -> Vec<Step> {
    let (old, new) = (setting.old(), setting.new_queue());
    let internal = |name: &str| ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable(name, "fanout") };
    let catch = internal(&setting.catch);
    let between = internal(&setting.between).with("alternate-exchange", setting.catch.as_str());
    let to_new = BindingDeclaration::queue(setting.catch.as_str(), new, "");
    let to_old = BindingDeclaration::queue(setting.between.as_str(), old, "");
    let through = setting.led_to(DestinationType::Exchange, &setting.between);
    let direct = setting.led_to(DestinationType::Queue, new);

    let mut steps = setting.prepare();
    let mut add = |phase, action| steps.push(Step::new(phase, action));
    add(Phase::Bootstrap, Action::DeclareExchange(catch.clone()));
    add(Phase::Bootstrap, Action::Bind(to_new.clone()));
    add(Phase::Bootstrap, Action::DeclareExchange(between.clone()));
    add(Phase::Bootstrap, Action::Bind(to_old.clone()));
    for binding in &through {
        add(Phase::Bootstrap, Action::Bind(binding.clone()));
    }
    for binding in &setting.sources {
        add(Phase::Bootstrap, Action::Unbind(binding.clone()));
    }
    steps.extend(setting.await_consumers());
    let switch = Step::new(Phase::Switch, Action::Unbind(to_old.clone())).requiring(
        [
            Condition::OnlySources { queue: old.to_owned(), sources: vec![setting.between.clone()] },
            Condition::ExchangeAs(between.clone()),
            Condition::Bound(to_new.clone()),
        ]
        .into_iter()
        .chain(through.iter().cloned().map(Condition::Bound)),
    );
    steps.push(switch);
    steps.extend(setting.drain(&to_old));
    if setting.replacement.options.teardown == Teardown::Now {
        steps.extend(teardown(setting, &direct, &through, [&to_new, &to_old], [&between, &catch]));
    }
    steps
}

/// The direct way first, then the way through the exchanges in between, then these, then the old queue.
fn teardown(
    setting: &Setting<'_>,
    direct: &[BindingDeclaration],
    through: &[BindingDeclaration],
    [to_new, to_old]: [&BindingDeclaration; 2],
    [between, catch]: [&ExchangeDeclaration; 2],
) -> Vec<Step> {
    let step = |action| Step::new(Phase::Teardown, action);
    let mut steps: Vec<Step> = direct.iter().cloned().map(|binding| step(Action::Bind(binding))).collect();
    steps.extend(through.iter().cloned().map(|binding| step(Action::Unbind(binding))));
    steps.push(step(Action::DeleteExchange(between.clone())));
    steps.push(step(Action::Unbind(to_new.clone())));
    steps.push(step(Action::DeleteExchange(catch.clone())));
    steps.extend(setting.retire(to_old));
    steps
}
