"""Declarations as they go over the wire, and what brokers make of them.

Two declarations of one queue are equal to every broker exactly when their fingerprints are:

>>> QueueDeclaration("orders", arguments={"x-queue-type": "classic"}).fingerprint == QueueDeclaration("orders").fingerprint
True
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ._values import table_from_json, table_to_json
from .operations import call

__all__ = [
    "BindingDeclaration",
    "Declaration",
    "Difference",
    "Equivalence",
    "ExchangeDeclaration",
    "PolicyDeclaration",
    "PredictedRefusal",
    "Prediction",
    "QueueDeclaration",
    "canonical",
    "compare_queues",
    "fingerprint",
    "predict",
]


@dataclass(frozen=True)
class QueueDeclaration:
    """A queue."""

    name: str
    durable: bool = True
    exclusive: bool = False
    auto_delete: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As operations take it."""
        return {
            "name": self.name,
            "durable": self.durable,
            "exclusive": self.exclusive,
            "auto_delete": self.auto_delete,
            "arguments": table_to_json(self.arguments),
        }

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> QueueDeclaration:
        arguments = table_from_json(table["arguments"])
        return cls(table["name"], table["durable"], table["exclusive"], table["auto_delete"], arguments)

    @property
    def fingerprint(self) -> str:
        """What every declaration that a broker takes as equal shares."""
        return fingerprint(self)


@dataclass(frozen=True)
class ExchangeDeclaration:
    """An exchange."""

    name: str
    #: ``direct``, ``fanout``, ``topic``, ``headers`` or a plugin's.
    type: str
    durable: bool = True
    auto_delete: bool = False
    internal: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As operations take it."""
        return {
            "name": self.name,
            "type": self.type,
            "durable": self.durable,
            "auto_delete": self.auto_delete,
            "internal": self.internal,
            "arguments": table_to_json(self.arguments),
        }

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> ExchangeDeclaration:
        arguments = table_from_json(table["arguments"])
        return cls(table["name"], table["type"], table["durable"], table["auto_delete"], table["internal"], arguments)

    @property
    def fingerprint(self) -> str:
        """What every declaration that a broker takes as equal shares."""
        return fingerprint(self)


@dataclass(frozen=True)
class BindingDeclaration:
    """A binding from an exchange to a queue, or to another exchange."""

    source: str
    destination: str
    routing_key: str = ""
    destination_type: Literal["queue", "exchange"] = "queue"
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As operations take it."""
        return {
            "source": self.source,
            "destination": self.destination,
            "destination_type": self.destination_type,
            "routing_key": self.routing_key,
            "arguments": table_to_json(self.arguments),
        }

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> BindingDeclaration:
        arguments = table_from_json(table["arguments"])
        if "to_exchange" in table:
            return cls(table["exchange"], table["to_exchange"], table["routing_key"], "exchange", arguments)
        return cls(table["exchange"], table["queue"], table["routing_key"], "queue", arguments)

    @classmethod
    def _of_identity(cls, binding: Mapping[str, Any]) -> BindingDeclaration:
        arguments = table_from_json(binding["arguments"])
        return cls(binding["source"], binding["destination"], binding["routing_key"], binding["destination_type"], arguments)

    @property
    def fingerprint(self) -> str:
        """What every declaration that a broker takes as equal shares."""
        return fingerprint(self)


@dataclass(frozen=True)
class PolicyDeclaration:
    """A policy. Only the management API can set one."""

    name: str
    pattern: str
    apply_to: str = "all"
    priority: int = 0
    definition: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def _of_table(cls, table: Mapping[str, Any]) -> PolicyDeclaration:
        # Topologies write it with an underscore, RabbitMQ and plans with a hyphen.
        apply_to = table["apply_to"] if "apply_to" in table else table["apply-to"]
        return cls(table["name"], table["pattern"], apply_to, table["priority"], table_from_json(table["definition"]))


