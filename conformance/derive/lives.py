"""Lives of messages in the embedded broker: what RabbitMQ's documentation and real brokers say becomes of them.

A life is a list of commands and what must be in the replies. `None` stands for a reply that does not matter.
"""

import pathlib

HOW = "written by hand from RabbitMQ's documented rules; the same lives agree with real brokers of 3.10, 4.0 and 4.3 in tests/tests/differential"
SCENARIO_HOW = "the runs of examples/scenarios with their own expectations, which stand for runs on real brokers; contents at the end written by hand"
VERSIONS = ("3.10.8", "3.13.7", "4.0.5", "4.3.6")
SCENARIOS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "scenarios"


class Life:
    """Commands of channel 2, which stands open at the start."""

    def __init__(self, **settings):
        self.settings = settings
        self.commands = [{"connect": {}}, {"connection": 1, "open_channel": {}}]
        self.replies = [{"connection": 1}, {"channel": 2}]

    def do(self, command, reply=None, channel=2):
        who = {} if channel is None else {"channel": channel}
        self.commands.append(who | command)
        self.replies.append({} if reply is None else reply)
        return self

    def queue(self, name, **arguments):
        flags = {word: arguments.pop(word) for word in ("exclusive", "auto_delete", "durable") if word in arguments}
        table = {key.replace("_", "-"): value for key, value in arguments.items()}
        return self.do({"declare_queue": {"name": name, **flags, "arguments": table}}, {"name": name})

    def publish(self, queue, body, reply=None, exchange="", mandatory=False, **properties):
        return self.do({"publish": {"exchange": exchange, "routing_key": queue, "body": body, "mandatory": mandatory, "properties": properties}}, reply)

    def get(self, queue, body, no_ack=False, **more):
        delivery = None if body is None else {"body": body, **more}
        return self.do({"get": {"queue": queue, "no_ack": no_ack}}, {"delivery": delivery})

    def holds(self, queue, *bodies):
        return self.do({"contents": {"queue": queue}}, {"contents": {"ready": [{"body": body} for body in bodies]}}, None)

    def gone(self, queue):
        return self.do({"contents": {"queue": queue}}, {"contents": None}, None)

    def wait(self, ms):
        return self.do({"advance": {"ms": ms}}, None, None)

    def refused(self, command, code, text, scope="channel"):
        return self.do(command, {"refused": {"code": code, "text": text, "scope": scope}})

    def case(self, note, version):
        return {"description": f"{note} ({version})", "input": {"broker": {"rabbitmq": version, **self.settings}, "commands": self.commands}, "expect": {"replies": self.replies}}


DEAD = {"x_dead_letter_exchange": "", "x_dead_letter_routing_key": "dead"}


def death(reason, queue="q", count=1, **more):
    return {"x-death": [{"reason": reason, "queue": queue, "count": count, "exchange": "", "routing-keys": [queue], **more}], "x-first-death-reason": reason, "x-first-death-queue": queue, "x-first-death-exchange": ""}


