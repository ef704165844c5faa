//! How fast topic patterns are matched.
//!
//!     cargo run --release -p acemq-tests --bin matcher
//!
//! **One pattern, one key**, beside the time of splitting both into words, which no matcher that compares words can do
//! without; allocations are counted.
//!
//! **Many bindings**: keys are looked up as they come, in no order that would help a cache; the time is that of one key, the
//! median of batches of 16 keys. Beside it, in the same run on the same bindings: a *scan* over all patterns; a *trie* for MQTT
//! from a public crate (mqtt-topic-engine), a `regex::RegexSet`. MQTT writes `/` for `.` and `+` for `*`, and has `#` as the
//! last word only, so it gets the bindings that it can say (99 of 100), and so does our matcher in the row that is compared.
//! For each the time includes whatever the crate needs to read a key, and every match is looked at. All answers are compared
//! first.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "its output is its purpose")]

mod bindings;
mod others;

use acemq_core::topic::{Scratch, TopicMatcher, TopicPattern, Words, matches};
use allocation_counter::measure;
use bindings::{Draw, Vocabulary};
use others::{Mqtt, Regexes};
use std::hint::black_box;
use std::time::{Duration, Instant};

const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];
const BATCH: usize = 16;
/// A `RegexSet` of more takes minutes and gigabytes to build.
const MOST_REGEXES: usize = 1_000;
/// Longer than this nobody waits for a scan.
const MOST_SCANNED: usize = 100_000;

fn main() {
    single();
    println!();
    println!(
        "{:>9} {:<22} {:>11} {:>9} {:>8} {:>13} {:>9}",
        "bindings", "matcher", "ns a match", "times", "matches", "bytes/binding", "build ms"
    );
    for size in SIZES {
        many(size);
    }
}

/// One pattern and one key.
fn single() {
    let mut draw = Draw::new(1);
    let vocabulary = Vocabulary::for_bindings(1_000);
    let pairs: Vec<(String, String)> = (0..1_000).map(|_| vocabulary.pair(&mut draw)).collect();
    let compiled: Vec<(TopicPattern, &str)> =
        pairs.iter().map(|(pattern, key)| (TopicPattern::new(pattern), key.as_str())).collect();
    let split = each(&pairs, |(pattern, key)| {
        Words::new(pattern.as_bytes()).fold(0, |sum, word| sum + word.len())
            + Words::new(key.as_bytes()).fold(0, |sum, word| sum + word.len())
    });
    let split_std = each(&pairs, |(pattern, key)| {
        pattern.split('.').fold(0, |sum, word| sum + word.len()) + key.split('.').fold(0, |sum, word| sum + word.len())
    });
    let texts = each(&pairs, |(pattern, key)| matches(pattern, key));
    let prepared = each(&compiled, |(pattern, key)| pattern.matches(key));
    let allocated = measure(|| {
        for (pattern, key) in &pairs {
            black_box(matches(pattern, key));
        }
        for (pattern, key) in &compiled {
            black_box(pattern.matches(key));
        }
    });
    assert_eq!(allocated.count_total, 0, "a match allocates nothing");
    let fits = pairs.iter().filter(|(pattern, key)| matches(pattern, key)).count();
    println!("one pattern, one key: {} pairs, {fits} fit; allocations {}", pairs.len(), allocated.count_total);
    println!("  splitting both, str::split    {split_std:>7.1} ns");
    println!("  splitting both, Words         {split:>7.1} ns");
    for (name, time) in [("topic::matches", texts), ("TopicPattern::matches", prepared)] {
        let (own, std) = (time / split, time / split_std);
        println!("  {name:<28}  {time:>7.1} ns   {own:.2} times Words, {std:.2} times str::split");
    }
}

/// Nanoseconds of one call, the best of some rounds over all items.
fn each<T, R>(items: &[T], call: impl Fn(&T) -> R) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..200 {
        let started = Instant::now();
        for item in items {
            black_box(call(black_box(item)));
        }
        best = best.min(started.elapsed());
    }
    best.as_secs_f64() * 1e9 / items.len() as f64
}

