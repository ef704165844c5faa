//! Which word of a key fell to which word of a pattern, and where the two part ways.

use super::Words;

/// A pattern laid beside a key so that as little as possible disagrees.
///
/// ```
/// use acemq_core::topic::Alignment;
///
/// let alignment = Alignment::new(b"orders.*.eu", b"orders.new.us");
/// assert!(!alignment.fits());
/// let last = alignment.pairs().last().unwrap();
/// assert_eq!((last.pattern, last.key.as_slice(), last.fits()), (Some(&b"eu"[..]), &[&b"us"[..]][..], false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alignment<'a> {
    pairs: Vec<Pair<'a>>,
    cost: u32,
}

/// A word of the pattern with the words of the key that it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair<'a> {
    /// The pattern's word; `None` for a word of the key that the pattern has no place for.
    pub pattern: Option<&'a [u8]>,
    /// The key's words: any number for `#`, one or none for others.
    pub key: Vec<&'a [u8]>,
}

impl Pair<'_> {
    /// Whether this pair is no obstacle.
    pub fn fits(&self) -> bool {
        match (self.pattern, self.key.as_slice()) {
            (Some(b"#"), _) | (Some(b"*"), [_]) => true,
            (Some(wanted), [word]) => wanted == *word,
            _ => false,
        }
    }

    /// Whether the two words differ in the case of ASCII letters only.
    pub fn differs_in_case_only(&self) -> bool {
        match (self.pattern, self.key.as_slice()) {
            (Some(wanted), [word]) => wanted != *word && wanted.eq_ignore_ascii_case(word),
            _ => false,
        }
    }
}

/// What disagreements cost: only their order matters.
const OTHER_CASE: u32 = 1;
const SLIP_OF_THE_PEN: u32 = 2;
const OTHER_WORD: u32 = 4;
const NO_PARTNER: u32 = 3;

#[derive(Clone, Copy)]
enum Step {
    Pair,
    /// `#` takes one word of the key more.
    Swallow,
    PatternOnly,
    KeyOnly,
}

impl<'a> Alignment<'a> {
    /// Lays `pattern` beside `key`. Takes time proportional to the product of their numbers of words.
    pub fn new(pattern: &'a [u8], key: &'a [u8]) -> Self {
        let pattern: Vec<_> = Words::new(pattern).collect();
        let key: Vec<_> = Words::new(key).collect();
        // best[p][k]: the cheapest way to lay pattern[p..] beside key[k..], and its first step.
        let mut best = vec![vec![(0u32, Step::Pair); key.len() + 1]; pattern.len() + 1];
        let at = |best: &[Vec<(u32, Step)>], p: usize, k: usize| {
            best.get(p).and_then(|row| row.get(k)).map_or(u32::MAX, |(cost, _)| *cost)
        };
        for p in (0..=pattern.len()).rev() {
            for k in (0..=key.len()).rev() {
                let (wanted, word) = (pattern.get(p).copied(), key.get(k).copied());
                let is_hash = wanted == Some(b"#");
                let mut ways = [(u32::MAX, Step::Pair); 3];
                if let (Some(wanted), Some(word)) = (wanted, word) {
                    ways[0] = if is_hash {
                        (at(&best, p, k + 1), Step::Swallow)
                    } else {
                        (at(&best, p + 1, k + 1).saturating_add(cost(wanted, word)), Step::Pair)
                    };
                }
                if wanted.is_some() {
                    let missing = if is_hash { 0 } else { NO_PARTNER };
                    ways[1] = (at(&best, p + 1, k).saturating_add(missing), Step::PatternOnly);
                }
                if word.is_some() {
                    ways[2] = (at(&best, p, k + 1).saturating_add(NO_PARTNER), Step::KeyOnly);
                }
                let cheapest = ways.into_iter().min_by_key(|(cost, _)| *cost).filter(|(cost, _)| *cost < u32::MAX);
                if let (Some(cell), Some(cheapest)) = (best.get_mut(p).and_then(|row| row.get_mut(k)), cheapest) {
                    *cell = cheapest;
                }
            }
        }
        Self { pairs: walk(&pattern, &key, &best), cost: at(&best, 0, 0) }
    }

    /// Pattern and key side by side.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = &Pair<'a>> {
        self.pairs.iter()
    }

    /// Whether the key matches the pattern.
    pub fn fits(&self) -> bool {
        self.cost == 0
    }

    /// How far they are apart; 0 when they fit. Means nothing but "nearer than" between two alignments.
    pub fn cost(&self) -> u32 {
        self.cost
    }
}

