//! What can be done about a difference without replacing the queue.
//!
//! An argument of a live queue never changes. A policy can still make the queue behave as its declaration asks, but only
//! where the rules of precedence let it: a smaller TTL yes, a larger one no (the smaller one of argument and policy holds),
//! a first dead-letter exchange yes, another one no (the argument holds), a priority or a single active consumer never. So
//! nothing here goes by the name of an argument alone: the effective value after the policy is computed and compared with
//! the one that the declaration would have.

use super::choose::{Policies, Winner};
use super::effective::{About, Said, same, tie};
use super::keys::{Precedence, apply_to_for, default_value, merge_operator, precedence};
use crate::rabbitmq::changes::{ALWAYS_TYPED, LAZY_MODE_GONE, QUORUM_TTL, V4_3};
use crate::rabbitmq::{
    Difference, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType, Version, exact_pattern,
};
use crate::state::as_exported;
use crate::topology::{shown_name, shown_value};
use crate::value::{Table, Value};

/// What can be done about one difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// The policy of [`Remedies::policy`] makes the live object behave as the declaration asks.
    Policy,
    /// The object has to be replaced.
    Migrate,
    /// Declare what is there: the object behaves as asked already.
    DeclareAsIs,
    /// Nothing: the broker never compares it, and it has no effect.
    None,
}

/// The judgement on one difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The argument or property.
    pub argument: String,
    /// What can be done.
    pub remedy: Remedy,
    /// Why, as a sentence without a full stop.
    pub why: String,
}

/// The judgement on all differences of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedies {
    /// One for each difference, in their order.
    pub differences: Vec<Judged>,
    /// The policy for all that are [`Remedy::Policy`] together. It has the name of the one that applies now where that one
    /// is for this object alone, and replaces it.
    pub policy: Option<PolicyDeclaration>,
    /// What has to be known before it is set, as sentences without a full stop.
    pub notes: Vec<String>,
}

/// The priority of a policy that must win in a vhost whose policies are not known.
const UNKNOWN_PRIORITY: i64 = 100;

