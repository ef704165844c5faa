//! Verdicts that need no question: from a known [`State`], and from the rules of the broker's version.

use super::action::{Action, Object, PlannedDifference, Reason, Remedied, Sends, Verdict};
use super::session::Settings;
use crate::rabbitmq::{
    Broker, Conditions, Difference, ExchangeDeclaration, ExistingQueue, Limit, Owner, Product, QueueDeclaration,
    QueueType, Refused, Version, check_queue, declare_exchange, declare_exchange_passively, effective_request,
    exchange_differences, queue_differences,
};
use crate::state::{Presence, State};
use crate::value::Value;
use std::collections::BTreeSet;

/// By which rules a session judges.
#[derive(Debug)]
pub(super) struct Judge {
    version: Version,
    /// Those of a broker that forbids nothing.
    conditions: Conditions,
    /// Whether the broker goes by RabbitMQ's rules at all.
    predicts: bool,
}

/// What is there without having been asked for.
pub(super) struct Extras {
    /// To list.
    pub listed: Vec<Action>,
    /// To count only.
    pub foreign: usize,
}

impl Judge {
    pub fn new(settings: &Settings) -> Self {
        let version = judged_version(&settings.broker);
        Self {
            version,
            conditions: Conditions::new(version, settings.vhost.as_deref().unwrap_or("/")),
            predicts: goes_by_rabbitmq(&settings.broker),
        }
    }

    /// Judges everything that the state knows, in order: each creation counts towards the vhost's limit of queues.
    pub fn judge_known(&self, state: &State, actions: &mut [Action]) {
        let mut conditions = self.conditions.clone();
        conditions.default_queue_type.clone_from(&state.default_queue_type);
        // Which plugins a broker has is not told; an exchange that needs one is taken at its word.
        conditions.plugin_exchange_types = (actions.iter())
            .filter_map(|action| match &action.object {
                Object::Exchange(exchange) if exchange.kind.starts_with("x-") => Some(exchange.kind.clone()),
                _ => None,
            })
            .chain(state.exchanges.values().map(|exchange| exchange.kind.clone()))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        let mut declared = state.queues.len() as u64;
        for action in actions {
            conditions.queue_limit = state.queue_limit.map(|maximum| Limit { maximum, declared });
            self.known(state, &conditions, action);
            if action.verdict == Verdict::Create && matches!(action.object, Object::Queue(_)) {
                declared += 1;
            }
        }
    }

    fn known(&self, state: &State, conditions: &Conditions, action: &mut Action) {
        match &action.object {
            Object::Exchange(exchange) => match state.exchange(&exchange.name) {
                Presence::Unknown => {}
                presence => {
                    let stored = presence.there();
                    let predicted = declare_exchange(conditions, stored.as_deref(), exchange);
                    let differences = stored
                        .as_deref()
                        .map(|stored| exchange_differences(self.version, stored, exchange))
                        .unwrap_or_default();
                    let there = stored.is_some();
                    compared(action, there, predicted.err(), differences);
                }
            },
            Object::External(exchange) => match state.exchange(&exchange.name) {
                Presence::Unknown => {}
                Presence::There(_) => action.judge(Verdict::Present),
                Presence::Absent => {
                    let refused = declare_exchange_passively(conditions, None, &exchange.name).err();
                    action.judge(Verdict::Invalid);
                    action.refusal = refused.map(|refused| (refused.code, refused.text));
                }
            },
            Object::Queue(queue) => match state.queue(&queue.name) {
                Presence::Unknown => {}
                Presence::Absent if queue.exclusive && !state.exclusive_queues_visible => {}
                presence => {
                    let stored = presence.there();
                    let owner =
                        |stored: &QueueDeclaration| if stored.exclusive { Owner::Another } else { Owner::Nobody };
                    let existing = stored.map(|stored| ExistingQueue { declaration: stored, owner: owner(stored) });
                    let refused = check_queue(conditions, existing, queue).err();
                    let (given, differences) = {
                        let effective = effective_request(conditions, queue);
                        let differences = stored.map(|stored| queue_differences(self.version, stored, &effective));
                        (effective.queue_type(), differences.unwrap_or_default())
                    };
                    let there = stored.is_some();
                    let given = given.filter(|given| Some(*given) != queue.queue_type());
                    if let Some(stored) = stored
                        && owner(stored) == Owner::Another
                        && queue.exclusive
                    {
                        // Another connection's: nothing of it can be compared.
                        let text = refused.map(|refused| refused.text);
                        return action.unknown(Reason::Locked, text);
                    }
                    action.given_type = given;
                    compared(action, there, refused, differences);
                }
            },
            Object::Binding(binding) => match state.binding(binding) {
                Presence::There(()) => action.judge(Verdict::Present),
                Presence::Absent => action.judge(Verdict::Create),
                Presence::Unknown => {}
            },
            Object::Policy(policy) if state.known.policies => {
                let there = state.policies.iter().find(|there| there.name == policy.name);
                match there {
                    None => action.judge(Verdict::Create),
                    Some(there) => {
                        let mut differences = Vec::new();
                        text_difference(&mut differences, "pattern", &policy.pattern, &there.pattern);
                        text_difference(&mut differences, "apply-to", &policy.apply_to, &there.apply_to);
                        if policy.priority != there.priority {
                            differences.push(policy_difference("priority", policy.priority, there.priority));
                        }
                        if policy.definition.sorted() != there.definition.sorted() {
                            differences.push(policy_difference(
                                "definition",
                                Value::Table(policy.definition.clone()),
                                Value::Table(there.definition.clone()),
                            ));
                        }
                        action.judge(if differences.is_empty() { Verdict::Present } else { Verdict::Drift });
                        action.differences = differences;
                    }
                }
            }
            Object::Policy(_) => {}
        }
    }

