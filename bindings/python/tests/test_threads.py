"""Handles are shared by threads; long work lets other threads run."""

import json
import os
import sys
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest

from acemq_core import EmbeddedBroker, Error, Ladder, RetryPolicy, Router, TopicMatcher, TopicPattern, Topology
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
    queues = {f"q{number}": {"dead_letter": True} for number in range(2_000)}
    text = json.dumps({"topology": {"document": {"acemq": 1, "queues": queues}}})
    pattern, keys = TopicPattern("a.#"), ["a." + "b." * 20] * 50_000
    done, turns = threading.Event(), 0

    def turn() -> None:
        nonlocal turns
        while not done.wait(0.0001):
            turns += 1

    turning = threading.Thread(target=turn)
    turning.start()
    # From here on no thread gives the interpreter up before it blocks, so the other one turns only where a call lets it.
    before = sys.getswitchinterval()
    sys.setswitchinterval(1_000)
    try:
        for work in (lambda: _acemq.call("topology.show", text), lambda: pattern.matches_all(keys)):
            # A busy machine may not have a turn for the other thread at once.
            for _ in range(100):
                start = turns
                work()
                if turns > start:
                    break
            assert turns > start
    finally:
        sys.setswitchinterval(before)
        done.set()
        turning.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_handles_survive_a_fork() -> None:
    policy, matcher = RetryPolicy.exponential(6, timedelta(seconds=10)), TopicMatcher[str]()
    matcher.insert("a.#", "q")
    broker = EmbeddedBroker(topology=Topology.builder().queue("q").build())
    child = os.fork()
    if child == 0:
        good = policy.decide(3).in_broker and matcher.matches("a.b") == ["q"]
        good = good and broker.connect().publish("", "q").queues == ("q",)
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
    contents = broker.contents("q")
    assert contents is not None and contents.ready == ()
