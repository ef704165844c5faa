"""The contract once more, in another language and another style: the second routine behind the fixtures.

Nothing here is shared with the engine. Where the engine counts in integers, this module uses exact fractions; where it
stores a growing prefix, this one walks; where it scans, this one uses regular expressions of the grammar.
"""

import hashlib
import json
import re
from fractions import Fraction
from math import floor

LIMIT_MS = 315_360_000_000
UNIT_MS = {"h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
DEFAULT_THRESHOLD = 30_000


# --- names -----------------------------------------------------------------------------------------------------------


def delay_text(ms):
    """The largest unit in which the delay is a whole number."""
    for unit in ("h", "m", "s", "ms"):
        count = Fraction(ms, UNIT_MS[unit])
        if count.denominator == 1:
            return f"{count.numerator}{unit}"
    raise AssertionError(ms)


def name_faults(name):
    """Codes of what RabbitMQ would not take."""
    size = len(name.encode("utf-8"))
    faults = []
    if size == 0:
        faults.append(("name_empty", {}))
    if size > 255:
        faults.append(("name_too_long", {"bytes": size, "limit": 255}))
    if re.match(r"amq\.", name):
        faults.append(("name_reserved", {}))
    if re.search(r"[\r\n]", name):
        faults.append(("name_line_break", {}))
    return faults


def derived(source, suffix):
    """The derived name, or the error as the fixtures write it."""
    if source == "":
        return None, {"code": "name_empty", "fields": {"source": "", "suffix": suffix}}
    for code, fields in name_faults(source + suffix):
        return None, {"code": code, "fields": {**fields, "source": source, "suffix": suffix}}
    return source + suffix, None


# --- durations and policies ------------------------------------------------------------------------------------------

DURATION = re.compile(r"(?:0|([0-9]+)(ms|s|m|h))\Z")


def duration_ms(text):
    match = DURATION.match(text)
    assert match, text
    return int(match[1]) * UNIT_MS[match[2]] if match[1] else 0


class Policy:
    """A policy from the parts of its text; no part is checked here."""

    def __init__(self, kind, attempts=1, first=None, cap=None, multiplier=None, jitter=None, age=None, threshold=None):
        self.kind = kind
        self.attempts = attempts
        self.first = first
        self.cap = cap
        self.multiplier = Fraction(multiplier if multiplier is not None else 2) if kind == "exponential" else Fraction(1)
        self.written_multiplier = multiplier
        self.jitter = jitter if jitter is not None else (0.2 if kind == "exponential" else 0.0)
        self.written_jitter = jitter
        self.age = age
        self.threshold = DEFAULT_THRESHOLD if threshold is None else threshold
        self.walked = []

    NUMBER = r"[0-9]+(?:\.[0-9]+)?"
    SPAN = r"0|[0-9]+(?:ms|s|m|h)"
    TEXT = re.compile(
        rf"(?:(?P<none>none\(\))|fixed\((?P<n1>[0-9]+),[ \t]*(?P<delay>{SPAN})\)"
        rf"|exponential\((?P<n2>[0-9]+),[ \t]*(?P<first>{SPAN})(?:,[ \t]*(?P<cap>{SPAN}))?\))(?P<options>.*)\Z"
    )
    OPTION = re.compile(
        rf"\.(?:(multiplier|jitter)\(({NUMBER})\)|(give_up_after|wait_in_broker_from)\(({SPAN})\))"
    )

    @classmethod
    def parse(cls, text):
        match = cls.TEXT.match(text)
        assert match, text
        rest, given = match["options"], {}
        while rest:
            option = cls.OPTION.match(rest)
            assert option, rest
            name = option[1] or option[3]
            assert name not in given, text
            given[name] = option[2] or duration_ms(option[4])
            rest = rest[option.end() :]
        kind = "none" if match["none"] else "fixed" if match["n1"] else "exponential"
        cap = match["cap"]
        return cls(
            kind,
            attempts=int(match["n1"] or match["n2"] or 1),
            first=duration_ms(match["delay"] or match["first"]) if kind != "none" else None,
            cap=None if cap is None else duration_ms(cap),
            multiplier=given.get("multiplier"),
            jitter=float(given["jitter"]) if "jitter" in given else None,
            age=given.get("give_up_after"),
            threshold=given.get("wait_in_broker_from"),
        )

    @property
    def entries(self):
        return self.attempts - 1

    def entry(self, index):
        """The wait before attempt index + 2, walked to from the first; what was walked once is remembered."""
        limit = Fraction(LIMIT_MS * 1000)
        while len(self.walked) <= index:
            micro = self.walked[-1] if self.walked else Fraction(self.first * 1000)
            grown = micro if micro >= limit or not self.walked else min(Fraction(floor(micro * self.multiplier)), limit)
            if self.walked and grown == micro:
                index = len(self.walked) - 1
                break
            self.walked.append(grown)
        ms = floor(self.walked[index] / 1000)
        return ms if self.cap is None else min(ms, self.cap)

    def first_entries(self, count):
        return [self.entry(index) for index in range(min(count, self.entries))]

    def in_broker(self, ms):
        return self.threshold > 0 and ms > 0 and ms >= self.threshold

    def rungs(self, horizon=3_000):
        """Distinct broker waits in order of appearance; nothing grows for longer than the horizon."""
        found = []
        for ms in dict.fromkeys(self.first_entries(horizon)):
            if self.in_broker(ms):
                found.append(ms)
        return found

    def rung_for(self, ms):
        rungs = self.rungs()
        if not self.in_broker(ms) or not rungs:
            return None
        longer = [rung for rung in rungs if rung >= ms]
        return min(longer) if longer else max(rungs)

    def decide(self, attempt, age=None, u=0.5):
        attempt = max(attempt, 1)
        answer = {"retry": False, "reason": None, "wait_ms": 0, "in_broker": False, "give_up_text": None}
        if attempt >= self.attempts:
            return answer | {"reason": "attempts_exhausted", "give_up_text": f"exhausted {self.attempts} attempts"}
        if self.age is not None and age is not None and age >= self.age:
            return answer | {"reason": "too_old", "give_up_text": f"older than {delay_text(self.age)}"}
        wait = self.entry(attempt - 1)
        if self.in_broker(wait):
            return answer | {"retry": True, "wait_ms": wait, "in_broker": True}
        if wait > 0 and self.jitter > 0:
            # The one place where the contract is in doubles.
            wait = max(1, int(float(wait) * (1.0 + (2.0 * u - 1.0) * self.jitter)))
        return answer | {"retry": True, "wait_ms": wait}

    def text(self):
        """The canonical text."""

        def span(ms):
            return "0" if ms == 0 else delay_text(ms)

        if self.kind == "none":
            out = "none()"
        elif self.kind == "fixed":
            out = f"fixed({self.attempts}, {span(self.first)})"
        else:
            cap = "" if self.cap is None else f", {span(self.cap)}"
            out = f"exponential({self.attempts}, {span(self.first)}{cap})"
            if self.multiplier != 2:
                out += f".multiplier({decimal(self.multiplier)})"
        if self.jitter != (0.2 if self.kind == "exponential" else 0.0):
            out += f".jitter({decimal(Fraction(repr(self.jitter)))})"
        if self.age is not None:
            out += f".give_up_after({span(self.age)})"
        if self.threshold != DEFAULT_THRESHOLD:
            out += f".wait_in_broker_from({span(self.threshold)})"
        return out

    def described(self):
        exponential = self.kind == "exponential"
        return {
            "text": self.text(),
            "kind": self.kind,
            "max_attempts": self.attempts,
            "first_ms": self.first,
            "cap_ms": self.cap,
            "multiplier_thousandths": int(self.multiplier * 1000) if exponential else None,
            "jitter": self.jitter,
            "max_age_ms": self.age,
            "threshold_ms": self.threshold,
            "broker_rungs_ms": self.rungs(),
        }

    def mapping(self):
        """The mapping with the same keys, for a document."""
        kind = {}
        if self.kind != "none":
            kind["attempts"] = self.attempts
            kind["delay" if self.kind == "fixed" else "first"] = delay_text(self.first) if self.first else "0"
        if self.cap is not None:
            kind["cap"] = delay_text(self.cap)
        if self.written_multiplier is not None:
            number = Fraction(self.written_multiplier)
            kind["multiplier"] = int(number) if number.denominator == 1 else float(number)
        out = {self.kind: kind}
        if self.written_jitter is not None:
            out["jitter"] = self.written_jitter
        if self.age is not None:
            out["give_up_after"] = delay_text(self.age)
        if self.threshold != DEFAULT_THRESHOLD:
            out["wait_in_broker_from"] = delay_text(self.threshold) if self.threshold else "0"
        return out


def decimal(number):
    """A fraction of powers of ten without needless zeros."""
    whole, rest = divmod(number, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


# --- argument tables -------------------------------------------------------------------------------------------------


def fingerprint(declaration):
    """SHA-256 of the canonical line: sorted keys, no blanks, raw UTF-8, control characters as \\u00xx."""
    line = json.dumps(declaration, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    for short, character in (("n", 10), ("r", 13), ("t", 9), ("b", 8), ("f", 12)):
        line = re.sub(rf"(?<!\\)((?:\\\\)*)\\{short}", rf"\1\\u{character:04x}", line)
    return hashlib.sha256(line.encode("utf-8")).hexdigest()


def ladder(queue, policy):
    """The rungs as they are declared."""
    rungs = []
    for ms in policy.rungs():
        name, error = derived(queue, f".retry.{delay_text(ms)}")
        assert error is None, error
        arguments = {"x-dead-letter-exchange": "acemq.retry", "x-dead-letter-routing-key": queue, "x-message-ttl": ms}
        flags = {"auto_delete": False, "durable": True, "exclusive": False}
        declaration = {"arguments": arguments, "kind": "queue", "name": name, **flags}
        shown = {"delay_ms": ms, "name": name, "type": "classic", "arguments": arguments, **flags}
        rungs.append(shown | {"fingerprint": fingerprint(declaration)})
    if not rungs:
        return {"queue": queue, "rungs": [], "exchange": None, "binding": None}
    exchange = {"name": "acemq.retry", "type": "direct", "durable": True, "auto_delete": False, "internal": False, "arguments": {}}
    binding = {"exchange": "acemq.retry", "queue": queue, "routing_key": queue, "arguments": {}}
    bound = {"arguments": {}, "destination": queue, "destination_type": "queue", "kind": "binding", "routing_key": queue, "source": "acemq.retry"}
    return {
        "queue": queue,
        "rungs": rungs,
        "exchange": exchange | {"fingerprint": fingerprint(exchange | {"kind": "exchange"})},
        "binding": binding | {"fingerprint": fingerprint(bound)},
    }
