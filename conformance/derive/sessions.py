"""Plan sessions: what recorded answers mean for the verdict, and the two renderings. Section 5 of the contract.

The answers are texts of real brokers. Questions are numbered from 1 in the order in which they are opened: first the passive
one of each queue in the order of the topology, then what each answer opens.
"""

from tables import compiled, exchange_detail, queue_detail

HOW = "answers in the words of real brokers (tests/data/recorded), verdicts and renderings written from section 5 of the contract by conformance/derive/sessions.py"

GUARD = {"classic": ("x-stream-max-segment-size-bytes", "rabbit_classic_queue"), "quorum": ("x-stream-max-segment-size-bytes", "rabbit_quorum_queue"), "stream": ("x-delivery-limit", "rabbit_stream_queue")}


def refused(code, text, scope="channel"):
    return {"refused": {"code": code, "text": text, "scope": scope}}


def absent(name, vhost="/"):
    return refused(404, f"NOT_FOUND - no queue '{name}' in vhost '{vhost}'")


def guarded(name, kind="quorum"):
    argument, module = GUARD[kind]
    return refused(406, f"PRECONDITION_FAILED - invalid arg '{argument}' for queue '{name}' in vhost '/' of queue type {module}")


def inequivalent(argument, received, current, name="q", kind="queue"):
    return refused(406, f"PRECONDITION_FAILED - inequivalent arg '{argument}' for {kind} '{name}' in vhost '/': received {received} but current is {current}")


THERE = {"ok": {"messages": 3, "consumers": 1}}


def explanation(text):
    return text.split(" - ", 1)[1] if " - " in text else text


class Judged:
    """One object with what is known about it."""

    def __init__(self, verdict, refusal=None, reason=None, why=None, differences=None, at_least=False):
        self.verdict, self.refusal, self.reason, self.why = verdict, refusal, reason, why
        self.differences, self.at_least = differences, at_least

    def action(self, kind, name):
        found = {"verdict": self.verdict, "kind": kind, "name": name, "reason": self.reason}
        found["refusal"] = {"code": self.refusal["code"], "text": self.refusal["text"]} if self.refusal else None
        if self.differences is not None:
            found["differences"] = [{"argument": argument, "wanted": wanted, "current": current, "compared": compared} for argument, wanted, current, compared in self.differences]
            found["at_least"] = self.at_least
        return found

    def label(self, askable):
        if self.verdict == "unknown" and not askable:
            return "create"
        return {"drift": "DRIFT", "invalid": "INVALID"}.get(self.verdict, self.verdict)

    def tail(self):
        if self.refusal:
            return f" — {explanation(self.refusal['text'])}"
        return f" — {self.why}" if self.why else ""

    def ending(self, kind):
        if self.verdict == "create":
            return "would create"
        if self.verdict == "present":
            return "matches"
        if self.verdict == "drift":
            return f"differs: the broker refused the declaration: Exception ({self.refusal['code']}) {self.refusal['text']}"
        if self.verdict == "invalid":
            return f"invalid: {explanation(self.refusal['text'])}"
        if self.reason == "not_askable":
            return f"unknown, AMQP cannot report {kind}s"
        if self.reason == "no_inspection":
            return "unknown, this transport cannot check"
        return f"unknown, the broker could not be asked: {self.why or self.refusal['text']}"


NOT_ASKABLE = Judged("unknown", reason="not_askable")


