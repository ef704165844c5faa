//! Dead letters that come back: which loops the broker cuts, which run for ever, and who else gets a copy.
//!
//! A queue together with the key of a message is a node; its deaths lead on to the queues that the dead letter is routed to.
//! A cycle is judged by the reasons that its deaths can have. The broker drops a message on its return to a queue where it
//! died before, unless one of the deaths since was a rejection (`rabbit_dead_letter:detect_cycles`, `mc:is_death_cycle`).

use super::codes::Code;
use super::exchange::End;
use super::finding::{Finding, exchange_words, few, quoted};
use super::keys::KeySet;
use super::queue::Queue;
use super::story::Story;
use super::ways::{Through, Way, Ways, likely_reason};
use super::world::World;
use super::{Options, Report};
use crate::embedded::DeathReason;
use crate::rabbitmq::Version;
use crate::rabbitmq::changes::{DEATHS_BESIDE, DEATHS_BY_AGE, OWN_DEATHS_ONLY};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many keys of one queue are followed.
pub(super) const KEYS: usize = 8;
/// How many keys of one queue are followed, where bindings on the way of its dead letters tell them apart.
const PARTS: usize = 64;
/// How many cycles of one knot of queues are told.
const CYCLES: usize = 16;

/// A queue, and the key of a message in it; no key where its deaths give another one anyway.
type Node<'w> = (&'w str, Option<Cow<'w, str>>);

/// Queues that dead-letter into each other, in order, back to the first.
#[derive(Debug, Clone)]
pub(super) struct Cycle<'w> {
    nodes: Vec<Node<'w>>,
}

impl<'w> Cycle<'w> {
    /// Its queues, in order.
    pub(super) fn queues(&self) -> impl Iterator<Item = &'w str> {
        self.nodes.iter().map(|(queue, _)| *queue)
    }
}

/// Where a message in a queue goes when it dies.
struct Deaths<'w> {
    next: BTreeMap<Node<'w>, Vec<Node<'w>>>,
}

/// All cycles, each once.
pub(super) fn cycles<'w>(world: &'w World<'_>, ways: &Ways<'w>) -> Vec<Cycle<'w>> {
    let deaths = Deaths::new(world, ways);
    let mut found: BTreeMap<Vec<&'w str>, Cycle<'w>> = BTreeMap::new();
    for knot in deaths.knots() {
        for node in knot.iter().take(CYCLES) {
            let Some(nodes) = deaths.back_to(node, &knot) else { continue };
            let mut names: Vec<&'w str> = nodes.iter().map(|(queue, _)| *queue).collect();
            names.sort_unstable();
            found.entry(names).or_insert(Cycle { nodes });
        }
    }
    found.into_values().map(|cycle| cycle.starting_at_work(world)).collect()
}

impl<'w> Deaths<'w> {
    fn new(world: &'w World<'_>, ways: &Ways<'w>) -> Self {
        let mut next: BTreeMap<Node<'w>, Vec<Node<'w>>> = BTreeMap::new();
        let mut open: Vec<Node<'w>> = Vec::new();
        for queue in world.queues.values() {
            let Some(dead) = queue.dead_letters() else { continue };
            if dead.key.is_some() {
                open.push((queue.name, None));
                continue;
            }
            // Where any key would do, the empty one is what publishers use; a longer one nobody need use.
            let certain = ways.into(queue.name).iter().filter_map(|way| {
                let key = world.sample(&way.arriving())?;
                (way.through != Through::AnyKey || way.renamed.is_some() || key.is_empty()).then_some(key)
            });
            let mut keys: BTreeSet<String> = certain.take(KEYS).collect();
            // What comes by deaths is followed from where it died first.
            let published = |way: &&Way<'_>| way.deaths.is_empty() && way.through != Through::AnyKey;
            for way in ways.into(queue.name).iter().filter(published).take(KEYS) {
                told_apart(world, &dead.exchange, &way.arriving(), &mut keys);
            }
            open.extend(keys.into_iter().map(|key| (queue.name, Some(Cow::Owned(key)))));
        }
        while let Some(node) = open.pop() {
            if next.contains_key(&node) {
                continue;
            }
            let reached = step(world, &node);
            open.extend(reached.iter().cloned());
            next.insert(node, reached);
        }
        Self { next }
    }

