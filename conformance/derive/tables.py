"""Topologies: from what is asked for to the tables that go over the wire, and their text. Sections 1, 2 and 5 of the contract.

Objects are dictionaries as documents write them; nothing here knows how the engine does it.
"""

import hashlib
import re

from fingerprints import fingerprint_of, line
from rules import Policy, delay_text, derived

HOW = "tables written from sections 1 and 2 of the contract by conformance/derive/tables.py, canonical lines by fingerprints.py, SHA-256 by Python's hashlib"
TEXT_HOW = "lines written from section 5 of the contract by conformance/derive/tables.py"
TYPE_HOW = "the rules for types in section 2 of the contract as a truth table in conformance/derive/tables.py, all combinations"

DLX = {"name": "acemq.dlx", "type": "direct"}
RETRY = {"name": "acemq.retry", "type": "direct"}
TYPES = ("classic", "quorum", "stream")


def is_plain(queue):
    """Durable, shared and permanent."""
    durable = queue.get("durable", not queue.get("transient", False))
    return durable and not queue.get("exclusive", False) and not queue.get("auto_delete", False)


def type_of(queue):
    by_hand = queue.get("arguments", {}).get("x-queue-type")
    return queue.get("type") or by_hand or ("quorum" if is_plain(queue) else "classic")


def source(queue):
    """The declaration of a queue that stands in a document."""
    arguments = {name: given for name, given in queue.get("arguments", {}).items() if name != "x-queue-type"}
    kind = type_of(queue)
    if kind != "classic":
        arguments["x-queue-type"] = kind
    if queue.get("dead_letter"):
        arguments |= {"x-dead-letter-exchange": "acemq.dlx", "x-dead-letter-routing-key": queue["name"] + ".dlq"}
    if queue.get("dead_letter_to"):
        arguments["x-dead-letter-exchange"] = queue["dead_letter_to"]
    durable = queue.get("durable", not queue.get("transient", False))
    return declared(queue["name"], arguments, durable, queue.get("exclusive", False), queue.get("auto_delete", False))


def declared(name, arguments=None, durable=True, exclusive=False, auto_delete=False):
    return {"name": name, "durable": durable, "exclusive": exclusive, "auto_delete": auto_delete, "arguments": arguments or {}}


def dead_letters(name):
    """What a dead-lettered queue brings: queues and bindings."""
    queues = [declared(derived(name, suffix)[0]) for suffix in (".dlq", ".parked")]
    return queues, [bound("acemq.dlx", queue["name"], queue["name"]) for queue in queues]


def rungs(name, text):
    """What retries bring: queues, and the binding home."""
    policy = Policy.parse(text)
    queues = []
    for ms in policy.rungs():
        arguments = {"x-message-ttl": ms, "x-dead-letter-exchange": "acemq.retry", "x-dead-letter-routing-key": name}
        queues.append(declared(derived(name, f".retry.{delay_text(ms)}")[0], arguments))
    return queues, [bound("acemq.retry", name, name)] if queues else []


def bound(exchange, queue, key, arguments=None):
    return {"exchange": exchange, "queue": queue, "routing_key": key, "arguments": arguments or {}}


def exchange_of(wish):
    arguments = dict(wish.get("arguments", {}))
    if "alternate_exchange" in wish:
        arguments["alternate-exchange"] = wish["alternate_exchange"]
    return {
        "name": wish["name"],
        "type": wish["type"],
        "durable": wish.get("durable", not wish.get("transient", False)),
        "auto_delete": wish.get("auto_delete", False),
        "internal": wish.get("internal", False),
        "arguments": arguments,
    }


