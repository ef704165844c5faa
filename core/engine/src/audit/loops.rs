//! Dead letters that come back: which loops the broker cuts, which run for ever, and who else gets a copy.
//!
//! A queue together with the key of a message is a node; its deaths lead on to the queues that the dead letter is routed to.
//! A cycle is judged by the reasons that its deaths can have. The broker drops a message on its return to a queue where it
//! died before, unless one of the deaths since was a rejection (`rabbit_dead_letter:detect_cycles`, `mc:is_death_cycle`).

use super::codes::Code;
use super::finding::{Finding, exchange_words, few, quoted};
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
const KEYS: usize = 8;
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
            let keys: BTreeSet<String> = certain.take(KEYS).collect();
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
        let brings = |way: &&Way<'w>| world.sample(&way.arriving()).as_deref() == Some(key);
        let way = ways.into(queue).iter().find(brings)?;
        Some((way.clone(), world.sample(&way.keys)?))
    }

    /// A message that dies in each queue of the cycle for the reason that `reason` gives; with what it then reaches.
    fn story<'a>(
        &self,
        world: &'w World<'a>,
        ways: &Ways<'w>,
        reason: impl Fn(&Queue<'_>) -> DeathReason,
    ) -> Option<(Story<'w, 'a>, BTreeSet<&'w str>)> {
        let (way, key) = self.way(world, ways)?;
        let (first, _) = self.nodes.first()?;
        let mut story = Story::new(world, &way, &key, first);
        let mut reached = BTreeSet::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let queue = world.queues.get(node.0)?;
            let dead = queue.dead_letters()?;
            story.dies(queue.name, reason(queue));
            reached = world.routes(&dead.exchange, &key_after(queue, node)?, None).queues;
            if let Some((next, _)) = self.nodes.get(at + 1) {
                // A copy that goes another way as well would make the example untrue.
                if reached.len() > 1 {
                    return None;
                }
                story.arrives(next);
            }
        }
        Some((story, reached))
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
        if by_age || automatic {
            let code = if by_age { Code::DeadLetterCycleCut } else { Code::DeadLetterCycleOverflow };
            let what = if by_age {
                format!("a message that nobody consumes goes {shown}")
            } else {
                format!("what {} drops when it is full goes {shown}", cycle.full(world))
            };
            let message =
                format!("{what} and is dropped by the broker on its return: nothing on the way is a rejection");
            let reason =
                |queue: &Queue<'_>| if queue.expires_messages() { DeathReason::Expired } else { DeathReason::MaxLen };
            report.add(cycle.cut(world, ways, finding(code, message), reason));
        } else if cycle.all(world, |queue| queue.expires_messages() || queue.drops_when_full() || limited(queue)) {
            let message = format!(
                "a message that exceeds a delivery limit goes {shown} and is dropped by the broker on its return: nothing on the way is a rejection"
            );
            let reason = |queue: &Queue<'_>| match (queue.expires_messages(), queue.drops_when_full()) {
                (true, _) => DeathReason::Expired,
                (false, true) => DeathReason::MaxLen,
                (false, false) => DeathReason::DeliveryLimit,
            };
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
        let mut found = finding(code, message);
        if let Some((story, reached)) = cycle.story(world, ways, likely_reason) {
            found = found.example(story.reaches(reached, " and comes back; a rejected message is never cut off"));
        }
        report.add(found);
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
        let Some((story, mut reached)) = self.story(world, ways, reason) else { return finding };
        if let Some(first) = self.queues().next() {
            reached.remove(first);
        }
        // Another queue that lets messages die of age would change what is left.
        if reached.iter().any(|queue| world.queues.get(queue).is_none_or(|queue| queue.expires_messages())) {
            return finding;
        }
        finding.example(story.reaches(reached, " and would come back, but the broker drops it"))
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
        let mut finding = Finding::new(Code::RetryLeaks, object, message).told_by(&cycle.shown()).fix(fix);
        if let Some((story, reached)) = cycle.story(world, ways, likely_reason) {
            finding = finding.example(story.reaches(reached, " and comes back, with a copy for each of the others"));
        }
        report.add(finding);
    }
}

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
            let example = story.reaches(targets.iter().copied(), " and comes to the dead-letter queues of both");
            report.add(Finding::new(Code::CrossTalk, world.queue_object(queue.name), message).example(example));
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
