//! Many patterns at once: a trie over the words of the patterns.
//!
//! Each node is a prefix of some pattern. It has one child for `*`, one for `#` and any number for literal words. A key is
//! read word by word while a set of nodes is kept that the words so far lead to; a `#` node, once reached, stays in the set,
//! since it swallows whatever comes. The time for a key depends on how many of these nodes its words reach, not on the number
//! of bindings, and however many `#` there are, no node is visited twice for one position in the key.

use super::Words;
use super::intern::{Interner, WordId};
use super::keys::{Keys, Matches};
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU32;

/// The bindings of a topic exchange, compiled: patterns, each bound to any number of values.
///
/// Adding and removing one binding costs as much as the pattern has words. A value stands for what a binding leads to: a
/// queue's number, a name.
///
/// ```
/// use acemq_core::topic::TopicMatcher;
///
/// let mut bindings = TopicMatcher::new();
/// bindings.insert("orders.*", "new orders");
/// bindings.insert("orders.#", "archive");
/// assert_eq!(bindings.matches("orders.eu"), ["archive", "new orders"]);
/// bindings.remove("orders.*", &"new orders");
/// assert_eq!(bindings.matches("orders.eu"), ["archive"]);
/// ```
#[derive(Debug, Clone)]
pub struct TopicMatcher<T> {
    words: Interner,
    nodes: Vec<Node<T>>,
    /// Nodes that were pruned, to be used again.
    free: Vec<NodeId>,
    /// Literal children behind the first one of a node.
    edges: HashMap<Edge, NodeId, BuildHasherDefault<NumberHasher>>,
    bindings: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct NodeId(NonZeroU32);

impl NodeId {
    const ROOT: Self = Self(NonZeroU32::MIN);

    fn index(self) -> usize {
        // A u32 fits a usize wherever a trie of this size fits the memory.
        usize::try_from(self.0.get()).unwrap_or(usize::MAX).wrapping_sub(1)
    }

    fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok().and_then(|index| NonZeroU32::MIN.checked_add(index)).map(Self)
    }
}

#[derive(Debug, Clone)]
struct Node<T> {
    star: Option<NodeId>,
    hash: Option<NodeId>,
    /// One literal child is held in place: most nodes have no second one.
    literal: Option<(WordId, NodeId)>,
    /// How many more there are, in `edges`.
    further_literals: u32,
    /// Whether an earlier word of this prefix is `#`, so that one key can lead here at several positions.
    below_hash: bool,
    values: Values<T>,
}

impl<T> Node<T> {
    fn new(below_hash: bool) -> Self {
        Self { star: None, hash: None, literal: None, further_literals: 0, below_hash, values: Values::None }
    }

    fn has_children(&self) -> bool {
        self.star.is_some() || self.hash.is_some() || self.literal.is_some() || self.further_literals > 0
    }
}

/// What is bound under one pattern. Most patterns have one value.
#[derive(Debug, Clone)]
enum Values<T> {
    None,
    One(T),
    Many(Vec<T>),
}

impl<T: Ord> Values<T> {
    fn as_slice(&self) -> &[T] {
        match self {
            Self::None => &[],
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }

    /// Adds `value` unless it is there.
    fn insert(&mut self, value: T) -> bool {
        match std::mem::replace(self, Self::None) {
            Self::None => *self = Self::One(value),
            Self::One(old) if old == value => {
                *self = Self::One(old);
                return false;
            }
            Self::One(old) => {
                let pair = if old < value { vec![old, value] } else { vec![value, old] };
                *self = Self::Many(pair);
            }
            Self::Many(mut values) => {
                let place = values.binary_search(&value);
                if let Err(at) = place {
                    values.insert(at, value);
                }
                *self = Self::Many(values);
                return place.is_err();
            }
        }
        true
    }

    fn remove(&mut self, value: &T) -> bool {
        match std::mem::replace(self, Self::None) {
            Self::One(old) if old == *value => true,
            Self::Many(mut values) => {
                let place = values.binary_search(value);
                if let Ok(at) = place {
                    values.remove(at);
                }
                *self = if values.len() > 1 { Self::Many(values) } else { values.pop().map_or(Self::None, Self::One) };
                place.is_ok()
            }
            other => {
                *self = other;
                false
            }
        }
    }
}

/// Buffers for matching, reused from key to key so that a match allocates nothing.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    here: Vec<NodeId>,
    next: Vec<NodeId>,
    /// `#` nodes that were reached and have children; they stay.
    hashes: Vec<NodeId>,
    /// Those of them that stand below another `#` and so could be reached again.
    nested: HashSet<NodeId, BuildHasherDefault<NumberHasher>>,
}

