"""What real brokers answered: the recording in tests/data/recorded, as predictions, refusals and equivalence.

Nothing is computed here but the form. The answers are those of RabbitMQ 3.10, 4.0 and 4.3; the parts of a refusal are found
by templates of this module's own.
"""

import json
import pathlib
import re

RECORDING = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "recorded" / "answers.json"
HOW = "recorded from real brokers (RabbitMQ 3.10.8, 4.0.5, 4.3.6; tests/data/recorded/answers.json), put into this form by conformance/derive/recorded.py"
EXPLAIN_HOW = "texts recorded from real brokers (tests/data/recorded/answers.json) or restated from what RabbitMQ's sources print, taken apart by templates of conformance/derive/recorded.py's own"
FLAGS = {"durable": "durable", "excl": "exclusive", "auto": "auto_delete", "internal": "internal"}
#: Widths that JSON writes bare.
BARE = {"l", "S", "t"}


def value(typed):
    """A recorded value `{octet: value}` in the form that documents have."""
    ((octet, plain),) = typed.items()
    if octet == "A":
        return [value(item) for item in plain]
    if octet == "F":
        return table(plain)
    if octet == "t":
        return bool(plain)
    if octet == "d":
        return {"@d": plain}
    return plain if octet in BARE else {f"@{octet}": plain}


def table(entries):
    return {name: value(typed) for name, typed in entries.items()}


def declaration(kind, name, properties):
    out = {"name": name}
    if kind == "exchange":
        out["type"] = properties.get("typ", "direct")
    for short, word in FLAGS.items():
        if short in properties and not (kind == "queue" and short == "internal"):
            out[word] = bool(properties[short])
    if properties.get("args"):
        out["arguments"] = table(properties["args"])
    return out


def stored(kind, name, properties, version):
    """What the broker keeps: from 4.0 on every queue says its type."""
    out = declaration(kind, name, properties)
    if kind == "queue" and not version.startswith("3."):
        out["arguments"] = {"x-queue-type": "classic"} | out.get("arguments", {})
    return out


def recording():
    """Each answer once: where several versions answered alike, they take turns."""
    document = json.loads(RECORDING.read_text(encoding="utf-8"))
    for turn, case in enumerate(document["cases"]):
        for answer in case["answers"]:
            label = answer["versions"][turn % len(answer["versions"])]
            yield case["id"], case["request"], document["brokers"][label], answer


def usable(request):
    """What the form can say: names that are text, values that JSON can hold."""
    text = json.dumps(request)
    # Which of several faults is named depends on the order of the table, and an object of JSON has none.
    several = len([name for name in request.get("args", {}) if name != "x-queue-type"]) > 1 and "existing" not in request
    # A text of bytes may be cut inside a character.
    cut = len(text) > 200 and "\\u" in text
    return not several and not cut and "\\udc" not in text and '"x"' not in text and "base64" not in text and "hex" not in text


def shape(text):
    """A refusal without its particulars, so that one of each kind is enough."""
    text = re.sub(r"'[^']*'", "''", text.replace("\n", " "))
    return re.sub(r"\d+", "0", text)[:150]


def refusal(answer):
    if not answer["outcome"].endswith(".close"):
        return None
    return {"code": answer["code"], "text": answer["text"], "scope": answer["outcome"].split(".")[0]}


def predictions():
    """One case for each kind of answer to each kind of request, and every accepted kind once."""
    seen = set()
    for name, request, version, answer in recording():
        kind = "queue" if "queue.declare" in request else "exchange" if "exchange.declare" in request else None
        existing = request.get("existing", None)
        if kind is None or isinstance(existing, str) or not usable(request):
            continue
        if {"passive", "user", "default-queue-type", "vhost"} & set(request):
            continue
        wanted_name = request[f"{kind}.declare"]
        if not isinstance(wanted_name, str) or wanted_name.startswith("amq.") and kind == "exchange" or "\ufffd" in json.dumps(answer):
            continue
        if existing is not None and existing.get("excl") and not request.get("excl"):
            continue
        argument_names = sorted(set(request.get("args", {})) | set((existing or {}).get("args", {})))
        what = refusal(answer)
        key = (kind, shape(what["text"]) if what else "ok", existing is None, tuple(argument_names) if what else name.rsplit(".", 1)[0])
        if key in seen:
            continue
        seen.add(key)
        if existing is not None and existing.get("excl") and what is None:
            # Its owner asks again, which a prediction does not know.
            continue
        declare = {"wanted": declaration(kind, wanted_name, request)}
        if existing is not None:
            declare["existing"] = stored(kind, wanted_name, existing, version)
        yield {
            "description": f"RabbitMQ {version} on {name}: {what['text'][:80] if what else 'accepted'}",
            "input": {"rabbitmq": version, "vhost": "probe", "declare": {kind: declare}},
            "expect": {"accepted": what is None, "refused": what},
        }


