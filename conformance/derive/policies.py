"""Policies: canonical text, the mapping, and everything that is refused."""

from rules import LIMIT_MS, Policy

HOW = "computed by conformance/derive/rules.py: the grammar as regular expressions, the canonical text printed from exact fractions"
PROBLEMS_HOW = "written by hand from section 3 of the contract; problems may come in any order"

TEXTS = [
    "none()", "none().jitter(0.5)", "none().give_up_after(1h)", "none().wait_in_broker_from(0)",
    "fixed(1, 0)", "fixed(3, 0)", "fixed(3, 0h)", "fixed(3, 30s)", "fixed(3, 29999ms)", "fixed(3, 30500ms)", "fixed(3,60s)",
    "fixed(3, 60s).jitter(0)", "fixed(3, 60s).jitter(0.0)", "fixed(3, 60s).jitter(1)", "fixed(4294967295, 24h)",
    "fixed(2, 87600h)", "fixed(2, 100000h).wait_in_broker_from(0)", "fixed(1, 100000h)",
    "exponential(1, 1ms)", "exponential(6, 10s)", "exponential(6, 10s, 5m)", "exponential(6,10s,5m)",
    "exponential(6,   10000ms,\t300s)", "exponential(006, 010s)", "exponential(6, 10s, 10s)", "exponential(6, 90s, 2h)",
    "exponential(6, 10s).multiplier(2)", "exponential(6, 10s).multiplier(2.000)", "exponential(6, 10s).multiplier(1)",
    "exponential(6, 10s).multiplier(1.01)", "exponential(6, 10s).multiplier(1.5)", "exponential(6, 10s).multiplier(1.125000)",
    "exponential(2, 10s).multiplier(1000)", "exponential(6, 10s).multiplier(10.05)", "exponential(6, 10s).multiplier(999.999)",
    "exponential(6, 10s).jitter(0.2)", "exponential(6, 10s).jitter(0.20)", "exponential(6, 10s).jitter(0)",
    "exponential(6, 10s).jitter(0.1)", "exponential(6, 10s).jitter(0.30000000000000004)", "exponential(6, 10s).jitter(0.0000001)",
    "exponential(6, 10s).give_up_after(2h)", "exponential(6, 10s).give_up_after(1ms)", "exponential(6, 10s).give_up_after(86400s)",
    "exponential(6, 10s).wait_in_broker_from(30s)", "exponential(6, 10s).wait_in_broker_from(30000ms)",
    "exponential(6, 10s).wait_in_broker_from(0)", "exponential(6, 10s).wait_in_broker_from(1ms)",
    "exponential(6, 10s).wait_in_broker_from(1m)",
    "exponential(6, 10s, 5m).wait_in_broker_from(1m).give_up_after(2h).jitter(0.1).multiplier(1.5)",
    "exponential(6, 10s, 5m).jitter(0.25).multiplier(3).wait_in_broker_from(90s).give_up_after(36h)",
    "exponential(4294967295, 1s, 5m)", "exponential(4294967295, 1s)", "exponential(4294967295, 30s, 1h).multiplier(1.1)",
    "exponential(65, 30s).multiplier(1.01)", "exponential(7, 8100ms)", "exponential(4, 7750ms)",
    "exponential(3, 400000h).wait_in_broker_from(0)",
]


def texts():
    for text in TEXTS:
        policy = Policy.parse(text)
        case = {"description": f"{text.strip()} is {policy.text()}", "input": {"policy": text}}
        yield case | {"expect": policy.described()}
        if policy.text() != text:
            again = {"description": f"{policy.text()} is its own text", "input": {"policy": policy.text()}}
            yield again | {"expect": policy.described()}


