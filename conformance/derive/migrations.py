"""How a live queue is replaced: the three sequences, the way back, and what is to be done from each table in between.

A second routine. It knows the order of the method as it was measured on brokers (add before remove; one exchange in between for all
sources; nothing is deleted before every node knows and the queue is empty) and a table of exchanges, queues and bindings that it
plays the steps on. Routing and proof are no part of it.
"""

import copy
import json

HOW = "the measured order of the method, restated in conformance/derive/migrations.py, which plays it on a table of its own"
STEP_HOW = "each table that conformance/derive/migrations.py leads through, with the step that follows there by its own count; sights and clock by hand from the recipes for draining"

X, CATCH = "old.migration", "old.migration.catch"
VERSION = "4.0.5"


def exchange(name, kind, internal=False, **arguments):
    return {"name": name, "type": kind, "durable": True, "auto_delete": False, "internal": internal, "arguments": {key.replace("_", "-"): value for key, value in arguments.items()}}


def queue(name, kind, **arguments):
    return {"name": name, "durable": True, "exclusive": False, "auto_delete": False, "arguments": {"x-queue-type": kind, **arguments}}


def binding(source, to, key="", to_exchange=False, arguments=None):
    return {"exchange": source, "to_exchange" if to_exchange else "queue": to, "routing_key": key, "arguments": arguments or {}}


def act(action, **what):
    return {"action": action, **what}


def declare_queue(it):
    return act("declare_queue", queue=it)


def declare_exchange(it):
    return act("declare_exchange", exchange=it)


def bind(it):
    return act("bind", binding=it)


def unbind(it):
    return act("unbind", binding=it)


def delete_exchange(it):
    return act("delete_exchange", exchange=it)


def delete_queue(name):
    return act("delete_queue", queue={"name": name})


def consumers(name, count=1):
    return act("await_consumers", queue={"name": name}, count=count)


def nodes(it):
    return act("await_nodes", binding=it, bound=False)


def drain(name, returning=()):
    return act("drain", queue={"name": name}, returning=list(returning))


WAITS = {"await_consumers", "await_nodes", "drain", "check_empty", "rest"}


class World:
    """A vhost with a queue `old`, and the declaration of the queue that takes its place."""

    def __init__(self, exchanges, sources, neighbours=(), old=None, with_=None, new=None, returning=()):
        self.exchanges, self.sources, self.neighbours = exchanges, sources, list(neighbours)
        self.old = old or queue("old", "classic")
        self.with_ = with_ or {"name": "new", "type": "quorum"}
        self.new = new or queue("new", "quorum")
        self.returning = list(returning)

    def led(self, to, to_exchange=False):
        """The old queue's bindings, leading elsewhere."""
        return [binding(one["exchange"], to, one["routing_key"], to_exchange, one["arguments"]) for one in self.sources]

    def file(self, **options):
        return json.dumps({"acemq_migration": 1, "replace": {"queue": "old", "with": self.with_}, **({"options": options} if options else {})})

    def start(self):
        queues = {"old": self.old, **{name: queue(name, "classic") for name in sorted({one["queue"] for one in self.neighbours if "queue" in one})}}
        for one in self.returning:
            queues[one["name"]] = one
        return {"exchanges": {one["name"]: one for one in self.exchanges}, "queues": queues, "bindings": self.sources + self.neighbours, "policies": {}}

    def waits_for(self):
        return [one["name"] for one in self.returning]


def fanout(world, retire_after=0, wait=1):
    catch, between = exchange(CATCH, "fanout", True), exchange(X, "fanout", True, alternate_exchange=CATCH)
    to_new, to_old = binding(CATCH, "new"), binding(X, "old")
    through, direct = world.led(X, True), world.led("new")
    rung = world.waits_for()
    return [
        declare_queue(world.new), declare_exchange(catch), bind(to_new), declare_exchange(between), bind(to_old),
        *map(bind, through), *map(unbind, world.sources),
        *([consumers("new", wait)] if wait else []), unbind(to_old),
        nodes(to_old), drain("old", rung),
        *map(bind, direct), *map(unbind, through), delete_exchange(between), unbind(to_new), delete_exchange(catch),
        nodes(to_old), *([act("rest", ms=retire_after)] if retire_after else []), drain("old", rung), delete_queue("old"),
    ]


