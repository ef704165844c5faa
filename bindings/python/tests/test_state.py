"""States: exports and topologies into each other, and what policies make of a vhost."""

from datetime import timedelta

import pytest

import acemq_core as acemq
from acemq_core import Definitions, EmbeddedBroker, Error, RetryPolicy, State, Topology

TOPOLOGY = Topology.parse(
    """
    exchanges: { orders: { type: topic } }
    queues: { q: { type: classic, arguments: { x-max-length: 5 } }, eu: { dead_letter: true } }
    bindings: [ { queue: q, exchange: orders, routing_key: "a.#" } ]
    policies: [ { name: limits, pattern: "^q$", definition: { max-length: 3, message-ttl: 1000 } } ]
    """
)


def test_a_topology_survives_export_and_return() -> None:
    exported = State(TOPOLOGY, rabbitmq="4.0.5").to_definitions()
    summary = exported.summary()
    assert (summary.vhosts, summary.faults) == (("/",), ())
    written = State(exported, rabbitmq="4.0.5").to_topology()
    assert written.topology().tables().fingerprint == TOPOLOGY.tables().fingerprint
    held = {queue["name"] for queue in State(exported).document()["queues"]}
    assert held == {"q", "eu", "eu.dlq", "eu.parked"}
    with pytest.raises(Error) as caught:
        Definitions("{}").summary()
    assert caught.value.code == "not_definitions"


def test_the_smaller_of_argument_and_policy_holds() -> None:
    effective = State(TOPOLOGY, rabbitmq="4.0.5").effective("queue", "q")
    length, ttl = effective.settings["max-length"], effective.settings["message-ttl"]
    assert (length.value, length.source, length.policy) == (3, "policy", "limits")
    assert (ttl.value, ttl.source) == (1000, "policy") and ttl.why
    with pytest.raises(Error) as caught:
        State(TOPOLOGY).effective("queue", "nobody")
    assert caught.value.code == "no_such_object"


def test_an_import_says_what_it_would_not_create() -> None:
    exported = State(TOPOLOGY, rabbitmq="4.0.5").to_definitions()
    assert exported.preview_import(rabbitmq="4.0.5") == []
    other = State(Topology.builder().queue("q", type="classic").build(), rabbitmq="4.0.5")
    effects = exported.preview_import([other], rabbitmq="4.0.5")
    assert [effect.outcome for effect in effects] and all(effect.message for effect in effects)


def test_a_scenario_is_played() -> None:
    scenario = {
        "rabbitmq": "4.0.5",
        "topology": {"queues": {"q": {"type": "classic"}}},
        "steps": [
            {"at": "0s", "publish": {"exchange": "", "key": "q", "body": "1", "expiration": "1s"}},
            {"at": "2s", "expect": {"q": 0}},
        ],
    }
    assert acemq.simulate(scenario)["format"] == "acemq.simulation/1"
    with pytest.raises(Error) as caught:
        acemq.simulate("steps: 5")
    assert caught.value.code == "scenario_invalid"


def test_a_policy_is_described_with_ladder_and_decision() -> None:
    described = RetryPolicy("exponential(6, 10s)").describe("orders", attempt=3, age=timedelta(minutes=1))
    assert described["format"] == "acemq.retry/1"
    assert (described["rung"], described["wait_ms"]) == ("orders.retry.40s", 40_000)


def test_a_broker_exports_what_it_holds() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5", topology=TOPOLOGY)
    assert State(broker.definitions()).document()["fingerprint"] == broker.state()["fingerprint"]
