"""Topologies: what a service needs, and the canonical tables that it stands for.

>>> topology = (
...     Topology.builder()
...     .exchange("orders", "topic")
...     .queue_with_dead_letter("orders.new")
...     .bind("orders.new", "orders", "order.*")
...     .build()
... )
>>> [queue.name for queue in topology.tables().queues]
['orders.new', 'orders.new.dlq', 'orders.new.parked']
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from ._values import table_to_json
from .declarations import BindingDeclaration, ExchangeDeclaration, PolicyDeclaration, QueueDeclaration
from .errors import Problem
from .operations import call
from .retry import RetryPolicy

__all__ = [
    "BindingTable",
    "ExchangeTable",
    "QueueTable",
    "Tables",
    "Topology",
    "TopologyBuilder",
    "TopologyProblem",
    "consumer_declarations",
]

QueueType = Literal["classic", "quorum", "stream"]


@dataclass(frozen=True)
class TopologyProblem(Problem):
    """Something that is wrong with a topology, or a warning, which does not stop it."""

    severity: Literal["error", "warning"] = "error"
    #: What it is about, as in ``{"kind": "queue", "name": "orders"}``.
    object: Mapping[str, Any] | None = None
    #: Where it stands in the document, from 1; ``None`` where there is no document.
    line: int | None = None
    #: The column, from 1.
    column: int | None = None

    @classmethod
    def _of(cls, problem: Mapping[str, Any]) -> TopologyProblem:
        at = problem["at"] or {}
        return cls(
            problem["code"],
            problem["message"],
            problem["help"],
            problem["fields"],
            problem["severity"],
            problem["object"],
            at.get("line"),
            at.get("column"),
        )


@dataclass(frozen=True)
class QueueTable:
    """A queue with its canonical argument table."""

    declaration: QueueDeclaration
    #: ``classic``, ``quorum`` or ``stream``.
    type: str
    fingerprint: str

    @property
    def name(self) -> str:
        """The queue's name."""
        return self.declaration.name


@dataclass(frozen=True)
class ExchangeTable:
    """An exchange with its canonical argument table."""

    declaration: ExchangeDeclaration
    fingerprint: str

    @property
    def name(self) -> str:
        """The exchange's name."""
        return self.declaration.name


@dataclass(frozen=True)
class BindingTable:
    """A binding with its canonical argument table."""

    declaration: BindingDeclaration
    fingerprint: str


@dataclass(frozen=True)
class Tables:
    """Everything that is declared, each kind in the order in which it is declared: exchanges, policies, queues, bindings."""

    exchanges: tuple[ExchangeTable, ...]
    policies: tuple[PolicyDeclaration, ...]
    queues: tuple[QueueTable, ...]
    bindings: tuple[BindingTable, ...]
    #: Two topologies that ask for the same objects have the same one, whatever their order.
    fingerprint: str
    #: The document ``acemq.tables/1``.
    document: Mapping[str, Any]

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Tables:
        return cls(
            tuple(ExchangeTable(ExchangeDeclaration._of_table(table), table["fingerprint"]) for table in document["exchanges"]),
            tuple(PolicyDeclaration._of_table(table) for table in document.get("policies", ())),
            tuple(
                QueueTable(QueueDeclaration._of_table(table), table["type"], table["fingerprint"])
                for table in document["queues"]
            ),
            tuple(BindingTable(BindingDeclaration._of_table(table), table["fingerprint"]) for table in document["bindings"]),
            document["fingerprint"],
            document,
        )

    def queue(self, name: str) -> QueueTable:
        """The queue of that name; `KeyError` when none is declared."""
        for table in self.queues:
            if table.name == name:
                return table
        raise KeyError(name)


