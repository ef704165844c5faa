"""Topic patterns and the compiled matcher, against each other, the table, and a matcher written from the contract."""

import copy
import pickle
import random

import pytest

import acemq_core as acemq
from acemq_core import TopicMatcher, TopicPattern

ALPHABET = ["a", "b", "eu", "", "*", "#", "a*", "##", "é"]


def plain_match(pattern: str, key: str) -> bool:
    """Word by word, from the contract, sharing nothing with the engine."""
    words = pattern.split(".") if pattern else []
    keys = key.split(".") if key else []

    def match(p: int, k: int) -> bool:
        if p == len(words):
            return k == len(keys)
        if words[p] == "#":
            return any(match(p + 1, at) for at in range(k, len(keys) + 1))
        return k < len(keys) and words[p] in ("*", keys[k]) and match(p + 1, k + 1)

    return match(0, 0)


def words(rng: random.Random) -> str:
    return ".".join(rng.choice(ALPHABET) for _ in range(rng.randrange(6)))


def test_every_way_to_match_agrees_with_the_contract() -> None:
    rng = random.Random(4)
    patterns = sorted({words(rng) for _ in range(150)})
    keys = [words(rng) for _ in range(150)]
    matcher = TopicMatcher[int]()
    for index, pattern in enumerate(patterns):
        assert matcher.insert(pattern, index)
    expected = [[i for i, pattern in enumerate(patterns) if plain_match(pattern, key)] for key in keys]
    assert matcher.matches_all(keys) == expected
    assert [matcher.matches(key) for key in keys] == expected
    assert acemq.call("topic.match_all", {"patterns": patterns, "keys": keys})["matches"] == expected
    for index, pattern in enumerate(patterns):
        compiled = TopicPattern(pattern)
        column = [index in found for found in expected]
        assert [acemq.topic_matches(pattern, key) for key in keys] == column
        assert [compiled.matches(key) for key in keys] == column
        assert compiled.matches_all(keys) == column


def test_text_and_bytes_are_one_key() -> None:
    assert acemq.topic_matches("é.*", "é.b".encode())
    assert acemq.topic_matches(b"\xff.#", b"\xff")
    assert TopicPattern(b"\xff.#").matches_all([b"\xff.a", "a"]) == [True, False]
    assert repr(TopicPattern("a.*")) == "TopicPattern('a.*')"
    assert bytes(TopicPattern("é")) == "é".encode()
    assert TopicPattern("a.*") == TopicPattern(b"a.*") and hash(TopicPattern("a")) == hash(TopicPattern(b"a"))
    assert pickle.loads(pickle.dumps(TopicPattern("a.*"))) == copy.deepcopy(TopicPattern("a.*")) == TopicPattern("a.*")
    assert (TopicPattern("a.b").is_literal, TopicPattern("a.#").is_literal) == (True, False)


def test_bindings_come_and_go() -> None:
    matcher = TopicMatcher[str]()
    assert matcher.insert("orders.*", "new") and matcher.insert("orders.#", "all") and matcher.insert("#", "all")
    assert not matcher.insert("#", "all")
    assert len(matcher) == 3
    # A value that is reached twice comes once.
    assert matcher.matches("orders.eu") == ["new", "all"]
    assert matcher.remove("orders.#", "all") and not matcher.remove("orders.#", "all")
    assert not matcher.remove("orders.*", "nobody")
    assert matcher.matches("orders.eu") == ["new", "all"]
    assert matcher.remove("#", "all") and matcher.matches("orders.eu") == ["new"]
    # Bound again, a value stands behind the others.
    assert matcher.insert("#", "all") and matcher.insert("#", "late")
    assert matcher.matches("orders.eu") == ["new", "all", "late"]
    assert repr(matcher) == "<TopicMatcher of 3 bindings>"


def test_any_hashable_value_can_be_bound() -> None:
    matcher = TopicMatcher[object]()
    matcher.insert("#", ("queue", 1))
    matcher.insert("#", None)
    assert matcher.matches("") == [("queue", 1), None]
    with pytest.raises(TypeError):
        matcher.insert("#", [])
