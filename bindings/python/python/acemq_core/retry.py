"""Retry policies, their decisions, and the queues in which messages wait.

>>> from datetime import timedelta
>>> policy = RetryPolicy.exponential(6, timedelta(seconds=10), cap=timedelta(minutes=5))
>>> str(policy)
'exponential(6, 10s, 5m)'
>>> policy.decide(attempt=3).wait
datetime.timedelta(seconds=40)
>>> Ladder("orders", policy).rung_for(timedelta(seconds=35)).name
'orders.retry.40s'
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, overload

from ._native import _acemq
from .declarations import BindingDeclaration, ExchangeDeclaration, QueueDeclaration
from .operations import call, to_json

__all__ = ["Decision", "Ladder", "RetryPolicy", "Rung", "Schedule"]

Decision = _acemq.Decision


def _written(duration: timedelta) -> str:
    return f"{_acemq.milliseconds(duration)}ms"


class Schedule(Sequence[timedelta]):
    """The unjittered waits of a policy, shortest first: entry 0 is the wait before attempt 2.

    Nothing is computed before it is asked for: a policy of four billion attempts has its last wait at once.
    """

    __slots__ = ("_policy",)

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy

    def __len__(self) -> int:
        return self._policy.waits

    @overload
    def __getitem__(self, index: int) -> timedelta: ...
    @overload
    def __getitem__(self, index: slice) -> list[timedelta]: ...
    def __getitem__(self, index: int | slice) -> timedelta | list[timedelta]:
        if isinstance(index, slice):
            return [self._policy.delay(at) for at in range(*index.indices(len(self)))]
        at = index + len(self) if index < 0 else index
        if not 0 <= at < len(self):
            raise IndexError(f"wait {index} of {len(self)}")
        return self._policy.delay(at)

    def __repr__(self) -> str:
        return f"<Schedule of {len(self)} waits of {self._policy}>"


class RetryPolicy(_acemq.RetryPolicy):
    """When a message whose handling failed is tried again, and where it waits. It never changes and may be shared.

    Made from its text or from a mapping with the same keys, as documents have them. All problems come in one `Error`.
    """

    __slots__ = ()

    def __new__(cls, form: str | Mapping[str, Any]) -> RetryPolicy:
        policy = super().__new__(cls, to_json(form))
        assert isinstance(policy, RetryPolicy)
        return policy

    @classmethod
    def parse(cls, text: str) -> RetryPolicy:
        """From its text, as in ``"exponential(6, 10s, 5m).jitter(0.1)"``."""
        return cls(text)

    @classmethod
    def none(
        cls,
        *,
        jitter: float | None = None,
        give_up_after: timedelta | None = None,
        wait_in_broker_from: timedelta | None = None,
    ) -> RetryPolicy:
        """No message is tried again."""
        return cls._of("none", {}, jitter, give_up_after, wait_in_broker_from)

    @classmethod
    def fixed(
        cls,
        attempts: int,
        delay: timedelta,
        *,
        jitter: float | None = None,
        give_up_after: timedelta | None = None,
        wait_in_broker_from: timedelta | None = None,
    ) -> RetryPolicy:
        """Up to ``attempts`` deliveries, the first one included, with ``delay`` between two."""
        body = {"attempts": attempts, "delay": _written(delay)}
        return cls._of("fixed", body, jitter, give_up_after, wait_in_broker_from)

    @classmethod
    def exponential(
        cls,
        attempts: int,
        first: timedelta,
        cap: timedelta | None = None,
        *,
        multiplier: float | None = None,
        jitter: float | None = None,
        give_up_after: timedelta | None = None,
        wait_in_broker_from: timedelta | None = None,
    ) -> RetryPolicy:
        """Up to ``attempts`` deliveries with waits that grow from ``first`` by ``multiplier`` up to ``cap``."""
        body: dict[str, Any] = {"attempts": attempts, "first": _written(first)}
        if cap is not None:
            body["cap"] = _written(cap)
        if multiplier is not None:
            body["multiplier"] = multiplier
        return cls._of("exponential", body, jitter, give_up_after, wait_in_broker_from)

    @classmethod
    def _of(
        cls,
        kind: str,
        body: Mapping[str, Any],
        jitter: float | None,
        give_up_after: timedelta | None,
        wait_in_broker_from: timedelta | None,
    ) -> RetryPolicy:
        form: dict[str, Any] = {kind: body}
        if jitter is not None:
            form["jitter"] = jitter
        if give_up_after is not None:
            form["give_up_after"] = _written(give_up_after)
        if wait_in_broker_from is not None:
            form["wait_in_broker_from"] = _written(wait_in_broker_from)
        return cls(form)

    @property
    def text(self) -> str:
        """The canonical text, which is also the policy's name."""
        return str(self)

    @property
    def multiplier(self) -> float | None:
        """By what an exponential policy's waits grow."""
        thousandths = self.multiplier_thousandths
        return None if thousandths is None else thousandths / 1000

    @property
    def schedule(self) -> Schedule:
        """All waits, unjittered."""
        return Schedule(self)

    def describe(
        self,
        queue: str | None = None,
        attempt: int | None = None,
        age: timedelta | None = None,
        u: float = 0.5,
        *,
        all: bool = False,
    ) -> Mapping[str, Any]:
        """What it means, ``acemq.retry/1``: with the ladder of ``queue``, and the decision for ``attempt``, on request. A
        schedule of more than 100 waits is cut unless ``all``."""
        age_ms = None if age is None else _acemq.milliseconds(age)
        question = {"policy": str(self), "queue": queue, "attempt": attempt, "age_ms": age_ms, "u": u, "all": all}
        return call("retry.describe", question)

    def __hash__(self) -> int:
        return hash(str(self))

    def __repr__(self) -> str:
        return f"RetryPolicy({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return RetryPolicy, (str(self),)


