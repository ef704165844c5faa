"""Names: what a queue implies, and what RabbitMQ takes."""

from rules import UNIT_MS, delay_text, derived, name_faults

HOW = "computed by conformance/derive/rules.py from sections 1 of the contract: exact fractions of units, bytes counted in UTF-8"

QUEUES = [
    ("orders", "an ordinary name"),
    ("orders.new", "a name with a point"),
    ("a b", "blanks are part of a name"),
    ("ÄÖÜ-заказы-注文", "any UTF-8 is a name"),
    ('say "hi" \\', "quotes and backslashes stay as they are"),
    ("tab\there", "a control character that is no line break stays"),
    ("nul\0here", "even NUL is part of a name"),
    ("amq", "free itself, but what is derived from it is reserved"),
    ("AMQ.orders", "only the lower-case prefix is reserved"),
    ("amqp.orders", "a longer first word is not reserved"),
    ("amq.orders", "reserved, so every derived name is"),
    ("amq.", "the bare prefix is reserved"),
    ("a\nb", "a line feed would be stripped"),
    ("a\rb", "a carriage return would be stripped"),
    ("", "no name at all"),
    ("q" * 248, "the longest name whose .parked fits (D45)"),
    ("q" * 249, ".dlq fits, .parked has one byte too many (D45)"),
    ("q" * 251, "the longest name whose .dlq fits (D45)"),
    ("q" * 255, "a name may be this long itself, nothing derived from it fits (D45)"),
    ("é" * 124, "248 bytes in 124 characters"),
    ("é" * 125, "250 bytes in 125 characters: bytes count, not characters"),
]


def implied():
    for queue, why in QUEUES:
        dead, dead_error = derived(queue, ".dlq")
        parked, parked_error = derived(queue, ".parked")
        case = {"description": f"names of {queue[:20]!r}: {why}", "input": {"queue": queue}}
        if dead_error or parked_error:
            yield case | {"error": parked_error or dead_error}
        else:
            shared = {"dead_letter_exchange": "acemq.dlx", "retry_exchange": "acemq.retry"}
            yield case | {"expect": {"dead_letter_queue": dead, "parked_queue": parked, **shared}}


def delays_to_name():
    """Around every unit, and the values of the contract and of the five libraries."""
    found = set()
    for unit in UNIT_MS.values():
        for count in (1, 2, 3, 10, 24, 59, 60, 61, 90, 999, 1_000, 1_001, 3_600):
            found.update(ms for ms in (unit * count - 1, unit * count, unit * count + 1) if ms > 0)
    found.update((30_500, 40_000, 80_000, 160_000, 5_400_000, 86_400_000, 129_600_000, 8_100, 32_400))
    found.update((315_359_999_999, 315_360_000_000, 2**53))
    return sorted(found)


def delays():
    yield {"description": "a rung of no delay is refused (D42)", "input": {"delay_ms": 0}, "error": {"code": "delay_zero"}}
    for ms in delays_to_name():
        text = delay_text(ms)
        note = " (D1, D2)" if text.endswith("ms") and ms >= 1_000 else ""
        yield {"description": f"{ms} ms is {text}{note}", "input": {"delay_ms": ms}, "expect": {"text": text}}


def rungs():
    queues = ["orders", "ÄÖÜ", "q" * 244, "q" * 245, "q" * 255, "é" * 123, "amq.q", "a\r\nb", ""]
    for queue in queues:
        for ms in (1, 500, 30_000, 30_500, 60_000, 90_000, 160_000, 7_200_000):
            suffix = f".retry.{delay_text(ms)}"
            name, error = derived(queue, suffix)
            case = {"description": f"rung {suffix} of {queue[:10]!r}", "input": {"queue": queue, "delay_ms": ms}}
            yield case | ({"error": error} if error else {"expect": {"name": name}})
    fields = {"source": "orders"}
    error = {"code": "delay_zero", "fields": fields}
    yield {"description": "no rung of 0 ms", "input": {"queue": "orders", "delay_ms": 0}, "error": error}


def checks():
    names = [queue for queue, _ in QUEUES] + ["q" * 256, "é" * 127, "é" * 128, "amq.\n" + "x" * 300, "\r", "amq.topic"]
    for kind in ("queue", "exchange"):
        for name in names:
            case = {"description": f"{kind} {name[:20]!r}", "input": {"kind": kind, "name": name}}
            faults = [{"code": code, "fields": fields | {"kind": kind, "name": name}} for code, fields in name_faults(name)]
            if faults:
                yield case | {"error": faults[0] | {"problems": faults}}
            else:
                yield case | {"expect": {"bytes": len(name.encode("utf-8"))}}


SUITES = [
    ("names-implied", "name.implied", HOW, implied),
    ("names-delays", "name.delay", HOW, delays),
    ("names-rungs", "name.retry_queue", HOW, rungs),
    ("names-check", "name.check", HOW, checks),
]