#: What has a canonical form.
Declaration = QueueDeclaration | ExchangeDeclaration | BindingDeclaration


def _declared(declaration: Declaration) -> dict[str, Any]:
    if isinstance(declaration, QueueDeclaration):
        kind = "queue"
    elif isinstance(declaration, ExchangeDeclaration):
        kind = "exchange"
    else:
        kind = "binding"
    return call("declaration.fingerprint", {"declaration": {kind: declaration.to_json()}})


def fingerprint(declaration: Declaration) -> str:
    """The SHA-256 of the canonical line, in lower-case hexadecimal."""
    return str(_declared(declaration)["fingerprint"])


def canonical(declaration: Declaration) -> str:
    """The canonical line of JSON, which every language prints alike."""
    return str(_declared(declaration)["canonical"])


@dataclass(frozen=True)
class Difference:
    """One argument or property in which a declaration and a queue differ."""

    argument: str
    #: What the declaration has; ``None`` when it has nothing.
    wanted: Any
    #: What the queue has; ``None`` when it has nothing.
    current: Any
    #: Whether the broker compares it.
    compared: bool
    #: What a plan offers against it: ``policy``, ``migrate``, ``declare_as_is`` or ``none``.
    remedy: str | None = None

    @classmethod
    def _of(cls, difference: Mapping[str, Any]) -> Difference:
        values = table_from_json({"wanted": difference["wanted"], "current": difference["current"]})
        return cls(
            difference["argument"],
            values["wanted"],
            values["current"],
            difference["compared"],
            difference.get("remedy"),
        )


@dataclass(frozen=True)
class Equivalence:
    """Whether a broker takes a declaration as equal to a queue that it has."""

    equivalent: bool
    #: Everything in which they differ: what the broker compares first, in its order.
    differences: tuple[Difference, ...]

    def __bool__(self) -> bool:
        return self.equivalent


def compare_queues(
    stored: QueueDeclaration,
    wanted: QueueDeclaration,
    *,
    rabbitmq: str | None = None,
    default_queue_type: str | None = None,
) -> Equivalence:
    """Whether a broker takes ``wanted`` as equal to the queue ``stored`` that it has, and every difference.

    ``rabbitmq`` is its version, the newest known one unless said; ``default_queue_type`` is the vhost's.
    """
    question = {
        "rabbitmq": rabbitmq,
        "default_queue_type": default_queue_type,
        "stored": stored.to_json(),
        "wanted": wanted.to_json(),
    }
    answer = call("broker.equivalence", question)
    return Equivalence(answer["equivalent"], tuple(Difference._of(one) for one in answer["differences"]))


@dataclass(frozen=True)
class PredictedRefusal:
    """A refusal in the broker's own words."""

    #: Reply code.
    code: int
    #: Reply text.
    text: str
    #: What it closes.
    scope: Literal["channel", "connection"]


@dataclass(frozen=True)
class Prediction:
    """What a broker answers to a declaration."""

    accepted: bool
    refused: PredictedRefusal | None

    def __bool__(self) -> bool:
        return self.accepted


def predict(
    wanted: QueueDeclaration | ExchangeDeclaration,
    existing: QueueDeclaration | ExchangeDeclaration | None = None,
    *,
    rabbitmq: str | None = None,
    vhost: str | None = None,
    default_queue_type: str | None = None,
) -> Prediction:
    """What a broker of a version answers to a declaration, given the object of that name that exists.

    An exclusive queue that exists belongs to another connection.
    """
    kind = "queue" if isinstance(wanted, QueueDeclaration) else "exchange"
    question = {
        "rabbitmq": rabbitmq,
        "vhost": vhost,
        "default_queue_type": default_queue_type,
        "declare": {kind: {"wanted": wanted.to_json(), "existing": existing and existing.to_json()}},
    }
    answer = call("broker.predict", question)
    refused = answer["refused"]
    return Prediction(answer["accepted"], refused and PredictedRefusal(refused["code"], refused["text"], refused["scope"]))
