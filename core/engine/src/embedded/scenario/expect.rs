//! Expectations against what is there.

use super::Stage;
use super::form::{ContentsForm, DeathForm, ExpectForm, HeadersForm};
use super::play::Player;
use super::text::{names, shown};
use crate::embedded::StoredMessage;
use crate::value::{Table, Value};

/// Adds a sentence to `faults` for everything that is not as expected.
pub(super) fn check<S: Stage>(player: &Player<'_, S>, expected: &ExpectForm, faults: &mut Vec<String>) {
    for (queue, contents) in &expected.queues {
        let Some(found) = player.broker().contents(queue) else {
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
    if let Some(headers) = &expected.headers {
        check_headers(player, headers, faults);
    }
}

/// The message of that name, in the first queue that has it ready.
fn find<S: Stage>(player: &Player<'_, S>, name: &str, faults: &mut Vec<String>) -> Option<StoredMessage> {
    let broker = player.broker();
    let found = broker.queue_names().filter_map(|queue| broker.contents(queue)).find_map(|contents| {
        contents.ready.into_iter().find(|message| player.names.get(&message.message).is_some_and(|known| known == name))
    });
    if found.is_none() {
        faults.push(format!("{} is in no queue, so nothing shows its headers", shown(name)));
    }
    found
}

fn check_headers<S: Stage>(player: &Player<'_, S>, expected: &HeadersForm, faults: &mut Vec<String>) {
    let Some(message) = find(player, &expected.message, faults) else { return };
    let headers = &message.properties.headers;
    for (name, wanted) in expected.with.iter() {
        if headers.get(name).is_none_or(|value| value.to_json() != wanted.to_json()) {
            let found = headers.get(name).map_or_else(|| "nothing".to_owned(), Value::to_json);
            let who = shown(&expected.message);
            faults.push(format!("{who}: expected {}: {}, has {found}", shown(name), wanted.to_json()));
        }
    }
    for name in &expected.without {
        if let Some(value) = headers.get(name) {
            let who = shown(&expected.message);
            faults.push(format!("{who}: expected no {}, has {}", shown(name), value.to_json()));
        }
    }
}

fn check_death<S: Stage>(player: &Player<'_, S>, expected: &DeathForm, faults: &mut Vec<String>) {
    let name = shown(&expected.message);
    let Some(message) = find(player, &expected.message, faults) else { return };
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
