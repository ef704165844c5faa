"""Runs the conformance suites through the public surface of `acemq_core`.

    python conformance.py [FOLDER]      the folder that holds index.json; ../../../conformance unless said

Prints each failed case and ``N passed, N failed``; fails as well when fewer or more cases ran than the index says.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import acemq_core as acemq
from acemq_core import Error, Ladder, RetryPolicy, milliseconds

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


def queue_table(queue: acemq.QueueDeclaration) -> Json:
    return queue.to_json()


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


#: How a user of the package calls each operation.
CALLS: dict[str, Callable[[Case], Json]] = {
    "duration.from_nanoseconds": lambda case: {"ms": acemq.milliseconds_from_nanoseconds(case["nanoseconds"])},
    "duration.from_seconds": lambda case: {"ms": acemq.milliseconds_from_seconds(case["seconds"])},
    "duration.parse": lambda case: {"ms": ms(acemq.parse_duration(case["text"]))},
    "name.check": lambda case: acemq.check_name(case["kind"], case["name"])._asdict(),
    "name.delay": lambda case: {"text": acemq.delay_text(delta(case["delay_ms"]))},
    "name.implied": lambda case: acemq.implied_names(case["queue"])._asdict(),
    "name.retry_queue": lambda case: {"name": acemq.retry_queue(case["queue"], delta(case["delay_ms"]))},
    "retry.decide": decide,
    "retry.ladder": ladder,
    "retry.policy": policy,
    "retry.rung_for": rung_for,
    "retry.schedule": schedule,
}


def holds(expected: Json, found: Json) -> bool:
    """Whether every key of ``expected`` is in ``found`` and equal; lists in length and order, numbers by value."""
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
        found = CALLS[operation](case["input"])
    except Error as error:
        if "error" in case and refused(case["error"], error):
            return None
        return f"refused with {error!r}, fields {dict(error.fields)}"
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
