"""Topic patterns: the contract's section 6 as a walk over words, which all four broker generations agree with."""

import itertools
import random

HOW = (
    "computed by conformance/derive/topics.py from section 6 of the contract by counting prefixes of words; the rule was measured "
    "on RabbitMQ 3.8, 3.10, 4.0 and 4.3 with 2,000 keys and 85 patterns"
)


def words(text):
    return tuple(text.split(".")) if text else ()


def matches(pattern, key):
    """Which prefixes of the key the pattern can cover, word of the pattern by word."""
    found = words(key)
    reached = {0}
    for word in words(pattern):
        if word == "#":
            reached = {end for start in reached for end in range(start, len(found) + 1)}
        elif word == "*":
            reached = {start + 1 for start in reached if start < len(found)}
        else:
            reached = {start + 1 for start in reached if start < len(found) and found[start] == word}
    return len(found) in reached


TABLE = [
    # Pattern, key, note: what the libraries' own tables hold, and what they get wrong.
    ("orders.created", "orders.created", ""),
    ("orders.created", "orders.updated", ""),
    ("orders.*", "orders.created", ""),
    ("orders.*", "orders.created.eu", ""),
    ("orders.#", "orders.created", ""),
    ("orders.#", "orders.created.eu", ""),
    ("orders.#", "orders", "# is zero words too (D33)"),
    ("#", "", "# matches the empty key"),
    ("#", "orders.created.eu", ""),
    ("#.eu", "orders.created.eu", ""),
    ("#.eu", "eu", "# is zero words too (D33)"),
    ("*.#", "orders", ""),
    ("*.#", "orders.created.eu", ""),
    ("#.*", "orders", ""),
    ("orders.#.eu", "orders.eu", "# is zero words in the middle (D33)"),
    ("orders.#.eu", "orders.created.eu", ""),
    ("orders.#.eu", "orders.created.paid.eu", ""),
    ("orders.#.eu", "orders.created.us", ""),
    ("*", "orders", ""),
    ("*", "orders.created", ""),
    ("*", "", "the empty key has no word (D32)"),
    ("*.#", "", "the empty key has no word (D32)"),
    ("#.*", "", "the empty key has no word (D32)"),
    ("#.*.#", "", "the empty key has no word (D32)"),
    ("#.", "", "a pattern that ends in a point has an empty last word (D32)"),
    (".#", "", "a pattern that begins with a point has an empty first word (D32)"),
    ("", "", "no words are no words"),
    ("", "orders", ""),
    ("orders", "", ""),
    ("orders.*.eu", "orders.created.eu", ""),
    ("orders.*.eu", "orders.eu", ""),
    ("a.*.b", "a..b", "* is an empty word as well (D33)"),
    ("a..b", "a..b", "an empty word in the middle"),
    ("a.*", "a.", "a trailing point is an empty word (D33)"),
    ("*.", "a.", ""),
    ("*.", ".", ""),
    (".", ".", ""),
    ("*.*", ".", "two empty words"),
    ("*", ".", ""),
    ("a.", "a", "a trailing point counts (D33)"),
    ("##", "##", "## is a word like any other"),
    ("##", "a", "## is a word like any other"),
    ("#.#", "", ""),
    ("#.#", "a", ""),
    ("a*", "ab", "a wildcard is a whole word"),
    ("a*", "a*", "a wildcard is a whole word"),
    ("a.#b", "a.#b", "a wildcard is a whole word"),
    ("a.#b", "a.b", "a wildcard is a whole word"),
    ("**", "a", "a wildcard is a whole word"),
    ("a.b", "a.B", "case counts"),
    ("*", "é", "any UTF-8 is a word"),
    ("é", "é", "a composed letter and a letter with a mark are different bytes"),
    ("a.*", "a.*", "in keys the characters are plain"),
    ("a.b", "a.*", "in keys the characters are plain"),
    ("a.#", "a.#", "in keys the characters are plain"),
    ("#.b.#.b.#", "a.b.c.b.d", ""),
    ("#.b.#.b.#", "a.b.c", ""),
    ("*.*.#", "a", ""),
    ("#.a.#", "b.c.a", ""),
]


def pairs():
    for pattern, key, note in TABLE:
        answer = matches(pattern, key)
        yield {
            "description": f"{pattern!r} {'matches' if answer else 'does not match'} {key!r}{f': {note}' if note else ''}",
            "input": {"pattern": pattern, "key": key},
            "expect": {"matches": answer},
        }


def batches():
    small = ["", *(".".join(found) for length in (1, 2, 3) for found in itertools.product(("a", "b", ""), repeat=length))]
    patterns = ["", *(".".join(found) for length in (1, 2, 3) for found in itertools.product(("a", "*", "#"), repeat=length))]
    source = random.Random(20_260_101)
    vocabulary = ["a", "b", "", "*", "#", "é", "##", "a*", "eu", "orders"]

    def drawn(count, most):
        return list(dict.fromkeys(".".join(source.choice(vocabulary) for _ in range(source.randint(0, most))) for _ in range(count)))

    yield batch("all patterns of up to three of a, * and # against all keys of up to three of a, b and the empty word (D32, D33)", patterns, small)
    for number in range(1, 9):
        yield batch(f"drawn patterns and keys, number {number}", drawn(60, 5), drawn(60, 6))
    long = "x" * 251
    yield batch("words of 251 bytes and keys of 255", [f"{long}.#", f"*.{long}", "#." + "a." * 120 + "a"], [long, f"{long}.a", f"a.{long}", "a." * 120 + "a", "a" * 255])


def batch(note, patterns, keys):
    answer = [[index for index, pattern in enumerate(patterns) if matches(pattern, key)] for key in keys]
    return {"description": note, "input": {"patterns": patterns, "keys": keys}, "expect": {"matches": answer}}


SUITES = [
    ("topics-pairs", "topic.match", HOW, pairs),
    ("topics-batches", "topic.match_all", HOW, batches),
]
