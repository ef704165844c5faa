"""Where messages go.

>>> topology = Topology.parse("exchanges: { orders: { type: topic } }\\nqueues: { eu: {} }\\n"
...     "bindings: [ { queue: eu, exchange: orders, routing_key: eu.# } ]")
>>> Router(topology).route("orders", "eu.paid")
['eu']
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._native import _acemq
from ._values import headers_to_json
from .operations import to_json
from .state import Definitions, State
from .topology import Topology

__all__ = ["Route", "Router"]


@dataclass(frozen=True)
class Route:
    """Where a message goes, and why."""

    #: The queues that get it, sorted.
    queues: tuple[str, ...]
    #: The way of every copy.
    copies: tuple[Mapping[str, Any], ...]
    #: Exchanges from which a copy went nowhere.
    dead_ends: tuple[Mapping[str, Any], ...]
    #: Exchanges whose choice is not known.
    opaque: tuple[Mapping[str, Any], ...]
    #: Bindings that came near.
    misses: tuple[Mapping[str, Any], ...]
    exchange_exists: bool
    #: The document ``acemq.route/1``.
    document: Mapping[str, Any]

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Route:
        return cls(
            tuple(document["queues"]),
            tuple(document["copies"]),
            tuple(document["dead_ends"]),
            tuple(document["opaque"]),
            tuple(document["misses"]),
            document["exchange_exists"],
            document,
        )


def message_to_json(
    exchange: str,
    key: str,
    headers: Mapping[str, Any] | None,
    cc: Iterable[str],
    bcc: Iterable[str],
    explain: bool,
) -> dict[str, Any]:
    """A message as routing takes it."""
    return {
        "exchange": exchange,
        "key": key,
        "headers": headers_to_json(headers or {}),
        "cc": list(cc),
        "bcc": list(bcc),
        "explain": explain,
    }


class Router:
    """The exchanges, queues and bindings of a vhost, ready to route many messages. It never changes.

    A `Topology` is routed as if all of it was declared; a `State` says more, such as the version. Raises `Error` when they
    cannot be used.
    """

    __slots__ = ("_router",)

    def __init__(self, source: State | Topology | Definitions) -> None:
        state = source if isinstance(source, State) else State(source)
        self._router = _acemq.Router(to_json(state.to_json()))

    def route(
        self,
        exchange: str,
        key: str,
        headers: Mapping[str, Any] | None = None,
        *,
        cc: Iterable[str] = (),
        bcc: Iterable[str] = (),
    ) -> list[str]:
        """The queues that a message goes to, sorted."""
        if not (headers or cc or bcc):
            return self._router.queues(exchange, key)
        message = message_to_json(exchange, key, headers, cc, bcc, explain=False)
        queues: list[str] = json.loads(self._router.route(to_json(message)))["queues"]
        return queues

    def explain(
        self,
        exchange: str,
        key: str,
        headers: Mapping[str, Any] | None = None,
        *,
        cc: Iterable[str] = (),
        bcc: Iterable[str] = (),
    ) -> Route:
        """The way of every copy of a message, its dead ends, and bindings that came near."""
        message = message_to_json(exchange, key, headers, cc, bcc, explain=True)
        return Route._of(json.loads(self._router.route(to_json(message))))
