//! The way out of a drift: the policy that makes the live object behave as the topology asks, or a migration.

use super::action::{Action, Object, PlannedDifference, Remedied, Verdict};
use super::judge::goes_by_rabbitmq;
use super::session::Settings;
use crate::policy::{Policies, Remedies, Remedy, shell};
use crate::rabbitmq::{Difference, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration};
use crate::state::State;
use crate::topology::shown_name;
use crate::value::{Table, Value};

/// Finds the remedy of everything that drifted.
pub(super) fn find(settings: &Settings, actions: &mut [Action]) {
    let drifts = actions.iter().any(|action| action.verdict == Verdict::Drift);
    if !drifts || !goes_by_rabbitmq(&settings.broker) {
        return;
    }
    let vhost = settings.vhost.clone().unwrap_or_else(|| "/".to_owned());
    let unknown = State::unknown(settings.broker.clone(), vhost.clone());
    let policies = Policies::new(settings.state.as_ref().unwrap_or(&unknown));
    for action in actions.iter_mut().filter(|action| action.verdict == Verdict::Drift) {
        let differences: Vec<Difference> = action.differences.iter().map(difference).collect();
        let remedies = match &action.object {
            Object::Queue(queue) => policies.remedies(&stored_queue(queue, &differences), &differences),
            Object::Exchange(exchange) => {
                policies.exchange_remedies(&stored_exchange(exchange, &differences), &differences)
            }
            Object::Policy(_) | Object::External(_) | Object::Binding(_) => continue,
        };
        take(action, remedies, &vhost);
    }
}

fn difference(planned: &PlannedDifference) -> Difference {
    Difference {
        argument: planned.argument.clone(),
        wanted: planned.wanted.clone(),
        current: planned.current.clone(),
        compared: planned.compared,
    }
}

/// The queue as the broker has it: as it is wanted, but for the differences.
fn stored_queue(wanted: &QueueDeclaration, differences: &[Difference]) -> QueueDeclaration {
    let mut stored = wanted.clone();
    for difference in differences {
        match (difference.argument.as_str(), &difference.current) {
            ("durable", Some(Value::Bool(flag))) => stored.durable = *flag,
            ("auto_delete", Some(Value::Bool(flag))) => stored.auto_delete = *flag,
            ("exclusive", Some(Value::Bool(flag))) => stored.exclusive = *flag,
            (argument, current) => set(&mut stored.arguments, argument, current.as_ref()),
        }
    }
    stored
}

/// The exchange as the broker has it.
fn stored_exchange(wanted: &ExchangeDeclaration, differences: &[Difference]) -> ExchangeDeclaration {
    let mut stored = wanted.clone();
    for difference in differences {
        match (difference.argument.as_str(), &difference.current) {
            ("durable", Some(Value::Bool(flag))) => stored.durable = *flag,
            ("auto_delete", Some(Value::Bool(flag))) => stored.auto_delete = *flag,
            ("internal", Some(Value::Bool(flag))) => stored.internal = *flag,
            ("type", Some(kind)) => stored.kind = kind.as_text().unwrap_or_default().to_owned(),
            (argument, current) => set(&mut stored.arguments, argument, current.as_ref()),
        }
    }
    stored
}

fn set(arguments: &mut Table, name: &str, value: Option<&Value>) {
    match value {
        Some(value) => _ = arguments.insert(name, value.clone()),
        None => _ = arguments.remove(name),
    }
}

fn take(action: &mut Action, remedies: Remedies, vhost: &str) {
    let object = format!("{} {}", action.object.kind(), shown_name(action.object.name()));
    for (difference, judged) in action.differences.iter_mut().zip(&remedies.differences) {
        difference.remedy = match judged.remedy {
            Remedy::Policy => Remedied::Policy,
            Remedy::Migrate => Remedied::Migrate,
            Remedy::DeclareAsIs => Remedied::DeclareAsIs,
            Remedy::None => Remedied::Nothing,
        };
        let (argument, why) = (&judged.argument, &judged.why);
        action.notes.extend(match judged.remedy {
            Remedy::Policy => Some(format!("{object}: a policy can change {argument} while the {} lives ({why}); the declaration has to keep what the broker has", action.object.kind())),
            Remedy::Migrate => Some(format!("{object}: {argument} takes a new {}: {why}", action.object.kind())),
            Remedy::DeclareAsIs => Some(format!("{object}: declare {argument} as it is on the broker: {why}")),
            Remedy::None => None,
        });
    }
    if let Some(policy) = remedies.policy {
        action.notes.extend(policy_notes(&policy, vhost));
        action
            .notes
            .extend(remedies.notes.into_iter().map(|note| format!("policy {}: {note}", shown_name(&policy.name))));
        action.policy = Some(policy);
    }
}

/// The policy as JSON and as `rabbitmqctl` lines.
fn policy_notes(policy: &PolicyDeclaration, vhost: &str) -> Vec<String> {
    let document = serde_json::to_string(&super::document::PolicyDocument::of(policy)).unwrap_or_default();
    let lines = shell(policy, vhost);
    let mut notes = vec![format!("policy {}: {document}", shown_name(&policy.name))];
    notes.extend(lines.sh.map(|line| format!("sh: {line}")));
    notes.extend(lines.cmd.map(|line| format!("cmd: {line}")));
    notes
}
