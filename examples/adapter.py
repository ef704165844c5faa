#!/usr/bin/env python3
"""An adapter: lets a library that does not link the engine run the conformance fixtures.

    acemq conformance run -- python3 examples/adapter.py

The library here is three functions long. Yours is called instead; what it does not have is answered with `unsupported`.
"""

import json
import sys


class Refused(Exception):
    """What the library raises, with the code of the contract and its particulars."""

    def __init__(self, code, **fields):
        super().__init__(code)
        self.code, self.fields = code, fields


def delay_text(ms):
    if ms == 0:
        raise Refused("delay_zero")
    for unit, length in (("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if ms % length == 0:
            return f"{ms // length}{unit}"
    return f"{ms}ms"


def matches(pattern, key):
    words = key.split(".") if key else []
    covered = {0}
    for word in pattern.split(".") if pattern else []:
        if word == "#":
            covered = {end for start in covered for end in range(start, len(words) + 1)}
        else:
            covered = {at + 1 for at in covered if at < len(words) and word in ("*", words[at])}
    return len(words) in covered


OPERATIONS = {
    "name.delay": lambda given: {"text": delay_text(given["delay_ms"])},
    "topic.match": lambda given: {"matches": matches(given["pattern"], given["key"])},
    "topic.match_all": lambda given: {
        "matches": [[n for n, pattern in enumerate(given["patterns"]) if matches(pattern, key)] for key in given["keys"]]
    },
}


def answer(request):
    operation = OPERATIONS.get(request["operation"])
    if operation is None:
        return {"unsupported": True}
    try:
        return {"output": operation(request["input"])}
    except Refused as refused:
        return {"error": {"code": refused.code, "fields": refused.fields}}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **answer(request)}), flush=True)
