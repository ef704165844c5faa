"""What a policy does: schedules, decisions, jitter, rungs and ladders."""

from rules import LIMIT_MS, Policy, delay_text, ladder

HOW = "computed by conformance/derive/rules.py, walking from the first wait in exact fractions of microseconds"
JITTER_HOW = "computed by conformance/derive/rules.py in IEEE doubles, in the order of operations of the contract"
LADDER_HOW = "tables and canonical lines written from sections 1 and 2 of the contract by conformance/derive/rules.py, SHA-256 by Python's hashlib"

LAST = 2**32 - 1


def part(text, start, count, note):
    policy = Policy.parse(text)
    stop = min(start + count, policy.entries)
    delays = [policy.entry(index) for index in range(start, stop)]
    where = "" if start == 0 else f" from entry {start}"
    return {
        "description": f"waits of {text}{where}{f': {note}' if note else ''}",
        "input": {"policy": text, "from": start, "count": count},
        "expect": {"entries": policy.entries, "delays_ms": delays},
    }


def schedules():
    for text, note in [
        ("none()", "no entry"),
        ("fixed(1, 10s)", "one attempt, no entry"),
        ("fixed(4, 30500ms)", "equal waits"),
        ("fixed(3, 0)", "no wait"),
        ("exponential(1, 10s)", "one attempt, no entry"),
        ("exponential(2, 10s)", "one entry"),
        ("exponential(6, 10s)", "doubling (D43)"),
        ("exponential(8, 10s, 5m)", "doubling up to the cap"),
        ("exponential(8, 10s, 10s)", "the cap is the first wait"),
        ("exponential(8, 10s, 41s)", "a cap between two waits"),
        ("exponential(6, 5s).multiplier(1)", "no growth"),
        ("exponential(20, 1ms).multiplier(1.5)", "fractions of a millisecond are carried on (D18)"),
        ("exponential(40, 1ms).multiplier(1.01)", "the slowest growth from the shortest wait (D18)"),
        ("exponential(30, 3ms).multiplier(1.1)", "fractions of a millisecond are carried on (D18)"),
        ("exponential(6, 8100ms)", "a fractional first wait (D1)"),
        ("exponential(12, 7ms).multiplier(3.333)", "three decimals are exact"),
        ("exponential(10, 1s).multiplier(1.125)", "three decimals are exact"),
        ("exponential(6, 1s).multiplier(1000)", "the fastest growth"),
        ("exponential(8, 1ms, 1h).multiplier(999.999)", "nearly the fastest growth"),
        ("exponential(60, 1s)", "saturates at the broker's limit (D17)"),
        ("exponential(60, 1s, 24h)", "a cap from the 34th and the 47th doubling on (D17)"),
        ("exponential(40, 10s, 90000h)", "a cap beyond the broker's limit is never reached"),
        ("exponential(4, 100000h).wait_in_broker_from(0)", "a first wait beyond the limit neither grows nor shrinks"),
        (f"exponential(5, {LIMIT_MS}ms)", "a first wait at the limit"),
        (f"exponential(5, {LIMIT_MS - 1}ms)", "a first wait just below the limit"),
        (f"exponential(5, {LIMIT_MS // 2}ms)", "doubled exactly to the limit"),
        (f"exponential(5, {LIMIT_MS // 2 + 1}ms)", "doubled just over the limit"),
    ]:
        yield part(text, 0, 100, note)
    for text in [
        f"exponential({LAST}, 1s)",
        f"exponential({LAST}, 1s, 5m)",
        f"exponential({LAST}, 1ms).multiplier(1.01).wait_in_broker_from(0)",
        f"fixed({LAST}, 1m)",
    ]:
        for start in (0, 27, 2_600, 1_000_000):
            yield part(text, start, 4, "the largest number of attempts")
        yield part(text, LAST - 3, 4, "the last entries")
        yield part(text, LAST - 1, 4, "behind the last entry")
    long_growth = "exponential(3000, 1ms).multiplier(1.01).wait_in_broker_from(0)"
    for start in range(0, 3_000, 250):
        yield part(long_growth, start, 5, "the slowest growth up to the limit")


POLICIES = [
    "none()",
    "fixed(3, 0)",
    "fixed(3, 29999ms)",
    "fixed(3, 30s)",
    "fixed(3, 30s).wait_in_broker_from(0)",
    "fixed(3, 30s).give_up_after(1h)",
    "exponential(6, 10s)",
    "exponential(6, 10s, 1m).give_up_after(90m)",
    "exponential(3, 45s).wait_in_broker_from(1m).jitter(0)",
    "exponential(4, 1ms).wait_in_broker_from(1ms)",
    f"exponential({LAST}, 10s, 5m)",
]


def decision(text, attempt, age, u, note, queue="orders"):
    policy = Policy.parse(text)
    given = {"policy": text, "attempt": attempt, "u": u, "queue": queue}
    if age is not None:
        given["age_ms"] = age
    answer = policy.decide(attempt, age, u)
    rung = f"{queue}.retry.{delay_text(answer['wait_ms'])}" if answer["in_broker"] else None
    shown = "" if age is None else f", age {age} ms"
    if answer["reason"]:
        note = f"{note} (D39)".strip()
    return {
        "description": f"{text}, attempt {attempt}{shown}{f': {note}' if note else ''}",
        "input": given,
        "expect": answer | {"rung": rung},
    }


