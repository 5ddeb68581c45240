"""Does a target's time grow exponentially with a pattern? The smallest pattern over a limit is looked for.

Matchers that backtrack try every way to share the words of a key among the wildcards of a pattern: a pattern of eight ``#`` that
someone subscribes to is then enough to stop a broker. Only times of a second and more count, which come back when they are
measured again, and which were small for a pattern that is two wildcards shorter: a busy machine is no fault of the target.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.scope import Scope
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["LIMIT", "Growth", "growth_of"]

LIMIT = 1.0
"""Seconds for one pattern and one key of at most 27 words."""
_MOST = 12
_STEEP = 4.0
"""How many times as long the pattern takes as one that is two wildcards shorter."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The smallest pattern over the limit, and the times on the way to it."""

    pattern: str
    key: str
    seconds: tuple[tuple[int, float], ...]
    """(wildcards, seconds) of each pattern that was tried; the last is over the limit."""

    @property
    def text(self) -> str:
        """The times in words."""
        times = ", ".join(f"{count}: {seconds:.3g}" for count, seconds in self.seconds)
        return f"seconds by the number of wildcards: {times}"


def growth_of(target: Target, language: Language, scope: Scope) -> Growth | None:
    """Return how the target's time grows, or None if no pattern of its scope takes longer than the limit."""
    wild = language.many
    if wild is None or not language.anywhere:
        return None
    join, times = language.separator.join, []
    for count in range(1, min(_MOST, language.most_many) + 1):
        pattern, key = join([wild, "a"] * count), join(["a"] * (2 * count) + ["b"])
        if not (scope.takes_pattern(pattern, language) and scope.takes(key, language)):
            return None
        seconds = _seconds(target, pattern, key)
        if seconds is None:
            return None
        times.append((count, seconds))
        if seconds <= LIMIT:
            continue
        again = _seconds(target, pattern, key)
        before = times[-3][1] if len(times) > 2 else 0.0
        if again is not None and again > LIMIT and min(seconds, again) > _STEEP * before:
            return Growth(pattern, key, tuple(times))
    return None


def _seconds(target: Target, pattern: str, key: str) -> float | None:
    """Return how long an answer takes; None where there is none for another reason than time."""
    began = time.monotonic()
    try:
        target.answer([pattern], ["a"])  # a process may have to be started first, which is not its matching
        began = time.monotonic()
        target.answer([pattern], [key])
    except Refused:
        return None
    except TargetFailure as failure:
        if failure.kind != "hung":
            return None
    return time.monotonic() - began