class Topology:
    """A set of exchanges, queues, bindings and policies that was asked for. It never changes.

    Nothing is judged before it is asked: `problems` gives everything that is wrong, `tables` raises it.
    """

    __slots__ = ("_source",)

    def __init__(self, source: Mapping[str, Any]) -> None:
        self._source = source

    @classmethod
    def builder(cls) -> TopologyBuilder:
        """Starts an empty topology."""
        return TopologyBuilder()

    @classmethod
    def parse(cls, text: str) -> Topology:
        """From a document in YAML or JSON."""
        return cls({"text": text})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Topology:
        """From a document as a mapping."""
        return cls({"document": deepcopy(dict(document))})

    @property
    def source(self) -> Mapping[str, Any]:
        """What operations take as ``topology``."""
        return self._source

    def problems(self) -> list[TopologyProblem]:
        """Every problem and every warning, in the order of the document."""
        document = call("topology.check", {"topology": self._source})
        return [TopologyProblem._of(problem) for problem in document["problems"]]

    def tables(self) -> Tables:
        """Everything that is declared, as it goes over the wire; raises `Error` with every problem that stops it."""
        return Tables._of(call("topology.tables", {"topology": self._source}))

    @staticmethod
    def consumer_declarations(queue: str, policy: RetryPolicy | None = None) -> Tables:
        """As the function `consumer_declarations`."""
        return consumer_declarations(queue, policy)

    def intent(self) -> str:
        """What it intends, one line for each declaration; raises `Error` with every problem that stops it."""
        return str(call("topology.show", {"topology": self._source})["text"])

    def __repr__(self) -> str:
        return f"<Topology from a {next(iter(self._source), 'nothing')}>"


def consumer_declarations(queue: str, policy: RetryPolicy | None = None) -> Tables:
    """What a consumer of ``queue`` declares when it starts: the dead-letter half, the rungs of its policy, and never the
    queue itself."""
    return Tables._of(call("topology.consumer", {"queue": queue, "policy": policy and str(policy)}))


