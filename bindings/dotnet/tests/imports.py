#!/usr/bin/env python3
"""Checks that every function of acemq.h is imported, or stands here with the reason."""

import pathlib
import re

FOLDER = pathlib.Path(__file__).parents[1]
NOT_IMPORTED = {
    "acemq_error_code": "the detail has it",
    "acemq_error_message": "the detail has it",
    "acemq_retry_policy_text": "the policy's document has it",
    "acemq_retry_policy_max_attempts": "the policy's document has it",
    "acemq_retry_policy_broker_delays": "the policy's document has them",
    "acemq_ladder_count": "the ladder's document has all rungs",
    "acemq_ladder_rung": "the ladder's document has all rungs",
}

header = (FOLDER / "../c/include/acemq.h").read_text()
header = re.sub(r"//.*", "", header)
declared = set(re.findall(r"^[\w ].*?\b(acemq_\w+)\(", header, flags=re.MULTILINE))
imported = set(re.findall(r"static extern .*?\b(acemq_\w+)\(", (FOLDER / "src/Native/NativeMethods.cs").read_text()))
assert declared, "the header declares nothing"
assert imported <= declared, f"not in the header: {sorted(imported - declared)}"
left_out = declared - imported
assert left_out == set(NOT_IMPORTED), f"neither imported nor listed, or the other way round: {sorted(left_out ^ set(NOT_IMPORTED))}"
print(f"{len(imported)} functions of acemq.h are imported, {len(left_out)} are not needed")