def case(note, document, answers, verdicts, exchange_verdicts=(), blocks=True, **settings):
    exchanges, queues, bindings = compiled(document)
    actions, block, lines, drift = [], ["topology plan:"], [], []
    for index, exchange in enumerate(exchanges):
        judged = exchange_verdicts[index] if exchange_verdicts else NOT_ASKABLE
        actions.append(judged.action("exchange", exchange["name"]))
        block.append(f"  {judged.label(bool(exchange_verdicts)):<7}  exchange {exchange['name']} ({exchange['type']}){judged.tail()}")
        lines.append(f"exchange {exchange['name']}: {exchange_detail(exchange)} — {judged.ending('exchange')}")
        if judged.verdict == "drift":
            drift.append(f"drift: exchange {exchange['name']}: the broker refused the declaration: Exception (406) {judged.refusal['text']}")
    for queue, judged in zip(queues, verdicts, strict=True):
        actions.append(judged.action("queue", queue["name"]))
        block.append(f"  {judged.label(True):<7}  queue {queue['name']} ({queue['arguments'].get('x-queue-type', 'classic')}){judged.tail()}")
        lines.append(f"queue {queue['name']}: {queue_detail(queue)} — {judged.ending('queue')}")
        if judged.verdict == "drift":
            drift.append(f"drift: queue {queue['name']}: the broker refused the declaration: Exception (406) {judged.refusal['text']}")
    for binding in bindings:
        to = f"exchange {binding['to_exchange']}" if "to_exchange" in binding else binding["queue"]
        actions.append({"verdict": "unknown", "kind": "binding", "reason": "not_askable", "sends": "bind"})
        block.append(f"  create   binding {to} <- {binding['exchange']} [{binding['routing_key']}]")
        lines.append(f"binding {to}: from {binding['exchange']} on {binding['routing_key']} — unknown, AMQP cannot report bindings")
    counted = {word: sum(action["verdict"] == word for action in actions) for word in ("create", "present", "drift", "invalid", "unknown", "extra")}
    if not actions:
        block.append("  nothing declared")
    expect = {"finished": True, "questions": [], "plan": {"format": "acemq.plan/1", "actions": actions, "summary": counted}, "drift": "".join(line + "\n" for line in sorted(drift))}
    if blocks:
        expect["block"] = "\n".join(block) + "\n"
        expect["lines_block"] = "".join(line + "\n" for line in lines)
    given = {"topology": {"document": {"acemq": 1, **document}}, "version": "4.0.5", "vhost": "/", **settings, "answers": answers}
    return {"description": note, "input": given, "expect": expect}


def numbered(*answers):
    return [{"id": number, **answer} for number, answer in answers]


def one(name="q", **settings):
    return {"queues": [{"name": name, **settings}]}


def refusal_of(answer):
    return answer["refused"]


