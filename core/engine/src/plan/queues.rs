//! Asking about queues: passively, then by an offer, then on along every difference that the broker names.

use super::action::{Object, PlannedDifference, Reason, Remedied, Verdict};
use super::guard::{Guards, given_type};
use super::question::{Answer, Ask};
use super::reading::{assign, current_of, difference, printed, unanswered};
use super::session::{PlanSession, Step};
use crate::rabbitmq::{Known, QueueDeclaration, Refusal, RefusalClass};
use crate::value::Value;

/// How many times one queue is offered before the walk gives up and says "at least".
pub(super) const OFFERS: u8 = 32;

/// The walk along a queue's differences: what is offered now, and what the broker has told.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    pub(super) offered: QueueDeclaration,
    pub(super) guards: Guards,
    /// Whether the passive question found the queue.
    pub(super) was_there: bool,
    pub(super) offers: u8,
}

impl PlanSession {
    pub(super) fn take_queue_passive(&mut self, index: usize, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Queue(queue) = &action.object else { return };
        let was_there = match answer {
            Answer::Ok { .. } => true,
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(&queue.name), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if !refusal.proves_absence() {
                    unanswered(action, &refusal, code, text);
                    return;
                }
                if !guarded {
                    self.judge.absent_queue(action, None);
                    return;
                }
                false
            }
            Answer::Failed { why } => return action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => return action.unknown(Reason::NoInspection, why),
        };
        let guards = if guarded { Guards::of(queue) } else { Guards::default() };
        let walk = Walk { offered: queue.clone(), guards, was_there, offers: 0 };
        self.offer_queue(index, walk);
    }

    pub(super) fn offer_queue(&mut self, index: usize, mut walk: Walk) {
        walk.offers += 1;
        let ask = Ask::QueueOffer(walk.guards.guard(&walk.offered));
        self.open(index, Step::QueueOffer(Box::new(walk)), ask);
    }

    pub(super) fn take_queue_offer(&mut self, index: usize, walk: Walk, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let (code, text) = match answer {
            Answer::Ok { .. } => {
                return match action.differences.is_empty() {
                    true => action.judge(Verdict::Present),
                    false => action.judge(Verdict::Drift),
                };
            }
            Answer::Refused { code, text, .. } => (code, text),
            // What the walk has told so far is proven; only its end is missing.
            Answer::Failed { why } if action.differences.is_empty() => {
                return action.unknown(Reason::of_failure(&why), why);
            }
            Answer::Cannot { why } if action.differences.is_empty() => {
                return action.unknown(Reason::NoInspection, why);
            }
            Answer::Failed { .. } | Answer::Cannot { .. } => {
                action.judge(Verdict::Drift);
                action.at_least = true;
                return;
            }
        };
        let known = Known { name: Some(action.object.name()), vhost: self.settings.vhost.as_deref() };
        let refusal = Refusal::read(Some(code), &text, known);
        match refusal.class {
            RefusalClass::Inequivalent => {}
            // The exclusive flag is compared before everything else. The passive question would have met another
            // connection's lock already.
            RefusalClass::Locked if walk.was_there => {}
            RefusalClass::Invalid if refusal.argument.as_deref().is_some_and(|name| walk.guards.contains(name)) => {
                // Only the guard stands against it: the queue is not there and could be created.
                return self.judge.absent_queue(action, given_type(&text));
            }
            RefusalClass::Invalid => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            RefusalClass::AccessRefused if !walk.was_there => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            _ => return unanswered(action, &refusal, code, text),
        }
        let first = action.refusal.is_none();
        if first {
            action.refusal = Some((code, text));
        }
        action.judge(Verdict::Drift);
        self.walk_on(index, walk, &refusal, guarded);
    }

    /// Notes the difference that a refusal proves, takes over what the broker has, and offers again.
    pub(super) fn walk_on(&mut self, index: usize, mut walk: Walk, refusal: &Refusal, guarded: bool) {
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Queue(queue) = &action.object else { return };
        let Some(argument) = difference(refusal) else {
            action.at_least = true;
            return;
        };
        if walk.guards.contains(&argument) {
            // The queue there is of the type that compares this guard: it is no difference, and no guard.
            if action.differences.is_empty() {
                action.refusal = None;
                action.unknown(Reason::Unavailable, "not answered yet".to_owned());
            }
            walk.guards = walk.guards.without(&argument);
            if walk.guards.is_empty() || walk.offers >= OFFERS {
                action.at_least = true;
                return;
            }
            return self.offer_queue(index, walk);
        }
        let wanted = wanted_of_queue(queue, &argument);
        let current = match argument.as_str() {
            "exclusive" => Some(Some(Value::Bool(!queue.exclusive))),
            _ => current_of(refusal, &argument, walk.offered.arguments.get(&argument)),
        };
        let told = current.clone().unwrap_or_else(|| printed(refusal));
        action.differences.push(PlannedDifference {
            argument: argument.clone(),
            wanted,
            current: told,
            compared: true,
            remedy: Remedied::Nothing,
        });
        let took_over = match (&current, argument.as_str()) {
            (Some(Some(Value::Bool(flag))), "durable") => assign(&mut walk.offered.durable, *flag),
            (Some(Some(Value::Bool(flag))), "auto_delete") => assign(&mut walk.offered.auto_delete, *flag),
            (Some(Some(Value::Bool(flag))), "exclusive") => assign(&mut walk.offered.exclusive, *flag),
            (Some(Some(value)), _) => {
                walk.offered.arguments.insert(argument.clone(), value.clone()) != Some(value.clone())
            }
            (Some(None), _) => walk.offered.arguments.remove(&argument).is_some(),
            (None, _) => false,
        };
        if argument == "x-queue-type" && took_over {
            walk.guards = if guarded { Guards::of(&walk.offered) } else { walk.guards };
        }
        if !took_over || refusal.truncated || !guarded || walk.guards.is_empty() || walk.offers >= OFFERS {
            action.at_least = true;
            return;
        }
        self.offer_queue(index, walk);
    }
}

fn wanted_of_queue(queue: &QueueDeclaration, argument: &str) -> Option<Value> {
    match argument {
        "durable" => Some(Value::Bool(queue.durable)),
        "auto_delete" => Some(Value::Bool(queue.auto_delete)),
        "exclusive" => Some(Value::Bool(queue.exclusive)),
        _ => queue.arguments.get(argument).cloned(),
    }
}
