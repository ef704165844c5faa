//! Settings that a builder gives apart from the queue that they are for.

use super::super::finding::{Findings, queue as named};
use super::super::problem::{ObjectRef, Problem, ProblemCode};
use super::super::wish::{QueueWish, Setting, Wishes};
use crate::name::quoted;
use crate::retry::RetryForm;
use crate::value::Value;
use serde_json::Value as Json;
use std::collections::HashMap;

/// Writes each setting into its queue, whichever was asked for first.
pub(super) fn apply(wishes: &mut Wishes, findings: &mut Findings) {
    let settings = std::mem::take(&mut wishes.settings);
    if settings.is_empty() {
        return;
    }
    let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, queue) in wishes.queues.iter().enumerate() {
        by_name.entry(queue.name.clone()).or_default().push(index);
    }
    for (name, setting) in settings {
        let Some(indexes) = by_name.get(&name) else {
            findings.push_unplaced(undeclared(&name, &setting));
            continue;
        };
        for index in indexes {
            if let Some(wish) = wishes.queues.get_mut(*index)
                && let Err(problem) = set(wish, setting.clone())
            {
                findings.push_unplaced(*problem);
                break;
            }
        }
    }
}

fn undeclared(name: &str, setting: &Setting) -> Problem {
    let (code, what) = match setting {
        Setting::DeadLetters => (ProblemCode::DeadLetterUndeclared, "dead letters are"),
        Setting::DeadLetterTo(_) => (ProblemCode::DeadLetterUndeclared, "a dead-letter exchange is"),
        Setting::Retries(_) => (ProblemCode::RetriesUndeclared, "retries are"),
        Setting::Type(_) => (ProblemCode::QueueUndeclared, "a type is"),
        Setting::Argument(..) => (ProblemCode::QueueUndeclared, "an argument is"),
        Setting::Transient | Setting::Exclusive | Setting::AutoDelete => (ProblemCode::QueueUndeclared, "a flag is"),
    };
    let sentence = format!("{what} asked for on {}, which this topology does not declare", named(name));
    Problem::new(code, ObjectRef::queue(name), sentence)
        .help("Declare the queue in the same topology: these settings are part of its declaration.")
}

fn set(wish: &mut QueueWish, setting: Setting) -> Result<(), Box<Problem>> {
    use ProblemCode::{ArgumentConflict, DeadLetterConflict, QueueTypeConflict, RetryPolicyConflict};
    match setting {
        Setting::DeadLetters => wish.dead_letter = true,
        Setting::Transient => wish.transient = Some(true),
        Setting::Exclusive => wish.exclusive = true,
        Setting::AutoDelete => wish.auto_delete = true,
        Setting::DeadLetterTo(exchange) => match &wish.dead_letter_to {
            Some(old) if *old != exchange => {
                return Err(twice(wish, DeadLetterConflict, "dead-letter exchange", old.as_str(), exchange.as_str()));
            }
            _ => wish.dead_letter_to = Some(exchange),
        },
        Setting::Type(kind) => match &wish.r#type {
            Some(old) if *old != kind => {
                return Err(twice(wish, QueueTypeConflict, "type", old.as_str(), kind.as_str()));
            }
            _ => wish.r#type = Some(kind),
        },
        Setting::Argument(name, value) => match wish.arguments.get(&name) {
            Some(old) if *old != value => {
                let what = format!("argument {}", quoted(&name));
                return Err(twice(wish, ArgumentConflict, &what, json(old), json(&value)));
            }
            _ => {
                wish.arguments.insert(name, value);
            }
        },
        Setting::Retries(policy) => match &wish.retry {
            Some(old) if *old != policy => {
                return Err(twice(wish, RetryPolicyConflict, "retry policy", text(old), text(&policy)));
            }
            _ => wish.retry = Some(policy),
        },
    }
    Ok(())
}

fn twice(
    wish: &QueueWish,
    code: ProblemCode,
    what: &str,
    first: impl Into<Json>,
    second: impl Into<Json>,
) -> Box<Problem> {
    let (first, second) = (first.into(), second.into());
    let sentence = format!("{} is given its {what} twice: {first} and {second}", named(&wish.name));
    let problem = Problem::new(code, ObjectRef::queue(&wish.name), sentence)
        .field("first", first)
        .field("second", second)
        .help("Keep one of the two.");
    Box::new(problem)
}

fn json(value: &Value) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

fn text(policy: &RetryForm) -> String {
    policy.policy().map(|policy| policy.to_string()).unwrap_or_default()
}
