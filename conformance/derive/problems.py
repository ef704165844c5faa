"""What is wrong with a topology: every problem and warning of the contract's section 4, written by hand from it."""

HOW = "written by hand from sections 2 and 4 of the contract, one document for each rule and its neighbours"


def problem(code, kind=None, name=None, severity="error", **fields):
    found = {"code": code, "severity": severity}
    if kind:
        found["object"] = {"kind": kind} | ({"name": name} if name is not None else {})
    if fields:
        found["fields"] = fields
    return found


def warning(code, kind=None, name=None, **fields):
    return problem(code, kind, name, "warning", **fields)


def queue(name="orders", **settings):
    return {"queues": [{"name": name, **settings}]}


def arguments(kind="quorum", **given):
    return queue(type=kind, arguments={name.replace("_", "-"): value for name, value in given.items()})


def bindings(*found, queues=("orders",), exchanges=("events",)):
    return {
        "exchanges": [{"name": name, "type": "topic"} for name in exchanges],
        "queues": [{"name": name} for name in queues],
        "bindings": list(found),
    }


def bind(queue=None, exchange="events", key="k", **more):
    return ({"queue": queue} if queue is not None else {}) | {"exchange": exchange, "routing_key": key} | more


LONG = "q" * 256

DOCUMENTS = [
    ("nothing is wrong", queue(), []),
    # Names (D45).
    ("a queue without a name (D24)", queue(""), [problem("name_empty", "queue", "")]),
    ("an exchange without a name (D24)", {"exchanges": [{"name": "", "type": "topic"}]}, [problem("name_empty", "exchange", "")]),
    ("a name of 256 bytes (D45)", queue(LONG), [problem("name_too_long", "queue", LONG, bytes=256, limit=255)]),
    ("a name of 255 bytes is fine by itself (D45)", queue("q" * 255), []),
    ("a name that .parked makes too long (D45)", queue("q" * 250, dead_letter=True), [problem("name_too_long", "queue", "q" * 250)]),
    ("a reserved queue name", queue("amq.orders"), [problem("name_reserved", "queue", "amq.orders")]),
    ("a line feed in a name", queue("a\nb"), [problem("name_line_break", "queue", "a\nb")]),
    # Exchanges.
    ("an exchange without a type (D25)", {"exchanges": [{"name": "e"}]}, [problem("exchange_type_missing", "exchange", "e")]),
    ("an unknown exchange type (D25)", {"exchanges": [{"name": "e", "type": "topics"}]}, [problem("exchange_type_unknown", "exchange", "e", type="topics")]),
    ("the four types and those of plugins are known (D25)", {"exchanges": [{"name": kind, "type": kind} for kind in ("direct", "fanout", "topic", "headers", "x-consistent-hash", "x-delayed-message")]}, []),
    ("equal exchanges are one", {"exchanges": [{"name": "e", "type": "topic"}, {"name": "e", "type": "topic"}]}, []),
    ("unequal exchanges (D24, D25)", {"exchanges": [{"name": "e", "type": "topic"}, {"name": "e", "type": "fanout"}]}, [problem("duplicate_exchange", "exchange", "e")]),
    ("acemq.dlx with another type is refused (D26)", {"exchanges": [{"name": "acemq.dlx", "type": "topic"}], **queue(dead_letter=True)}, [problem("shared_exchange_differs", "exchange", "acemq.dlx")]),
    ("acemq.retry that is transient is refused (D26)", {"exchanges": [{"name": "acemq.retry", "type": "direct", "transient": True}]}, [problem("shared_exchange_differs", "exchange", "acemq.retry")]),
    ("an alternate exchange that nobody declares (D45)", {"exchanges": [{"name": "e", "type": "topic", "alternate_exchange": "rest"}]}, [warning("alternate_exchange_undeclared", "exchange", "e", exchange="rest")]),
    ("an alternate exchange by key and by argument", {"exchanges": [{"name": "e", "type": "topic", "alternate_exchange": "amq.fanout", "arguments": {"alternate-exchange": "amq.direct"}}]}, [problem("alternate_exchange_conflict", "exchange", "e")]),
    ("an alternate exchange that is no text", {"exchanges": [{"name": "e", "type": "topic", "arguments": {"alternate-exchange": 5}}]}, [problem("argument_type", "exchange", "e", argument="alternate-exchange")]),
    ("durable and transient at once", {"exchanges": [{"name": "e", "type": "topic", "durable": True, "transient": True}]}, [problem("durable_conflict", "exchange", "e")]),
    # Queues.
    ("equal queues are one", {"queues": [{"name": "a"}, {"name": "a"}]}, []),
    ("unequal queues (D24, D25)", {"queues": [{"name": "a"}, {"name": "a", "type": "classic"}]}, [problem("duplicate_queue", "queue", "a")]),
    ("a .dlq of one's own that differs (D24)", {"queues": [{"name": "a", "dead_letter": True}, {"name": "a.dlq"}]}, [problem("duplicate_queue", "queue", "a.dlq")]),
    ("a .dlq of one's own that is equal is the same object", {"queues": [{"name": "a", "dead_letter": True}, {"name": "a.dlq", "type": "classic"}]}, []),
    ("a queue type that RabbitMQ does not have (D23)", queue(type="lazy"), [problem("queue_type_unknown", "queue", "orders", type="lazy")]),
    ("two types (D23)", queue(type="classic", arguments={"x-queue-type": "quorum"}), [problem("queue_type_conflict", "queue", "orders", first="classic", second="quorum")]),
    ("a quorum queue with the three flags (D23)", queue(type="quorum", transient=True, exclusive=True, auto_delete=True), [problem("queue_type_needs_durable", "queue", "orders", type="quorum")]),
    ("a transient queue that is shared (D45)", queue(transient=True), [warning("transient_queue", "queue", "orders")]),
    ("a transient queue that is exclusive is no matter (D45)", queue(transient=True, exclusive=True), []),
    # Dead letters and retries.
    ("dead letters of a stream", queue(type="stream", dead_letter=True), [problem("dead_letter_on_stream", "queue", "orders")]),
    ("a dead-letter exchange of a stream", queue(type="stream", dead_letter_to="amq.fanout"), [problem("dead_letter_on_stream", "queue", "orders")]),
    ("retries of a stream", queue(type="stream", retry="fixed(3, 1m)"), [problem("retries_on_stream", "queue", "orders")]),
    ("dead letters and x-dead-letter-exchange by hand (D7)", queue(dead_letter=True, arguments={"x-dead-letter-exchange": "amq.fanout"}), [problem("dead_letter_conflict", "queue", "orders")]),
    ("dead letters and x-dead-letter-routing-key by hand (D7)", queue(dead_letter=True, arguments={"x-dead-letter-routing-key": "k"}), [problem("dead_letter_conflict", "queue", "orders")]),
    ("dead letters and an exchange of one's own (D7)", queue(dead_letter=True, dead_letter_to="amq.fanout"), [problem("dead_letter_conflict", "queue", "orders")]),
    ("a dead-letter routing key alone", queue(arguments={"x-dead-letter-routing-key": "k"}), [problem("dead_letter_key_alone", "queue", "orders")]),
    ("a policy does not help a dead-letter routing key alone", {**queue(arguments={"x-dead-letter-routing-key": "k"}), "policies": [{"name": "p", "pattern": ".*", "definition": {"dead-letter-exchange": "amq.fanout"}}]}, [problem("dead_letter_key_alone", "queue", "orders")]),
    ("a dead-letter exchange that nobody declares (D45)", queue(dead_letter_to="dead"), [warning("dead_letter_exchange_undeclared", "queue", "orders", exchange="dead")]),
    ("the default exchange as dead-letter exchange is there", queue(arguments={"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "orders.dlq"}), []),
    ("a policy that cannot be (D16)", queue(retry="exponential(0, 10s)"), [problem("retry_policy_invalid", "queue", "orders", reason="attempts_too_few")]),
    ("a duration without a unit", queue(retry="fixed(3, 10)"), [problem("retry_policy_invalid", "queue", "orders")]),
    ("a cap of 0 (D6)", queue(retry="exponential(6, 10s, 0)"), [problem("retry_policy_invalid", "queue", "orders", reason="cap_zero")]),
    ("a rung's name that does not fit (D45)", queue("q" * 247, retry="fixed(2, 1m)"), [problem("name_too_long", "queue", "q" * 247)]),
    # Arguments.
    ("a TTL that is a text", arguments(x_message_ttl="60000"), [problem("argument_type", "queue", "orders", argument="x-message-ttl", value="60000")]),
    ("a TTL below 0", arguments(x_message_ttl=-1), [problem("argument_range", "queue", "orders", argument="x-message-ttl")]),
    ("a TTL of 0 is fine", arguments(x_message_ttl=0), []),
    ("a TTL at RabbitMQ's limit (D45)", arguments(x_message_ttl=315_360_000_000), []),
    ("a TTL over RabbitMQ's limit (D45)", arguments(x_message_ttl=315_360_000_001), [problem("argument_range", "queue", "orders", argument="x-message-ttl")]),
    ("an expiry of 0", arguments(x_expires=0), [problem("argument_range", "queue", "orders", argument="x-expires")]),
    ("an overflow that RabbitMQ does not have", arguments(x_overflow="drop"), [problem("argument_range", "queue", "orders", argument="x-overflow")]),
    ("reject-publish-dlx on a quorum queue", arguments(x_overflow="reject-publish-dlx"), [warning("overflow_on_quorum", "queue", "orders")]),
    ("reject-publish-dlx on a classic queue is fine", arguments("classic", x_overflow="reject-publish-dlx"), []),
    ("priorities on a quorum queue", arguments(x_max_priority=5), [warning("argument_foreign", "queue", "orders", argument="x-max-priority")]),
    ("priorities on a classic queue are fine", arguments("classic", x_max_priority=5), []),
    ("priorities over 255", arguments("classic", x_max_priority=256), [problem("argument_range", "queue", "orders", argument="x-max-priority")]),
    ("an argument that RabbitMQ does not know", arguments(x_mesage_ttl=5), [warning("argument_unknown", "queue", "orders", argument="x-mesage-ttl")]),
    ("a known argument without its x-", arguments(message_ttl=5), [warning("argument_without_prefix", "queue", "orders", argument="message-ttl", meant="x-message-ttl")]),
    # Bindings.
    ("a queue that is not declared (D24)", bindings(bind("nobody")), [problem("binding_queue_undeclared", "binding", queue="nobody")]),
    ("an exchange that is not declared (D24)", bindings(bind("orders", "nobody")), [problem("binding_exchange_undeclared", "binding", exchange="nobody")]),
    ("both are not declared, and both are said at once (D25)", '{"acemq": 1, "bindings": [{"queue": "nobody", "exchange": "nothing"}]}', [problem("binding_queue_undeclared", "binding", queue="nobody"), problem("binding_exchange_undeclared", "binding", exchange="nothing")]),
    ("from the default exchange (D25)", bindings(bind("orders", "")), [problem("binding_default_exchange", "binding")]),
    ("to the default exchange (D25)", bindings({"to_exchange": "", "exchange": "events", "routing_key": "k"}), [problem("binding_default_exchange", "binding")]),
    ("from amq.topic, which is everybody's", bindings(bind("orders", "amq.topic")), []),
    ("from an external exchange", {"exchanges": [{"name": "theirs", "external": True}], **queue(), "bindings": [bind("orders", "theirs")]}, []),
    ("to nothing", bindings({"exchange": "events", "routing_key": "k"}), [problem("binding_end_missing", "binding")]),
    ("to a queue and an exchange", bindings(bind("orders", to_exchange="events")), [problem("binding_end_missing", "binding")]),
    ("three # (refused from 4.3.5)", bindings(bind("orders", key="#.a.#.b.#")), [warning("many_hashes", "binding", hashes=3)]),
    ("two # are fine", bindings(bind("orders", key="#.a.#")), []),
    ("## is no wildcard", bindings(bind("orders", key="##.##.##")), []),
    ("a routing key of 256 bytes", bindings(bind("orders", key="k" * 256)), [problem("routing_key_too_long", "binding", bytes=256)]),
    ("an x-match that RabbitMQ does not have", {"exchanges": [{"name": "h", "type": "headers"}], **queue(), "bindings": [{"queue": "orders", "exchange": "h", "arguments": {"x-match": "some"}}]}, [problem("binding_argument", "binding", argument="x-match")]),
    # Everything at once.
    (
        "everything at once, in the order of the document (D25)",
        '{"acemq": 1, "exchanges": [{"name": "e"}], "queues": [{"name": "a", "type": "lazy"}, {"name": ""}], "bindings": [{"queue": "b", "exchange": "f"}]}',
        [problem("exchange_type_missing", "exchange", "e"), problem("queue_type_unknown", "queue", "a"), problem("name_empty", "queue", ""), problem("binding_queue_undeclared", "binding", queue="b"), problem("binding_exchange_undeclared", "binding", exchange="f")],
    ),
]

TEXTS = [
    ("an empty document", "", "document_empty", None),
    ("a document of another kind", "services: {}\n", "document_not_a_topology", None),
    ("a format that is not known", "acemq: 2\n", "document_version", None),
    ("text that is no YAML", "acemq: 1\nqueues: { a: {\n", "document_syntax", None),
    ("a key that is misspelt", "acemq: 1\nqueues:\n  orders: { dead_leter: true }\n", "unknown_key", {"line": 3, "column": 13}),
    ("a key that stands twice", "acemq: 1\nqueues:\n  a: {}\n  a: {}\n", "duplicate_key", {"line": 4, "column": 3}),
    ("yes is no truth value", "acemq: 1\nqueues:\n  orders: { dead_letter: yes }\n", "wrong_value", {"line": 3, "column": 26}),
    ("a null is no value", '{"acemq": 1, "queues": {"a": {"arguments": {"x-max-length": null}}}}', "wrong_value", None),
]

SEED = {"exchanges": [{"name": "orders-events", "type": "topic"}], "bindings": [{"queue": "a-queue-nobody-declared", "exchange": "orders-events", "routing_key": "order.placed"}]}
SENTENCE = 'acemq: binding orders-events -> a-queue-nobody-declared (order.placed) names queue "a-queue-nobody-declared", which this topology does not declare'


BUILT = [
    ("dead letters of a queue that is not declared (D24)", {"name": "order", "dead_letter": True}, "dead_letter_undeclared"),
    ("a dead-letter exchange of a queue that is not declared (D24)", {"name": "order", "dead_letter_to": "amq.fanout"}, "dead_letter_undeclared"),
    ("retries of a queue that is not declared (D24)", {"name": "order", "retry": "fixed(2, 1m)"}, "retries_undeclared"),
    ("the type of a queue that is not declared (D24)", {"name": "order", "type": "stream"}, "queue_undeclared"),
    ("one argument with two values", {"name": "orders", "arguments": {"x-max-length": 2}}, "argument_conflict"),
    ("two retry policies", {"name": "orders", "retry": "fixed(3, 1m)"}, "retry_policy_conflict"),
]


def built():
    """What builders of the libraries hand over: a document, and what was asked for its queues by name."""
    base = {"acemq": 1, "queues": [{"name": "orders", "arguments": {"x-max-length": 1}, "retry": "fixed(2, 1m)"}]}
    for note, setting, code in BUILT:
        source = {"topology": {"built": {"document": base, "settings": [setting]}}}
        yield {"description": f"a builder: {note}", "input": source, "expect": {"problems": [{"code": code, "object": {"kind": "queue", "name": setting["name"]}}]}}
    late = {"topology": {"built": {"document": {"acemq": 1, "queues": [{"name": "orders"}]}, "settings": [{"name": "orders", "dead_letter": True}, {"name": "orders", "dead_letter": True}]}}}
    yield {"description": "a builder may ask for dead letters twice, which is once", "input": late, "expect": {"problems": []}}


def source(document):
    if isinstance(document, str):
        return {"topology": {"text": document}}
    return {"topology": {"document": {"acemq": 1, **document}}}


def checks():
    for note, document, found in DOCUMENTS:
        yield {"description": note, "input": source(document), "expect": {"format": "acemq.check/1", "problems": found}}
    for note, text, code, at in TEXTS:
        expect = {"code": code} | ({"at": at} if at else {})
        yield {"description": note, "input": {"topology": {"text": text}}, "expect": {"problems": [expect]}}
    yield from built()
    yield {"description": "the sentence about an undeclared queue", "input": source(SEED), "expect": {"problems": [{"code": "binding_queue_undeclared", "message": SENTENCE}]}}


def refusals():
    """The same documents where tables are asked for: problems refuse, warnings do not."""
    for note, document, found in DOCUMENTS:
        errors = [{"code": one["code"], "fields": one.get("fields", {}) | ({"object": one["object"]} if "object" in one else {})} for one in found if one["severity"] == "error"]
        if errors:
            yield {"description": f"no tables: {note}", "input": source(document), "error": {"code": errors[0]["code"], "problems": errors}}
        elif found:
            yield {"description": f"only a warning: {note}", "input": source(document), "expect": {"format": "acemq.tables/1"}}


SUITES = [
    ("problems", "topology.check", HOW, checks),
    ("problems-refused", "topology.tables", HOW, refusals),
]
