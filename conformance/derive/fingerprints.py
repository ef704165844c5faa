"""Canonical lines and fingerprints of declarations, from section 2 of the contract."""

import hashlib
import struct

HOW = "canonical lines written by conformance/derive/fingerprints.py character by character from section 2 of the contract, SHA-256 by Python's hashlib"


def quoted(text):
    out = '"'
    for character in text:
        if character in '"\\':
            out += "\\" + character
        elif ord(character) < 0x20:
            out += f"\\u{ord(character):04x}"
        else:
            out += character
    return out + '"'


def bits(number):
    return "0x" + struct.pack(">d", number).hex()


def canonical(given):
    """A value of a document, canonically."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, int):
        return str(given)
    if isinstance(given, float):
        return '{"@d":"' + bits(given) + '"}'
    if isinstance(given, str):
        return quoted(given)
    if isinstance(given, list):
        return "[" + ",".join(canonical(item) for item in given) + "]"
    if len(given) == 1:
        ((tag, inner),) = given.items()
        if tag in ("@b", "@B", "@s", "@u", "@I", "@i", "@l"):
            return str(inner)
        if tag in ("@f", "@d"):
            return '{"@d":"' + bits(float(inner)) + '"}'
        if tag in ("@T", "@x"):
            return "{" + quoted(tag) + ":" + canonical(inner) + "}"
        if tag == "@D":
            return '{"@D":[' + f"{inner[0]},{inner[1]}" + "]}"
        if tag == "@V":
            return '{"@V":null}'
    return fields(given)


def fields(pairs):
    ordered = sorted(pairs.items(), key=lambda pair: pair[0].encode("utf-8"))
    return "{" + ",".join(f"{quoted(name)}:{canonical(given)}" for name, given in ordered) + "}"


def line(kind, declaration):
    if kind == "queue":
        arguments = {name: given for name, given in declaration.get("arguments", {}).items() if (name, given) != ("x-queue-type", "classic")}
        whole = {"arguments": arguments, "auto_delete": declaration.get("auto_delete", False), "durable": declaration.get("durable", True), "exclusive": declaration.get("exclusive", False), "kind": kind, "name": declaration["name"]}
    elif kind == "exchange":
        whole = {"arguments": declaration.get("arguments", {}), "auto_delete": declaration.get("auto_delete", False), "durable": declaration.get("durable", True), "internal": declaration.get("internal", False), "kind": kind, "name": declaration["name"], "type": declaration["type"]}
    else:
        whole = {"arguments": declaration.get("arguments", {}), "destination": declaration["destination"], "destination_type": declaration.get("destination_type", "queue"), "kind": kind, "routing_key": declaration.get("routing_key", ""), "source": declaration["source"]}
    # The argument table is a table even where it has one name.
    arguments = fields(whole.pop("arguments"))
    rest = fields(whole)
    return '{"arguments":' + arguments + "," + rest[1:]


def fingerprint_of(kind, declaration):
    return hashlib.sha256(line(kind, declaration).encode("utf-8")).hexdigest()


VALUES = [
    ("a bare whole number", 30000),
    ("a negative number", -1),
    ("the largest whole number", 2**63 - 1),
    ("the smallest whole number", -(2**63)),
    ("a text", "drop-head"),
    ("an empty text", ""),
    ("a text that looks like a number", "30000"),
    ("true", True),
    ("false", False),
    ("a fraction", 1.5),
    ("minus nought", -0.0),
    ("a double without a fraction", {"@d": 5}),
    ("a float of 32 bits is a double", {"@f": 1.5}),
    ("a time", {"@T": 1700000000}),
    ("nothing", {"@V": None}),
    ("a decimal", {"@D": [2, 314]}),
    ("bytes", {"@x": "AP8="}),
    ("a list", [1, "a", {"@I": 5}, [], {}]),
    ("a table", {"b": 1, "a": {"é": 2, "z": {"@T": 3}}}),
    ("an empty table", {}),
    *[(f"an integer of type {letter} is a plain number (D5, D29)", {f"@{letter}": 100}) for letter in "bBsuIil"],
]


def cases():
    for note, given in VALUES:
        yield case(f"an argument: {note}", "queue", {"name": "q", "arguments": {"x-a": given, "b": 1}})
    for name in ("orders", "é", 'say "hi" \\', "a\nb\tc", "\u0001", "\u2028", "𝄞", "/"):
        yield case(f"a queue named {name!r}", "queue", {"name": name})
        yield case(f"an exchange named {name!r}", "exchange", {"name": name, "type": "topic"})
        yield case(f"a binding on {name!r}", "binding", {"source": "e", "destination": "q", "routing_key": name})
    for flags in range(8):
        durable, first, auto = bool(flags & 1), bool(flags & 2), bool(flags & 4)
        yield case("flags of a queue", "queue", {"name": "q", "durable": durable, "exclusive": first, "auto_delete": auto})
        yield case("flags of an exchange", "exchange", {"name": "e", "type": "fanout", "durable": durable, "internal": first, "auto_delete": auto})
    for kind in ("classic", "quorum", "stream", "Classic"):
        note = "left out, absent means the same (D44)" if kind == "classic" else "stays"
        yield case(f"x-queue-type {kind} {note}", "queue", {"name": "q", "arguments": {"x-queue-type": kind, "x-max-length": 5}})
    yield case("names are sorted by bytes, not by letters", "queue", {"name": "q", "arguments": {"é": 1, "z": 2, "Z": 3, "a": 4, "": 5, "\U0001f600": 6, "\uffff": 7}})
    yield case("an exchange's classic stays", "exchange", {"name": "e", "type": "direct", "arguments": {"x-queue-type": "classic"}})
    yield case("a binding to an exchange", "binding", {"source": "e", "destination": "f", "destination_type": "exchange", "routing_key": "#", "arguments": {"x-match": "any", "n": {"@s": 1}}})


def case(note, kind, declaration):
    return {
        "description": note,
        "input": {"declaration": {kind: declaration}},
        "expect": {"canonical": line(kind, declaration), "fingerprint": fingerprint_of(kind, declaration)},
    }


def refused():
    for note, given in [("a number over 2^63", 2**63), ("a null", None), ("a tag that AMQP does not have", {"@q": 1}), ("a tag with company", {"@I": 1, "a": 2}), ("a width that the number does not fit", {"@b": 300})]:
        yield {
            "description": f"an argument: {note}",
            "input": {"declaration": {"queue": {"name": "q", "arguments": {"x-a": given}}}},
            "error": {"code": "bad_input"},
        }


def everything():
    yield from cases()
    yield from refused()


SUITES = [("fingerprints", "declaration.fingerprint", HOW, everything)]
