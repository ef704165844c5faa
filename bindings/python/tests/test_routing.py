"""Routers and the embedded broker agree about where messages go."""

import pytest

from acemq_core import Definitions, EmbeddedBroker, Error, Router, State, Topology

TOPOLOGY = Topology.parse(
    """
    exchanges: { orders: { type: topic }, by-region: { type: headers }, copies: { type: fanout } }
    queues: { eu: {}, all: {}, audit: { type: stream } }
    bindings:
      - { queue: eu, exchange: orders, routing_key: eu.# }
      - { queue: all, exchange: orders, routing_key: "#" }
      - { to_exchange: copies, exchange: orders, routing_key: "*.paid" }
      - { queue: audit, exchange: copies }
      - { queue: eu, exchange: by-region, arguments: { x-match: all, region: eu, priority: 5 } }
    """
)


def test_a_router_and_a_broker_send_alike() -> None:
    router, broker = Router(State(TOPOLOGY, rabbitmq="4.0.5")), EmbeddedBroker(rabbitmq="4.0.5", topology=TOPOLOGY)
    connection = broker.connect()
    for exchange, key, queues in [
        ("orders", "eu.paid", ["all", "audit", "eu"]),
        ("orders", "us.new", ["all"]),
        ("", "eu", ["eu"]),
        ("copies", "whatever", ["audit"]),
    ]:
        assert router.route(exchange, key) == queues
        assert list(router.explain(exchange, key).queues) == queues == list(broker.route(exchange, key).queues)
        assert list(connection.publish(exchange, key).queues) == queues


def test_headers_and_further_keys_count() -> None:
    router = Router(TOPOLOGY)
    assert router.route("by-region", "", {"region": "eu", "priority": 5}) == ["eu"]
    assert router.route("by-region", "", {"region": "eu"}) == []
    assert router.route("orders", "us", cc=["eu.new"]) == router.route("orders", "us", bcc=["eu.new"]) == ["all", "eu"]


def test_an_explanation_has_the_way_of_every_copy() -> None:
    route = Router(TOPOLOGY).explain("orders", "eu.paid")
    ways = {copy["queue"]: [hop["exchange"] for hop in copy["path"]] for copy in route.copies}
    assert ways == {"all": ["orders"], "eu": ["orders"], "audit": ["orders", "copies"]}
    assert Router(TOPOLOGY).explain("nowhere", "k").exchange_exists is False


def test_an_export_is_routed_as_its_topology() -> None:
    exported = EmbeddedBroker(rabbitmq="4.0.5", topology=TOPOLOGY).definitions()
    assert Router(exported).route("orders", "eu.paid") == ["all", "audit", "eu"]
    with pytest.raises(Error) as caught:
        Router(Definitions("[]"))
    assert caught.value.code == "not_definitions"