def lives(version):
    three, four = version.startswith("3."), not version.startswith("3.")
    yield "first in, first out", Life().queue("q").publish("q", "1").publish("q", "2").get("q", "1", no_ack=True, redelivered=False, remaining=1).get("q", "2", no_ack=True).get("q", None)
    yield "what is not acknowledged comes back to its place", Life().queue("q").publish("q", "1").publish("q", "2").get("q", "1").do({"nack": {"delivery_tag": 1, "requeue": True}}).get("q", "1", redelivered=True).get("q", "2", redelivered=False)
    yield "a closed channel gives back what it holds", Life().queue("q").publish("q", "1").get("q", "1").do({"close_channel": {}}).holds("q", "1")
    yield "ack with multiple takes all before it", Life().queue("q").publish("q", "1").publish("q", "2").get("q", "1").get("q", "2").do({"ack": {"delivery_tag": 2, "multiple": True}}).refused({"ack": {"delivery_tag": 1}}, 406, "PRECONDITION_FAILED - unknown delivery tag 1")
    yield "recover puts everything back", Life().queue("q").publish("q", "1").get("q", "1").do({"recover": {}}).holds("q", "1")
    rejected = Life().queue("q", **DEAD).queue("dead").publish("q", "m").get("q", "m").do({"reject": {"delivery_tag": 1, "requeue": False}}).holds("q")
    headers = death("rejected") | ({} if version.startswith("3.10") else {"x-last-death-reason": "rejected", "x-last-death-queue": "q", "x-last-death-exchange": ""})
    yield "a rejected message dies, and remembers it", rejected.get("dead", "m", routing_key="dead", properties={"headers": headers})
    yield "without a dead-letter exchange a rejected message is gone", Life().queue("q").publish("q", "m").get("q", "m").do({"nack": {"delivery_tag": 1, "requeue": False}}).holds("q")
    yield "a message expires after the queue's TTL", Life().queue("q", x_message_ttl=1000, **DEAD).queue("dead").publish("q", "m").wait(999).holds("q", "m").holds("dead").wait(1).holds("q").get("dead", "m", properties={"headers": death("expired")})
    yield "the shorter of two TTLs holds", Life().queue("q", x_message_ttl=1000).publish("q", "m", expiration="10").wait(10).holds("q")
    original = death("expired")
    original["x-death"][0]["original-expiration"] = "10"
    yield "an expiration is taken off when it has done its work", Life().queue("q", **DEAD).queue("dead").publish("q", "m", expiration="10").wait(10).get("dead", "m", properties={"headers": original}).wait(100_000).do({"recover": {}}).holds("dead", "m")
    yield "only the head of a queue expires", Life().queue("q").publish("q", "long").publish("q", "short", expiration="10").wait(20).holds("q", "long", "short")
    yield "an expiration that is no number is refused", Life().queue("q").refused({"publish": {"routing_key": "q", "properties": {"expiration": "ten"}}}, 406, "PRECONDITION_FAILED - invalid expiration 'ten': no_integer")
    yield "a full queue loses its oldest message", Life().queue("q", x_max_length=2, **DEAD).queue("dead").publish("q", "1").publish("q", "2").publish("q", "3").holds("q", "2", "3").get("dead", "1", properties={"headers": death("maxlen")})
    yield "reject-publish refuses the newest", Life().queue("q", x_max_length=1, x_overflow="reject-publish").publish("q", "1", {"confirmed": True}).publish("q", "2", {"confirmed": False}).holds("q", "1")
    yield "reject-publish-dlx sends the newest away", Life().queue("q", x_max_length=1, x_overflow="reject-publish-dlx", **DEAD).queue("dead").publish("q", "1").publish("q", "2", {"confirmed": False}).holds("q", "1").holds("dead", "2")
    yield "a length in bytes", Life().queue("q", x_max_length_bytes=5).publish("q", "123").publish("q", "456").holds("q", "456")
    yield "priorities go first", Life().queue("q", x_max_priority=5).publish("q", "low", priority=1).publish("q", "none").publish("q", "high", priority=9).holds("q", "high", "low", "none")
    yield "dead letters that come back without a rejection are dropped", Life().queue("q", x_message_ttl=10, x_dead_letter_exchange="", x_dead_letter_routing_key="q").publish("q", "m").wait(10).holds("q")
    yield "a delay queue gives back", Life().queue("work", x_dead_letter_exchange="", x_dead_letter_routing_key="wait").queue("wait", x_message_ttl=100, x_dead_letter_exchange="", x_dead_letter_routing_key="work").publish("work", "m").get("work", "m").do({"reject": {"delivery_tag": 1, "requeue": False}}).holds("wait", "m").wait(100).holds("work", "m")
    yield "a dead-letter exchange that is not there loses the message", Life().queue("q", x_message_ttl=10, x_dead_letter_exchange="gone").publish("q", "m").wait(10).holds("q")
    limit = Life().queue("q", x_queue_type="quorum", x_delivery_limit=1, **DEAD).queue("dead").publish("q", "m")
    for tag in (1, 2):
        limit.get("q", "m").do({"reject": {"delivery_tag": tag, "requeue": True}})
    yield "a quorum queue gives up at its delivery limit", limit.holds("q").get("dead", "m", properties={"headers": death("delivery_limit")})
    yield "a message that no queue gets is dropped", Life().do({"publish": {"routing_key": "nobody", "body": "m"}}, {"queues": [], "returned": False, "confirmed": True})
    yield "or comes back when it is mandatory", Life().do({"publish": {"routing_key": "nobody", "body": "m", "mandatory": True}}, {"queues": [], "returned": True, "confirmed": True})
    yield "an exchange that is not there closes the channel", Life().refused({"publish": {"exchange": "gone"}}, 404, "NOT_FOUND - no exchange 'gone' in vhost '/'").do({"is_open": {}}, {"open": False})
    yield "an internal exchange takes nothing from clients", Life().do({"declare_exchange": {"name": "i", "type": "fanout", "internal": True}}).refused({"publish": {"exchange": "i"}}, 403, "ACCESS_REFUSED - cannot publish to internal exchange 'i' in vhost '/'")
    yield "the header BCC is taken off, CC stays", Life().queue("q").queue("r").publish("q", "m", {"queues": ["q", "r"]}, headers={"BCC": ["r"], "CC": ["q"]}).get("r", "m", properties={"headers": {"CC": ["q"]}})
    yield "a consumer gets what comes", Life().queue("q").do({"consume": {"queue": "q", "consumer_tag": "c"}}, {"consumer_tag": "c"}).publish("q", "m").do({"take_events": {}}, {"events": [{"delivered": {"body": "m", "consumer_tag": "c", "delivery_tag": 1}}]})
    yield "prefetch holds back", Life().queue("q").do({"qos": {"prefetch": 1}}).do({"consume": {"queue": "q", "consumer_tag": "c"}}).publish("q", "1").publish("q", "2").do({"take_events": {}}, {"events": [{"delivered": {"body": "1"}}]}).do({"ack": {"delivery_tag": 1}}).do({"take_events": {}}, {"events": [{"delivered": {"body": "2"}}]})
    yield "a deleted queue cancels its consumers", Life().queue("q").do({"consume": {"queue": "q", "consumer_tag": "c"}}).do({"delete_queue": {"name": "q"}}, {"messages": 0}).do({"take_events": {}}, {"events": [{"cancelled": {"consumer_tag": "c"}}]})
    yield "an exclusive consumer is alone", Life().queue("q").do({"consume": {"queue": "q", "consumer_tag": "c", "exclusive": True}}).refused({"consume": {"queue": "q", "consumer_tag": "d"}}, 403, "ACCESS_REFUSED - queue 'q' in vhost '/' in exclusive use")
    yield "a single active consumer gets everything", Life().queue("q", x_single_active_consumer=True).do({"consume": {"queue": "q", "consumer_tag": "c"}}).do({"consume": {"queue": "q", "consumer_tag": "d"}}).publish("q", "1").publish("q", "2").do({"take_events": {}}, {"events": [{"delivered": {"consumer_tag": "c"}}, {"delivered": {"consumer_tag": "c"}}]})
    yield "an auto-delete queue goes with its last consumer", Life().queue("q", auto_delete=True).do({"consume": {"queue": "q", "consumer_tag": "c"}}).do({"cancel": {"consumer_tag": "c"}}).gone("q")
    yield "an exclusive queue goes with its connection", Life().queue("q", exclusive=True).do({"connection": 1, "disconnect": {}}, None, None).gone("q")
    yield "an unused queue expires", Life().queue("q", x_expires=1000).wait(999).do({"declare_queue_passively": {"name": "q"}}, {"name": "q"}).wait(1000).gone("q")
    yield "deleting what is not there is no error", Life().do({"delete_queue": {"name": "nobody"}}, {"messages": 0}).do({"delete_exchange": {"name": "nobody"}})
    yield "a queue with messages is not empty", Life().queue("q").publish("q", "m").refused({"delete_queue": {"name": "q", "if_empty": True}}, 406, "PRECONDITION_FAILED - queue 'q' in vhost '/' not empty")
    yield "a quorum queue knows no conditions", Life().queue("q", x_queue_type="quorum").refused({"delete_queue": {"name": "q", "if_unused": True}}, 540, "NOT_IMPLEMENTED - cannot delete queue 'q' in vhost '/'. queue.delete operations with if-unused flag set are not supported by quorum queues", "connection")
    yield "a queue is not declared otherwise (D30)", Life().queue("q").refused({"declare_queue": {"name": "q", "arguments": {"x-max-length": 5}}}, 406, "PRECONDITION_FAILED - inequivalent arg 'x-max-length' for queue 'q' in vhost '/': received the value '5' of type 'long' but current is none")
    yield "asking for a queue does not make it (D31)", Life().refused({"declare_queue_passively": {"name": "q"}}, 404, "NOT_FOUND - no queue 'q' in vhost '/'").gone("q")
    policy = {"set_policy": {"name": "p", "pattern": "^q$", "apply_to": "queues", "definition": {"max-length": 1}}}
    yield "a policy holds at once, and ends with it", Life().queue("q").publish("q", "1").publish("q", "2").do(policy, None, None).holds("q", "2").do({"clear_policy": {"name": "p"}}, {"cleared": True}, None).publish("q", "3").holds("q", "2", "3")
    both = {"set_policy": {"name": "p", "pattern": "q", "definition": {"max-length": 5}}}
    yield "the smaller of argument and policy holds", Life().queue("q", x_max_length=1).do(both, None, None).publish("q", "1").publish("q", "2").holds("q", "2")
    operator = {"set_operator_policy": {"name": "o", "pattern": "q", "apply_to": "queues", "definition": {"max-length": 1}}}
    yield "an operator policy is a cap", Life().queue("q").do(both, None, None).do(operator, None, None).publish("q", "1").publish("q", "2").holds("q", "2")
    yield "purging throws away what is ready", Life().queue("q").publish("q", "1").publish("q", "2").get("q", "1").do({"purge": {"queue": "q"}}, {"messages": 1}).do({"nack": {"delivery_tag": 1, "requeue": True}}).holds("q", "1")
    yield "bytes stay bytes", Life().queue("q").do({"publish": {"routing_key": "q", "body": {"base64": "AP8="}}}).get("q", {"base64": "AP8="})
    yield "properties stay as they were sent", Life().queue("q").publish("q", "m", content_type="a/b", correlation_id="c", type="t", app_id="x", timestamp=1700000000, headers={"n": {"@I": 5}, "d": 1.5}).get("q", "m", properties={"content_type": "a/b", "correlation_id": "c", "type": "t", "app_id": "x", "timestamp": 1700000000, "headers": {"n": {"@I": 5}, "d": 1.5}})
    assert three or four


def lives_of_every_version():
    for version in VERSIONS:
        for note, life in lives(version):
            yield life.case(note, version)


ENDS = {
    "reject": None,
    "expiry": None,
    "overflow": None,
    "requeue-loop": None,
    "delay-queue": None,
    "dead-letters-back-to-the-source": None,
    "four-ways-to-die": None,
}


def scenarios():
    for name in ENDS:
        text = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
        for version in VERSIONS:
            yield {"description": f"scenario {name} by {version}: every step comes out as it says", "input": {"scenario": {"text": text}, "rabbitmq": version}, "expect": {"format": "acemq.simulation/1", "rabbitmq": version, "failed": 0}}
    wrong = "topology: { queues: { q: {} } }\nsteps: [ { expect: { q: 1 } } ]\n"
    yield {"description": "a step that does not come out is counted", "input": {"scenario": {"text": wrong}}, "expect": {"failed": 1}}
    yield {"description": "what is no scenario", "input": {"scenario": {"text": "queues: {}"}}, "error": {"code": "scenario_invalid"}}


SUITES = [
    ("lives", "embedded.run", HOW, lives_of_every_version),
    ("scenarios", "embedded.simulate", SCENARIO_HOW, scenarios),
]
