"""Runs the conformance suites through the public surface of `acemq_core`.

    python conformance.py [FOLDER]      the folder that holds index.json; ../../../conformance unless said

Prints each failed case and ``N passed, N failed``; fails as well when fewer or more cases ran than the index says.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import conformance_embedded

import acemq_core as acemq
from acemq_core import (
    BindingDeclaration,
    Definitions,
    Error,
    ExchangeDeclaration,
    Ladder,
    PlanSession,
    QueueDeclaration,
    RetryPolicy,
    Router,
    State,
    TopicMatcher,
    Topology,
    milliseconds,
)

Json = Any
Case = Mapping[str, Any]

DEFAULT_FOLDER = Path(__file__).resolve().parents[3] / "conformance"


def ms(duration: timedelta | None) -> int | None:
    return None if duration is None else milliseconds(duration)


def delta(milliseconds_: int) -> timedelta:
    return timedelta(milliseconds=milliseconds_)


def decide(case: Case) -> Json:
    policy = RetryPolicy(case["policy"])
    age = case.get("age_ms")
    decision = policy.decide(case["attempt"], None if age is None else delta(age), case.get("u", 0.5))
    rung = Ladder(case["queue"], policy).rung_of(decision) if "queue" in case else None
    return {
        "retry": decision.retry,
        "reason": decision.reason,
        "wait_ms": ms(decision.wait),
        "in_broker": decision.in_broker,
        "give_up_text": decision.give_up_text,
        "rung": rung and rung.name,
    }


def policy(case: Case) -> Json:
    policy = RetryPolicy(case["policy"])
    return {
        "text": policy.text,
        "kind": policy.kind,
        "max_attempts": policy.max_attempts,
        "first_ms": ms(policy.first),
        "cap_ms": ms(policy.cap),
        "multiplier_thousandths": policy.multiplier_thousandths,
        "jitter": policy.jitter,
        "max_age_ms": ms(policy.give_up_after),
        "threshold_ms": ms(policy.wait_in_broker_from),
        "broker_rungs_ms": [ms(delay) for delay in policy.broker_delays],
    }


def schedule(case: Case) -> Json:
    schedule = RetryPolicy(case["policy"]).schedule
    start = case.get("from", 0)
    return {"entries": len(schedule), "delays_ms": [ms(wait) for wait in schedule[start : start + case.get("count", 100)]]}


def rung_for(case: Case) -> Json:
    policy = RetryPolicy(case["policy"])
    rung = Ladder(case["queue"], policy).rung_for(delta(case["delay_ms"])) if "queue" in case else None
    return {"delay_ms": ms(policy.rung_for(delta(case["delay_ms"]))), "rung": rung and rung.name}


def ladder(case: Case) -> Json:
    ladder = Ladder(case["queue"], RetryPolicy(case["policy"]))
    exchange, binding = ladder.exchange, ladder.binding
    return {
        "queue": ladder.queue,
        "rungs": [
            {
                **rung.declaration.to_json(),
                "delay_ms": ms(rung.delay),
                "type": "classic",
                "fingerprint": rung.declaration.fingerprint,
            }
            for rung in ladder.rungs
        ],
        "exchange": exchange and {**exchange.to_json(), "fingerprint": exchange.fingerprint},
        "binding": binding
        and {
            "exchange": binding.source,
            "queue": binding.destination,
            "routing_key": binding.routing_key,
            "arguments": binding.arguments,
            "fingerprint": binding.fingerprint,
        },
    }


def queue(form: Case | None) -> QueueDeclaration | None:
    return None if form is None else QueueDeclaration(**form)


def exchange(form: Case | None) -> ExchangeDeclaration | None:
    return None if form is None else ExchangeDeclaration(**form)


def fingerprint(case: Case) -> Json:
    ((kind, form),) = case["declaration"].items()
    kinds = {"queue": QueueDeclaration, "exchange": ExchangeDeclaration, "binding": BindingDeclaration}
    declaration = kinds[kind](**form)
    return {"canonical": acemq.canonical(declaration), "fingerprint": acemq.fingerprint(declaration)}


def equivalence(case: Case) -> Json:
    stored, wanted = QueueDeclaration(**case["stored"]), QueueDeclaration(**case["wanted"])
    answer = acemq.compare_queues(
        stored, wanted, rabbitmq=case.get("rabbitmq"), default_queue_type=case.get("default_queue_type")
    )
    return {
        "equivalent": answer.equivalent,
        "differences": [
            {"argument": one.argument, "wanted": one.wanted, "current": one.current, "compared": one.compared}
            for one in answer.differences
        ],
    }


def predict(case: Case) -> Json:
    ((kind, pair),) = case["declare"].items()
    read = queue if kind == "queue" else exchange
    wanted = read(pair["wanted"])
    assert wanted is not None
    answer = acemq.predict(
        wanted,
        read(pair.get("existing")),
        rabbitmq=case.get("rabbitmq"),
        vhost=case.get("vhost"),
        default_queue_type=case.get("default_queue_type"),
    )
    refused = answer.refused
    return {
        "accepted": answer.accepted,
        "refused": refused and {"code": refused.code, "text": refused.text, "scope": refused.scope},
    }


def explain(case: Case) -> Json:
    refusal = acemq.read_refusal(case["text"], case.get("code"), case.get("name"), case.get("vhost"))
    values = {
        side: value and {"value": value.value, "type": value.type}
        for side, value in (("received", refusal.received), ("current", refusal.current))
    }
    return {
        "format": refusal.document["format"],
        "class": refusal.class_,
        "kind": refusal.kind,
        "name": refusal.name,
        "vhost": refusal.vhost,
        "argument": refusal.argument,
        **values,
        "absent": refusal.absent,
        "truncated": refusal.truncated,
        "says": refusal.says,
    }


def match_all(case: Case) -> Json:
    matcher = TopicMatcher[int]()
    # Of equal patterns each is a binding of its own.
    for index, pattern in enumerate(case["patterns"]):
        matcher.insert(pattern, index)
    return {"matches": matcher.matches_all(case["keys"])}


def topology(source: Case) -> Topology:
    ((kind, content),) = source.items()
    if kind == "text":
        return Topology.parse(content)
    return Topology.from_document(content) if kind == "document" else Topology(source)


def check(case: Case) -> Json:
    problems = topology(case["topology"]).problems()
    return {
        "format": "acemq.check/1",
        "problems": [
            {
                "code": problem.code,
                "severity": problem.severity,
                "object": problem.object,
                "fields": problem.fields,
                "message": problem.message,
                "help": problem.help,
                "at": problem.line and {"line": problem.line, "column": problem.column},
            }
            for problem in problems
        ],
    }


def tables(tables: acemq.Tables) -> Json:
    def binding(table: acemq.BindingTable) -> Json:
        declaration = table.declaration
        end = "queue" if declaration.destination_type == "queue" else "to_exchange"
        return {
            "exchange": declaration.source,
            end: declaration.destination,
            "routing_key": declaration.routing_key,
            "arguments": declaration.to_json()["arguments"],
            "fingerprint": table.fingerprint,
        }

    return {
        "format": "acemq.tables/1",
        "queues": [
            {**table.declaration.to_json(), "type": table.type, "fingerprint": table.fingerprint} for table in tables.queues
        ],
        "exchanges": [{**table.declaration.to_json(), "fingerprint": table.fingerprint} for table in tables.exchanges],
        "bindings": [binding(table) for table in tables.bindings],
        "policies": [asdict(policy) for policy in tables.policies],
        "fingerprint": tables.fingerprint,
    }


def consumer(case: Case) -> Json:
    policy = case.get("policy")
    return tables(acemq.consumer_declarations(case["queue"], None if policy is None else RetryPolicy(policy)))


def session(case: Case) -> Json:
    settings = dict(case)
    width = settings.pop("width", None)
    session = PlanSession(topology(settings.pop("topology")), **settings)
    plan = session.plan()
    return {
        "finished": session.finished,
        "questions": [question.document for question in session.questions()],
        "plan": plan.document,
        "text": plan.render("plan", width),
        "lines": plan.render("lines"),
        "block": plan.render_block("plan", width),
        "lines_block": plan.render_block("lines"),
        "drift": plan.render_drift(),
        "error": plan.error,
    }


def definitions(source: Case) -> Definitions:
    ((_, export),) = source.items()
    return Definitions(export)


def state(form: Case) -> State:
    settings = dict(form)
    source: Topology | Definitions
    if "topology" in settings:
        source = topology(settings.pop("topology"))
    else:
        source = definitions(settings.pop("definitions"))
    return State(source, **settings)


def route(case: Case) -> Json:
    message = {"exchange": "", "key": "", **case["message"]}
    explained = message.pop("explain", True)
    router = Router(state(case["state"]))
    return router.explain(**message).document if explained else {"format": "acemq.route/1", "queues": router.route(**message)}


def preview(case: Case) -> Json:
    there = [state(one) for one in case.get("there", ())]
    effects = definitions(case["definitions"]).preview_import(there, rabbitmq=case.get("rabbitmq"))
    return {"effects": [asdict(effect) for effect in effects]}


def drawn(case: Case) -> Json:
    return {"text": acemq.draw(state(case["state"]), case["form"], target=case.get("target"), all=case.get("all", False))}


def migration(case: Case) -> Json:
    given = {key: case[key] for key in ("direction", "beginning") if key in case}
    plan = acemq.plan_migration(case["file"], state(case["state"]), **given)
    return {"plan": plan.document, "text": plan.text, "checksum": plan.checksum, "refused": plan.refused}


def step(case: Case) -> Json:
    given = {key: case[key] for key in ("direction", "beginning", "run") if key in case}
    saw = case.get("saw")
    if isinstance(saw, dict):
        saw = [acemq.QueueSight(**sight) for sight in saw["queues"]]
    return acemq.Migration(case["file"], **given).next(state(case["state"]), case["now_ms"], saw).document


def describe(case: Case) -> Json:
    options = {key: value for key, value in case.items() if key not in ("policy", "age_ms")}
    age = case.get("age_ms")
    return RetryPolicy(case["policy"]).describe(age=None if age is None else delta(age), **options)


def simulated(case: Case) -> Json:
    ((_, scenario),) = case["scenario"].items()
    start = case.get("state")
    return acemq.simulate(scenario, rabbitmq=case.get("rabbitmq"), state=start and state(start))


#: How a user of the package calls each operation.
CALLS: dict[str, Callable[[Case], Json]] = {
    "audit.check": lambda case: (
        acemq.audit(state(case["state"]), target=case.get("target"), baseline=case.get("baseline")).document
    ),
    "audit.baseline": lambda case: {
        "text": acemq.audit_baseline(state(case["state"]), target=case.get("target"), baseline=case.get("baseline"))
    },
    "audit.sarif": lambda case: acemq.audit_sarif(
        state(case["state"]), target=case.get("target"), baseline=case.get("baseline"), file=case.get("file")
    ),
    "audit.explain": lambda case: acemq.explain_finding(case["code"]),
    "audit.graph": drawn,
    "broker.equivalence": equivalence,
    "broker.explain": explain,
    "broker.predict": predict,
    "declaration.fingerprint": fingerprint,
    "definitions.preview": preview,
    "definitions.read": lambda case: asdict(definitions(case["definitions"]).summary()),
    "definitions.state": lambda case: state(case["state"]).document(),
    "definitions.to_topology": lambda case: asdict(state(case["state"]).to_topology()),
    "duration.from_nanoseconds": lambda case: {"ms": acemq.milliseconds_from_nanoseconds(case["nanoseconds"])},
    "duration.from_seconds": lambda case: {"ms": acemq.milliseconds_from_seconds(case["seconds"])},
    "duration.parse": lambda case: {"ms": ms(acemq.parse_duration(case["text"]))},
    "embedded.run": conformance_embedded.run,
    "embedded.simulate": simulated,
    "migration.plan": migration,
    "migration.step": step,
    "name.check": lambda case: acemq.check_name(case["kind"], case["name"])._asdict(),
    "name.delay": lambda case: {"text": acemq.delay_text(delta(case["delay_ms"]))},
    "name.implied": lambda case: acemq.implied_names(case["queue"])._asdict(),
    "name.retry_queue": lambda case: {"name": acemq.retry_queue(case["queue"], delta(case["delay_ms"]))},
    "plan.session": session,
    "policy.effective": lambda case: asdict(state(case["state"]).effective(case["kind"], case["name"])),
    "retry.decide": decide,
    "retry.describe": describe,
    "retry.ladder": ladder,
    "retry.policy": policy,
    "retry.rung_for": rung_for,
    "retry.schedule": schedule,
    "routing.route": route,
    "topic.match": lambda case: {"matches": acemq.topic_matches(case["pattern"], case["key"])},
    "topic.match_all": match_all,
    "topology.check": check,
    "topology.consumer": consumer,
    "topology.show": lambda case: {"text": topology(case["topology"]).intent()},
    "topology.tables": lambda case: tables(topology(case["topology"]).tables()),
    "topology.to_definitions": lambda case: {"definitions": state(case["state"]).to_definitions().export},
}


def holds(expected: Json, found: Json) -> bool:
    """Whether every key of ``expected`` is in ``found`` and equal; lists in length and order, numbers by value."""
    if isinstance(found, (int, float)) and isinstance(expected, Mapping) and len(expected) == 1:
        # Python's numbers have no widths.
        ((tag, number),) = expected.items()
        return tag in {"@b", "@B", "@s", "@u", "@I", "@i", "@f"} and bool(number == found)
    if isinstance(expected, Mapping):
        return isinstance(found, Mapping) and all(key in found and holds(expected[key], found[key]) for key in expected)
    if isinstance(expected, list):
        return (
            isinstance(found, (list, tuple))
            and len(expected) == len(found)
            and all(holds(one, other) for one, other in zip(expected, found, strict=True))
        )
    # True is 1 in Python, and not in JSON.
    return isinstance(expected, bool) == isinstance(found, bool) and bool(expected == found)


def refused(expected: Case, error: Error) -> bool:
    """Whether an error is the expected one."""
    if "code" in expected and error.code != expected["code"]:
        return False
    if not holds(expected.get("fields", {}), error.fields):
        return False
    if "problems" not in expected:
        return True
    left = list(error.problems)
    for wanted in expected["problems"]:
        match = next((p for p in left if p.code == wanted["code"] and holds(wanted.get("fields", {}), p.fields)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def run_case(operation: str, case: Case) -> str | None:
    """Why the case fails; ``None`` when it passes."""
    if operation not in CALLS:
        return f"this runner has no call for {operation}"
    try:
        try:
            found = CALLS[operation](case["input"])
        except (KeyError, OverflowError, TypeError, ValueError):
            if "error" not in case:
                raise
            # Python's types cannot say such an input at all; the raw table can.
            found = acemq.call(operation, case["input"])
    except Error as error:
        if "error" in case and refused(case["error"], error):
            return None
        return f"refused with {error!r}, fields {dict(error.fields)}"
    except Exception as error:
        return f"failed with {error!r}"
    if "error" in case:
        return f"gave {found}, and an error is expected: {case['error']}"
    return None if holds(case["expect"], found) else f"gave {found}, expected {case['expect']}"


def run(folder: Path) -> tuple[int, int, int]:
    """How many cases passed, how many failed, and how many there should be."""
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    if index["spec_version"] != acemq.spec_version():
        raise SystemExit(f"the suites have version {index['spec_version']}, the engine {acemq.spec_version()}")
    passed = failed = 0
    for entry in index["suites"]:
        suite = json.loads((folder / entry["file"]).read_text(encoding="utf-8"))
        for case in suite["cases"]:
            why = run_case(suite["operation"], case)
            if why is None:
                passed += 1
            else:
                failed += 1
                print(f"{case['id']}: {case['description']}: {why}")
    return passed, failed, index["cases"]


def main() -> int:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT_FOLDER
    passed, failed, wanted = run(folder)
    print(f"{passed} passed, {failed} failed")
    if passed + failed != wanted:
        print(f"the index has {wanted} cases")
    # The test command collects one line for each language.
    if results := os.environ.get("ACEMQ_RESULTS"):
        Path(results, "python.tsv").write_text(f"Python\t{passed + failed}\t{wanted}\t{failed}\n", encoding="utf-8")
    return 0 if not failed and passed == wanted else 1


if __name__ == "__main__":
    sys.exit(main())