    /// The sets of nodes that lead to each other (Tarjan's algorithm, without recursion).
    fn knots(&self) -> Vec<BTreeSet<&Node<'w>>> {
        #[derive(Clone, Copy)]
        struct Mark {
            index: usize,
            low: usize,
            on_stack: bool,
        }
        let mut marks: BTreeMap<&Node<'w>, Mark> = BTreeMap::new();
        let mut stack: Vec<&Node<'w>> = Vec::new();
        let mut knots = Vec::new();
        for root in self.next.keys() {
            if marks.contains_key(root) {
                continue;
            }
            let mut calls: Vec<(&Node<'w>, usize)> = vec![(root, 0)];
            while let Some((node, child)) = calls.pop() {
                if child == 0 {
                    let index = marks.len();
                    marks.insert(node, Mark { index, low: index, on_stack: true });
                    stack.push(node);
                }
                let next = self.next.get(node).and_then(|next| next.get(child));
                if let Some(next) = next {
                    calls.push((node, child + 1));
                    match marks.get(next).copied() {
                        None => calls.push((next, 0)),
                        Some(seen) if seen.on_stack => {
                            if let Some(mark) = marks.get_mut(node) {
                                mark.low = mark.low.min(seen.index);
                            }
                        }
                        Some(_) => {}
                    }
                    continue;
                }
                let Some(mark) = marks.get(node).copied() else { continue };
                if let Some((parent, _)) = calls.last()
                    && let Some(above) = marks.get_mut(*parent)
                {
                    above.low = above.low.min(mark.low);
                }
                if mark.low != mark.index {
                    continue;
                }
                let mut knot = BTreeSet::new();
                while let Some(top) = stack.pop() {
                    if let Some(mark) = marks.get_mut(top) {
                        mark.on_stack = false;
                    }
                    knot.insert(top);
                    if top == node {
                        break;
                    }
                }
                let loops = knot.len() > 1 || self.next.get(node).is_some_and(|next| next.contains(node));
                if loops {
                    knots.push(knot);
                }
            }
        }
        knots
    }

    /// A shortest way from a node back to itself.
    fn back_to(&self, start: &Node<'w>, knot: &BTreeSet<&Node<'w>>) -> Option<Vec<Node<'w>>> {
        let mut before: BTreeMap<&Node<'w>, &Node<'w>> = BTreeMap::new();
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            let (found, _) = self.next.get_key_value(node)?;
            for next in self.next.get(node).into_iter().flatten().filter(|next| knot.contains(next)) {
                if next == start {
                    let mut nodes = vec![found.clone()];
                    let mut at = found;
                    while at != start {
                        at = before.get(at).copied()?;
                        nodes.push(at.clone());
                    }
                    nodes.reverse();
                    return Some(nodes);
                }
                if !before.contains_key(next) {
                    before.insert(next, found);
                    open.push_back(next);
                }
            }
        }
        None
    }
}

/// Adds a key for each part of a set that bindings on the way of its dead letters tell apart: one pattern of keys arrives,
/// and only some of them come back.
fn told_apart<'w>(world: &'w World<'_>, exchange: &'w str, set: &KeySet<'w>, keys: &mut BTreeSet<String>) {
    if set.is_one() {
        return;
    }
    let mut seen: BTreeSet<(&'w str, String)> = BTreeSet::new();
    let mut open = VecDeque::from([(exchange, set.clone())]);
    while let Some((name, set)) = open.pop_front() {
        let Some(exchange) = world.exchanges.get(name) else { continue };
        let table = world.table(exchange);
        let always = table.always.iter().map(|end| (*end, set.clone()));
        let by_key = table.by_key.meeting(set.pattern()).into_iter().flat_map(|end| {
            let narrowed = world.between(exchange, end).filter_map(|binding| Some(set.and(&world.keys_of(binding)?)));
            narrowed.map(move |set| (end, set)).collect::<Vec<_>>()
        });
        for (end, set) in always.chain(by_key) {
            let Some(key) = world.sample(&set) else { continue };
            let next = match end {
                End::Exchange(next) => Some(next),
                // Where the dead letter gets a certain key, nothing is told apart any more.
                End::Queue(queue) => (world.queues.get(queue).and_then(Queue::dead_letters))
                    .and_then(|dead| dead.key.is_none().then_some(dead.exchange.as_str())),
            };
            if let Some(next) = next.filter(|next| seen.insert((next, key.clone()))) {
                open.push_back((next, set));
            }
            keys.insert(key);
            if keys.len() >= PARTS {
                return;
            }
        }
    }
}