def overlap(world):
    direct, last, rung = world.led("new"), world.sources[-1], world.waits_for()
    return [
        declare_queue(world.new), consumers("new"), *map(bind, direct), *map(unbind, world.sources),
        nodes(last), drain("old", rung), nodes(last), drain("old", rung), delete_queue("old"),
    ]


def by_policy(world, priority=0):
    kind = next(one["type"] for one in world.exchanges if one["name"] == world.sources[0]["exchange"])
    between, catch = exchange(X, kind, True), exchange(CATCH, kind, True)
    at = lambda source, to: [binding(source, to, one["routing_key"], False, one["arguments"]) for one in world.sources]
    to_old, caught, to_new = at(X, "old"), at(CATCH, "new"), at(X, "new")
    through, direct, rung = world.led(X, True), world.led("new"), world.waits_for()
    policy = {"name": X, "pattern": "^old\\.migration$", "apply_to": "exchanges", "priority": priority, "definition": {"alternate-exchange": CATCH}}
    return [
        declare_queue(world.new), declare_exchange(between), *map(bind, to_old), *map(bind, through), *map(unbind, world.sources),
        declare_exchange(catch), *map(bind, caught), act("set_policy", policy=policy), consumers("new"), *map(unbind, to_old),
        nodes(to_old[-1]), drain("old", rung),
        *map(bind, to_new), act("delete_policy", policy=policy), *map(unbind, caught), delete_exchange(catch),
        *map(bind, direct), *map(unbind, through), *map(unbind, to_new), delete_exchange(between),
        nodes(to_old[-1]), drain("old", rung), delete_queue("old"),
    ]


OPPOSITE = {
    "bind": "unbind", "unbind": "bind", "declare_exchange": "delete_exchange", "delete_exchange": "declare_exchange",
    "set_policy": "delete_policy", "delete_policy": "set_policy",
}


def back(steps):
    """The way back: what was done, undone from its end; then the new queue, once it is empty everywhere."""
    undone = [{**step, "action": OPPOSITE[step["action"]]} for step in reversed(steps) if step["action"] in OPPOSITE]
    first = next(at for at, step in enumerate(undone) if step["action"] == "bind" and step["binding"].get("queue") == "old" and (step["binding"]["exchange"] == X or X not in json.dumps(undone)))
    undone.insert(first, consumers("old"))
    last = [step["binding"] for step in undone if step["action"] == "unbind" and step["binding"].get("queue") == "new"][-1]
    return [*undone, nodes(last), drain("new"), delete_queue("new")]


def play(table, step):
    """The table after a step."""
    table = copy.deepcopy(table)
    what = step["action"]
    if what == "declare_queue":
        table["queues"][step["queue"]["name"]] = step["queue"]
    elif what == "declare_exchange":
        table["exchanges"][step["exchange"]["name"]] = step["exchange"]
    elif what == "bind":
        table["bindings"].append(step["binding"])
    elif what == "unbind":
        table["bindings"].remove(step["binding"])
    elif what == "delete_exchange":
        del table["exchanges"][step["exchange"]["name"]]
    elif what == "delete_queue":
        del table["queues"][step["queue"]["name"]]
        table["bindings"] = [one for one in table["bindings"] if one.get("queue") != step["queue"]["name"]]
    elif what == "set_policy":
        table["policies"][step["policy"]["name"]] = step["policy"]
    elif what == "delete_policy":
        del table["policies"][step["policy"]["name"]]
    return table


def state(table):
    """The table as a broker's export."""
    return {
        "definitions": {
            "document": {
                "rabbitmq_version": VERSION,
                "vhosts": [{"name": "/"}],
                "queues": [{"vhost": "/", **{key: value for key, value in one.items() if key != "exclusive"}} for one in table["queues"].values()],
                "exchanges": [{"vhost": "/", **one} for one in table["exchanges"].values()],
                "bindings": [
                    {"vhost": "/", "source": one["exchange"], "destination": one.get("queue") or one["to_exchange"], "destination_type": "queue" if "queue" in one else "exchange", "routing_key": one["routing_key"], "arguments": one["arguments"]}
                    for one in table["bindings"]
                ],
                "policies": [{"vhost": "/", "name": one["name"], "pattern": one["pattern"], "apply-to": one["apply_to"], "priority": one["priority"], "definition": one["definition"]} for one in table["policies"].values()],
            }
        }
    }