impl Policies<'_> {
    /// What can be done about each difference of a live queue from its declaration.
    ///
    /// `stored` is the queue as the broker has it, `differences` are those of
    /// [`queue_differences`](crate::rabbitmq::queue_differences).
    pub fn remedies(&self, stored: &QueueDeclaration, differences: &[Difference]) -> Remedies {
        let mut definition = Table::new();
        let judged = differences
            .iter()
            .map(|difference| {
                let (remedy, why) = self.judge(stored, difference, &mut definition);
                Judged { argument: difference.argument.clone(), remedy, why }
            })
            .collect();
        let apply_to = stored.queue_type().map_or("queues", |kind| apply_to_for(self.version, kind));
        let winner = self.for_queue(stored).winner;
        let mut remedies = self.finish(judged, definition, &stored.name, apply_to, winner);
        if remedies.policy.is_some()
            && self.unknown().is_none()
            && let Some(why) = Said::by(self.operator_for_queue(stored).winner).why_open()
        {
            remedies.notes.push(format!("of operator policies: {why}"));
        }
        remedies
    }

    /// What can be done about each difference of a live exchange from its declaration: only an alternate exchange that the
    /// exchange does not have as an argument can come from a policy.
    pub fn exchange_remedies(&self, stored: &ExchangeDeclaration, differences: &[Difference]) -> Remedies {
        const KEY: &str = "alternate-exchange";
        let now = self.effective_exchange(stored);
        let mut definition = Table::new();
        let judged = differences
            .iter()
            .map(|difference| {
                let (remedy, why) = match (difference.argument.as_str(), &difference.wanted, &difference.current) {
                    _ if !difference.compared => never_compared(),
                    (KEY, Some(wanted), None) if now.value(KEY).is_some_and(|now| same(now, wanted)) => {
                        (Remedy::DeclareAsIs, "a policy sets it already".to_owned())
                    }
                    (KEY, Some(wanted), None) => {
                        definition.insert(KEY, wanted.clone());
                        (Remedy::Policy, "a policy can give the exchange its first alternate exchange".to_owned())
                    }
                    (KEY, ..) => (Remedy::Migrate, "the argument holds whatever a policy says".to_owned()),
                    _ => (Remedy::Migrate, "it is fixed when the exchange is created".to_owned()),
                };
                Judged { argument: difference.argument.clone(), remedy, why }
            })
            .collect();
        self.finish(judged, definition, &stored.name, "exchanges", self.for_exchange(&stored.name).winner)
    }

    fn judge(&self, stored: &QueueDeclaration, difference: &Difference, definition: &mut Table) -> (Remedy, String) {
        if !difference.compared {
            return never_compared();
        }
        let Some(kind) = stored.queue_type() else {
            return (Remedy::Migrate, "the queue's type comes from a plugin, whose rules are not known".to_owned());
        };
        let Some(key) = difference.argument.strip_prefix("x-") else {
            return (Remedy::Migrate, "it is fixed when the queue is created".to_owned());
        };
        if let Some(why) = without_effect(self.version, kind, key) {
            return (Remedy::DeclareAsIs, why.to_owned());
        }
        let Some(rule) = precedence(self.version, kind, key) else {
            let why = if key == "queue-type" { "a queue keeps its type for life" } else { "no policy can set it" };
            return (Remedy::Migrate, why.to_owned());
        };
        let held = |argument: Option<&Value>, policy: Option<&Value>| {
            let value = match (argument, policy) {
                (Some(argument), Some(policy)) => rule.resolve(self.version, argument, policy),
                (Some(one), None) | (None, Some(one)) => Some(one.clone()),
                (None, None) => default_value(self.version, kind, key),
            };
            value.map(|value| behaviour(kind, key, value))
        };
        let (wanted, current) = (difference.wanted.as_ref(), difference.current.as_ref());
        let now = self.policy_value(stored, key);
        let (target, actual) = (held(wanted, now.as_ref()), held(current, now.as_ref()));
        let equal = |a: &Option<Value>, b: &Option<Value>| match (a, b) {
            (Some(a), Some(b)) => same(a, b),
            (None, None) => true,
            _ => false,
        };
        if equal(&target, &actual) {
            let why = match &now {
                Some(policy) => {
                    format!("a policy sets {} on either, so the queue behaves as asked", shown_value(policy))
                }
                None => "either value means the same".to_owned(),
            };
            return (Remedy::DeclareAsIs, why);
        }
        let Some(target) = target else {
            return (Remedy::Migrate, "no policy can take the argument's effect away".to_owned());
        };
        let set = match Said::by(self.operator_for_queue(stored).winner).about(key) {
            About::Value(operator, _) => merge_operator(self.version, key, &target, operator),
            About::Nothing | About::Unknown => Some(target.clone()),
        };
        if !equal(&held(current, set.as_ref()), &Some(target.clone())) || !settable(self.version, key, &target) {
            let why = match current {
                None => "an operator policy, or the rules for its value, stand against a policy".to_owned(),
                Some(current) => format!("of the argument {} and a policy {}", shown_value(current), rule.rule()),
            };
            return (Remedy::Migrate, why);
        }
        let why = match current {
            None => "the queue has no such argument, so a policy can set it".to_owned(),
            Some(_) if rule == Precedence::Policy => "a policy holds against the argument".to_owned(),
            Some(current) => format!("of the argument {} and a policy {}", shown_value(current), rule.rule()),
        };
        definition.insert(key, target);
        (Remedy::Policy, why)
    }

    /// What policy and operator policy say about a key now, as far as that can be told.
    fn policy_value(&self, stored: &QueueDeclaration, key: &str) -> Option<Value> {
        let user = Said::by(self.for_queue(stored).winner);
        let operator = Said::by(self.operator_for_queue(stored).winner);
        match (user.about(key), operator.about(key)) {
            (About::Value(policy, _), About::Value(operator, _)) => merge_operator(self.version, key, policy, operator),
            (About::Value(value, _), _) | (_, About::Value(value, _)) => Some(value.clone()),
            _ => None,
        }
    }

    /// The one policy that carries `settings`, and with them everything that the policy which applies now sets.
    fn finish(
        &self,
        differences: Vec<Judged>,
        settings: Table,
        name: &str,
        apply_to: &str,
        winner: Winner<'_>,
    ) -> Remedies {
        let mut notes = Vec::new();
        if settings.is_empty() {
            return Remedies { differences, policy: None, notes };
        }
        let pattern = exact_pattern(name);
        let mut definition = Table::new();
        let mut policy_name = None;
        let priority = match winner {
            Winner::Nobody => 0,
            Winner::One(policy) if policy.pattern == pattern => {
                definition = policy.definition.clone();
                policy_name = Some(policy.name.clone());
                notes.push(format!(
                    "it replaces policy \"{}\", which is for this object alone",
                    shown_name(&policy.name)
                ));
                policy.priority
            }
            Winner::One(policy) => {
                definition = policy.definition.clone();
                notes.push(format!(
                    "policy \"{}\" applies now; only one policy ever does, so this one repeats what it sets, and a later change of it does not reach this object any more",
                    shown_name(&policy.name)
                ));
                policy.priority.saturating_add(1)
            }
            Winner::Tie(policies) => {
                notes.push(format!("{}; whichever it is stops applying once this one is set", tie(&policies)));
                policies.first().map_or(0, |policy| policy.priority).saturating_add(1)
            }
            Winner::Undecidable { why } => {
                notes.push(format!(
                    "{why}; if one applies now, it stops applying once this one is set: take over what it sets"
                ));
                self.highest_priority().map_or(UNKNOWN_PRIORITY, |highest| highest.saturating_add(1))
            }
        };
        for (key, value) in as_exported(&settings) {
            definition.insert(key, value);
        }
        let policy = PolicyDeclaration {
            name: policy_name.unwrap_or_else(|| self.free_name(name, &pattern)),
            pattern,
            apply_to: apply_to.to_owned(),
            priority,
            definition,
        };
        Remedies { differences, policy: Some(policy), notes }
    }

    /// A policy name that is not taken, or taken by an earlier policy of this very pattern, which is replaced: `acemq.NAME`,
    /// with what a terminal or a shell may trip over replaced.
    fn free_name(&self, name: &str, pattern: &str) -> String {
        let plain = |c: char| if c.is_alphanumeric() || "-_.:@/".contains(c) { c } else { '_' };
        let base: String = "acemq.".chars().chain(name.chars().map(plain)).collect();
        let mut free = base.clone();
        let mut number: u64 = 2;
        while self.named(&free).is_some_and(|taken| taken.pattern != pattern) {
            free = format!("{base}.{number}");
            number += 1;
        }
        free
    }
}

