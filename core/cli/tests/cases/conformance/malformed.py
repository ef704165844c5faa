"""Answers that are none, each in its own way."""

import json
import sys

ANSWERS = {"delays-001": {}, "delays-002": {"error": {"message": "no code"}}, "delays-003": {"output": {"text": "24h"}}}

for line in sys.stdin:
    name = json.loads(line)["id"]
    print(json.dumps({"id": name, **ANSWERS[name]}), flush=True)
