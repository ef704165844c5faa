//! Random lives in company: consumers with prefetch and priorities, single active consumers, headers exchanges, message
//! priorities, policies and operator policies that come and go, dead letters that are kept until they arrive. Each request goes
//! to the embedded broker and to a real one ([`Mirror`]): answers, deliveries, contents must be the same.
//!
//! `ACEMQ_DIFFERENTIAL=10` multiplies the number of lives, and `ACEMQ_SEED=7` draws others.

use acemq_core::embedded::scenario::Stage;
use acemq_core::embedded::{ChannelId, ConnectionId, EmbeddedBroker, Event, Publication, Subscription, What};
use acemq_core::rabbitmq::{Conditions, PolicyDeclaration, Version};
use acemq_core::topology::Topology;
use acemq_core::value::{Table, Value};
use acemq_tests::broker::Node;
use acemq_tests::draw::{Draw, scale};
use acemq_tests::mirror::Mirror;
use acemq_tests::on_every_broker;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Lives on each generation.
const LIVES: usize = 40;
const STEPS: usize = 30;
/// Waiting is most of what they do.
const THREADS: usize = 8;
const QUEUES: [&str; 3] = ["q0", "q1", "q2"];
/// Before it a consumer may hold one message more than its prefetch once a delivery of its died of the delivery limit (measured
/// on 3.10.8). That is not modelled, so there are no delivery limits in company.
const V4_0: Version = Version::new(4, 0, 0);
/// Takes everything, and nobody consumes from it.
const DEAD: &str = "dead";
const HEADERS: &str = "h";

on_every_broker! {
    fn messages_live_and_die_alike_in_company(node) {
        let lives = LIVES * scale();
        let disagreements = Mutex::new(Vec::new());
        let (deaths, deliveries) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (disagreements, deaths, deliveries) = (&disagreements, &deaths, &deliveries);
                scope.spawn(move || {
                    for number in (thread..lives).step_by(THREADS) {
                        let life = Life::draw(node, number);
                        deaths.fetch_add(life.deaths, Ordering::Relaxed);
                        deliveries.fetch_add(life.deliveries, Ordering::Relaxed);
                        if !life.faults.is_empty() {
                            let text = format!("life {number}: {}\n{}", life.faults.join("\n"), life.story.join("\n"));
                            disagreements.lock().unwrap().push(text);
                        }
                    }
                });
            }
        });
        let mut disagreements = disagreements.into_inner().unwrap();
        let count = disagreements.len();
        disagreements.truncate(4);
        assert!(count == 0, "{count} of {lives} lives disagree on {}:\n{}", node.version(), disagreements.join("\n"));
        let (deaths, deliveries) = (deaths.into_inner(), deliveries.into_inner());
        assert!(deaths > lives && deliveries > lives, "only {deaths} dead letters and {deliveries} deliveries");
    }
}

/// What became of one life.
struct Life {
    faults: Vec<String>,
    story: Vec<String>,
    deaths: usize,
    deliveries: usize,
}

impl Life {
    fn draw(node: &Node, number: usize) -> Self {
        let mut draw = Draw::new(number);
        let vhost = node.fresh_vhost();
        let mut broker = EmbeddedBroker::new(Conditions::new(node.version(), vhost.name()));
        broker.keep_history();
        let mut mirror = Mirror::new(broker, &vhost).unordered(DEAD);
        let topology = topology(&mut draw, node.version() >= V4_0);
        let mut story = vec![topology.to_string()];
        let tables = Topology::from_json(&topology.to_string()).unwrap().into_tables().unwrap();
        let connection = mirror.connect();
        mirror.declare_all(connection.into(), &tables).unwrap();
        let mut company = Company::new(&mut mirror, connection, &topology);
        for step in 0..STEPS {
            story.push(format!("  {step}: {}", company.step(&mut draw, step)));
            company.listen();
            if company.stage.disagrees() {
                break;
            }
        }
        let deliveries = company.deliveries;
        let deaths = mirror.broker().history().iter();
        let deaths = deaths.filter(|happening| matches!(happening.what, What::DeadLettered { .. })).count();
        Self { faults: mirror.finish(), story, deaths, deliveries }
    }
}

