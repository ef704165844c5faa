//! What a queue or an exchange really has: its arguments and policies merged, with the reason for each value.

use super::choose::{Policies, Winner};
use super::keys::{Precedence, UNCLEAR, default_value, merge_operator, precedence};
use crate::rabbitmq::{ExchangeDeclaration, PolicyDeclaration, QueueDeclaration, QueueType, Version, known_arguments};
use crate::topology::{shown_name, shown_value};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The argument `x-KEY`.
    Argument,
    /// The policy of that name.
    Policy(String),
    /// The operator policy of that name.
    OperatorPolicy(String),
    /// Nobody set it; the broker's own default.
    Default,
    /// It cannot be told.
    Undecided,
}

/// One effective setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value; `None` when it cannot be told.
    pub value: Option<Value>,
    /// Where it comes from.
    pub source: Source,
    /// Why that value, as a phrase: `the argument is 100 and policy "limits" says 50; the smaller one holds`.
    pub why: String,
}

/// What an object has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effective {
    /// Settings by policy key, without `x-`.
    pub settings: BTreeMap<String, Setting>,
    /// Why some or all of it cannot be told: a tie, a pattern that only the broker can read, unknown policies.
    pub open: Vec<String>,
}

impl Setting {
    fn undecided(why: &str) -> Self {
        Self { value: None, source: Source::Undecided, why: why.to_owned() }
    }
}

impl Effective {
    /// The value of a setting, when it is set and known.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.settings.get(key).and_then(|setting| setting.value.as_ref())
    }
}

impl Policies<'_> {
    /// Everything that holds for a queue, and why.
    pub fn effective(&self, queue: &QueueDeclaration) -> Effective {
        let user = Said::by(self.for_queue(queue).winner);
        let operator = Said::by(self.operator_for_queue(queue).winner);
        let mut effective = Effective::default();
        effective.open.extend(user.why_open.iter().chain(&operator.why_open).cloned());
        effective.open.dedup();
        let Some(kind) = queue.queue_type() else {
            effective.open.push(format!(
                "the type of queue \"{}\" comes from a plugin, whose rules are not known",
                shown_name(&queue.name)
            ));
            return effective;
        };
        let arguments: BTreeMap<&str, &Value> = known_arguments(self.version, kind)
            .filter(|argument| *argument != "x-queue-type")
            .filter_map(|argument| Some((argument.strip_prefix("x-")?, queue.arguments.get(argument)?)))
            .collect();
        let keys: BTreeSet<&str> = (arguments.keys().copied())
            .chain(user.keys())
            .chain(operator.keys())
            .chain(DEFAULTED.into_iter().filter(|key| default_value(self.version, kind, key).is_some()))
            .collect();
        for key in keys {
            let policies = together(self.version, key, &user, &operator);
            let setting = setting(self.version, kind, key, arguments.get(key).copied(), policies);
            effective.settings.extend(setting.map(|setting| (key.to_owned(), setting)));
        }
        effective
    }

    /// Everything that holds for an exchange. Its argument `alternate-exchange` wins over a policy
    /// (`rabbit_policy:get_arg`, 3.8 to 4.3); a policy's has no effect on the default exchange.
    pub fn effective_exchange(&self, exchange: &ExchangeDeclaration) -> Effective {
        const KEY: &str = "alternate-exchange";
        let mut effective = Effective::default();
        let setting = match exchange.arguments.get(KEY) {
            Some(argument) => Some(Setting {
                value: Some(argument.clone()),
                source: Source::Argument,
                why: format!("argument {KEY}"),
            }),
            None if exchange.name.is_empty() => None,
            None => {
                let policy = Said::by(self.for_exchange(&exchange.name).winner);
                effective.open.extend(policy.why_open.clone());
                match policy.about(KEY) {
                    About::Nothing => None,
                    About::Value(value, name) => Some(Setting {
                        value: Some(value.clone()),
                        source: Source::Policy(name.to_owned()),
                        why: format!("policy \"{}\"", shown_name(name)),
                    }),
                    About::Unknown => Some(Setting::undecided("it cannot be told which policy applies")),
                }
            }
        };
        effective.settings.extend(setting.map(|setting| (KEY.to_owned(), setting)));
        effective
    }
}

/// The keys whose defaults are shown, because they decide whether messages are lost.
const DEFAULTED: [&str; 2] = ["delivery-limit", "overflow"];

/// What the policy that applies says, as far as that is known.
pub(super) struct Said<'a> {
    /// What it sets for certain, with its name.
    entries: BTreeMap<&'a str, (&'a Value, &'a str)>,
    /// The keys of which it is not known what it says.
    unknown: Unknown<'a>,
    /// Why they are not.
    why_open: Option<String>,
}

enum Unknown<'a> {
    Keys(BTreeSet<&'a str>),
    All,
}

/// What is said about one key.
pub(super) enum About<'s> {
    Nothing,
    Value(&'s Value, &'s str),
    Unknown,
}

