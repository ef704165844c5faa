//! What a vhost's table does not show and an operator sees: nodes, shovels, permissions, who consumes, who publishes by name.
//!
//! A host may tell as much of it as it can read from the management API; what it does not tell is not judged.

use super::action::Action;
use super::findings::{Finding, Weight};
use super::plan::MigrationPlan;
use super::sequence::scaffolding;
use super::step::Direction;
use crate::name::quoted;
use crate::rabbitmq::{Match, NamePattern};
use crate::value::counted;
use serde::Deserialize;
use std::collections::BTreeSet;

/// What a host tells beside the table.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Facts {
    /// The nodes of the cluster, `/api/nodes`.
    pub nodes: Vec<NodeFact>,
    /// The shovels of the vhost, `/api/parameters/shovel/VHOST`.
    pub shovels: Vec<ShovelFact>,
    /// Who may do what in the vhost, `/api/vhosts/VHOST/permissions`.
    pub permissions: Vec<PermissionFact>,
    /// The user that runs the migration.
    pub user: Option<String>,
    /// The consumers of the old queue, `consumer_details` of `/api/queues/VHOST/OLD`.
    pub consumers: Vec<ConsumerFact>,
    /// Messages that came to the old queue within some time, and those that its source exchanges passed on in that time.
    pub arrivals: Option<ArrivalsFact>,
    /// Quorum queues whose leaders the runner asks by `basic.get`, which takes the right to read them.
    pub asks_leaders: Vec<String>,
    /// How many queues the vhost may have, where that is limited.
    pub room: Option<RoomFact>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeFact {
    /// Its name.
    pub name: String,
    /// Whether it runs.
    pub running: bool,
    /// Alarms that are on, in words: `memory`, `disk`.
    #[serde(default)]
    pub alarms: Vec<String>,
}

/// A shovel.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShovelFact {
    /// Its name.
    pub name: String,
    /// The queue of this vhost that it takes from.
    pub source_queue: Option<String>,
    /// The queue of this vhost that it publishes to by name.
    pub destination_queue: Option<String>,
}

/// What a user may do in the vhost, as regular expressions over names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionFact {
    /// The user.
    pub user: String,
    /// Declare and delete.
    pub configure: String,
    /// Publish, and bind as a destination.
    pub write: String,
    /// Consume, and bind as a source.
    pub read: String,
}

/// A consumer of the old queue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsumerFact {
    /// Its tag.
    pub tag: String,
    /// Whether it wants the queue for itself.
    #[serde(default)]
    pub exclusive: bool,
    /// Its user.
    pub user: Option<String>,
}

/// Counts over the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArrivalsFact {
    /// Messages that came to the queue.
    pub queue: u64,
    /// Messages that the exchanges which lead to it passed on, to whichever queue.
    pub sources: u64,
}

/// The vhost's limit of queues, `max-queues` of `/api/vhost-limits/VHOST`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoomFact {
    /// How many there may be.
    pub limit: u64,
    /// How many there are.
    pub declared: u64,
    /// Queues that whoever runs the migration declares for himself and that are not there yet: a lock, a history.
    #[serde(default)]
    pub own: Vec<String>,
}

impl MigrationPlan {
    /// The plan with what the facts add to its findings.
    #[must_use]
    pub fn considering(mut self, facts: &Facts) -> Self {
        let Some(subject) = &self.subject else { return self };
        let look = Look { facts, plan: &self, old: &subject.old, new: &subject.new };
        let mut found: Vec<Finding> = Vec::new();
        look.nodes(&mut found);
        look.room(&mut found);
        look.rights_of_the_runner(&mut found);
        if self.direction == Direction::Forward {
            look.shovels(&mut found);
            look.rights_of_others(&mut found);
            look.exclusive_consumers(&mut found);
            look.arrivals(&mut found);
        }
        self.findings.extend(found);
        self.findings.sort_by_key(|finding| finding.weight);
        self
    }
}

struct Look<'a> {
    facts: &'a Facts,
    plan: &'a MigrationPlan,
    old: &'a str,
    new: &'a str,
}

/// Something to know, of that weight and code.
fn finding(weight: Weight, code: &'static str, message: String, help: impl Into<String>) -> Finding {
    Finding { code, weight, message, help: help.into() }
}

fn may(pattern: &str, name: &str) -> Match {
    NamePattern::new(pattern).matches(name)
}

