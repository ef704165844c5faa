//! The audit against the embedded broker, over vhosts drawn at random: what a finding's example says must happen, and what
//! happens to messages must have been said. The embedded broker is held against real ones elsewhere (`differential`).

use crate::embedded::{BODY, besides, die, expected, holders, play};
use crate::real::comes_true;
use crate::worlds::{lines, world};
use acemq_core::audit::{Code, Example, Finding, ObjectKind, Options, audit};
use acemq_core::embedded::{ChannelId, DeathReason, EmbeddedBroker, Loss, Publication, What};
use acemq_core::policy::Policies;
use acemq_core::rabbitmq::{QueueType, Version};
use acemq_core::state::State;
use acemq_core::value::{Table, Value};
use acemq_tests::draw::{Draw, scale};
use acemq_tests::on_every_broker;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

const WORLDS: usize = 150;
const VERSIONS: [&str; 5] = ["3.10.8", "3.12.14", "3.13.7", "4.0.5", "4.3.6"];
/// How many deaths in a row are followed.
const DEATHS: usize = 4;
const SHOWN: usize = 3;

fn drawn(number: usize) -> State {
    let mut draw = Draw::new(number);
    let version: Version = draw.one_of(&VERSIONS).parse().unwrap();
    world(&mut draw, version)
}

#[test]
fn what_examples_say_happens_in_vhosts_drawn_at_random() {
    let worlds = WORLDS * scale();
    let mut played = BTreeMap::<Code, usize>::new();
    let mut wrong = BTreeMap::<Code, Vec<String>>::new();
    for number in 0..worlds {
        let state = drawn(number);
        for finding in audit(&state, &Options::default()).findings {
            let Some(example) = &finding.example else { continue };
            *played.entry(finding.code).or_default() += 1;
            let held = play(&state, example);
            if held != Ok(expected(example)) {
                let text = format!(
                    "world {number}: {}\n  {}\n  {held:?}\n{}",
                    finding.message,
                    example.happens,
                    lines(&state)
                );
                wrong.entry(finding.code).or_default().push(text);
            }
        }
    }

    report(&wrong, worlds);
}

/// Vhosts drawn on each generation.
const REAL_WORLDS: usize = 8;
/// Waiting is most of what they do.
const THREADS: usize = 6;

on_every_broker! {
    fn what_examples_say_happens_on_real_brokers(node) {
        let worlds = REAL_WORLDS * scale();
        let (played, wrong) = (Mutex::new(BTreeMap::<Code, usize>::new()), Mutex::new(BTreeMap::<Code, Vec<String>>::new()));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (played, wrong) = (&played, &wrong);
                scope.spawn(move || {
                    for number in (thread..worlds).step_by(THREADS) {
                        let state = world(&mut Draw::new(number), node.version());
                        for finding in audit(&state, &Options::default()).findings {
                            if !finding.example.as_ref().is_some_and(|example| is_steady(&state, example)) {
                                continue;
                            }
                            match comes_true(&node.fresh_vhost(), &state, &finding) {
                                Ok(true) => *played.lock().unwrap().entry(finding.code).or_default() += 1,
                                Ok(false) => {}
                                Err(why) => {
                                    let text = format!("world {number}: {}\n  {why}\n{}", finding.message, lines(&state));
                                    wrong.lock().unwrap().entry(finding.code).or_default().push(text);
                                }
                            }
                        }
                    }
                });
            }
        });
        report(&wrong.into_inner().unwrap(), worlds);
        let played = played.into_inner().unwrap();
        let count: usize = played.values().sum();
        assert!(count >= 2 * worlds, "only {count} examples");
    }
}

/// Whether real time makes no difference to what an example shows.
fn is_steady(state: &State, example: &Example) -> bool {
    let policies = Policies::new(state);
    let expires = |queue: &String| policies.effective(&state.queues[queue]).value("message-ttl").is_some();
    state.operator_policies.is_empty()
        && !expected(example).iter().any(expires)
        && !besides(state, example).iter().any(expires)
        && example.deaths.iter().all(|death| death.reason == DeathReason::Expired || !expires(&death.queue))
}

fn report<K: std::fmt::Debug>(wrong: &BTreeMap<K, Vec<String>>, worlds: usize) {
    let mut text = String::new();
    for (kind, all) in wrong {
        let mut shortest: Vec<&String> = all.iter().collect();
        shortest.sort_by_key(|text| text.len());
        for one in shortest.into_iter().take(SHOWN) {
            text.push_str(&format!("{kind:?}, {} times, such as {one}\n", all.len()));
        }
    }
    assert!(wrong.is_empty(), "in {worlds} vhosts:\n{text}");
}

