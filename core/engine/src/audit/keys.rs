//! Sets of routing keys, and the question that decides most findings: is there a key in this set that an exchange does not
//! take?
//!
//! A binding key is a small regular expression over *words*. A [`KeySet`] is the intersection of some; a [`PatternTree`]
//! holds all bindings of an exchange with common beginnings shared. Both are nondeterministic automata. They are followed at
//! once, one word at a time, over the words that the set itself names and one word that nobody names: a key that uses any
//! other word where the set does not ask for it fits no fewer bindings, so one stranger stands for all of them. The states
//! of that walk are made when they are reached, breadth first, so the first answer is a shortest one; past a stated number
//! of states the answer is "not proven".

use super::patterns::{Nodes, PatternTree};
use crate::topic::Words;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// How many states of one question are looked at.
pub const STATE_BOUND: usize = 2_000;

/// One word of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Word<'a> {
    Literal(&'a [u8]),
    /// `*`
    One,
    /// `#`
    Many,
}

/// One word of a key that is being looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Letter<'a> {
    Word(&'a [u8]),
    /// A word that no pattern names.
    Stranger,
}

impl<'a> Word<'a> {
    /// What it takes first.
    const fn plainest(self) -> Option<Letter<'a>> {
        match self {
            Self::Literal(word) => Some(Letter::Word(word)),
            Self::One => Some(Letter::Stranger),
            Self::Many => None,
        }
    }

    fn takes(self, letter: Letter<'_>) -> bool {
        match (self, letter) {
            (Self::Literal(word), Letter::Word(other)) => word == other,
            (Self::Literal(_), Letter::Stranger) => false,
            (Self::One | Self::Many, _) => true,
        }
    }
}

/// The words of a topic pattern.
pub(super) fn topic_words(pattern: &str) -> impl Iterator<Item = Word<'_>> {
    Words::new(pattern.as_bytes()).map(|word| match word {
        b"*" => Word::One,
        b"#" => Word::Many,
        literal => Word::Literal(literal),
    })
}

/// The words of a key that stands for itself.
pub(super) fn literal_words(key: &str) -> impl Iterator<Item = Word<'_>> {
    Words::new(key.as_bytes()).map(Word::Literal)
}

/// The keys that fit every one of some patterns; without any, every key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeySet<'a> {
    patterns: Vec<Rc<[Word<'a>]>>,
}

/// Where a walk through a key set stands: for each pattern the places before which it can be, in order.
type Places = Vec<Vec<usize>>;

impl<'a> KeySet<'a> {
    /// Every key.
    pub(super) fn any() -> Self {
        Self::default()
    }

    /// The key itself.
    pub(super) fn literal(key: &'a str) -> Self {
        Self { patterns: vec![literal_words(key).collect()] }
    }

    /// The keys that fit a topic pattern.
    pub(super) fn topic(pattern: &'a str) -> Self {
        Self { patterns: vec![topic_words(pattern).collect()] }
    }

    /// The keys of both. A pattern that says no more than another one is left out, so that keys which go round come to the
    /// same set again.
    pub(super) fn and(&self, other: &Self) -> Self {
        let mut patterns = self.patterns.clone();
        for pattern in &other.patterns {
            if patterns.iter().any(|known| covers(pattern, known)) {
                continue;
            }
            patterns.retain(|known| !covers(known, pattern));
            patterns.push(pattern.clone());
        }
        Self { patterns }
    }

    /// Whether it is every key there is.
    pub(super) fn is_any(&self) -> bool {
        self.patterns.iter().all(|pattern| matches!(**pattern, [Word::Many]))
    }

    /// Whether it holds one key at most.
    pub(super) fn is_one(&self) -> bool {
        self.patterns.iter().any(|pattern| is_literal(pattern))
    }

    /// A pattern that every key of the set fits.
    pub(super) fn pattern(&self) -> &[Word<'a>] {
        let narrow = self.patterns.iter().find(|pattern| ***pattern != [Word::Many]);
        narrow.map_or(&[Word::Many], |pattern| pattern)
    }

    fn start(&self) -> Places {
        self.patterns.iter().map(|pattern| closure(pattern, [0])).collect()
    }

    fn step(&self, places: &Places, letter: Letter<'_>) -> Option<Places> {
        self.patterns
            .iter()
            .zip(places)
            .map(|(pattern, places)| {
                let next = places.iter().filter_map(|place| {
                    let word = pattern.get(*place)?;
                    word.takes(letter).then_some(if *word == Word::Many { *place } else { place + 1 })
                });
                let next = closure(pattern, next);
                (!next.is_empty()).then_some(next)
            })
            .collect()
    }

