"""Where messages go: the exchange graph walked by depth, with sets, from the contract and the rules of RabbitMQ's exchanges."""

import random

from topics import matches

HOW = "computed by conformance/derive/routes.py, a walk by depth over sets of keys and headers that shares nothing with the engine"


def asks(arguments):
    """What a headers binding compares: its mode and its criteria."""
    mode = arguments.get("x-match", "all")
    criteria = {name: given for name, given in arguments.items() if name != "x-match" and (mode.endswith("-with-x") or not name.startswith("x-"))}
    return mode, criteria


def headers_fit(arguments, headers):
    mode, criteria = asks(arguments)
    met = [name in headers and (given == {"@V": None} or headers[name] == given) for name, given in criteria.items()]
    return any(met) if mode.startswith("any") else all(met)


def fits(kind, binding, keys, headers):
    if kind == "fanout":
        return True
    if kind == "headers":
        return headers_fit(binding.get("arguments", {}), headers)
    key = binding.get("routing_key", "")
    return key in keys if kind == "direct" else any(matches(key, found) for found in keys)


PREDECLARED = {"amq.direct": "direct", "amq.fanout": "fanout", "amq.topic": "topic", "amq.headers": "headers", "amq.match": "headers", "amq.rabbitmq.trace": "topic"}


def reached(document, message):
    """The queues that get a copy."""
    kinds = PREDECLARED | {exchange["name"]: exchange["type"] for exchange in document.get("exchanges", [])}
    others = {exchange["name"]: exchange.get("alternate_exchange") for exchange in document.get("exchanges", [])}
    queues = {queue["name"] for queue in document.get("queues", [])}
    headers = message.get("headers", {})
    keys = {message.get("key", ""), *message.get("cc", []), *message.get("bcc", [])}
    for name in ("CC", "BCC"):
        keys |= {key for key in headers.get(name, []) if isinstance(key, str)}
    start = message.get("exchange", "")
    if start == "":
        return sorted(queues & keys)
    found, visited = set(), set()

    def visit(name):
        # The default exchange is no part of the graph.
        if name in visited or name not in kinds:
            return
        visited.add(name)
        own = [binding for binding in document.get("bindings", []) if binding["exchange"] == name and fits(kinds[name], binding, keys, headers)]
        for binding in own:
            if "queue" in binding:
                found.add(binding["queue"])
            else:
                visit(binding["to_exchange"])
        if not own and others.get(name):
            visit(others[name])

    visit(start)
    return sorted(found)


def routed(note, document, message):
    explain = len(note) % 2 == 0
    return {
        "description": note,
        "input": {"state": {"topology": {"document": {"acemq": 1, **document}}}, "message": message | {"explain": explain}},
        "expect": {"format": "acemq.route/1", "queues": reached(document, message)},
    }


def x(name, kind, **more):
    return {"name": name, "type": kind, **more}


def to(queue, exchange, key="", **arguments):
    return {"queue": queue, "exchange": exchange, "routing_key": key} | ({"arguments": {name.replace("_", "-"): given for name, given in arguments.items()}} if arguments else {})


def on(target, exchange, key=""):
    return {"to_exchange": target, "exchange": exchange, "routing_key": key}


def named(*names):
    return [{"name": name} for name in names]


