"""A RabbitMQ vhost in memory: declarations, routing, consumers, dead letters and expiry as a given version does them.

Time stands still until it is told to go on, so a test of retries takes no time:

>>> from datetime import timedelta
>>> broker = EmbeddedBroker(rabbitmq="4.0.5")
>>> with broker.connect() as connection:
...     channel = connection.channel()
...     _ = channel.declare_queue("wait", arguments={
...         "x-message-ttl": 30_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders"})
...     _ = channel.declare_queue("orders")
...     _ = channel.publish("", "wait", b"order 1")
...     _ = broker.advance(timedelta(seconds=30))
...     channel.get("orders").body
b'order 1'

What the broker refuses is a `BrokerRefusal` with its own words; it closes the channel or the connection as a real one does.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from types import TracebackType
from typing import Any, Literal

from ._native import _acemq
from ._values import table_to_json
from .declarations import BindingDeclaration, ExchangeDeclaration, QueueDeclaration
from .errors import Error, Problem
from .messages import (
    Cancelled,
    Delivery,
    Happening,
    Properties,
    Published,
    QueueContents,
    QueueStatus,
)
from .names import milliseconds
from .operations import call, to_json
from .plan import Answer, Plan, PlanSession, Question
from .routing import Route, message_to_json
from .state import Definitions, State
from .topology import Topology

__all__ = ["BrokerRefusal", "Channel", "Connection", "EmbeddedBroker", "Permissions", "simulate"]


class BrokerRefusal(Error):
    """What the embedded broker refused, in RabbitMQ's words. Its ``code`` is ``"refused"``."""

    #: Reply code, such as 406.
    reply_code: int
    #: Reply text, such as ``PRECONDITION_FAILED - …``.
    reply_text: str
    #: What it closed.
    scope: Literal["channel", "connection"]

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.reply_code = problem.fields["code"]
        self.reply_text = problem.message
        self.scope = problem.fields["scope"]

    @classmethod
    def _of(cls, refused: Mapping[str, Any]) -> BrokerRefusal:
        return cls(Problem("refused", refused["text"], "", {"code": refused["code"], "scope": refused["scope"]}))


@dataclass(frozen=True)
class Permissions:
    """What a user may do: regular expressions on names; the empty one allows nothing."""

    user: str
    configure: str
    write: str
    read: str


