"""Handles are shared by threads; long work lets other threads run."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from acemq_core import EmbeddedBroker, Error, Ladder, RetryPolicy, Router, TopicMatcher, TopicPattern, Topology, call
from acemq_core._native import _acemq


def in_threads(work: Callable[[int], None], threads: int = 8) -> None:
    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    started = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(timeout=120)
        assert not thread.is_alive()
    assert not failures, failures


def test_handles_are_shared() -> None:
    policy = RetryPolicy.exponential(6, timedelta(seconds=10))
    ladder, pattern = Ladder("orders", policy), TopicPattern("a.#")
    router = Router(Topology.builder().queue("q").build())

    def work(number: int) -> None:
        for attempt in range(1, 400):
            decision = policy.decide(attempt % 7, u=0.1)
            assert (ladder.rung_of(decision) is not None) == decision.in_broker
            assert pattern.matches(f"a.{number}.{attempt}")
            assert router.route("", "q") == ["q"]
            try:
                RetryPolicy("fixed(0, 0)")
            except Error as error:
                assert error.code == "attempts_too_few"
            try:
                _acemq._panic(f"{number} {attempt}")
            except Error as error:
                assert f"{number} {attempt}" in error.message

    in_threads(work)


def test_a_matcher_changes_while_it_is_read() -> None:
    matcher = TopicMatcher[str]()
    matcher.insert("#", "always")
    keys = [f"a.b.{i}" for i in range(500)]

    def work(number: int) -> None:
        for turn in range(60):
            if number % 2:
                matcher.insert(f"a.*.{turn}", f"queue {number}")
                assert matcher.remove(f"a.*.{turn}", f"queue {number}")
            else:
                assert all("always" in found for found in matcher.matches_all(keys))
                assert "always" in matcher.matches("a.b.1")

    in_threads(work)
    assert matcher.matches_all(keys) == [["always"]] * len(keys) and len(matcher) == 1


def test_a_broker_is_shared() -> None:
    broker = EmbeddedBroker()
    with broker.connect() as connection:
        connection.declare_queue("q")

    def work(number: int) -> None:
        with broker.connect() as connection:
            for turn in range(50):
                connection.publish("", "q", f"{number} {turn}")

    in_threads(work)
    contents = broker.contents("q")
    assert contents is not None and len(contents.ready) == 400


def test_other_threads_run_during_long_work() -> None:
    document = {"acemq": 1, "queues": {f"q{i}": {"dead_letter": True} for i in range(4_000)}}
    done, longest = threading.Event(), 0.0

    def tick() -> None:
        nonlocal longest
        last = time.perf_counter()
        while not done.is_set():
            time.sleep(0)
            now = time.perf_counter()
            longest, last = max(longest, now - last), now

    # The text is written before the clock runs, so that only the engine's work is timed.
    import json

    text = json.dumps({"topology": {"document": document}})
    start = time.perf_counter()
    _acemq.call("topology.show", text)
    alone = time.perf_counter() - start
    ticking = threading.Thread(target=tick)
    ticking.start()
    for _ in range(3):
        _acemq.call("topology.show", text)
    done.set()
    ticking.join()
    # Had the interpreter been held, one step of the other thread would have lasted as long as the whole call.
    assert longest < alone, (longest, alone)
    assert call("topology.show", {"topology": {"document": {"acemq": 1}}})["text"].startswith("Topology: 0")
