"""Names and durations: the direct functions, the table of operations, and what Python's own types add."""

from datetime import timedelta

import pytest

import acemq_core as acemq
from acemq_core import Error

QUEUES = ["orders", "orders.new", "ÄÖÜ-заказы-注文", "tab\there", "nul\0here", "", "amq.q", "a\nb", "q" * 251, "q" * 300]


def outcome(work) -> object:  # type: ignore[no-untyped-def]
    try:
        return work()
    except Error as error:
        return [(problem.code, problem.fields, problem.message, problem.help) for problem in error.problems]


def test_direct_names_are_those_of_the_table() -> None:
    for queue in QUEUES:
        implied = outcome(lambda queue=queue: acemq.call("name.implied", {"queue": queue}))
        if isinstance(implied, dict):
            assert acemq.dead_letter_queue(queue) == implied["dead_letter_queue"]
            assert acemq.parked_queue(queue) == implied["parked_queue"]
        for delay in (timedelta(seconds=90), timedelta(milliseconds=30_500), timedelta(hours=36), timedelta(0)):
            ms = delay // timedelta(milliseconds=1)
            direct = outcome(lambda: acemq.retry_queue(queue, delay))
            table = outcome(lambda: acemq.call("name.retry_queue", {"queue": queue, "delay_ms": ms})["name"])
            assert direct == table


def test_a_duration_is_whole_milliseconds_or_refused() -> None:
    assert acemq.milliseconds(timedelta(days=999_999_999, hours=23, minutes=59, seconds=59, milliseconds=999)) == (
        86_399_999_999_999_999
    )
    # 4.35 s is 4349.999… in floating point.
    assert acemq.milliseconds(timedelta(seconds=4.35)) == 4350
    for code, duration in [
        ("duration_not_whole", timedelta(microseconds=1)),
        ("duration_not_whole", timedelta(seconds=1, microseconds=500)),
        ("duration_negative", timedelta(microseconds=-1)),
        ("duration_negative", timedelta(days=-1)),
    ]:
        with pytest.raises(Error) as caught:
            acemq.milliseconds(duration)
        assert caught.value.code == code


def test_every_duration_survives_both_ways() -> None:
    for text, duration in [
        ("0", timedelta(0)),
        ("1ms", timedelta(milliseconds=1)),
        ("86399999ms", timedelta(days=1) - timedelta(milliseconds=1)),
        ("24h", timedelta(days=1)),
        ("86399999999999999ms", timedelta.max - timedelta(microseconds=999)),
    ]:
        assert acemq.parse_duration(text) == duration
        assert acemq.milliseconds(duration) == acemq.call("duration.parse", {"text": text})["ms"]
    with pytest.raises(Error) as caught:
        acemq.parse_duration("86400000000000000ms")
    assert caught.value.code == "duration_too_large"


def test_a_name_is_checked_with_all_its_faults() -> None:
    checked = acemq.check_name("queue", "tab\there")
    assert (checked.bytes, checked.shown) == (8, "tab\\u{9}here")
    with pytest.raises(Error) as caught:
        acemq.check_name("exchange", "amq." + "x" * 260 + "\n")
    assert {problem.code for problem in caught.value.problems} == {"name_too_long", "name_reserved", "name_line_break"}