class EmbeddedBroker:
    """One vhost of a RabbitMQ version, in memory. May be used from any thread.

    A ``topology`` is declared at the start; ``definitions`` are held from the start, whatever the rules say about them.
    """

    __slots__ = ("_broker",)

    def __init__(
        self,
        *,
        rabbitmq: str | None = None,
        vhost: str | None = None,
        default_queue_type: str | None = None,
        topology: Topology | None = None,
        definitions: Definitions | None = None,
        user: str | None = None,
        permissions: Iterable[Permissions] = (),
        deny_transient_queues: bool = False,
        relaxed_quorum_redeclare: bool = False,
        max_queues: int | None = None,
        plugin_exchange_types: Iterable[str] = (),
        start: timedelta = timedelta(0),
        history: bool = False,
    ) -> None:
        """``rabbitmq`` is the version to answer by, the newest known one unless said; ``start`` is where its clock stands,
        from 1970; ``history`` keeps what happens to messages."""
        self._broker = _acemq.Broker(
            to_json(
                {
                    "rabbitmq": rabbitmq,
                    "vhost": vhost,
                    "default_queue_type": default_queue_type,
                    "topology": topology and topology.source,
                    "definitions": definitions and definitions.source,
                    "user": user,
                    "permissions": [asdict(permission) for permission in permissions],
                    "deny_transient_queues": deny_transient_queues,
                    "relaxed_quorum_redeclare": relaxed_quorum_redeclare,
                    "max_queues": max_queues,
                    "plugin_exchange_types": list(plugin_exchange_types),
                    "start_ms": milliseconds(start),
                    "history": history,
                }
            )
        )

    def call(self, command: Mapping[str, Any]) -> dict[str, Any]:
        """Carries out a command of ``embedded.run`` and gives its reply; raises `BrokerRefusal` when that is a refusal."""
        reply: dict[str, Any] = json.loads(self._broker.call(to_json(command)))
        if "refused" in reply:
            raise BrokerRefusal._of(reply["refused"])
        return reply

    def copy(self) -> EmbeddedBroker:
        """Another broker in the same state, which goes its own way from here."""
        twin = object.__new__(EmbeddedBroker)
        twin._broker = self._broker.copy()
        return twin

    __copy__ = copy

    def __deepcopy__(self, memo: object) -> EmbeddedBroker:
        return self.copy()

    def connect(self, user: str | None = None) -> Connection:
        """Opens a connection, of the broker's own user unless said."""
        return Connection(self, self.call({"connect": {"user": user}})["connection"])

    def advance(self, duration: timedelta) -> timedelta:
        """Lets time pass, and gives the time from 1970: messages expire, unused queues go."""
        return timedelta(milliseconds=self.call({"advance": {"ms": milliseconds(duration)}})["now_ms"])

    @property
    def now(self) -> timedelta:
        """The time on the broker's clock, from 1970."""
        return self.advance(timedelta(0))

    def set_permissions(self, permissions: Permissions) -> None:
        """Adds a user, or changes what one may do."""
        self.call({"set_permissions": asdict(permissions)})

    def set_policy(
        self, name: str, pattern: str, definition: Mapping[str, Any], *, apply_to: str = "all", priority: int = 0
    ) -> None:
        """Sets a policy, or replaces the one of that name."""
        self.call({"set_policy": _policy(name, pattern, definition, apply_to, priority)})

    def set_operator_policy(
        self, name: str, pattern: str, definition: Mapping[str, Any], *, apply_to: str = "all", priority: int = 0
    ) -> None:
        """Sets an operator policy, or replaces the one of that name."""
        self.call({"set_operator_policy": _policy(name, pattern, definition, apply_to, priority)})

    def clear_policy(self, name: str) -> bool:
        """Takes a policy away; ``False`` when there was none."""
        return bool(self.call({"clear_policy": {"name": name}})["cleared"])

    def clear_operator_policy(self, name: str) -> bool:
        """Takes an operator policy away; ``False`` when there was none."""
        return bool(self.call({"clear_operator_policy": {"name": name}})["cleared"])

    def contents(self, queue: str) -> QueueContents | None:
        """What a queue holds; ``None`` when there is no such queue."""
        contents = self.call({"contents": {"queue": queue}})["contents"]
        return contents and QueueContents._of(contents)

    def state(self) -> Mapping[str, Any]:
        """Everything that the vhost holds, ``acemq.state/1``."""
        state: Mapping[str, Any] = self.call({"state": {}})["state"]
        return state

    def uncertain(self) -> list[str]:
        """What cannot be told about policies, as sentences; it counts as not set."""
        uncertain: list[str] = self.call({"state": {}})["uncertain"]
        return uncertain

    def definitions(self) -> Definitions:
        """Everything that the vhost holds, as a broker would export it."""
        return Definitions(self.call({"definitions": {}})["definitions"])

    def route(
        self,
        exchange: str,
        key: str,
        headers: Mapping[str, Any] | None = None,
        *,
        cc: Iterable[str] = (),
        bcc: Iterable[str] = (),
    ) -> Route:
        """Where a message would go, and why."""
        message = message_to_json(exchange, key, headers, cc, bcc, explain=True)
        return Route._of(self.call({"route": message})["route"])

    def history(self) -> list[Happening]:
        """What happened since the broker was made, where it keeps that."""
        return [
            Happening(timedelta(milliseconds=one["at_ms"]), one["message"], one["what"])
            for one in self.call({"history": {}})["history"]
        ]

    def run(self, session: PlanSession) -> Plan:
        """Answers a plan session to its end, each question on a connection of its own."""

        def ask(question: Question) -> Answer:
            with self.connect() as connection:
                return connection.answer_question(question)

        return session.run(ask)


