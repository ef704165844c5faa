"""Topologies from calls and from documents."""

import pytest

import acemq_core as acemq
from acemq_core import (
    BindingDeclaration,
    BindingTable,
    Error,
    ExchangeTable,
    QueueDeclaration,
    QueueTable,
    RetryPolicy,
    Topology,
)

POLICY = RetryPolicy("exponential(6, 10s)")
DOCUMENT = """
acemq: 1
exchanges:
  orders: { type: topic }
queues:
  orders.new: { dead_letter: true, retry: "exponential(6, 10s)" }
  shipping: { type: classic, dead_letter_to: orders, arguments: { x-message-ttl: 1000 } }
bindings:
  - { queue: orders.new, exchange: orders, routing_key: "order.*" }
"""


def built() -> Topology:
    return (
        Topology.builder()
        # Settings may come before the queue that they are for.
        .retries("orders.new", POLICY)
        .of_type("shipping", "classic")
        .exchange("orders", "topic")
        .queue_with_dead_letter("orders.new")
        .queue("shipping")
        .queue_arg("shipping", "x-message-ttl", 1000)
        .dead_letter_to("shipping", "orders")
        .bind("orders.new", "orders", "order.*")
        .build()
    )


def test_calls_and_document_give_the_same_tables() -> None:
    tables = built().tables()
    assert tables == Topology.parse(DOCUMENT).tables()
    assert [queue.name for queue in tables.queues] == [
        "orders.new",
        "orders.new.dlq",
        "orders.new.parked",
        "orders.new.retry.40s",
        "orders.new.retry.80s",
        "orders.new.retry.160s",
        "shipping",
    ]
    assert [exchange.name for exchange in tables.exchanges] == ["orders", "acemq.dlx", "acemq.retry"]
    source = tables.queue("orders.new")
    assert (source.type, source.declaration.arguments) == (
        "quorum",
        {
            "x-queue-type": "quorum",
            "x-dead-letter-exchange": "acemq.dlx",
            "x-dead-letter-routing-key": "orders.new.dlq",
        },
    )
    assert tables.bindings[-1].declaration == BindingDeclaration("orders", "orders.new", "order.*")
    declared: list[QueueTable | ExchangeTable | BindingTable] = [*tables.queues, *tables.exchanges, *tables.bindings]
    for table in declared:
        assert table.fingerprint == acemq.fingerprint(table.declaration)
    with pytest.raises(KeyError):
        tables.queue("nobody")
    assert built().intent().startswith("Topology: 3 exchanges, 7 queues, 4 bindings\n")


def test_a_topology_does_not_change_when_its_builder_goes_on() -> None:
    builder = Topology.builder().queue("a")
    first = builder.build()
    builder.queue("b").auto_delete("a")
    assert [queue.name for queue in first.tables().queues] == ["a"]
    assert [queue.name for queue in builder.build().tables().queues] == ["a", "b"]


def test_every_problem_comes_at_once_with_its_place() -> None:
    wrong = Topology.parse("acemq: 1\nqueues:\n  a: { dead_leter: true }\nbindings:\n  - { queue: b, exchange: c }\n")
    (typo, *_) = problems = wrong.problems()
    assert (typo.code, typo.severity, typo.fields["nearest"]) == ("unknown_key", "error", "dead_letter")
    assert (typo.line, typo.column) == (3, 8)
    assert typo.object == {"kind": "queue", "name": "a"}
    with pytest.raises(Error) as caught:
        wrong.tables()
    errors = [problem.code for problem in problems if problem.severity == "error"]
    assert [problem.code for problem in caught.value.problems] == errors
    missing = Topology.builder().dead_letter_to("nobody", "dlx").build()
    assert [problem.code for problem in missing.problems()] == ["dead_letter_undeclared"]


def test_a_warning_does_not_stop_a_topology() -> None:
    topology = Topology.builder().queue("q", type="classic").transient("q").build()
    assert [(problem.code, problem.severity) for problem in topology.problems()] == [("transient_queue", "warning")]
    assert topology.tables().queues[0].declaration.durable is False


def test_a_consumer_never_declares_the_queue_that_it_consumes() -> None:
    tables = acemq.consumer_declarations("orders", POLICY)
    assert [queue.name for queue in tables.queues] == [
        "orders.dlq",
        "orders.parked",
        "orders.retry.40s",
        "orders.retry.80s",
        "orders.retry.160s",
    ]
    assert [queue.name for queue in acemq.consumer_declarations("orders").queues] == ["orders.dlq", "orders.parked"]
    with pytest.raises(Error):
        acemq.consumer_declarations("amq.q")


def test_every_call_of_the_builder_reaches_the_document() -> None:
    topology = (
        Topology.builder()
        .exchange("a", "direct", durable=False, auto_delete=True, internal=True, arguments={"x-a": 1})
        .exchange("b", "fanout", alternate_exchange="a")
        .external_exchange("theirs")
        .queue("x", type="stream", arguments={"x-max-age": "7D"})
        .classic_queue_with_dead_letter("c", {"x-message-ttl": 5})
        .queue("d")
        .exclusive("d")
        .auto_delete("d")
        .queue("e")
        .dead_letters("e")
        .bind("x", "theirs", "k", {"n": b"\x00"})
        .bind_exchange("a", "b", "#")
        .policy("limits", "^c$", {"max-length": 5}, apply_to="queues", priority=2)
        .build()
    )
    tables = topology.tables()
    a, b = (exchange.declaration for exchange in tables.exchanges[:2])
    assert (a.durable, a.auto_delete, a.internal, a.arguments) == (False, True, True, {"x-a": 1})
    assert b.arguments == {"alternate-exchange": "a"}
    assert [queue.name for queue in tables.queues] == ["x", "c", "c.dlq", "c.parked", "d", "e", "e.dlq", "e.parked"]
    assert tables.queue("x").declaration.arguments == {"x-queue-type": "stream", "x-max-age": "7D"}
    assert tables.queue("c").declaration.arguments["x-message-ttl"] == 5
    assert tables.queue("d").declaration == QueueDeclaration("d", exclusive=True, auto_delete=True)
    own = [binding.declaration for binding in tables.bindings if binding.declaration.source in ("theirs", "b")]
    assert own == [
        BindingDeclaration("theirs", "x", "k", "queue", {"n": b"\x00"}),
        BindingDeclaration("b", "a", "#", "exchange"),
    ]
    (policy,) = tables.policies
    assert (policy.name, policy.pattern, policy.apply_to, policy.priority, policy.definition) == (
        "limits",
        "^c$",
        "queues",
        2,
        {"max-length": 5},
    )
