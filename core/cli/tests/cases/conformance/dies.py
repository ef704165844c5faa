"""Answers one case each time that it is started, and is gone."""

import json
import sys

request = json.loads(sys.stdin.readline())
text = {90000: "90s", 86400000: "24h"}.get(request["input"]["delay_ms"])
answer = {"output": {"text": text}} if text else {"error": {"code": "delay_zero"}}
print(json.dumps({"id": request["id"], **answer}), flush=True)
sys.exit(7)
