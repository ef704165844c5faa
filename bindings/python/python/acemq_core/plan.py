"""Plans: what is on a broker, what is missing, what differs, and what an apply would send.

The engine never talks to a broker. A session asks questions; the program puts each to the broker through the AMQP client that
it has, and hands the answer back:

    session = PlanSession(topology, version="4.0.5", vhost="/")
    plan = session.run(ask)          # ask(question) -> Answer
    print(plan)

A question is asked on a channel of its own, because a refusal closes the channel. With ``apply=True`` the session goes on to
declare what is missing, and declares nothing while something stands against it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._native import _acemq
from .declarations import (
    BindingDeclaration,
    Difference,
    ExchangeDeclaration,
    PolicyDeclaration,
    QueueDeclaration,
)
from .operations import to_json
from .topology import Topology

__all__ = ["Action", "Answer", "Ask", "Mode", "Plan", "PlanSession", "Question", "Verdict"]

Mode = Literal["dry_run", "create_only", "validate"]
Ask = Literal["queue_passive", "queue_offer", "exchange_passive", "exchange_offer", "declare", "bind", "set_policy"]
Verdict = Literal["create", "present", "drift", "invalid", "unknown", "extra"]


@dataclass(frozen=True)
class Question:
    """One question for the broker. Ask it on a channel of its own."""

    #: Which question this is.
    id: int
    #: ``queue_passive`` and ``exchange_passive`` declare ``name`` passively; ``queue_offer``, ``exchange_offer`` and
    #: ``declare`` declare exactly ``declaration``; ``bind`` makes a binding; ``set_policy`` sets a policy through the
    #: management API.
    ask: Ask
    #: What it is about.
    name: str
    #: What to send; ``None`` for a passive question.
    declaration: QueueDeclaration | ExchangeDeclaration | BindingDeclaration | PolicyDeclaration | None
    #: The question as the session gave it out.
    document: Mapping[str, Any]

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Question:
        return cls(document["id"], document["ask"], document["name"], _declaration(document["declaration"]), document)


def _declaration(
    document: Mapping[str, Any] | None,
) -> QueueDeclaration | ExchangeDeclaration | BindingDeclaration | PolicyDeclaration | None:
    if document is None:
        return None
    if document["kind"] == "queue":
        return QueueDeclaration._of_table(document)
    if document["kind"] == "exchange":
        return ExchangeDeclaration._of_table(document)
    if document["kind"] == "binding":
        return BindingDeclaration._of_identity(document)
    return PolicyDeclaration._of_table(document)


@dataclass(frozen=True)
class Answer:
    """What the broker, or the way to it, answered."""

    #: As the session takes it, without the question's number.
    document: Mapping[str, Any]

    @classmethod
    def ok(cls, messages: int = 0, consumers: int = 0) -> Answer:
        """The method was answered with its ``-ok``; the counts are those of ``queue.declare-ok``."""
        return cls({"ok": {"messages": messages, "consumers": consumers}})

    @classmethod
    def refused(cls, code: int, text: str, scope: Literal["channel", "connection"] = "channel") -> Answer:
        """The broker closed the channel or the connection, with this reply code and text."""
        return cls({"refused": {"code": code, "text": text, "scope": scope}})

    @classmethod
    def failed(cls, why: str) -> Answer:
        """There was no answer, and what happened instead, such as ``timed out after 10 s``."""
        return cls({"failed": why})

    @classmethod
    def cannot(cls, why: str) -> Answer:
        """This program cannot ask such a question."""
        return cls({"cannot": why})


@dataclass(frozen=True)
class Action:
    """One object of a plan: what is known about it, and what an apply would send."""

    verdict: Verdict
    kind: Literal["exchange", "policy", "queue", "binding"]
    name: str
    #: Of a binding: its ends.
    binding: BindingDeclaration | None
    sends: Literal["declare", "bind", "set", "nothing"]
    #: As in the intent: ``durable, quorum, …``.
    detail: str
    #: Why the verdict is ``unknown``.
    reason: str | None
    #: Code and text of the broker's refusal.
    refusal: tuple[int, str] | None
    #: Everything in which it differs.
    differences: tuple[Difference, ...]
    #: There may be further differences.
    at_least: bool
    #: The policy that makes the change on the live queue.
    policy: PolicyDeclaration | None
    notes: tuple[str, ...]

    @classmethod
    def _of(cls, action: Mapping[str, Any]) -> Action:
        refusal, binding, policy = action["refusal"], action.get("binding"), action["policy"]
        return cls(
            action["verdict"],
            action["kind"],
            action["name"],
            binding and BindingDeclaration._of_identity(binding),
            action["sends"],
            action["detail"],
            action["reason"],
            refusal and (refusal["code"], refusal["text"]),
            tuple(Difference._of(difference) for difference in action["differences"]),
            action["at_least"],
            policy and PolicyDeclaration._of_table(policy),
            tuple(action["notes"]),
        )


class Plan:
    """What is known, and what an apply would send. It never changes; ``str(plan)`` is the plan style."""

    __slots__ = ("_document", "_plan")

    def __init__(self, plan: _acemq.Plan) -> None:
        self._plan = plan
        self._document: Mapping[str, Any] | None = None

    @property
    def document(self) -> Mapping[str, Any]:
        """The document ``acemq.plan/1``."""
        if self._document is None:
            self._document = json.loads(self._plan.document())
        return self._document

    @property
    def actions(self) -> tuple[Action, ...]:
        """One action for each object: exchanges, policies, queues, bindings, each kind in its declared order."""
        return tuple(Action._of(action) for action in self.document["actions"])

    @property
    def summary(self) -> Mapping[str, int]:
        """How many objects have each verdict, and how many are foreign."""
        summary: Mapping[str, int] = self.document["summary"]
        return summary

    @property
    def notes(self) -> tuple[str, ...]:
        """What is said about the plan as a whole."""
        return tuple(self.document["notes"])

    @property
    def error(self) -> str | None:
        """What kept a finished apply from doing everything."""
        return self._plan.error

    def render(self, style: Literal["plan", "lines"] = "plan", width: int | None = None) -> str:
        """The plan as text: a block wrapped at ``width`` columns, or one line an object; and its notes behind an empty line."""
        return self._plan.render(style, width, False)

    def render_block(self, style: Literal["plan", "lines"] = "plan", width: int | None = None) -> str:
        """The same without the notes."""
        return self._plan.render(style, width, True)

    def render_notes(self) -> str:
        """What the block has no place for, each line starting with ``note: ``."""
        return self._plan.render_notes()

    def render_drift(self) -> str:
        """One line for everything that differs, sorted by name."""
        return self._plan.render_drift()

    def refusal(self) -> str | None:
        """What an apply would refuse with before it declares anything."""
        return self._plan.refusal()

    @property
    def has_drift_or_invalid(self) -> bool:
        """Something differs, or would be refused whatever is there."""
        return self._plan.has_drift_or_invalid()

    @property
    def has_unanswered(self) -> bool:
        """Something is unknown that could have been asked."""
        return self._plan.has_unanswered()

    @property
    def fails_validation(self) -> bool:
        """The broker is not as the topology says."""
        return self._plan.fails_validation()

    @property
    def creates(self) -> bool:
        """Something is missing."""
        return self._plan.creates()

    def __str__(self) -> str:
        return self.render()

    def __repr__(self) -> str:
        counts = [f"{count} {verdict}" for verdict, count in self.summary.items() if count]
        return f"<Plan: {', '.join(counts) or 'nothing declared'}>"


class PlanSession:
    """A plan in the making: open questions, answers, and the plan as far as it is known. May be used from any thread.

    ``product`` and ``version`` are those of the connection's server properties, ``vhost`` is the connection's. ``exchanges``
    asks about exchanges too; an apply always does. Raises `Error` with every problem of the topology.
    """

    __slots__ = ("_session",)

    def __init__(
        self,
        topology: Topology,
        *,
        mode: Mode = "create_only",
        product: str | None = None,
        version: str | None = None,
        vhost: str | None = None,
        exchanges: bool = False,
        apply: bool = False,
        skip_exclusive: bool = False,
        can_set_policies: bool = False,
        update_policies: bool = False,
        strict: bool = False,
        answers: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self._session = _acemq.Session(
            to_json(
                {
                    "topology": topology.source,
                    "mode": mode,
                    "product": product,
                    "version": version,
                    "vhost": vhost,
                    "exchanges": exchanges,
                    "apply": apply,
                    "skip_exclusive": skip_exclusive,
                    "can_set_policies": can_set_policies,
                    "update_policies": update_policies,
                    "strict": strict,
                    # Answers of an earlier session, as it took them, in their order.
                    "answers": list(answers),
                }
            )
        )

    def questions(self) -> list[Question]:
        """Every open question."""
        return [Question._of(question) for question in json.loads(self._session.questions())]

    def next_questions(self, limit: int) -> list[Question]:
        """Open questions that were not given out yet, at most ``limit``: what a program with so many free channels asks."""
        return [Question._of(question) for question in json.loads(self._session.next_questions(limit))]

    def answer(self, question: Question | int, answer: Answer) -> None:
        """Takes one answer, in any order; raises `Error` when that question is not open, and stays as it was."""
        id = question.id if isinstance(question, Question) else question
        self._session.answer(to_json({"id": id, **answer.document}))

    def interrupt(self) -> None:
        """Ends the session before its end: what was not asked stays unknown, what was not sent is not sent."""
        self._session.interrupt()

    @property
    def finished(self) -> bool:
        """Whether nothing is left to ask or to declare."""
        return self._session.finished()

    def plan(self) -> Plan:
        """The plan as far as it is known, at any time."""
        return Plan(self._session.plan())

    def run(self, ask: Callable[[Question], Answer]) -> Plan:
        """Puts question after question to ``ask`` until none is left, and gives the plan.

        When ``ask`` raises, the session is interrupted and the exception goes on.
        """
        try:
            while not self.finished:
                for question in self.next_questions(1):
                    self.answer(question, ask(question))
        except BaseException:
            self.interrupt()
            raise
        return self.plan()

    async def run_async(self, ask: Callable[[Question], Awaitable[Answer]], *, channels: int = 1) -> Plan:
        """As `run`, with up to ``channels`` questions at once: each needs a channel of its own."""
        try:
            while not self.finished:
                questions = self.next_questions(channels)
                answers = await asyncio.gather(*(ask(question) for question in questions))
                for question, answer in zip(questions, answers, strict=True):
                    self.answer(question, answer)
        except BaseException:
            self.interrupt()
            raise
        return self.plan()

    def __repr__(self) -> str:
        return f"<PlanSession, {'finished' if self.finished else 'open'}: {self.plan()!r}>"
