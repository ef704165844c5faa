//! Which routing keys a set of bindings cannot tell apart.
//!
//! Patterns are automata that read a key word by word. Run side by side, they divide all keys into finitely many classes:
//! two keys are in one class when exactly the same patterns fit both. Whatever holds for one key of a class holds for all of
//! them, so something that is checked for one key of each class is proven for every key there can be.
//!
//! ```
//! use acemq_core::topic::{KeySet, key_classes};
//!
//! let classes = key_classes(&[KeySet::pattern("order.*"), KeySet::pattern("#.paid")], &[0], 100).unwrap();
//! let shown: Vec<_> = classes.iter().map(|class| (class.key_text(), class.fits.as_slice())).collect();
//! assert_eq!(shown, [("order.paid".into(), &[0, 1][..]), ("order.x".into(), &[0][..])]);
//! ```

use super::Words;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// The routing keys that a binding lets through.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeySet {
    words: Vec<PatternWord>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PatternWord {
    Literal(Vec<u8>),
    /// `*`
    One,
    /// `#`
    Any,
}

impl KeySet {
    /// Every key.
    pub fn all() -> Self {
        Self { words: vec![PatternWord::Any] }
    }

    /// Only this key, as a direct exchange compares it.
    pub fn literal(key: impl AsRef<[u8]>) -> Self {
        Self { words: Words::new(key.as_ref()).map(|word| PatternWord::Literal(word.to_vec())).collect() }
    }

    /// The keys that fit a topic exchange's pattern.
    pub fn pattern(pattern: impl AsRef<[u8]>) -> Self {
        let words = Words::new(pattern.as_ref()).map(|word| match word {
            b"*" => PatternWord::One,
            b"#" => PatternWord::Any,
            literal => PatternWord::Literal(literal.to_vec()),
        });
        Self { words: words.collect() }
    }
}

/// One class of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyClass {
    /// A key of the class with as few words as possible.
    pub key: Vec<u8>,
    /// Which of the sets hold all keys of this class, by position, ascending. The others hold none of them.
    pub fits: Vec<usize>,
}

impl KeyClass {
    /// The key as text.
    pub fn key_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.key)
    }
}

/// More classes than the limit, or too many combinations of patterns to find them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyClasses {
    /// The limit that was given.
    pub limit: usize,
}

impl fmt::Display for TooManyClasses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the bindings distinguish more than {} classes of routing keys", self.limit)
    }
}

impl std::error::Error for TooManyClasses {}

/// Automaton states that are looked at for each class of the limit, before the search gives up.
const STATES_PER_CLASS: usize = 20;

/// What may come next in a key: a word that some pattern names, or any other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Letter<'a> {
    Named(&'a [u8]),
    Other,
}

/// Where the patterns stand after the words so far: set and position in it, ascending.
type Front = Vec<(usize, usize)>;

/// The classes of all keys that at least one of the sets in `focus` holds, shortest keys first.
///
/// `sets` is what distinguishes keys; `focus` says by position which of them make a key worth looking at.
///
/// # Errors
/// When there are more than `limit` classes.
pub fn key_classes(sets: &[KeySet], focus: &[usize], limit: usize) -> Result<Vec<KeyClass>, TooManyClasses> {
    let too_many = TooManyClasses { limit };
    let focus: BTreeSet<usize> = focus.iter().copied().collect();
    let other = unnamed_word(sets);
    let mut start = Front::new();
    for set in 0..sets.len() {
        enter(sets, &mut start, set, 0);
    }
    start.sort_unstable();
    let mut classes: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut found: Vec<KeyClass> = Vec::new();
    // A key of one empty word cannot be written: the empty key has no words. `true` marks that front.
    let mut seen: BTreeSet<(bool, Front)> = BTreeSet::from([(false, start.clone())]);
    let mut open: VecDeque<(Front, Vec<&[u8]>, bool)> = VecDeque::from([(start, Vec::new(), false)]);
    while let Some((front, words, unwritable)) = open.pop_front() {
        let fits: Vec<usize> = (front.iter())
            .filter(|(set, at)| sets.get(*set).is_some_and(|set| set.words.len() == *at))
            .map(|(set, _)| *set)
            .collect();
        if !unwritable && fits.iter().any(|set| focus.contains(set)) && !classes.contains_key(&fits) {
            if found.len() >= limit {
                return Err(too_many);
            }
            classes.insert(fits.clone(), found.len());
            found.push(KeyClass { key: words.join(&b'.'), fits });
        }
        for (letter, next) in successors(sets, &front) {
            if !next.iter().any(|(set, _)| focus.contains(set)) {
                continue;
            }
            let word = match letter {
                Letter::Named(word) => word,
                Letter::Other => other.as_slice(),
            };
            let unwritable = words.is_empty() && word.is_empty();
            if seen.insert((unwritable, next.clone())) {
                if seen.len() > limit.saturating_mul(STATES_PER_CLASS) {
                    return Err(too_many);
                }
                let mut longer = words.clone();
                longer.push(word);
                open.push_back((next, longer, unwritable));
            }
        }
    }
    Ok(found)
}