    /// Whether a key is in it.
    pub(super) fn has(&self, key: &str) -> bool {
        self.holds(&literal_words(key).filter_map(Word::plainest).collect::<Vec<_>>())
    }

    /// Whether a key is in it. One empty word alone is no key, the empty key has no words.
    fn holds(&self, key: &[Letter<'_>]) -> bool {
        let end = key.iter().try_fold(self.start(), |places, letter| self.step(&places, *letter));
        key != [Letter::Word(b"")] && end.is_some_and(|places| self.accepts(&places))
    }

    fn accepts(&self, places: &Places) -> bool {
        self.patterns.iter().zip(places).all(|(pattern, places)| places.contains(&pattern.len()))
    }

    /// The words that are worth trying: one that no pattern names, then those that some pattern names here.
    fn letters(&self, places: &Places) -> Vec<Letter<'a>> {
        let here = self.patterns.iter().zip(places).flat_map(|(pattern, places)| {
            places.iter().filter_map(|place| match pattern.get(*place) {
                Some(Word::Literal(word)) => Some(Letter::Word(word)),
                _ => None,
            })
        });
        let letters: BTreeSet<Letter<'a>> = here.collect();
        [Letter::Stranger].into_iter().chain(letters).collect()
    }
}

/// Whether every key that fits `narrow` is certain to fit `wide`. The words of the one are read by the other: what stands for
/// any word, or for any number of them, only by what does so too.
fn covers(wide: &[Word<'_>], narrow: &[Word<'_>]) -> bool {
    let mut places = closure(wide, [0]);
    for word in narrow {
        let next = places.iter().filter_map(|place| {
            let by = wide.get(*place)?;
            let takes = match (by, word) {
                (Word::Many, _) | (Word::One, Word::Literal(_) | Word::One) => true,
                (Word::Literal(by), Word::Literal(word)) => by == word,
                (Word::Literal(_), Word::One | Word::Many) | (Word::One, Word::Many) => false,
            };
            takes.then_some(if *by == Word::Many { *place } else { place + 1 })
        });
        places = closure(wide, next);
    }
    places.contains(&wide.len())
}

/// The shortest key of a pattern: each word once, and no word for `#`.
fn plainest<'a>(pattern: &[Word<'a>]) -> Vec<Letter<'a>> {
    pattern.iter().filter_map(|word| word.plainest()).collect()
}