def compiled(document):
    """Exchanges, queues and bindings in the order in which they are declared."""
    mine = [wish for wish in document.get("exchanges", []) if not wish.get("external") and not wish["name"].startswith("amq.")]
    exchanges = [exchange_of(wish) for wish in mine]
    queues, derived_bindings = [], []

    def need(shared):
        if all(exchange["name"] != shared["name"] for exchange in exchanges):
            exchanges.append(exchange_of(shared))

    for queue in document.get("queues", []):
        queues.append(source(queue))
        if queue.get("dead_letter"):
            need(DLX)
            more, bindings = dead_letters(queue["name"])
            queues += more
            derived_bindings += bindings
        if queue.get("retry"):
            more, bindings = rungs(queue["name"], queue["retry"])
            if more:
                need(RETRY)
            queues += more
            derived_bindings += bindings
    own = []
    for wish in document.get("bindings", []):
        to = {"to_exchange": wish["to_exchange"]} if "to_exchange" in wish else {"queue": wish["queue"]}
        own.append({"exchange": wish["exchange"], **to, "routing_key": wish.get("routing_key", ""), "arguments": wish.get("arguments", {})})
    return exchanges, queues, derived_bindings + own


def wire_binding(binding):
    to_exchange = "to_exchange" in binding
    return {
        "source": binding["exchange"],
        "destination": binding["to_exchange" if to_exchange else "queue"],
        "destination_type": "exchange" if to_exchange else "queue",
        "routing_key": binding["routing_key"],
        "arguments": binding["arguments"],
    }


def shown(exchanges, queues, bindings):
    """The document acemq.tables/1."""
    lines = [line("exchange", exchange) for exchange in exchanges]
    lines += [line("queue", queue) for queue in queues]
    lines += [line("binding", wire_binding(binding)) for binding in bindings]
    whole = "".join(text + "\n" for text in sorted(lines, key=lambda text: text.encode("utf-8")))
    return {
        "format": "acemq.tables/1",
        "exchanges": [exchange | {"fingerprint": fingerprint_of("exchange", exchange)} for exchange in exchanges],
        "queues": [queue | {"type": queue["arguments"].get("x-queue-type", "classic"), "fingerprint": fingerprint_of("queue", queue)} for queue in queues],
        "bindings": [binding | {"fingerprint": fingerprint_of("binding", wire_binding(binding))} for binding in bindings],
        "fingerprint": hashlib.sha256(whole.encode("utf-8")).hexdigest(),
    }


# --- text ------------------------------------------------------------------------------------------------------------


def value_text(given):
    if isinstance(given, str):
        return given
    if isinstance(given, bool):
        return "true" if given else "false"
    return str(given)


def pairs(arguments):
    return [f"{name}={value_text(given)}" for name, given in sorted(arguments.items(), key=lambda pair: pair[0].encode("utf-8")) if name != "x-queue-type"]


def queue_detail(queue):
    parts = ["durable" if queue["durable"] else "transient", queue["arguments"].get("x-queue-type", "classic")]
    parts += ["auto-delete"] * queue["auto_delete"] + ["exclusive"] * queue["exclusive"]
    return ", ".join(parts + pairs(queue["arguments"]))


def exchange_detail(exchange):
    parts = [exchange["type"]] + ["transient"] * (not exchange["durable"]) + ["auto-delete"] * exchange["auto_delete"] + ["internal"] * exchange["internal"]
    return ", ".join(parts + pairs(exchange["arguments"]))


def intent(document):
    exchanges, queues, bindings = compiled(document)
    policies = document.get("policies", [])
    counted = f", {len(policies)} policies" if policies else ""
    out = [f"Topology: {len(exchanges)} exchanges, {len(queues)} queues, {len(bindings)} bindings{counted}"]
    out += [f"  declare exchange {exchange['name']} ({exchange_detail(exchange)})" for exchange in exchanges]
    out += [f"  declare queue {queue['name']} ({queue_detail(queue)})" for queue in queues]
    for binding in bindings:
        what = f"exchange {binding['to_exchange']}" if "to_exchange" in binding else binding["queue"]
        given = pairs(binding["arguments"])
        arguments = f" with {', '.join(given)}" if given else ""
        out.append(f"  declare binding {what} (from {binding['exchange']} on {binding['routing_key']}){arguments}")
    return "\n".join(out) + "\n"


# --- cases -----------------------------------------------------------------------------------------------------------

ORDERS = {"name": "orders", "type": "topic"}


def q(name="orders", **settings):
    return {"name": name, **settings}


