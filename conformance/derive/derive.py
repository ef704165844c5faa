#!/usr/bin/env python3
"""Writes the derived suites and the index. `--check` changes nothing and fails when a file is not what it would write.

Suites that are not derived here (recorded from a real broker, or taken from elsewhere) are left as they are and counted.
"""

import json
import pathlib
import sys

import changes
import durations
import fingerprints
import lives
import names
import policies
import problems
import recorded
import retries
import routes
import sessions
import tables
import topics
import vhosts

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPEC_VERSION = 1


def suite(name, operation, how, cases):
    """A suite document; ids count from 001 in the order of the cases."""
    numbered = [{"id": f"{name}-{number:03}", **case} for number, case in enumerate(cases, 1)]
    return {
        "format": "acemq.conformance/1",
        "suite": name,
        "operation": operation,
        "derivation": how,
        "cases": numbered,
    }


def written(document):
    """One case a line, so that a change of one case is a change of one line."""
    head = {key: value for key, value in document.items() if key != "cases"}
    lines = json.dumps(head, indent=2, ensure_ascii=False).removesuffix("\n}")
    cases = ",\n".join("    " + json.dumps(case, ensure_ascii=False) for case in document["cases"])
    return f'{lines},\n  "cases": [\n{cases}\n  ]\n}}\n'


def main():
    files = {}
    for module in (names, durations, policies, retries, recorded, topics, fingerprints, tables, problems, sessions, routes, lives, vhosts, changes):
        for name, operation, how, cases in module.SUITES:
            files[ROOT / "suites" / f"{name}.json"] = written(suite(name, operation, how, cases()))
    counts = {}
    for path in sorted({*files, *(ROOT / "suites").glob("*.json")}):
        text = files.get(path) or path.read_text(encoding="utf-8")
        document = json.loads(text)
        counts[document["suite"]] = {
            "suite": document["suite"],
            "file": f"suites/{path.name}",
            "operation": document["operation"],
            "cases": len(document["cases"]),
        }
    index = {
        "format": "acemq.conformance-index/1",
        "spec_version": SPEC_VERSION,
        "cases": sum(entry["cases"] for entry in counts.values()),
        "suites": list(counts.values()),
    }
    files[ROOT / "index.json"] = json.dumps(index, indent=2) + "\n"
    stale = [path for path, text in files.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what conformance/derive writes")
        return 1 if stale else 0
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"{index['cases']} cases in {len(counts)} suites")
    return 0


if __name__ == "__main__":
    sys.exit(main())
