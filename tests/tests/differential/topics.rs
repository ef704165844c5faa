//! Topic matching: every key is published to an exchange on which each pattern has a queue of its own.

use acemq_core::rabbitmq::{BindingDeclaration, ExchangeDeclaration, QueueDeclaration};
use acemq_core::topic::TopicPattern;
use acemq_tests::amqp::{Channel, Publish};
use acemq_tests::on_every_broker;
use std::collections::BTreeSet;

/// Words that stress the rules: empty, wildcards inside and outside of words, bytes beyond ASCII.
const WORDS: [&str; 9] = ["", "a", "b", "A", "*", "#", "##", "a*", "é"];
const KEYS: usize = 700;
const PATTERNS: usize = 100;
/// From 4.3.5 on a binding key may have no more.
const MOST_HASHES: usize = 2;

on_every_broker! {
    fn the_engine_matches_topics_as_the_broker_does(node) {
        let vhost = node.fresh_vhost();
        let connection = vhost.connect();
        let channel = connection.channel().unwrap();
        channel.declare_exchange(&ExchangeDeclaration::durable("e", "topic")).unwrap();
        let (keys, patterns) = (keys(), patterns());
        for (number, pattern) in patterns.iter().enumerate() {
            let queue = format!("q-{number}");
            channel.declare_queue(&QueueDeclaration::durable(queue.as_str())).unwrap();
            channel.bind(&BindingDeclaration::queue("e", queue, pattern.as_str())).unwrap();
        }
        publish(&channel, &keys);

        let mut disagreements = Vec::new();
        for (number, pattern) in patterns.iter().enumerate() {
            let matcher = TopicPattern::new(pattern.as_bytes());
            let expected: BTreeSet<&str> =
                keys.iter().map(String::as_str).filter(|key| matcher.matches(key.as_bytes())).collect();
            let arrived = routing_keys(&channel, &format!("q-{number}"));
            let arrived: BTreeSet<&str> = arrived.iter().map(String::as_str).collect();
            if arrived != expected {
                let only = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| format!("{:?}", one.difference(other));
                disagreements.push(format!(
                    "{pattern:?}: only the broker {}, only the engine {}",
                    only(&arrived, &expected),
                    only(&expected, &arrived)
                ));
            }
        }
        assert!(disagreements.is_empty(), "{}:\n{}", node.version(), disagreements.join("\n"));
    }
}

/// Confirmed, so that every message is in its queues.
fn publish(channel: &Channel, keys: &[String]) {
    channel.confirm_select().unwrap();
    for key in keys {
        assert!(channel.publish_confirmed(&Publish::to("e", key)).unwrap().acknowledged);
    }
}

fn routing_keys(channel: &Channel, queue: &str) -> Vec<String> {
    std::iter::from_fn(|| channel.get(queue, true).unwrap())
        .map(|delivery| String::from_utf8(delivery.routing_key).unwrap())
        .collect()
}

/// All keys of up to two words, then some of the longer ones; and some that are long or odd in other ways.
fn keys() -> Vec<String> {
    let mut keys: BTreeSet<String> = [" ", "a b", "a. .b", "Ä", "日本.日本", "a\tb", "."].map(str::to_owned).into();
    keys.insert("a.".repeat(127));
    keys.insert("x".repeat(255));
    keys.insert(".".repeat(255));
    keys.extend(word_lists(KEYS, 6));
    keys.into_iter().collect()
}

fn patterns() -> Vec<String> {
    let by_hand = [
        "", "#", "*", "#.#", "*.*", "#.*", "*.#", ".", "..", "a.", ".a", "a..b", "a.#", "a.*", "#.a", ".#", "#.", "*.",
        ".*", "a.#.b", "a.*.b", "#.a.#", "*.#.*", "#.*.#", "##", "**", "*#", "#*", "a#", "#a", "a*.b", "A.#", "é.*",
    ];
    let mut patterns: BTreeSet<String> = by_hand.map(str::to_owned).into();
    patterns.extend(
        word_lists(PATTERNS, 4)
            .into_iter()
            .filter(|pattern| pattern.split('.').filter(|word| *word == "#").count() <= MOST_HASHES),
    );
    patterns.into_iter().collect()
}

/// `count` different lists of at most `longest` words, spread evenly over all of them; the shortest ones are all there.
fn word_lists(count: usize, longest: u32) -> BTreeSet<String> {
    let total: usize = (1..=longest).map(|length| WORDS.len().pow(length)).sum();
    let short = WORDS.len() + WORDS.len().pow(2);
    let step = (total / count).max(1) | 1;
    (0..short.min(count)).chain((short..total).step_by(step)).map(word_list).collect()
}

/// The list of words number `number`, shorter lists first.
fn word_list(mut number: usize) -> String {
    let mut length = 1;
    while number >= WORDS.len().pow(length) {
        number -= WORDS.len().pow(length);
        length += 1;
    }
    let words = (0..length).map(|place| WORDS[number / WORDS.len().pow(place) % WORDS.len()]);
    words.collect::<Vec<_>>().join(".")
}
