"""Nanoseconds per call, against the same work in pure Python.

    python calls.py [SECONDS]       how long each measurement runs; 0.2 unless said

Each figure is the best of five runs, in time of this thread, so that a busy machine disturbs it little. The pure matcher splits
and walks words; the compiled regular expression is what a careful Python program would use for one pattern.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from math import floor

from acemq_core import RetryPolicy, TopicMatcher, TopicPattern, topic_matches

PATTERN, KEY = "stock.*.nyse.#", "stock.us.nyse.ibm.trades"
BUDGET = float(sys.argv[1]) if len(sys.argv) > 1 else 0.2


def nanoseconds(work: Callable[[], object], calls: int = 1) -> float:
    """The time of one of the ``calls`` that ``work`` does."""
    rounds = 1
    while True:
        start = time.thread_time()
        for _ in range(rounds):
            work()
        if time.thread_time() - start > BUDGET / 10:
            break
        rounds *= 2
    best = float("inf")
    for _ in range(5):
        start = time.thread_time_ns()
        for _ in range(rounds):
            work()
        best = min(best, (time.thread_time_ns() - start) / rounds / calls)
    return best


def plain_match(words: list[str], key: str) -> bool:
    keys = key.split(".")

    def match(p: int, k: int) -> bool:
        while p < len(words):
            word = words[p]
            if word == "#":
                return any(match(p + 1, at) for at in range(k, len(keys) + 1))
            if k == len(keys) or word not in ("*", keys[k]):
                return False
            p, k = p + 1, k + 1
        return k == len(keys)

    return match(0, 0)


def plain_decide(
    schedule: list[timedelta], age: timedelta | None, limit: timedelta, attempt: int, u: float, factor: float
) -> tuple[bool, timedelta, bool]:
    if attempt > len(schedule):
        return False, timedelta(0), False
    if age is not None and age >= limit:
        return False, timedelta(0), False
    wait = schedule[attempt - 1]
    if wait >= timedelta(seconds=30):
        return True, wait, True
    jittered = floor(wait / timedelta(milliseconds=1) * (1 + (2 * u - 1) * factor))
    return True, timedelta(milliseconds=max(1, jittered)), False


ROWS: list[tuple[str, float, float]] = []


def row(what: str, native: float, pure: float) -> None:
    ROWS.append((what, native, pure))
    print(f"{what:<44} {native:>12.0f} {pure:>14.0f} {pure / native:>9.1f}")


def main() -> None:
    print(f"{'ns per call':<44} {'acemq_core':>12} {'pure Python':>14} {'ratio':>9}")
    words = PATTERN.split(".")
    regex = re.compile(r"stock\.[^.]*\.nyse(\..*)?\Z").match
    pure, compiled = nanoseconds(lambda: plain_match(words, KEY)), nanoseconds(lambda: regex(KEY))
    pattern = TopicPattern(PATTERN)
    assert pattern.matches(KEY) and plain_match(words, KEY) and regex(KEY)
    row("topic_matches(pattern, key)", nanoseconds(lambda: topic_matches(PATTERN, KEY)), pure)
    row("TopicPattern.matches(key)", nanoseconds(lambda: pattern.matches(KEY)), pure)
    row("  against a compiled regular expression", nanoseconds(lambda: pattern.matches(KEY)), compiled)

    keys = [f"stock.us.nyse.ibm{i}.trades" for i in range(1_000)]
    batch = nanoseconds(lambda: pattern.matches_all(keys), len(keys))
    row("TopicPattern.matches_all(1,000 keys)", batch, nanoseconds(lambda: [regex(key) for key in keys], len(keys)))

    policy = RetryPolicy.exponential(6, timedelta(seconds=10), timedelta(minutes=5), give_up_after=timedelta(hours=2))
    schedule, age, limit = list(policy.schedule), timedelta(minutes=1), timedelta(hours=2)
    for attempt, where in ((1, "in the consumer"), (3, "in the broker")):
        row(
            f"RetryPolicy.decide, a wait {where}",
            nanoseconds(lambda: policy.decide(attempt, age, 0.3).wait),
            nanoseconds(lambda: plain_decide(schedule, age, limit, attempt, 0.3, 0.2)),
        )
    row(
        "  as milliseconds, without an age",
        nanoseconds(lambda: policy.decide(3, None, 0.3).wait_ms),
        nanoseconds(lambda: plain_decide(schedule, None, limit, 3, 0.3, 0.2)),
    )

    matcher = TopicMatcher[str]()
    bindings = [(f"orders.{i % 100}.{'*' if i % 3 else '#'}.item{i}", f"queue {i}") for i in range(10_000)]
    for binding in bindings:
        matcher.insert(*binding)
    scanned = [(p.split("."), value) for p, value in bindings]
    key = "orders.7.eu.item7"
    assert matcher.matches(key) == [value for p, value in scanned if plain_match(p, key)] == ["queue 7"]
    scan = nanoseconds(lambda: [value for p, value in scanned if plain_match(p, key)])
    row("TopicMatcher of 10,000 bindings, one key", nanoseconds(lambda: matcher.matches(key)), scan)
    keys = [f"orders.{i % 100}.eu.item{i}" for i in range(1_000)]
    row("  1,000 keys in a batch, each", nanoseconds(lambda: matcher.matches_all(keys), len(keys)), scan)


if __name__ == "__main__":
    main()
