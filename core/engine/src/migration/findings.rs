//! What has to be known before a queue is replaced: what would go wrong, and what will be different.
//!
//! Everything here is read from the table alone. What a table cannot show (publishers to the default exchange, shovels, rights,
//! consumers that hold messages) is said once, so that somebody looks.

mod new_queue;

use super::action::{Condition, leading_to, with_default_type};
use super::feeding::returning;
use super::file::Replacement;
use super::sequence::scaffolding;
use crate::name::quoted;
use crate::policy::{Effective, Policies, Remedy, Winner};
use crate::rabbitmq::{QueueDeclaration, QueueType, Version, queue_differences};
use crate::state::{Presence, State};
use crate::topology::shown_value;
use crate::value::Value;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// Whether a finding stops the migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Weight {
    /// It would lose or double messages, or fail: the migration does not start.
    Refused,
    /// Something will be different.
    Warning,
    /// Something to look at, or to do beside it.
    Note,
}

/// One thing to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The stable code.
    pub code: &'static str,
    /// Whether it stops the migration.
    pub weight: Weight,
    /// What it is, as a sentence without a full stop.
    pub message: String,
    /// What to do, as a sentence without a full stop.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match self.weight {
            Weight::Refused => "refused",
            Weight::Warning => "warning",
            Weight::Note => "note",
        };
        write!(f, "{label}: {}; {} [{}]", self.message, self.help, self.code)
    }
}

/// Collects findings.
struct Inspection<'a> {
    state: &'a State,
    replacement: &'a Replacement,
    policies: Policies<'a>,
    found: Vec<Finding>,
}

/// Everything that the table shows about replacing a queue that is there. `state` is the table before the first step.
pub(super) fn inspect(state: &State, replacement: &Replacement, old: &QueueDeclaration) -> Vec<Finding> {
    let mut inspection = Inspection { state, replacement, policies: Policies::new(state), found: Vec::new() };
    let new = replacement.tables.queues.first().map(|queue| with_default_type(state, &queue.declaration));
    inspection.old_queue(old);
    inspection.sources(old);
    inspection.names();
    if let Some(new) = &new {
        inspection.new_queue(old, new);
        inspection.differences(old, new);
        inspection.lost_policies(old, new);
    }
    inspection.returning(old);
    inspection.unseen(old);
    inspection.found.sort_by_key(|finding| finding.weight);
    inspection.found
}