def verdicts():
    yield case("nothing is asked for (D27)", {}, [], [])
    for version in ("3.10.8", "4.0.5", "4.3.6"):
        yield case(f"{version}: not there, and the guard is refused: create (D27)", one(), numbered((1, absent("q")), (2, guarded("q"))), [Judged("create")], version=version)
        yield case(f"{version}: there, and taken with the guard: present (D31)", one(), numbered((1, THERE), (2, THERE)), [Judged("present", differences=[])], version=version)
    for kind in ("classic", "quorum", "stream"):
        yield case(f"the guard of a {kind} queue", one(type=kind), numbered((1, absent("q")), (2, guarded("q", kind))), [Judged("create")])
    ttl = inequivalent("x-message-ttl", "'30000'", "'60000'")
    wanted = one(arguments={"x-message-ttl": 30000})
    yield case("one difference: offered again as the broker has it (D28)", wanted, numbered((1, THERE), (2, ttl), (3, THERE)), [Judged("drift", refusal_of(ttl), differences=[("x-message-ttl", 30000, 60000, True)])])
    missing = inequivalent("x-max-length", "none", "the value '5' of type 'long'")
    yield case("two differences, one after the other (D29)", wanted, numbered((1, THERE), (2, ttl), (3, missing), (4, THERE)), [Judged("drift", refusal_of(ttl), differences=[("x-message-ttl", 30000, 60000, True), ("x-max-length", None, 5, True)])])
    table = inequivalent("x-message-ttl", "the value '30000' of type 'long'", "none")
    yield case("an argument that the broker does not have", wanted, numbered((1, THERE), (2, table), (3, THERE)), [Judged("drift", refusal_of(table), differences=[("x-message-ttl", 30000, None, True)])])
    flags = inequivalent("durable", "'true'", "'false'")
    yield case("a flag differs (D29)", one(type="classic"), numbered((1, THERE), (2, flags), (3, THERE)), [Judged("drift", refusal_of(flags), differences=[("durable", True, False, True)])])
    kind = inequivalent("x-queue-type", "'quorum'", "'classic'")
    yield case("the type differs", one(), numbered((1, THERE), (2, kind), (3, THERE)), [Judged("drift", refusal_of(kind), differences=[("x-queue-type", "quorum", "classic", True)])])
    lost = {"failed": "the connection was closed"}
    yield case("no second answer: at least this difference", wanted, numbered((1, THERE), (2, ttl), (3, lost)), [Judged("drift", refusal_of(ttl), differences=[("x-message-ttl", 30000, 60000, True)], at_least=True)])
    for text in (
        "PRECONDITION_FAILED - invalid arg 'x-max-priority' for queue 'q' in vhost '/' of queue type rabbit_quorum_queue",
        "PRECONDITION_FAILED - invalid arg 'x-message-ttl' for queue 'q' in vhost '/': {value_negative,-1}",
    ):
        answer = refused(406, text)
        yield case(f"invalid whatever is there: {text[24:60]}", one(arguments={"x-max-priority": 5}), numbered((1, absent("q")), (2, answer)), [Judged("invalid", refusal_of(answer))], blocks=False)
    denied = refused(403, "ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'u'")
    yield case("not there, and this user may not declare it: invalid", one(), numbered((1, absent("q")), (2, denied)), [Judged("invalid", refusal_of(denied))], blocks=False)
    yield case("a passive question that is refused (4.3)", one(), numbered((1, denied)), [Judged("unknown", refusal_of(denied), "access_refused")], blocks=False, version="4.3.6")
    locked = refused(405, "RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'q' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.")
    yield case("an exclusive queue of somebody else", one(), numbered((1, locked)), [Judged("unknown", refusal_of(locked), "locked")], blocks=False)
    for text in (
        "NOT_FOUND - home node 'a@host' of durable queue 'q' in vhost '/' is down or inaccessible",
        "NOT_FOUND - failed to perform operation on queue 'q' in vhost '/' due to timeout",
        "NOT_FOUND - queue 'q' in vhost '/' process is stopped by supervisor",
    ):
        answer = refused(404, text)
        yield case(f"a 404 that is no absence is never a creation: {text[12:50]}", one(), numbered((1, answer)), [Judged("unknown", refusal_of(answer), "unavailable")], blocks=False)
    yield case("a transport that cannot ask", one(), numbered((1, {"cannot": "no channel to spare"})), [Judged("unknown", None, "no_inspection", "no channel to spare")], blocks=False)
    yield case("an unanswered question is no agreement (D31)", one(), numbered((1, THERE), (2, {"failed": "timed out after 10 s"})), [Judged("unknown", None, "timeout", "timed out after 10 s")], blocks=False)


def older():
    """Without a guard only a queue that is there is offered."""
    for settings in ({"version": "3.8.9"}, {"product": "LavinMQ", "version": "2.4.0"}):
        who = settings.get("product", "RabbitMQ") + " " + settings["version"]
        yield case(f"{who}: not there is not offered", one(type="classic"), numbered((1, absent("q"))), [Judged("create")], **settings)
        yield case(f"{who}: there is offered as it is", one(type="classic"), numbered((1, THERE), (2, THERE)), [Judged("present", differences=[])], **settings)
        differs = inequivalent("x-max-length", "'5'", "'6'")
        yield case(f"{who}: one difference, and perhaps more", one(type="classic", arguments={"x-max-length": 5}), numbered((1, THERE), (2, differs)), [Judged("drift", refusal_of(differs), differences=[("x-max-length", 5, 6, True)], at_least=True)], **settings)


