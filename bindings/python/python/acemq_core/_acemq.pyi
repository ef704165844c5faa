"""The native module. The public surface is the package around it."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, NoReturn, final

ABI_VERSION: int
VERSION: str
SPEC_VERSION: int

def call(operation: str, input: str, /) -> str: ...
def operations() -> list[str]: ...
def _panic(message: str) -> NoReturn: ...
def dead_letter_queue(queue: str, /) -> str:
    """The queue that takes the messages of ``queue`` that are given up: ``{queue}.dlq``."""

def parked_queue(queue: str, /) -> str:
    """The queue in which messages of ``queue`` are set aside for a person: ``{queue}.parked``."""

def retry_queue(queue: str, delay: timedelta, /) -> str:
    """The queue in which messages of ``queue`` wait for ``delay``: ``{queue}.retry.{delay}``."""

def delay_text(delay: timedelta, /) -> str:
    """How a delay is written in such a name: ``2h``, ``5m``, ``90s``, ``30500ms``."""

def parse_duration(text: str, /) -> timedelta:
    """The duration that a text means: digits and one of ms, s, m, h; or 0."""

def milliseconds(duration: timedelta, /) -> int:
    """The whole milliseconds of a duration; one that has a rest, or is negative, is refused."""

def milliseconds_from_seconds(seconds: float, /) -> int:
    """The nearest whole milliseconds to seconds in floating point, within a microsecond."""

def milliseconds_from_nanoseconds(nanoseconds: int, /) -> int:
    """The whole milliseconds in a number of nanoseconds; a rest is refused."""

def topic_matches(pattern: str | bytes, key: str | bytes, /) -> bool:
    """Whether a topic pattern matches a routing key."""

class RetryPolicy:
    def __new__(cls, form: str, /) -> RetryPolicy: ...
    @property
    def kind(self) -> Literal["none", "fixed", "exponential"]:
        """``none``, ``fixed`` or ``exponential``."""

    @property
    def max_attempts(self) -> int:
        """Deliveries, the first one included."""

    @property
    def first(self) -> timedelta | None:
        """The first wait, which of a fixed policy is every wait; ``None`` for ``none``."""

    @property
    def cap(self) -> timedelta | None:
        """The longest wait of an exponential policy."""

    @property
    def multiplier_thousandths(self) -> int | None:
        """By what an exponential policy's waits grow, in thousandths."""

    @property
    def jitter(self) -> float:
        """The random part of a wait in the consumer."""

    @property
    def give_up_after(self) -> timedelta | None:
        """The age limit."""

    @property
    def wait_in_broker_from(self) -> timedelta:
        """From when on a wait is spent in the broker; 0 means never."""

    @property
    def broker_delays(self) -> tuple[timedelta, ...]:
        """The waits that are spent there, shortest first."""

    @property
    def waits(self) -> int:
        """The number of waits."""

    def delay(self, index: int, /) -> timedelta:
        """The wait before attempt ``index + 2``, unjittered; `IndexError` behind the last one."""

    def decide(self, attempt: int, age: timedelta | None = None, u: float = 0.5) -> Decision:
        """Decides about a message whose delivery number ``attempt`` (from 1) failed.

        ``age`` is the time since the message was first seen; an unknown one is young enough. ``u`` is a random number of at
        least 0 and below 1 for the jitter of a wait in the consumer, as `random.random` gives it; 0.5 means no jitter. The
        same arguments give the same decision.
        """

    def rung_for(self, delay: timedelta, /) -> timedelta | None:
        """The delay of the rung for any delay; ``None`` when the wait is not the broker's."""

@final
class Decision:
    """What to do with a message whose handling failed. It never changes."""

    @property
    def retry(self) -> bool:
        """Whether the message is tried again."""

    @property
    def reason(self) -> Literal["attempts_exhausted", "too_old"] | None:
        """Why it is not; ``None`` when it is."""

    @property
    def wait(self) -> timedelta:
        """How long it waits before it is tried again."""

    @property
    def wait_ms(self) -> int:
        """The same in whole milliseconds."""

    @property
    def in_broker(self) -> bool:
        """Whether it waits on a rung of its queue instead of in the consumer."""

    @property
    def give_up_text(self) -> str | None:
        """What it is set aside with: ``exhausted 6 attempts``, ``older than 2h``; ``None`` when it is tried again."""

class Ladder:
    def __new__(cls, queue: str, policy: RetryPolicy, /) -> Ladder: ...
    @property
    def queue(self) -> str:
        """The queue whose messages wait here."""

    def rung_name_for(self, delay: timedelta, /) -> str | None:
        """The name of the rung for any delay."""

    def rung_name_of(self, decision: Decision, /) -> str | None:
        """The name of the rung on which a decision lets the message wait."""

    def document(self) -> str:
        """The ladder as JSON: the output of ``retry.ladder``."""

@final
class TopicPattern:
    """A topic pattern, read once. It never changes and may be used from any thread."""

    def __new__(cls, pattern: str | bytes, /) -> TopicPattern: ...
    def matches(self, key: str | bytes, /) -> bool:
        """Whether it matches a routing key."""

    def matches_all(self, keys: Sequence[str | bytes], /) -> list[bool]:
        """Whether it matches each of many routing keys. Other threads run meanwhile."""

    @property
    def is_literal(self) -> bool:
        """Whether it has no wildcard."""

    def __bytes__(self) -> bytes: ...

class TopicMatcher:
    def __new__(cls) -> TopicMatcher: ...
    def insert(self, pattern: str | bytes, value: int, /) -> bool: ...
    def remove(self, pattern: str | bytes, value: int, /) -> bool: ...
    def matches(self, key: str | bytes, /) -> list[int]: ...
    def matches_all(self, keys: Sequence[str | bytes], /) -> list[list[int]]: ...
    def __len__(self) -> int: ...

@final
class Session:
    def __new__(cls, input: str, /) -> Session: ...
    def questions(self) -> str: ...
    def next_questions(self, limit: int, /) -> str: ...
    def answer(self, answer: str, /) -> None: ...
    def interrupt(self) -> None: ...
    def finished(self) -> bool: ...
    def plan(self) -> Plan: ...

@final
class Plan:
    def document(self) -> str: ...
    @property
    def error(self) -> str | None: ...
    def render(self, style: str, width: int | None, block_only: bool, /) -> str: ...
    def render_notes(self) -> str: ...
    def render_drift(self) -> str: ...
    def refusal(self) -> str | None: ...
    def has_drift_or_invalid(self) -> bool: ...
    def has_unanswered(self) -> bool: ...
    def fails_validation(self) -> bool: ...
    def creates(self) -> bool: ...

@final
class Router:
    def __new__(cls, source: str, /) -> Router: ...
    def route(self, message: str, /) -> str: ...
    def queues(self, exchange: str, key: str, /) -> list[str]: ...

@final
class Broker:
    def __new__(cls, settings: str, /) -> Broker: ...
    def call(self, command: str, /) -> str: ...
    def copy(self) -> Broker: ...
