"""Names that a queue implies, and durations.

Durations are `datetime.timedelta`. The engine counts whole milliseconds: a duration with a rest is refused, never rounded.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ._native import _acemq
from .operations import call

__all__ = [
    "CheckedName",
    "ImpliedNames",
    "check_name",
    "dead_letter_queue",
    "delay_text",
    "implied_names",
    "milliseconds",
    "milliseconds_from_nanoseconds",
    "milliseconds_from_seconds",
    "parked_queue",
    "parse_duration",
    "retry_queue",
]

dead_letter_queue = _acemq.dead_letter_queue
parked_queue = _acemq.parked_queue
retry_queue = _acemq.retry_queue
delay_text = _acemq.delay_text
parse_duration = _acemq.parse_duration
milliseconds = _acemq.milliseconds
milliseconds_from_seconds = _acemq.milliseconds_from_seconds
milliseconds_from_nanoseconds = _acemq.milliseconds_from_nanoseconds


class CheckedName(NamedTuple):
    """A name that RabbitMQ takes."""

    #: Its length in UTF-8.
    bytes: int
    #: As people see it: control characters escaped.
    shown: str


class ImpliedNames(NamedTuple):
    """The names that a queue implies, whatever its retries."""

    #: Where its messages go that are given up.
    dead_letter_queue: str
    #: Where its messages are set aside for a person.
    parked_queue: str
    #: The exchange that leads to both.
    dead_letter_exchange: str
    #: The exchange that leads back from its retry rungs.
    retry_exchange: str


def check_name(kind: Literal["queue", "exchange"], name: str) -> CheckedName:
    """Whether RabbitMQ takes a name as it stands, for something that is to be declared; `Error` says why not."""
    answer = call("name.check", {"kind": kind, "name": name})
    return CheckedName(answer["bytes"], answer["shown"])


def implied_names(queue: str) -> ImpliedNames:
    """The dead-letter queue, the parked queue and the shared exchanges of a queue."""
    answer = call("name.implied", {"queue": queue})
    return ImpliedNames(
        answer["dead_letter_queue"], answer["parked_queue"], answer["dead_letter_exchange"], answer["retry_exchange"]
    )