/// The key that a message has after its death in a node.
fn key_after<'w>(queue: &'w Queue<'_>, node: &Node<'w>) -> Option<Cow<'w, str>> {
    let dead = queue.dead_letters()?;
    dead.key.as_deref().map(Cow::Borrowed).or_else(|| node.1.clone())
}

fn step<'w>(world: &'w World<'_>, node: &Node<'w>) -> Vec<Node<'w>> {
    let Some(queue) = world.queues.get(node.0) else { return Vec::new() };
    let (Some(dead), Some(key)) = (queue.dead_letters(), key_after(queue, node)) else { return Vec::new() };
    let reached = world.routes(&dead.exchange, &key, None).queues;
    let dying = reached.into_iter().filter_map(|target| {
        let dead = world.queues.get(target)?.dead_letters()?;
        Some((target, dead.key.is_none().then(|| key.clone())))
    });
    dying.collect()
}

impl<'w> Cycle<'w> {
    /// The same cycle, starting where work is done: at a queue without a time to live that has bindings, or the best there is.
    fn starting_at_work(mut self, world: &World<'_>) -> Self {
        let rank = |(queue, _): &Node<'_>| {
            let found = world.queues.get(queue);
            let waits = found.is_none_or(Queue::expires_messages);
            let bound = !world.into(crate::rabbitmq::DestinationType::Queue, queue).is_empty();
            (waits, !bound)
        };
        let best = self.nodes.iter().enumerate().min_by_key(|(_, node)| rank(node)).map_or(0, |(at, _)| at);
        self.nodes.rotate_left(best);
        self
    }

    fn all(&self, world: &World<'_>, test: impl Fn(&Queue<'_>) -> bool) -> bool {
        self.queues().all(|queue| world.queues.get(queue).is_some_and(&test))
    }

    fn any(&self, world: &World<'_>, test: impl Fn(&Queue<'_>) -> bool) -> bool {
        self.queues().any(|queue| world.queues.get(queue).is_some_and(&test))
    }

    /// `"a" -> "b" -> "a"`
    fn shown(&self) -> String {
        let mut names: Vec<String> = self.queues().map(quoted).collect();
        names.extend(self.queues().next().map(quoted));
        names.join(" -> ")
    }

    /// A way to its first queue that brings the key of the cycle.
    fn way(&self, world: &'w World<'_>, ways: &Ways<'w>) -> Option<(Way<'w>, String)> {
        let (queue, key) = self.nodes.first()?;
        let Some(key) = key else {
            let bound = super::ways::bound(world, queue);
            let plain = bound.into_iter().find(|way| way.through == Through::Keys);
            let way = plain.unwrap_or_else(|| Way::by_name(queue));
            let key = world.sample(&way.keys)?;
            return Some((way, key));
        };
        // The message must not have died in the cycle before it goes round.
        let fresh = |way: &&Way<'w>| way.deaths.iter().all(|(died, _)| self.queues().all(|queue| queue != *died));
        let plainly = |way: &&Way<'w>| world.sample(&way.arriving()).as_deref() == Some(key);
        if let Some(way) = ways.into(queue).iter().find(|way| fresh(way) && plainly(way)) {
            return Some((way.clone(), world.sample(&way.keys)?));
        }
        let among_others = |way: &&Way<'w>| way.renamed.is_none() && way.keys.has(key);
        let way = ways.into(queue).iter().find(|way| fresh(way) && among_others(way))?;
        Some((way.clone(), key.clone().into_owned()))
    }

    /// A message that dies in each queue of the cycle for the reason that `reason` gives.
    fn story<'a>(
        &self,
        world: &'w World<'a>,
        ways: &Ways<'w>,
        reason: impl Fn(&Queue<'_>) -> DeathReason,
    ) -> Option<Story<'w, 'a>> {
        let (way, key) = self.way(world, ways)?;
        let (first, _) = self.nodes.first()?;
        let mut story = Story::new(world, &way, &key, first);
        for (at, node) in self.nodes.iter().enumerate() {
            let queue = world.queues.get(node.0)?;
            story.dies(queue.name, reason(queue));
            if let Some((next, _)) = self.nodes.get(at + 1) {
                story.arrives(next);
            }
        }
        Some(story)
    }
}