def default_types():
    """Queues without a type under a vhost's default, and users without rights: a broker that is asked step by step."""
    for name, request, version, answer in recording():
        kind = "queue" if "queue.declare" in request else "exchange" if "exchange.declare" in request else None
        existing = request.get("existing", None)
        if kind is None or isinstance(existing, str) or not usable(request):
            continue
        if not {"user", "default-queue-type", "passive"} & set(request):
            continue
        wanted = request[f"{kind}.declare"]
        if not isinstance(wanted, str) or "\ufffd" in json.dumps(answer):
            continue
        settings = {"rabbitmq": version, "vhost": request.get("vhost", "probe")}
        if "default-queue-type" in request:
            settings["default_queue_type"] = request["default-queue-type"]
        user = None
        if "user" in request:
            user, configure, write, read = re.fullmatch(r"(.*?), configure (.*?), write (.*?), read (.*)", request["user"]).groups()
            settings["permissions"] = [{"user": user, "configure": configure, "write": write, "read": read}]
        commands = [{"connect": {}}]
        if user:
            commands.append({"connect": {"user": user}})
        asks = len(commands)
        if existing is not None:
            commands.append({"connection": 1, f"declare_{kind}": declaration(kind, wanted, existing)})
        ask = {"name": wanted} if request.get("passive") else declaration(kind, wanted, request)
        commands.append({"connection": asks, f"declare_{kind}{'_passively' if request.get('passive') else ''}": ask})
        what = refusal(answer)
        replies = [{}] * (len(commands) - 1)
        if what:
            replies.append({"refused": what})
        else:
            replies.append({"name": answer["name"]} if kind == "queue" and wanted else {})
        yield {
            "description": f"RabbitMQ {version} on {name}: {what['text'][:80] if what else 'accepted'}",
            "input": {"broker": settings, "commands": commands},
            "expect": {"replies": replies},
        }


def equivalents():
    """Whether a declaration over what is there was taken: the broker's own answer."""
    seen = set()
    for name, request, version, answer in recording():
        existing = request.get("existing")
        if not isinstance(existing, dict) or "queue.declare" not in request or not usable(request):
            continue
        if {"passive", "user", "default-queue-type", "vhost"} & set(request) or existing.get("excl") or request.get("excl"):
            continue
        what = refusal(answer)
        names = set(request.get("args", {})) | set(existing.get("args", {}))
        group = (shape(what["text"]) if what else name.rsplit(".", 1)[0], tuple(sorted(names)))
        if what and what["code"] != 406 or what and "inequivalent" not in what["text"]:
            continue
        key = (*group, what is None)
        if key in seen or "\ufffd" in json.dumps(answer):
            continue
        seen.add(key)
        kept, wanted = stored("queue", "q", existing, version), declaration("queue", "q", request)
        expect = {"equivalent": what is None}
        yield {
            "description": f"RabbitMQ {version} on {name}: {'equivalent' if what is None else what['text'][22:100]}",
            "input": {"rabbitmq": version, "stored": kept, "wanted": wanted},
            "expect": expect,
        }


def stated_differences():
    """Differences in full, as section 2 of the contract has them."""

    def queue(**arguments):
        return {"name": "q", "arguments": {name.replace("_", "-"): given for name, given in arguments.items()}}

    def difference(argument, wanted, current, compared):
        return {"argument": argument, "wanted": wanted, "current": current, "compared": compared}

    for version in ("3.10.8", "4.0.5", "4.3.6"):
        cases = [
            ("the same", queue(x_message_ttl=5), queue(x_message_ttl=5), []),
            ("integer widths are one class (D29)", queue(x_message_ttl={"@I": 30000}), queue(x_message_ttl={"@u": 30000}), []),
            ("classic said and not said are equal (D29)", queue(x_queue_type="classic"), queue(), []),
            ("not said and classic said are equal (D29)", queue(), queue(x_queue_type="classic"), []),
            ("a text is no number, though it looks like one", queue(x_message_ttl=1000), queue(x_message_ttl="1000"), [difference("x-message-ttl", "1000", 1000, True)]),
            ("another value", queue(x_message_ttl=60000), queue(x_message_ttl=30000), [difference("x-message-ttl", 30000, 60000, True)]),
            ("missing in the request", queue(x_max_length=5), queue(), [difference("x-max-length", None, 5, True)]),
            ("missing on the broker", queue(), queue(x_max_length=5), [difference("x-max-length", 5, None, True)]),
            ("what no broker compares is listed as such", queue(x_custom="a"), queue(x_custom="b"), [difference("x-custom", "b", "a", False)]),
        ]
        for note, stored, wanted, differences in cases:
            yield {
                "description": f"RabbitMQ {version}: {note}",
                "input": {"rabbitmq": version, "stored": stored, "wanted": wanted},
                "expect": {"equivalent": not any(found["compared"] for found in differences), "differences": differences},
            }
    yield {
        "description": "flags are differences too, and come first (D29)",
        "input": {"rabbitmq": "4.0.5", "stored": {"name": "q", "arguments": {"x-max-length": 1}}, "wanted": {"name": "q", "durable": False, "arguments": {"x-max-length": 2}}},
        "expect": {"equivalent": False, "differences": [difference("durable", False, True, True), difference("x-max-length", 2, 1, True)]},
    }


