//! Where dead letters land: in which queues, and whether in another one's dead-letter queue as well.

use super::Report;
use super::codes::Code;
use super::finding::{Finding, quoted};
use super::loops::KEYS;
use super::story::Story;
use super::ways::{Through, Ways, likely_reason};
use super::world::World;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Dead letters of one queue that land in the dead-letter queue of another.
pub(super) fn cross_talk(world: &World<'_>, ways: &Ways<'_>, report: &mut Report) {
    for queue in world.queues.values() {
        let Some(dead) = queue.dead_letters().filter(|dead| dead.key.is_none() && !dead.exchange.is_empty()) else {
            continue;
        };
        for way in
            ways.into(queue.name).iter().filter(|way| way.through == Through::Keys && way.deaths.is_empty()).take(KEYS)
        {
            let Some(key) = world.sample(&way.keys) else { continue };
            let targets = world.routes(&dead.exchange, &key, None).queues;
            if targets.len() < 2 {
                continue;
            }
            let fed = world.routes(way.exchange, &key, Some(&way.headers)).queues;
            let shares = |other: &str| {
                let other = world.queues.get(other).and_then(|other| other.dead_letters());
                other.is_some_and(|other| other.key.is_none() && other.exchange == dead.exchange)
            };
            // Whose dead-letter queue one is, only its name says.
            let belongs = |target: &str, to: &str| target.len() > to.len() && target.starts_with(to);
            let theirs = fed.iter().find_map(|other| {
                let foreign = **other != *queue.name && shares(other);
                let target = targets.iter().find(|target| belongs(target, other) && !belongs(target, queue.name));
                target.filter(|_| foreign).map(|target| (*other, *target))
            });
            let Some((other, target)) = theirs.filter(|_| targets.iter().any(|target| belongs(target, queue.name)))
            else {
                continue;
            };
            let message = format!(
                "a message with key {} that dies in queue {} also lands in {}, where the dead letters of queue {} are",
                quoted(&key),
                quoted(queue.name),
                quoted(target),
                quoted(other)
            );
            let mut story = Story::new(world, way, &key, queue.name);
            story.dies(queue.name, likely_reason(queue));
            let example = story.ends(" and comes to the dead-letter queues of both");
            report.add(Finding::new(Code::CrossTalk, world.queue_object(queue.name), message).shown(example));
            break;
        }
    }
}

/// The queues that take dead letters, each with some of those that these died in.
pub(super) fn dead_targets<'w>(world: &'w World<'_>, ways: &Ways<'w>) -> BTreeMap<&'w str, Vec<&'w str>> {
    let mut targets: BTreeMap<&'w str, Vec<&'w str>> = BTreeMap::new();
    for queue in world.queues.values() {
        let Some(dead) = queue.dead_letters() else { continue };
        let keys: BTreeSet<Cow<'_, str>> = match &dead.key {
            Some(key) => BTreeSet::from([Cow::Borrowed(key.as_str())]),
            None => {
                let keys = ways.into(queue.name).iter().take(KEYS).filter_map(|way| world.sample(&way.arriving()));
                keys.map(Cow::Owned).collect()
            }
        };
        for key in keys {
            for target in world.routes(&dead.exchange, &key, None).queues {
                let deaths = targets.entry(target).or_default();
                if deaths.len() < KEYS {
                    deaths.push(queue.name);
                }
            }
        }
    }
    targets
}
