"""The commands of `embedded.run` as calls of `acemq_core.EmbeddedBroker`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from acemq_core import (
    BindingDeclaration,
    BrokerRefusal,
    Cancelled,
    Channel,
    Connection,
    Definitions,
    Delivery,
    EmbeddedBroker,
    ExchangeDeclaration,
    Permissions,
    Properties,
    QueueDeclaration,
    StoredMessage,
    Topology,
    milliseconds,
)
from acemq_core._values import headers_to_json

Json = Any
Form = Mapping[str, Any]
Caller = Connection | Channel


def run(case: Form) -> Json:
    """The replies of a broker to its commands."""
    player = Player(dict(case.get("broker", {})))
    return {"replies": [player.reply(command) for command in case["commands"]]}


def text_or_base64(body: bytes) -> Json:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}


def body_of(form: Json) -> bytes | str:
    return form if isinstance(form, str) else base64.b64decode(form["base64"], validate=True)


def message(shown: Delivery | StoredMessage) -> Json:
    properties = {name: value for name, value in asdict(shown.properties).items() if value is not None}
    properties["headers"] = headers_to_json(shown.properties.headers)
    if not properties["headers"]:
        del properties["headers"]
    return {**asdict(shown), "body": text_or_base64(shown.body), "properties": properties}


def stored(shown: StoredMessage) -> Json:
    expires = shown.expires_at
    return {**message(shown), "expires_at_ms": None if expires is None else milliseconds(expires)}


class Player:
    """A broker, and who has connected to it."""

    def __init__(self, settings: dict[str, Any]) -> None:
        permissions = [Permissions(**form) for form in settings.pop("permissions", [])]
        start = timedelta(milliseconds=settings.pop("start_ms", 0))
        if "topology" in settings:
            settings["topology"] = Topology(settings["topology"])
        if "definitions" in settings:
            ((_, export),) = settings["definitions"].items()
            settings["definitions"] = Definitions(export)
        self.broker = EmbeddedBroker(permissions=permissions, start=start, **settings)
        self.callers: dict[tuple[str, int], Caller] = {}

    def reply(self, command: Form) -> Json:
        (action,) = command.keys() - {"connection", "channel"}
        who = next(((kind, command[kind]) for kind in ("connection", "channel") if kind in command), None)
        form = command[action]
        try:
            if who is None:
                return getattr(self, f"{action}_of_the_broker")(**form)
            caller = self.callers[who]
            own = getattr(self, f"{action}_of_a_caller", None)
            return own(caller, form) if own else CALLER[action](caller, form)
        except BrokerRefusal as refused:
            return {"refused": {"code": refused.reply_code, "text": refused.reply_text, "scope": refused.scope}}

    def connect_of_the_broker(self, user: str | None = None) -> Json:
        connection = self.broker.connect(user)
        self.callers["connection", connection.number] = connection
        return {"connection": connection.number}

    def open_channel_of_a_caller(self, caller: Caller, form: Form) -> Json:
        assert isinstance(caller, Connection)
        channel = caller.channel()
        self.callers["channel", channel.number] = channel
        return {"channel": channel.number}

    def advance_of_the_broker(self, ms: int) -> Json:
        return {"now_ms": milliseconds(self.broker.advance(timedelta(milliseconds=ms)))}

    def set_permissions_of_the_broker(self, **form: str) -> Json:
        self.broker.set_permissions(Permissions(**form))
        return {}

    def set_policy_of_the_broker(self, **form: Any) -> Json:
        self.broker.set_policy(**form)
        return {}

    def set_operator_policy_of_the_broker(self, **form: Any) -> Json:
        self.broker.set_operator_policy(**form)
        return {}

    def clear_policy_of_the_broker(self, name: str) -> Json:
        return {"cleared": self.broker.clear_policy(name)}

    def clear_operator_policy_of_the_broker(self, name: str) -> Json:
        return {"cleared": self.broker.clear_operator_policy(name)}

    def contents_of_the_broker(self, queue: str) -> Json:
        contents = self.broker.contents(queue)
        return {
            "contents": contents
            and {
                "ready": [stored(one) for one in contents.ready],
                "unacknowledged": contents.unacknowledged,
                "waiting": [stored(one) for one in contents.waiting],
                "consumers": contents.consumers,
            }
        }

    def state_of_the_broker(self) -> Json:
        return {"state": self.broker.state(), "uncertain": self.broker.uncertain()}

    def definitions_of_the_broker(self) -> Json:
        return {"definitions": self.broker.definitions().export}

    def route_of_the_broker(self, exchange: str = "", key: str = "", **form: Any) -> Json:
        form.pop("explain", None)
        return {"route": self.broker.route(exchange, key, **form).document}

    def history_of_the_broker(self) -> Json:
        return {"history": [{**asdict(one), "at_ms": milliseconds(one.at)} for one in self.broker.history()]}


def done(_: None) -> Json:
    return {}


def publish(caller: Any, form: Form) -> Json:
    properties = Properties(**form.get("properties", {}))
    mandatory = form.get("mandatory", False)
    published = caller.publish(
        form.get("exchange", ""),
        form.get("routing_key", ""),
        body_of(form.get("body", "")),
        properties,
        mandatory=mandatory,
    )
    return asdict(published)


def get(caller: Any, form: Form) -> Json:
    delivery = caller.get(**form)
    return {"delivery": delivery and message(delivery)}


def take_events(caller: Any, form: Form) -> Json:
    events = [
        {"cancelled": asdict(event)} if isinstance(event, Cancelled) else {"delivered": message(event)}
        for event in caller.take_events()
    ]
    return {"events": events}


def qos(caller: Any, form: Form) -> Json:
    return done(caller.qos(form["prefetch"], all_consumers=form.get("global", False)))


#: What is asked on a connection or a channel.
CALLER: dict[str, Callable[[Any, Form], Json]] = {
    "ack": lambda caller, form: done(caller.ack(**form)),
    "bind": lambda caller, form: done(caller.bind(BindingDeclaration(**form))),
    "cancel": lambda caller, form: done(caller.cancel(**form)),
    "close_channel": lambda caller, form: done(caller.close()),
    "consume": lambda caller, form: {"consumer_tag": caller.consume(**form)},
    "declare_exchange": lambda caller, form: done(caller.declare_exchange(ExchangeDeclaration(**form))),
    "declare_exchange_passively": lambda caller, form: done(caller.declare_exchange_passively(**form)),
    "declare_queue": lambda caller, form: asdict(caller.declare_queue(QueueDeclaration(**form))),
    "declare_queue_passively": lambda caller, form: asdict(caller.declare_queue_passively(**form)),
    "delete_exchange": lambda caller, form: done(caller.delete_exchange(**form)),
    "delete_queue": lambda caller, form: {"messages": caller.delete_queue(**form)},
    "disconnect": lambda caller, form: done(caller.close()),
    "get": get,
    "is_open": lambda caller, form: {"open": caller.is_open},
    "nack": lambda caller, form: done(caller.nack(**form)),
    "publish": publish,
    "purge": lambda caller, form: {"messages": caller.purge(**form)},
    "qos": qos,
    "recover": lambda caller, form: done(caller.recover()),
    "reject": lambda caller, form: done(caller.reject(**form)),
    "take_events": take_events,
    "unbind": lambda caller, form: done(caller.unbind(BindingDeclaration(**form))),
}