impl<T: Ord> TopicMatcher<T> {
    /// No bindings.
    pub fn new() -> Self {
        Self {
            words: Interner::default(),
            nodes: vec![Node::new(false)],
            free: Vec::new(),
            edges: HashMap::default(),
            bindings: 0,
        }
    }

    /// Number of bindings: pairs of a pattern and a value.
    pub fn len(&self) -> usize {
        self.bindings
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bindings == 0
    }

    /// Binds `value` under `pattern`; false when it already was (or when the trie holds 2³² prefixes: no memory does).
    pub fn insert(&mut self, pattern: impl AsRef<[u8]>, value: T) -> bool {
        let (mut at, mut below_hash) = (NodeId::ROOT, false);
        for word in Words::new(pattern.as_ref()) {
            let Some(child) = self.child_or_new(at, word, below_hash) else { return false };
            at = child;
            below_hash |= word == b"#";
        }
        let added = self.nodes.get_mut(at.index()).is_some_and(|node| node.values.insert(value));
        self.bindings += usize::from(added);
        added
    }

    /// Takes the binding of `value` under `pattern` out; false when there was none.
    pub fn remove(&mut self, pattern: impl AsRef<[u8]>, value: &T) -> bool {
        let mut path = Vec::new();
        let mut at = NodeId::ROOT;
        for word in Words::new(pattern.as_ref()) {
            let Some(child) = self.child(at, word) else { return false };
            path.push((at, word, child));
            at = child;
        }
        if !self.nodes.get_mut(at.index()).is_some_and(|node| node.values.remove(value)) {
            return false;
        }
        self.bindings -= 1;
        for (parent, word, child) in path.into_iter().rev() {
            let in_use =
                self.node(child).is_some_and(|node| node.has_children() || !matches!(node.values, Values::None));
            if in_use {
                break;
            }
            self.cut(parent, word);
            self.free.push(child);
        }
        true
    }