fn never_compared() -> (Remedy, String) {
    (Remedy::None, "the broker never compares it, and it has no effect".to_owned())
}

/// Why an argument makes no difference on a queue that is there, when it makes none.
fn without_effect(version: Version, kind: QueueType, key: &str) -> Option<&'static str> {
    match (kind, key) {
        (_, "quorum-initial-group-size" | "initial-cluster-size" | "queue-leader-locator" | "queue-master-locator") => {
            Some("it counted only when the queue was created")
        }
        (QueueType::Quorum, "max-in-memory-length" | "max-in-memory-bytes") if QUORUM_TTL.holds(version) => {
            Some("it has had no effect since RabbitMQ 3.10")
        }
        (QueueType::Classic, "queue-mode") if LAZY_MODE_GONE.holds(version) => {
            Some("it has had no effect since RabbitMQ 3.12")
        }
        (QueueType::Classic, "queue-version") if V4_3.holds(version) => {
            Some("there is only version 2 since RabbitMQ 4.3")
        }
        _ => None,
    }
}

/// What a value does: two values that do the same are one (`rabbit_quorum_queue:overflow` takes `reject-publish-dlx` for
/// `drop-head`, 3.8 to 4.3).
fn behaviour(kind: QueueType, key: &str, value: Value) -> Value {
    match (kind, key, value.as_text()) {
        (QueueType::Quorum, "overflow", Some("reject-publish-dlx")) => Value::text("drop-head"),
        _ => value,
    }
}

/// Whether the broker takes the value in a policy (`rabbit_policies:validate_policy0`): a delivery limit below 0 only from
/// 4.0 on.
fn settable(version: Version, key: &str, value: &Value) -> bool {
    let least = match key {
        "expires" => 1,
        "delivery-limit" if ALWAYS_TYPED.holds(version) => i64::MIN,
        "message-ttl" | "max-length" | "max-length-bytes" | "delivery-limit" | "stream-max-segment-size-bytes" => 0,
        _ => return value.as_text().is_some(),
    };
    value.as_integer().is_some_and(|number| number >= least)
}