def equivalence():
    yield from stated_differences()
    yield from equivalents()


# --- the words of a refusal ------------------------------------------------------------------------------------------

NOTHING = {"kind": None, "name": None, "vhost": None, "argument": None, "received": None, "current": None, "absent": None, "truncated": False}


def side(text):
    if text == "none":
        return None
    typed = re.fullmatch(r"the value '(.*)' of type '([a-z]+)'", text, re.S)
    if typed:
        return {"value": typed[1], "type": typed[2]}
    return {"value": text[1:-1], "type": None}


def words(text):
    """The parts of a refusal whose names hold no quote and which is not cut; None for those that this module leaves."""
    found = re.fullmatch(
        r"PRECONDITION_FAILED - inequivalent arg '([^']*)' for (queue|exchange) '([^']*)' in vhost '([^']*)': received (.*) but current is (.*)",
        text,
        re.S,
    )
    if found:
        argument, kind, name, vhost, received, current = found.groups()
        received, current = side(received), side(current)
        absent = "received" if received is None else "current" if current is None else None
        return {"class": "inequivalent", **NOTHING, "kind": kind, "name": name, "vhost": vhost, "argument": argument, "received": received, "current": current, "absent": absent}
    for pattern, kind_of in [
        (r"PRECONDITION_FAILED - invalid arg '(?P<argument>[^']*)' for (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)'.*", "invalid"),
        (r"PRECONDITION_FAILED - invalid type '[a-z]+' for arg '(?P<argument>[^']*)' in (?P<kind>queue|exchange) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)'", "invalid"),
        (r"NOT_FOUND - no (?P<kind>queue|exchange) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)'", "not_found"),
        (r"ACCESS_REFUSED - (?:configure |write |read )?access to (?P<kind>queue|exchange) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' refused for user '[^']*'", "access_refused"),
        (r"ACCESS_REFUSED - (?P<kind>queue|exchange) name '(?P<name>[^']*)' contains reserved prefix 'amq\.\*'", "invalid"),
        (r"RESOURCE_LOCKED - cannot obtain exclusive access to locked (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)'\. It could .*", "locked"),
        (r"NOT_FOUND - home node '[^']*' of durable (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' is down or inaccessible", "unavailable"),
        (r"NOT_FOUND - (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' (?:process is stopped by supervisor|has crashed and failed to restart)", "unavailable"),
        (r"NOT_FOUND - failed to perform operation on (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' due to timeout", "unavailable"),
        (r"PRECONDITION_FAILED - (?P<kind>queue|exchange) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' in use", "in_use"),
        (r"PRECONDITION_FAILED - (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)' not empty", "not_empty"),
        (r"NOT_IMPLEMENTED - cannot delete (?P<kind>queue) '(?P<name>[^']*)' in vhost '(?P<vhost>[^']*)'\. queue\.delete operations with .*", "not_implemented"),
    ]:
        found = re.fullmatch(pattern, text, re.S)
        if found:
            parts = {"class": kind_of, **NOTHING, **found.groupdict()}
            if kind_of == "invalid" and "argument" in found.groupdict():
                # What it says of the value differs from argument to argument; the argument is the point.
                parts.pop("received")
            return parts
    return None


#: How clients, logs and the management API wrap a refusal.
WRAPPED = [
    ("amqp091-go", 'Exception (406) Reason: "{}"'),
    ("pika", "(406, \"{}\")"),
    ("the Java client", "channel error; protocol method: #method<channel.close>(reply-code=406, reply-text={}, class-id=50, method-id=10)"),
    ("RabbitMQ.Client", "The AMQP operation was interrupted: AMQP close-reason, initiated by Peer, code=406, text='{}', classId=50, methodId=10"),
    ("the broker's log", "operation queue.declare caused a channel exception precondition_failed: {}"),
]