/// Judges every cycle.
pub(super) fn check<'w>(
    world: &'w World<'_>,
    ways: &Ways<'w>,
    cycles: &[Cycle<'w>],
    options: &Options,
    report: &mut Report,
) {
    for cycle in cycles {
        let Some(first) = cycle.queues().next() else { continue };
        let shown = cycle.shown();
        let finding = |code, message: String| Finding::new(code, world.queue_object(first), message).told_by(&shown);
        // Without a rejection: each death by age, by length, or by the delivery limit.
        let by_age = cycle.all(world, waits);
        let automatic = cycle.all(world, |queue| queue.expires_messages() || queue.drops_when_full());
        let limited = |queue: &Queue<'_>| queue.delivery_limit().is_some();
        let by_limit = !automatic
            && cycle.all(world, |queue| queue.expires_messages() || queue.drops_when_full() || limited(queue));
        let reason = |queue: &Queue<'_>| match (queue.expires_messages(), queue.drops_when_full()) {
            (true, _) => DeathReason::Expired,
            (false, true) => DeathReason::MaxLen,
            (false, false) => DeathReason::DeliveryLimit,
        };
        let kept = if automatic || by_limit { cycle.ending_at_least_once(world) } else { None };
        if let Some(kept) = &kept {
            report.add(kept.blocked(world, ways, &shown, reason));
        }
        let drops = kept.is_none_or(|kept| kept.queues().next() != Some(first));
        if automatic && drops {
            let code = if by_age { Code::DeadLetterCycleCut } else { Code::DeadLetterCycleOverflow };
            let what = if by_age {
                format!("a message that nobody consumes goes {shown}")
            } else {
                format!("what {} drops when it is full goes {shown}", cycle.full(world))
            };
            let message =
                format!("{what} and is dropped by the broker on its return: nothing on the way is a rejection");
            report.add(cycle.cut(world, ways, finding(code, message), reason));
        } else if by_limit && drops {
            let message = format!(
                "a message that exceeds a delivery limit goes {shown} and is dropped by the broker on its return: nothing on the way is a rejection"
            );
            report.add(cycle.cut(world, ways, finding(Code::DeadLetterCycleDeliveryLimit, message), reason));
        }
        if by_age {
            continue;
        }
        let delayed = cycle.any(world, waits);
        let (code, how) = match delayed {
            true => (Code::RetryNeverEnds, "after its delay, as often as it is rejected (the broker never ends it)"),
            false => (Code::LoopWithoutDelay, "at once, as often as it is rejected"),
        };
        let message = format!("a message that is rejected from queue {} comes back {how}: {shown}", quoted(first));
        let story = cycle.story(world, ways, likely_reason).filter(|story| story.reached().contains(first));
        let example = story.and_then(|story| story.ends(" and comes back; a rejected message is never cut off"));
        report.add(finding(code, message).shown(example));
        if let Some(version) = world.state.broker.version
            && DEATHS_BESIDE.holds(version)
            && !DEATHS_BY_AGE.holds(version)
        {
            let message =
                format!("retries {shown} may be dropped by RabbitMQ {version} although they were rejected on the way");
            report.add(finding(Code::RetryCutIn313, message));
        }
        if delayed && upgrades(world, options, |version| OWN_DEATHS_ONLY.holds(version)) {
            let message = format!(
                "retries {shown}: after the upgrade a client that republishes a message with its x-death starts the count anew"
            );
            report.add(finding(Code::UpgradeRetryCount, message));
        }
        leaks(world, ways, cycle, report);
    }
}

fn waits(queue: &Queue<'_>) -> bool {
    queue.expires_messages()
}

/// Whether a change comes with the version to upgrade to.
pub(super) fn upgrades(world: &World<'_>, options: &Options, has: impl Fn(Version) -> bool) -> bool {
    options.target.is_some_and(|target| has(target) && world.state.broker.version.is_none_or(|version| !has(version)))
}

impl<'w> Cycle<'w> {
    /// The queues that have a length limit and no time to live.
    fn full(&self, world: &World<'_>) -> String {
        let full: Vec<&str> = self
            .queues()
            .filter(|queue| world.queues.get(queue).is_some_and(|queue| !queue.expires_messages()))
            .collect();
        few(full.into_iter())
    }