#[test]
fn what_is_lost_or_comes_back_is_told_in_vhosts_drawn_at_random() {
    let worlds = WORLDS * scale();
    let mut untold = BTreeMap::<&str, Vec<String>>::new();
    let mut followed = 0;
    for number in 0..worlds {
        let state = drawn(number);
        let findings = audit(&state, &Options::default()).findings;
        let mut journey = Journey {
            state: &state,
            findings: &findings,
            untold: BTreeMap::new(),
            followed: 0,
            seen: BTreeSet::new(),
            any_key: false,
        };
        journey.everywhere();
        followed += journey.followed;
        for (kind, story) in journey.untold {
            untold.entry(kind).or_default().push(format!("world {number}: {story}\n{}", lines(&state)));
        }
    }
    println!("{followed} deaths");
    report(&untold, worlds);
}

/// Messages sent through a vhost in every way that its exchanges and bindings name.
struct Journey<'s> {
    state: &'s State,
    findings: &'s [Finding],
    /// What no finding tells, the first of each kind.
    untold: BTreeMap<&'static str, String>,
    followed: usize,
    /// Where messages have been followed from: queue, key, and the deaths before.
    seen: BTreeSet<(String, String, Vec<Death>)>,
    /// Whether a binding where the message is published takes any key: which ones are used there nobody knows.
    any_key: bool,
}

