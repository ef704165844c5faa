"""Plain changes and how they are taken back, from each table in between.

A second routine. It keeps a table of its own, notes what each change finds there before it plays it, and reads the way back from
those notes alone: a change that found everything as asked has none, a policy gets its former definition again, and before a queue
goes it is made sure that nobody uses it.
"""

import json

import migrations
from migrations import act, bind, binding, declare_exchange, declare_queue, delete_exchange, delete_queue, exchange, nodes, order, play, queue, sight, state, unbind

HOW = "conformance/derive/changes.py plays each file on a table of its own and notes what each change finds there"


def policy(name, limit):
    return {"name": name, "pattern": "^q$", "apply_to": "queues", "priority": 0, "definition": {"max-length": limit}}


def set_policy(it):
    return act("set_policy", policy=it)


def unused(name):
    return act("check_unused", queue={"name": name})


THERE, ARGUED = binding("x", "q", "there"), binding("x", "q", "argued", arguments={"why": "b"})


def start():
    return {
        "exchanges": {"x": exchange("x", "topic"), "spare": exchange("spare", "headers", alternate_exchange="x")},
        "queues": {"q": queue("q", "quorum")},
        "bindings": [THERE, ARGUED],
        "policies": {"limit": policy("limit", 5)},
    }


def kind(it):
    return it["arguments"].get("x-queue-type", "classic")


def written(step):
    """The entry of a file."""
    what = step["action"]
    if what in ("bind", "unbind"):
        return {what: step["binding"]}
    if what == "set_policy":
        return {"policy": step["policy"]}
    if what == "declare_exchange":
        return {"declare": {"exchange": {"name": step["exchange"]["name"], "type": step["exchange"]["type"]}}}
    if what == "declare_queue":
        return {"declare": {"queue": {"name": step["queue"]["name"], "type": kind(step["queue"])}}}
    if what == "delete_exchange":
        return {"delete": {"exchange": step["exchange"]["name"]}}
    return {"delete": {"queue": step["queue"]["name"], "guard": "none"}}


def words(step):
    what = step["action"]
    if what in ("bind", "unbind"):
        one = step["binding"]
        arguments = ", ".join(f"{key}={value}" for key, value in sorted(one["arguments"].items()))
        return f"{what} {one['exchange']} -> {one.get('queue') or one['to_exchange']} [{one['routing_key']}]" + (f" with {arguments}" if arguments else "")
    if what == "set_policy":
        return f"set policy {step['policy']['name']} on {step['policy']['pattern']}"
    if what == "declare_exchange":
        return f"declare exchange {step['exchange']['name']} ({step['exchange']['type']})"
    if what == "declare_queue":
        return f"declare queue {step['queue']['name']} (durable, {kind(step['queue'])})"
    return f"{what.replace('_', ' ')} {step['queue' if what == 'delete_queue' else 'exchange']['name']}"


def without_name(thing):
    return {key: value for key, value in thing.items() if key != "name"}


def finds(table, step):
    what = step["action"]
    if what == "bind":
        return "unchanged" if step["binding"] in table["bindings"] else "absent"
    if what == "unbind":
        return "present" if step["binding"] in table["bindings"] else "unchanged"
    if what == "set_policy":
        was = table["policies"].get(step["policy"]["name"])
        return "absent" if was is None else "unchanged" if was == step["policy"] else {"policy": without_name(was)}
    if what == "declare_exchange":
        return "unchanged" if step["exchange"]["name"] in table["exchanges"] else "absent"
    if what == "declare_queue":
        return "unchanged" if step["queue"]["name"] in table["queues"] else "absent"
    if what == "delete_exchange":
        was = table["exchanges"].get(step["exchange"]["name"])
        return "unchanged" if was is None else {"exchange": without_name(was)}
    return "present" if step["queue"]["name"] in table["queues"] else "unchanged"


