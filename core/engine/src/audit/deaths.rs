//! Is every message that dies routed to a queue? For each queue: all keys that can reach it, against what its dead-letter
//! exchange takes.

use super::Report;
use super::codes::Code;
use super::exchange::Kind;
use super::finding::{Example, Finding, exchange_words, quoted};
use super::keys::Answer;
use super::queue::{DeadLetter, Queue};
use super::story::Story;
use super::ways::{Through, Way, Ways, likely_reason};
use super::world::{Given, World};
use crate::embedded::DeathReason;
use crate::rabbitmq::QueueType;
use crate::state::Presence;
use crate::value::counted;

/// Every queue that dead-letters.
pub(super) fn check(world: &World<'_>, ways: &Ways<'_>, report: &mut Report) {
    for queue in world.queues.values() {
        settings(world, queue, report);
        let Some(dead) = queue.dead_letters() else { continue };
        match &dead.key {
            _ if !dead.exchange.is_empty() && world.has_exchange(&dead.exchange) == Some(false) => {
                report.add(missing_exchange(world, ways, queue, dead));
            }
            Some(key) => keyed(world, queue, dead, key, report),
            None => unkeyed(world, ways, queue, dead, report),
        }
    }
}

/// Settings that do not do what they say.
fn settings(world: &World<'_>, queue: &Queue<'_>, report: &mut Report) {
    let object = || world.queue_object(queue.name);
    let quorum = queue.kind == Some(QueueType::Quorum);
    if queue.dead_letter == Given::Nothing && queue.effective.settings.contains_key("dead-letter-routing-key") {
        let message = format!("queue {} has a dead-letter routing key and no dead-letter exchange", quoted(queue.name));
        report.add(Finding::new(Code::DeadLetterKeyAlone, object(), message));
    }
    if quorum && queue.text("dead-letter-strategy") == Some("at-least-once") {
        let lacks = match (&queue.dead_letter, queue.text("overflow")) {
            (Given::Nothing, _) => Some("it has no dead-letter exchange".to_owned()),
            (Given::Undecided, _) | (_, None | Some("reject-publish")) => None,
            (_, Some(overflow)) => Some(format!("its overflow is {overflow}")),
        };
        if let Some(lacks) = lacks {
            let message = format!("queue {} asks for at-least-once dead-lettering, but {lacks}", quoted(queue.name));
            report.add(Finding::new(Code::AtLeastOnceInactive, object(), message));
        }
    }
    if quorum && queue.text("overflow") == Some("reject-publish-dlx") {
        let message =
            format!("quorum queue {} has overflow reject-publish-dlx and acts as drop-head", quoted(queue.name));
        let finding = Finding::new(Code::OverflowOnQuorum, object(), message);
        report.add(finding.shown(dropped_head(world, queue)));
    }
    if let (Given::Nothing, Some(limit)) = (&queue.dead_letter, queue.delivery_limit()) {
        let whence = if queue.number("delivery-limit") == Some(20) && !sets_limit(queue) {
            "the default from 4.0 on".to_owned()
        } else {
            queue.effective.settings.get("delivery-limit").map(|setting| setting.why.clone()).unwrap_or_default()
        };
        let message = format!(
            "quorum queue {} drops a message that comes back more than {limit} times ({whence}): it has no dead-letter exchange",
            quoted(queue.name)
        );
        let way = Way::by_name(queue.name);
        let mut story = Story::new(world, &way, queue.name, queue.name);
        story.dies(queue.name, DeathReason::DeliveryLimit);
        let example = story.ends(", it is gone");
        report.add(Finding::new(Code::DeliveryLimitDrops, object(), message).shown(example));
    }
}

/// A message that makes room for later ones, although publishers were to be refused.
fn dropped_head(world: &World<'_>, queue: &Queue<'_>) -> Option<Example> {
    queue.number("max-length")?;
    let mut story = Story::new(world, &Way::by_name(queue.name), queue.name, queue.name);
    story.dies(queue.name, DeathReason::MaxLen);
    match &queue.dead_letter {
        Given::Nothing => return story.ends(", and the publisher is not told: it is gone"),
        Given::Undecided => return None,
        Given::Value(_) => {}
    }
    let stays = |name: &&str| world.queues.get(*name).is_some_and(|queue| !queue.expires_messages());
    let certain = story.reached().iter().all(|name| *name != queue.name && stays(name));
    if certain { story.ends(", and the publisher is not told") } else { None }
}

fn sets_limit(queue: &Queue<'_>) -> bool {
    let source = queue.effective.settings.get("delivery-limit").map(|setting| &setting.source);
    !matches!(source, None | Some(crate::policy::Source::Default))
}