impl Look<'_> {
    fn nodes(&self, found: &mut Vec<Finding>) {
        for node in &self.facts.nodes {
            let name = quoted(&node.name);
            if !node.running {
                let help = "start it, or take it out of the cluster: whether it knows a change cannot be told";
                found.push(finding(Weight::Refused, "node_down", format!("node {name} is not running"), help));
            } else if !node.alarms.is_empty() {
                let message = format!("node {name} has an alarm: {}", node.alarms.join(", "));
                found.push(finding(
                    Weight::Refused,
                    "node_alarm",
                    message,
                    "publishers are blocked: free what it is short of first",
                ));
            }
        }
    }

    /// Old and new queue are there side by side, and what the runner needs for itself beside them.
    fn room(&self, found: &mut Vec<Finding>) {
        let Some(RoomFact { limit, declared, own }) = &self.facts.room else { return };
        let open = self.plan.steps.iter().skip(self.plan.done().unwrap_or_default());
        let mut wanted: Vec<String> = own.iter().map(|name| quoted(name)).collect();
        for step in open {
            match &step.action {
                Action::DeclareQueue(queue) => wanted.push(quoted(&queue.name)),
                // What goes before something comes makes room for it, and comes last in what is done here.
                Action::DeleteQueue(_) => break,
                _ => {}
            }
        }
        let needed = u64::try_from(wanted.len()).unwrap_or(u64::MAX);
        if needed > 0 && declared.saturating_add(needed) > *limit {
            let message = format!(
                "vhost {} may have {} and has {declared}, so there is no room for {}",
                quoted(&self.plan.vhost),
                counted(*limit, "queue"),
                wanted.join(", ")
            );
            let help =
                format!("raise its limit max-queues to {} first, or take queues away", declared.saturating_add(needed));
            found.push(finding(Weight::Refused, "queue_limit", message, help));
        }
    }

    fn shovels(&self, found: &mut Vec<Finding>) {
        for shovel in &self.facts.shovels {
            let name = quoted(&shovel.name);
            if shovel.destination_queue.as_deref() == Some(self.old) {
                let message = format!("shovel {name} publishes to queue {} by name", quoted(self.old));
                let help = format!("lead it to queue {} first, or the old queue never runs empty", quoted(self.new));
                found.push(finding(Weight::Refused, "shovel_to_old", message, help));
            }
            if shovel.source_queue.as_deref() == Some(self.old) {
                let message = format!("shovel {name} takes its messages from queue {}", quoted(self.old));
                let help = format!(
                    "make one that takes them from queue {}, and keep both until the old queue is gone",
                    quoted(self.new)
                );
                found.push(finding(Weight::Warning, "shovel_from_old", message, help));
            }
        }
    }

    /// What the runner declares, deletes and binds.
    fn rights_of_the_runner(&self, found: &mut Vec<Finding>) {
        let Some(user) = &self.facts.user else { return };
        if self.facts.permissions.is_empty() {
            return;
        }
        let Some(rights) = self.facts.permissions.iter().find(|rights| rights.user == *user) else {
            let message = format!("user {} has no rights in vhost {}", quoted(user), quoted(&self.plan.vhost));
            found.push(finding(Weight::Refused, "permission_missing", message, "run as a user that has some"));
            return;
        };
        let mut missing: BTreeSet<String> = BTreeSet::new();
        let mut needs = |right: &'static str, pattern: &str, kind: &str, name: &str| {
            if may(pattern, name) == Match::No {
                missing.insert(format!("{right} {kind} {}", quoted(name)));
            }
        };
        for step in &self.plan.steps {
            match &step.action {
                Action::DeclareQueue(queue) => needs("configure", &rights.configure, "queue", &queue.name),
                Action::DeleteQueue(queue) => needs("configure", &rights.configure, "queue", queue),
                Action::DeclareExchange(exchange) | Action::DeleteExchange(exchange) => {
                    needs("configure", &rights.configure, "exchange", &exchange.name);
                }
                Action::Bind(binding) | Action::Unbind(binding) => {
                    needs("write", &rights.write, binding.destination_type.name(), &binding.destination);
                    needs("read", &rights.read, "exchange", &binding.source);
                }
                _ => {}
            }
        }
        for queue in &self.facts.asks_leaders {
            needs("read", &rights.read, "queue", queue);
        }
        // Where an exchange has an alternate exchange, its declaration needs rights on both.
        if let Ok((_, catch)) = scaffolding(self.old)
            && self.plan.steps.iter().any(|step| matches!(&step.action, Action::DeclareExchange(exchange) if exchange.arguments.contains("alternate-exchange")))
        {
            needs("write", &rights.write, "exchange", &catch);
        }
        if !missing.is_empty() {
            let missing: Vec<String> = missing.into_iter().collect();
            let message = format!("user {} may not {}", quoted(user), missing.join(", nor "));
            found.push(finding(
                Weight::Refused,
                "permission_missing",
                message,
                "give it these rights for the time of the migration, or run as an administrator",
            ));
        }
    }

    /// Rights that name the old queue and not the new one.
    fn rights_of_others(&self, found: &mut Vec<Finding>) {
        for rights in &self.facts.permissions {
            let lost: Vec<&str> = [("configure", &rights.configure), ("write", &rights.write), ("read", &rights.read)]
                .into_iter()
                .filter(|(_, pattern)| may(pattern, self.old) == Match::Yes && may(pattern, self.new) == Match::No)
                .map(|(right, _)| right)
                .collect();
            if !lost.is_empty() {
                let message = format!(
                    "user {} has rights on queue {} and not on queue {}: {}",
                    quoted(&rights.user),
                    quoted(self.old),
                    quoted(self.new),
                    lost.join(", ")
                );
                found.push(finding(
                    Weight::Warning,
                    "permission_lost",
                    message,
                    "widen its patterns before its consumers move",
                ));
            }
        }
    }

    fn exclusive_consumers(&self, found: &mut Vec<Finding>) {
        for consumer in self.facts.consumers.iter().filter(|consumer| consumer.exclusive) {
            let message = format!("consumer {} wants queue {} for itself", quoted(&consumer.tag), quoted(self.old));
            let help = "while both queues have messages two consumers are at work, one on each: where only one may be, start the new queue's consumer when the old queue is empty (wait_for_consumers: 0)";
            found.push(finding(Weight::Warning, "exclusive_consumer", message, help));
        }
    }

    fn arrivals(&self, found: &mut Vec<Finding>) {
        let Some(ArrivalsFact { queue, sources }) = self.facts.arrivals else { return };
        let by_name = queue.saturating_sub(sources);
        if by_name > 0 {
            let message = format!(
                "{} came to queue {} and its exchanges passed on {sources} of them at most: somebody publishes to it by name",
                counted(queue, "message"),
                quoted(self.old)
            );
            let help = format!(
                "change these publishers to queue {} first, or the old queue never runs empty",
                quoted(self.new)
            );
            found.push(finding(Weight::Refused, "published_by_name", message, help));
        }
    }
}