fn topology(draw: &mut Draw, limits_deliveries: bool) -> Json {
    let mut queues = serde_json::Map::new();
    queues.insert(DEAD.to_owned(), json!({"type": *draw.one_of(&["classic", "quorum"])}));
    let mut bindings =
        vec![json!({"queue": DEAD, "exchange": HEADERS, "routing_key": "", "arguments": criteria(draw)})];
    for name in QUEUES {
        let is_quorum = draw.chance(2);
        let mut arguments = serde_json::Map::new();
        let mut set = |name: &str, value: Json| arguments.insert(name.to_owned(), value);
        let keeps = is_quorum && draw.chance(4);
        match draw.below(4) {
            _ if keeps => {
                set("x-dead-letter-exchange", "".into());
                set("x-dead-letter-routing-key", DEAD.into());
                set("x-dead-letter-strategy", "at-least-once".into());
                set("x-overflow", "reject-publish".into());
            }
            0 => {}
            1 => {
                set("x-dead-letter-exchange", HEADERS.into());
            }
            _ => {
                set("x-dead-letter-exchange", "".into());
                set("x-dead-letter-routing-key", DEAD.into());
            }
        }
        if !keeps && draw.chance(3) {
            set("x-max-length", (draw.below(3) + 1).into());
            if draw.chance(2) {
                set("x-overflow", (*draw.one_of(&["reject-publish", "reject-publish-dlx"])).into());
            }
        }
        if is_quorum && draw.chance(2) && limits_deliveries {
            set("x-delivery-limit", (*draw.one_of(&[1_i64, 2, -1])).into());
        }
        if !is_quorum && draw.chance(3) {
            set("x-max-priority", 5.into());
        }
        if draw.chance(4) {
            set("x-single-active-consumer", true.into());
        }
        // Queues that overflow are not bound: two that do so at the same time race for what they dead-letter to.
        if !arguments.contains_key("x-max-length") {
            bindings.push(json!({"queue": name, "exchange": HEADERS, "routing_key": "", "arguments": criteria(draw)}));
        }
        queues.insert(
            name.to_owned(),
            json!({"type": if is_quorum { "quorum" } else { "classic" }, "arguments": arguments}),
        );
    }
    json!({"exchanges": {HEADERS: {"type": "headers"}}, "queues": queues, "bindings": bindings})
}

/// Small numbers, so that criteria and headers meet.
fn criteria(draw: &mut Draw) -> Json {
    let mut criteria = json!({"x-match": *draw.one_of(&["all", "any", "all-with-x", "any-with-x"])});
    for name in ["a", "b", "x-c"] {
        if draw.chance(2) {
            criteria[name] = draw.below(2).into();
        }
    }
    criteria
}

/// Who does something in a life: a publisher, somebody who gets, and consumers, each on a channel of its own.
struct Company<'s, 'v> {
    stage: &'s mut Mirror<'v>,
    connection: ConnectionId,
    publisher: ChannelId,
    /// One channel for each queue, so that what comes back comes back to one queue.
    getters: BTreeMap<&'static str, ChannelId>,
    consumers: Vec<(ChannelId, String)>,
    /// Deliveries by channel, oldest first.
    held: BTreeMap<ChannelId, VecDeque<u64>>,
    /// Queues that cannot be asked with `basic.get`.
    single: Vec<&'static str>,
    /// The pattern of the queues that policies may limit.
    limited: &'static str,
    deliveries: usize,
}

impl<'s, 'v> Company<'s, 'v> {
    fn new(stage: &'s mut Mirror<'v>, connection: ConnectionId, topology: &Json) -> Self {
        let publisher = stage.open_channel(connection).unwrap();
        let getters = QUEUES.map(|queue| (queue, stage.open_channel(connection).unwrap())).into();
        let is_single = |queue: &&str| topology["queues"][*queue]["arguments"]["x-single-active-consumer"] == true;
        let single = QUEUES.into_iter().filter(is_single).collect();
        let (consumers, held) = (Vec::new(), BTreeMap::new());
        let refuses = topology["queues"]["q2"]["arguments"]["x-overflow"].is_string();
        let limited = if refuses { "^nobody$" } else { "^q2$" };
        Self { stage, connection, publisher, getters, consumers, held, single, limited, deliveries: 0 }
    }

    fn step(&mut self, draw: &mut Draw, number: usize) -> String {
        let queue = *draw.one_of(&QUEUES);
        match draw.below(20) {
            0..7 => self.publish(draw, queue, number),
            7..9 => self.consume(draw, queue, number),
            9..11 if !self.single.contains(&queue) => self.get(queue),
            9..16 => self.settle(draw),
            16 => self.leave(draw),
            17 => {
                let purged = self.stage.purge(self.publisher, queue).unwrap();
                format!("purge {queue}: {purged}")
            }
            _ => self.policy(draw),
        }
    }

    fn publish(&mut self, draw: &mut Draw, queue: &str, number: usize) -> String {
        let (exchange, key) = if draw.chance(2) { (HEADERS, "") } else { ("", queue) };
        let mut publication = Publication::new(exchange, key, format!("m{number}"));
        publication.mandatory = true;
        for name in ["a", "b", "x-c"] {
            if draw.chance(2) {
                publication.properties.headers.insert(name, i64::try_from(draw.below(2)).unwrap());
            }
        }
        if draw.chance(2) {
            publication.properties.priority = Some(u8::try_from(draw.below(10)).unwrap());
        }
        let told = format!("publish m{number} to {exchange:?} {key:?} {:?}", publication.properties);
        self.stage.publish(self.publisher, publication).unwrap();
        told
    }