def decisions():
    for text in POLICIES:
        policy = Policy.parse(text)
        yield decision(text, 0, None, 0.5, "attempt 0 counts as 1 (D14)")
        for attempt in sorted({1, 2, 3, 5, 6, 7, 100, LAST - 1, LAST}):
            yield decision(text, attempt, None, 0.5, "")
        if policy.age:
            for age, note in (
                (0, "young"),
                (policy.age - 1, "just young enough"),
                (policy.age, "exactly as old as the limit"),
                (2**53, "very old"),
                (None, "an unknown age is young enough"),
            ):
                yield decision(text, 1, age, 0.5, note)
            yield decision(text, policy.attempts, policy.age, 0.5, "attempts come before age")
        else:
            yield decision(text, 1, 2**53, 0.5, "no age limit, however old (D13)")


def jitter():
    below_one = 1.0 - 2.0**-53
    for text in [
        "fixed(2, 1s).jitter(0.2)",
        "fixed(2, 1s).jitter(1)",
        "fixed(2, 1s)",
        "fixed(2, 0).jitter(1)",
        "fixed(2, 1ms).jitter(1)",
        "fixed(2, 3ms).jitter(0.5)",
        "fixed(2, 29999ms).jitter(0.333)",
        "exponential(2, 10s)",
        "exponential(2, 7ms).jitter(0.1)",
        "fixed(2, 30s).jitter(1)",
        "fixed(2, 30s).jitter(1).wait_in_broker_from(0)",
        "fixed(2, 87600h).jitter(0.25).wait_in_broker_from(0)",
    ]:
        for u in (0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.7, 0.9, 0.999999, below_one):
            policy = Policy.parse(text)
            note = f"u is {u!r}"
            if policy.in_broker(policy.entry(0)):
                note += ", a broker wait is never jittered (D10)"
            elif policy.entry(0) == 0:
                note += ", no wait stays none (D9)"
            elif policy.decide(1, None, u)["wait_ms"] == 1:
                note += ", raised to 1 ms (D9)"
            yield decision(text, 1, None, u, note)


def rung_lookups():
    for text in [
        "exponential(6, 10s)",
        "fixed(3, 30500ms)",
        "fixed(3, 10s)",
        "none()",
        "exponential(6, 10s).wait_in_broker_from(0)",
        "exponential(6, 10s).wait_in_broker_from(1m)",
        "exponential(5, 30100ms).multiplier(1.01)",
        "exponential(20, 10s, 5m).multiplier(1.5)",
    ]:
        policy = Policy.parse(text)
        asked = {0, 1, 29_999, 30_000, 30_001, 60_000, 3_600_000, LIMIT_MS, 2**53}
        for rung in policy.rungs():
            asked.update((rung - 1, rung, rung + 1))
        for ms in sorted(asked):
            rung = policy.rung_for(ms)
            yield {
                "description": f"{text}, a delay of {ms} ms (D40)",
                "input": {"policy": text, "delay_ms": ms, "queue": "orders"},
                "expect": {"delay_ms": rung, "rung": None if rung is None else f"orders.retry.{delay_text(rung)}"},
            }


def ladders():
    for queue, text, note in [
        ("orders", "exponential(6, 10s)", "exactly three arguments a rung, no type (D44)"),
        ("orders", "exponential(6, 10s, 5m)", ""),
        ("orders", "fixed(3, 30500ms)", "half a second is in the name and in the TTL (D1, D3, D5)"),
        ("orders", "fixed(3, 32300ms)", "the TTL is exact (D5)"),
        ("orders", "exponential(3, 30100ms).multiplier(1.01)", "two rungs within one second (D4)"),
        ("orders", "exponential(9, 30s, 5m)", "each delay once"),
        ("orders", "fixed(2, 87600h)", "the longest TTL"),
        ("orders", "fixed(9, 10s)", "no rungs, no exchange, no binding (D19)"),
        ("orders", "none()", "no rungs, no exchange, no binding (D19)"),
        ("orders", "exponential(9, 1h).wait_in_broker_from(0)", "threshold 0 switches rungs off (D12)"),
        ("заказы \"новые\"\t", "fixed(2, 1m)", "any name"),
        ("q" * 244, "exponential(6, 10s)", "the longest name that has room for .retry.160s"),
        ("orders", "exponential(65, 30s).multiplier(1.01)", "64 rungs"),
    ]:
        yield {
            "description": f"{queue[:10]!r} with {text}{f': {note}' if note else ''}",
            "input": {"queue": queue, "policy": text},
            "expect": ladder(queue, Policy.parse(text)),
        }
    long = "q" * 245
    fields = {"source": long, "suffix": ".retry.160s", "bytes": 256, "limit": 255}
    yield {
        "description": "the longest rung's name has one byte too many (D45)",
        "input": {"queue": long, "policy": "exponential(6, 10s)"},
        "error": {"code": "name_too_long", "fields": fields},
    }
    for queue, code in (("", "name_empty"), ("amq.q", "name_reserved"), ("a\nb", "name_line_break")):
        yield {
            "description": f"a ladder of {queue!r}",
            "input": {"queue": queue, "policy": "exponential(6, 10s)"},
            "error": {"code": code},
        }
    yield {
        "description": "a bad policy has no ladder",
        "input": {"queue": "orders", "policy": "exponential(0, 10s, 0)"},
        "error": {"problems": [{"code": "attempts_too_few"}, {"code": "cap_zero"}]},
    }


SUITES = [
    ("schedules", "retry.schedule", HOW, schedules),
    ("decisions", "retry.decide", HOW, decisions),
    ("jitter", "retry.decide", JITTER_HOW, jitter),
    ("rung-lookup", "retry.rung_for", HOW, rung_lookups),
    ("ladders", "retry.ladder", LADDER_HOW, ladders),
]