UNAVAILABLE = [
    "NOT_FOUND - home node 'a@host' of durable queue 'q' in vhost '/' is down or inaccessible",
    "NOT_FOUND - queue 'q' in vhost '/' process is stopped by supervisor",
    "NOT_FOUND - queue 'q' in vhost '/' has crashed and failed to restart",
    "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout",
    "PRECONDITION_FAILED - queue 'q' in vhost '/' in use",
    "PRECONDITION_FAILED - exchange 'e' in vhost '/' in use",
    "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty",
    "NOT_IMPLEMENTED - cannot delete queue 'q' in vhost '/'. queue.delete operations with if-unused flag set are not supported by quorum queues",
    "NOT_IMPLEMENTED - cannot delete queue 'q' in vhost '/'. queue.delete operations with if-empty flag set are not supported by quorum queues",
]


#: What other versions and other methods say: text, class, and the parts that are named in it.
RESTATED = [
    ("3.8 gives no reason", "PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/'", "invalid", {"kind": "queue", "name": "q", "vhost": "/", "argument": "x-max-priority"}),
    ("before 3.13.3 it closes the connection", "COMMAND_INVALID - unknown exchange type 'x-delayed-message'", "invalid", {"kind": "exchange", "argument": "type", "received": {"value": "x-delayed-message", "type": None}}),
    ("from 3.13.3 on the channel", "PRECONDITION_FAILED - unknown exchange type 'x-delayed-message'", "invalid", {"kind": "exchange", "argument": "type", "received": {"value": "x-delayed-message", "type": None}}),
    ("4.3.5 and later", "PRECONDITION_FAILED - Topic binding key '#.#.#' uses 3 '#' wildcards, at most 2 are allowed", "invalid", {"kind": "binding"}),
    ("no right to the vhost", "NOT_ALLOWED - access to vhost 'shop' refused for user 'u'", "access_refused", {"kind": "vhost", "vhost": "shop"}),
    ("no such vhost", "NOT_ALLOWED - vhost shop not found", "not_found", {"kind": "vhost", "vhost": "shop"}),
    ("a wrong password", "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.", "access_refused", {"kind": "connection"}),
    ("a stream cannot be purged", "NOT_IMPLEMENTED - queue.purge not supported by stream queues queue 's' in vhost '/'", "not_implemented", {"kind": "queue", "name": "s", "vhost": "/"}),
    ("a minority of nodes (4.x)", "INTERNAL_ERROR - Could not declare queue 'q' in vhost '/' on node 'a@host' because the metadata store operation timed out", "unavailable", {"kind": "queue", "name": "q", "vhost": "/"}),
    ("a leader that is gone", "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/': its leader <1.2.3> may be stopping or being demoted", "unavailable", {"kind": "queue", "name": "q", "vhost": "/"}),
    ("a leader that is gone, 3.x", "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/': its master replica <1.2.3> may be stopping or being demoted", "unavailable", {"kind": "queue", "name": "q", "vhost": "/"}),
]


def explanations():
    seen = set()
    for name, _, version, answer in recording():
        what = refusal(answer)
        if what is None or "\ufffd" in what["text"] or what["text"].endswith("..."):
            continue
        parts = words(what["text"])
        key = (shape(what["text"]), parts and parts["argument"], parts and json.dumps(parts.get("current")))
        if parts is None or (shape(what["text"]), parts["argument"]) in seen:
            continue
        seen.add(key[:2])
        yield {"description": f"RabbitMQ {version} on {name}", "input": {"code": what["code"], "text": what["text"]}, "expect": parts}
    for text in UNAVAILABLE:
        yield {"description": f"restated: {text[:60]}", "input": {"text": text}, "expect": words(text)}
    plain = "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders' in vhost '/': received the value '30000' of type 'long' but current is none"
    for client, wrapping in WRAPPED:
        sent = plain.removeprefix("PRECONDITION_FAILED - ") if client == "the broker's log" else plain
        yield {"description": f"as {client} shows it", "input": {"text": wrapping.format(sent)}, "expect": words(plain)}
    quoted = "NOT_FOUND - no queue 'it's' in vhost '/'"
    yield {
        "description": "names are quoted raw, so the name that was asked for decides",
        "input": {"text": quoted, "name": "it's", "vhost": "/"},
        "expect": {"class": "not_found", **NOTHING, "kind": "queue", "name": "it's", "vhost": "/"},
    }
    for text in ("INTERNAL_ERROR", "something that no broker says", ""):
        yield {"description": f"{text!r} proves nothing", "input": {"text": text}, "expect": {"class": "other", **NOTHING}}
    for note, text, kind_of, parts in RESTATED:
        yield {"description": f"restated, {note}: {text[:60]}", "input": {"text": text}, "expect": {"class": kind_of, **parts}}


SUITES = [
    ("predictions", "broker.predict", HOW, predictions),
    ("broker-answers", "embedded.run", HOW, default_types),
    ("equivalence", "broker.equivalence", HOW + "; whole lists of differences stated from section 2 of the contract", equivalence),
    ("refusals", "broker.explain", EXPLAIN_HOW, explanations),
]
