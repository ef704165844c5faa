//! What public crates offer, each with the bindings in its own spelling.

use mqtt_topic_engine::topic_matcher::{Len, TopicMatcherNode};
use mqtt_topic_engine::{CacheStrategy, TopicPath, TopicPatternPath};
use regex::RegexSet;

/// Whether MQTT can say it: `#` stands at the end or nowhere.
pub fn is_mqtt(pattern: &str) -> bool {
    !pattern.trim_end_matches(".#").split('.').any(|word| word == "#")
}

/// A trie over MQTT filters.
pub struct Mqtt(TopicMatcherNode<Bound>);

/// What is bound under one filter.
#[derive(Default)]
struct Bound(Vec<u32>);

impl Len for Bound {
    fn len(&self) -> usize {
        self.0.len()
    }
}

impl Mqtt {
    pub fn new(patterns: &[String]) -> Self {
        let mut trie: TopicMatcherNode<Bound> = TopicMatcherNode::new();
        for (at, pattern) in patterns.iter().enumerate() {
            let filter = pattern.replace('.', "/").replace('*', "+");
            let filter = TopicPatternPath::new_from_string(filter, CacheStrategy::NoCache).unwrap();
            trie.get_or_create_subscription_table(&filter).0.push(u32::try_from(at).unwrap());
        }
        Self(trie)
    }

    /// The values that fit, each plus one, summed up.
    pub fn sum(&self, key: &str) -> u64 {
        let found = self.0.find_by_path(&TopicPath::new(key).unwrap());
        found.into_iter().flat_map(|bound| &bound.0).map(|value| u64::from(*value) + 1).sum()
    }
}

/// All patterns as regular expressions.
pub struct Regexes(RegexSet);

impl Regexes {
    pub fn new(patterns: &[String]) -> Self {
        Self(RegexSet::new(patterns.iter().map(|pattern| expression(pattern))).unwrap())
    }

    pub fn sum(&self, key: &str) -> u64 {
        self.0.matches(key).into_iter().map(|at| at as u64 + 1).sum()
    }
}

/// Right for keys without empty words, which are the only ones here.
fn expression(pattern: &str) -> String {
    let words = pattern.split('.').enumerate().map(|(at, word)| match (word, at) {
        ("#", 0) => "(?:[^.]+(?:\\.[^.]+)*)?".to_owned(),
        ("#", _) => "(?:\\.[^.]+)*".to_owned(),
        ("*", 0) => "[^.]+".to_owned(),
        ("*", _) => "\\.[^.]+".to_owned(),
        (word, 0) => regex::escape(word),
        (word, _) => format!("\\.{}", regex::escape(word)),
    });
    format!("^{}$", words.collect::<String>())
}