impl<'a> Said<'a> {
    pub(super) fn by(winner: Winner<'a>) -> Self {
        let known = |entries| Self { entries, unknown: Unknown::Keys(BTreeSet::new()), why_open: None };
        match winner {
            Winner::Nobody => known(BTreeMap::new()),
            Winner::One(policy) => known(entries(policy).collect()),
            Winner::Undecidable { why } => {
                Self { entries: BTreeMap::new(), unknown: Unknown::All, why_open: Some(why) }
            }
            Winner::Tie(policies) => {
                // Whichever applies: what all of them say alike is certain.
                let agreed = |key: &str, value: &Value| {
                    policies.iter().all(|policy| policy.definition.get(key).is_some_and(|other| same(other, value)))
                };
                let (certain, open): (Vec<_>, Vec<_>) = policies
                    .iter()
                    .flat_map(|policy| entries(policy))
                    .partition(|(key, (value, _))| agreed(key, value));
                let why_open = (!open.is_empty()).then(|| tie(&policies));
                let unknown = Unknown::Keys(open.into_iter().map(|(key, _)| key).collect());
                Self { entries: certain.into_iter().collect(), unknown, why_open }
            }
        }
    }

    fn keys(&self) -> impl Iterator<Item = &'a str> {
        let open = match &self.unknown {
            Unknown::Keys(keys) => Some(keys.iter().copied()),
            Unknown::All => None,
        };
        self.entries.keys().copied().chain(open.into_iter().flatten())
    }

    pub(super) fn about(&self, key: &str) -> About<'_> {
        match (self.entries.get(key), &self.unknown) {
            (Some((value, name)), _) => About::Value(value, name),
            (None, Unknown::All) => About::Unknown,
            (None, Unknown::Keys(keys)) if keys.contains(key) => About::Unknown,
            (None, Unknown::Keys(_)) => About::Nothing,
        }
    }

    pub(super) fn why_open(&self) -> Option<&str> {
        self.why_open.as_deref()
    }
}

fn entries(policy: &PolicyDeclaration) -> impl Iterator<Item = (&str, (&Value, &str))> {
    policy.definition.iter().map(|(key, value)| (key, (value, policy.name.as_str())))
}

/// The sentence about policies of equal priority.
pub(super) fn tie(policies: &[&PolicyDeclaration]) -> String {
    let names: Vec<String> = policies.iter().map(|policy| format!("\"{}\"", shown_name(&policy.name))).collect();
    let priority = policies.first().map_or(0, |policy| policy.priority);
    format!("policies {} have the same priority ({priority}), so which of them applies is undefined", names.join(", "))
}

/// What the policy and the operator policy say about one key together; `None` when both say nothing.
fn together(version: Version, key: &str, user: &Said<'_>, operator: &Said<'_>) -> Option<Setting> {
    Some(match (user.about(key), operator.about(key)) {
        (About::Nothing, About::Nothing) => return None,
        (About::Unknown, _) | (_, About::Unknown) => Setting::undecided("it cannot be told which policy applies"),
        (About::Value(value, name), About::Nothing) => Setting {
            value: Some(value.clone()),
            source: Source::Policy(name.to_owned()),
            why: format!("policy \"{}\"", shown_name(name)),
        },
        (About::Nothing, About::Value(value, name)) => Setting {
            value: Some(value.clone()),
            source: Source::OperatorPolicy(name.to_owned()),
            why: format!("operator policy \"{}\"", shown_name(name)),
        },
        (About::Value(value, name), About::Value(cap, operator)) => {
            let both = merge_operator(version, key, value, cap);
            let source = match &both {
                None => Source::Undecided,
                Some(both) if same(both, value) => Source::Policy(name.to_owned()),
                Some(_) => Source::OperatorPolicy(operator.to_owned()),
            };
            let why = format!(
                "policy \"{}\" ({}) under operator policy \"{}\" ({})",
                shown_name(name),
                shown_value(value),
                shown_name(operator),
                shown_value(cap)
            );
            Setting { value: both, source, why }
        }
    })
}

/// The setting that an argument and the policies make together; `None` when nobody sets it and it has no default.
fn setting(
    version: Version,
    kind: QueueType,
    key: &str,
    argument: Option<&Value>,
    policies: Option<Setting>,
) -> Option<Setting> {
    let rule = precedence(version, kind, key);
    let by_argument = |argument: &Value| Setting {
        value: Some(argument.clone()),
        source: Source::Argument,
        why: format!("argument x-{key}"),
    };
    let (argument, policies) = match (argument, policies) {
        (None, None) => {
            let value = default_value(version, kind, key)?;
            let why = "neither the queue nor a policy sets it".to_owned();
            return Some(Setting { value: Some(value), source: Source::Default, why });
        }
        (None, Some(policies)) => return Some(policies),
        (Some(argument), None) => return Some(by_argument(argument)),
        (Some(argument), Some(policies)) => (argument, policies),
    };
    let Some(policy) = &policies.value else {
        // No policy can set what has no rule, and against some arguments none counts.
        let certain = matches!(rule, None | Some(Precedence::Argument)) && !UNCLEAR.contains(&key);
        return Some(if certain { by_argument(argument) } else { policies });
    };
    let value = rule.and_then(|rule| rule.resolve(version, argument, policy));
    let source = match &value {
        None => Source::Undecided,
        Some(value) if same(value, argument) => Source::Argument,
        Some(_) => policies.source,
    };
    let rule = rule.map_or("which of them holds is not known", Precedence::rule);
    let why = format!(
        "argument x-{key} is {} and {} says {}; {rule}",
        shown_value(argument),
        policies.why,
        shown_value(policy)
    );
    Some(Setting { value, source, why })
}

/// Whether two values are the same to the broker: the width of a number does not matter.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    a == b || (a.as_integer().is_some() && a.as_integer() == b.as_integer())
}
