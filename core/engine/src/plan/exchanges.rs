//! Asking about exchanges: by an offer whose guard stands in for the alternate exchange, or passively.

use super::action::{Object, PlannedDifference, Reason, Remedied, Verdict};
use super::guard::{ALTERNATE_EXCHANGE, guard_exchange};
use super::question::{Answer, Ask};
use super::queues::OFFERS;
use super::reading::{assign, current_of, difference, printed, unanswered};
use super::session::{PlanSession, Step};
use crate::rabbitmq::{ExchangeDeclaration, Known, Refusal, RefusalClass};
use crate::value::Value;

/// The walk along an exchange's differences.
#[derive(Debug, Clone)]
pub(super) struct ExchangeWalk {
    pub(super) offered: ExchangeDeclaration,
    pub(super) was_there: bool,
    pub(super) offers: u8,
}

impl PlanSession {
    pub(super) fn take_external(&mut self, index: usize, answer: Answer) {
        let Some(action) = self.actions.get_mut(index) else { return };
        match answer {
            Answer::Ok { .. } => action.judge(Verdict::Present),
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(action.object.name()), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if refusal.proves_absence() {
                    // Nobody has declared it, and this topology must not.
                    action.judge(Verdict::Invalid);
                    action.refusal = Some((code, text));
                } else {
                    unanswered(action, &refusal, code, text);
                }
            }
            Answer::Failed { why } => action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => action.unknown(Reason::NoInspection, why),
        }
    }

    pub(super) fn take_exchange_passive(&mut self, index: usize, answer: Answer) {
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Exchange(exchange) = &action.object else { return };
        match answer {
            Answer::Ok { .. } => {
                // No guard here, but the exchange is there: offering it as it is wanted creates nothing.
                let walk = ExchangeWalk { offered: exchange.clone(), was_there: true, offers: OFFERS };
                let ask = Ask::ExchangeOffer(exchange.clone());
                self.open(index, Step::ExchangeOffer(Box::new(walk)), ask);
            }
            Answer::Refused { code, text, .. } => {
                let known = Known { name: Some(&exchange.name), vhost: self.settings.vhost.as_deref() };
                let refusal = Refusal::read(Some(code), &text, known);
                if refusal.proves_absence() {
                    action.judge(Verdict::Create);
                } else {
                    unanswered(action, &refusal, code, text);
                }
            }
            Answer::Failed { why } => action.unknown(Reason::of_failure(&why), why),
            Answer::Cannot { why } => action.unknown(Reason::NoInspection, why),
        }
    }

    pub(super) fn take_exchange_offer(&mut self, index: usize, mut walk: ExchangeWalk, answer: Answer) {
        let guarded = self.settings.broker.guards_offers();
        let Some(action) = self.actions.get_mut(index) else { return };
        let Object::Exchange(exchange) = &action.object else { return };
        let (code, text) = match answer {
            // With the guard this cannot be: a stored alternate exchange is always a text.
            Answer::Ok { .. } => {
                return match action.differences.is_empty() {
                    true => action.judge(Verdict::Present),
                    false => action.judge(Verdict::Drift),
                };
            }
            Answer::Refused { code, text, .. } => (code, text),
            Answer::Failed { why } => {
                if action.differences.is_empty() {
                    action.unknown(Reason::of_failure(&why), why);
                } else {
                    action.judge(Verdict::Drift);
                    action.at_least = true;
                }
                return;
            }
            Answer::Cannot { why } => return action.unknown(Reason::NoInspection, why),
        };
        let known = Known { name: Some(&exchange.name), vhost: self.settings.vhost.as_deref() };
        let refusal = Refusal::read(Some(code), &text, known);
        match refusal.class {
            RefusalClass::Inequivalent => {}
            RefusalClass::Invalid if refusal.argument.as_deref() == Some(ALTERNATE_EXCHANGE) && guarded => {
                return action.judge(Verdict::Create);
            }
            RefusalClass::Invalid => {
                action.judge(Verdict::Invalid);
                action.refusal = Some((code, text));
                return;
            }
            _ => return unanswered(action, &refusal, code, text),
        }
        let Some(argument) = difference(&refusal) else {
            action.judge(Verdict::Drift);
            action.refusal.get_or_insert((code, text));
            action.at_least = true;
            return;
        };
        let guard = Value::I64(5);
        let sent = if guarded && argument == ALTERNATE_EXCHANGE { Some(&guard) } else { None };
        let current = current_of(&refusal, &argument, sent);
        let wanted = wanted_of_exchange(exchange, &argument);
        if argument == ALTERNATE_EXCHANGE && guarded {
            // The guard is compared last, so everything else is equal by now, and this is the real alternate exchange.
            let Some(current) = current else {
                action.judge(if action.differences.is_empty() { Verdict::Present } else { Verdict::Drift });
                action.at_least = true;
                return;
            };
            if current != wanted {
                let as_wanted = self.judge.alternate_exchange_refusal(exchange, current.as_ref());
                if action.refusal.is_none() {
                    action.refusal = as_wanted.or(Some((code, text)));
                }
                action.differences.push(PlannedDifference {
                    argument,
                    wanted,
                    current,
                    compared: true,
                    remedy: Remedied::Nothing,
                });
            }
            action.judge(if action.differences.is_empty() { Verdict::Present } else { Verdict::Drift });
            return;
        }
        action.judge(Verdict::Drift);
        action.refusal.get_or_insert((code, text));
        let told = current.clone().unwrap_or_else(|| printed(&refusal));
        action.differences.push(PlannedDifference {
            argument: argument.clone(),
            wanted,
            current: told.clone(),
            compared: true,
            remedy: Remedied::Nothing,
        });
        let took_over = match (&told, argument.as_str()) {
            (Some(Value::Bool(flag)), "durable") => assign(&mut walk.offered.durable, *flag),
            (Some(Value::Bool(flag)), "auto_delete") => assign(&mut walk.offered.auto_delete, *flag),
            (Some(Value::Bool(flag)), "internal") => assign(&mut walk.offered.internal, *flag),
            (Some(value), "type") => match value.as_text() {
                Some(kind) => assign(&mut walk.offered.kind, kind.to_owned()),
                None => false,
            },
            _ => false,
        };
        if !took_over || refusal.truncated || !guarded || walk.offers >= OFFERS {
            action.at_least = true;
            return;
        }
        walk.offers += 1;
        walk.was_there = true;
        let ask = Ask::ExchangeOffer(guard_exchange(&walk.offered));
        self.open(index, Step::ExchangeOffer(Box::new(walk)), ask);
    }
}

fn wanted_of_exchange(exchange: &ExchangeDeclaration, argument: &str) -> Option<Value> {
    match argument {
        "durable" => Some(Value::Bool(exchange.durable)),
        "auto_delete" => Some(Value::Bool(exchange.auto_delete)),
        "internal" => Some(Value::Bool(exchange.internal)),
        "type" => Some(Value::text(exchange.kind.clone())),
        _ => exchange.arguments.get(argument).cloned(),
    }
}
