"""How a live queue is replaced without losing a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .operations import call
from .state import State

__all__ = ["MigrationPlan", "plan_migration"]


@dataclass(frozen=True)
class MigrationPlan:
    """The steps of a migration, the proof that no message is lost or doubled, and how many steps are done."""

    #: The document ``acemq.migration_plan/1``.
    document: Mapping[str, Any]
    #: The plan for people.
    text: str
    #: SHA-256 of the file's lines, whatever ends them.
    checksum: str
    #: Why the migration must not run.
    refused: str | None

    def __str__(self) -> str:
        return self.text


def plan_migration(file: str, state: State) -> MigrationPlan:
    """Plans the migration of a file, YAML or JSON, against a vhost as it is."""
    answer = call("migration.plan", {"file": file, "state": state.to_json()})
    return MigrationPlan(answer["plan"], answer["text"], answer["checksum"], answer["refused"])
