"""What is under test: anything that can be asked which of some patterns match each of some keys.

A campaign hands a target one :class:`Round` after another and compares its answers with the specification's. A target
that cannot answer says so by one of the errors below: a refusal concerns a pattern or key, a failure the target as a
whole. Neither is ever taken for agreement.
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
    """A binding set and the keys that are asked of it; every (pattern, key) pair is a case."""

    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    classes: frozenset[str] = frozenset()
    """The classes of bugs that it was generated for, such as ``many-zero-at-the-end``."""

    @property
    def cases(self) -> int:
        """The number of (pattern, key) pairs."""
        return len(self.patterns) * len(self.keys)


class Target(Protocol):
    """A matcher under test."""

    name: str
    """Its name in reports: the text that it was opened by, and a version if it has one."""
    dialect: Dialect

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; raises :class:`Refused` or :class:`TargetFailure`."""

    def close(self) -> None:
        """Remove everything that the target made outside of this process; may be called twice."""


class Refused(RouterError):  # noqa: N818 - what a target does, not what went wrong
    """A target refuses a pattern or a key; whether it may is for the dialect to decide."""

    def __init__(self, reason: str, *, pattern: int | None = None, key: int | None = None) -> None:
        """Take the reason, and the position of the refused pattern or key where the target tells it."""
        super().__init__(reason)
        self.reason, self.pattern, self.key = reason, pattern, key


class TargetFailure(RouterError):  # noqa: N818 - as above
    """A target could not answer: ``kind`` is ``hung``, ``died``, ``flooded``, ``nonsense`` or ``raised``.

    ``patterns`` and ``keys`` are those that it was asked last, as far as they may have caused it.
    """

    def __init__(self, kind: str, reason: str, patterns: Sequence[str] = (), keys: Sequence[str] = ()) -> None:
        """Take what happened, and what the target was asked."""
        super().__init__(reason)
        self.kind, self.reason, self.patterns, self.keys = kind, reason, tuple(patterns), tuple(keys)