TOPOLOGIES = [
    ("nothing", {}),
    ("a queue is durable and quorum (D41, D43)", {"queues": [q()]}),
    ("a classic queue sends no type (D44)", {"queues": [q(type="classic")]}),
    ("a stream", {"queues": [q(type="stream", arguments={"x-max-age": "7D"})]}),
    ("a hand-written classic is normalised away (D44)", {"queues": [q(arguments={"x-queue-type": "classic", "x-max-length": 5})]}),
    ("a hand-written type that is the asked one is fine (D23)", {"queues": [q(type="quorum", arguments={"x-queue-type": "quorum"})]}),
    ("arguments on a quorum queue (D21)", {"queues": [q(arguments={"x-delivery-limit": 5, "x-max-length": 10})]}),
    ("dead letters bring .dlq and .parked (D8)", {"queues": [q(dead_letter=True)]}),
    ("dead letters of a classic queue", {"queues": [q(type="classic", dead_letter=True)]}),
    ("dead letters of a transient queue are durable (D22)", {"queues": [q(transient=True, dead_letter=True)]}),
    ("dead letters of an exclusive queue are durable (D22)", {"queues": [q(exclusive=True, dead_letter=True, retry="fixed(3, 1m)")]}),
    ("a dead-letter exchange of one's own is used, and acemq.dlx keeps its name (D26)", {"exchanges": [{"name": "dead", "type": "fanout"}], "queues": [q(dead_letter_to="dead")]}),
    ("retries without dead letters bring no .dlq (D20)", {"queues": [q(retry="exponential(6, 10s)")]}),
    ("retries without rungs bring nothing (D19)", {"queues": [q(retry="exponential(3, 1s)")]}),
    ("a threshold of 0 brings no rung (D11, D12)", {"queues": [q(retry="exponential(6, 10s).wait_in_broker_from(0)")]}),
    ("retries and dead letters (D20)", {"queues": [q(dead_letter=True, retry="exponential(6, 10s)")]}),
    ("two delays in one second are two rungs (D4)", {"queues": [q(retry="exponential(3, 30500ms).multiplier(1.01)")]}),
    ("half a second is in name and TTL (D1, D3, D5)", {"queues": [q(retry="fixed(3, 30500ms)")]}),
    ("32,300 ms are 32,300 ms (D5)", {"queues": [q(retry="fixed(3, 32300ms)")]}),
    ("the shared exchanges come once, at first need", {"queues": [q("a", retry="fixed(3, 1m)"), q("b", dead_letter=True), q("c", dead_letter=True, retry="fixed(2, 2m)")]}),
    ("an equal acemq.dlx of one's own is the same object", {"exchanges": [ORDERS, {"name": "acemq.dlx", "type": "direct"}], "queues": [q(dead_letter=True)]}),
    ("queues in their order, derived ones behind", {"queues": [q("z", dead_letter=True), q("a"), q("m", retry="fixed(2, 1h)")]}),
    ("flags of exchanges", {"exchanges": [{"name": "e", "type": "headers", "transient": True, "auto_delete": True, "internal": True}]}),
    ("an alternate exchange", {"exchanges": [{"name": "e", "type": "topic", "alternate_exchange": "rest"}, {"name": "rest", "type": "fanout"}]}),
    ("bindings of queues and exchanges", {"exchanges": [ORDERS, {"name": "archive", "type": "fanout"}], "queues": [q()], "bindings": [{"queue": "orders", "exchange": "orders", "routing_key": "order.*"}, {"to_exchange": "archive", "exchange": "orders", "routing_key": "#"}]}),
    ("derived bindings come before one's own", {"exchanges": [ORDERS], "queues": [q(dead_letter=True)], "bindings": [{"queue": "orders", "exchange": "orders", "routing_key": "a"}]}),
    ("binding arguments", {"exchanges": [{"name": "h", "type": "headers"}], "queues": [q()], "bindings": [{"queue": "orders", "exchange": "h", "arguments": {"x-match": "any", "region": "eu", "size": 5}}]}),
    ("an external exchange is not declared", {"exchanges": [{"name": "theirs", "external": True}], "queues": [q()], "bindings": [{"queue": "orders", "exchange": "theirs", "routing_key": "k"}, {"queue": "orders", "exchange": "amq.topic", "routing_key": "k"}]}),
    ("a policy is neither queue nor exchange", {"queues": [q()], "policies": [{"name": "limits", "pattern": "^orders", "apply_to": "queues", "definition": {"max-length": 5}}]}),
    ("non-ASCII names", {"queues": [q("заказы", dead_letter=True, retry="fixed(2, 90s)")]}),
    ("blanks, quotes and points in names", {"queues": [q('a "b" .c', dead_letter=True)]}),
]


