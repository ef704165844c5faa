"""The engine's table of operations, as every language has it: JSON in, JSON out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._native import _acemq

__all__ = ["abi_version", "call", "operations", "spec_version", "version"]


def call(operation: str, input: Mapping[str, Any]) -> dict[str, Any]:
    """Runs one operation of the table.

    >>> call("name.delay", {"delay_ms": 90_000})
    {'text': '90s'}

    Other threads run meanwhile. Raises `Error` when there is no such operation, when the input is not what it takes, and
    for whatever the operation refuses.
    """
    output: dict[str, Any] = json.loads(_acemq.call(operation, to_json(input)))
    return output


def to_json(value: Any) -> str:
    """JSON text, of any kind of mapping."""
    return json.dumps(value, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is not JSON: {value!r}")


def operations() -> list[str]:
    """The names of all operations, sorted."""
    return _acemq.operations()


def version() -> str:
    """The version of the engine, as in ``"0.1.0"``."""
    return _acemq.VERSION


def abi_version() -> int:
    """The version of the boundary between this package and its native module: major number << 16 | minor number."""
    return _acemq.ABI_VERSION


def spec_version() -> int:
    """The version of the conformance suites that this engine passes."""
    return _acemq.SPEC_VERSION