def inverse(step, found):
    """The one change that takes it back; none where nothing changed, and where nothing can."""
    what = step["action"]
    if found == "unchanged" or what == "delete_queue":
        return None
    if what == "bind":
        return unbind(step["binding"])
    if what == "unbind":
        return bind(step["binding"])
    if what == "set_policy":
        return act("delete_policy", policy=step["policy"]) if found == "absent" else set_policy({"name": step["policy"]["name"], **found["policy"]})
    if what == "declare_exchange":
        return delete_exchange(step["exchange"])
    if what == "declare_queue":
        return delete_queue(step["queue"]["name"])
    return declare_exchange({"name": step["exchange"]["name"], **found["exchange"]})


def played(table, step):
    """The table after a step, also where it changes nothing."""
    if step["action"] == "check_unused" or finds_nothing_to_do(table, step):
        return table
    return play(table, step)


def finds_nothing_to_do(table, step):
    return step["action"] in ("bind", "unbind", "declare_exchange", "declare_queue", "delete_queue", "delete_exchange") and finds(table, step) == "unchanged"


class File:
    def __init__(self, *steps):
        self.steps = list(steps)
        self.text = json.dumps({"acemq_migration": 1, "changes": [written(step) for step in steps]})
        self.tables, self.found = [start()], []
        for step in steps:
            self.found.append(finds(self.tables[-1], step))
            self.tables.append(played(self.tables[-1], step))
        self.beginning = {"there": [], "changes": [{"step": number, "action": words(step), "former": found} for number, (step, found) in enumerate(zip(steps, self.found), 1)]}

    def inverses(self):
        return [inverse(step, found) for step, found in zip(self.steps, self.found)]

    def back(self):
        way = []
        for step in filter(None, reversed(self.inverses())):
            if step["action"] == "delete_queue":
                name = step["queue"]["name"]
                way += [nodes(one["binding"]) for one in way if one["action"] == "unbind" and one["binding"].get("queue") == name][-1:]
                way.append(unused(name))
            way.append(step)
        return way


MORE = binding("x", "q", "more")
FANOUT = exchange("e", "fanout")
#: A classic queue says nothing of its type.
CLASSIC = {**queue("fresh", "classic"), "arguments": {}}
FILES = {
    "a new binding": File(bind(MORE)),
    "a binding that is there": File(bind(THERE)),
    "one binding goes, with its argument": File(unbind(ARGUED)),
    "a binding that is not there": File(unbind(binding("x", "q", "never"))),
    "an exchange that leads on": File(declare_exchange(FANOUT), bind(binding("x", "e", "#", True))),
    "an exchange that is there": File(declare_exchange(exchange("x", "topic"))),
    "a queue that is there": File(declare_queue(queue("q", "quorum"))),
    "a queue with its binding": File(declare_queue(CLASSIC), bind(binding("x", "fresh", "k"))),
    "a queue that nobody binds": File(declare_queue(queue("fresh", "quorum"))),
    "a policy with another limit": File(set_policy(policy("limit", 9))),
    "a policy as it is": File(set_policy(policy("limit", 5))),
    "a new policy": File(set_policy(policy("other", 9))),
    "one policy twice": File(set_policy(policy("limit", 6)), set_policy(policy("limit", 7))),
    "an exchange goes": File(delete_exchange(start()["exchanges"]["spare"])),
    "an exchange of another type takes its name": File(delete_exchange(start()["exchanges"]["spare"]), declare_exchange(exchange("spare", "fanout")), bind(binding("spare", "q"))),
    "all of it": File(bind(THERE), declare_exchange(FANOUT), declare_queue(CLASSIC), bind(binding("e", "fresh")), unbind(THERE), set_policy(policy("limit", 9)), bind(MORE)),
}
DELETES = File(unbind(THERE), unbind(ARGUED), delete_queue("q"), declare_exchange(FANOUT))


def case(note, file, table, expect, direction="forward", beginning=None, **more):
    given = {"file": file.text, "state": state(table), **more}
    if direction != "forward":
        given["direction"] = direction
    if beginning is not None:
        given["beginning"] = beginning
    return {"description": note, "input": given, **expect}