def written():
    basic = {"exchanges": [x("d", "direct"), x("f", "fanout"), x("t", "topic"), x("h", "headers")], "queues": named("a", "b", "c")}
    direct = basic | {"bindings": [to("a", "d", "k"), to("b", "d", "k"), to("b", "d", "l")]}
    for key in ("k", "l", "m", ""):
        yield routed(f"direct, key {key!r}", direct, {"exchange": "d", "key": key})
    yield routed("a queue gets one copy, however many bindings fit", basic | {"bindings": [to("a", "t", "#"), to("a", "t", "k.*"), to("a", "t", "k.l")]}, {"exchange": "t", "key": "k.l"})
    yield routed("fanout pays no heed to the key", basic | {"bindings": [to("a", "f", "k"), to("b", "f")]}, {"exchange": "f", "key": "other"})
    topic = basic | {"bindings": [to("a", "t", "order.*"), to("b", "t", "order.#"), to("c", "t", "#.eu")]}
    for key in ("order", "order.new", "order.new.eu", "eu", "", "order."):
        yield routed(f"topic, key {key!r} (D32, D33)", topic, {"exchange": "t", "key": key})
    yield routed("the default exchange leads to the queue of that name", basic, {"exchange": "", "key": "b"})
    yield routed("the default exchange leads nowhere else", basic, {"exchange": "", "key": "d"})
    yield routed("an exchange that is not there", basic, {"exchange": "nobody", "key": "a"})
    everybody = basic | {"bindings": [to("a", "amq.topic", "k"), to("b", "amq.fanout")]}
    yield routed("the exchanges that every vhost has", everybody, {"exchange": "amq.topic", "key": "k"})
    # Headers (D34).
    for mode in (None, "all", "any", "all-with-x", "any-with-x"):
        given = {"region": "eu", "size": 5, "x-trace": True} | ({"x_match": mode} if mode else {})
        document = basic | {"bindings": [to("a", "h", **given)]}
        for headers in ({}, {"region": "eu"}, {"region": "eu", "size": 5}, {"region": "eu", "size": 6}, {"x-trace": True}, {"region": "eu", "size": 5, "x-trace": True, "more": 1}, {"region": "us", "x-trace": True}):
            yield routed(f"headers, x-match {mode}, {headers} (D34)", document, {"exchange": "h", "headers": headers})
    void = basic | {"bindings": [to("a", "h", region={"@V": None}, x_match="all")]}
    for headers in ({"region": "anything"}, {"region": 5}, {}):
        yield routed(f"headers, a void asks only that it is there, {headers} (D34)", void, {"exchange": "h", "headers": headers})
    yield routed("headers, all of nothing is everything (D34)", basic | {"bindings": [to("a", "h")]}, {"exchange": "h", "headers": {"n": 1}})
    yield routed("headers, any of nothing is nothing (D34)", basic | {"bindings": [to("a", "h", x_match="any")]}, {"exchange": "h", "headers": {"n": 1}})
    yield routed("headers, the key does not matter (D34)", basic | {"bindings": [to("a", "h", "k", n=1)]}, {"exchange": "h", "key": "other", "headers": {"n": 1}})
    # Exchange to exchange.
    chain = {"exchanges": [x("a", "topic"), x("b", "fanout"), x("c", "direct")], "queues": named("q", "r"), "bindings": [on("b", "a", "k.#"), on("c", "b"), to("q", "c", "k.l"), to("r", "b")]}
    for key in ("k.l", "k", "l"):
        yield routed(f"a chain of exchanges, key {key!r}", chain, {"exchange": "a", "key": key})
    circle = {"exchanges": [x("a", "fanout"), x("b", "fanout")], "queues": named("q"), "bindings": [on("b", "a"), on("a", "b"), to("q", "b")]}
    yield routed("a circle ends, and the queue gets one copy", circle, {"exchange": "a"})
    yield routed("an exchange that is bound to itself", {"exchanges": [x("a", "fanout")], "queues": named("q"), "bindings": [on("a", "a"), to("q", "a")]}, {"exchange": "a"})
    # Alternate exchanges (D45).
    other = {"exchanges": [x("a", "direct", alternate_exchange="b"), x("b", "topic", alternate_exchange="c"), x("c", "fanout"), x("e", "direct")], "queues": named("q", "r", "s"), "bindings": [to("q", "a", "k"), to("r", "b", "l.#"), to("s", "c"), on("e", "a", "empty")]}
    for key, note in [("k", "not used where a binding fits"), ("l", "used where none does"), ("m", "and the next one"), ("empty", "not used where a binding leads to an exchange that leads nowhere")]:
        yield routed(f"alternate exchange, key {key!r}: {note} (D45)", other, {"exchange": "a", "key": key})
    loop = {"exchanges": [x("a", "direct", alternate_exchange="b"), x("b", "direct", alternate_exchange="a")], "queues": named("q"), "bindings": [to("q", "b", "k")]}
    for key in ("k", "l"):
        yield routed(f"alternate exchanges in a circle, key {key!r} (D45)", loop, {"exchange": "a", "key": key})
    yield routed("an alternate exchange that is not there (D45)", {"exchanges": [x("a", "direct", alternate_exchange="gone")], "queues": named("q")}, {"exchange": "a", "key": "q"})
    # Several keys.
    for field in ("cc", "bcc"):
        yield routed(f"{field} adds keys", direct, {"exchange": "d", "key": "none", field: ["l", "k"]})
        yield routed(f"{field} to the default exchange", basic, {"exchange": "", "key": "a", field: ["c", "nobody"]})
    yield routed("the headers CC and BCC add keys, what is no text in them does not", direct, {"exchange": "d", "key": "none", "headers": {"CC": ["l", 5], "BCC": ["none"]}})


def drawn():
    source = random.Random(20_260_102)
    kinds = ("direct", "fanout", "topic", "headers")
    words = ("a", "b", "", "*", "#")
    for number in range(1, 61):
        count = source.randint(2, 5)
        exchanges = [x(f"e{n}", source.choice(kinds)) for n in range(count)]
        for exchange in exchanges:
            if source.random() < 0.4:
                exchange["alternate_exchange"] = f"e{source.randrange(count)}"
        queues = [f"q{n}" for n in range(source.randint(1, 4))]
        bindings = []
        for _ in range(source.randint(2, 9)):
            key = ".".join(source.choice(words) for _ in range(source.randint(0, 3)))
            end = {"queue": source.choice(queues)} if source.random() < 0.6 else {"to_exchange": f"e{source.randrange(count)}"}
            binding = end | {"exchange": f"e{source.randrange(count)}", "routing_key": key}
            if source.random() < 0.5:
                binding["arguments"] = {"x-match": source.choice(("all", "any")), "n": source.randint(0, 1)}
            bindings.append(binding)
        document = {"exchanges": exchanges, "queues": named(*queues), "bindings": bindings}
        key = ".".join(source.choice(("a", "b", "")) for _ in range(source.randint(0, 3)))
        message = {"exchange": f"e{source.randrange(count)}", "key": key, "headers": {"n": source.randint(0, 2)}}
        yield routed(f"a drawn graph, number {number}", document, message)


def everything():
    yield from written()
    yield from drawn()


SUITES = [("routes", "routing.route", HOW, everything)]
