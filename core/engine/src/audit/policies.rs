//! Policies that do not do what they seem to, by the effective settings of what they match.

use super::Report;
use super::codes::Code;
use super::finding::{Finding, ObjectKind, few, quoted};
use super::world::World;
use crate::policy::{Choice, Source, Winner, recognises};
use crate::rabbitmq::changes::DEFAULT_QUEUE_TYPE;
use crate::rabbitmq::{Match, NamePattern, PolicyDeclaration};
use crate::topology::{shown_name, shown_value};
use std::collections::{BTreeMap, BTreeSet};

/// What is collected about policies while every object is looked at.
#[derive(Default)]
struct Seen<'a> {
    /// The names of policies that tie, with the objects concerned.
    ties: BTreeMap<Vec<&'a str>, Vec<&'a str>>,
    /// A policy with the keys that keep it off, and the queues.
    skipped: BTreeMap<(&'a str, Vec<&'a str>), Vec<&'a str>>,
}

impl<'a> Seen<'a> {
    fn take(&mut self, name: &'a str, choice: Choice<'a>) {
        if let Winner::Tie(policies) = &choice.winner {
            let same = policies.windows(2).all(|pair| match pair {
                [one, other] => one.definition.sorted() == other.definition.sorted(),
                _ => true,
            });
            if !same {
                let mut names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
                names.sort_unstable();
                self.ties.entry(names).or_default().push(name);
            }
        }
        for skipped in choice.skipped {
            self.skipped.entry((&skipped.policy.name, skipped.keys)).or_default().push(name);
        }
    }

    fn report(self, world: &World<'_>, kind: ObjectKind, report: &mut Report) {
        for (names, objects) in self.ties {
            let Some(first) = names.first() else { continue };
            let message = format!(
                "policies {} have the same priority and match {}: which one applies is undefined",
                few(names.iter().copied()),
                few(objects.into_iter())
            );
            report.add(Finding::new(Code::PolicyTie, world.object(kind, *first), message).told_by(&names.join("\n")));
        }
        for ((policy, keys), queues) in self.skipped {
            let (count, one) = (queues.len(), queues.len() == 1);
            let message = format!(
                "policy {} is passed over for {count} {} ({}), because {} {} not supported by {} type",
                quoted(policy),
                ObjectKind::Queue.word(!one),
                few(queues.into_iter()),
                keys.join(", "),
                if keys.len() == 1 { "is" } else { "are" },
                if one { "its" } else { "their" },
            );
            report
                .add(Finding::new(Code::PolicySkipped, world.object(kind, policy), message).told_by(&keys.join("\n")));
        }
    }
}

/// Every policy and operator policy.
pub(super) fn check(world: &World<'_>, report: &mut Report) {
    default_type(world, report);
    if world.policies.unknown().is_some() {
        return;
    }
    let (mut users, mut operators) = (Seen::default(), Seen::default());
    let mut overruled: BTreeMap<(&str, &str), Vec<(&str, String)>> = BTreeMap::new();
    for queue in world.queues.values() {
        let choice = world.policies.for_queue(queue.declaration);
        if let Winner::One(policy) = choice.winner {
            for (key, value) in policy.definition.iter() {
                let Some(setting) = queue.effective.settings.get(key) else { continue };
                if setting.source == Source::Argument && setting.value.as_ref().is_some_and(|held| *held != *value) {
                    let held = setting.value.as_ref().map(|held| shown_value(held).into_owned()).unwrap_or_default();
                    overruled.entry((&policy.name, key)).or_default().push((queue.name, held));
                }
            }
        }
        users.take(queue.name, choice);
        operators.take(queue.name, world.policies.operator_for_queue(queue.declaration));
    }
    for exchange in world.exchanges.keys().filter(|name| !name.is_empty()) {
        users.take(exchange, world.policies.for_exchange(exchange));
    }
    users.report(world, ObjectKind::Policy, report);
    operators.report(world, ObjectKind::OperatorPolicy, report);
    for ((policy, key), queues) in overruled {
        let (first, held) = queues.first().cloned().unwrap_or_default();
        let message = format!(
            "{key} of policy {} has no effect on {}: an argument holds instead ({held} on {})",
            quoted(policy),
            few(queues.iter().map(|(queue, _)| *queue)),
            quoted(first)
        );
        report.add(Finding::new(Code::PolicyOverruled, world.object(ObjectKind::Policy, policy), message));
    }
    for policy in &world.state.policies {
        one(world, policy, ObjectKind::Policy, report);
    }
    for policy in &world.state.operator_policies {
        one(world, policy, ObjectKind::OperatorPolicy, report);
    }
}

