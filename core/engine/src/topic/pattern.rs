//! One pattern against one key.

use super::Words;
use std::fmt;

/// Whether `key` fits `pattern`, as the [module](super) describes. Allocates nothing and takes time proportional to the
/// product of the two lengths at worst, however many `#` there are.
pub fn matches(pattern: impl AsRef<[u8]>, key: impl AsRef<[u8]>) -> bool {
    matches_words(Words::new(pattern.as_ref()), Words::new(key.as_ref()))
}

fn matches_words(mut pattern: Words<'_>, mut key: Words<'_>) -> bool {
    // Behind the last `#`, and the key at the point up to which that `#` has swallowed words. An earlier `#` never needs
    // another try: whatever it could take, the last one can take too.
    let mut last_hash: Option<(Words<'_>, Words<'_>)> = None;
    loop {
        match pattern.next() {
            Some(b"#") => {
                if pattern.is_done() {
                    return true;
                }
                last_hash = Some((pattern, key));
                continue;
            }
            Some(wanted) => match key.next() {
                Some(word) if wanted == b"*" || wanted == word => continue,
                Some(_) => {}
                None => return false,
            },
            None if key.is_done() => return true,
            None => {}
        }
        let Some((behind_hash, swallowed)) = &mut last_hash else { return false };
        if swallowed.next().is_none() {
            return false;
        }
        (pattern, key) = (*behind_hash, *swallowed);
    }
}

/// A binding key of a topic exchange, ready to be matched many times.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPattern {
    text: Box<[u8]>,
    /// Words that are `*` or `#`; without any, matching is equality.
    wildcards: u32,
    hashes: u32,
}

impl TopicPattern {
    /// A pattern from its bytes; every byte string is one.
    pub fn new(pattern: impl AsRef<[u8]>) -> Self {
        let text: Box<[u8]> = pattern.as_ref().into();
        let (mut wildcards, mut hashes) = (0u32, 0u32);
        for word in Words::new(&text) {
            let is_hash = word == b"#";
            hashes = hashes.saturating_add(is_hash.into());
            wildcards = wildcards.saturating_add((is_hash || word == b"*").into());
        }
        Self { text, wildcards, hashes }
    }

    /// Whether `key` fits.
    pub fn matches(&self, key: impl AsRef<[u8]>) -> bool {
        let key = key.as_ref();
        if self.wildcards == 0 { *self.text == *key } else { matches(&self.text, key) }
    }

    /// The pattern's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// How many of its words are `#`. RabbitMQ 4.3.5 and later refuse a binding with more than two.
    pub fn hash_words(&self) -> u32 {
        self.hashes
    }

    /// Whether it has no wildcard, so that only a key equal to it fits.
    pub fn is_literal(&self) -> bool {
        self.wildcards == 0
    }
}