fn is_literal(pattern: &[Word<'_>]) -> bool {
    pattern.iter().all(|word| matches!(word, Word::Literal(_)))
}

/// The places with those behind every `#`, which may take no word.
fn closure(pattern: &[Word<'_>], places: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut all = Vec::new();
    for mut place in places {
        all.push(place);
        while pattern.get(place) == Some(&Word::Many) {
            place += 1;
            all.push(place);
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// An answer to a question about all keys of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// This one, and none is shorter.
    Key(String),
    /// None: proved.
    None,
    /// None within the bound.
    NotProven,
}

/// What is followed beside the keys of a set.
pub(super) trait Follow<'a> {
    /// Where it stands.
    type At: Clone + Ord;
    /// Before the first word.
    fn start(&self) -> Self::At;
    /// After one more word.
    fn step(&self, at: &Self::At, letter: Letter<'a>) -> Self::At;
    /// Whether the key that ends here is wanted.
    fn wanted(&self, at: &Self::At) -> bool;
    /// Words that matter besides those of the set.
    fn letters(&self, at: &Self::At) -> Vec<Letter<'a>>;
}

/// The shortest key of `set` that `follow` wants. Words that nobody names are spelled as `stranger`.
pub(super) fn find<'a, F: Follow<'a>>(set: &KeySet<'a>, follow: &F, stranger: &str) -> Answer {
    // The third part: whether all there is so far is one empty word. That is no key, the empty key has no words.
    let start = Rc::new((set.start(), follow.start(), false));
    let mut seen = BTreeSet::from([Rc::clone(&start)]);
    // Each state with the one that it was reached from.
    let mut reached: Vec<(usize, Letter<'a>)> = Vec::new();
    let mut open = VecDeque::from([(start, usize::MAX)]);
    while let Some((state, number)) = open.pop_front() {
        let (places, at, no_key) = &*state;
        if !no_key && set.accepts(places) && follow.wanted(at) {
            return Answer::Key(spell(&trace(&reached, number), stranger));
        }
        let mut letters = set.letters(places);
        // What the other side names matters only where the set takes any word.
        if set.step(places, Letter::Stranger).is_some() {
            let more = follow.letters(at).into_iter().filter(|more| !letters.contains(more));
            let more: BTreeSet<Letter<'a>> = more.collect();
            letters.extend(more);
        }
        for letter in letters {
            let Some(places) = set.step(places, letter) else { continue };
            let next = Rc::new((places, follow.step(at, letter), number == usize::MAX && letter == Letter::Word(b"")));
            if seen.contains(&next) {
                continue;
            }
            if seen.len() >= STATE_BOUND {
                return Answer::NotProven;
            }
            seen.insert(Rc::clone(&next));
            reached.push((number, letter));
            open.push_back((next, reached.len() - 1));
        }
    }
    Answer::None
}

/// Whether a set holds any key; a search only where none of its patterns' shortest keys fits the others.
pub(super) fn holds_a_key(set: &KeySet<'_>) -> bool {
    set.patterns.iter().any(|pattern| set.holds(&plainest(pattern))) || matches!(shortest(set, ""), Answer::Key(_))
}

/// The shortest key of a set.
pub(super) fn shortest(set: &KeySet<'_>, stranger: &str) -> Answer {
    let literal = set.patterns.iter().find(|pattern| is_literal(pattern));
    let letters = match (set.patterns.as_slice(), literal) {
        ([only], _) | (_, Some(only)) => plainest(only),
        _ => return find(set, &Everything, stranger),
    };
    match (set.holds(&letters), literal) {
        (true, _) => Answer::Key(spell(&letters, stranger)),
        (false, Some(_)) => Answer::None,
        (false, None) => find(set, &Everything, stranger),
    }
}

/// The words that led to a state.
fn trace<'a>(reached: &[(usize, Letter<'a>)], mut number: usize) -> Vec<Letter<'a>> {
    let mut letters = Vec::new();
    while let Some((before, letter)) = reached.get(number) {
        letters.push(*letter);
        number = *before;
    }
    letters.reverse();
    letters
}

fn spell(letters: &[Letter<'_>], stranger: &str) -> String {
    let words: Vec<String> = letters
        .iter()
        .map(|letter| match letter {
            Letter::Word(word) => String::from_utf8_lossy(word).into_owned(),
            Letter::Stranger => stranger.to_owned(),
        })
        .collect();
    words.join(".")
}

/// The shortest key of one topic pattern that another one does not take.
pub(super) fn uncovered<'a>(pattern: &'a str, by: impl Iterator<Item = Word<'a>>, stranger: &str) -> Answer {
    let mut tree = PatternTree::new();
    tree.insert(by, ());
    find(&KeySet::topic(pattern), &FitsNone(tree), stranger)
}

/// Wants the keys that fit none of some patterns.
struct FitsNone<'a, T>(PatternTree<'a, T>);

impl<'a, T: Copy> Follow<'a> for FitsNone<'a, T> {
    type At = Nodes;
    fn start(&self) -> Nodes {
        self.0.start()
    }
    fn step(&self, at: &Nodes, letter: Letter<'a>) -> Nodes {
        self.0.step(at, letter)
    }
    fn wanted(&self, at: &Nodes) -> bool {
        self.0.ends(at).next().is_none()
    }
    fn letters(&self, _: &Nodes) -> Vec<Letter<'a>> {
        Vec::new()
    }
}

/// Wants every key.
pub(super) struct Everything;