WHOLE = {
    "exchanges": [{"name": "orders", "type": "topic"}],
    "queues": [{"name": "orders.new", "dead_letter": True}],
    "bindings": [{"queue": "orders.new", "exchange": "orders", "routing_key": "order.*"}],
}


def whole():
    """A topology with everything, one queue of each verdict."""
    three = [absent("orders.new"), absent("orders.new.dlq"), absent("orders.new.parked")]
    answers = numbered((1, three[0]), (2, three[1]), (3, three[2]), (4, guarded("orders.new")), (5, guarded("orders.new.dlq", "classic")), (6, guarded("orders.new.parked", "classic")))
    yield case("exchanges and bindings that AMQP cannot report are what would be sent (D27)", WHOLE, answers, [Judged("create")] * 3)
    yield case("answers may come in any order", WHOLE, [answers[2], answers[1], answers[0], *numbered((4, guarded("orders.new.parked", "classic")), (5, guarded("orders.new.dlq", "classic")), (6, guarded("orders.new")))], [Judged("create")] * 3)
    ttl = inequivalent("x-message-ttl", "the value '30000' of type 'long'", "none", "a")
    two = {"queues": [{"name": "b", "type": "classic"}, {"name": "a", "arguments": {"x-message-ttl": 30000}}]}
    length = inequivalent("x-max-length", "none", "the value '5' of type 'long'", "b")
    answers = numbered((1, THERE), (2, THERE), (3, length), (4, ttl), (5, THERE), (6, THERE))
    yield case("drift lines are sorted by name (D28)", two, answers, [Judged("drift", refusal_of(length), differences=[("x-max-length", None, 5, True)]), Judged("drift", refusal_of(ttl), differences=[("x-message-ttl", 30000, None, True)])])


CONTRACT = """topology plan:
  create   exchange orders (topic)
  DRIFT    queue orders.new (classic) — inequivalent arg 'x-message-ttl' for queue
           'orders.new' in vhost '/': received the value '30000' but current is the
           value '60000'
  create   binding orders.new <- orders [order.*]
"""


def renderings():
    """The contract's own examples, byte for byte."""
    differs = refused(406, "PRECONDITION_FAILED - inequivalent arg 'x-message-ttl' for queue 'orders.new' in vhost '/': received the value '30000' but current is the value '60000'")
    document = WHOLE | {"queues": [{"name": "orders.new", "type": "classic", "arguments": {"x-message-ttl": 30000}}]}
    answers = numbered((1, THERE), (2, differs), (3, THERE))
    # Two lines have 82 and 83 columns; their next words would need 95 and 89.
    for width in (83, 84, 88):
        yield {
            "description": f"the plan of the contract, wrapped at {width} (D27)",
            "input": {"topology": {"document": {"acemq": 1, **document}}, "version": "4.0.5", "vhost": "/", "width": width, "answers": answers},
            "expect": {"block": CONTRACT},
        }
    lines = [
        "exchange orders-events: topic — unknown, AMQP cannot report exchanges",
        "queue shipping-dead: durable, quorum — would create",
        "binding shipping-orders: from orders-events on order.placed — unknown, AMQP cannot report bindings",
    ]
    document = {
        "exchanges": [{"name": "orders-events", "type": "topic"}],
        "queues": [{"name": "shipping-orders"}, {"name": "shipping-dead"}],
        "bindings": [{"queue": "shipping-orders", "exchange": "orders-events", "routing_key": "order.placed"}],
    }
    length = inequivalent("x-max-length", "none", "the value '5' of type 'long'", "shipping-orders")
    answers = numbered((1, THERE), (2, absent("shipping-dead")), (3, length), (4, guarded("shipping-dead")), (5, THERE))
    text = f"queue shipping-orders: durable, quorum — differs: the broker refused the declaration: Exception (406) {refusal_of(length)['text']}"
    yield {
        "description": "the dry run of the contract, a line an object (D27)",
        "input": {"topology": {"document": {"acemq": 1, **document}}, "version": "4.0.5", "vhost": "/", "mode": "dry_run", "answers": answers},
        "expect": {"lines_block": "\n".join([lines[0], text, *lines[1:]]) + "\n"},
    }