def table_cases():
    for note, document in TOPOLOGIES:
        yield {"description": note, "input": {"topology": {"document": {"acemq": 1, **document}}}, "expect": shown(*compiled(document))}


def intents():
    for note, document in TOPOLOGIES:
        if document.get("policies"):
            # A policy's own line stands in no rule; the count does.
            continue
        yield {"description": f"text: {re.sub(r' [(]D[^)]*[)]', '', note)} (D27)", "input": {"topology": {"document": {"acemq": 1, **document}}}, "expect": {"text": intent(document)}}


def consumers():
    for name in ("orders", "заказы", "a.b", "q" * 248):
        for text in (None, "none()", "fixed(3, 1s)", "fixed(3, 30s)", "exponential(6, 10s)", "exponential(6, 10s).wait_in_broker_from(0)", "fixed(3, 30500ms)"):
            if name.startswith("q") and text and Policy.parse(text).rungs():
                continue
            queues, bindings = dead_letters(name)
            exchanges = [exchange_of(DLX)]
            if text:
                more, home = rungs(name, text)
                queues, bindings = queues + more, bindings + home
                exchanges += [exchange_of(RETRY)] * bool(more)
            given = {"queue": name} | ({"policy": text} if text else {})
            note = "no rungs, no acemq.retry (D19)" if text and not Policy.parse(text).rungs() else "never the queue itself"
            expect = shown(exchanges, queues, bindings)
            yield {"description": f"a consumer of {name[:20]!r} with {text}: {note}", "input": given, "expect": expect}
    for name, code in (("", "name_empty"), ("amq.q", "name_reserved"), ("a\nb", "name_line_break"), ("q" * 249, "name_too_long")):
        yield {"description": f"a consumer of {name[:20]!r}", "input": {"queue": name}, "error": {"code": code}}
    yield {"description": "a consumer with a bad policy (D16)", "input": {"queue": "orders", "policy": "exponential(0, 0)"}, "error": {"problems": [{"code": "attempts_too_few"}, {"code": "first_zero"}]}}


def type_rules():
    for asked in (None, *TYPES, "lazy"):
        for by_hand in (None, *TYPES, "Quorum"):
            for flags in range(8):
                words = [word for bit, word in enumerate(("transient", "exclusive", "auto_delete")) if flags >> bit & 1]
                queue = {"name": "q"} | ({"type": asked} if asked else {}) | {word: True for word in words}
                if by_hand:
                    queue["arguments"] = {"x-queue-type": by_hand}
                note = f"type {asked}, x-queue-type {by_hand}, {' '.join(words) or 'durable'}"
                case = {"description": note, "input": {"topology": {"document": {"acemq": 1, "queues": [queue]}}}}
                # Two words that differ are a conflict, whatever they are.
                if asked and by_hand and asked != by_hand:
                    yield case | {"description": f"{note}: pick one (D23)", "error": {"code": "queue_type_conflict", "fields": {"first": asked, "second": by_hand}}}
                elif {asked, by_hand} - {None, *TYPES}:
                    yield case | {"description": f"{note}: no such type (D23)", "error": {"code": "queue_type_unknown"}}
                elif type_of(queue) != "classic" and words:
                    yield case | {"description": f"{note}: refused, naming the flags (D23)", "error": {"code": "queue_type_needs_durable", "fields": {"type": type_of(queue)}}}
                else:
                    table = source(queue)
                    kind = table["arguments"].get("x-queue-type", "classic")
                    yield case | {"description": f"{note}: {kind} (D41)", "expect": {"queues": [table | {"type": kind}]}}


SUITES = [
    ("tables", "topology.tables", HOW, table_cases),
    ("type-rules", "topology.tables", TYPE_HOW, type_rules),
    ("consumers", "topology.consumer", HOW, consumers),
    ("intents", "topology.show", TEXT_HOW, intents),
]