/// Puts a position into a front, with those behind a `#` that stands for nothing.
fn enter(sets: &[KeySet], front: &mut Front, set: usize, at: usize) {
    let mut at = at;
    front.push((set, at));
    while sets.get(set).and_then(|set| set.words.get(at)) == Some(&PatternWord::Any) {
        at += 1;
        front.push((set, at));
    }
}

/// The front after each word that makes a difference.
fn successors<'a>(sets: &'a [KeySet], front: &Front) -> Vec<(Letter<'a>, Front)> {
    let mut named: BTreeMap<&[u8], Front> = BTreeMap::new();
    let mut unnamed = Front::new();
    for &(set, at) in front {
        match sets.get(set).and_then(|set| set.words.get(at)) {
            Some(PatternWord::Literal(word)) => enter(sets, named.entry(word).or_default(), set, at + 1),
            Some(PatternWord::One) => enter(sets, &mut unnamed, set, at + 1),
            Some(PatternWord::Any) => enter(sets, &mut unnamed, set, at),
            None => {}
        }
    }
    let mut next: Vec<(Letter<'a>, Front)> = Vec::with_capacity(named.len() + 1);
    for (word, mut front) in named {
        front.extend_from_slice(&unnamed);
        next.push((Letter::Named(word), front));
    }
    if !unnamed.is_empty() {
        next.push((Letter::Other, unnamed));
    }
    for (_, front) in &mut next {
        front.sort_unstable();
        front.dedup();
    }
    next
}

/// A word that no pattern names.
fn unnamed_word(sets: &[KeySet]) -> Vec<u8> {
    let named = |word: &[u8]| {
        let literals = sets.iter().flat_map(|set| &set.words);
        literals.into_iter().any(|literal| matches!(literal, PatternWord::Literal(literal) if literal == word))
    };
    let mut word = b"x".to_vec();
    let mut number = 0u64;
    while named(&word) {
        number += 1;
        word = format!("x{number}").into_bytes();
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::matches;
    use proptest::prelude::*;

    fn fitting(patterns: &[&str], key: &str) -> Vec<usize> {
        (0..patterns.len()).filter(|at| matches(patterns[*at], key)).collect()
    }

    fn all(patterns: &[&str]) -> Vec<KeyClass> {
        let sets: Vec<KeySet> = patterns.iter().map(KeySet::pattern).collect();
        key_classes(&sets, &(0..sets.len()).collect::<Vec<_>>(), 10_000).unwrap()
    }

    #[test]
    fn overlapping_patterns_give_every_combination_that_a_key_can_have() {
        let found: BTreeSet<Vec<usize>> = all(&["a.*", "a.#", "*.b"]).into_iter().map(|class| class.fits).collect();
        // "a.b" fits all three, "a.x" the first two, "a" only the second, "x.b" only the third.
        assert_eq!(found, BTreeSet::from([vec![0, 1, 2], vec![0, 1], vec![1], vec![2]]));
    }

    #[test]
    fn a_literal_key_of_a_direct_exchange_is_no_pattern() {
        let sets = [KeySet::literal("a.*"), KeySet::pattern("a.*")];
        let classes = key_classes(&sets, &[0], 10).unwrap();
        assert_eq!(classes, [KeyClass { key: b"a.*".to_vec(), fits: vec![0, 1] }]);
    }

    #[test]
    fn the_key_of_one_empty_word_does_not_exist() {
        // ".#" asks for two words, the first empty: a first word alone would be the empty key, which has none.
        let classes = all(&[".#"]);
        assert_eq!(classes, [KeyClass { key: b".x".to_vec(), fits: vec![0] }]);
        assert_eq!(all(&[""]), [KeyClass { key: Vec::new(), fits: vec![0] }]);
    }

    #[test]
    fn only_what_the_focus_holds_is_looked_at() {
        let mut sets: Vec<KeySet> = (0..5_000).map(|n| KeySet::literal(format!("noise.{n}"))).collect();
        sets.push(KeySet::literal("order.new"));
        sets.push(KeySet::pattern("order.#"));
        let classes = key_classes(&sets, &[5_000], 10).unwrap();
        assert_eq!(classes, [KeyClass { key: b"order.new".to_vec(), fits: vec![5_000, 5_001] }]);
    }

    #[test]
    fn more_classes_than_the_limit_are_refused() {
        let sets: Vec<KeySet> = (0..11).map(|n| KeySet::literal(format!("k{n}"))).collect();
        let focus: Vec<usize> = (0..11).collect();
        assert_eq!(key_classes(&sets, &focus, 11).unwrap().len(), 11);
        assert_eq!(key_classes(&sets, &focus, 10), Err(TooManyClasses { limit: 10 }));
    }

    fn dotted(words: &'static [&'static str], length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(words), 0..length).prop_map(|words| words.join("."))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_key_is_in_the_class_of_its_patterns_and_every_class_has_a_key(
            patterns in proptest::collection::vec(dotted(&["a", "b", "", "*", "#"], 4), 1..5),
            key in dotted(&["a", "b", "", "c", "*"], 5),
        ) {
            let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
            let classes = all(&patterns);
            for class in &classes {
                prop_assert_eq!(&class.fits, &fitting(&patterns, &class.key_text()));
            }
            let fits = fitting(&patterns, &key);
            if !fits.is_empty() {
                prop_assert!(classes.iter().any(|class| class.fits == fits), "{:?} of {:?}", key, patterns);
            }
        }
    }
}
