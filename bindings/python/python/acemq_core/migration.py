"""How a live queue is replaced without losing a message, driven by a client of your own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .operations import call
from .state import State

__all__ = ["Direction", "Migration", "MigrationOrder", "MigrationPlan", "QueueSight", "plan_migration"]

#: To the new queue, or back to the definitions of the start.
Direction = Literal["forward", "back"]


@dataclass(frozen=True)
class MigrationPlan:
    """The steps of a migration, the proof that no message is lost or doubled, and how many steps are done."""

    #: The document ``acemq.migration_plan/1``.
    document: Mapping[str, Any]
    #: The plan for people.
    text: str
    #: SHA-256 of the file's lines, whatever ends them.
    checksum: str
    #: Why the migration must not run.
    refused: str | None

    def __str__(self) -> str:
        return self.text

    @property
    def beginning(self) -> Mapping[str, Any]:
        """What was there before: of the new queue, or of what plain changes find.

        Record it before the first step, for the way back.
        """
        beginning: Mapping[str, Any] = self.document["beginning"]
        return beginning


def plan_migration(
    file: str, state: State, *, direction: Direction = "forward", beginning: Mapping[str, Any] | None = None
) -> MigrationPlan:
    """Plans the migration of a file, YAML or JSON, against a vhost as it is; or the way back."""
    question = {"file": file, "state": state.to_json(), "direction": direction, "beginning": beginning}
    answer = call("migration.plan", question)
    return MigrationPlan(answer["plan"], answer["text"], answer["checksum"], answer["refused"])


@dataclass(frozen=True)
class QueueSight:
    """A queue as the broker describes it at a moment."""

    queue: str
    #: Messages that are ready; ``None`` where nobody answers for it.
    ready: int | None
    #: Messages that consumers hold; ``None`` where nobody tells.
    unacknowledged: int | None
    consumers: int = 0
    #: How many milliseconds the zeros may be old: 0 for a classic queue, two rounds of statistics for a quorum queue.
    lag_ms: int = 0


@dataclass(frozen=True)
class MigrationOrder:
    """The one thing to do next."""

    #: ``do``, ``look_at``, ``ask_nodes``, ``pause``, ``finished``, ``waiting`` or ``stopped``.
    order: str
    #: For ``do`` and ``ask_nodes``: what, as a step of ``acemq.migration_plan/1`` has it.
    action: Mapping[str, Any] | None
    #: For ``look_at``: the queues.
    queues: tuple[str, ...]
    #: For ``pause``: how long, in milliseconds.
    pause_ms: int
    #: For ``waiting`` and ``stopped``: why, with the way out.
    why: str | None
    #: The number of the step that it belongs to, from 1, and the step in words; ``None`` when it is over.
    step: int | None
    text: str | None
    #: How many steps are done, and how many there are.
    done: int
    of: int
    #: Messages that the queues which are waited for held at the last look.
    messages_left: int
    #: The whole answer.
    document: Mapping[str, Any]


class Migration:
    r"""A migration, or its way back, as one order after the other.

    Read the vhost, ask :meth:`next`, do the one thing, and ask again. Where the migration is stands in the vhost itself, so a
    new object goes on where an old one was killed.

    >>> from acemq_core import State, Topology
    >>> topology = "queues: { q: { type: classic } }\nbindings: [{ queue: q, exchange: amq.topic, routing_key: k }]"
    >>> vhost = State(Topology.parse(topology), rabbitmq="4.0.5")
    >>> migration = Migration("acemq_migration: 1\nreplace: { queue: q, with: { name: q.v2, type: quorum } }")
    >>> migration.next(vhost, now_ms=0).text
    'declare queue q.v2 (durable, quorum)'
    """

    def __init__(
        self,
        file: str,
        *,
        direction: Direction = "forward",
        beginning: Mapping[str, Any] | None = None,
        run: Mapping[str, Any] | None = None,
    ) -> None:
        self._question = {"file": file, "direction": direction, "beginning": beginning}
        #: What was seen while waiting. It may be kept and given to a new object; nothing is lost with it but time.
        self.run: Mapping[str, Any] = run if run is not None else {}

    def next(
        self, state: State, now_ms: int, saw: Iterable[QueueSight] | Literal["nodes_know"] | None = None
    ) -> MigrationOrder:
        """What to do now.

        :param state: The vhost, read just now.
        :param now_ms: The time in milliseconds, of a clock that does not go back.
        :param saw: After ``look_at`` the queues, after ``ask_nodes`` that every running node knows.
        """
        seen = saw if saw is None or isinstance(saw, str) else {"queues": [asdict(sight) for sight in saw]}
        question = {**self._question, "state": state.to_json(), "run": self.run, "now_ms": now_ms, "saw": seen}
        answer = call("migration.step", question)
        self.run = answer["run"]
        order = answer["order"]
        return MigrationOrder(
            order=order["order"],
            action=order.get("action"),
            queues=tuple(order.get("queues", ())),
            pause_ms=order.get("ms", 0),
            why=order.get("why"),
            document=answer,
            **{key: answer[key] for key in ("step", "text", "done", "of", "messages_left")},
        )
