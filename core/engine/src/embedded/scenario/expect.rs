//! Expectations against what is there.

use super::form::{ContentsForm, DeathForm, ExpectForm};
use super::play::Player;
use super::text::{names, shown};
use crate::value::{Table, Value};

/// Adds a sentence to `faults` for everything that is not as expected.
pub(super) fn check(player: &Player, expected: &ExpectForm, faults: &mut Vec<String>) {
    for (queue, contents) in &expected.queues {
        let Some(found) = player.broker.contents(queue) else {
            faults.push(format!("there is no queue {}", shown(queue)));
            continue;
        };
        let ready: Vec<String> =
            found.ready.iter().map(|message| player.names.get(&message.message).cloned().unwrap_or_default()).collect();
        let fits = match contents {
            ContentsForm::Count(count) => u64::try_from(ready.len()) == Ok(*count),
            ContentsForm::Names(wanted) => ready == *wanted,
        };
        if !fits {
            let wanted = match contents {
                ContentsForm::Count(count) => format!("{count} messages"),
                ContentsForm::Names(wanted) => format!("[{}]", names(wanted)),
            };
            faults.push(format!("{}: expected {wanted}, has {} [{}]", shown(queue), ready.len(), names(&ready)));
        }
    }
    if let Some(returned) = &expected.returned
        && *returned != player.returned
    {
        faults.push(format!("expected [{}] to be returned, and [{}] were", names(returned), names(&player.returned)));
    }
    if let Some(death) = &expected.death {
        check_death(player, death, faults);
    }
}

fn check_death(player: &Player, expected: &DeathForm, faults: &mut Vec<String>) {
    let name = shown(&expected.message);
    let state = player.broker.state();
    let found = state.queues.keys().filter_map(|queue| player.broker.contents(queue)).find_map(|contents| {
        contents.ready.into_iter().find(|message| player.names.get(&message.message) == Some(&expected.message))
    });
    let Some(message) = found else {
        faults.push(format!("{name} is in no queue, so nothing shows its deaths"));
        return;
    };
    let deaths = match message.properties.headers.get("x-death") {
        Some(Value::Array(items)) => items.as_slice(),
        _ => &[],
    };
    let fits = |item: &Value| matches!(item, Value::Table(death) if is_like(death, expected));
    if !deaths.iter().any(fits) {
        let shown_deaths = Value::Array(deaths.to_vec()).to_json();
        faults.push(format!("{name} has no such death; its x-death is {shown_deaths}"));
    }
}

fn is_like(death: &Table, expected: &DeathForm) -> bool {
    let text = |key: &str, wanted: &Option<String>| {
        wanted.as_ref().is_none_or(|wanted| death.get(key).and_then(Value::as_text) == Some(wanted))
    };
    let keys = expected.routing_keys.as_ref().is_none_or(|wanted| {
        let wanted: Vec<Value> = wanted.iter().map(|key| Value::text(key.clone())).collect();
        death.get("routing-keys") == Some(&Value::Array(wanted))
    });
    text("queue", &expected.queue)
        && text("reason", &expected.reason)
        && text("exchange", &expected.exchange)
        && text("original-expiration", &expected.original_expiration)
        && expected.count.is_none_or(|count| death.get("count").and_then(Value::as_integer) == Some(count))
        && keys
}