def expected(plan, refused=None):
    return {"expect": {"plan": {**plan, "refused": refused}, "refused": refused}}


def done_after(steps, table):
    """How many changes the table shows as done: the most that would leave it as it is."""
    return max(number for number in range(len(steps) + 1) if leaves(steps[:number], table) and (number == 0 or steps[number - 1]["action"] not in ("check_unused", "await_nodes")))


def leaves(steps, table):
    after = table
    for step in steps:
        if step["action"] not in ("check_unused", "await_nodes"):
            after = played(after, step)
    return sorted_table(after) == sorted_table(table)


def sorted_table(table):
    return {**table, "bindings": sorted(map(json.dumps, table["bindings"]))}


def plans():
    for name, file in FILES.items():
        done = done_after(file.steps, start())
        steps = [{"number": number, "phase": "change", "do": step, "inverse": way, "point_of_no_return": False} for number, (step, way) in enumerate(zip(file.steps, file.inverses()), 1)]
        beginning = {"there": [], "changes": file.beginning["changes"][done:]}
        yield case(f"{name}: what it does and what takes it back", file, start(), expected({"direction": "forward", "replace": None, "proof": None, "position": {"done": done}, "steps": steps, "beginning": beginning}))
        way = file.back()
        table = file.tables[-1]
        for number in range(len(way) + 1):
            if number > 0:
                table = played(table, way[number - 1]) if way[number - 1]["action"] != "await_nodes" else table
                if way[number - 1]["action"] in ("check_unused", "await_nodes"):
                    continue
            steps = [{"number": count, "do": step, "point_of_no_return": False} for count, step in enumerate(way, 1)]
            plan = {"direction": "back", "position": {"done": number}, "steps": steps, "findings": [], "beginning": file.beginning}
            yield case(f"{name}: the way back after {number} of {len(way)}", file, table, expected(plan), "back", file.beginning)
        assert sorted_table(table) == sorted_table(start()), name
        for number, table in enumerate(file.tables[1:-1], 1):
            if done_after(file.steps, table) == number:
                yield case(f"{name}: after step {number}", file, table, expected({"position": {"done": number}}))
    yield from stops()


def stops():
    edited, gone = FILES["a policy with another limit"], FILES["a queue with its binding"]
    table = {**edited.tables[-1], "policies": {"limit": policy("limit", 8)}}
    yield stopped("a policy that somebody edited since is not overwritten", edited, table)
    yield stopped("a policy that somebody deleted since is not set again", edited, {**table, "policies": {}})
    table = gone.tables[-1]
    yield stopped("a queue that others bound since is not deleted", gone, {**table, "bindings": [*table["bindings"], binding("x", "fresh", "theirs")]})
    yield stopped("a queue that is another one since is not deleted", gone, {**table, "queues": {**table["queues"], "fresh": queue("fresh", "quorum")}})
    leads = FILES["an exchange that leads on"]
    table = leads.tables[-1]
    yield stopped("an exchange that others bound since is not deleted", leads, {**table, "bindings": [*table["bindings"], binding("e", "q")]})
    unbound = FILES["one binding goes, with its argument"]
    yield stopped("the queue of a binding that went is not there any more", unbound, {**unbound.tables[-1], "queues": {}, "bindings": []})
    spare = FILES["an exchange goes"]
    table = spare.tables[-1]
    yield stopped("an exchange of that name is there again", spare, {**table, "exchanges": {**table["exchanges"], "spare": exchange("spare", "topic")}})
    for number, table in enumerate(DELETES.tables):
        way = case(f"a file that deletes a queue, after step {number}", DELETES, table, {}, "back", DELETES.beginning)
        if number < 3:
            yield {**way, "expect": {"refused": None, "plan": {"steps": [{"do": one} for one in (delete_exchange(FANOUT), bind(ARGUED), bind(THERE))]}}}
        else:
            yield {**way, "error": {"code": "migration_refused", "fields": {"reason": "past_return", "step": 3}}}
    more = FILES["a new binding"]
    yield case("nobody recorded what was there", more, more.tables[-1], {"error": {"code": "migration_refused", "fields": {"reason": "changes"}}}, "back", {"there": []})
    other = {"there": [], "changes": [{"step": 1, "action": "bind x -> q [less]", "former": "absent"}]}
    yield case("the file is not what ran", more, more.tables[-1], {"error": {"code": "migration_refused", "fields": {"reason": "changed", "step": 1}}}, "back", other)
    unknown = {"there": [], "changes": [{"step": 1, "action": words(bind(MORE)), "former": "perhaps"}]}
    yield case("a beginning that is none", more, more.tables[-1], {"error": {"code": "bad_input"}}, "back", unknown)


