//! Matching allocates nothing: neither one pattern against one key, nor a key against many bindings with used buffers.

use acemq_core::topic::{Scratch, TopicMatcher, TopicPattern, matches};
use allocation_counter::measure;

const PATTERNS: [&str; 8] = ["orders.*.created", "orders.#", "#.eu", "a.#.b.#", "*", "", "orders.eu.created", "a*.##"];
const KEYS: [&str; 6] = ["orders.eu.created", "orders", "", "a.x.y.b.z", "a..b", "nobody.asked.for.this.one.here"];

#[test]
fn one_pattern_and_one_key_allocate_nothing() {
    let compiled = PATTERNS.map(TopicPattern::new);
    let mut fits = 0;
    let allocated = measure(|| {
        for key in KEYS {
            fits += PATTERNS.iter().filter(|pattern| matches(pattern, key)).count();
            fits += compiled.iter().filter(|pattern| pattern.matches(key)).count();
        }
    });
    assert!(fits > 0);
    assert_eq!(allocated.count_total, 0);
}

#[test]
fn a_matcher_allocates_nothing_once_its_buffers_have_grown() {
    let mut matcher = TopicMatcher::new();
    for (number, pattern) in PATTERNS.iter().enumerate() {
        matcher.insert(pattern, number);
    }
    let mut scratch = Scratch::default();
    let mut all = || {
        let mut found = 0;
        for key in KEYS {
            matcher.for_each_match(key, &mut scratch, |_| found += 1);
        }
        found
    };
    let first = all();
    let mut second = 0;
    let allocated = measure(|| second = all());
    assert_eq!(first, second);
    assert_eq!(allocated.count_total, 0);
}
