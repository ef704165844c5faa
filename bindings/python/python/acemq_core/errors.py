"""What goes wrong, as data: a stable code, a sentence, the way out and the particulars."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = ["Error", "Problem"]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong."""

    #: The stable code, as in ``"cap_below_first"``.
    code: str
    #: What is wrong.
    message: str
    #: The way out.
    help: str = ""
    #: The particulars by name.
    fields: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Problem:
        fields = MappingProxyType(dict(document.get("fields") or {}))
        return cls(document["code"], document["message"], document.get("help", ""), fields)

    def __str__(self) -> str:
        return f"{self.message}; {self.help}" if self.help else self.message

    # A mapping proxy cannot be pickled.
    def __reduce__(self) -> tuple[Any, ...]:
        return Problem, (self.code, self.message, self.help, dict(self.fields))


class Error(Exception):
    """Everything that the engine refuses. It carries all problems at once; its own attributes are those of the first.

    A mistake of the engine itself has the code ``"internal"``.
    """

    #: All problems, at least one.
    problems: tuple[Problem, ...]

    def __init__(self, *problems: Problem) -> None:
        if not problems:
            raise TypeError("an Error has at least one Problem")
        self.problems = problems
        super().__init__(*problems)

    @classmethod
    def from_json(cls, document: str) -> Error:
        """From the engine's own document of a failure."""
        failure = json.loads(document)
        return cls(*(Problem._of(problem) for problem in failure["problems"]))

    @property
    def code(self) -> str:
        """The stable code of the first problem."""
        return self.problems[0].code

    @property
    def message(self) -> str:
        """What is wrong, of the first problem."""
        return self.problems[0].message

    @property
    def help(self) -> str:
        """The way out, of the first problem."""
        return self.problems[0].help

    @property
    def fields(self) -> Mapping[str, Any]:
        """The particulars of the first problem, by name."""
        return self.problems[0].fields

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(problem.code for problem in self.problems)}: {self})"
