//! Queues that are meant to keep messages, and do not.

use super::Report;
use super::codes::Code;
use super::finding::{Example, Finding, few, quoted};
use super::loops::Cycle;
use super::queue::Queue;
use super::story::Story;
use super::ways::{Way, Ways, likely_reason};
use super::world::{Given, World};
use crate::embedded::DeathReason;
use crate::rabbitmq::QueueType;
use std::collections::{BTreeMap, BTreeSet};

/// Words in the names of queues that delay messages.
const DELAY_WORDS: [&str; 5] = ["delay", "delayed", "delays", "wait", "waiting"];

/// Every queue that dead letters come to, and every queue that lets messages wait.
pub(super) fn check(
    world: &World<'_>,
    ways: &Ways<'_>,
    targets: &BTreeMap<&str, Vec<&str>>,
    cycles: &[Cycle<'_>],
    report: &mut Report,
) {
    let cyclic: BTreeSet<&str> = cycles.iter().flat_map(Cycle::queues).collect();
    for queue in world.queues.values() {
        let object = || world.queue_object(queue.name);
        if let Some(deaths) = targets.get(queue.name) {
            let from: BTreeSet<&str> = deaths.iter().copied().collect();
            let from = few(from.into_iter().collect::<Vec<_>>().into_iter());
            if let Some(bounded) = bounded(queue) {
                let message = format!(
                    "queue {} keeps the dead letters of {from} and throws them away: {bounded}",
                    quoted(queue.name)
                );
                let finding = Finding::new(Code::DeadLetterQueueBounded, object(), message);
                report.add(finding.shown(deaths.iter().find_map(|from| thrown_away(world, ways, from, queue))));
            }
            // What comes back from where it waited is the work itself, no dead letter that somebody keeps.
            let waited = |name: &str| world.queues.get(name).is_some_and(|queue| queue.expires_messages());
            let keeps = deaths.iter().any(|queue| !waited(queue));
            let moves_on =
                queue.dead_letters().filter(|_| keeps && !queue.expires_messages() && !cyclic.contains(queue.name));
            if let Some(dead) = moves_on {
                let message = format!(
                    "queue {} takes the dead letters of {from} and dead-letters in turn, to {}",
                    quoted(queue.name),
                    super::finding::exchange_words(&dead.exchange)
                );
                report.add(Finding::new(Code::DeadLetterQueueDeadLetters, object(), message));
            }
        }
        if let Some(message) = vanishes(queue, targets.contains_key(queue.name)) {
            report.add(Finding::new(Code::QueueExpiresWithMessages, object(), message));
        }
        let delays = queue.dead_letters().is_some() && !queue.expires_messages() && named_for_delay(queue.name);
        if delays {
            let message = format!(
                "queue {} looks like a delay queue and has no x-message-ttl: messages that bring their own time to live wait for those before them",
                quoted(queue.name)
            );
            report.add(Finding::new(Code::HeadOfLine, object(), message));
        }
        if queue.declaration.auto_delete && queue.declaration.durable {
            let message =
                format!("durable queue {} goes with its last consumer, and its messages with it", quoted(queue.name));
            report.add(Finding::new(Code::AutoDeleteQueue, object(), message));
        }
    }
}

/// What throws the messages of a queue away that nothing leads out of.
fn bounded(queue: &Queue<'_>) -> Option<String> {
    if queue.dead_letter != Given::Nothing || queue.kind == Some(QueueType::Stream) {
        return None;
    }
    ["max-length", "max-length-bytes", "message-ttl"].into_iter().find_map(|key| {
        let setting = queue.effective.settings.get(key)?;
        let number = queue.number(key)?;
        Some(format!("{key} is {number} ({})", setting.why))
    })
}

/// A message that dies in one queue, comes to the bounded one and to no other, and dies there again.
fn thrown_away(world: &World<'_>, ways: &Ways<'_>, from: &str, queue: &Queue<'_>) -> Option<Example> {
    let from = world.queues.get(from)?;
    let dead = from.dead_letters()?;
    let by_name = Way::by_name(from.name);
    // With a key of its own for the dead letter it does not matter how the message came in.
    let way = if dead.key.is_some() { &by_name } else { ways.into(from.name).first()? };
    let key = world.sample(&way.keys)?;
    let dying = dead.key.as_deref().or(way.renamed).unwrap_or(&key);
    let reach = world.routes(&dead.exchange, dying, Some(&way.headers));
    if from.name == queue.name || reach.perhaps || !reach.queues.iter().eq([&queue.name]) {
        return None;
    }
    let reason = match (queue.number("message-ttl"), queue.number("max-length")) {
        (Some(_), _) => DeathReason::Expired,
        (None, Some(_)) if queue.drops_its_head() => DeathReason::MaxLen,
        _ => return None,
    };
    let mut story = Story::new(world, way, &key, from.name);
    story.dies(from.name, likely_reason(from));
    story.arrives(queue.name);
    story.dies(queue.name, reason);
    story.ends(", it is gone")
}

/// Why a queue goes while it holds messages that are wanted later.
fn vanishes(queue: &Queue<'_>, keeps_dead_letters: bool) -> Option<String> {
    let expires = queue.number("expires")?;
    if keeps_dead_letters && queue.dead_letter == Given::Nothing {
        return Some(format!(
            "queue {} keeps dead letters and is deleted, with them, after {expires} ms without a consumer",
            quoted(queue.name)
        ));
    }
    let ttl = queue.number("message-ttl").filter(|ttl| *ttl >= expires)?;
    queue.dead_letters()?;
    Some(format!(
        "queue {} is deleted after {expires} ms without a consumer, before its messages have waited their {ttl} ms",
        quoted(queue.name)
    ))
}

fn named_for_delay(name: &str) -> bool {
    name.split(|c: char| !c.is_alphanumeric()).any(|word| DELAY_WORDS.contains(&word.to_lowercase().as_str()))
}
