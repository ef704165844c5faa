//! What a refusal tells a session: nothing about the object, or one difference with the value that the broker has.

use super::action::{Action, Reason, Verdict};
use crate::rabbitmq::{Refusal, RefusalClass, Side};
use crate::value::Value;

/// Records an answer that tells nothing about the object itself.
pub(super) fn unanswered(action: &mut Action, refusal: &Refusal, code: u16, text: String) {
    let reason = match refusal.class {
        RefusalClass::AccessRefused => Reason::AccessRefused,
        RefusalClass::Locked => Reason::Locked,
        _ => Reason::Unavailable,
    };
    if action.differences.is_empty() {
        action.unknown(reason, text.clone());
        action.refusal = Some((code, text));
    } else {
        action.judge(Verdict::Drift);
        action.at_least = true;
    }
}

/// What differs by this refusal: the argument that it names, or `exclusive` for a lock that is no other connection's.
pub(super) fn difference(refusal: &Refusal) -> Option<String> {
    match refusal.class {
        RefusalClass::Locked => Some("exclusive".to_owned()),
        _ => refusal.argument.clone(),
    }
}

/// Sets `place`; whether that changed anything.
pub(super) fn assign<T: PartialEq>(place: &mut T, value: T) -> bool {
    let changed = *place != value;
    *place = value;
    changed
}

/// What the broker has, typed so that it can be sent back, knowing what was `sent`: `None` when the text does not tell,
/// `Some(None)` when the argument is not set there.
pub(super) fn current_of(refusal: &Refusal, argument: &str, sent: Option<&Value>) -> Option<Option<Value>> {
    if refusal.absent == Some(Side::Current) {
        return Some(None);
    }
    if refusal.truncated {
        return None;
    }
    refusal.current_value(argument, sent).map(Some)
}

/// The broker's own print of a value that cannot be typed.
pub(super) fn printed(refusal: &Refusal) -> Option<Value> {
    refusal.current.as_ref().map(|printed| Value::text(printed.value.clone()))
}
