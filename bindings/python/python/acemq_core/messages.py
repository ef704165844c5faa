"""Messages, deliveries and queues as the embedded broker shows them."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Any

from ._values import headers_to_json, table_from_json

__all__ = [
    "Cancelled",
    "Delivery",
    "Happening",
    "Properties",
    "Published",
    "QueueContents",
    "QueueStatus",
    "StoredMessage",
]


@dataclass(frozen=True)
class Properties:
    """The properties of a message; ``None`` where one is not set."""

    content_type: str | None = None
    content_encoding: str | None = None
    headers: Mapping[str, Any] = field(default_factory=dict)
    #: 1 transient, 2 persistent.
    delivery_mode: int | None = None
    priority: int | None = None
    correlation_id: str | None = None
    reply_to: str | None = None
    #: Time to live in milliseconds, as text.
    expiration: str | None = None
    message_id: str | None = None
    #: Seconds since 1970.
    timestamp: int | None = None
    type: str | None = None
    user_id: str | None = None
    app_id: str | None = None
    cluster_id: str | None = None

    def _to_json(self) -> dict[str, Any]:
        form = {name: value for name, value in asdict(self).items() if value is not None}
        return {**form, "headers": headers_to_json(self.headers)}

    @classmethod
    def _of(cls, form: Mapping[str, Any]) -> Properties:
        return cls(**{**form, "headers": table_from_json(form.get("headers", {}))})


def _bytes(body: Any) -> bytes:
    return body.encode() if isinstance(body, str) else base64.b64decode(body["base64"])


@dataclass(frozen=True)
class Delivery:
    """A message as a client gets it."""

    body: bytes
    properties: Properties
    #: What to acknowledge it by.
    delivery_tag: int
    #: Whether it was given out before.
    redelivered: bool
    #: The exchange that it was last published to.
    exchange: str
    #: The routing key that it was last published with.
    routing_key: str
    #: The queue that it comes from.
    queue: str
    #: The number of the publication that it goes back to.
    message: int
    #: The consumer; ``None`` for `Channel.get`.
    consumer_tag: str | None
    #: For `Channel.get`: how many messages are ready behind it.
    remaining: int | None

    @classmethod
    def _of(cls, delivery: Mapping[str, Any]) -> Delivery:
        return cls(**{**delivery, "body": _bytes(delivery["body"]), "properties": Properties._of(delivery["properties"])})


@dataclass(frozen=True)
class Cancelled:
    """A consumer is gone because its queue is."""

    consumer_tag: str


@dataclass(frozen=True)
class Published:
    """What became of a publication."""

    #: The number that the broker gave it.
    message: int
    #: The queues that it was routed to, sorted.
    queues: tuple[str, ...]
    #: Whether its confirm is positive.
    confirmed: bool
    #: It was mandatory and no queue got it.
    returned: bool
    #: Exchanges that it reached and whose choice is not known.
    opaque: tuple[Mapping[str, Any], ...]

    @classmethod
    def _of(cls, reply: Mapping[str, Any]) -> Published:
        return cls(**{**reply, "queues": tuple(reply["queues"]), "opaque": tuple(reply["opaque"])})


@dataclass(frozen=True)
class QueueStatus:
    """A queue as ``queue.declare-ok`` tells it."""

    #: Its name: the one that the broker gave where the request named none.
    name: str
    #: Messages that are ready.
    messages: int
    consumers: int


@dataclass(frozen=True)
class StoredMessage:
    """A message in a queue."""

    body: bytes
    properties: Properties
    exchange: str
    routing_key: str
    #: The number of the publication that it goes back to.
    message: int
    #: When it expires, on the broker's clock.
    expires_at: timedelta | None
    redelivered: bool

    @classmethod
    def _of(cls, stored: Mapping[str, Any]) -> StoredMessage:
        expires = stored["expires_at_ms"]
        return cls(
            _bytes(stored["body"]),
            Properties._of(stored["properties"]),
            stored["exchange"],
            stored["routing_key"],
            stored["message"],
            None if expires is None else timedelta(milliseconds=expires),
            stored["redelivered"],
        )


@dataclass(frozen=True)
class QueueContents:
    """What a queue holds."""

    #: In the order in which they would leave.
    ready: tuple[StoredMessage, ...]
    #: How many messages consumers hold.
    unacknowledged: int
    #: Dead letters that wait until their targets take them.
    waiting: tuple[StoredMessage, ...]
    consumers: int

    @classmethod
    def _of(cls, contents: Mapping[str, Any]) -> QueueContents:
        ready, waiting = (tuple(StoredMessage._of(stored) for stored in contents[where]) for where in ("ready", "waiting"))
        return cls(ready, contents["unacknowledged"], waiting, contents["consumers"])


@dataclass(frozen=True)
class Happening:
    """One thing that happened."""

    #: When, on the broker's clock.
    at: timedelta
    #: To which publication; ``None`` for what happened to a queue.
    message: int | None
    #: What, in words.
    what: str
