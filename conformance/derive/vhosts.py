"""What policies make of queues, and what definitions files hold: from RabbitMQ's documented rules, by hand and by a small table."""

HOW = "a table of how argument and policy meet, restated in conformance/derive/vhosts.py from RabbitMQ's sources (rabbit_queue_type_util, rabbit_policies) and measured on 3.10, 4.0 and 4.3"
FILE_HOW = "small exports written by hand in the shapes of RabbitMQ 3.10 to 4.3; contents by hand"

#: How an argument and a policy of one key meet: the smaller one, the argument, or the policy.
MEET = {
    ("classic", "message-ttl"): min,
    ("classic", "max-length"): min,
    ("classic", "max-length-bytes"): min,
    ("classic", "expires"): min,
    ("classic", "dead-letter-exchange"): "argument",
    ("classic", "dead-letter-routing-key"): "argument",
    ("classic", "overflow"): "argument",
    ("quorum", "message-ttl"): min,
    ("quorum", "max-length"): min,
    ("quorum", "max-length-bytes"): min,
    ("quorum", "dead-letter-exchange"): "argument",
    ("quorum", "overflow"): "policy",
    ("quorum", "delivery-limit"): min,
    ("stream", "max-length-bytes"): "policy",
    ("stream", "max-age"): "policy",
}
VALUES = {"dead-letter-exchange": ("one", "two"), "dead-letter-routing-key": ("one", "two"), "overflow": ("drop-head", "reject-publish"), "max-age": ("1D", "7D")}


def policy(name, pattern, definition, priority=0, apply_to="all"):
    return {"name": name, "pattern": pattern, "apply_to": apply_to, "priority": priority, "definition": definition}


def asked(note, queue, policies, settings, version="4.0.5", operator=()):
    """Policies of a topology; operator policies only an export can hold."""
    if operator:
        export = {
            "rabbitmq_version": version,
            "vhosts": [{"name": "/"}],
            "queues": [{"vhost": "/", "name": queue["name"], "durable": True, "auto_delete": False, "arguments": {"x-queue-type": queue["type"], **queue.get("arguments", {})}}],
            "policies": [exported(one) for one in policies],
            "parameters": [{"vhost": "/", "component": "operator_policy", "name": one["name"], "value": {"pattern": one["pattern"], "apply-to": one["apply_to"], "priority": one["priority"], "definition": one["definition"]}} for one in operator],
            "exchanges": [],
            "bindings": [],
        }
        state = {"definitions": {"document": export}, "rabbitmq": version}
    else:
        state = {"topology": {"document": {"acemq": 1, "queues": [queue], "policies": list(policies)}}, "rabbitmq": version}
    return {"description": note, "input": {"state": state, "kind": "queue", "name": queue["name"]}, "expect": {"settings": settings}}


def exported(one):
    return {"vhost": "/", "name": one["name"], "pattern": one["pattern"], "apply-to": one["apply_to"], "priority": one["priority"], "definition": one["definition"]}


def effective():
    for (kind, key), how in MEET.items():
        pairs = [VALUES.get(key, (10, 20)), VALUES.get(key, (10, 20))[::-1]]
        for argument, said in pairs:
            value = min(argument, said) if how is min else argument if how == "argument" else said
            source = "argument" if value == argument else "policy"
            arguments = {f"x-{key}": argument}
            if key == "dead-letter-routing-key":
                arguments["x-dead-letter-exchange"] = "amq.fanout"
            queue = {"name": "q", "type": kind, "arguments": arguments}
            yield asked(f"{kind}, {key}: argument {argument}, policy {said}", queue, [policy("p", "^q$", {key: said})], {key: {"value": value, "source": source}})
    plain = {"name": "q", "type": "classic"}
    three = [policy("low", "q", {"max-length": 1}, 1), policy("high", "^q", {"message-ttl": 5}, 9), policy("other", "^x", {"max-length": 2}, 99)]
    yield asked("the highest priority that matches, and only that one", plain, three, {"message-ttl": {"value": 5, "source": "policy", "policy": "high"}})
    unsupported = [policy("low", "q", {"max-length": 1}, 1), policy("high", "q", {"max-length": 2, "delivery-limit": 3}, 9)]
    yield asked("one key that the type does not support keeps the whole policy off", plain, unsupported, {"max-length": {"value": 1, "policy": "low"}})
    yield asked("the same policy on a quorum queue", {"name": "q", "type": "quorum"}, unsupported, {"max-length": {"value": 2, "policy": "high"}, "delivery-limit": {"value": 3, "policy": "high"}})
    yield asked("a pattern matches anywhere in the name", {"name": "orders.new", "type": "classic"}, [policy("p", "new", {"max-length": 1})], {"max-length": {"value": 1}})
    yield asked("a policy for exchanges is none for queues", plain, [policy("p", "q", {"alternate-exchange": "x"}, 0, "exchanges"), policy("r", "q", {"max-length": 1}, -1, "queues")], {"max-length": {"value": 1, "policy": "r"}})
    yield asked("a quorum queue of 4.0 gives up after 20", {"name": "q", "type": "quorum"}, [], {"delivery-limit": {"value": 20, "source": "default"}})
    for said, cap, value, source in ((10, 5, 5, "operator_policy"), (5, 10, 5, "policy")):
        yield asked(f"an operator policy of {cap} over a policy of {said}", plain, [policy("p", "q", {"max-length": said})], {"max-length": {"value": value, "source": source}}, operator=[policy("o", "q", {"max-length": cap}, 0, "queues")])
    missing = {"topology": {"document": {"acemq": 1}}}
    yield {"description": "a queue that is not there", "input": {"state": missing, "kind": "queue", "name": "q"}, "error": {"code": "no_such_object", "fields": {"kind": "queue", "name": "q"}}}