impl Inspection<'_> {
    fn add(&mut self, weight: Weight, code: &'static str, message: String, help: impl Into<String>) {
        self.found.push(Finding { code, weight, message, help: help.into() });
    }

    fn version(&self) -> Version {
        self.state.broker.version.unwrap_or(Version::NEWEST)
    }

    fn old_queue(&mut self, old: &QueueDeclaration) {
        let name = quoted(&old.name);
        if old.exclusive {
            let help = "its consumer declares its replacement by itself when it starts";
            self.add(
                Weight::Refused,
                "old_exclusive",
                format!("queue {name} is exclusive and goes with its connection"),
                help,
            );
        }
        if old.auto_delete {
            let help = "it goes with its last consumer: change its declaration and restart the consumers";
            self.add(Weight::Refused, "old_auto_delete", format!("queue {name} is auto-delete"), help);
        }
        let expires = self.policies.effective(old).value("expires").cloned();
        if let Some(expires) = expires {
            let message = format!("queue {name} expires after {} ms without consumers", shown_value(&expires));
            self.add(Weight::Refused, "old_expires", message, "it may go with its messages while consumers move: take a policy's expires away first, or stop using the queue");
        }
        self.old_settings(old);
        if old.queue_type() == Some(QueueType::Stream) {
            let help = "a stream is read by offset and never drained: declare the new one and move its readers";
            self.add(Weight::Refused, "old_stream", format!("{name} is a stream"), help);
        }
        if self.state.argument_types_lost
            && leading_to(self.state, &old.name).any(|binding| !binding.arguments.is_empty())
        {
            let message =
                format!("bindings of queue {name} have arguments, and the management API does not tell their types");
            self.add(Weight::Warning, "binding_types_lost", message, "texts and 64-bit integers are copied exactly; others would be another binding, and the check after the step finds that");
        }
    }

    /// What of policies and arguments matters while the old queue drains.
    fn old_settings(&mut self, old: &QueueDeclaration) {
        let name = quoted(&old.name);
        let effective = self.policies.effective(old);
        if let Some(ttl) = effective.value("message-ttl") {
            let goes =
                if effective.value("dead-letter-exchange").is_some() { "are dead-lettered" } else { "are dropped" };
            let message = format!(
                "messages of queue {name} that wait longer than {} ms {goes}, also while it drains",
                shown_value(ttl)
            );
            self.add(Weight::Note, "expires_while_draining", message, "keep its consumers at work until it is empty");
        }
        if let Winner::One(policy) = self.policies.for_queue(old).winner
            && policy.definition.iter().any(|(key, _)| key.starts_with("federation-upstream"))
        {
            let message = format!("queue {name} is federated by policy {}", quoted(&policy.name));
            let help = "its upstream's messages come to it without an exchange: take the federation away first, or let the policy match the new queue only";
            self.add(Weight::Refused, "old_federated", message, help);
        }
    }

    fn sources(&mut self, old: &QueueDeclaration) {
        let sources: BTreeSet<&str> =
            leading_to(self.state, &old.name).map(|binding| binding.source.as_str()).collect();
        for source in sources {
            let Presence::There(exchange) = self.state.exchange(source) else {
                let message =
                    format!("exchange {}, which leads to queue {}, cannot be seen", quoted(source), quoted(&old.name));
                self.add(
                    Weight::Refused,
                    "source_unknown",
                    message,
                    "give the management API, which shows internal exchanges too",
                );
                continue;
            };
            let name = quoted(source);
            match exchange.kind.as_str() {
                "direct" | "topic" | "fanout" | "headers" => {}
                "x-delayed-message" => {
                    let help = "messages that it holds go where its bindings lead when their time comes: stop its publishers, wait for the longest delay, and bind the new queue by hand";
                    self.add(Weight::Refused, "source_delayed", format!("exchange {name} delays messages"), help);
                }
                kind => {
                    let message = format!(
                        "exchange {name} is of type {}, which decides by rules that are not known",
                        quoted(kind)
                    );
                    self.add(Weight::Refused, "source_type", message, "bind the new queue by hand");
                }
            }
            if exchange.auto_delete {
                let message = format!("exchange {name} goes with its last binding");
                self.add(
                    Weight::Note,
                    "source_auto_delete",
                    message,
                    "the order of the steps keeps one there at all times",
                );
            }
            if let Winner::One(policy) = self.policies.for_exchange(source).winner
                && policy.definition.iter().any(|(key, _)| key.starts_with("federation-upstream"))
            {
                let message = format!("exchange {name} is federated by policy {}", quoted(&policy.name));
                self.add(
                    Weight::Refused,
                    "source_federated",
                    message,
                    "the upstream's bindings follow with a delay: take the federation away first",
                );
            }
        }
    }

    /// The exchanges in between: their names must be free, or theirs.
    fn names(&mut self) {
        let Ok((between, catch)) = scaffolding(&self.replacement.old) else { return };
        for name in [&between, &catch] {
            if let Winner::One(policy) = self.policies.for_exchange(name).winner {
                let sets_alternate = policy.definition.contains("alternate-exchange");
                let message = format!(
                    "policy {} applies to exchange {}, which the migration puts in between",
                    quoted(&policy.name),
                    quoted(name)
                );
                let (weight, help) = if sets_alternate && name == &catch {
                    (Weight::Refused, "it gives it an alternate exchange: narrow the pattern of the policy")
                } else {
                    (Weight::Note, "an argument or a policy of higher priority wins over it")
                };
                self.add(weight, "scaffold_policy", message, help);
            }
        }
    }

    fn differences(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        let (was, will) = (self.policies.effective(old), self.policies.effective(new));
        self.failure_behaviour(&was, &will);
        self.priorities(old, new);
        self.single_active(old, new);
        let renamed = QueueDeclaration { name: old.name.clone(), ..new.clone() };
        let differences = queue_differences(self.version(), old, &renamed);
        let remedies = self.policies.remedies(old, &differences);
        let compared: Vec<_> =
            differences.iter().zip(&remedies.differences).filter(|(difference, _)| difference.compared).collect();
        if compared.is_empty() {
            let message = "the new queue has the same arguments as the old one".to_owned();
            self.add(Weight::Warning, "nothing_changes", message, "is this migration needed?");
        } else if compared.iter().all(|(_, judged)| matches!(judged.remedy, Remedy::Policy | Remedy::DeclareAsIs))
            && let Some(policy) = &remedies.policy
        {
            let lines = crate::policy::shell(policy, &self.state.vhost);
            let message = "a policy can make this change on the old queue, at once and without a migration".to_owned();
            self.add(
                Weight::Warning,
                "policy_is_enough",
                message,
                format!("set it with: {}", lines.sh.unwrap_or_else(|| "the management API".to_owned())),
            );
        }
    }

    /// What a quorum queue makes of priorities: nothing before 4.0, two levels up to 4.2, strict levels from 4.3 on (32 of them).
    fn priorities(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        if !old.arguments.contains("x-max-priority") || new.arguments.contains("x-max-priority") {
            return;
        }
        let quorum = new.queue_type() == Some(QueueType::Quorum);
        let (version, four, strict) = (self.version(), Version::new(4, 0, 0), Version::new(4, 3, 0));
        let (what, help) = match (quorum, version) {
            (true, version) if version >= strict => {
                ("orders by priority in its own way", "nothing: it needs no argument for that")
            }
            (true, version) if version >= four => {
                ("has two levels of them, up to 4 and above", "check that two levels are enough")
            }
            (true, _) => {
                ("has none in this version", "upgrade to RabbitMQ 4.0 first, or use a queue for each priority")
            }
            (false, _) => ("has none", "set x-max-priority on the new queue"),
        };
        self.add(
            Weight::Warning,
            "priorities_change",
            format!("the old queue has priorities, and the new one {what}"),
            help,
        );
    }

    fn single_active(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        const ARGUMENT: &str = "x-single-active-consumer";
        let has = |queue: &QueueDeclaration| queue.arguments.get(ARGUMENT) == Some(&Value::Bool(true));
        if has(old) && !has(new) {
            let message = "the old queue has a single active consumer, the new one does not".to_owned();
            self.add(Weight::Warning, "behaviour_lost", message, format!("set {ARGUMENT} on the new queue"));
        }
        if has(old) {
            let message = "while both queues have messages, one consumer is active on each of them".to_owned();
            self.add(Weight::Warning, "two_active", message, "where only one may be, start the new queue's consumer when the old queue is empty (wait_for_consumers: 0)");
        }
    }

    fn failure_behaviour(&mut self, was: &Effective, will: &Effective) {
        let target = |effective: &Effective| effective.value("dead-letter-exchange").is_some();
        match (target(was), target(will)) {
            (false, true) => {
                let message = "the old queue drops what its consumers reject, the new one dead-letters it".to_owned();
                self.add(
                    Weight::Warning,
                    "rejects_kept",
                    message,
                    "the same rejection in the code fills the dead-letter queue: watch it, and drain it",
                );
            }
            (true, false) => {
                let message = "the old queue dead-letters what its consumers reject, the new one drops it".to_owned();
                self.add(Weight::Warning, "rejects_dropped", message, "say dead_letter: true for the new queue");
            }
            _ => {}
        }
    }

    /// Policies that apply to the old queue and not to the new one.
    fn lost_policies(&mut self, old: &QueueDeclaration, new: &QueueDeclaration) {
        let before = self.policies.for_queue(old).winner;
        let choice = self.policies.for_queue(new);
        if let Winner::One(gained) = &choice.winner
            && !matches!(&before, Winner::One(before) if before.name == gained.name)
        {
            let keys: Vec<&str> = gained.definition.iter().map(|(key, _)| key).collect();
            let message = format!(
                "policy {} applies to the new queue and not to the old one: it sets {}",
                quoted(&gained.name),
                keys.join(", ")
            );
            let help = "check that this is meant, or narrow its pattern";
            self.found.push(Finding { code: "policy_gained", weight: Weight::Warning, message, help: help.to_owned() });
        }
        let (Winner::One(before), after) = (before, choice.winner) else { return };
        let stays = matches!(after, Winner::One(after) if after.name == before.name);
        if stays {
            return;
        }
        let keys: Vec<&str> = before.definition.iter().map(|(key, _)| key).collect();
        let foreign = choice.skipped.iter().find(|skipped| skipped.policy.name == before.name);
        let why = match foreign {
            Some(skipped) => format!("it sets {}, which the new type does not have", skipped.keys.join(", ")),
            None => "its pattern or its apply-to does not fit the new queue".to_owned(),
        };
        let message = format!("policy {} does not apply to the new queue any more: {why}", quoted(&before.name));
        self.add(
            Weight::Warning,
            "policy_lost",
            message,
            format!("make one that does, or {} will not hold", keys.join(", ")),
        );
    }

    fn returning(&mut self, old: &QueueDeclaration) {
        let returning = returning(self.state, &old.name);
        if !returning.is_empty() {
            let names: Vec<String> = returning.iter().map(|name| quoted(name)).collect();
            let message =
                format!("dead letters of {} come back to queue {} by its name", names.join(", "), quoted(&old.name));
            self.add(Weight::Warning, "returns_by_name", message, "they cannot be led elsewhere: the old queue keeps its consumers until these queues are empty too, and the run waits for both");
        }
    }

    fn unseen(&mut self, old: &QueueDeclaration) {
        let (name, new) = (quoted(&old.name), quoted(&self.replacement.new));
        let only_sources = Condition::Unreachable(old.name.clone()).holds(self.state);
        if only_sources == Some(false) {
            let message = format!("a client that declares the binding of queue {name} when it starts brings it back");
            self.add(
                Weight::Note,
                "redeclared",
                message,
                format!("ship the release that declares queue {new} instead together with this migration"),
            );
        }
        let message =
            format!("what is published to queue {name} by name, by shovels or with a reply-to, is not seen here");
        self.add(Weight::Note, "by_name", message, format!("change such publishers to queue {new} first; if anything arrives after the drain, the run stops and says so"));
        let message = "old and new queue are consumed side by side for a while".to_owned();
        self.add(
            Weight::Note,
            "order",
            message,
            "where order per key matters, start the new queue's consumers when the old one is empty",
        );
    }
}
