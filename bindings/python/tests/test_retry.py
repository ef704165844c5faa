"""Retry policies, decisions and ladders."""

import copy
import pickle
from datetime import timedelta

import pytest

import acemq_core as acemq
from acemq_core import Error, Ladder, RetryPolicy

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)


def test_a_policy_is_made_from_arguments_text_or_mapping() -> None:
    made = RetryPolicy.exponential(6, 10 * SECOND, 5 * MINUTE, multiplier=1.5, jitter=0.1, give_up_after=2 * HOUR)
    assert made.text == "exponential(6, 10s, 5m).multiplier(1.5).jitter(0.1).give_up_after(2h)"
    mapping = {
        "exponential": {"attempts": 6, "first": "10s", "cap": "5m", "multiplier": 1.5},
        "jitter": 0.1,
        "give_up_after": "2h",
    }
    assert made == RetryPolicy(mapping) == RetryPolicy.parse(made.text)
    assert len({made, RetryPolicy(mapping)}) == 1
    assert made != RetryPolicy.none()
    assert (made.kind, made.max_attempts, made.first, made.cap) == ("exponential", 6, 10 * SECOND, 5 * MINUTE)
    assert (made.multiplier, made.jitter, made.give_up_after, made.wait_in_broker_from) == (
        1.5,
        0.1,
        2 * HOUR,
        30 * SECOND,
    )
    assert str(RetryPolicy.fixed(3, 30_500 * timedelta(milliseconds=1), wait_in_broker_from=10 * SECOND)) == (
        "fixed(3, 30500ms).wait_in_broker_from(10s)"
    )
    assert repr(RetryPolicy.none(jitter=0.5)) == "RetryPolicy('none().jitter(0.5)')"


def test_a_duration_with_a_rest_is_refused_and_never_rounded() -> None:
    with pytest.raises(Error) as caught:
        RetryPolicy.fixed(3, timedelta(microseconds=1500))
    assert caught.value.code == "duration_not_whole"


def test_a_policy_survives_pickling_and_copying() -> None:
    policy = RetryPolicy.exponential(6, 10 * SECOND)
    for twin in (pickle.loads(pickle.dumps(policy)), copy.copy(policy), copy.deepcopy(policy)):
        assert twin == policy and type(twin) is RetryPolicy
    ladder = pickle.loads(pickle.dumps(Ladder("orders", policy)))
    assert ladder.rungs == Ladder("orders", policy).rungs


def test_a_schedule_is_a_sequence_that_is_computed_on_demand() -> None:
    schedule = RetryPolicy.exponential(2**32 - 1, 10 * SECOND, 5 * MINUTE).schedule
    assert len(schedule) == 2**32 - 2
    assert schedule[:6] == [10 * SECOND, 20 * SECOND, 40 * SECOND, 80 * SECOND, 160 * SECOND, 5 * MINUTE]
    assert schedule[-1] == schedule[2**32 - 3] == 5 * MINUTE
    for index in (len(schedule), -len(schedule) - 1):
        with pytest.raises(IndexError):
            schedule[index]
    assert list(RetryPolicy.fixed(4, SECOND).schedule) == [SECOND] * 3
    assert list(RetryPolicy.none().schedule) == []


def test_direct_decisions_are_those_of_the_table() -> None:
    policies = [
        "none()",
        "fixed(3, 0)",
        "fixed(4, 1m)",
        "exponential(6, 10s, 5m).give_up_after(2h)",
        "exponential(9, 1s).jitter(1)",
        "exponential(40, 1ms).multiplier(3).wait_in_broker_from(0)",
    ]
    for text in policies:
        policy = RetryPolicy(text)
        ladder = Ladder("orders", policy)
        for attempt in range(0, 42):
            for age_ms in (None, 0, 7_199_999, 7_200_000):
                for u in (0.0, 0.3, 0.5, 0.999):
                    age = None if age_ms is None else timedelta(milliseconds=age_ms)
                    decision = policy.decide(attempt, age, u)
                    question = {"policy": text, "attempt": attempt, "age_ms": age_ms, "u": u, "queue": "orders"}
                    table = acemq.call("retry.decide", question)
                    rung = ladder.rung_of(decision)
                    assert table == {
                        "retry": decision.retry,
                        "reason": decision.reason,
                        "wait_ms": decision.wait_ms,
                        "in_broker": decision.in_broker,
                        "give_up_text": decision.give_up_text,
                        "rung": rung and rung.name,
                    }
                    assert decision.wait == timedelta(milliseconds=decision.wait_ms)


def test_a_decision_is_a_value() -> None:
    policy = RetryPolicy.exponential(6, 10 * SECOND, give_up_after=2 * HOUR)
    assert policy.decide(3) == policy.decide(attempt=3, age=None, u=0.5)
    assert policy.decide(3) != policy.decide(4)
    assert policy.decide(6).give_up_text == "exhausted 6 attempts"
    assert policy.decide(3, 2 * HOUR).give_up_text == "older than 2h"
    assert repr(policy.decide(3)) == "<Decision: wait 40000 ms in the broker>"
    for u in (1.0, -0.1, float("nan")):
        with pytest.raises(Error) as caught:
            policy.decide(1, u=u)
        assert caught.value.code == "random_out_of_range"
    with pytest.raises(OverflowError):
        policy.decide(-1)


def test_a_ladder_gives_rungs_with_their_declarations() -> None:
    ladder = Ladder("orders", RetryPolicy.exponential(6, 10 * SECOND))
    assert [(rung.name, rung.delay) for rung in ladder.rungs] == [
        ("orders.retry.40s", 40 * SECOND),
        ("orders.retry.80s", 80 * SECOND),
        ("orders.retry.160s", 160 * SECOND),
    ]
    assert ladder.rungs[0].declaration.arguments == {
        "x-message-ttl": 40_000,
        "x-dead-letter-exchange": "acemq.retry",
        "x-dead-letter-routing-key": "orders",
    }
    assert ladder.rungs[0].fingerprint == ladder.rungs[0].declaration.fingerprint
    assert ladder.exchange is not None and (ladder.exchange.name, ladder.exchange.type) == ("acemq.retry", "direct")
    assert ladder.binding is not None and (ladder.binding.destination, ladder.binding.routing_key) == ("orders", "orders")
    for delay, rung in [(29 * SECOND, None), (35 * SECOND, "40s"), (41 * SECOND, "80s"), (HOUR, "160s")]:
        found = ladder.rung_for(delay)
        assert (found and found.name) == (rung and f"orders.retry.{rung}")
    empty = Ladder("orders", RetryPolicy.none())
    assert (empty.rungs, empty.exchange, empty.binding) == ((), None, None)
    with pytest.raises(Error) as caught:
        Ladder("q" * 250, RetryPolicy.fixed(2, MINUTE))
    assert caught.value.code == "name_too_long"