    /// The same cycle so that it ends at a queue that dead-letters at least once and leads nowhere else, where there is one:
    /// what may not return from there is kept.
    fn ending_at_least_once(&self, world: &'w World<'_>) -> Option<Self> {
        let own: BTreeSet<&str> = self.queues().collect();
        let keeps = |node: &Node<'w>| {
            let Some(queue) = world.queues.get(node.0) else { return false };
            let Some(dead) = queue.dead_letters().filter(|dead| dead.at_least_once) else { return false };
            let Some(key) = key_after(queue, node) else { return false };
            let reach = world.routes(&dead.exchange, &key, None);
            !reach.perhaps && reach.queues.is_subset(&own)
        };
        // The way round that starts where work is done comes first.
        let at = self.nodes.iter().rposition(keeps)?;
        let mut cycle = self.clone();
        cycle.nodes.rotate_left((at + 1) % self.nodes.len());
        Some(cycle)
    }

    /// A finding with the message that goes round once and stays in the last queue.
    fn blocked(
        &self,
        world: &'w World<'_>,
        ways: &Ways<'w>,
        distinction: &str,
        reason: impl Fn(&Queue<'_>) -> DeathReason,
    ) -> Finding {
        let last = self.queues().last().unwrap_or_default();
        let message = format!(
            "what dies in queue {} after {} would return to where it died before, which the broker does not let it: it stays, because the queue dead-letters at least once",
            quoted(last),
            self.shown(),
        );
        let fix = format!("let the dead letters of queue {} go to a queue outside the cycle as well", quoted(last));
        let finding = Finding::new(Code::DeadLetterBlocked, world.queue_object(last), message);
        let story = self.story(world, ways, reason).filter(|story| story.reached().is_empty());
        let ending =
            " and would come back, which the broker does not let it: it stays there and is tried again for ever";
        finding.told_by(distinction).fix(fix).shown(story.and_then(|story| story.ends(ending)))
    }

    /// A finding with the message that goes round once and is dropped.
    fn cut(
        &self,
        world: &'w World<'_>,
        ways: &Ways<'w>,
        finding: Finding,
        reason: impl Fn(&Queue<'_>) -> DeathReason,
    ) -> Finding {
        let finding = match self.queues().next().and_then(|queue| world.queues.get(queue)) {
            Some(first) if first.expires_messages() => finding.fix(format!(
                "take x-message-ttl away from the queue that is consumed ({} has it), or let the waiting queue lead somewhere else",
                quoted(first.name)
            )),
            _ => finding,
        };
        let Some(story) = self.story(world, ways, reason) else { return finding };
        // Another queue that lets messages die of age would change what is left.
        if story.reached().iter().any(|queue| world.queues.get(queue).is_none_or(|queue| queue.expires_messages())) {
            return finding;
        }
        finding.shown(story.ends(" and would come back, but the broker drops it"))
    }
}

/// Others that get a copy whenever a message of the cycle is retried.
fn leaks<'w>(world: &'w World<'_>, ways: &Ways<'w>, cycle: &Cycle<'w>, report: &mut Report) {
    let own: BTreeSet<&str> = cycle.queues().collect();
    for (at, node) in cycle.nodes.iter().enumerate() {
        let Some(queue) = world.queues.get(node.0) else { continue };
        let (Some(dead), Some(key)) = (queue.dead_letters(), key_after(queue, node)) else { continue };
        let comes_back = at + 1 == cycle.nodes.len();
        if dead.exchange.is_empty() || !comes_back || !queue.expires_messages() {
            continue;
        }
        let reached = world.routes(&dead.exchange, &key, None).queues;
        let others: BTreeSet<&str> = reached.difference(&own).copied().collect();
        let Some(home) = cycle.queues().next().filter(|_| !others.is_empty()) else { continue };
        let message = format!(
            "retries of queue {} return from {} through {} with key {}, which leads to {} as well",
            quoted(home),
            quoted(queue.name),
            exchange_words(&dead.exchange),
            quoted(&key),
            few(others.iter().copied().collect::<Vec<_>>().into_iter())
        );
        let fix = format!(
            "on queue {}, set x-dead-letter-exchange to \"\" and x-dead-letter-routing-key to {}",
            quoted(queue.name),
            quoted(home)
        );
        let object = world.queue_object(queue.name);
        let finding = Finding::new(Code::RetryLeaks, object, message).told_by(&cycle.shown()).fix(fix);
        let story = cycle.story(world, ways, likely_reason).filter(|story| story.reached().contains(home));
        report.add(
            finding.shown(story.and_then(|story| story.ends(" and comes back, with a copy for each of the others"))),
        );
    }
}