fn cost(wanted: &[u8], word: &[u8]) -> u32 {
    if wanted == b"*" || wanted == word {
        0
    } else if wanted.eq_ignore_ascii_case(word) {
        OTHER_CASE
    } else if is_slip(wanted, word) {
        SLIP_OF_THE_PEN
    } else {
        OTHER_WORD
    }
}

/// Whether one letter or two make the difference, and most of the word is the same.
fn is_slip(wanted: &[u8], word: &[u8]) -> bool {
    let longest = wanted.len().max(word.len());
    match (std::str::from_utf8(wanted), std::str::from_utf8(word)) {
        (Ok(wanted), Ok(word)) if wanted.len().abs_diff(word.len()) <= 2 => {
            strsim::levenshtein(wanted, word) <= 2.min(longest / 3)
        }
        _ => false,
    }
}

fn walk<'a>(pattern: &[&'a [u8]], key: &[&'a [u8]], best: &[Vec<(u32, Step)>]) -> Vec<Pair<'a>> {
    let (mut p, mut k) = (0, 0);
    let mut pairs = Vec::new();
    let mut swallowed = Vec::new();
    while p < pattern.len() || k < key.len() {
        let Some((_, step)) = best.get(p).and_then(|row| row.get(k)) else { break };
        let word = key.get(k).copied();
        match step {
            Step::Swallow => {
                swallowed.extend(word);
                k += 1;
            }
            Step::Pair => {
                pairs.push(Pair { pattern: pattern.get(p).copied(), key: word.into_iter().collect() });
                (p, k) = (p + 1, k + 1);
            }
            Step::PatternOnly => {
                pairs.push(Pair { pattern: pattern.get(p).copied(), key: std::mem::take(&mut swallowed) });
                p += 1;
            }
            Step::KeyOnly => {
                pairs.push(Pair { pattern: None, key: word.into_iter().collect() });
                k += 1;
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::matches;
    use proptest::prelude::*;

    fn shown(pattern: &str, key: &str) -> String {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Alignment::new(pattern.as_bytes(), key.as_bytes())
            .pairs()
            .map(|pair| {
                let words: Vec<_> = pair.key.iter().map(|word| text(word)).collect();
                let mark = if pair.fits() { "=" } else { "!" };
                format!("{}{mark}{}", pair.pattern.map_or("-".to_owned(), text), words.join("+"))
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn words_stand_beside_what_covers_them() {
        assert_eq!(shown("a.*.#.z", "a.b.c.d.z"), "a=a *=b #=c+d z=z");
        assert_eq!(shown("#", ""), "#=");
        assert_eq!(shown("*", ""), "*!");
        assert_eq!(shown("orders.*.eu", "orders.new.us"), "orders=orders *=new eu!us");
        assert_eq!(shown("orders.*", "orders"), "orders=orders *!");
        assert_eq!(shown("orders", "orders.new"), "orders=orders -!new");
        assert_eq!(shown("a.*", "A.b"), "a!A *=b");
        assert_eq!(shown("#.b.#", "a.b.c"), "#=a b=b #=c");
        assert_eq!(shown("a*.b", "ax.b"), "a*!ax b=b");
    }

    fn dotted(words: &'static [&'static str], length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(words), 0..length).prop_map(|words| words.join("."))
    }

    proptest! {
        #[test]
        fn it_fits_exactly_when_the_pattern_matches_and_loses_no_word(
            pattern in dotted(&["a", "b", "", "*", "#", "##"], 6),
            key in dotted(&["a", "b", "A", "", "#"], 7),
        ) {
            let alignment = Alignment::new(pattern.as_bytes(), key.as_bytes());
            prop_assert_eq!(alignment.fits(), matches(&pattern, &key));
            prop_assert_eq!(alignment.fits(), alignment.pairs().all(Pair::fits));
            let words: Vec<_> = alignment.pairs().flat_map(|pair| pair.key.clone()).collect();
            prop_assert_eq!(words, Words::new(key.as_bytes()).collect::<Vec<_>>());
            let wanted: Vec<_> = alignment.pairs().filter_map(|pair| pair.pattern).collect();
            prop_assert_eq!(wanted, Words::new(pattern.as_bytes()).collect::<Vec<_>>());
        }
    }
}