def mappings():
    for text in TEXTS:
        policy = Policy.parse(text)
        yield {
            "description": f"the mapping of {policy.text()}",
            "input": {"policy": policy.mapping()},
            "expect": policy.described(),
        }
    zero = {"fixed": {"attempts": 3, "delay": 0}, "wait_in_broker_from": 0}
    yield {
        "description": "the number 0 is the one duration without a unit",
        "input": {"policy": zero},
        "expect": Policy.parse("fixed(3, 0).wait_in_broker_from(0)").described(),
    }


def problem(code, **fields):
    return {"code": code, "fields": fields} if fields else {"code": code}


# policy, its problems
PROBLEMS = [
    # Values.
    ("fixed(0, 1s)", [problem("attempts_too_few", attempts=0)], "D16"),
    ("exponential(0, 1s)", [problem("attempts_too_few")], "D16"),
    ("fixed(4294967296, 1s)", [problem("attempts_out_of_range", column=7)], ""),
    ("fixed(-1, 1s)", [problem("attempts_out_of_range", column=7)], "D16"),
    ("exponential(1, 0)", [problem("first_zero")], "D15"),
    ("exponential(6, 0ms, 5m)", [problem("first_zero")], "D15"),
    ("exponential(6, 10s, 0)", [problem("cap_zero", cap_ms=0)], "D6"),
    ("exponential(6, 10s, 9999ms)", [problem("cap_below_first", cap_ms=9_999, first_ms=10_000)], ""),
    ("exponential(6, 10s).multiplier(0)", [problem("multiplier_out_of_range", multiplier="0")], ""),
    ("exponential(6, 10s).multiplier(0.5)", [problem("multiplier_out_of_range")], ""),
    ("exponential(6, 10s).multiplier(1.001)", [problem("multiplier_out_of_range", multiplier="1.001")], ""),
    ("exponential(6, 10s).multiplier(1.009)", [problem("multiplier_out_of_range")], ""),
    ("exponential(6, 10s).multiplier(1000.001)", [problem("multiplier_out_of_range")], ""),
    ("exponential(6, 10s).multiplier(-2)", [problem("multiplier_out_of_range")], ""),
    ("exponential(6, 10s).multiplier(1.0005)", [problem("multiplier_too_precise", multiplier="1.0005", column=32)], ""),
    ("exponential(6, 10s).multiplier(2.0001)", [problem("multiplier_too_precise")], ""),
    ("fixed(3, 10s).multiplier(2)", [problem("multiplier_not_exponential", multiplier="2")], ""),
    ("none().multiplier(1.5)", [problem("multiplier_not_exponential")], ""),
    ("exponential(6, 10s).jitter(1.0000001)", [problem("jitter_out_of_range")], "D16"),
    ("exponential(6, 10s).jitter(5)", [problem("jitter_out_of_range", jitter=5.0)], "D16"),
    ("exponential(6, 10s).jitter(-0.1)", [problem("jitter_out_of_range", jitter=-0.1)], "D16"),
    ("exponential(6, 10s).give_up_after(0)", [problem("give_up_after_zero")], "D13"),
    ("none().give_up_after(0s)", [problem("give_up_after_zero")], "D13"),
    (f"fixed(2, {LIMIT_MS + 1}ms)", [problem("broker_delay_too_long", delay_ms=LIMIT_MS + 1, limit_ms=LIMIT_MS)], "D45"),
    ("exponential(2, 100000h)", [problem("broker_delay_too_long")], "D45"),
    ("exponential(66, 30s).multiplier(1.01)", [problem("too_many_rungs", rungs=65, limit=64)], ""),
    ("exponential(100, 1ms).multiplier(1.5).wait_in_broker_from(1ms)", None, ""),
    ("exponential(4294967295, 1h, 87600h).multiplier(1.05)", None, ""),
    (
        "exponential(0, 0, 0).multiplier(1.001).jitter(2).give_up_after(0)",
        [
            problem("attempts_too_few"),
            problem("first_zero"),
            problem("cap_zero"),
            problem("multiplier_out_of_range"),
            problem("jitter_out_of_range"),
            problem("give_up_after_zero"),
        ],
        "all at once",
    ),
    (
        "exponential(3, 100000h, 1h).jitter(2)",
        [problem("cap_below_first"), problem("jitter_out_of_range"), problem("broker_delay_too_long")],
        "all at once",
    ),
    # The grammar.
    ("", [problem("policy_syntax", column=1)], ""),
    (" none()", [problem("policy_syntax", column=1)], ""),
    ("none() ", [problem("policy_syntax", column=7)], ""),
    ("none", [problem("policy_syntax", column=5)], ""),
    ("none( )", [problem("policy_syntax", column=6)], ""),
    ("none(1)", [problem("policy_syntax", column=6)], ""),
    ("None()", [problem("unknown_policy", column=1, nearest="none")], ""),
    ("exponental(6, 10s)", [problem("unknown_policy", column=1, nearest="exponential")], ""),
    ("fixed()", [problem("policy_syntax", column=7)], ""),
    ("fixed(3)", [problem("policy_syntax", column=8)], ""),
    ("fixed(3, )", [problem("policy_syntax", column=10)], ""),
    ("fixed(3 , 10s)", [problem("policy_syntax", column=8)], "blanks only after a comma"),
    ("fixed( 3, 10s)", [problem("policy_syntax", column=7)], "blanks only after a comma"),
    ("fixed(3, 10s )", [problem("policy_syntax", column=13)], "blanks only after a comma"),
    ("fixed(3, 10s, 1m)", [problem("policy_syntax", column=13)], ""),
    ("fixed(3, 10s", [problem("policy_syntax", column=13)], ""),
    ("fixed(3, 10s))", [problem("policy_syntax", column=14)], ""),
    ("fixed(3, 10s).", [problem("policy_syntax", column=15)], ""),
    ("fixed(3, 10s) .jitter(0.1)", [problem("policy_syntax", column=14)], ""),
    ("fixed(3, 10s).jitter", [problem("policy_syntax", column=21)], ""),
    ("fixed(3, 10s).jitter()", [problem("policy_syntax", column=22)], ""),
    ("fixed(3, 10s).jitter(0.1, 0.2)", [problem("policy_syntax", column=25)], ""),
    ("fixed(3, 10s).jitter(.1)", [problem("policy_syntax", column=22)], ""),
    ("fixed(3, 10s).jitter(1.)", [problem("policy_syntax", column=22)], ""),
    ("fixed(3, 10s).jitter(1e-1)", [problem("policy_syntax", column=22)], ""),
    ("fixed(3, 10s).jitter(+1)", [problem("policy_syntax", column=22)], ""),
    ("fixed(x, 10s)", [problem("policy_syntax", column=7)], ""),
    ("fixed(3.0, 10s)", [problem("policy_syntax", column=7)], ""),
    ("fixed(3, 10s).jitter(0.1).jitter(0.1)", [problem("repeated_option", column=27, option="jitter")], ""),
    ("fixed(3, 10s).giveup_after(2h)", [problem("unknown_option", column=15, nearest="give_up_after")], ""),
    ("exponential(6, 10s, 5m, 2)", [problem("policy_syntax", column=23)], ""),
    ("fixed(3, 10)", [problem("duration_no_unit", column=12)], ""),
    ("fixed(3, 1.5s)", [problem("duration_fraction", column=11)], ""),
    ("fixed(3, 1d)", [problem("duration_unknown_unit", column=11)], ""),
    ("fixed(3, 1m30s)", [problem("duration_trailing", column=12)], ""),
    ("fixed(3, -1s)", [problem("duration_no_digits", column=10)], "D16"),
    ("fixed(3, 18446744073709551616ms)", [problem("duration_too_large", column=10)], ""),
    (
        "exponential(x, 10, 1d).multiplier(1.0005).jitter(y).give_up_after(2)",
        [
            problem("policy_syntax", column=13),
            problem("duration_no_unit", column=18),
            problem("duration_unknown_unit", column=21),
            problem("multiplier_too_precise", column=35),
            problem("policy_syntax", column=50),
            problem("duration_no_unit", column=68),
        ],
        "all at once",
    ),
    # The mapping.
    ({}, [problem("missing_key")], ""),
    (None, [problem("wrong_value")], ""),
    (6, [problem("wrong_value")], ""),
    (["none()"], [problem("wrong_value")], ""),
    ({"none": None}, [problem("wrong_value", key="none")], ""),
    ({"none": {"attempts": 1}}, [problem("unknown_key", key="none.attempts")], ""),
    ({"none": {}, "fixed": {"attempts": 3, "delay": "1s"}}, [problem("duplicate_key")], ""),
    ({"fixed": {}}, [problem("missing_key", key="fixed.attempts"), problem("missing_key", key="fixed.delay")], ""),
    ({"fixed": {"atempts": 3, "attempts": 3, "delay": "1s"}}, [problem("unknown_key", key="fixed.atempts", nearest="attempts")], ""),
    ({"fixed": {"attempts": 3, "delay": 10}}, [problem("duration_no_unit", key="fixed.delay")], ""),
    ({"fixed": {"attempts": 3, "delay": 1.5}}, [problem("wrong_value", key="fixed.delay")], ""),
    ({"fixed": {"attempts": "3", "delay": "1s"}}, [problem("wrong_value", key="fixed.attempts")], ""),
    ({"fixed": {"attempts": 2.5, "delay": "1s"}}, [problem("wrong_value", key="fixed.attempts")], ""),
    ({"fixed": {"attempts": -1, "delay": "1s"}}, [problem("attempts_out_of_range", key="fixed.attempts")], "D16"),
    ({"fixed": {"attempts": 2**32, "delay": "1s"}}, [problem("attempts_out_of_range", key="fixed.attempts")], ""),
    ({"fixed": {"attempts": 3, "delay": "1s"}, "give_up": "2h"}, [problem("unknown_key", key="give_up", nearest="give_up_after")], ""),
    ({"fixed": {"attempts": 3, "delay": "1s"}, "multiplier": 2}, [problem("unknown_key", key="multiplier")], "the multiplier stands beside first"),
    ({"exponential": {"attempts": 6, "first": "10s", "multiplier": "1.5"}}, [problem("wrong_value", key="exponential.multiplier")], ""),
    ({"exponential": {"attempts": 6, "first": "10s", "multiplier": 1.0005}}, [problem("multiplier_too_precise", key="exponential.multiplier")], ""),
    ({"exponential": {"attempts": 6, "first": "10s", "multiplier": 1.001}}, [problem("multiplier_out_of_range", key="exponential.multiplier")], ""),
    ({"exponential": {"attempts": 6, "first": "10s"}, "jitter": "0.1"}, [problem("wrong_value", key="jitter")], ""),
    ({"exponential": {"attempts": 6, "first": "10s"}, "jitter": True}, [problem("wrong_value", key="jitter")], ""),
    ({"exponential": {"attempts": 6, "first": "0", "cap": "0"}}, [problem("first_zero"), problem("cap_zero")], "D6, D15"),
]


def problems():
    for policy, wanted, note in PROBLEMS:
        if wanted is None:
            parsed = Policy.parse(policy)
            assert len(parsed.rungs()) > 64, policy
            wanted = [problem("too_many_rungs", rungs=len(parsed.rungs()), limit=64)]
        codes = " and ".join(found["code"] for found in wanted)
        suffix = f" ({note})" if note else ""
        yield {
            "description": f"{policy if isinstance(policy, str) else 'a mapping'!r}: {codes}{suffix}",
            "input": {"policy": policy},
            "error": {"problems": wanted},
        }


SUITES = [
    ("policies-text", "retry.policy", HOW, texts),
    ("policies-mapping", "retry.policy", HOW, mappings),
    ("policies-problems", "retry.policy", PROBLEMS_HOW, problems),
]
