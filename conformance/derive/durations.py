"""Durations: the text, and what other languages count in."""

from fractions import Fraction

from rules import DURATION, duration_ms

PARSE_HOW = "values by the regular expression of the grammar in conformance/derive/rules.py; codes and columns of bad texts written by hand from the grammar"
UNITS_HOW = "computed by conformance/derive/durations.py with exact fractions of the doubles' own values"

GOOD = [
    "0", "0ms", "0s", "0m", "0h", "1ms", "1s", "1m", "1h", "999ms", "1000ms", "10s", "010s", "0000s", "59s", "60s", "61s",
    "90s", "5m", "300s", "24h", "36h", "87600h", "30500ms", "7200000ms", "315360000000ms", "315360000001ms",
    "9007199254740991ms",
]

# text, code, column in characters from 1
BAD = [
    ("", "duration_no_digits", 1),
    ("s", "duration_no_digits", 1),
    ("ms", "duration_no_digits", 1),
    ("ten seconds", "duration_no_digits", 1),
    ("-1s", "duration_no_digits", 1),
    ("+1s", "duration_no_digits", 1),
    (" 10s", "duration_no_digits", 1),
    ("\t10s", "duration_no_digits", 1),
    (".5s", "duration_no_digits", 1),
    ("PT10S", "duration_no_digits", 1),
    ("\u0661s", "duration_no_digits", 1),
    ("\uff11s", "duration_no_digits", 1),
    ("1", "duration_no_unit", 2),
    ("10", "duration_no_unit", 3),
    ("00", "duration_no_unit", 3),
    ("60000", "duration_no_unit", 6),
    ("1.5s", "duration_fraction", 2),
    ("1,5s", "duration_fraction", 2),
    ("10.0s", "duration_fraction", 3),
    ("1d", "duration_unknown_unit", 2),
    ("1w", "duration_unknown_unit", 2),
    ("1S", "duration_unknown_unit", 2),
    ("1M", "duration_unknown_unit", 2),
    ("1H", "duration_unknown_unit", 2),
    ("1MS", "duration_unknown_unit", 2),
    ("10 s", "duration_unknown_unit", 3),
    ("10sec", "duration_unknown_unit", 3),
    ("10mins", "duration_unknown_unit", 3),
    ("10us", "duration_unknown_unit", 3),
    ("10\u00b5s", "duration_unknown_unit", 3),
    ("1_000ms", "duration_unknown_unit", 2),
    ("1e3ms", "duration_unknown_unit", 2),
    ("1m30s", "duration_trailing", 3),
    ("1h30m", "duration_trailing", 3),
    ("10s ", "duration_trailing", 4),
    ("10s\n", "duration_trailing", 4),
    ("10s.", "duration_trailing", 4),
    ("18446744073709551616ms", "duration_too_large", 1),
    ("18446744073709551615s", "duration_too_large", 1),
    ("5124095576030432h", "duration_too_large", 1),
    ("99999999999999999999999999999999h", "duration_too_large", 1),
]


def parse():
    for text in GOOD:
        yield {"description": f"{text} is a duration", "input": {"text": text}, "expect": {"ms": duration_ms(text)}}
    for text, code, column in BAD:
        grammatical = DURATION.match(text)
        assert not grammatical or duration_ms(text) >= 2**64, text
        error = {"code": code, "fields": {"column": column}}
        yield {"description": f"{text!r} is none", "input": {"text": text}, "error": error}


def nanoseconds():
    for value in (0, 1, 999_999, 1_000_000, 1_000_001, 1_500_000, 30_500_000_000, 30_500_000_001, 2**53 - 1, 9_007_199_254_000_000):
        ms = Fraction(value, 1_000_000)
        case = {"description": f"{value} ns", "input": {"nanoseconds": value}}
        yield case | ({"expect": {"ms": int(ms)}} if ms.denominator == 1 else {"error": {"code": "duration_not_whole"}})


def seconds():
    values = [0.0, 0.001, 0.002, 0.3, 0.1 + 0.2, 0.999, 1.0, 1.001, 1.0009995, 30.0005, 30.5, 32.3, 64.1, 7.75, 8.1, 86_400.0]
    # Values that lose a millisecond when they are multiplied and cut off (D5).
    values += [ms / 1_000 for ms in (1_001, 32_001, 32_300, 64_100, 131_071, 262_142, 524_287, 699_999)]
    # Half a microsecond away, two microseconds away, half a millisecond away.
    values += [base + away for base in (0.25, 30.0, 3_600.0) for away in (5e-7, -5e-7, 2e-6, -2e-6, 5e-4)]
    values += [-0.001, -1.0, 315_360_000.0, 1e15, 1e17]
    for value in values:
        exact = Fraction(value) * 1_000
        case = {"description": f"{value!r} seconds", "input": {"seconds": value}}
        nearest = round(exact)
        distance = abs(exact - nearest)
        assert not Fraction(999, 1_000_000) < distance < Fraction(1_001, 1_000_000), value
        if exact < 0:
            yield case | {"error": {"code": "duration_negative"}}
        elif nearest >= 2**64:
            yield case | {"error": {"code": "duration_too_large"}}
        elif distance > Fraction(1, 1_000):
            yield case | {"error": {"code": "duration_not_whole"}}
        else:
            yield case | {"expect": {"ms": nearest}}


SUITES = [
    ("durations", "duration.parse", PARSE_HOW, parse),
    ("durations-nanoseconds", "duration.from_nanoseconds", UNITS_HOW, nanoseconds),
    ("durations-seconds", "duration.from_seconds", UNITS_HOW, seconds),
]
