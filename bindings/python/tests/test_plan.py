"""Plan sessions, driven question by question and against the embedded broker."""

import asyncio

import pytest

from acemq_core import (
    Answer,
    BindingDeclaration,
    EmbeddedBroker,
    Error,
    PlanSession,
    Question,
    QueueDeclaration,
    Topology,
)

ORDERS = Topology.parse(
    """
    exchanges: { orders: { type: topic } }
    queues: { orders.new: { dead_letter: true, retry: "exponential(6, 10s)" } }
    bindings: [ { queue: orders.new, exchange: orders, routing_key: "order.*" } ]
    """
)


def session(topology: Topology = ORDERS, **settings: object) -> PlanSession:
    return PlanSession(topology, version="4.0.5", vhost="/", **settings)  # type: ignore[arg-type]


def test_a_session_is_answered_question_by_question() -> None:
    topology = Topology.builder().queue("q", type="classic").build()
    asking = session(topology)
    (passive,) = asking.questions()
    assert (passive.id, passive.ask, passive.name, passive.declaration) == (1, "queue_passive", "q", None)
    asking.answer(passive, Answer.refused(404, "NOT_FOUND - no queue 'q' in vhost '/'"))
    assert not asking.finished
    (offer,) = asking.next_questions(5)
    assert offer.ask == "queue_offer" and isinstance(offer.declaration, QueueDeclaration)
    guard = "x-stream-max-segment-size-bytes"
    assert offer.declaration.arguments[guard] == 1000
    text = f"PRECONDITION_FAILED - invalid arg '{guard}' for queue 'q' in vhost '/' of queue type rabbit_classic_queue"
    asking.answer(offer.id, Answer.refused(406, text))
    assert asking.finished
    plan = asking.plan()
    assert str(plan) == plan.render() == "topology plan:\n  create   queue q (classic)\n"
    (action,) = plan.actions
    assert (action.verdict, action.kind, action.name, action.sends) == ("create", "queue", "q", "declare")
    assert (plan.creates, plan.has_drift_or_invalid, plan.has_unanswered, plan.fails_validation) == (
        True,
        False,
        False,
        True,
    )
    assert repr(plan) == "<Plan: 1 create>"
    with pytest.raises(Error) as caught:
        asking.answer(offer, Answer.ok())
    assert caught.value.code == "answer_refused"


def test_a_recorded_session_goes_on_where_it_was() -> None:
    recorded = [{"id": 1, "failed": "timed out"}]
    resumed = session(Topology.builder().queue("q").build(), answers=recorded)
    assert resumed.finished and resumed.plan().has_unanswered
    assert resumed.plan().actions[0].verdict == "unknown"


def test_an_apply_makes_everything_and_finds_it_again() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5")
    first = broker.run(session(apply=True))
    assert first.error is None
    # AMQP cannot report bindings.
    assert (first.summary["create"], first.summary["unknown"]) == (3 + 6, 4)
    second = broker.run(session(exchanges=True))
    assert (second.summary["present"], second.summary["create"]) == (9, 0)
    assert {queue["name"] for queue in broker.state()["queues"]} == {
        "orders.new",
        "orders.new.dlq",
        "orders.new.parked",
        "orders.new.retry.40s",
        "orders.new.retry.80s",
        "orders.new.retry.160s",
    }
    bindings = [action.binding for action in first.actions if action.kind == "binding"]
    assert bindings[-1] == BindingDeclaration("orders", "orders.new", "order.*")


def test_a_drift_stops_an_apply_before_anything_is_declared() -> None:
    broker = EmbeddedBroker(rabbitmq="4.0.5")
    with broker.connect() as connection:
        connection.declare_queue("orders.new", arguments={"x-message-ttl": 5})
    plan = broker.run(session(apply=True))
    assert [queue["name"] for queue in broker.state()["queues"]] == ["orders.new"]
    assert plan.has_drift_or_invalid and plan.error is not None
    assert plan.error.startswith("acemq: nothing was declared: 1 queue differs from the broker")
    drift = next(action for action in plan.actions if action.verdict == "drift")
    assert drift.refusal is not None and drift.refusal[0] == 406
    differences = {difference.argument: difference for difference in drift.differences}
    assert (differences["x-message-ttl"].wanted, differences["x-message-ttl"].current) == (None, 5)
    assert plan.render_drift().startswith("drift: queue orders.new: ")
    assert "DRIFT    queue orders.new" in plan.render(width=100)
    lines, notes = plan.render("lines").split("\n\n")
    assert len(lines.splitlines()) == len(plan.actions)
    assert all(line.startswith("note: ") for line in notes.splitlines())
    with pytest.raises(ValueError, match='"plan" or "lines"'):
        plan.render("table")  # type: ignore[arg-type]


def test_an_exception_while_asking_interrupts_the_session() -> None:
    def broken(question: Question) -> Answer:
        raise KeyboardInterrupt

    asking = session()
    with pytest.raises(KeyboardInterrupt):
        asking.run(broken)
    assert asking.finished
    assert asking.plan().summary["create"] == 0


def test_a_session_is_driven_from_an_event_loop() -> None:
    broker, at_once = EmbeddedBroker(rabbitmq="4.0.5"), []
    asked = 0

    async def ask(question: Question) -> Answer:
        nonlocal asked
        asked += 1
        at_once.append(asked)
        await asyncio.sleep(0)
        asked -= 1
        with broker.connect() as connection:
            return connection.answer_question(question)

    plan = asyncio.run(session(apply=True).run_async(ask, channels=4))
    assert (plan.error, plan.summary["create"]) == (None, 9)
    assert max(at_once) == 4
    assert asyncio.run(session(exchanges=True).run_async(ask)).summary["present"] == 9


def test_a_topology_with_problems_starts_no_session() -> None:
    with pytest.raises(Error) as caught:
        session(Topology.parse("queues: { '': {} }"))
    assert caught.value.code == "name_empty"


def test_what_a_program_cannot_do_is_unknown() -> None:
    plan = session().run(lambda question: Answer.cannot("no broker here"))
    assert {action.verdict for action in plan.actions if action.kind == "queue"} == {"unknown"}
    failed = session().run(lambda question: Answer.failed("timed out after 10 s"))
    assert failed.has_unanswered
