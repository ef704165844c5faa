//! What the version to upgrade to refuses, ignores or does differently.
//!
//! Only what definitions show: a channel's global prefetch (gone with 4.3), messages above the size limit (16 MiB from 4.0 on)
//! and feature flags are the business of clients and nodes.

use super::codes::Code;
use super::exchange::Kind;
use super::finding::{Finding, ObjectKind, binding_name, quoted};
use super::world::World;
use super::{Options, Report};
use crate::policy::{Policies, Setting, Source, recognises};
use crate::rabbitmq::changes::{
    ALWAYS_TYPED, EXACT_HEADERS, IN_MEMORY_GONE, LAZY_MODE_GONE, Since, TWO_HASHES, V4_3, V4_3_QUEUES,
};
use crate::rabbitmq::{Broker, Conditions, QueueType, Version, declare_exchange, declare_queue};
use crate::state::{State, predeclared_exchange};
use crate::topic::TopicPattern;
use crate::topology::{describe_binding_arguments, shown_value};
use crate::value::Value;
use std::collections::BTreeSet;

/// What is taken, compared, and has no effect any more.
const IGNORED: [(&str, Since, &str); 3] = [
    ("queue-mode", LAZY_MODE_GONE, "3.12"),
    ("max-in-memory-length", IN_MEMORY_GONE, "3.10"),
    ("max-in-memory-bytes", IN_MEMORY_GONE, "3.10"),
];

/// The steps from one version to another.
struct Upgrade {
    from: Option<Version>,
    to: Version,
}

impl Upgrade {
    /// Whether a change comes with it.
    fn brings(&self, change: Since) -> bool {
        change.holds(self.to) && !self.from.is_some_and(|from| change.holds(from))
    }
}

/// Everything that the version of `options.target` does otherwise; nothing when none is asked about.
pub(super) fn check(world: &World<'_>, options: &Options, report: &mut Report) {
    let Some(to) = options.target else { return };
    let upgrade = Upgrade { from: world.state.broker.version, to };
    policies(world, &upgrade, report);
    queues(world, &upgrade, report);
    settings(world, &upgrade, report);
    exchanges(world, &upgrade, report);
    bindings(world, &upgrade, report);
}

fn policies(world: &World<'_>, upgrade: &Upgrade, report: &mut Report) {
    let users = world.state.policies.iter().map(|policy| (policy, ObjectKind::Policy));
    let operators = world.state.operator_policies.iter().map(|policy| (policy, ObjectKind::OperatorPolicy));
    for (policy, kind) in users.chain(operators) {
        let object = || world.object(kind, policy.name.as_str());
        let known = |key: &str| upgrade.from.is_none_or(|from| recognises(from, key));
        let gone: Vec<&str> = policy
            .definition
            .iter()
            .map(|(key, _)| key)
            .filter(|key| known(key) && !recognises(upgrade.to, key))
            .collect();
        let mirrors: Vec<&str> = gone.iter().copied().filter(|key| key.starts_with("ha-")).collect();
        if !mirrors.is_empty() {
            let rest = if mirrors.len() == policy.definition.len() {
                "; without them nothing is left of it, so delete it"
            } else {
                ""
            };
            let message =
                format!("policy {} mirrors classic queues, which RabbitMQ {} cannot", quoted(&policy.name), upgrade.to);
            let fix = format!(
                "move the queues to quorum, and take {} out of policy {}{rest}",
                mirrors.join(", "),
                quoted(&policy.name)
            );
            report.add(Finding::new(Code::UpgradeMirroring, object(), message).fix(fix));
        }
        let other: Vec<&str> = gone.into_iter().filter(|key| !key.starts_with("ha-")).collect();
        if !other.is_empty() && upgrade.from.is_some() {
            let message = format!(
                "RabbitMQ {} does not know {} of policy {}",
                upgrade.to,
                other.join(", "),
                quoted(&policy.name)
            );
            report.add(Finding::new(Code::UpgradeRefuses, object(), message));
        }
        for (key, _, version) in IGNORED.into_iter().filter(|(_, since, _)| upgrade.brings(*since)) {
            if policy.definition.contains(key) {
                let message = format!("{key} of policy {} has no effect from {version} on", quoted(&policy.name));
                report.add(Finding::new(Code::UpgradeIgnores, object(), message).told_by(key));
            }
        }
    }
}

fn queues(world: &World<'_>, upgrade: &Upgrade, report: &mut Report) {
    let mut after = Conditions::new(upgrade.to, world.state.vhost.clone());
    after.default_queue_type.clone_from(&world.state.default_queue_type);
    let before = upgrade.from.map(|from| {
        let mut before = Conditions::new(from, world.state.vhost.clone());
        before.default_queue_type.clone_from(&world.state.default_queue_type);
        before
    });
    for queue in world.queues.values() {
        let object = || world.queue_object(queue.name);
        let declaration = queue.declaration;
        let transient = !declaration.durable && !declaration.exclusive;
        if transient && upgrade.brings(V4_3) {
            let message = format!(
                "queue {} is neither durable nor exclusive, which RabbitMQ {} denies unless its configuration permits it",
                quoted(queue.name),
                upgrade.to
            );
            report.add(Finding::new(Code::UpgradeTransientQueue, object(), message));
        } else if !queue.name.starts_with("amq.")
            && let Err(refused) = declare_queue(&after, None, declaration)
            && before.as_ref().is_none_or(|before| declare_queue(before, None, declaration).is_ok())
        {
            let message = format!("RabbitMQ {} refuses queue {}: {}", upgrade.to, quoted(queue.name), refused.text);
            report.add(Finding::new(Code::UpgradeRefuses, object(), message));
        }
        let unlimited = !queue
            .effective
            .settings
            .get("delivery-limit")
            .is_some_and(|setting| setting.source != crate::policy::Source::Default);
        if queue.kind == Some(QueueType::Quorum) && unlimited && upgrade.brings(ALWAYS_TYPED) {
            let fate = if queue.dead_letters().is_some() { "dead-lettered" } else { "dropped" };
            let message = format!(
                "from 4.0 on a message that comes back to quorum queue {} more than 20 times is {fate}",
                quoted(queue.name)
            );
            report.add(Finding::new(Code::UpgradeDeliveryLimit, object(), message));
        }
        if let Some(limit) = queue.delivery_limit()
            && upgrade.brings(V4_3_QUEUES)
        {
            let message = format!(
                "from 4.3 on a message that a consumer puts back to quorum queue {} with basic.nack does not count towards its delivery limit of {limit}",
                quoted(queue.name)
            );
            report.add(Finding::new(Code::UpgradeUncounted, object(), message));
        }
        for (key, _, version) in IGNORED.into_iter().filter(|(_, since, _)| upgrade.brings(*since)) {
            let argument = format!("x-{key}");
            if declaration.arguments.contains(&argument) {
                let message = format!("{argument} of queue {} has no effect from {version} on", quoted(queue.name));
                report.add(Finding::new(Code::UpgradeIgnores, object(), message).told_by(key));
            }
        }
    }
}