/// That many bindings.
fn many(size: usize) {
    let mut draw = Draw::new(size);
    let vocabulary = Vocabulary::for_bindings(size);
    let patterns: Vec<String> = (0..size).map(|_| vocabulary.pattern(&mut draw)).collect();
    let keys: Vec<String> = (0..16_384).map(|_| vocabulary.key(&mut draw)).collect();
    let (matcher, built) = building(|| TopicMatcher::from_patterns(&patterns));
    let mut scratch = Scratch::default();
    let count = |matcher: &TopicMatcher<u32>, scratch: &mut Scratch, key: &str| {
        let mut sum = 0u64;
        matcher.for_each_match(key, scratch, |value| sum += u64::from(*value) + 1);
        sum
    };
    for key in &keys {
        count(&matcher, &mut scratch, key);
    }
    let allocated = measure(|| {
        for key in keys.iter().take(1_000) {
            black_box(count(&matcher, &mut scratch, key));
        }
    });
    assert_eq!(allocated.count_total, 0, "a match with a used scratch allocates nothing");
    let found: usize = keys
        .iter()
        .take(2_000)
        .map(|key| {
            let mut found = 0;
            matcher.for_each_match(key, &mut scratch, |_| found += 1);
            found
        })
        .sum();
    let per_key = found as f64 / 2_000.0;
    let ours = median(&keys, |key| count(&matcher, &mut scratch, key));
    row(size, "ours", ours, None, per_key, Some((built.bytes / size as f64, built.time)));

    if size <= MOST_SCANNED {
        let (scan, built) = building(|| patterns.iter().map(TopicPattern::new).collect::<Vec<_>>());
        let scanned = &keys[..(20_000_000 / size).clamp(BATCH * 8, 4_096)];
        let sum = |key: &str| {
            scan.iter()
                .enumerate()
                .filter(|(_, pattern)| pattern.matches(key))
                .fold(0u64, |sum, (at, _)| sum + at as u64 + 1)
        };
        for key in scanned.iter().take(32) {
            assert_eq!(sum(key), count(&matcher, &mut scratch, key), "{key}");
        }
        let time = median(scanned, sum);
        row(size, "scan", time, Some(ours), per_key, Some((built.bytes / size as f64, built.time)));
    }
    if size <= MOST_REGEXES {
        let (regexes, built) = building(|| Regexes::new(&patterns));
        for key in keys.iter().take(500) {
            assert_eq!(regexes.sum(key), count(&matcher, &mut scratch, key), "{key}");
        }
        let time = median(&keys, |key| regexes.sum(key));
        row(size, "RegexSet", time, Some(ours), per_key, Some((built.bytes / size as f64, built.time)));
    }

    let sayable: Vec<String> = patterns.into_iter().filter(|pattern| others::is_mqtt(pattern)).collect();
    drop(matcher);
    let (matcher, built) = building(|| TopicMatcher::from_patterns(&sayable));
    let keys_of_mqtt: Vec<String> = keys.iter().map(|key| key.replace('.', "/")).collect();
    let ours = median(&keys, |key| count(&matcher, &mut scratch, key));
    row(sayable.len(), "ours, what MQTT says", ours, None, per_key, Some((built.bytes / size as f64, built.time)));
    let (mqtt, built) = building(|| Mqtt::new(&sayable));
    for (key, of_mqtt) in keys.iter().zip(&keys_of_mqtt).take(2_000) {
        assert_eq!(mqtt.sum(of_mqtt), count(&matcher, &mut scratch, key), "{key}");
    }
    let time = median(&keys_of_mqtt, |key| mqtt.sum(key));
    row(sayable.len(), "mqtt-topic-engine", time, Some(ours), per_key, Some((built.bytes / size as f64, built.time)));
}

/// The bindings of patterns, each with its place as its value.
trait FromPatterns {
    fn from_patterns(patterns: &[String]) -> Self;
}

impl FromPatterns for TopicMatcher<u32> {
    fn from_patterns(patterns: &[String]) -> Self {
        let mut matcher = Self::new();
        for (at, pattern) in patterns.iter().enumerate() {
            matcher.insert(pattern, u32::try_from(at).unwrap());
        }
        matcher
    }
}

struct Built {
    bytes: f64,
    time: Duration,
}

/// What is built, how long it took and how many bytes it keeps.
fn building<T>(build: impl FnOnce() -> T) -> (T, Built) {
    let mut built = None;
    let started = Instant::now();
    let memory = measure(|| built = Some(build()));
    let time = started.elapsed();
    (built.unwrap(), Built { bytes: memory.bytes_current as f64, time })
}

/// Nanoseconds of one key, the median of batches of different keys.
fn median(keys: &[String], mut call: impl FnMut(&str) -> u64) -> f64 {
    for key in keys.iter().take(BATCH * 4) {
        black_box(call(key));
    }
    let mut times: Vec<f64> = keys
        .chunks_exact(BATCH)
        .map(|batch| {
            let started = Instant::now();
            for key in batch {
                black_box(call(black_box(key)));
            }
            started.elapsed().as_secs_f64() * 1e9 / BATCH as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(size: usize, name: &str, time: f64, ours: Option<f64>, matches: f64, built: Option<(f64, Duration)>) {
    let times = ours.map_or_else(String::new, |ours| format!("{:.1}", time / ours));
    let (bytes, build) = built.map_or((0.0, 0.0), |(bytes, time)| (bytes, time.as_secs_f64() * 1e3));
    println!("{size:>9} {name:<22} {time:>11.0} {times:>9} {matches:>8.1} {bytes:>13.0} {build:>9.1}");
}