impl fmt::Display for TopicPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The routing keys that RabbitMQ 3.10.8, 4.0.5 and 4.3.6 were asked about.
    const KEYS: [&str; 17] =
        ["", ".", "..", "a", "a.", ".a", "a..b", "a.b", "a.b.c", "A.b", "#", "*", "##", "a.#", "a.*", "b", "*.a"];

    /// What those brokers answered: a binding key, and the keys among `KEYS` that it let through.
    const ANSWERS: [(&str, &[&str]); 23] = [
        ("", &[""]),
        ("#", &KEYS),
        ("#.#", &KEYS),
        ("*", &["a", "b", "#", "*", "##"]),
        ("*.*", &[".", "a.", ".a", "a.b", "A.b", "a.#", "a.*", "*.a"]),
        ("#.*", &[".", "..", "a", "a.", ".a", "a..b", "a.b", "a.b.c", "A.b", "#", "*", "##", "a.#", "a.*", "b", "*.a"]),
        ("*.#", &[".", "..", "a", "a.", ".a", "a..b", "a.b", "a.b.c", "A.b", "#", "*", "##", "a.#", "a.*", "b", "*.a"]),
        (".", &["."]),
        ("..", &[".."]),
        ("a.", &["a."]),
        (".a", &[".a"]),
        ("a..b", &["a..b"]),
        ("a.#", &["a", "a.", "a..b", "a.b", "a.b.c", "a.#", "a.*"]),
        ("a.*", &["a.", "a.b", "a.#", "a.*"]),
        ("#.a", &["a", ".a", "*.a"]),
        (".#", &[".", "..", ".a"]),
        ("#.", &[".", "..", "a."]),
        ("a.#.b", &["a..b", "a.b"]),
        ("a.*.b", &["a..b"]),
        ("##", &["##"]),
        ("**", &[]),
        ("*#", &[]),
        ("a.b", &["a.b"]),
    ];

    #[test]
    fn every_answer_of_the_brokers_is_reproduced() {
        for (pattern, through) in ANSWERS {
            for key in KEYS {
                assert_eq!(matches(pattern, key), through.contains(&key), "{pattern:?} on {key:?}");
                assert_eq!(TopicPattern::new(pattern).matches(key), through.contains(&key), "{pattern:?} on {key:?}");
            }
        }
    }

    #[test]
    fn what_bug_reports_got_wrong_is_right() {
        for (pattern, key, expected) in [
            ("a.#.b", "a.b", true),
            ("a.#.b", "a.x.b", true),
            ("a.#.b", "a..b", true),
            ("a.#.b", "ab", false),
            ("audit.events.#", "audit.events", true),
            ("a.*.c.#", "a.b.c", true),
            ("a.*.c", "a.b.x.c", false),
            ("#", "", true),
            ("*", "", false),
            ("a.*.b", "a..b", true),
            ("*.*", ".", true),
            ("", "a", false),
            ("a.*b", "a.xb", false),
            ("a.*b", "a.*b", true),
            ("a*", "ab", false),
            ("é.*", "é.ü", true),
            ("*.orders", "Orders.orders", true),
            ("orders", "Orders", false),
        ] {
            assert_eq!(matches(pattern, key), expected, "{pattern:?} on {key:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_match_like_any_others() {
        assert!(matches(b"\xff.*", b"\xff.\x00"));
        assert!(!matches(b"\xff", b"\xfe"));
    }

    #[test]
    fn many_hashes_against_a_long_key_end_at_once() {
        let pattern = ["#", "a"].repeat(60).join(".") + ".z";
        let key = ["a"; 20_000].join(".");
        assert!(!matches(pattern, key));
    }

    #[test]
    fn wildcards_are_counted_by_whole_words() {
        let pattern = TopicPattern::new("#.a#.##.*.#");
        assert_eq!((pattern.hash_words(), pattern.is_literal()), (2, false));
        assert!(TopicPattern::new("a*.##.").is_literal());
        assert!(TopicPattern::new("").is_literal());
    }

    /// The rules of the module description, word list against word list, by plain recursion.
    fn oracle(pattern: &[&str], key: &[&str]) -> bool {
        match (pattern.split_first(), key.split_first()) {
            (None, None) => true,
            (None, Some(_)) => false,
            (Some((&"#", pattern_rest)), None) => oracle(pattern_rest, key),
            (Some((&"#", pattern_rest)), Some((_, key_rest))) => oracle(pattern_rest, key) || oracle(pattern, key_rest),
            (Some(_), None) => false,
            (Some((wanted, pattern_rest)), Some((word, key_rest))) => {
                (*wanted == "*" || wanted == word) && oracle(pattern_rest, key_rest)
            }
        }
    }

    fn words(text: &str) -> Vec<&str> {
        if text.is_empty() { Vec::new() } else { text.split('.').collect() }
    }

    fn dotted(words: &'static [&'static str], length: usize) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(words), 0..length).prop_map(|words| words.join("."))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn agrees_with_plain_recursion(
            pattern in dotted(&["a", "b", "", "*", "#", "#", "##", "a*", "é"], 7),
            key in dotted(&["a", "b", "", "*", "#", "é", "##"], 9),
        ) {
            let expected = oracle(&words(&pattern), &words(&key));
            prop_assert_eq!(matches(&pattern, &key), expected);
            prop_assert_eq!(TopicPattern::new(&pattern).matches(&key), expected);
        }
    }
}
