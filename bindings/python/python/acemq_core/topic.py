"""Topic patterns: one pattern read once, and many patterns compiled together."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

from ._native import _acemq

__all__ = ["TopicMatcher", "TopicPattern", "topic_matches"]

TopicPattern = _acemq.TopicPattern
topic_matches = _acemq.topic_matches

T = TypeVar("T", bound=Hashable)


class TopicMatcher(Generic[T]):
    """The bindings of a topic exchange, compiled: patterns, each bound to any number of hashable values.

    A value stands for what a binding leads to, such as the name of a queue. The time for a key depends on how many patterns
    begin like it, not on how many there are. May be used from any thread.

    >>> matcher = TopicMatcher[str]()
    >>> matcher.insert("orders.*", "new orders")
    True
    >>> matcher.insert("orders.#", "archive")
    True
    >>> matcher.matches("orders.eu")
    ['new orders', 'archive']
    """

    __slots__ = ("_bindings", "_lock", "_matcher", "_next", "_numbers", "_values")

    def __init__(self) -> None:
        self._matcher = _acemq.TopicMatcher()
        self._lock = threading.Lock()
        # Values have numbers in the native module. A number is never used again, so that a batch which runs while a binding
        # is taken out cannot mistake one value for another.
        self._next = 0
        self._numbers: dict[T, int] = {}
        self._values: dict[int, T] = {}
        self._bindings: dict[int, int] = {}

    def insert(self, pattern: str | bytes, value: T) -> bool:
        """Binds ``value`` under ``pattern``; ``False`` when it already was."""
        with self._lock:
            number = self._numbers.get(value, self._next)
            if not self._matcher.insert(pattern, number):
                return False
            if number == self._next:
                self._next += 1
                self._numbers[value] = number
                self._values[number] = value
            self._bindings[number] = self._bindings.get(number, 0) + 1
            return True

    def remove(self, pattern: str | bytes, value: T) -> bool:
        """Takes the binding of ``value`` under ``pattern`` out; ``False`` when there was none."""
        with self._lock:
            number = self._numbers.get(value)
            if number is None or not self._matcher.remove(pattern, number):
                return False
            self._bindings[number] -= 1
            if not self._bindings[number]:
                del self._bindings[number], self._values[number], self._numbers[value]
            return True

    def matches(self, key: str | bytes) -> list[T]:
        """Every value that ``key`` reaches, each once, in the order in which the values were first bound."""
        return self._named(self._matcher.matches(key))

    def matches_all(self, keys: Sequence[str | bytes]) -> list[list[T]]:
        """The values that each of many keys reaches. Other threads run meanwhile."""
        return [self._named(found) for found in self._matcher.matches_all(keys)]

    def _named(self, numbers: list[int]) -> list[T]:
        values = self._values
        try:
            return [values[number] for number in numbers]
        except KeyError:
            # Another thread has taken a binding out in between.
            return [values[number] for number in numbers if number in values]

    def __len__(self) -> int:
        """The number of bindings."""
        return len(self._matcher)

    def __repr__(self) -> str:
        return f"<TopicMatcher of {len(self)} bindings>"
