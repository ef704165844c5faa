//! Operations on topic patterns.

use super::{Failure, Request};
use crate::topic::{TopicMatcher, TopicPattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `topic.match`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchTopic {
    /// The binding's pattern.
    pub pattern: String,
    /// The message's routing key.
    pub key: String,
}

/// Whether it matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopicMatch {
    /// It does.
    pub matches: bool,
}

impl Request for MatchTopic {
    type Answer = TopicMatch;
    const NAME: &'static str = "topic.match";
    const ABOUT: &'static str = "Whether a topic pattern matches a routing key.";
    const CODES: &'static [&'static [&'static str]] = &[];

    fn answer(self) -> Result<TopicMatch, Failure> {
        Ok(TopicMatch { matches: TopicPattern::new(&self.pattern).matches(&self.key) })
    }
}

/// `topic.match_all`
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchTopics {
    /// Patterns.
    pub patterns: Vec<String>,
    /// Routing keys.
    pub keys: Vec<String>,
}

/// Which patterns match which keys.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopicMatches {
    /// For each key the indices of the patterns that match it, ascending.
    pub matches: Vec<Vec<usize>>,
}

impl Request for MatchTopics {
    type Answer = TopicMatches;
    const NAME: &'static str = "topic.match_all";
    const ABOUT: &'static str = "Which of many topic patterns match each of many routing keys.";
    const CODES: &'static [&'static [&'static str]] = &[];

    fn answer(self) -> Result<TopicMatches, Failure> {
        let mut matcher = TopicMatcher::new();
        for (index, pattern) in self.patterns.iter().enumerate() {
            matcher.insert(pattern, index);
        }
        let sorted = |key| {
            let mut found = matcher.matches(key);
            found.sort_unstable();
            found
        };
        Ok(TopicMatches { matches: self.keys.iter().map(sorted).collect() })
    }
}