    /// Every value that `key` reaches, sorted, each once.
    pub fn matches(&self, key: impl AsRef<[u8]>) -> Vec<T>
    where
        T: Clone,
    {
        let mut found = Vec::new();
        self.for_each_match(key, &mut Scratch::default(), |value| found.push(value.clone()));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The values that each key reaches, sorted, each once a key.
    pub fn matches_all(&self, keys: Keys<'_>) -> Matches<T>
    where
        T: Clone,
    {
        let mut scratch = Scratch::default();
        let mut matches = Matches::default();
        for key in keys {
            matches.extend_with(|found| self.for_each_match(key, &mut scratch, |value| found.push(value.clone())));
        }
        matches
    }

    /// Calls `found` once for each binding that fits `key`, in an order that depends on the bindings only.
    pub fn for_each_match(&self, key: impl AsRef<[u8]>, scratch: &mut Scratch, mut found: impl FnMut(&T)) {
        scratch.here.clear();
        scratch.hashes.clear();
        scratch.nested.clear();
        scratch.here.push(NodeId::ROOT);
        self.reach_hash(self.node(NodeId::ROOT), &mut scratch.hashes, &mut scratch.nested, &mut found);
        for word in Words::new(key.as_ref()) {
            let word = self.words.id(word);
            scratch.next.clear();
            let stay = scratch.hashes.len();
            for at in 0..scratch.here.len() + stay {
                let reached = match scratch.here.get(at) {
                    Some(reached) => *reached,
                    None => match scratch.hashes.get(at - scratch.here.len()) {
                        Some(hash) => *hash,
                        None => break,
                    },
                };
                let Some(node) = self.node(reached) else { continue };
                let literal = word.and_then(|word| self.literal_child(reached, node, word));
                for child in [literal, node.star].into_iter().flatten() {
                    scratch.next.push(child);
                    self.reach_hash(self.node(child), &mut scratch.hashes, &mut scratch.nested, &mut found);
                }
            }
            std::mem::swap(&mut scratch.here, &mut scratch.next);
            if scratch.here.is_empty() && scratch.hashes.is_empty() {
                return;
            }
        }
        for reached in &scratch.here {
            self.node(*reached).map_or(&[][..], |node| node.values.as_slice()).iter().for_each(&mut found);
        }
    }

    /// Follows `#` below `from`, and `#` below that: zero words lead there. Whatever words are left, `#` takes them all, so
    /// what is bound there fits already.
    fn reach_hash(
        &self,
        from: Option<&Node<T>>,
        hashes: &mut Vec<NodeId>,
        nested: &mut HashSet<NodeId, BuildHasherDefault<NumberHasher>>,
        found: &mut impl FnMut(&T),
    ) {
        let mut hash = from.and_then(|node| node.hash);
        while let Some(id) = hash {
            let Some(node) = self.node(id) else { return };
            if node.below_hash && !nested.insert(id) {
                return;
            }
            node.values.as_slice().iter().for_each(&mut *found);
            if node.has_children() {
                hashes.push(id);
            }
            hash = node.hash;
        }
    }

    fn node(&self, id: NodeId) -> Option<&Node<T>> {
        self.nodes.get(id.index())
    }

    fn literal_child(&self, parent: NodeId, node: &Node<T>, word: WordId) -> Option<NodeId> {
        match node.literal {
            Some((first, child)) if first == word => Some(child),
            _ if node.further_literals > 0 => self.edges.get(&Edge::new(parent, word)).copied(),
            _ => None,
        }
    }

    fn child(&self, parent: NodeId, word: &[u8]) -> Option<NodeId> {
        let node = self.node(parent)?;
        match word {
            b"*" => node.star,
            b"#" => node.hash,
            literal => self.literal_child(parent, node, self.words.id(literal)?),
        }
    }

    /// The child of `parent` under `word`, made if it is missing. `below_hash`: an earlier word of the pattern is `#`.
    fn child_or_new(&mut self, parent: NodeId, word: &[u8], below_hash: bool) -> Option<NodeId> {
        if let Some(child) = self.child(parent, word) {
            return Some(child);
        }
        let child = self.new_node(below_hash)?;
        match word {
            b"*" => self.nodes.get_mut(parent.index())?.star = Some(child),
            b"#" => self.nodes.get_mut(parent.index())?.hash = Some(child),
            literal => {
                let word = self.words.acquire(literal);
                let node = self.nodes.get_mut(parent.index())?;
                if node.literal.is_none() {
                    node.literal = Some((word, child));
                } else {
                    node.further_literals += 1;
                    self.edges.insert(Edge::new(parent, word), child);
                }
            }
        }
        Some(child)
    }

    fn new_node(&mut self, below_hash: bool) -> Option<NodeId> {
        let node = Node::new(below_hash);
        if let Some(id) = self.free.pop() {
            *self.nodes.get_mut(id.index())? = node;
            return Some(id);
        }
        let id = NodeId::from_index(self.nodes.len())?;
        self.nodes.push(node);
        Some(id)
    }

    /// Takes away the child of `parent` under `word`.
    fn cut(&mut self, parent: NodeId, word: &[u8]) {
        let Some(node) = self.nodes.get_mut(parent.index()) else { return };
        match word {
            b"*" => node.star = None,
            b"#" => node.hash = None,
            literal => {
                let Some(id) = self.words.release(literal) else { return };
                if node.literal.is_some_and(|(first, _)| first == id) {
                    node.literal = None;
                } else {
                    node.further_literals -= 1;
                    self.edges.remove(&Edge::new(parent, id));
                }
            }
        }
    }
}

impl<T: Ord> Default for TopicMatcher<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A parent and a literal word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Edge(u64);

impl Edge {
    fn new(parent: NodeId, word: WordId) -> Self {
        Self(u64::from(parent.0.get()) << 32 | u64::from(word.0))
    }
}

impl std::hash::Hash for Edge {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// Mixes one number. Node and word numbers are given out here, never by a peer, so nobody can choose colliding ones.
#[derive(Debug, Clone, Copy, Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number ^ number >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 29;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::matches;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn dotted(words: &'static [&'static str], length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(words), 0..length).prop_map(|words| words.join("."))
    }

    fn patterns() -> impl Strategy<Value = String> {
        dotted(&["a", "b", "c", "", "*", "*", "#", "#", "##", "a*"], 6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Bindings come and go; after each step the trie answers what matching pattern by pattern answers.
        #[test]
        fn agrees_with_a_linear_scan_while_bindings_come_and_go(
            steps in proptest::collection::vec((any::<bool>(), patterns(), 0u32..4), 1..24),
            keys in proptest::collection::vec(dotted(&["a", "b", "c", "", "*", "#", "z"], 7), 1..6),
        ) {
            let mut bound = BTreeSet::new();
            let mut matcher = TopicMatcher::new();
            for (add, pattern, value) in steps {
                if add {
                    prop_assert_eq!(matcher.insert(&pattern, value), bound.insert((pattern, value)));
                } else {
                    let victim = bound.iter().find(|(_, v)| *v == value).cloned().unwrap_or((pattern, value));
                    prop_assert_eq!(matcher.remove(&victim.0, &victim.1), bound.remove(&victim));
                }
                prop_assert_eq!(matcher.len(), bound.len());
                for key in &keys {
                    let scan: BTreeSet<u32> =
                        bound.iter().filter(|(pattern, _)| matches(pattern, key)).map(|(_, value)| *value).collect();
                    prop_assert_eq!(matcher.matches(key), scan.into_iter().collect::<Vec<_>>(), "{:?}", key);
                    let mut calls = 0;
                    matcher.for_each_match(key, &mut Scratch::default(), |_| calls += 1);
                    let expected = bound.iter().filter(|(pattern, _)| matches(pattern, key)).count();
                    prop_assert_eq!(calls, expected, "each binding once on {:?}", key);
                }
            }
            for (pattern, value) in bound {
                prop_assert!(matcher.remove(&pattern, &value));
            }
            prop_assert!(matcher.is_empty());
            prop_assert_eq!(matcher.nodes.len(), matcher.free.len() + 1, "only the root is left");
            prop_assert!(matcher.edges.is_empty());
        }
    }

    #[test]
    fn a_batch_answers_like_single_calls() {
        let mut matcher = TopicMatcher::new();
        for (pattern, value) in [("a.#", 1), ("a.*", 1), ("#", 9), ("b", 2), ("", 3)] {
            matcher.insert(pattern, value);
        }
        let keys = ["a.b", "", "b", "a.b.c", "b"];
        let offsets: Vec<u32> = [0, 3, 3, 4, 9, 10].into();
        let bytes = keys.concat();
        let batch = matcher.matches_all(Keys::new(bytes.as_bytes(), &offsets).unwrap());
        assert_eq!(batch.iter().collect::<Vec<_>>(), [&[1, 9][..], &[3, 9], &[2, 9], &[1, 9], &[2, 9]]);
        assert_eq!((batch.range(2), batch.range(5)), (4..6, 10..10));
    }

    #[test]
    fn offsets_that_fall_or_overrun_are_refused() {
        assert_eq!(Keys::new(b"abc", &[0, 2, 1]).unwrap_err().index, 2);
        let error = Keys::new(b"abc", &[0, 4]).unwrap_err();
        assert_eq!(error.to_string(), "offset 1 of the keys is 4: offsets must not fall and must stay within 3 bytes");
        assert_eq!(Keys::new(b"abc", &[]).unwrap().count(), 0);
    }

    #[test]
    fn a_key_that_reaches_the_same_nodes_in_many_ways_costs_no_more() {
        let mut matcher = TopicMatcher::new();
        let pattern = ["#", "a"].repeat(40).join(".") + ".z";
        matcher.insert(&pattern, ());
        assert!(matcher.matches(["a"; 5_000].join(".")).is_empty());
        assert_eq!(matcher.matches(["a"; 5_000].join(".") + ".z"), [()]);
    }
}