fn one(world: &World<'_>, policy: &PolicyDeclaration, kind: ObjectKind, report: &mut Report) {
    let object = || world.object(kind, policy.name.as_str());
    let pattern = NamePattern::new(&policy.pattern);
    let at_start = NamePattern::new(&format!("^(?:{})", policy.pattern));
    let queues = world.queues.keys().filter(|_| policy.apply_to != "exchanges");
    let exchanges = world.exchanges.keys().filter(|_| matches!(policy.apply_to.as_str(), "all" | "exchanges"));
    let matched: Vec<&str> =
        queues.chain(exchanges).copied().filter(|name| pattern.matches(name) != Match::No).collect();
    if matched.is_empty() {
        let message = format!("policy {} matches nothing: pattern {}", quoted(&policy.name), quoted(&policy.pattern));
        report.add(Finding::new(Code::PolicyMatchesNothing, object(), message));
    }
    let later: Vec<&str> = matched.iter().copied().filter(|name| at_start.matches(name) == Match::No).collect();
    if !later.is_empty() {
        let message = format!(
            "pattern {} of policy {} also matches inside names: {}",
            quoted(&policy.pattern),
            quoted(&policy.name),
            few(later.into_iter())
        );
        let fix = format!("write ^{} if only names that start so are meant", shown_name(&policy.pattern));
        report.add(Finding::new(Code::PolicyUnanchored, object(), message).fix(fix));
    }
    let keys: BTreeSet<&str> = policy.definition.iter().map(|(key, _)| key).collect();
    if let Some(version) = world.state.broker.version {
        let unknown: Vec<&str> = keys.iter().copied().filter(|key| !recognises(version, key)).collect();
        if !unknown.is_empty() {
            let message = format!(
                "RabbitMQ {version} does not know {} of policy {} without a plugin",
                unknown.join(", "),
                quoted(&policy.name)
            );
            report.add(Finding::new(Code::PolicyUnknownKey, object(), message));
        }
    }
    if keys.iter().any(|key| key.starts_with("federation-upstream")) && !matched.is_empty() {
        let message = format!(
            "policy {} federates {}: what happens on other brokers is not judged",
            quoted(&policy.name),
            few(matched.into_iter())
        );
        report.add(Finding::new(Code::FederatedQueue, object(), message));
    }
}

/// Queues without a type in a vhost whose default is another one than theirs.
fn default_type(world: &World<'_>, report: &mut Report) {
    let Some(default) = world.state.default_queue_type.as_deref().filter(|default| *default != "classic") else {
        return;
    };
    if !DEFAULT_QUEUE_TYPE.holds(world.version) {
        return;
    }
    for queue in world.queues.values() {
        let declaration = queue.declaration;
        let plain = declaration.durable && !declaration.exclusive && !declaration.auto_delete;
        if plain && !declaration.arguments.contains("x-queue-type") {
            let message = format!(
                "queue {} is classic and names no type; the vhost's default is {}: declared again without a type it is refused, imported it becomes one",
                quoted(queue.name),
                shown_name(default)
            );
            report.add(Finding::new(Code::DefaultTypeChanges, world.queue_object(queue.name), message));
        }
    }
}
