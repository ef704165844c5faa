"""What a broker's refusal says, as data.

>>> refusal = read_refusal("PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost '/': "
...     "received none but current is the value '60000' of type 'long'")
>>> refusal.argument, refusal.current.value
('x-message-ttl', '60000')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .operations import call

__all__ = ["Refusal", "RefusalValue", "read_refusal"]


@dataclass(frozen=True)
class RefusalValue:
    """A value as the broker printed it."""

    value: str
    #: Its type as the broker names it, where it does.
    type: str | None

    @classmethod
    def _of(cls, value: Mapping[str, Any] | None) -> RefusalValue | None:
        return None if value is None else cls(value["value"], value["type"])


@dataclass(frozen=True)
class Refusal:
    """A broker's refusal, turned into the difference that it proves. A field is ``None`` where the text does not say."""

    #: ``inequivalent``, ``invalid``, ``not_found``, ``unavailable``, ``locked``, ``access_refused``, ``in_use``,
    #: ``not_empty``, ``not_implemented`` or ``other``.
    class_: str
    #: ``queue``, ``exchange``, ``binding``, ``vhost`` or ``connection``.
    kind: str | None
    name: str | None
    vhost: str | None
    argument: str | None
    #: What the declaration had.
    received: RefusalValue | None
    #: What the broker has.
    current: RefusalValue | None
    #: Which of the two has nothing: ``received`` or ``current``.
    absent: str | None
    #: Whether the broker cut its text.
    truncated: bool
    #: The same in one sentence.
    says: str
    #: The document ``acemq.refusal/1``.
    document: Mapping[str, Any]

    @classmethod
    def read(cls, text: str, code: int | None = None, name: str | None = None, vhost: str | None = None) -> Refusal:
        """Reads a refusal as clients, logs and the management API show it. The other arguments help where they are known:
        the reply code, and the name and vhost that were asked for."""
        document = call("broker.explain", {"text": text, "code": code, "name": name, "vhost": vhost})
        return cls(
            document["class"],
            document["kind"],
            document["name"],
            document["vhost"],
            document["argument"],
            RefusalValue._of(document["received"]),
            RefusalValue._of(document["current"]),
            document["absent"],
            document["truncated"],
            document["says"],
            document,
        )

    def __str__(self) -> str:
        return self.says


read_refusal = Refusal.read
