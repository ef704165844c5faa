"""Audits, pictures and migrations through their typed calls."""

import json

import pytest

import acemq_core as acemq
from acemq_core import Error, State, Topology

STATE = State(
    Topology.parse(
        """
        exchanges: { orders: { type: topic } }
        queues: { orders.new: { type: classic, dead_letter_to: nowhere } }
        bindings: [ { queue: orders.new, exchange: orders, routing_key: "order.*" } ]
        """
    ),
    rabbitmq="4.0.5",
)

MIGRATION = """
acemq_migration: 1
replace:
  queue: orders.new
  with: { name: orders.new.v2, type: quorum }
"""


@pytest.mark.skipif("audit.check" not in acemq.operations(), reason="the engine has no audit")
def test_a_vhost_is_audited_and_drawn() -> None:
    audit = acemq.audit(STATE, target="4.3")
    assert audit.document["format"] == "acemq.audit/1"
    assert len(audit.findings) == len(audit.document["findings"])
    for finding in audit.findings:
        assert finding.message and acemq.explain_finding(finding.code)
    assert "orders.new" in acemq.draw(STATE, "dot") and acemq.draw(STATE).lstrip().startswith("<")
    with pytest.raises(Error) as caught:
        acemq.explain_finding("no_such_code")
    assert caught.value.code == "unknown_finding"


def test_what_is_known_is_marked_and_sarif_says_so() -> None:
    known = json.loads(acemq.audit_baseline(STATE))
    audit = acemq.audit(STATE, baseline=known)
    assert audit.findings and all(finding.document["known"] for finding in audit.findings)
    assert audit.summary["known"] == len(audit.findings) == len(known["findings"])
    run = acemq.audit_sarif(STATE, baseline=known, file="orders.yaml")["runs"][0]
    assert {result["baselineState"] for result in run["results"]} == {"unchanged"}
    with pytest.raises(Error) as caught:
        acemq.audit(STATE, baseline={"format": "acemq.baseline/9"})
    assert caught.value.code == "baseline_unreadable"


@pytest.mark.skipif("migration.plan" not in acemq.operations(), reason="the engine has no migrations")
def test_a_migration_is_planned() -> None:
    plan = acemq.plan_migration(MIGRATION, STATE)
    assert plan.document["format"] == "acemq.migration_plan/1"
    assert "orders.new.v2" in str(plan) and len(plan.checksum) == 64
    with pytest.raises(Error):
        acemq.plan_migration("replace: 5", STATE)


@pytest.mark.skipif("migration.step" not in acemq.operations(), reason="the engine has no migrations")
def test_a_migration_is_driven_order_by_order() -> None:
    migration = acemq.Migration(MIGRATION)
    order = migration.next(STATE, 0)
    assert (order.order, order.step, order.done) == ("do", 1, 0)
    assert order.action is not None and order.action["action"] in ("declare_queue", "declare_exchange")
    assert order.document["beginning"] == acemq.plan_migration(MIGRATION, STATE).beginning
    # What a run has seen can be kept, and given to another object.
    again = acemq.Migration(MIGRATION, run=migration.run).next(STATE, 0)
    assert again.action == order.action
    back = acemq.Migration(MIGRATION, direction="back").next(STATE, 0)
    assert back.order == "finished" and back.done == back.of
