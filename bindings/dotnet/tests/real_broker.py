#!/usr/bin/env python3
"""real_broker.py BROKER GENERATION COMMAND…: runs the command with the URL of a throw-away RabbitMQ node behind it."""

import json
import subprocess
import sys

LIMIT_S = 120


def main() -> int:
    broker, generation, *command = sys.argv[1:]
    node = subprocess.Popen([broker, generation], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = node.stdout.readline()
        if not line:
            print(f"the broker {generation} did not start", file=sys.stderr)
            return 1
        result = subprocess.run([*command, json.loads(line)["url"]], timeout=LIMIT_S, capture_output=True, text=True)
        if result.returncode != 0:
            print(result.stdout, result.stderr, file=sys.stderr)
        else:
            print(result.stdout.splitlines()[0], "·", result.stdout.splitlines()[-1])
        return result.returncode
    finally:
        # The node stops when its standard input ends.
        node.stdin.close()
        node.wait(LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