fn missing_exchange<'w>(world: &'w World<'_>, ways: &Ways<'w>, queue: &'w Queue<'_>, dead: &DeadLetter) -> Finding {
    let name = quoted(&dead.exchange);
    let hint = match world.state.queue(&dead.exchange) {
        Presence::There(_) => format!(" (there is a queue {name}, and no exchange of that name)"),
        _ => String::new(),
    };
    let fate = if dead.at_least_once {
        "its dead letters stay and are tried for ever"
    } else {
        "its dead letters are dropped"
    };
    let message =
        format!("queue {} dead-letters to exchange {name}, which does not exist{hint}: {fate}", quoted(queue.name));
    let way = ways.into(queue.name).iter().find(|way| way.through == Through::Keys).cloned();
    let way = way.unwrap_or_else(|| Way::by_name(queue.name));
    let (code, ending) = fate_of(dead, Code::DeadLetterExchangeMissing, ", which does not exist");
    let finding = Finding::new(code, world.queue_object(queue.name), message);
    let fix = if hint.is_empty() {
        format!("declare exchange {name} and bind a queue to it, or name an exchange that exists")
    } else {
        format!("to reach queue {name}, set x-dead-letter-exchange to \"\" and x-dead-letter-routing-key to {name}")
    };
    match world.sample(&way.keys) {
        Some(key) => finding.fix(fix).shown(end(world, queue, &way, &key, &ending)),
        None => finding.fix(fix),
    }
}

/// At most once it is lost, at least once it stays.
fn fate_of(dead: &DeadLetter, lost: Code, why: &str) -> (Code, String) {
    if dead.at_least_once {
        (Code::DeadLetterBlocked, format!("{why}: it stays in its queue and is tried again for ever"))
    } else {
        (lost, format!("{why}: it is gone"))
    }
}

fn end(world: &World<'_>, queue: &Queue<'_>, way: &Way<'_>, key: &str, ending: &str) -> Option<Example> {
    let mut story = Story::new(world, way, key, queue.name);
    story.dies(queue.name, likely_reason(queue));
    story.ends(ending)
}

/// Every dead letter has one key.
fn keyed(world: &World<'_>, queue: &Queue<'_>, dead: &DeadLetter, key: &str, report: &mut Report) {
    let reach = world.routes(&dead.exchange, key, None);
    if !reach.queues.is_empty() {
        return;
    }
    let object = world.queue_object(queue.name);
    let subject = format!(
        "queue {} dead-letters to {} with key {}",
        quoted(queue.name),
        exchange_words(&dead.exchange),
        quoted(key)
    );
    if reach.perhaps {
        let message =
            format!("{subject}, and whether a queue takes that cannot be told: it depends on headers or on a plugin");
        report.add(Finding::new(Code::DeadLetterNotProven, object, message));
        return;
    }
    let (lost, why, fix) = if dead.exchange.is_empty() {
        (
            Code::DeadLetterQueueMissing,
            format!("there is no queue {}", quoted(key)),
            format!("declare queue {}, or correct x-dead-letter-routing-key", quoted(key)),
        )
    } else {
        let way_out = way_out(world, &dead.exchange, key);
        (Code::DeadLetterLost, "no binding there leads to a queue".to_owned(), way_out)
    };
    let (code, ending) = fate_of(dead, lost, &format!(", and {why}"));
    let way = Way::by_name(queue.name);
    let example = end(world, queue, &way, queue.name, &ending);
    report.add(Finding::new(code, object, format!("{subject}, and {why}")).fix(fix).shown(example));
}

/// A key that dies and is lost.
struct LostKey<'w, 's> {
    way: &'s Way<'w>,
    /// The key when it arrives at the queue.
    key: String,
    code: Code,
}

/// Dead letters keep their keys: every key that can arrive against every binding of the dead-letter exchange.
fn unkeyed(world: &World<'_>, ways: &Ways<'_>, queue: &Queue<'_>, dead: &DeadLetter, report: &mut Report) {
    if world.takes_all(&dead.exchange) {
        return;
    }
    let mut lost: Vec<LostKey<'_, '_>> = Vec::new();
    let mut open = 0_usize;
    let mut covered = 0_usize;
    for way in ways.into(queue.name) {
        match lost_key(world, way, dead) {
            Verdict::Lost(key, code) => lost.push(LostKey { way, key, code }),
            Verdict::Open => open += 1,
            Verdict::Routed => covered += 1,
        }
    }
    let object = world.queue_object(queue.name);
    // The most severe first; among equals the shortest key, then the order of the bindings.
    lost.sort_by_key(|lost| (std::cmp::Reverse(lost.code.severity()), lost.way.deaths.len(), lost.key.len()));
    let Some(worst) = lost.first() else {
        if open > 0 {
            let message = format!(
                "whether every dead letter of queue {} is routed by {} is not proven",
                quoted(queue.name),
                exchange_words(&dead.exchange)
            );
            report.add(Finding::new(Code::DeadLetterNotProven, object, message));
        } else if let Some(finding) = by_name(world, ways, queue, dead) {
            report.add(finding);
        }
        return;
    };
    let key = &worst.key;
    let (code, ending) = fate_of(dead, worst.code, ", where no binding takes it");
    let others = lost.len() - 1;
    let more = match (others, covered) {
        (0, _) => String::new(),
        (1, 0) => " (nor for the other way into the queue)".to_owned(),
        (_, 0) => format!(" (nor for the other {others} ways into the queue)"),
        _ => {
            let others = counted(others, "other way");
            format!(" (and for {others} into the queue, of {})", lost.len() + covered + open)
        }
    };
    let message = format!(
        "a message with key {} that dies in queue {} is routed to no queue by {}{more}",
        quoted(key),
        quoted(queue.name),
        exchange_words(&dead.exchange)
    );
    let mut finding = Finding::new(code, object, message).fix(way_out(world, &dead.exchange, key));
    // Kept or dropped: whether anybody publishes such a key is the same question.
    finding.severity = worst.code.severity();
    let published = if worst.way.renamed.is_some() { world.sample(&worst.way.keys) } else { Some(key.clone()) };
    if let Some(published) = published {
        finding = finding.shown(end(world, queue, worst.way, &published, &ending));
    }
    report.add(finding);
}