@dataclass(frozen=True)
class Rung:
    """A queue that holds a message for ``delay`` and then dead-letters it back to its source queue."""

    name: str
    delay: timedelta
    declaration: QueueDeclaration
    fingerprint: str


class Ladder(_acemq.Ladder):
    """The rungs of one queue under one policy, shortest first, with what leads back from them. It never changes.

    Raises `Error` when RabbitMQ would not take the name of a rung.
    """

    __slots__ = ("_by_name", "_policy", "binding", "exchange", "rungs")

    #: The rungs, shortest first.
    rungs: tuple[Rung, ...]
    #: The exchange through which messages come back; ``None`` without rungs.
    exchange: ExchangeDeclaration | None
    #: The binding of the source queue on its own name; ``None`` without rungs.
    binding: BindingDeclaration | None
    _policy: RetryPolicy
    _by_name: dict[str, Rung]

    def __new__(cls, queue: str, policy: RetryPolicy) -> Ladder:
        ladder = super().__new__(cls, queue, policy)
        assert isinstance(ladder, Ladder)
        document = json.loads(ladder.document())
        ladder._policy = policy
        ladder.rungs = tuple(
            Rung(
                rung["name"],
                timedelta(milliseconds=rung["delay_ms"]),
                QueueDeclaration._of_table(rung),
                rung["fingerprint"],
            )
            for rung in document["rungs"]
        )
        ladder._by_name = {rung.name: rung for rung in ladder.rungs}
        exchange, binding = document["exchange"], document["binding"]
        ladder.exchange = exchange and ExchangeDeclaration._of_table(exchange)
        ladder.binding = binding and BindingDeclaration._of_table(binding)
        return ladder

    @property
    def policy(self) -> RetryPolicy:
        """The policy."""
        return self._policy

    def rung_for(self, delay: timedelta) -> Rung | None:
        """The rung for any delay: none when it is too short for the broker or there are no rungs, else the shortest that
        is long enough, else the longest."""
        name = self.rung_name_for(delay)
        return None if name is None else self._by_name[name]

    def rung_of(self, decision: Decision) -> Rung | None:
        """The rung on which a decision lets the message wait; ``None`` when it does not wait in the broker."""
        name = self.rung_name_of(decision)
        return None if name is None else self._by_name[name]

    def __repr__(self) -> str:
        return f"<Ladder of {self.queue!r}: {', '.join(rung.name for rung in self.rungs) or 'no rungs'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Ladder, (self.queue, self.policy)