/// In which queue, with which key, and why.
type Death = (String, String, &'static str);

impl Journey<'_> {
    fn everywhere(&mut self) {
        let broker = EmbeddedBroker::holding(self.state);
        let open = self.state.exchanges.values().filter(|exchange| !exchange.internal);
        for exchange in open {
            let headers: &[&[(&str, i64)]] = match exchange.kind.as_str() {
                "headers" => &[&[], &[("h", 0)], &[("h", 1)], &[("i", 0)], &[("h", 1), ("i", 0)]],
                _ => &[&[]],
            };
            for headers in headers {
                let headers: Table =
                    headers.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
                for key in ["", "a", "b", "a.b", "q", "q.dlq", "r", "new", "a.new", "b.a", "a.b.q", "new.a"] {
                    // Whoever publishes where no key is looked at uses the empty one.
                    if !key.is_empty() && matches!(exchange.kind.as_str(), "fanout" | "headers") {
                        continue;
                    }
                    self.publish(&broker, &exchange.name, key, &headers);
                }
            }
        }
        for queue in self.state.queues.keys() {
            if !self.state.bindings.iter().any(|binding| binding.destination == *queue) {
                self.publish(&broker, "", queue, &Table::new());
            }
        }
    }

    fn publish(&mut self, broker: &EmbeddedBroker, exchange: &str, key: &str, headers: &Table) {
        let takes_any = |key: &str| !key.is_empty() && key.split('.').all(|word| word == "#");
        let mut bindings = self.state.bindings.iter();
        self.any_key = bindings.any(|binding| binding.source == exchange && takes_any(&binding.routing_key));
        let mut broker = broker.clone();
        broker.keep_history();
        let connection = broker.connect();
        let channel = broker.open_channel(connection).unwrap();
        let mut publication = Publication::new(exchange, key, BODY);
        publication.properties.headers = headers.clone();
        broker.publish(channel, publication).unwrap();
        let story = format!("published to {exchange:?} with {key:?} {headers:?}");
        for queue in holders(&broker, self.state) {
            self.arrives(&broker, channel, &queue, &[], &story);
        }
    }

    fn arrives(&mut self, broker: &EmbeddedBroker, channel: ChannelId, queue: &str, deaths: &[Death], story: &str) {
        let contents = broker.contents(queue).unwrap();
        let Some(message) = contents.ready.iter().find(|message| &*message.body == BODY.as_bytes()) else { return };
        if deaths.len() >= DEATHS || !self.seen.insert((queue.to_owned(), message.routing_key.clone(), deaths.to_vec()))
        {
            return;
        }
        for reason in self.reasons(queue) {
            let mut broker = broker.clone();
            for other in holders(&broker, self.state).into_iter().filter(|other| other != queue) {
                broker.purge(channel, &other).unwrap();
            }
            let before = broker.history().len();
            if die(&mut broker, self.state, channel, queue, reason).is_err() {
                continue;
            }
            self.followed += 1;
            let story = format!("{story}, {} in {queue:?} with {:?}", reason.name(), message.routing_key);
            let id = message.message;
            let of_it = broker.history()[before..].iter().filter(|happening| happening.message == Some(id));
            // What dead-letters at least once waits first, and goes then if it can.
            let mut deaths_of_it = of_it.map(|happening| happening.what.clone()).filter(is_death);
            let first = deaths_of_it.next();
            let death = if matches!(first, Some(What::Waits { .. })) { deaths_of_it.next().or(first) } else { first };
            match death {
                Some(What::DeadLettered { queues, cycles, opaque, routing_key, .. }) => {
                    if queues.is_empty() && cycles.is_empty() && opaque.is_empty() {
                        self.must_tell("loss", &story, |finding| about(finding, queue) && tells_loss(finding.code));
                    }
                    let mut deaths = deaths.to_vec();
                    deaths.push((queue.to_owned(), message.routing_key.clone(), reason.name()));
                    let was_there =
                        |next: &str| deaths.iter().any(|(queue, key, _)| queue == next && *key == routing_key);
                    for back in cycles.iter().filter(|back| was_there(back)) {
                        self.must_tell("cut", &story, |finding| {
                            (tells_cut(finding.code) || finding.code == Code::DeadLetterBlocked) && names(finding, back)
                        });
                    }
                    for next in queues {
                        if was_there(&next) {
                            self.must_tell("loop", &format!("{story}, back in {next:?}"), |finding| {
                                tells_loop(finding.code) && names(finding, &next)
                            });
                        } else if deaths.iter().all(|(queue, ..)| *queue != next) {
                            self.arrives(&broker, channel, &next, &deaths, &story);
                        }
                    }
                }
                Some(What::Lost { why: Loss::MissingDeadLetterExchange(_), .. }) => {
                    self.must_tell("missing", &story, |finding| {
                        about(finding, queue) && finding.code == Code::DeadLetterExchangeMissing
                    });
                }
                Some(What::Lost { why: Loss::NoDeadLetterExchange(DeathReason::DeliveryLimit), .. }) => {
                    self.must_tell("limit", &story, |finding| {
                        about(finding, queue) && finding.code == Code::DeliveryLimitDrops
                    });
                }
                // Where it could go but for the deaths before, it takes all of them to tell.
                Some(What::Waits { .. }) if deaths.is_empty() => {
                    self.must_tell("blocked", &story, |finding| {
                        about(finding, queue)
                            && matches!(
                                finding.code,
                                Code::DeadLetterBlocked | Code::DeadLetterNotProven | Code::DeadLetterLostByName
                            )
                    });
                }
                _ => {}
            }
        }
    }

    fn must_tell(&mut self, kind: &'static str, story: &str, tells: impl Fn(&Finding) -> bool) {
        // Loops are looked for by the keys that bindings name, and not by headers.
        let is_loop = matches!(kind, "cut" | "loop");
        let by_headers = || self.state.exchanges.values().any(|exchange| exchange.kind == "headers");
        let looked_for = !is_loop || !self.any_key && !by_headers();
        if looked_for && !self.findings.iter().any(tells) {
            self.untold.entry(kind).or_insert_with(|| story.to_owned());
        }
    }

    /// What messages can die of in a queue.
    fn reasons(&self, queue: &str) -> Vec<DeathReason> {
        let declaration = &self.state.queues[queue];
        let effective = Policies::new(self.state).effective(declaration);
        let number = |key: &str| effective.value(key).and_then(Value::as_integer);
        let mut reasons = vec![DeathReason::Rejected];
        if number("message-ttl").is_some() {
            reasons.push(DeathReason::Expired);
        }
        let overflow = effective.value("overflow").and_then(Value::as_text);
        if number("max-length").is_some() && overflow.is_none_or(|overflow| overflow == "drop-head") {
            reasons.push(DeathReason::MaxLen);
        }
        if declaration.queue_type() == Some(QueueType::Quorum)
            && number("delivery-limit").is_some_and(|limit| limit >= 0)
        {
            reasons.push(DeathReason::DeliveryLimit);
        }
        reasons
    }
}

fn is_death(what: &What) -> bool {
    matches!(what, What::DeadLettered { .. } | What::Lost { .. } | What::Waits { .. })
}

fn about(finding: &Finding, queue: &str) -> bool {
    finding.object.kind == ObjectKind::Queue && finding.object.name == queue
}

fn names(finding: &Finding, queue: &str) -> bool {
    finding.message.contains(&format!("{queue:?}"))
}

fn tells_loss(code: Code) -> bool {
    matches!(
        code,
        Code::DeadLetterExchangeMissing
            | Code::DeadLetterQueueMissing
            | Code::DeadLetterLost
            | Code::DeadLetterLostForSome
            | Code::DeadLetterLostByName
            | Code::DeadLetterNotProven
    )
}

fn tells_cut(code: Code) -> bool {
    matches!(code, Code::DeadLetterCycleCut | Code::DeadLetterCycleOverflow | Code::DeadLetterCycleDeliveryLimit)
}

fn tells_loop(code: Code) -> bool {
    tells_cut(code) || matches!(code, Code::RetryNeverEnds | Code::LoopWithoutDelay | Code::DeadLetterBlocked)
}
