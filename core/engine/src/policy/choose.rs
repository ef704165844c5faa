//! Which policy applies to an object.

use super::keys::{Kind, applies_to, unsupported_keys};
use crate::rabbitmq::{Match, NamePattern, PolicyDeclaration, Product, QueueDeclaration, QueueType, Version};
use crate::state::State;
use crate::topology::shown_name;

/// The policies of a vhost with their patterns compiled, ready to be asked about many objects.
#[derive(Debug, Clone)]
pub struct Policies<'a> {
    pub(super) version: Version,
    /// Why nothing can be said at all.
    unknown: Option<String>,
    user: Vec<Compiled<'a>>,
    operator: Vec<Compiled<'a>>,
}

#[derive(Debug, Clone)]
struct Compiled<'a> {
    policy: &'a PolicyDeclaration,
    pattern: NamePattern,
}

/// A policy that would match an object if it did not set these keys, which the object's type does not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped<'a> {
    /// The policy.
    pub policy: &'a PolicyDeclaration,
    /// Its keys that the type does not support.
    pub keys: Vec<&'a str>,
}

/// The policy that applies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Winner<'a> {
    /// None does.
    Nobody,
    /// This one.
    One(&'a PolicyDeclaration),
    /// One of these, all of the highest priority that matches: which one is undefined. Measured: the order of Mnesia's hash
    /// table on 3.10 and 4.0, by name in small sets on 4.3 with Khepri.
    Tie(Vec<&'a PolicyDeclaration>),
    /// It cannot be told.
    Undecidable {
        /// Why not, as a sentence.
        why: String,
    },
}

/// Which policy applies, and which of at least its priority would have if it were not for a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice<'a> {
    /// The one that applies.
    pub winner: Winner<'a>,
    /// Those passed over.
    pub skipped: Vec<Skipped<'a>>,
}

impl<'a> Policies<'a> {
    /// The policies of `state`, for the rules of its broker's version; of the newest one where that is not known.
    pub fn new(state: &'a State) -> Self {
        let unknown = if !state.known.policies {
            Some("the policies of this vhost are not known".to_owned())
        } else if state.broker.product != Product::RabbitMq
            && !(state.policies.is_empty() && state.operator_policies.is_empty())
        {
            Some(format!("{} has rules of its own for policies", state.broker.product.name()))
        } else {
            None
        };
        Self {
            version: state.broker.version.unwrap_or(Version::NEWEST),
            unknown,
            user: compile(&state.policies),
            operator: compile(&state.operator_policies),
        }
    }

    /// Why nothing can be said about any object, when that is so.
    pub fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// The policy of a queue. An exclusive queue has one too.
    pub fn for_queue(&self, queue: &QueueDeclaration) -> Choice<'a> {
        self.choose(&self.user, &queue.name, Kind::Queue(queue.queue_type()))
    }

    /// The operator policy of a queue.
    pub fn operator_for_queue(&self, queue: &QueueDeclaration) -> Choice<'a> {
        self.choose(&self.operator, &queue.name, Kind::Queue(queue.queue_type()))
    }

    /// The policy of an exchange. It applies even when it sets nothing that an exchange has, and then outranks one that does.
    pub fn for_exchange(&self, name: &str) -> Choice<'a> {
        self.choose(&self.user, name, Kind::Exchange)
    }

    /// The highest priority of all policies, whatever they match.
    pub(super) fn highest_priority(&self) -> Option<i64> {
        self.user.first().map(|highest| highest.policy.priority)
    }

    /// The policy of that name.
    pub(super) fn named(&self, name: &str) -> Option<&'a PolicyDeclaration> {
        self.user.iter().map(|compiled| compiled.policy).find(|policy| policy.name == name)
    }

    fn choose(&self, policies: &[Compiled<'a>], name: &str, kind: Kind) -> Choice<'a> {
        let mut choice = Choice { winner: Winner::Nobody, skipped: Vec::new() };
        if let Some(why) = &self.unknown {
            choice.winner = Winner::Undecidable { why: why.clone() };
            return choice;
        }
        let mut rest = policies;
        while let Some(priority) = rest.first().map(|compiled| compiled.policy.priority) {
            let equal = rest.iter().take_while(|compiled| compiled.policy.priority == priority).count();
            let (group, lower) = rest.split_at_checked(equal).unwrap_or((rest, &[]));
            rest = lower;
            let mut matching = Vec::new();
            for compiled in group {
                match self.fits(compiled, name, kind) {
                    Fit::No => {}
                    Fit::Skipped(keys) => choice.skipped.push(Skipped { policy: compiled.policy, keys }),
                    Fit::Yes => matching.push(compiled.policy),
                    Fit::Undecidable(why) => {
                        choice.winner = Winner::Undecidable { why };
                        return choice;
                    }
                }
            }
            choice.winner = match matching.as_slice() {
                [] => continue,
                [one] => Winner::One(one),
                _ => Winner::Tie(matching),
            };
            break;
        }
        choice
    }

    fn fits(&self, compiled: &Compiled<'a>, name: &str, kind: Kind) -> Fit<'a> {
        let policy = compiled.policy;
        if !applies_to(self.version, &policy.apply_to, kind) {
            return Fit::No;
        }
        match compiled.pattern.matches(name) {
            Match::No => return Fit::No,
            Match::Yes => {}
            Match::Undecidable => {
                return Fit::Undecidable(format!(
                    "whether the pattern {} of policy \"{}\" matches \"{}\" cannot be told without the broker",
                    shown_name(&policy.pattern),
                    shown_name(&policy.name),
                    shown_name(name)
                ));
            }
        }
        match kind {
            Kind::Exchange => Fit::Yes,
            Kind::Queue(Some(kind)) => {
                let keys = foreign_keys(self.version, kind, policy);
                if keys.is_empty() { Fit::Yes } else { Fit::Skipped(keys) }
            }
            Kind::Queue(None) => Fit::Undecidable(format!(
                "the type of queue \"{}\" comes from a plugin, so it cannot be told which keys keep policy \"{}\" off it",
                shown_name(name),
                shown_name(&policy.name)
            )),
        }
    }
}

enum Fit<'a> {
    No,
    Yes,
    Skipped(Vec<&'a str>),
    Undecidable(String),
}

fn foreign_keys(version: Version, kind: QueueType, policy: &PolicyDeclaration) -> Vec<&str> {
    let mut keys: Vec<&str> = policy.definition.iter().map(|(key, _)| key).collect();
    keys.retain(|key| unsupported_keys(version, kind).any(|unsupported| unsupported == *key));
    keys.sort_unstable();
    keys
}

/// Highest priority first.
fn compile(policies: &[PolicyDeclaration]) -> Vec<Compiled<'_>> {
    let mut compiled: Vec<Compiled<'_>> =
        policies.iter().map(|policy| Compiled { policy, pattern: NamePattern::new(&policy.pattern) }).collect();
    compiled.sort_by_key(|compiled| std::cmp::Reverse(compiled.policy.priority));
    compiled
}