def _body(name: str, said: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of the document: what is not asked for is not said, so that a later call may ask for it."""
    return {"name": name, **{key: value for key, value in said.items() if value is not None and value not in (False, {})}}


class TopologyBuilder:
    """Collects what a service needs. No call fails and the order of the calls does not matter: `Topology.problems` of what
    `build` gives judges everything at once."""

    __slots__ = ("_bindings", "_exchanges", "_policies", "_queues", "_settings")

    def __init__(self) -> None:
        self._exchanges: list[dict[str, Any]] = []
        self._queues: list[dict[str, Any]] = []
        self._bindings: list[dict[str, Any]] = []
        self._policies: list[dict[str, Any]] = []
        self._settings: list[dict[str, Any]] = []

    def exchange(
        self,
        name: str,
        type: str,
        *,
        durable: bool = True,
        auto_delete: bool = False,
        internal: bool = False,
        arguments: Mapping[str, Any] | None = None,
        alternate_exchange: str | None = None,
    ) -> TopologyBuilder:
        """An exchange: ``direct``, ``fanout``, ``topic``, ``headers``, or a plugin's type."""
        said = {
            "type": type,
            "transient": not durable,
            "auto_delete": auto_delete,
            "internal": internal,
            "arguments": table_to_json(arguments or {}),
            "alternate_exchange": alternate_exchange,
        }
        self._exchanges.append(_body(name, said))
        return self

    def external_exchange(self, name: str) -> TopologyBuilder:
        """An exchange that somebody else declares: bindings may use it, and it is never declared."""
        self._exchanges.append({"name": name, "external": True})
        return self

    def queue(
        self,
        name: str,
        *,
        type: QueueType | None = None,
        durable: bool = True,
        exclusive: bool = False,
        auto_delete: bool = False,
        arguments: Mapping[str, Any] | None = None,
        dead_letter: bool = False,
        dead_letter_to: str | None = None,
        retry: RetryPolicy | None = None,
    ) -> TopologyBuilder:
        """A queue; durable and nothing else said, it is a quorum queue."""
        said = {
            "type": type,
            "transient": not durable,
            "exclusive": exclusive,
            "auto_delete": auto_delete,
            "arguments": table_to_json(arguments or {}),
            "dead_letter": dead_letter,
            "dead_letter_to": dead_letter_to,
            "retry": retry and str(retry),
        }
        self._queues.append(_body(name, said))
        return self

    def queue_with_dead_letter(self, name: str) -> TopologyBuilder:
        """A durable quorum queue with its dead-letter queue, its parked queue and their wiring."""
        return self.queue(name, dead_letter=True)

    def classic_queue_with_dead_letter(self, name: str, arguments: Mapping[str, Any] | None = None) -> TopologyBuilder:
        """A durable classic queue with arguments of its own, and with its dead letters."""
        return self.queue(name, type="classic", arguments=arguments, dead_letter=True)

    def dead_letters(self, queue: str) -> TopologyBuilder:
        """Dead letters for a queue that is declared before or after this call."""
        return self._setting(queue, "dead_letter", True)

    def dead_letter_to(self, queue: str, exchange: str) -> TopologyBuilder:
        """Sends the dead letters of ``queue`` to an exchange of your own."""
        return self._setting(queue, "dead_letter_to", exchange)

    def of_type(self, queue: str, type: QueueType) -> TopologyBuilder:
        """Chooses the type of ``queue``."""
        return self._setting(queue, "type", type)

    def queue_arg(self, queue: str, argument: str, value: Any) -> TopologyBuilder:
        """Adds one argument to ``queue``."""
        return self._setting(queue, "arguments", table_to_json({argument: value}))

    def transient(self, queue: str) -> TopologyBuilder:
        """Makes ``queue`` transient: it is gone when the broker restarts."""
        return self._setting(queue, "transient", True)

    def exclusive(self, queue: str) -> TopologyBuilder:
        """Makes ``queue`` exclusive to the connection that declares it."""
        return self._setting(queue, "exclusive", True)

    def auto_delete(self, queue: str) -> TopologyBuilder:
        """Lets ``queue`` go with its last consumer."""
        return self._setting(queue, "auto_delete", True)

    def retries(self, queue: str, policy: RetryPolicy) -> TopologyBuilder:
        """Gives ``queue`` the rungs of ``policy``, so that long waits between attempts are spent in the broker."""
        return self._setting(queue, "retry", str(policy))

    def bind(
        self, queue: str, exchange: str, routing_key: str = "", arguments: Mapping[str, Any] | None = None
    ) -> TopologyBuilder:
        """Binds ``queue`` to ``exchange``."""
        return self._bind("queue", queue, exchange, routing_key, arguments)

    def bind_exchange(
        self, to_exchange: str, exchange: str, routing_key: str = "", arguments: Mapping[str, Any] | None = None
    ) -> TopologyBuilder:
        """Binds ``to_exchange`` to ``exchange``."""
        return self._bind("to_exchange", to_exchange, exchange, routing_key, arguments)

    def policy(
        self,
        name: str,
        pattern: str,
        definition: Mapping[str, Any],
        *,
        apply_to: str | None = None,
        priority: int = 0,
    ) -> TopologyBuilder:
        """A policy. Only the management API can set it."""
        self._policies.append(
            {
                "name": name,
                "pattern": pattern,
                "definition": table_to_json(definition),
                "apply_to": apply_to,
                "priority": priority,
            }
        )
        return self

    def build(self) -> Topology:
        """The topology of everything so far. Calls after this one do not change it."""
        document = {
            "acemq": 1,
            "exchanges": list(self._exchanges),
            "queues": list(self._queues),
            "bindings": list(self._bindings),
            "policies": list(self._policies),
        }
        return Topology({"built": {"document": document, "settings": list(self._settings)}})

    def _bind(
        self, end: str, name: str, exchange: str, routing_key: str, arguments: Mapping[str, Any] | None
    ) -> TopologyBuilder:
        binding = {end: name, "exchange": exchange, "routing_key": routing_key}
        self._bindings.append({**binding, "arguments": table_to_json(arguments or {})})
        return self

    def _setting(self, queue: str, key: str, value: Any) -> TopologyBuilder:
        self._settings.append({"name": queue, key: value})
        return self
