"""Plans a topology against a RabbitMQ broker and applies it, through pika.

    python plan_and_apply.py amqp://guest:guest@localhost [TOPOLOGY.yaml] [--apply]

The engine asks; this program puts each question to the broker on a channel of its own and hands the answer back. That is all
there is to it: what to ask, in which order, and what the answers mean is the engine's.

Exit 0 when the broker is as the topology says or was made so, 2 when creations are left, 3 when something differs.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

import pika
from pika.exceptions import AMQPError, ChannelClosedByBroker, ConnectionClosedByBroker

from acemq_core import (
    Answer,
    BindingDeclaration,
    Error,
    ExchangeDeclaration,
    Plan,
    PlanSession,
    Question,
    QueueDeclaration,
    RetryPolicy,
    Topology,
)


def example() -> Topology:
    """Orders that are tried again for a while, first in the consumer, then on queues in the broker."""
    return (
        Topology.builder()
        .exchange("orders", "topic")
        .queue_with_dead_letter("orders.new")
        .retries("orders.new", RetryPolicy.parse("exponential(6, 10s, 5m)"))
        .bind("orders.new", "orders", "order.*")
        .build()
    )


class Broker:
    """A connection that is opened again when a refusal has closed it."""

    def __init__(self, url: str) -> None:
        self.parameters = pika.URLParameters(url)
        self.connection = pika.BlockingConnection(self.parameters)

    def properties(self) -> Mapping[str, object]:
        """What the broker says about itself. pika's blocking connection keeps that to the connection below it."""
        below = getattr(self.connection, "_impl", None)
        return getattr(below, "server_properties", None) or {}

    def ask(self, question: Question) -> Answer:
        """Puts one question to the broker, on a channel of its own."""
        try:
            if not self.connection.is_open:
                self.connection = pika.BlockingConnection(self.parameters)
            channel = self.connection.channel()
            answer = send(channel, question)
            channel.close()
            return answer
        except ChannelClosedByBroker as refusal:
            return Answer.refused(refusal.reply_code, refusal.reply_text)
        except ConnectionClosedByBroker as refusal:
            return Answer.refused(refusal.reply_code, refusal.reply_text, "connection")
        except AMQPError as error:
            return Answer.failed(repr(error))

    def close(self) -> None:
        if self.connection.is_open:
            self.connection.close()


def send(channel: pika.adapters.blocking_connection.BlockingChannel, question: Question) -> Answer:
    """The one AMQP method that a question is."""
    declaration = question.declaration
    if question.ask == "queue_passive":
        return counted(channel.queue_declare(question.name, passive=True))
    if question.ask == "exchange_passive":
        channel.exchange_declare(question.name, passive=True)
    elif isinstance(declaration, QueueDeclaration):
        return counted(
            channel.queue_declare(
                declaration.name,
                durable=declaration.durable,
                exclusive=declaration.exclusive,
                auto_delete=declaration.auto_delete,
                arguments=dict(declaration.arguments),
            )
        )
    elif isinstance(declaration, ExchangeDeclaration):
        channel.exchange_declare(
            declaration.name,
            declaration.type,
            durable=declaration.durable,
            auto_delete=declaration.auto_delete,
            internal=declaration.internal,
            arguments=dict(declaration.arguments),
        )
    elif isinstance(declaration, BindingDeclaration):
        bind = channel.queue_bind if declaration.destination_type == "queue" else channel.exchange_bind
        bind(declaration.destination, declaration.source, declaration.routing_key, dict(declaration.arguments))
    else:
        return Answer.cannot("AMQP cannot set policies")
    return Answer.ok()


def counted(declared: pika.frame.Method[pika.spec.Queue.DeclareOk]) -> Answer:
    return Answer.ok(declared.method.message_count or 0, declared.method.consumer_count or 0)


def plan(url: str, topology: Topology, apply: bool) -> Plan:
    """Asks the broker everything, and with ``apply`` declares what is missing."""
    broker = Broker(url)
    try:
        # Product and version decide how the broker can be asked.
        properties = broker.properties()
        session = PlanSession(
            topology,
            product=str(properties["product"]) if "product" in properties else None,
            version=str(properties["version"]) if "version" in properties else None,
            vhost=broker.parameters.virtual_host,
            exchanges=True,
            apply=apply,
        )
        return session.run(broker.ask)
    finally:
        broker.close()


def main(arguments: list[str]) -> int:
    apply = "--apply" in arguments
    names = [argument for argument in arguments if argument != "--apply"]
    if not 1 <= len(names) <= 2:
        print(__doc__, file=sys.stderr)
        return 1
    try:
        topology = Topology.parse(open(names[1], encoding="utf-8").read()) if len(names) == 2 else example()
        result = plan(names[0], topology, apply)
    except (Error, AMQPError, OSError) as error:
        print(f"plan_and_apply: {error or repr(error)}", file=sys.stderr)
        return 1
    print(result)
    if result.error:
        print(result.error, file=sys.stderr)
    if result.has_drift_or_invalid:
        return 3
    return 2 if result.creates and not apply else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
