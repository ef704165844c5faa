"""A million calls and a hundred thousand lives leave the memory as it was."""

import gc
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

import acemq_core as acemq
from acemq_core import EmbeddedBroker, Error, Ladder, PlanSession, RetryPolicy, Router, TopicMatcher, TopicPattern, Topology

#: What an allocator may keep without anything having leaked, in KiB.
SLACK = 2_048


def resident() -> int:
    """The resident set in KiB."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError("no VmRSS")


def assert_steady(work: Callable[[], object], times: int) -> None:
    for _ in range(max(times // 10, 10)):
        work()
    gc.collect()
    before = resident()
    for _ in range(times):
        work()
    gc.collect()
    grown = resident() - before
    assert grown < SLACK, f"{grown} KiB more after {times} times"


POLICY = RetryPolicy.exponential(6, timedelta(seconds=10))
LADDER, PATTERN, AGE = Ladder("orders", POLICY), TopicPattern("stock.*.nyse.#"), timedelta(minutes=1)
TOPOLOGY = Topology.builder().queue_with_dead_letter("orders").retries("orders", POLICY).build()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
class TestMemory:
    def test_a_million_hot_calls(self) -> None:
        matcher = TopicMatcher[str]()
        matcher.insert("stock.#", "q")
        assert_steady(lambda: PATTERN.matches("stock.us.nyse.ibm"), 250_000)
        assert_steady(lambda: acemq.topic_matches("stock.#", "stock.us"), 150_000)
        assert_steady(lambda: matcher.matches("stock.us.nyse"), 150_000)
        assert_steady(lambda: LADDER.rung_of(POLICY.decide(3, AGE, 0.3)), 200_000)
        assert_steady(lambda: POLICY.decide(1, AGE, 0.3).wait, 150_000)
        assert_steady(lambda: acemq.dead_letter_queue("orders"), 100_000)

    def test_a_hundred_thousand_lives(self) -> None:
        def failing() -> None:
            try:
                RetryPolicy("fixed(0, 1s)")
            except Error:
                pass

        def matcher() -> None:
            made = TopicMatcher[object]()
            made.insert("a.#", made)

        assert_steady(lambda: RetryPolicy("exponential(6, 10s, 5m)"), 25_000)
        assert_steady(lambda: Ladder("orders", POLICY), 10_000)
        assert_steady(lambda: TopicPattern("a.*.#"), 25_000)
        assert_steady(matcher, 25_000)
        assert_steady(failing, 15_000)

    def test_handles_of_documents(self) -> None:
        assert_steady(lambda: TOPOLOGY.tables(), 300)
        assert_steady(lambda: PlanSession(TOPOLOGY).plan().document, 300)
        assert_steady(lambda: Router(TOPOLOGY).explain("", "orders"), 300)
        assert_steady(lambda: EmbeddedBroker(topology=TOPOLOGY).connect().publish("", "orders", b"x" * 1000), 300)