def stopped(note, file, table):
    return case(note, file, table, {"expect": {"plan": {"findings": [{"code": "changed_since", "weight": "refused"}]}}}, "back", file.beginning)


def orders():
    whole = FILES["all of it"]
    way = whole.back()
    for direction, steps, tables in (("forward", whole.steps, whole.tables), ("back", way, None)):
        beginning = whole.beginning if direction == "back" else None
        table = whole.tables[-1] if tables is None else tables[0]
        for number, step in enumerate(steps, 1):
            before = steps[number - 2]["action"] if number > 1 else ""
            if before not in ("check_unused", "await_nodes") and is_stop(step, table):
                told = {"order": "look_at", "queues": [step["queue"]["name"]], "for": "messages"} if step["action"] == "check_unused" else order(step)
                yield case(f"plain changes, {direction}, before step {number}", whole, table, {"expect": {"order": told, "step": number, "done": number - 1, "of": len(steps)}}, direction, beginning, now_ms=0)
            if step["action"] not in ("check_unused", "await_nodes"):
                table = played(table, step)
        yield case(f"plain changes, {direction}, after the last step", whole, table, {"expect": {"order": {"order": "finished"}, "step": None, "done": len(steps), "of": len(steps)}}, direction, beginning, now_ms=0)
    lone = FILES["a queue that nobody binds"]
    at = lambda note, expect, **given: case(note, lone, lone.tables[-1], {"expect": expect}, "back", lone.beginning, now_ms=1, **given)
    looking = {"direction": "back", "since_ms": 0}
    yield at("a queue with consumers is not deleted", {"order": {"order": "stopped"}, "step": 1}, run=looking, saw={"queues": [sight("fresh", consumers=1)]})
    yield at("a queue with messages is not deleted", {"order": {"order": "stopped"}, "step": 1}, run=looking, saw={"queues": [sight("fresh", 1, consumers=0)]})
    yield at("a queue that nobody uses is looked at again", {"order": {"order": "pause", "ms": 1000}, "step": 1}, run=looking, saw={"queues": [sight("fresh", consumers=0)]})
    yield at("three looks found nothing, so it goes", {"order": {"order": "pause", "ms": 0}, "done": 1}, run={**looking, "quiet": 2}, saw={"queues": [sight("fresh", consumers=0)]})
    edited = FILES["a policy with another limit"]
    yield case("a policy that was edited since stops the way back", edited, {**edited.tables[-1], "policies": {"limit": policy("limit", 8)}}, {"expect": {"order": {"order": "stopped"}}}, "back", edited.beginning, now_ms=0)


def is_stop(step, table):
    """Whether it is a step to stop at: one that finds its work done is passed over."""
    return step["action"] in ("check_unused", "await_nodes") or not finds_nothing_to_do(table, step)


SUITES = [
    ("migration-plans", "migration.plan", f"{migrations.HOW}; plain changes: {HOW}", lambda: [*migrations.plans(), *plans()]),
    ("migration-steps", "migration.step", f"{migrations.STEP_HOW}; plain changes: {HOW}", lambda: [*migrations.orders(), *orders()]),
]