/// What holds for a queue on one version and not on the other, by the same arguments and policies.
fn settings(world: &World<'_>, upgrade: &Upgrade, report: &mut Report) {
    if upgrade.from.is_none() {
        return;
    }
    let mut after = State::empty(Broker::rabbitmq(upgrade.to), world.state.vhost.clone());
    after.policies.clone_from(&world.state.policies);
    after.operator_policies.clone_from(&world.state.operator_policies);
    let after = Policies::new(&after);
    for queue in world.queues.values() {
        let then = after.effective(queue.declaration);
        let (before, then) = (&queue.effective.settings, &then.settings);
        let keys: BTreeSet<&String> = before.keys().chain(then.keys()).filter(|key| !told_elsewhere(key)).collect();
        let changes = keys.into_iter().filter_map(|key| {
            let (before, then) = (before.get(key), then.get(key));
            let value = |setting: Option<&'_ Setting>| setting.and_then(|setting| setting.value.clone());
            let unclear = |setting: Option<&Setting>| setting.is_some_and(|setting| setting.value.is_none());
            // What a version does by itself is no business of the declarations.
            let default = |setting: Option<&Setting>| setting.is_none_or(|setting| setting.source == Source::Default);
            let same =
                value(before) == value(then) || unclear(before) || unclear(then) || default(before) && default(then);
            (!same).then(|| format!("{key} {} becomes {}", shown(before), shown(then)))
        });
        let changes: Vec<String> = changes.collect();
        if !changes.is_empty() {
            let message =
                format!("on RabbitMQ {} queue {} changes: {}", upgrade.to, quoted(queue.name), changes.join("; "));
            report.add(Finding::new(Code::UpgradeSettingChanges, world.queue_object(queue.name), message));
        }
    }
}

/// A setting with its reason.
fn shown(setting: Option<&Setting>) -> String {
    match setting {
        Some(Setting { value: Some(value), why, .. }) => format!("{} ({why})", shown_value(value)),
        _ => "not set".to_owned(),
    }
}

/// Settings with findings of their own.
fn told_elsewhere(key: &str) -> bool {
    key.starts_with("ha-") || IGNORED.iter().any(|(ignored, ..)| *ignored == key)
}

fn exchanges(world: &World<'_>, upgrade: &Upgrade, report: &mut Report) {
    let after = Conditions::new(upgrade.to, world.state.vhost.clone());
    let before = upgrade.from.map(|from| Conditions::new(from, world.state.vhost.clone()));
    for exchange in world.state.exchanges.values() {
        if predeclared_exchange(&exchange.name).is_none()
            && !exchange.name.starts_with("amq.")
            && let Err(refused) = declare_exchange(&after, None, exchange)
            && before.as_ref().is_none_or(|before| declare_exchange(before, None, exchange).is_ok())
        {
            let object = world.object(ObjectKind::Exchange, exchange.name.as_str());
            let message =
                format!("RabbitMQ {} refuses exchange {}: {}", upgrade.to, quoted(&exchange.name), refused.text);
            report.add(Finding::new(Code::UpgradeRefuses, object, message));
        }
    }
}

fn bindings(world: &World<'_>, upgrade: &Upgrade, report: &mut Report) {
    let (hashes, headers) = (upgrade.brings(TWO_HASHES), upgrade.brings(EXACT_HEADERS));
    if !hashes && !headers {
        return;
    }
    for exchange in world.exchanges.values() {
        for binding in &exchange.outgoing {
            let object = || world.object(ObjectKind::Binding, binding_name(binding));
            if hashes && exchange.kind == Kind::Topic && TopicPattern::new(&binding.routing_key).hash_words() > 2 {
                let message = format!(
                    "RabbitMQ {} refuses more than two # in a binding key: {}",
                    upgrade.to,
                    binding_name(binding)
                );
                report.add(Finding::new(Code::UpgradeTooManyHashes, object(), message));
            }
            let inexact = |value: &Value| matches!(value, Value::F32(_) | Value::F64(_) | Value::Timestamp(_));
            if headers && exchange.kind == Kind::Headers && binding.arguments.iter().any(|(_, value)| inexact(value)) {
                let message = format!("headers binding {} is compared differently from 3.13 on", binding_name(binding));
                let distinction = describe_binding_arguments(&binding.arguments);
                report.add(Finding::new(Code::UpgradeHeaders, object(), message).told_by(&distinction));
            }
        }
    }
}