def _policy(name: str, pattern: str, definition: Mapping[str, Any], apply_to: str, priority: int) -> dict[str, Any]:
    return {
        "name": name,
        "pattern": pattern,
        "definition": table_to_json(definition),
        "apply_to": apply_to,
        "priority": priority,
    }


class _Caller:
    """What can be asked on a channel, or on a connection, which opens a channel for this one request."""

    __slots__ = ("_who", "broker", "number")

    #: The broker.
    broker: EmbeddedBroker
    #: Its number, as commands name it.
    number: int

    def __init__(self, broker: EmbeddedBroker, who: str, number: int) -> None:
        self.broker = broker
        self.number = number
        self._who = {who: number}

    def _ask(self, action: str, form: Mapping[str, Any]) -> dict[str, Any]:
        return self.broker.call({**self._who, action: form})

    @property
    def is_open(self) -> bool:
        """Whether it is open; a refusal closes it."""
        return bool(self._ask("is_open", {})["open"])

    def declare_queue(
        self,
        queue: QueueDeclaration | str,
        *,
        durable: bool = True,
        exclusive: bool = False,
        auto_delete: bool = False,
        arguments: Mapping[str, Any] | None = None,
    ) -> QueueStatus:
        """``queue.declare``; the empty name asks the broker for one."""
        if isinstance(queue, str):
            queue = QueueDeclaration(queue, durable, exclusive, auto_delete, arguments or {})
        return QueueStatus(**self._ask("declare_queue", queue.to_json()))

    def declare_queue_passively(self, name: str) -> QueueStatus:
        """``queue.declare`` with ``passive``: is there a queue of that name?"""
        return QueueStatus(**self._ask("declare_queue_passively", {"name": name}))

    def declare_exchange(self, exchange: ExchangeDeclaration) -> None:
        """``exchange.declare``"""
        self._ask("declare_exchange", exchange.to_json())

    def declare_exchange_passively(self, name: str) -> None:
        """``exchange.declare`` with ``passive``"""
        self._ask("declare_exchange_passively", {"name": name})

    def bind(self, binding: BindingDeclaration) -> None:
        """``queue.bind`` or ``exchange.bind``"""
        self._ask("bind", binding.to_json())

    def unbind(self, binding: BindingDeclaration) -> None:
        """``queue.unbind`` or ``exchange.unbind``"""
        self._ask("unbind", binding.to_json())

    def delete_queue(self, name: str, *, if_unused: bool = False, if_empty: bool = False) -> int:
        """``queue.delete``: how many messages are gone with it."""
        form = {"name": name, "if_unused": if_unused, "if_empty": if_empty}
        return int(self._ask("delete_queue", form)["messages"])

    def delete_exchange(self, name: str, *, if_unused: bool = False) -> None:
        """``exchange.delete``"""
        self._ask("delete_exchange", {"name": name, "if_unused": if_unused})

    def purge(self, queue: str) -> int:
        """``queue.purge``: how many messages are gone."""
        return int(self._ask("purge", {"queue": queue})["messages"])

    def publish(
        self,
        exchange: str,
        routing_key: str,
        body: bytes | str = b"",
        properties: Properties | None = None,
        *,
        mandatory: bool = False,
    ) -> Published:
        """``basic.publish`` with a confirm."""
        encoded = body if isinstance(body, str) else {"base64": base64.b64encode(body).decode()}
        form = {"exchange": exchange, "routing_key": routing_key, "mandatory": mandatory, "body": encoded}
        reply = self._ask("publish", {**form, "properties": (properties or Properties())._to_json()})
        return Published._of(reply)


