//! The verdicts are Erlang's own: each pair was given to `re:run(Name, Pattern)` of OTP 25.

use super::*;
use proptest::prelude::*;

#[test]
fn patterns_match_as_the_brokers_do() {
    for (pattern, name, expected) in [
        (r"", "x", Match::Yes),
        (r"^orders\.", "orders.new", Match::Yes),
        (r"^orders\.", "my.orders.", Match::No),
        (r"audit.*", "preauditX", Match::Yes),
        (r"^a.c$", "abc", Match::Yes),
        (r"x|^$", "", Match::Yes),
        (r"^(?!amq\.|quorum\.).*", "amq.gen-x", Match::No),
        (r"^(?!amq\.|quorum\.).*", "orders", Match::Yes),
        (r"(?i)^ORDERS", "orders.new", Match::Yes),
        (r"(?i:[^a])", "A", Match::No),
        (r"(?i:a)[^a]", "AA", Match::Yes),
        (r"(?i)b(?-i:[^a])|[^c]", "C", Match::No),
        (r"(?<=a)b$", "ab", Match::Yes),
        (r"^(a)(b)\2\1$", "abba", Match::Yes),
        (r"\bnew\b", "orders.new", Match::Yes),
        (r"^a++a", "aaa", Match::No),
        (r"^a{2}$", "aa", Match::Yes),
        (r"^a(?#not b)b$", "ab", Match::Yes),
    ] {
        assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} on {name}");
    }
}

#[test]
fn names_are_bytes_and_not_characters() {
    for (pattern, name, expected) in [
        (r"^a.c$", "aéc", Match::No),
        (r"^a..c$", "aéc", Match::Yes),
        (r"^é+$", "éé", Match::No),
        (r"^(é)+$", "éé", Match::Yes),
        (r"^\w+$", "été", Match::No),
        (r"^[^é]$", "x", Match::Yes),
        (r"[^\x00-\xFF]", "a", Match::No),
    ] {
        assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} on {name}");
    }
}

#[test]
fn what_other_engines_read_differently_is_read_as_pcre_does() {
    for (pattern, name, expected) in [
        (r"\h", "a b", Match::Yes),
        (r"\h", "abc", Match::No),
        (r"[a&&b]", "&", Match::Yes),
        (r"[[a]", "[", Match::Yes),
        (r"\<a", "<a", Match::Yes),
        (r"\<a", "a", Match::No),
        (r"a{,2}", "a{,2}", Match::Yes),
        (r"a{,2}", "a", Match::No),
        (r"^\x61\Q.*\E$", "a.*", Match::Yes),
        (r"^[]x]+$", "]x", Match::Yes),
        (r"^[\w-]+$", "a-b_c", Match::Yes),
        (r"^\N+$", "abc", Match::Yes),
    ] {
        assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} on {name}");
    }
}

#[test]
fn what_has_no_equivalent_is_undecidable() {
    for pattern in
        ["(*UTF8)é", "(?x)a b", "(?R)", r"\p{L}", "(", "a)", "[a", "*", r"(?|a|b)", r"\", "(?<=a)*", r"\12", "(?&n)"]
    {
        let compiled = NamePattern::new(pattern);
        assert_eq!(compiled.matches("a"), Match::Undecidable, "{pattern}");
        assert!(compiled.undecidable().is_some(), "{pattern}");
    }
    // Only the broker's own tables know the case of what is outside ASCII, or whether it is part of a word.
    for pattern in ["(?i)É", r"\bé", "[[:alpha:]]"] {
        assert_eq!(NamePattern::new(pattern).matches("é"), Match::Undecidable, "{pattern}");
        assert_eq!(NamePattern::new(pattern).undecidable(), None, "{pattern}");
    }
    assert_eq!(NamePattern::new("a$").matches("a\n"), Match::Undecidable);
}

#[test]
fn a_pattern_for_one_name_is_anchored_and_escaped() {
    assert_eq!(exact_pattern("orders.new"), r"^orders\.new$");
    assert_eq!(exact_pattern("a+b (c) [d] {e} ^$|?*\\"), r"^a\+b \(c\) \[d\] \{e\} \^\$\|\?\*\\$");
    assert_eq!(exact_pattern("é\u{1}"), r"^é\x01$");
}

proptest! {
    #[test]
    fn any_pattern_is_read_or_undecidable(pattern in any::<String>(), name in any::<String>()) {
        let _ = NamePattern::new(&pattern).matches(&name);
    }

    #[test]
    fn any_mix_of_syntax_is_read_or_undecidable(pattern in r"[\\\[\](){}^$.|?*+a-cxQE0-9,:<>=!&-]{0,24}", name in "[a-c.-]{0,6}") {
        let _ = NamePattern::new(&pattern).matches(&name);
    }

    #[test]
    fn the_pattern_for_one_name_matches_that_name_alone(name in r"[^\r\n]{0,20}", other in r"[^\r\n]{0,20}") {
        let pattern = NamePattern::new(&exact_pattern(&name));
        prop_assert_eq!(pattern.matches(&name), Match::Yes);
        prop_assert_eq!(pattern.matches(&other), if other == name { Match::Yes } else { Match::No });
    }
}