    /// What is there and was not asked for. Ours are the bindings of queues declared here and their `{queue}.retry.*` rungs.
    pub fn extras(&self, state: &State, actions: &[Action], list_foreign: bool) -> Extras {
        let mut asked = Asked::default();
        for action in actions {
            match &action.object {
                Object::Exchange(exchange) => _ = asked.exchanges.insert(&exchange.name),
                Object::External(exchange) => _ = asked.exchanges.insert(&exchange.name),
                Object::Policy(policy) => _ = asked.policies.insert(&policy.name),
                Object::Queue(queue) => _ = asked.queues.insert(&queue.name),
                Object::Binding(_) => {}
            }
        }
        let mut extras = Extras { listed: Vec::new(), foreign: 0 };
        let mut found = |ours: bool, object: Object| {
            if !ours {
                extras.foreign += 1;
            }
            if ours || list_foreign {
                let mut action = Action::new(object);
                action.judge(Verdict::Extra);
                extras.listed.push(action);
            }
        };
        for exchange in state.exchanges.values().filter(|exchange| !asked.exchanges.contains(exchange.name.as_str())) {
            found(false, Object::Exchange(exchange.clone()));
        }
        for policy in state.policies.iter().filter(|policy| !asked.policies.contains(policy.name.as_str())) {
            found(false, Object::Policy(policy.clone()));
        }
        for queue in state.queues.values().filter(|queue| !asked.queues.contains(queue.name.as_str())) {
            found(asked.has_rung(&queue.name), Object::Queue(queue.clone()));
        }
        let mut wanted = crate::state::Bindings::new();
        wanted.extend(actions.iter().filter_map(|action| match &action.object {
            Object::Binding(binding) => Some(binding.clone()),
            _ => None,
        }));
        for binding in state.bindings.iter().filter(|binding| !wanted.contains(binding)) {
            let ours = binding.destination_type == crate::rabbitmq::DestinationType::Queue
                && asked.queues.contains(binding.destination.as_str());
            found(ours, Object::Binding(binding.clone()));
        }
        extras
    }

    /// The queue is not there; `given` is the type that the broker says it would have. The guard was refused only after
    /// the whole table was found right, but it may have been named before an argument that is foreign to the type too.
    pub fn absent_queue(&mut self, action: &mut Action, given: Option<QueueType>) {
        let Object::Queue(queue) = &action.object else { return };
        if !self.predicts {
            return action.judge(Verdict::Create);
        }
        if self.conditions.default_queue_type.as_deref() != given.map(QueueType::name) {
            self.conditions.default_queue_type = given.map(|given| given.name().to_owned());
        }
        action.given_type = given.filter(|given| Some(*given) != queue.queue_type());
        let refused = check_queue(&self.conditions, None, queue).err();
        match refused {
            None => action.judge(Verdict::Create),
            Some(refused) => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((refused.code, refused.text));
            }
        }
    }

    /// How the broker would have refused the exchange as it is wanted, whose alternate exchange alone differs: what it said
    /// names the guard.
    pub fn alternate_exchange_refusal(
        &self,
        exchange: &ExchangeDeclaration,
        current: Option<&Value>,
    ) -> Option<(u16, String)> {
        let mut stored = exchange.clone();
        stored.arguments.remove(super::guard::ALTERNATE_EXCHANGE);
        if let Some(current) = current {
            stored.arguments.insert(super::guard::ALTERNATE_EXCHANGE, current.clone());
        }
        let mut conditions = Conditions { default_queue_type: None, ..self.conditions.clone() };
        conditions.plugin_exchange_types = vec![exchange.kind.clone()];
        declare_exchange(&conditions, Some(&stored), exchange).err().map(|refused| (refused.code, refused.text))
    }
}

