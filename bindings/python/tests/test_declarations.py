"""Declarations, their fingerprints, and what brokers make of them."""

from datetime import datetime, timezone
from decimal import Decimal

import pytest

import acemq_core as acemq
from acemq_core import BindingDeclaration, Error, ExchangeDeclaration, QueueDeclaration, read_refusal
from acemq_core._values import headers_to_json, table_from_json, table_to_json


def test_a_canonical_line_is_the_contract_s() -> None:
    queue = QueueDeclaration("q", arguments={"x-queue-type": "classic", "x-message-ttl": 60_000})
    assert acemq.canonical(queue) == (
        '{"arguments":{"x-message-ttl":60000},"auto_delete":false,"durable":true,"exclusive":false,"kind":"queue","name":"q"}'
    )
    same = QueueDeclaration("q", arguments={"x-message-ttl": {"@I": 60_000}})
    assert queue.fingerprint == same.fingerprint != QueueDeclaration("q").fingerprint
    for other in (ExchangeDeclaration("q", "direct"), BindingDeclaration("q", "q")):
        assert len(other.fingerprint) == 64


def test_values_cross_in_their_own_types() -> None:
    table = {
        "flag": True,
        "number": -5,
        "double": 1.5,
        "text": "ä",
        "list": [1, "a", {"b": False}],
        "table": {"n": 1},
        "when": datetime(2026, 11, 30, tzinfo=timezone.utc),
        "bytes": b"\x00\xff",
        "decimal": Decimal("3.14"),
        "nothing": None,
    }
    crossed = headers_to_json(table)
    assert (crossed["when"], crossed["bytes"], crossed["decimal"], crossed["nothing"]) == (
        {"@T": 1_795_996_800},
        {"@x": "AP8="},
        {"@D": [2, 314]},
        {"@V": None},
    )
    assert table_from_json(crossed) == table
    assert QueueDeclaration("q", arguments={"a": {"n": [table["when"]]}}).fingerprint
    with pytest.raises(TypeError):
        table_to_json({"a": object()})
    with pytest.raises(Error) as caught:
        acemq.fingerprint(QueueDeclaration("q", arguments={"x-message-ttl": None}))
    assert caught.value.code == "bad_input"
    for wrong in (Decimal("-1"), Decimal("NaN"), Decimal("1e5")):
        with pytest.raises(ValueError):
            table_to_json({"a": wrong})


def test_queues_are_compared_as_the_broker_does() -> None:
    stored = QueueDeclaration("q", arguments={"x-message-ttl": 1000, "x-queue-type": "classic"})
    assert acemq.compare_queues(stored, QueueDeclaration("q", arguments={"x-message-ttl": 1000}), rabbitmq="4.0.5")
    differs = acemq.compare_queues(stored, QueueDeclaration("q"), rabbitmq="4.0.5")
    (difference,) = differs.differences
    assert not differs and difference.compared
    assert (difference.argument, difference.wanted, difference.current) == ("x-message-ttl", None, 1000)


def test_a_prediction_reads_back_as_the_difference() -> None:
    stored = QueueDeclaration("q", arguments={"x-message-ttl": 1000})
    prediction = acemq.predict(QueueDeclaration("q"), stored, rabbitmq="4.0.5", vhost="shop")
    assert not prediction and prediction.refused is not None
    assert (prediction.refused.code, prediction.refused.scope) == (406, "channel")
    refusal = read_refusal(prediction.refused.text, prediction.refused.code)
    assert (refusal.class_, refusal.kind, refusal.name, refusal.vhost) == ("inequivalent", "queue", "q", "shop")
    assert (refusal.argument, refusal.received, refusal.absent) == ("x-message-ttl", None, "received")
    assert refusal.current is not None and (refusal.current.value, refusal.current.type) == ("1000", "long")
    assert str(refusal) == refusal.says
    assert acemq.predict(ExchangeDeclaration("e", "topic"), rabbitmq="4.0.5")
    other = acemq.predict(ExchangeDeclaration("e", "topic"), ExchangeDeclaration("e", "fanout"))
    assert other.refused is not None and "inequivalent arg 'type'" in other.refused.text
