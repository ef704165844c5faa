"""The embedded broker through its typed surface."""

import copy
import pickle
from datetime import timedelta

import pytest

from acemq_core import (
    BindingDeclaration,
    BrokerRefusal,
    Cancelled,
    Delivery,
    EmbeddedBroker,
    Error,
    ExchangeDeclaration,
    Ladder,
    Permissions,
    Properties,
    RetryPolicy,
    Topology,
)

SECOND = timedelta(seconds=1)


def test_a_message_is_tried_again_as_its_policy_says() -> None:
    policy = RetryPolicy.exponential(4, 30 * SECOND)
    ladder = Ladder("orders", policy)
    topology = Topology.builder().queue_with_dead_letter("orders").retries("orders", policy).build()
    broker = EmbeddedBroker(rabbitmq="4.0.5", topology=topology, history=True)
    channel = broker.connect().channel()
    channel.publish("", "orders", b"order 1", Properties(headers={"n": 1}))
    attempt, start = 1, broker.now
    while (decision := policy.decide(attempt)).retry:
        delivery = channel.get("orders")
        assert delivery is not None and delivery.body == b"order 1"
        rung = ladder.rung_of(decision)
        assert rung is not None
        channel.publish("", rung.name, delivery.body, delivery.properties)
        channel.ack(delivery.delivery_tag)
        assert channel.get("orders") is None
        broker.advance(decision.wait)
        attempt += 1
    assert (attempt, broker.now - start) == (4, 210 * SECOND)
    last = channel.get("orders")
    assert last is not None
    # From 4.0 on a broker counts only the deaths that it has seen itself, not those that a client publishes again.
    assert [death["queue"] for death in last.properties.headers["x-death"]] == ["orders.retry.2m"]
    channel.reject(last.delivery_tag, requeue=False)
    dead = broker.contents("orders.dlq")
    assert dead is not None and [stored.body for stored in dead.ready] == [b"order 1"]
    assert broker.history()[0].message == 1


def test_a_refusal_has_the_broker_s_words_and_closes_the_channel() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5")
    connection = broker.connect()
    channel = connection.channel()
    channel.declare_queue("q", arguments={"x-message-ttl": 5})
    with pytest.raises(BrokerRefusal) as caught:
        channel.declare_queue("q")
    refusal = caught.value
    assert (refusal.reply_code, refusal.scope, refusal.code) == (406, "channel", "refused")
    assert refusal.reply_text.startswith("PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'q'")
    assert (channel.is_open, connection.is_open) == (False, True)
    twin = pickle.loads(pickle.dumps(refusal))
    assert (type(twin), twin.reply_code, str(twin)) == (BrokerRefusal, 406, str(refusal))


def test_with_blocks_close_what_they_opened() -> None:
    broker = EmbeddedBroker()
    with broker.connect() as connection:
        connection.declare_queue("mine", exclusive=True)
        with connection.channel() as channel:
            assert channel.is_open
        assert not channel.is_open
        channel.close()
        assert repr(channel) == f"<Channel {channel.number}, closed>"
    assert not connection.is_open
    connection.close()
    assert broker.contents("mine") is None


def test_consumers_are_told_what_happens() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5")
    connection = broker.connect()
    channel = connection.channel()
    channel.declare_queue("q", durable=True)
    channel.qos(1)
    assert channel.consume("q", consumer_tag="c") == "c"
    for body in ("1", b"\xff"):
        connection.publish("", "q", body, Properties(type="order", headers={"when": None}))
    (first,) = channel.take_events()
    assert isinstance(first, Delivery)
    assert (first.body, first.consumer_tag, first.properties.type, first.properties.headers) == (
        b"1",
        "c",
        "order",
        {"when": None},
    )
    channel.nack(first.delivery_tag, requeue=False)
    (second,) = channel.take_events()
    assert isinstance(second, Delivery) and second.body == b"\xff"
    channel.recover()
    channel.take_events()
    assert connection.delete_queue("q") == 0
    assert channel.take_events() == [Cancelled("c")]


def test_exchanges_bindings_policies_and_rights() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5", vhost="shop", permissions=[Permissions("reader", "", "", ".*")], max_queues=2)
    connection = broker.connect()
    connection.declare_exchange(ExchangeDeclaration("orders", "topic"))
    connection.declare_exchange_passively("orders")
    status = connection.declare_queue("", exclusive=True)
    assert status.name.startswith("amq.gen-") and connection.declare_queue_passively(status.name) == status
    binding = BindingDeclaration("orders", status.name, "a.*", arguments={"n": 1})
    connection.bind(binding)
    assert connection.publish("orders", "a.b", mandatory=True).queues == (status.name,)
    assert connection.purge(status.name) == 1
    connection.unbind(binding)
    assert connection.publish("orders", "a.b", mandatory=True).returned
    connection.delete_exchange("orders")
    broker.set_policy("p", "^q$", {"max-length": 1}, apply_to="queues")
    broker.set_operator_policy("o", "^q$", {"max-length": 5})
    assert broker.state()["policies"][0]["name"] == "p" and broker.uncertain() == []
    assert broker.clear_policy("p") and not broker.clear_policy("p")
    assert broker.clear_operator_policy("o") and not broker.clear_operator_policy("o")
    with pytest.raises(BrokerRefusal, match="ACCESS_REFUSED"):
        broker.connect("reader").declare_queue("r")
    with pytest.raises(BrokerRefusal) as caught:
        broker.connect("nobody")
    assert caught.value.reply_code == 530
    broker.set_permissions(Permissions("nobody", ".*", ".*", ".*"))
    assert broker.connect("nobody").is_open
    with pytest.raises(Error) as bad:
        broker.set_permissions(Permissions("u", "(", "", ""))
    assert bad.value.code == "permission_invalid" and not isinstance(bad.value, BrokerRefusal)


def test_a_copy_goes_its_own_way() -> None:
    broker = EmbeddedBroker(topology=Topology.builder().queue("q").build())
    twin = copy.deepcopy(broker)
    with broker.connect() as connection:
        connection.delete_queue("q")
    assert broker.contents("q") is None and twin.contents("q") is not None
