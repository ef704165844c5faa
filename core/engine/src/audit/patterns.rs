//! The binding keys of an exchange as one tree: common beginnings are shared, so a key is followed through all of them at
//! once, and so is a pattern.

use super::keys::{Letter, Word};
use crate::topic::Words;
use std::collections::{BTreeMap, BTreeSet};

/// Patterns of one exchange, each with what it leads to.
#[derive(Debug, Clone)]
pub(super) struct PatternTree<'a, T> {
    nodes: Vec<Node<'a, T>>,
}

#[derive(Debug, Clone)]
struct Node<'a, T> {
    children: BTreeMap<Word<'a>, usize>,
    /// Reached by `#`: takes any number of words.
    stays: bool,
    ends: Vec<T>,
}

impl<T> Node<'_, T> {
    const fn new(stays: bool) -> Self {
        Self { children: BTreeMap::new(), stays, ends: Vec::new() }
    }
}

/// Where a walk through a tree stands: nodes in order, each once.
pub(super) type Nodes = Vec<usize>;

fn in_order(mut nodes: Nodes) -> Nodes {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

impl<'a, T: Copy> PatternTree<'a, T> {
    pub(super) fn new() -> Self {
        Self { nodes: vec![Node::new(false)] }
    }

    pub(super) fn insert(&mut self, words: impl Iterator<Item = Word<'a>>, end: T) {
        let mut at = 0;
        for word in words {
            let fresh = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return };
            at = *node.children.entry(word).or_insert(fresh);
            if at == fresh {
                self.nodes.push(Node::new(word == Word::Many));
            }
        }
        if let Some(node) = self.nodes.get_mut(at) {
            node.ends.push(end);
        }
    }

    pub(super) fn start(&self) -> Nodes {
        let mut nodes = Nodes::new();
        self.enter(&mut nodes, 0);
        in_order(nodes)
    }

    pub(super) fn step(&self, nodes: &Nodes, letter: Letter<'_>) -> Nodes {
        let mut next = Nodes::new();
        for at in nodes {
            let Some(node) = self.nodes.get(*at) else { continue };
            if node.stays {
                self.enter(&mut next, *at);
            }
            if let Letter::Word(word) = letter
                && let Some(child) = node.children.get(&Word::Literal(word))
            {
                self.enter(&mut next, *child);
            }
            if let Some(child) = node.children.get(&Word::One) {
                self.enter(&mut next, *child);
            }
        }
        in_order(next)
    }

    fn enter(&self, nodes: &mut Nodes, mut at: usize) {
        nodes.push(at);
        while let Some(child) = self.nodes.get(at).and_then(|node| node.children.get(&Word::Many)) {
            at = *child;
            nodes.push(at);
        }
    }

    /// What the patterns lead to that have a key in common with this one. (The empty word alone counts as a key here, so
    /// there may be one too many.)
    pub(super) fn meeting(&self, pattern: &[Word<'a>]) -> BTreeSet<T>
    where
        T: Ord,
    {
        let mut found = BTreeSet::new();
        // Both are walked at once: before which word of the pattern, and at which node.
        let mut seen = BTreeSet::from([(0, 0)]);
        let mut open = vec![(0, 0)];
        while let Some((place, at)) = open.pop() {
            let Some(node) = self.nodes.get(at) else { continue };
            let mut go = |next: (usize, usize)| {
                if seen.insert(next) {
                    open.push(next);
                }
            };
            // Neither `#` need take a word.
            if let Some(child) = node.children.get(&Word::Many) {
                go((place, *child));
            }
            let Some(word) = pattern.get(place) else {
                found.extend(node.ends.iter().copied());
                continue;
            };
            let behind = if *word == Word::Many { place } else { place + 1 };
            if *word == Word::Many {
                go((place + 1, at));
            }
            if node.stays {
                go((behind, at));
            }
            match word {
                Word::Literal(_) => {
                    for child in [word, &Word::One].into_iter().filter_map(|word| node.children.get(word)) {
                        go((behind, *child));
                    }
                }
                Word::One | Word::Many => {
                    for (_, child) in node.children.iter().filter(|(word, _)| **word != Word::Many) {
                        go((behind, *child));
                    }
                }
            }
        }
        found
    }

    /// What the patterns that end here lead to.
    pub(super) fn ends<'s>(&'s self, nodes: &'s Nodes) -> impl Iterator<Item = T> + 's {
        nodes.iter().filter_map(|at| self.nodes.get(*at)).flat_map(|node| node.ends.iter().copied())
    }

    /// The words that patterns name here.
    pub(super) fn letters<'s>(&'s self, nodes: &'s Nodes) -> impl Iterator<Item = Letter<'a>> + 's {
        nodes.iter().filter_map(|at| self.nodes.get(*at)).flat_map(|node| {
            node.children.keys().filter_map(|word| match word {
                Word::Literal(word) => Some(Letter::Word(word)),
                _ => None,
            })
        })
    }

    /// What a key fits.
    pub(super) fn matches(&self, key: &str) -> Vec<T> {
        let mut nodes = self.start();
        for word in Words::new(key.as_bytes()) {
            nodes = self.step(&nodes, Letter::Word(word));
            if nodes.is_empty() {
                break;
            }
        }
        self.ends(&nodes).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::topic_words;
    use super::*;
    use crate::topic::matches;
    use proptest::prelude::*;

    fn words(length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(&["a", "b", "*", "#"][..]), 1..length)
            .prop_map(|words| words.join("."))
    }

    /// Every key of one to seven of the words that matter; two patterns of three words that meet do so in one of six.
    fn keys() -> Vec<String> {
        let mut all: Vec<String> = vec![String::new()];
        let mut last = vec![String::new()];
        for length in 0..6 {
            last = last
                .iter()
                .flat_map(|key| {
                    ["a", "b"].map(|word| if length == 0 { word.to_owned() } else { format!("{key}.{word}") })
                })
                .collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    proptest! {
        #[test]
        fn patterns_meet_when_a_key_fits_both(patterns in proptest::collection::vec(words(4), 0..6), other in words(4)) {
            let mut tree = PatternTree::new();
            for (number, pattern) in patterns.iter().enumerate() {
                tree.insert(topic_words(pattern), number);
            }
            let keys = keys();
            let expected: BTreeSet<usize> = (0..patterns.len())
                .filter(|number| keys.iter().any(|key| matches(&patterns[*number], key) && matches(&other, key)))
                .collect();
            let other: Vec<Word<'_>> = topic_words(&other).collect();
            prop_assert_eq!(tree.meeting(&other), expected);
        }
    }
}
