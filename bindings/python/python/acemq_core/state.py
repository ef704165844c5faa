"""What a vhost holds: a broker's exported definitions, or a topology as if all of it was declared.

>>> state = State(Topology.parse("queues: { orders: { dead_letter: true } }"), rabbitmq="4.0.5")
>>> state.to_definitions().summary().vhosts
('/',)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._values import table_from_json
from .operations import call
from .topology import Topology

__all__ = [
    "Definitions",
    "DefinitionsSummary",
    "EffectiveSetting",
    "EffectiveSettings",
    "ImportEffect",
    "State",
    "WrittenTopology",
]


@dataclass(frozen=True)
class DefinitionsSummary:
    """What an export holds."""

    #: ``cluster``, where entries name their vhosts, or ``vhost``.
    layout: Literal["cluster", "vhost"]
    #: The product that wrote it.
    product: str
    #: The version that wrote it, where the export says so.
    rabbitmq: str | None
    #: Its vhosts, sorted.
    vhosts: tuple[str, ...]
    #: Entries that cannot be read, each with ``code``, ``section``, ``index``, ``vhost``, ``name``, ``message`` and ``at``.
    faults: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class ImportEffect:
    """What an import would not simply create."""

    outcome: Literal["refused", "skipped", "changed"]
    vhost: str | None
    message: str
    #: Line and column in the export.
    at: Mapping[str, int] | None


@dataclass(frozen=True)
class Definitions:
    """A broker's exported definitions: their text, or the document itself."""

    export: str | Mapping[str, Any]

    @property
    def source(self) -> Mapping[str, Any]:
        """What operations take as ``definitions``."""
        return {"text": self.export} if isinstance(self.export, str) else {"document": self.export}

    def summary(self) -> DefinitionsSummary:
        """What it holds, and every entry that cannot be read; raises `Error` when it is no export."""
        answer = call("definitions.read", {"definitions": self.source})
        return DefinitionsSummary(**{**answer, "vhosts": tuple(answer["vhosts"]), "faults": tuple(answer["faults"])})

    def preview_import(self, there: Iterable[State] = (), *, rabbitmq: str | None = None) -> list[ImportEffect]:
        """What importing it into a broker of a version would refuse, skip or change, in the order of the file. ``there`` are
        the vhosts that the broker has; none is a fresh broker, which has ``/``."""
        question = {
            "definitions": self.source,
            "rabbitmq": rabbitmq,
            "there": [state.to_json() for state in there],
        }
        effects = call("definitions.preview", question)["effects"]
        return [ImportEffect(one["outcome"], one["vhost"], one["message"], one["at"]) for one in effects]


@dataclass(frozen=True)
class WrittenTopology:
    """A topology document that was written."""

    #: YAML.
    text: str
    #: What has no place in it, as sentences.
    left_out: tuple[str, ...]

    def topology(self) -> Topology:
        """The topology of the document."""
        return Topology.parse(self.text)


@dataclass(frozen=True)
class EffectiveSetting:
    """One setting that an object really has."""

    #: ``None`` when it cannot be told.
    value: Any
    source: Literal["argument", "policy", "operator_policy", "default", "undecided"]
    #: The policy's name, where one decides.
    policy: str | None
    why: str


@dataclass(frozen=True)
class EffectiveSettings:
    """What a queue or an exchange really has: arguments and policies merged."""

    #: By policy key, without ``x-``.
    settings: Mapping[str, EffectiveSetting]
    #: Why some of it cannot be told, as sentences.
    open: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """One vhost. It is read when it is used: what is wrong with it is raised as `Error` then."""

    source: Topology | Definitions
    #: Which vhost of an export that holds several; for a topology the name, ``/`` unless said.
    vhost: str | None = None
    #: The RabbitMQ version to judge by; else the export's, else the newest known one.
    rabbitmq: str | None = None
    #: The vhost's default queue type, where the export does not say it.
    default_queue_type: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As operations take it."""
        return {
            "topology" if isinstance(self.source, Topology) else "definitions": self.source.source,
            "vhost": self.vhost,
            "rabbitmq": self.rabbitmq,
            "default_queue_type": self.default_queue_type,
        }

    def document(self) -> Mapping[str, Any]:
        """Everything that it holds, ``acemq.state/1``."""
        return call("definitions.state", {"state": self.to_json()})

    def to_topology(self) -> WrittenTopology:
        """The topology document that stands for everything in it."""
        answer = call("definitions.to_topology", {"state": self.to_json()})
        return WrittenTopology(answer["text"], tuple(answer["left_out"]))

    def to_definitions(self) -> Definitions:
        """The definitions that a broker imports to hold the same."""
        return Definitions(call("topology.to_definitions", {"state": self.to_json()})["definitions"])

    def effective(self, kind: Literal["queue", "exchange"], name: str) -> EffectiveSettings:
        """What a queue or an exchange really has, with the reasons."""
        answer = call("policy.effective", {"state": self.to_json(), "kind": kind, "name": name})
        settings = {
            key: EffectiveSetting(**{**setting, **table_from_json({"value": setting["value"]})})
            for key, setting in answer["settings"].items()
        }
        return EffectiveSettings(settings, tuple(answer["open"]))