enum Verdict {
    Lost(String, Code),
    Routed,
    Open,
}

fn lost_key(world: &World<'_>, way: &Way<'_>, dead: &DeadLetter) -> Verdict {
    let arriving = way.arriving();
    if arriving.is_one() {
        let Some(key) = world.sample(&arriving) else { return Verdict::Routed };
        if !world.routes(&dead.exchange, &key, Some(&way.headers)).queues.is_empty() {
            return Verdict::Routed;
        }
        // A message may have more headers than its way asks for.
        let may_be_routed = world.routes(&dead.exchange, &key, None).perhaps;
        return if may_be_routed { Verdict::Open } else { Verdict::Lost(key, Code::DeadLetterLost) };
    }
    if world.certainly_routed(&arriving, &dead.exchange) == Answer::None {
        return Verdict::Routed;
    }
    match world.unrouted(&arriving, &dead.exchange) {
        Answer::None | Answer::NotProven => Verdict::Open,
        Answer::Key(key) => {
            if world.routed(&arriving, &dead.exchange) == Answer::None {
                return Verdict::Lost(key, Code::DeadLetterLost);
            }
            // Which queue is meant, only whoever publishes knows.
            if way.through == Through::AnyKey && dead.exchange.is_empty() {
                return Verdict::Open;
            }
            // Whoever publishes to a fanout or headers exchange uses the empty key, as a rule; to a topic exchange nobody does.
            let published_to = world.exchanges.get(way.exchange).map(|exchange| exchange.kind);
            let keyless = way.renamed.is_none() && matches!(published_to, Some(Kind::Fanout | Kind::Headers));
            if keyless && !world.routes(&dead.exchange, "", Some(&way.headers)).queues.is_empty() {
                return Verdict::Routed;
            }
            Verdict::Lost(key, Code::DeadLetterLostForSome)
        }
    }
}

/// Whether a message that comes by the queue's name is lost, where others are not.
fn by_name(world: &World<'_>, ways: &Ways<'_>, queue: &Queue<'_>, dead: &DeadLetter) -> Option<Finding> {
    let named = ways.into(queue.name).iter().any(|way| way.through == Through::Name);
    let reach = world.routes(&dead.exchange, queue.name, None);
    if named || dead.exchange.is_empty() || !reach.queues.is_empty() || reach.perhaps {
        return None;
    }
    let message = format!(
        "a message that is published to queue {} by name and dies there is routed to no queue by {}",
        quoted(queue.name),
        exchange_words(&dead.exchange)
    );
    let way = Way::by_name(queue.name);
    let (_, ending) = fate_of(dead, Code::DeadLetterLostByName, ", where no binding takes it");
    let example = end(world, queue, &way, queue.name, &ending);
    let finding = Finding::new(Code::DeadLetterLostByName, world.queue_object(queue.name), message);
    Some(finding.fix(way_out(world, &dead.exchange, queue.name)).shown(example))
}

/// What to bind, or which key to set.
fn way_out(world: &World<'_>, exchange: &str, key: &str) -> String {
    let Some(found) = world.exchanges.get(exchange).filter(|found| !found.name.is_empty()) else {
        return format!(
            "set x-dead-letter-routing-key to the name of a queue that takes dead letters; there is none named {}",
            quoted(key)
        );
    };
    match found.takes_one() {
        Some((taken, queue)) => format!(
            "set x-dead-letter-routing-key to {} (a policy with dead-letter-routing-key does it on the live queue), or bind queue {} to {} with {}",
            quoted(taken),
            quoted(queue),
            exchange_words(exchange),
            quoted(key)
        ),
        None => format!("bind the queue that keeps dead letters to {} with {}", exchange_words(exchange), quoted(key)),
    }
}