def exchanges():
    guard = "the value '5' of type 'long'"
    document = {"exchanges": [{"name": "e", "type": "topic"}]}
    there = inequivalent("alternate-exchange", guard, "none", "e", "exchange")
    yield case("an exchange is there when only its guard differs (D27)", document, numbered((1, there)), [], [Judged("present", differences=[])], exchanges=True)
    new = refused(406, "PRECONDITION_FAILED - invalid type 'long' for arg 'alternate-exchange' in exchange 'e' in vhost '/'")
    yield case("an exchange that is not there (D27)", document, numbered((1, new)), [], [Judged("create")], exchanges=True)
    other = inequivalent("type", "'topic'", "'fanout'", "e", "exchange")
    yield case("an exchange of another type (D30)", document, numbered((1, other), (2, there)), [], [Judged("drift", refusal_of(other), differences=[("type", "topic", "fanout", True)])], exchanges=True)


def open_questions():
    """What is asked, in which words."""
    yield {
        "description": "every queue is asked about passively at first",
        "input": {"topology": {"document": {"acemq": 1, "queues": [{"name": "a"}, {"name": "b"}]}}, "version": "4.0.5"},
        "expect": {"finished": False, "questions": [{"id": 1, "ask": "queue_passive", "name": "a"}, {"id": 2, "ask": "queue_passive", "name": "b"}]},
    }
    for kind in ("classic", "quorum", "stream"):
        argument, _ = GUARD[kind]
        arguments = {argument: 1 if kind == "stream" else 1000} | ({} if kind == "classic" else {"x-queue-type": kind})
        yield {
            "description": f"then a {kind} queue is offered with an argument that it may not have (D31)",
            "input": {"topology": {"document": {"acemq": 1, "queues": [{"name": "q", "type": kind}]}}, "version": "4.0.5", "answers": numbered((1, absent("q")))},
            "expect": {"finished": False, "questions": [{"id": 2, "ask": "queue_offer", "name": "q", "declaration": {"kind": "queue", "name": "q", "durable": True, "exclusive": False, "auto_delete": False, "arguments": arguments}}]},
        }
    yield {
        "description": "an exchange is offered with a number as its alternate",
        "input": {"topology": {"document": {"acemq": 1, "exchanges": [{"name": "e", "type": "topic"}]}}, "version": "4.0.5", "exchanges": True},
        "expect": {"questions": [{"id": 1, "ask": "exchange_offer", "name": "e", "declaration": {"kind": "exchange", "arguments": {"alternate-exchange": 5}}}]},
    }
    given = {"topology": {"document": {"acemq": 1, "queues": [{"name": "q"}]}}, "version": "4.0.5"}
    for note, answers in [("twice the same number", numbered((1, absent("q")), (1, absent("q")))), ("a number that was never given out", numbered((7, THERE))), ("two answers in one", [{"id": 1, "failed": "a", "cannot": "b"}])]:
        yield {"description": f"an answer that the session does not take: {note}", "input": given | {"answers": answers}, "error": {"code": "answer_refused"}}


