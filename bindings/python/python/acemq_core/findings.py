"""What is wrong with a vhost before anybody notices: each finding with the message that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .operations import call
from .state import State

__all__ = ["Audit", "Finding", "audit", "audit_baseline", "audit_sarif", "draw", "explain_finding"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    #: The stable code.
    code: str
    severity: str
    #: What it is about: ``kind``, ``name`` and ``vhost``.
    object: Mapping[str, Any]
    #: What is wrong.
    message: str
    #: The message that shows it.
    example: Any
    #: The way out.
    fix: Any
    #: From which version on, or up to which.
    versions: Any
    #: The finding as the document has it.
    document: Mapping[str, Any]

    @classmethod
    def _of(cls, finding: Mapping[str, Any]) -> Finding:
        return cls(
            finding["code"],
            finding["severity"],
            finding["object"],
            finding["message"],
            finding.get("example"),
            finding.get("fix"),
            finding.get("versions"),
            finding,
        )


@dataclass(frozen=True)
class Audit:
    """Everything that is wrong with a vhost."""

    findings: tuple[Finding, ...]
    summary: Mapping[str, Any]
    #: The document ``acemq.audit/1``.
    document: Mapping[str, Any]


def audit(state: State, *, target: str | None = None, baseline: Mapping[str, Any] | None = None) -> Audit:
    """Looks for messages that will be lost and for what an upgrade to the version ``target`` would break. Of a topology only
    its own objects are known: somebody else may declare the rest. Findings that ``baseline`` holds are marked ``known`` in
    their document; what a topology suppresses stands beside the findings in the audit's document."""
    document = call("audit.check", {"state": state.to_json(), "target": target, "baseline": baseline})
    return Audit(tuple(Finding._of(finding) for finding in document["findings"]), document["summary"], document)


def audit_sarif(
    state: State, *, target: str | None = None, baseline: Mapping[str, Any] | None = None, file: str | None = None
) -> Mapping[str, Any]:
    """What :func:`audit` finds, as SARIF 2.1.0 for code scanning and editors; ``file`` is the path that it shows."""
    return call("audit.sarif", {"state": state.to_json(), "target": target, "baseline": baseline, "file": file})


def audit_baseline(state: State, *, target: str | None = None, baseline: Mapping[str, Any] | None = None) -> str:
    """The text of a baseline that holds every finding of now; what ``baseline`` says of other vhosts stays."""
    return str(call("audit.baseline", {"state": state.to_json(), "target": target, "baseline": baseline})["text"])


def explain_finding(code: str) -> Mapping[str, Any]:
    """What a code of a finding means: condition, versions, why, fix, example."""
    return call("audit.explain", {"code": code})


def draw(
    state: State,
    form: Literal["dot", "mermaid", "svg", "html"] = "svg",
    *,
    target: str | None = None,
    all: bool = False,
) -> str:
    """A picture of a vhost, with dead letters and retries apart and findings on the nodes; ``all`` draws every node, however
    many there are."""
    question = {"state": state.to_json(), "form": form, "target": target, "all": all}
    return str(call("audit.graph", question)["text"])
