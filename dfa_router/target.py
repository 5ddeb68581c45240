"""A target of the fuzz tester: a matcher under test, which says which of some patterns match each of some keys.

A campaign gives a target one :class:`Round` after the other and compares the answers with the specification's. A target
that cannot answer raises one of the errors below: a refusal is about a pattern or key, a failure about the target as a
whole. Neither ever counts as agreement. These values are apart from the fuzz tester because the clients of live brokers
implement them too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from dfa_router.errors import RouterError
from dfa_router.language.dialects import Dialect

__all__ = ["Answers", "Refused", "Round", "Target", "TargetFailure"]

Answers = list[tuple[int, ...]]
"""For each key of a round the ascending positions of the patterns that match it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Patterns, and the keys that are asked of them; every (pattern, key) pair is a case."""

    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    classes: frozenset[str] = frozenset()
    """The classes of cases that it was generated for, such as ``many-matches-zero``."""

    @property
    def cases(self) -> int:
        """The number of (pattern, key) pairs."""
        return len(self.patterns) * len(self.keys)


class Target(Protocol):
    """A matcher under test."""

    name: str
    """Its name in reports: the SPEC that it was made from, and its version if it tells one."""
    dialect: Dialect

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return the patterns that match each key; raises :class:`Refused` or :class:`TargetFailure`."""

    def close(self) -> None:
        """Remove all that the target made outside of this process; may be called twice."""


class Refused(RouterError):  # noqa: N818 - what a target does, not what went wrong
    """A target does not accept a pattern or a key; whether that is right depends on the dialect."""

    def __init__(self, reason: str, *, pattern: int | None = None, key: int | None = None) -> None:
        """Take the reason, and the position of the pattern or key if it is known."""
        super().__init__(reason)
        self.reason, self.pattern, self.key = reason, pattern, key


class TargetFailure(RouterError):  # noqa: N818 - as above
    """A target hung, died, flooded its output or answered nonsense; ``kind`` says which.

    ``patterns`` and ``keys`` are the last that it was asked.
    """

    def __init__(self, kind: str, reason: str, patterns: Sequence[str] = (), keys: Sequence[str] = ()) -> None:
        """Take what happened, and what the target was asked at that time."""
        super().__init__(reason)
        self.kind, self.reason, self.patterns, self.keys = kind, reason, tuple(patterns), tuple(keys)