def applies():
    """Nothing is declared before everything is judged, and nothing at all where something differs (D28)."""
    created = numbered((1, absent("q")), (2, guarded("q")))
    yield {
        "description": "an apply goes on to declare what is missing",
        "input": {"topology": {"document": {"acemq": 1, "queues": [{"name": "q"}]}}, "version": "4.0.5", "apply": True, "answers": created},
        "expect": {"finished": False, "questions": [{"id": 3, "ask": "declare", "name": "q", "declaration": {"kind": "queue", "name": "q", "arguments": {"x-queue-type": "quorum"}}}]},
    }
    yield {
        "description": "and is done",
        "input": {"topology": {"document": {"acemq": 1, "queues": [{"name": "q"}]}}, "version": "4.0.5", "apply": True, "answers": [*created, {"id": 3, "ok": {}}]},
        "expect": {"finished": True, "error": None},
    }
    ttl = inequivalent("x-message-ttl", "'30000'", "'60000'", "orders.new")
    two = {"acemq": 1, "queues": [{"name": "new"}, {"name": "orders.new", "arguments": {"x-message-ttl": 30000}}]}
    answers = numbered((1, absent("new")), (2, THERE), (3, guarded("new")), (4, ttl), (5, THERE))
    yield {
        "description": "one difference, and nothing is declared, not even what is missing (D28)",
        "input": {"topology": {"document": two}, "version": "4.0.5", "vhost": "/", "apply": True, "answers": answers},
        "expect": {"finished": True, "error": "acemq: nothing was declared: 1 queue differs from the broker\n  queue orders.new: x-message-ttl is 60000 on the broker, 30000 here"},
    }


def settings():
    """Modes, policies and exchanges of others."""
    given = {"topology": {"document": {"acemq": 1, "queues": [{"name": "q"}]}}, "version": "4.0.5", "vhost": "/"}
    created = numbered((1, absent("q")), (2, guarded("q")))
    for mode in ("dry_run", "create_only", "validate"):
        yield {"description": f"the mode {mode} changes no verdict", "input": given | {"mode": mode, "answers": created}, "expect": {"finished": True, "plan": {"mode": mode, "summary": {"create": 1}}}}
    yield {"description": "validate declares nothing, whatever is asked", "input": given | {"mode": "validate", "apply": True, "answers": created}, "expect": {"finished": True, "questions": []}}
    lost = numbered((1, {"failed": "timed out after 10 s"}))
    yield {"description": "strict declares nothing while an answer is missing", "input": given | {"strict": True, "apply": True, "answers": lost}, "expect": {"finished": True, "questions": [], "plan": {"summary": {"unknown": 1}}}}
    others = {"exchanges": [{"name": "theirs", "external": True}], "queues": [{"name": "q"}], "bindings": [{"queue": "q", "exchange": "theirs", "routing_key": "k"}]}
    yield {"description": "an exchange of somebody else is asked for and never declared", "input": {"topology": {"document": {"acemq": 1, **others}}, "version": "4.0.5", "apply": True}, "expect": {"questions": [{"id": 1, "ask": "exchange_passive", "name": "theirs"}, {"id": 2, "ask": "queue_passive", "name": "q"}]}}
    limits = {"policies": [{"name": "limits", "pattern": "^q", "apply_to": "queues", "definition": {"max-length": 5}}]}
    yield {"description": "a policy cannot be asked for over AMQP", "input": {"topology": {"document": {"acemq": 1, **limits}}, "version": "4.0.5"}, "expect": {"finished": True, "plan": {"actions": [{"verdict": "unknown", "kind": "policy", "name": "limits", "reason": "not_askable"}]}}}
    exclusive = {"queues": [{"name": "q", "exclusive": True}]}
    answers = numbered((1, absent("q")), (2, guarded("q", "classic")))
    yield {"description": "an exclusive queue is left to its service where the connection does not last", "input": {"topology": {"document": {"acemq": 1, **exclusive}}, "version": "4.0.5", "apply": True, "skip_exclusive": True, "answers": answers}, "expect": {"finished": True, "questions": [], "error": None, "plan": {"actions": [{"verdict": "create", "sends": "nothing"}]}}}


def everything():
    for part in (verdicts, older, whole, renderings, exchanges, open_questions, applies, settings):
        yield from part()


SUITES = [("plan-sessions", "plan.session", HOW, everything)]