impl<'a> Follow<'a> for Everything {
    type At = ();
    fn start(&self) {}
    fn step(&self, (): &(), _: Letter<'a>) {}
    fn wanted(&self, (): &()) -> bool {
        true
    }
    fn letters(&self, (): &()) -> Vec<Letter<'a>> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::matches;
    use proptest::prelude::*;

    fn tree<'a>(patterns: &[&'a str]) -> PatternTree<'a, usize> {
        let mut tree = PatternTree::new();
        for (number, pattern) in patterns.iter().enumerate() {
            tree.insert(topic_words(pattern), number);
        }
        tree
    }

    fn outside(set: &[&str], patterns: &[&str]) -> Answer {
        let set = set.iter().fold(KeySet::any(), |set, pattern| set.and(&KeySet::topic(pattern)));
        find(&set, &FitsNone(tree(patterns)), "x")
    }

    fn key(key: &str) -> Answer {
        Answer::Key(key.to_owned())
    }

    #[test]
    fn containment_is_decided_and_the_shortest_key_outside_is_named() {
        assert_eq!(outside(&["order.*"], &["order.#"]), Answer::None);
        assert_eq!(outside(&["order.#"], &["order.*"]), key("order"));
        assert_eq!(outside(&["order.*"], &["order.new", "order.paid"]), key("order.x"));
        assert_eq!(outside(&["#"], &["*", "*.*.#"]), key(""));
        assert_eq!(outside(&["#"], &["", "*", "*.*.#"]), Answer::None);
        assert_eq!(outside(&["*.a.#"], &["#.a.#"]), Answer::None);
        assert_eq!(outside(&["#.a.#"], &["*.a.#", "a.#"]), key("x.x.a"));
        assert_eq!(outside(&["a.#", "#.b"], &["a.b"]), key("a.x.b"));
        // Nothing is in both, so nothing is outside.
        assert_eq!(outside(&["a.*", "b.*"], &[]), Answer::None);
        assert_eq!(outside(&["a..b"], &["a.*.b"]), Answer::None);
    }

    #[test]
    fn a_set_keeps_only_patterns_that_narrow_it() {
        let set = |patterns: &[&'static str]| {
            patterns.iter().fold(KeySet::any(), |set, pattern| set.and(&KeySet::topic(pattern)))
        };
        for (wide, narrow) in [("a.#", "a.*.b"), ("#", ""), ("*.#", "a"), ("#.*", "*.#.*"), ("#.b.#", "a.b")] {
            assert_eq!(set(&[wide, narrow]), set(&[narrow]), "{wide} {narrow}");
            assert_eq!(set(&[narrow, wide]), set(&[narrow]), "{narrow} {wide}");
        }
        for both in [["a.#", "#.b"], ["*.#", "#.a.#"], ["a.*", "b.*"], ["*", "#.#.b"]] {
            assert_ne!(set(&both), set(&both[..1]), "{both:?}");
        }
    }

    #[test]
    fn past_the_bound_nothing_is_claimed() {
        // Which of the last fourteen words were `a` has to be remembered: the states double with each star.
        let wide = format!("#.a{}", ".*".repeat(14));
        assert_eq!(outside(&[&wide], &["#.a.#"]), Answer::NotProven);
        let narrow = format!("#.a{}", ".*".repeat(4));
        assert_eq!(outside(&[&narrow], &["#.a.#"]), Answer::None);
    }

    fn words(length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(&["a", "b", "*", "#", ""][..]), 1..length)
            .prop_map(|words| words.join("."))
    }

    /// Every key of up to four of the words that matter.
    fn all_keys() -> Vec<String> {
        let alphabet = ["a", "b", "", "x"];
        let mut keys = vec![String::new()];
        let mut last: Vec<Vec<&str>> = vec![Vec::new()];
        for _ in 0..4 {
            last = last
                .iter()
                .flat_map(|words| alphabet.iter().map(|word| [words.clone(), vec![*word]].concat()))
                .collect();
            keys.extend(last.iter().filter(|words| words.as_slice() != [""]).map(|words| words.join(".")));
        }
        keys
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_500))]

        #[test]
        fn agrees_with_matching_key_by_key(
            set in proptest::collection::vec(words(4), 1..3),
            patterns in proptest::collection::vec(words(4), 0..4),
        ) {
            let (set, patterns): (Vec<&str>, Vec<&str>) =
                (set.iter().map(String::as_str).collect(), patterns.iter().map(String::as_str).collect());
            let is_outside = |key: &&String| {
                set.iter().all(|pattern| matches(pattern, key)) && !patterns.iter().any(|pattern| matches(pattern, key))
            };
            let keys = all_keys();
            let count = |key: &str| Words::new(key.as_bytes()).count();
            match super::tests::outside(&set, &patterns) {
                Answer::Key(found) => {
                    prop_assert!(is_outside(&&found), "{found:?}");
                    let shorter = keys.iter().filter(|key| count(key) < count(&found)).find(is_outside);
                    prop_assert_eq!(shorter, None, "{} is longer", found);
                }
                Answer::None => prop_assert_eq!(keys.iter().find(is_outside), None),
                Answer::NotProven => {}
            }
        }
    }
}