QUEUE = {"vhost": "/", "name": "orders", "durable": True, "auto_delete": False, "arguments": {"x-max-length": 5}}
CLUSTER = {
    "rabbit_version": "3.13.7",
    "rabbitmq_version": "3.13.7",
    "vhosts": [{"name": "/"}, {"name": "shop"}],
    "queues": [QUEUE, QUEUE | {"vhost": "shop", "name": "carts", "arguments": {"x-queue-type": "quorum"}}],
    "exchanges": [{"vhost": "/", "name": "events", "type": "topic", "durable": True, "auto_delete": False, "internal": False, "arguments": {}}],
    "bindings": [{"vhost": "/", "source": "events", "destination": "orders", "destination_type": "queue", "routing_key": "order.#", "arguments": {}}],
    "policies": [{"vhost": "/", "name": "limits", "pattern": "^orders", "apply-to": "queues", "priority": 1, "definition": {"max-length": 3}}],
}


def states():
    file = {"definitions": {"document": CLUSTER}}
    yield {
        "description": "one vhost of an export",
        "input": {"state": file | {"vhost": "/"}},
        "expect": {
            "format": "acemq.state/1",
            "rabbitmq": "3.13.7",
            "vhost": "/",
            "queues": [{"name": "orders", "type": "classic", "arguments": {"x-max-length": 5}}],
            "exchanges": [{"name": "events", "type": "topic"}],
            "bindings": [{"exchange": "events", "queue": "orders", "routing_key": "order.#"}],
            "policies": [{"name": "limits", "priority": 1, "definition": {"max-length": 3}}],
        },
    }
    yield {"description": "the other one", "input": {"state": file | {"vhost": "shop"}}, "expect": {"vhost": "shop", "queues": [{"name": "carts", "type": "quorum"}], "bindings": [], "policies": []}}
    yield {"description": "several vhosts, and none is chosen", "input": {"state": file}, "error": {"code": "vhost_not_chosen", "fields": {"vhosts": ["/", "shop"]}}}
    yield {"description": "a vhost that the file does not have", "input": {"state": file | {"vhost": "cart"}}, "error": {"code": "no_such_vhost", "fields": {"vhost": "cart"}}}
    yield {"description": "a topology document is no export", "input": {"state": {"definitions": {"document": {"acemq": 1, "queues": []}}}}, "error": {"code": "definitions_is_a_topology"}}
    yield {"description": "an empty file", "input": {"state": {"definitions": {"text": ""}}}, "error": {"code": "definitions_empty"}}
    yield {"description": "no JSON", "input": {"state": {"definitions": {"text": '{"queues": ['}}}, "error": {"code": "definitions_not_json"}}
    broken = CLUSTER | {"queues": [QUEUE | {"durable": "yes"}]}
    yield {"description": "an entry that no broker reads", "input": {"state": {"definitions": {"document": broken}, "vhost": "/"}}, "error": {"code": "definitions_faulty", "fields": {"section": "queues", "index": 0, "name": "orders"}}}
    yield {"description": "neither topology nor definitions", "input": {"state": {"vhost": "/"}}, "error": {"code": "state_not_given"}}
    for version, default, kind in (("3.10.8", None, "classic"), ("4.0.5", "quorum", "quorum"), ("4.3.6", "stream", "stream")):
        source = {"topology": {"document": {"acemq": 1, "queues": [{"name": "q", "type": "classic"}]}}, "rabbitmq": version}
        source |= {"default_queue_type": default} if default else {}
        yield {"description": f"a queue without a type under the default {default} of {version}", "input": {"state": source}, "expect": {"queues": [{"name": "q", "type": kind}]}}


def previews():
    there = {"topology": {"document": {"acemq": 1, "queues": [{"name": "orders", "type": "classic"}]}}, "rabbitmq": "3.13.7"}
    one = CLUSTER | {"vhosts": [{"name": "/"}], "queues": [QUEUE], "policies": []}
    yield {"description": "an import creates what is not there", "input": {"definitions": {"document": one}, "rabbitmq": "3.13.7"}, "expect": {"effects": []}}
    yield {"description": "and never changes a queue that is", "input": {"definitions": {"document": one}, "rabbitmq": "3.13.7", "there": [there]}, "expect": {"effects": [{"outcome": "skipped", "vhost": "/"}]}}
    negative = one | {"queues": [QUEUE | {"arguments": {"x-message-ttl": -1}}]}
    yield {"description": "what a broker refuses is refused", "input": {"definitions": {"document": negative}, "rabbitmq": "3.13.7"}, "expect": {"effects": [{"outcome": "refused", "vhost": "/"}]}}


SUITES = [
    ("effective-settings", "policy.effective", HOW, effective),
    ("definitions", "definitions.state", FILE_HOW, states),
    ("import-previews", "definitions.preview", FILE_HOW, previews),
]