#[derive(Default)]
struct Asked<'a> {
    exchanges: BTreeSet<&'a str>,
    policies: BTreeSet<&'a str>,
    queues: BTreeSet<&'a str>,
}

impl Asked<'_> {
    /// Whether the name is `{queue}.retry.…` of a queue that is asked for.
    fn has_rung(&self, name: &str) -> bool {
        name.match_indices(".retry.").filter_map(|(at, _)| name.get(..at)).any(|source| self.queues.contains(source))
    }
}

/// The version whose rules count: RabbitMQ's own, or the newest known one where it tells none. Another product's number
/// says nothing about RabbitMQ's rules.
pub(super) fn judged_version(broker: &Broker) -> Version {
    broker.version.filter(|_| goes_by_rabbitmq(broker)).unwrap_or(Version::NEWEST)
}

/// Whether the rules of this engine are the broker's.
pub(super) fn goes_by_rabbitmq(broker: &Broker) -> bool {
    broker.product == Product::RabbitMq
}

fn compared(action: &mut Action, there: bool, refused: Option<Refused>, differences: Vec<Difference>) {
    let differs = differences.iter().any(|difference| difference.compared);
    action.judge(match (&refused, there) {
        (None, false) => Verdict::Create,
        (None, true) => Verdict::Present,
        (Some(_), true) if differs => Verdict::Drift,
        (Some(_), _) => Verdict::Invalid,
    });
    action.refusal = refused.map(|refused| (refused.code, refused.text));
    action.differences = (differences.into_iter())
        // A relaxed check accepts what the strict one would refuse.
        .filter(|difference| !difference.compared || action.verdict == Verdict::Drift)
        .map(|difference| PlannedDifference {
            argument: difference.argument,
            wanted: difference.wanted,
            current: difference.current,
            compared: difference.compared,
            remedy: Remedied::Nothing,
        })
        .collect();
}

fn text_difference(differences: &mut Vec<PlannedDifference>, name: &str, wanted: &str, current: &str) {
    if wanted != current {
        differences.push(policy_difference(name, wanted, current));
    }
}

fn policy_difference(name: &str, wanted: impl Into<Value>, current: impl Into<Value>) -> PlannedDifference {
    PlannedDifference {
        argument: name.to_owned(),
        wanted: Some(wanted.into()),
        current: Some(current.into()),
        compared: true,
        remedy: Remedied::Policy,
    }
}

/// What an apply would send for an action.
pub(super) fn decide_sends(settings: &Settings, action: &Action) -> Sends {
    let unasked = matches!(action.reason, Some(Reason::NotAskable | Reason::NoInspection));
    let wanted = match action.verdict {
        Verdict::Create => true,
        // What could not be asked is declared: an equal declaration changes nothing. Where the broker gave a reason not to
        // answer, declaring would only meet it again.
        Verdict::Unknown => unasked,
        Verdict::Drift => settings.update_policies && matches!(action.object, Object::Policy(_)),
        Verdict::Present | Verdict::Invalid | Verdict::Extra => false,
    };
    match &action.object {
        _ if !wanted => Sends::Nothing,
        Object::External(_) => Sends::Nothing,
        Object::Exchange(_) => Sends::Declare,
        Object::Queue(queue) if queue.exclusive && settings.skip_exclusive => Sends::Nothing,
        Object::Queue(_) => Sends::Declare,
        Object::Binding(_) => Sends::Bind,
        Object::Policy(_) if settings.can_set_policies || !settings.apply => Sends::Set,
        Object::Policy(_) => Sends::Nothing,
    }
}