DIRECT = World([exchange("x", "direct")], [binding("x", "old", "k")], [binding("x", "other", "k")])
TOPIC = World(
    [exchange("rest", "fanout"), exchange("x", "topic", alternate_exchange="rest")],
    [binding("x", "old", "*.b"), binding("x", "old", "a.*")],
    [binding("rest", "unrouted"), binding("x", "all", "a.#")],
)
SEVERAL = World(
    [exchange("x", "topic"), exchange("y", "direct"), exchange("z", "headers")],
    [binding("x", "old", "a.b"), binding("y", "old", "a.b"), binding("z", "old", "", False, {"kind": "a", "x-match": "any"})],
    [binding("x", "y", "a.#", True), binding("y", "other", "a.c")],
)
RETRIED = World(
    [exchange("x", "direct")],
    [binding("x", "old", "k")],
    returning=[queue("wait", "classic", **{"x-message-ttl": 1000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "old"})],
)
WORLDS = {"one key": DIRECT, "overlapping patterns": TOPIC, "several sources": SEVERAL, "a retry queue that returns by name": RETRIED}
METHODS = {"fanout": fanout, "overlap": overlap, "policy": by_policy}


def matrix():
    for name, world in WORLDS.items():
        for method, sequence in METHODS.items():
            # An exchange of one type cannot stand for three.
            if method != "policy" or world is not SEVERAL:
                yield name, world, method, sequence(world)


def planned(note, world, table, expect, direction="forward", **options):
    given = {"file": world.file(**options), "state": state(table)}
    if direction != "forward":
        given["direction"] = direction
    return {"description": note, "input": given, "expect": expect}


def plans():
    for name, world, method, steps in matrix():
        expect = {
            "plan": {
                "format": "acemq.migration_plan/1",
                "direction": "forward",
                "vhost": "/",
                "replace": {"queue": "old", "with": "new", "method": method},
                "position": {"done": 0},
                "steps": [{"number": number, "do": step, "point_of_no_return": step["action"] == "delete_queue"} for number, step in enumerate(steps, 1)],
                "proof": {"outcome": "holds"},
                "refused": None,
            },
            "refused": None,
        }
        yield planned(f"{name}, by {method}", world, world.start(), expect, method=method)
    waiting = fanout(DIRECT, retire_after=3_600_000, wait=3)
    expect = {"plan": {"steps": [{"do": step} for step in waiting]}}
    yield planned("an hour's rest before the end, and three consumers", DIRECT, DIRECT.start(), expect, wait_for_consumers=3, retire_after="1h")
    yield keeps_its_name()
    yield from positions()
    yield from undos()
    yield from refusals()


