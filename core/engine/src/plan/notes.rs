//! What the lines of a plan do not hold: further differences, the way out, and what could not be asked.

use super::action::{Action, Object, Plan, PlannedDifference, Reason, Verdict};
use super::judge::{goes_by_rabbitmq, judged_version};
use super::remedy;
use super::render::difference_text;
use super::session::{BrokerKind, Settings};
use crate::rabbitmq::QueueType;
use crate::topology::shown_name;

/// How many names a note lists before it counts the rest.
const NAMED: usize = 5;

/// The plan of these actions, with the notes that explain it.
pub(super) fn explained(settings: &Settings, mut actions: Vec<Action>, foreign: usize) -> Plan {
    remedy::find(settings, &mut actions);
    for action in &mut actions {
        explain(action);
    }
    let notes = about_all(settings, &actions);
    Plan {
        mode: settings.mode,
        kind: settings.kind,
        broker: settings.broker.clone(),
        vhost: settings.vhost.clone(),
        actions,
        foreign,
        notes,
    }
}

fn explain(action: &mut Action) {
    let object = format!("{} {}", action.object.kind(), shown_name(action.object.name()));
    let (compared, ignored): (Vec<_>, Vec<_>) = action.differences.iter().partition(|difference| difference.compared);
    let mut notes = Vec::new();
    if action.verdict == Verdict::Drift && (compared.len() > 1 || action.at_least) {
        let at_least = if action.at_least { "at least " } else { "" };
        match compared.is_empty() {
            true => notes.push(format!("{object} differs; the broker does not say in what")),
            false => notes.push(format!("{object} differs {at_least}in {}", enumerate(&compared))),
        }
    }
    for difference in ignored {
        notes.push(format!("{object}: {}; the broker never compares it", difference_text(difference)));
    }
    if action.verdict == Verdict::Drift && matches!(action.object, Object::Policy(_)) {
        notes.push(format!(
            "{object}: an apply changes a policy that is there only when it is asked to (--update-policies)"
        ));
    }
    if let Some(injected) = injected_type(action) {
        notes.push(format!(
            "{object} names no x-queue-type, so the vhost's default queue type makes this declaration one of a {injected} queue"
        ));
    }
    action.notes.splice(0..0, notes);
}

/// The type that the broker put into a declaration without one and then found different.
fn injected_type(action: &Action) -> Option<QueueType> {
    let Object::Queue(queue) = &action.object else { return None };
    let differs = action.verdict == Verdict::Drift
        && action.differences.iter().any(|difference| difference.argument == "x-queue-type");
    action.given_type.filter(|_| differs && !queue.arguments.contains("x-queue-type"))
}

/// `2 points: x-message-ttl is 60000 on the broker, 30000 here; …`
fn enumerate(differences: &[&PlannedDifference]) -> String {
    let texts: Vec<String> = differences.iter().map(|difference| difference_text(difference)).collect();
    let points = if texts.len() == 1 { "1 point".to_owned() } else { format!("{} points", texts.len()) };
    format!("{points}: {}", texts.join("; "))
}

fn about_all(settings: &Settings, actions: &[Action]) -> Vec<String> {
    let mut notes = Vec::new();
    if settings.broker.version.is_none() && goes_by_rabbitmq(&settings.broker) {
        notes.push(format!(
            "the version of this broker is not known; rules are those of RabbitMQ {}",
            judged_version(&settings.broker)
        ));
    }
    if !goes_by_rabbitmq(&settings.broker) {
        notes.push(format!(
            "{} is no RabbitMQ: its own answers are shown, and nothing is predicted for it",
            settings.broker
        ));
    }
    if settings.can_ask && !settings.broker.guards_offers() {
        notes.push(format!(
            "{} is asked without a guard: a queue that is not there is not offered to it, so a missing permission or a \
             refused argument shows only when the queue is declared, and of several differences only the first is known",
            settings.broker
        ));
    }
    notes.extend(given_types(settings, actions));
    let exclusive = names(actions, |action| match &action.object {
        Object::Queue(queue) => {
            settings.skip_exclusive && queue.exclusive && matches!(action.verdict, Verdict::Create | Verdict::Unknown)
        }
        _ => false,
    });
    if !exclusive.is_empty() {
        notes.push(format!(
            "exclusive queues belong to the connection that declares them, so an apply leaves them to their service: {}",
            list(&exclusive)
        ));
    }
    let policies = names(actions, |action| {
        matches!(action.object, Object::Policy(_)) && action.reason == Some(Reason::NotAskable)
    });
    if !policies.is_empty() && matches!(settings.kind, BrokerKind::Amqp | BrokerKind::Memory) {
        notes.push(format!(
            "AMQP can neither read nor set policies; the management API can (--management URL): {}",
            list(&policies)
        ));
    }
    notes
}

/// Queues that name no type and become something else than classic.
fn given_types(settings: &Settings, actions: &[Action]) -> Vec<String> {
    let vhost = settings.vhost.as_deref().map_or_else(String::new, |vhost| format!(" '{}'", shown_name(vhost)));
    (QueueType::ALL.into_iter())
        .filter_map(|given| {
            let queues =
                names(actions, |action| action.verdict == Verdict::Create && action.given_type == Some(given));
            (!queues.is_empty()).then(|| {
                format!(
                    "the default queue type of vhost{vhost} is {given}, which becomes the type of queues that name none: {}",
                    list(&queues)
                )
            })
        })
        .collect()
}

fn names(actions: &[Action], wanted: impl Fn(&Action) -> bool) -> Vec<&str> {
    actions.iter().filter(|action| wanted(action)).map(|action| action.object.name()).collect()
}

fn list(names: &[&str]) -> String {
    let named: Vec<_> = names.iter().take(NAMED).map(|name| shown_name(name)).collect();
    match names.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
