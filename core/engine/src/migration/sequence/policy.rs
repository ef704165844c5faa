//! The exchange in between has its source's type, and a policy gives it its alternate exchange.
//!
//! Every key, pattern or header set stands on the exchange in between as it stood on the source, and all of them leave the old
//! queue before the first leads to the new one: a pattern that is bound again while another still leads to the old queue
//! doubles what fits both.

use super::Setting;
use crate::migration::action::{Action, Condition};
use crate::migration::error::MigrationError;
use crate::migration::options::Teardown;
use crate::migration::step::{Phase, Step};
use crate::name::quoted;
use crate::rabbitmq::{BindingDeclaration, DestinationType, ExchangeDeclaration, PolicyDeclaration, exact_pattern};
use crate::value::Table;
use std::collections::BTreeSet;

pub(super) fn steps(setting: &Setting<'_>) -> Result<Vec<Step>, MigrationError> {
    let kind = source_type(setting)?;
    let (old, new) = (setting.old(), setting.new_queue());
    let (between_name, catch_name) = (setting.between.as_str(), setting.catch.as_str());
    let internal = |name: &str| ExchangeDeclaration { internal: true, ..ExchangeDeclaration::durable(name, &kind) };
    let (between, catch) = (internal(between_name), internal(catch_name));
    let from = |source: &str, destination: &str| -> Vec<BindingDeclaration> {
        let lead = |binding: &BindingDeclaration| BindingDeclaration {
            source: source.to_owned(),
            destination: destination.to_owned(),
            destination_type: DestinationType::Queue,
            ..binding.clone()
        };
        let mut bindings: Vec<BindingDeclaration> = Vec::new();
        for binding in setting.sources.iter().map(lead) {
            if !bindings.contains(&binding) {
                bindings.push(binding);
            }
        }
        bindings
    };
    let (to_old, caught, to_new) = (from(between_name, old), from(catch_name, new), from(between_name, new));
    let through = setting.led_to(DestinationType::Exchange, between_name);
    let direct = setting.led_to(DestinationType::Queue, new);
    let policy = policy(setting);

    let mut steps = setting.prepare();
    let mut add = |phase, actions: Vec<Action>| {
        steps.extend(actions.into_iter().map(|action| Step::new(phase, action)));
    };
    let binds = |bindings: &[BindingDeclaration]| bindings.iter().cloned().map(Action::Bind).collect::<Vec<_>>();
    let unbinds = |bindings: &[BindingDeclaration]| bindings.iter().cloned().map(Action::Unbind).collect::<Vec<_>>();
    add(Phase::Bootstrap, vec![Action::DeclareExchange(between.clone())]);
    add(Phase::Bootstrap, binds(&to_old));
    add(Phase::Bootstrap, binds(&through));
    add(Phase::Bootstrap, unbinds(&setting.sources));
    add(Phase::Switch, vec![Action::DeclareExchange(catch.clone())]);
    add(Phase::Switch, binds(&caught));
    add(Phase::Switch, vec![Action::SetPolicy(policy.clone())]);
    steps.extend(setting.await_consumers());
    let armed = [
        Condition::InForce { exchange: setting.between.clone(), policy: policy.name.clone() },
        Condition::OnlySources { queue: old.to_owned(), sources: vec![setting.between.clone()] },
        Condition::ExchangeAs(between.clone()),
    ];
    let armed = || armed.iter().cloned().chain(caught.iter().chain(&through).cloned().map(Condition::Bound));
    let mut armed_once = Some(armed().collect::<Vec<_>>());
    for binding in &to_old {
        // Only before the first of them is the old queue bound to nothing but the exchange in between by certainty.
        steps.push(
            Step::new(Phase::Switch, Action::Unbind(binding.clone())).requiring(armed_once.take().unwrap_or_default()),
        );
    }
    let Some(last) = to_old.last() else { return Ok(steps) };
    steps.extend(setting.drain(last));
    let mut add = |phase, actions: Vec<Action>| {
        steps.extend(actions.into_iter().map(|action| Step::new(phase, action)));
    };
    add(Phase::Switch, binds(&to_new));
    add(Phase::Switch, vec![Action::DeletePolicy(policy)]);
    add(Phase::Switch, unbinds(&caught));
    add(Phase::Switch, vec![Action::DeleteExchange(catch)]);
    if setting.replacement.options.teardown == Teardown::Now {
        add(Phase::Teardown, binds(&direct));
        add(Phase::Teardown, unbinds(&through));
        add(Phase::Teardown, unbinds(&to_new));
        add(Phase::Teardown, vec![Action::DeleteExchange(between)]);
        steps.extend(setting.retire(last));
    }
    Ok(steps)
}

/// The one type that all sources have.
fn source_type(setting: &Setting<'_>) -> Result<String, MigrationError> {
    let sources: BTreeSet<&str> = setting.sources.iter().map(|binding| binding.source.as_str()).collect();
    let kinds: BTreeSet<String> = sources
        .iter()
        .filter_map(|source| setting.state.exchange(source).there())
        .map(|source| source.kind.clone())
        .collect();
    let mut kinds = kinds.into_iter();
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) => Ok(kind),
        _ => {
            let message = format!(
                "queue {} is bound to exchanges of different types, and with method: policy the exchange in between has one",
                quoted(setting.old())
            );
            Err(MigrationError::new("migration_refused", message, "use method: fanout, which serves them all")
                .with("reason", "source_types"))
        }
    }
}

/// The policy: for this one exchange, and above every other one.
fn policy(setting: &Setting<'_>) -> PolicyDeclaration {
    let highest = setting.state.policies.iter().map(|policy| policy.priority).max();
    let mut definition = Table::new();
    definition.insert("alternate-exchange", setting.catch.as_str());
    PolicyDeclaration {
        name: setting.between.clone(),
        pattern: exact_pattern(&setting.between),
        apply_to: "exchanges".to_owned(),
        priority: highest.map_or(0, |highest| highest.saturating_add(1)),
        definition,
    }
}
