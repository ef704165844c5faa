"""AMQP field values: Python's own types on this side, the engine's tagged JSON on the other.

======================  ==========================
Python                  JSON
======================  ==========================
``bool``, ``str``       the same
``int``                 whole number
``float``               number with a fraction
``list``, ``dict``      array, object
``datetime``            ``{"@T": seconds}``
``bytes``               ``{"@x": base64}``
``decimal.Decimal``     ``{"@D": [places, digits]}``
``None``                ``{"@V": null}``, in headers
======================  ==========================

In the arguments of a declaration ``None`` stays ``null``, which the engine refuses: there it is a forgotten value, never meant.

A mapping that is tagged already passes as it is, so every AMQP type can be asked for: ``{"@f": 1.5}``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

__all__ = ["headers_to_json", "table_from_json", "table_to_json"]


def table_to_json(table: Mapping[str, Any]) -> dict[str, Any]:
    """An argument table as the engine takes it."""
    return _table_to_json(table, None)


def headers_to_json(headers: Mapping[str, Any]) -> dict[str, Any]:
    """A message's headers as the engine takes them."""
    return _table_to_json(headers, {"@V": None})


def _table_to_json(table: Mapping[str, Any], nothing: Any) -> dict[str, Any]:
    return {name: _to_json(value, nothing) for name, value in table.items()}


def _to_json(value: Any, nothing: Any) -> Any:
    if isinstance(value, (bool, int, float, str)):
        return value
    if value is None:
        return nothing
    if isinstance(value, datetime):
        return {"@T": int(value.timestamp())}
    if isinstance(value, (bytes, bytearray)):
        return {"@x": base64.b64encode(value).decode()}
    if isinstance(value, Decimal):
        sign, digits, exponent = value.as_tuple()
        if sign or not isinstance(exponent, int) or exponent > 0:
            raise ValueError(f"AMQP has decimals of digits and decimal places only, and {value} is none")
        return {"@D": [-exponent, int("".join(map(str, digits)))]}
    if isinstance(value, Mapping):
        return dict(value) if _tag(value) else _table_to_json(value, nothing)
    if isinstance(value, Sequence):
        return [_to_json(item, nothing) for item in value]
    raise TypeError(f"AMQP has no value for {type(value).__name__}: {value!r}")


def _tag(value: Mapping[str, Any]) -> str:
    """The wire letter of a tagged value, or nothing."""
    if len(value) == 1:
        (key,) = value
        if len(key) == 2 and key[0] == "@":
            return key[1]
    return ""


def table_from_json(table: Mapping[str, Any]) -> dict[str, Any]:
    """An argument table as an AMQP client takes it. The widths of numbers are the client's to choose."""
    return {name: _from_json(value) for name, value in table.items()}


def _from_json(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    tag = _tag(value)
    if not tag:
        return table_from_json(value)
    content = value[f"@{tag}"]
    if tag == "T":
        return datetime.fromtimestamp(content, timezone.utc)
    if tag in ("x", "S"):
        return base64.b64decode(content)
    if tag == "D":
        places, digits = content
        return Decimal(digits).scaleb(-places)
    if tag == "F":
        return table_from_json(content)
    return content