    fn consume(&mut self, draw: &mut Draw, queue: &str, number: usize) -> String {
        let channel = self.stage.open_channel(self.connection).unwrap();
        let prefetch = u16::try_from(draw.below(3) + 1).unwrap();
        self.stage.qos(channel, prefetch, false).unwrap();
        let mut arguments = Table::new();
        if draw.chance(3) {
            arguments.insert("x-priority", i64::try_from(draw.below(3)).unwrap());
        }
        let tag = format!("c{number}");
        let told =
            format!("consume {queue} as {tag}, {prefetch} at a time, {}", Value::Table(arguments.clone()).to_json());
        let subscription =
            Subscription { queue: queue.to_owned(), tag: tag.clone(), arguments, ..Subscription::default() };
        self.stage.consume(channel, &subscription).unwrap();
        self.consumers.push((channel, tag));
        told
    }

    fn get(&mut self, queue: &'static str) -> String {
        let channel = self.getters[queue];
        let delivery = self.stage.get(channel, queue, false).unwrap();
        if let Some(delivery) = &delivery {
            self.held.entry(channel).or_default().push_back(delivery.delivery_tag);
        }
        format!("get {queue}: {:?}", delivery.map(|delivery| delivery.message))
    }

    fn settle(&mut self, draw: &mut Draw) -> String {
        let holders: Vec<ChannelId> =
            self.held.iter().filter(|(_, held)| !held.is_empty()).map(|(channel, _)| *channel).collect();
        if holders.is_empty() {
            return "nothing to settle".to_owned();
        }
        let channel = *draw.one_of(&holders);
        let tag = self.held.get_mut(&channel).and_then(VecDeque::pop_front).unwrap();
        let how = draw.below(5);
        match how {
            0 => self.stage.ack(channel, tag, false),
            1 | 2 => self.stage.nack(channel, tag, false, how == 1),
            _ => self.stage.reject(channel, tag, how == 3),
        }
        .unwrap();
        let words = ["ack", "nack and requeue", "nack", "reject and requeue", "reject"];
        format!("{} {tag} of {channel:?}", words[how])
    }

    /// A consumer goes, or closes its channel with all that it holds.
    fn leave(&mut self, draw: &mut Draw) -> String {
        if self.consumers.is_empty() {
            return "nobody to leave".to_owned();
        }
        let (channel, tag) = self.consumers.remove(draw.below(self.consumers.len()));
        if draw.chance(2) {
            self.stage.cancel(channel, &tag).unwrap();
            return format!("cancel {tag}");
        }
        self.held.remove(&channel);
        self.stage.close_channel(channel);
        format!("close the channel of {tag}")
    }

    fn policy(&mut self, draw: &mut Draw) -> String {
        let name = (*draw.one_of(&["one", "two"])).to_owned();
        let operator = draw.chance(3);
        let definition = match draw.below(5) {
            _ if operator => Table::new().with("max-length", i64::try_from(draw.below(3) + 2).unwrap()),
            0 => Table::new().with("max-length", i64::try_from(draw.below(3) + 1).unwrap()),
            1 => Table::new().with("dead-letter-exchange", "").with("dead-letter-routing-key", DEAD),
            2 => Table::new().with("dead-letter-exchange", HEADERS),
            _ if self.stage.broker().conditions().version < V4_0 => Table::new().with("max-length-bytes", 1_000_000),
            _ => Table::new().with("delivery-limit", i64::try_from(draw.below(3)).unwrap()),
        };
        // Two queues that overflow at the same time race for what they dead-letter to. How late a quorum queue that refuses
        // publishers notices another limit is left out.
        let is_limit = definition.contains("max-length");
        let pattern = if is_limit { self.limited } else { *draw.one_of(&["^q0$", "^q[01]$", "q2"]) };
        let policy = PolicyDeclaration {
            name: name.clone(),
            // Each policy has a priority of its own: which of two equal ones wins is not defined.
            priority: if name == "one" { 1 } else { 2 },
            pattern: pattern.to_owned(),
            apply_to: "queues".to_owned(),
            definition,
        };
        let known = self.stage.broker().state();
        let known = if operator { known.operator_policies } else { known.policies };
        if known.iter().any(|known| known.name == name) && draw.chance(2) {
            if operator {
                self.stage.clear_operator_policy(&name)
            } else {
                self.stage.clear_policy(&name)
            };
            return format!("clear policy {name}, operator {operator}");
        }
        let told = format!("set policy {policy:?}, operator {operator}");
        if operator {
            self.stage.set_operator_policy(policy)
        } else {
            self.stage.set_policy(policy)
        }
        told
    }

    /// Takes what consumers got.
    fn listen(&mut self) {
        for (channel, _) in self.consumers.clone() {
            for event in self.stage.take_events(channel) {
                if let Event::Delivered(delivery) = event {
                    self.deliveries += 1;
                    self.held.entry(channel).or_default().push_back(delivery.delivery_tag);
                }
            }
        }
    }
}
