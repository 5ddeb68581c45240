"""What is under test: anything that can be asked which of some patterns match each of some keys.

A campaign hands a target one :class:`Round` after another and compares its answers with the specification's. A target
that cannot answer says so by one of the errors below: a refusal concerns a pattern or key, a failure the target as a
whole. Neither is ever taken for agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from dfa_router.errors import RouterError
from dfa_router.language.dialects import Dialect

__all__ = [
    "Answers",
    "Bind",
    "Chapter",
    "OutOfTimeError",
    "Refused",
    "Round",
    "Sketched",
    "Step",
    "Target",
    "TargetFailure",
    "Unbind",
    "bound",
    "expected_positions",
]

Answers = list[tuple[int, ...]]
"""For each key of a round the ascending positions of the patterns that match it."""


@dataclass(frozen=True, slots=True)
class Bind:
    """A pattern joins the set that a target has; its position is the next one that no pattern of the set had."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Unbind:
    """The pattern at a position leaves the set; all others keep their positions."""

    position: int


Step = str | Bind | Unbind
"""What a target is told after it was given a set: a key, which is asked, or a change of the set."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A binding set that a target is given, and the steps that follow until it is given another."""

    patterns: tuple[str, ...]
    steps: tuple[Step, ...]

    @property
    def changes(self) -> bool:
        """Whether the set changes on the way, which not all targets offer."""
        return any(not isinstance(step, str) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Sketched:
    """What of a round certainly shows a class of bugs: these patterns together, asked this key."""

    name: str
    patterns: tuple[str, ...]
    key: str

    def shows_in(self, patterns: Sequence[str], keys: Sequence[str]) -> bool:
        """Tell whether all of it is among these."""
        return self.key in keys and Counter(self.patterns) <= Counter(patterns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A binding set and the keys that are asked of it; every (pattern, key) pair is a case."""

    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    classes: frozenset[str] = frozenset()
    """The classes of bugs that it was generated for, such as ``many-zero-at-the-end``."""
    sketched: tuple[Sketched, ...] = field(default=(), repr=False)
    """By what it is told whether a part of the round shows its classes, too."""
    then: tuple[Chapter, ...] = ()
    """Further sets, which the same target is given one after another."""

    @property
    def cases(self) -> int:
        """The number of (pattern, key) pairs, of the first set."""
        return len(self.patterns) * len(self.keys)

    @property
    def chapters(self) -> tuple[Chapter, ...]:
        """The sets in their order, each with what is asked of it."""
        return Chapter(self.patterns, self.keys), *self.then


def expected_positions(patterns: int) -> str:
    """Say what an answer may be made of, where a set has had so many patterns.

    >>> expected_positions(3), expected_positions(1), expected_positions(0)
    ('expected positions from 0 to 2', 'expected [] or [0]', 'expected [], as there are no patterns')
    """
    if patterns > 1:
        return f"expected positions from 0 to {patterns - 1}"
    return "expected [] or [0]" if patterns else "expected [], as there are no patterns"


def bound(patterns: Sequence[str], steps: Sequence[Step]) -> tuple[list[str], set[int]]:
    """Return what a set is after some steps: the pattern of each position, and the positions that were taken out.

    >>> bound(["a"], ["x", Bind("b"), Unbind(0)])
    (['a', 'b'], {0})
    """
    table, gone = list(patterns), set()
    for step in steps:
        if isinstance(step, Bind):
            table.append(step.pattern)
        elif isinstance(step, Unbind):
            gone.add(step.position)
    return table, gone


class Ran(NamedTuple):
    """What of its source a target ran for a case, as far as it can tell."""

    lines: frozenset[tuple[str, int]]
    """(file, line)"""
    functions: tuple[tuple[str, int, int, str], ...] = ()
    """(file, first line, last line, name), in the order in which they were first entered."""
    expressions: frozenset[tuple[str, int]] = frozenset()
    """(file, line) of the lines that build or run a regular expression which depends on what is asked."""


class Target(Protocol):
    """A matcher under test.

    A target may have more: ``changing``, which is true if its sets can change, and ``replay(patterns, steps)``, which then
    returns an answer for each key among the steps; ``restart()``, if it can be started anew, so that it has forgotten all that it was told; ``timeout`` and
    ``deadline``, the seconds that it has for an answer and the time (of the monotonic clock) after which it raises
    :class:`OutOfTimeError`; and ``scope``, a mapping with what it says that it may be asked
    (:class:`~dfa_router.fuzz.Scope`). Where one of these is missing, so is what it allows.
    """

    name: str
    """Its name in reports: the text that it was opened by, and a version if it has one."""
    dialect: Dialect

    def answer(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key; raises :class:`Refused` or :class:`TargetFailure`."""

    def close(self) -> None:
        """Remove everything that the target made outside of this process; may be called twice."""


class Refused(RouterError):  # noqa: N818 - what a target does, not what went wrong
    """A target refuses a pattern or a key; whether it may is for the dialect to decide."""

    def __init__(self, reason: str, *, pattern: int | None = None, key: int | None = None, limit: bool = False) -> None:
        """Take the reason, and the position of the refused pattern or key where the target tells it.

        ``limit`` says that it is a limit which the target documents: then the refusal is none of its faults.
        """
        super().__init__(reason)
        self.reason, self.pattern, self.key, self.limit = reason, pattern, key, limit


class OutOfTimeError(RouterError):
    """The time that a campaign has was used up before a target had answered; nothing is known about its answer.

    ``overdue`` says that it was silent for much longer than it ever took to answer, so that it may never have answered.
    """

    def __init__(self, reason: str, *, overdue: bool = False) -> None:
        """Take what was asked, and whether an answer to it was overdue."""
        super().__init__(reason)
        self.overdue = overdue


class TargetFailure(RouterError):  # noqa: N818 - as above
    """A target could not answer: ``kind`` is ``hung``, ``died``, ``flooded``, ``nonsense`` or ``raised``.

    ``patterns`` and ``keys`` are those that it was asked last, as far as they may have caused it.
    """

    def __init__(self, kind: str, reason: str, patterns: Sequence[str] = (), keys: Sequence[str] = ()) -> None:
        """Take what happened, and what the target was asked."""
        super().__init__(reason)
        self.kind, self.reason, self.patterns, self.keys = kind, reason, tuple(patterns), tuple(keys)