class Connection(_Caller):
    """A connection. Leaving a ``with`` block closes it, and with it its channels and its exclusive queues."""

    __slots__ = ()

    def __init__(self, broker: EmbeddedBroker, number: int) -> None:
        super().__init__(broker, "connection", number)

    def channel(self) -> Channel:
        """Opens a channel."""
        return Channel(self.broker, self._ask("open_channel", {})["channel"])

    def answer_question(self, question: Question) -> Answer:
        """The broker's answer to a question of a plan session."""
        answer = dict(self._ask("answer_question", question.document)["answer"])
        del answer["id"]
        return Answer(answer)

    def close(self) -> None:
        """Closes it; closing it again does nothing."""
        self._ask("disconnect", {})

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Connection {self.number}, {'open' if self.is_open else 'closed'}>"


class Channel(_Caller):
    """A channel. Leaving a ``with`` block closes it: what it did not acknowledge goes back to the queues."""

    __slots__ = ()

    def __init__(self, broker: EmbeddedBroker, number: int) -> None:
        super().__init__(broker, "channel", number)

    def get(self, queue: str, *, no_ack: bool = False) -> Delivery | None:
        """``basic.get``; ``None`` when the queue is empty."""
        delivery = self._ask("get", {"queue": queue, "no_ack": no_ack})["delivery"]
        return delivery and Delivery._of(delivery)

    def consume(
        self,
        queue: str,
        *,
        consumer_tag: str = "",
        no_ack: bool = False,
        exclusive: bool = False,
        arguments: Mapping[str, Any] | None = None,
    ) -> str:
        """``basic.consume``: the consumer's tag. Its messages come with `take_events`."""
        form = {
            "queue": queue,
            "consumer_tag": consumer_tag,
            "no_ack": no_ack,
            "exclusive": exclusive,
            "arguments": table_to_json(arguments or {}),
        }
        return str(self._ask("consume", form)["consumer_tag"])

    def take_events(self) -> list[Delivery | Cancelled]:
        """What the broker has told the channel since it was last asked."""
        return [
            Delivery._of(event["delivered"]) if "delivered" in event else Cancelled(event["cancelled"]["consumer_tag"])
            for event in self._ask("take_events", {})["events"]
        ]

    def cancel(self, consumer_tag: str) -> None:
        """``basic.cancel``"""
        self._ask("cancel", {"consumer_tag": consumer_tag})

    def qos(self, prefetch: int, *, all_consumers: bool = False) -> None:
        """``basic.qos``: how many messages each later consumer may hold, or all of the channel together; 0 is any number."""
        self._ask("qos", {"prefetch": prefetch, "global": all_consumers})

    def ack(self, delivery_tag: int, *, multiple: bool = False) -> None:
        """``basic.ack``"""
        self._ask("ack", {"delivery_tag": delivery_tag, "multiple": multiple})

    def nack(self, delivery_tag: int, *, multiple: bool = False, requeue: bool = True) -> None:
        """``basic.nack``; without ``requeue`` the message dies."""
        self._ask("nack", {"delivery_tag": delivery_tag, "multiple": multiple, "requeue": requeue})

    def reject(self, delivery_tag: int, *, requeue: bool = True) -> None:
        """``basic.reject``; without ``requeue`` the message dies."""
        self._ask("reject", {"delivery_tag": delivery_tag, "requeue": requeue})

    def recover(self) -> None:
        """``basic.recover``: everything that the channel holds goes back to the queues."""
        self._ask("recover", {})

    def close(self) -> None:
        """Closes it; closing it again does nothing."""
        self._ask("close_channel", {})

    def __enter__(self) -> Channel:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Channel {self.number}, {'open' if self.is_open else 'closed'}>"


def simulate(
    scenario: str | Mapping[str, Any], *, rabbitmq: str | None = None, state: State | None = None
) -> Mapping[str, Any]:
    """Plays a scenario, a timeline of messages, failures and clock steps, and gives ``acemq.simulation/1``.

    ``scenario`` is its text or the document; ``rabbitmq`` is the version whose rules hold whatever the scenario says; ``state``
    is what is there at the start, where the scenario only names a file.
    """
    source = {"text": scenario} if isinstance(scenario, str) else {"document": scenario}
    return call("embedded.simulate", {"scenario": source, "rabbitmq": rabbitmq, "state": state and state.to_json()})