def keeps_its_name():
    """One migration to the new name, and the file of a second one back to the old name, with the same queue and options."""
    def line(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    options = {"method": "overlap", "wait_for_consumers": 2, "drain": {"timeout": "600000ms", "poll": "1000ms", "stable": 3}, "retire_after": "0ms"}
    second = {"queue": "new", "with": {"name": "old", "type": "quorum"}}
    expect = {"plan": {"follow_up": f"acemq_migration: 1\nreplace: {line(second)}\noptions: {line(options)}\n", "refused": None}}
    return planned("the old name comes back by a second migration", DIRECT, DIRECT.start(), expect, method="overlap", wait_for_consumers=2, keep_name=True)


def positions():
    """Where the table says that a migration is: behind the last change, whatever was waited for since."""
    for name, world, method, steps in matrix():
        if world in (TOPIC, RETRIED):
            continue
        table = world.start()
        for number, step in enumerate(steps, 1):
            table = play(table, step)
            if step["action"] in WAITS or step["action"] == "declare_queue":
                continue
            yield planned(f"{name}, by {method}, after step {number}", world, table, {"plan": {"position": {"done": number}}, "refused": None}, method=method)
    table = DIRECT.start()
    for step in fanout(DIRECT)[:9]:
        table = play(table, step)
    table["bindings"].append(binding("x", "old", "k"))
    astray = {"plan": {"position": {"done": None, "surplus": ["binding x -> old [k]"], "missing": []}}}
    yield planned("a client brought the old binding back after the switch", DIRECT, table, astray)


def undos():
    for name, world, method, steps in matrix():
        if world is RETRIED:
            continue
        way = back(steps)
        table = world.start()
        for step in steps[:-1]:
            table = play(table, step)
        expect = {
            "plan": {
                "direction": "back",
                "position": {"done": 0},
                "steps": [{"number": number, "do": step, "point_of_no_return": False} for number, step in enumerate(way, 1)],
                "proof": {"outcome": "holds"},
                "refused": None,
            },
            "refused": None,
        }
        yield planned(f"the way back from the last step, {name}, by {method}", world, table, expect, "back", method=method)
        if world is DIRECT:
            for number, step in enumerate(way, 1):
                table = play(table, step)
                if step["action"] not in WAITS:
                    done = {"plan": {"position": {"done": number}}, "refused": None}
                    yield planned(f"by {method}, after step {number} of the way back", world, table, done, "back", method=method)
    gone = DIRECT.start()
    for step in fanout(DIRECT):
        gone = play(gone, step)
    yield refused("the old queue is deleted: no way back", DIRECT, gone, "past_return", "back")


def refused(note, world, table, reason, direction="forward", code="migration_refused", **options):
    case = planned(note, world, table, None, direction, **options)
    del case["expect"]
    return {**case, "error": {"code": code, **({"fields": {"reason": reason}} if reason else {})}}


def refusals():
    bare = DIRECT.start()
    bare["bindings"] = DIRECT.neighbours
    yield refused("no exchange leads to the old queue", DIRECT, bare, "no_source")
    nobody = DIRECT.start()
    del nobody["queues"]["old"]
    nobody["bindings"] = DIRECT.neighbours
    yield refused("the old queue is not there", DIRECT, nobody, None, code="migration_queue")
    other = DIRECT.start()
    other["queues"]["new"] = queue("new", "classic")
    yield refused("the new queue is there with another type", DIRECT, other, "new_differs")
    yield refused("sources of three types, by policy", SEVERAL, SEVERAL.start(), "source_types", method="policy")
    yield refused("changes have no way back where nobody recorded what they found", World([], [], with_={}), DIRECT.start(), "changes", "back") | {
        "input": {"file": json.dumps({"acemq_migration": 1, "changes": [{"bind": {"exchange": "x", "queue": "old", "routing_key": "j"}}]}), "state": state(DIRECT.start()), "direction": "back"}
    }
    for text, code in (
        ("replace: {}", "migration_syntax"),
        ("acemq_migration: 2", "migration_format"),
        (DIRECT.file(metod="fanout"), "migration_option_unknown"),
        (DIRECT.file(method="fan"), "migration_option_value"),
    ):
        yield {"description": f"a file that cannot be: {code}", "input": {"file": text, "state": state(DIRECT.start())}, "error": {"code": code}}


def stepped(note, table, expect, world=DIRECT, **given):
    return {"description": note, "input": {"file": world.file(), "state": state(table), "now_ms": 0, **given}, "expect": expect}


def order(step):
    """What a program is told to do for a step that it stands before."""
    if step["action"] == "await_consumers":
        return {"order": "look_at", "queues": [step["queue"]["name"]], "for": "consumers"}
    if step["action"] == "drain":
        return {"order": "look_at", "queues": [step["queue"]["name"], *step["returning"]], "for": "messages"}
    if step["action"] == "await_nodes":
        return {"order": "ask_nodes", "action": step}
    return {"order": "do", "action": step}


def orders():
    for direction, world, table, steps in (
        ("forward", DIRECT, DIRECT.start(), fanout(DIRECT)),
        ("forward", RETRIED, RETRIED.start(), fanout(RETRIED)),
        ("back", DIRECT, ended(DIRECT), back(fanout(DIRECT))),
    ):
        given = {} if direction == "forward" else {"direction": direction}
        for number, step in enumerate(steps, 1):
            before = steps[number - 2]["action"] if number > 1 else ""
            # A table shows no waiting: where some was done already, the run knows it.
            if before not in WAITS and not (direction == "forward" and before == "declare_queue"):
                expect = {"order": order(step), "step": number, "done": number - 1, "of": len(steps)}
                yield stepped(f"{direction}, before step {number}", table, expect, world, **given)
            table = play(table, step)
        expect = {"order": {"order": "finished"}, "step": None, "done": len(steps), "of": len(steps)}
        yield stepped(f"{direction}, after the last step", table, expect, world, **given)
    yield from waits()


def ended(world):
    """The table before the old queue is deleted."""
    table = world.start()
    for step in fanout(world)[:-1]:
        table = play(table, step)
    return table


def sight(name, ready=0, unacknowledged=0, consumers=1, **more):
    return {"queue": name, "ready": ready, "unacknowledged": unacknowledged, "consumers": consumers, **more}


def waits():
    steps = fanout(DIRECT)
    switched = DIRECT.start()
    for step in steps[:9]:
        switched = play(switched, step)
    before = DIRECT.start()
    for step in steps[:7]:
        before = play(before, step)
    looking = {"base": 7, "since_ms": 0, "counts_consumers": True}
    yield stepped("nobody consumes from the new queue yet", before, {"order": {"order": "pause", "ms": 1000}, "step": 8}, run=looking, saw={"queues": [sight("new", consumers=0)]}, now_ms=1)
    yield stepped("it has its consumer, so the switch is next", before, {"order": {"order": "pause", "ms": 0}, "done": 8}, run=looking, saw={"queues": [sight("new")]}, now_ms=1)
    yield stepped("ten minutes without a consumer", before, {"order": {"order": "waiting"}, "step": 8}, run=looking, saw={"queues": [sight("new", consumers=0)]}, now_ms=600_000)
    yield stepped("the nodes know, so the old queue is looked at", switched, {"order": {"order": "look_at", "queues": ["old"], "for": "messages"}, "step": 11}, run={"base": 9}, saw="nodes_know")
    drained = {"base": 9, "passed": 1, "since_ms": 0}
    yield stepped("messages are left", switched, {"order": {"order": "pause", "ms": 1000}, "step": 11, "messages_left": 5}, run=drained, saw={"queues": [sight("old", 3, 2)]}, now_ms=5)
    yield stepped("nothing, for the first time", switched, {"order": {"order": "pause", "ms": 1000}, "step": 11, "run": {"quiet": 1}}, run=drained, saw={"queues": [sight("old")]}, now_ms=5)
    almost = {**drained, "quiet": 2}
    yield stepped("nothing, three times in a row", switched, {"order": {"order": "pause", "ms": 0}, "done": 11}, run=almost, saw={"queues": [sight("old")]}, now_ms=2000)
    yield stepped("a held message counts", switched, {"order": {"order": "pause"}, "step": 11, "run": {"quiet": 0}}, run=almost, saw={"queues": [sight("old", 0, 1)]}, now_ms=2000)
    yield stepped("nobody tells what is held: that is not nothing", switched, {"order": {"order": "pause"}, "step": 11, "run": {"quiet": 0}}, run=almost, saw={"queues": [sight("old", 0, None)]}, now_ms=2000)
    yield stepped("the zeros of a quorum queue are believed when its statistics had time", switched, {"order": {"order": "pause"}, "step": 11}, run={**almost, "quiet": 5, "believed_from_ms": 11_000}, saw={"queues": [sight("old", lag_ms=11_000)]}, now_ms=10_000)
    yield stepped("and then they are", switched, {"order": {"order": "pause", "ms": 0}, "done": 11}, run={**almost, "quiet": 5, "believed_from_ms": 11_000}, saw={"queues": [sight("old", lag_ms=11_000)]}, now_ms=11_000)
    yield stepped("ten minutes, and messages are left", switched, {"order": {"order": "waiting"}, "step": 11}, run=drained, saw={"queues": [sight("old", 1)]}, now_ms=600_000)
    yield stepped("unacknowledged messages rise at each of ten looks", switched, {"order": {"order": "stopped"}, "step": 11}, run={**drained, "unacknowledged": 9, "rising": 9}, saw={"queues": [sight("old", 0, 10)]}, now_ms=5)
    retired = {"base": 16, "passed": 1, "since_ms": 0}
    yield stepped("messages arrive after the drain", ended(DIRECT), {"order": {"order": "stopped"}, "step": 18}, run=retired, saw={"queues": [sight("old", 1)]}, now_ms=5)
    yield stepped("a run of the other direction is forgotten", switched, {"order": {"order": "look_at", "queues": ["old"], "for": "consumers"}, "run": {"direction": "back"}}, run={**drained, "passed": 7}, direction="back")
    yield {"description": "a run that is none", "input": {"file": DIRECT.file(), "state": state(switched), "now_ms": 0, "run": {"bass": 1}}, "error": {"code": "bad_input"}}
