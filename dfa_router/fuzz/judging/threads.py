"""Several threads that ask one matcher at once: what is right for one of them must be right for each.

Only Python targets in a process of their own are asked so (``together``), and only if their scope says that they may be.
An answer that is wrong once in hundreds counts, so a case is tried several times before it is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from dfa_router.fuzz.findings import Case, Disagreement, Kind
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.target import Answers, OutOfTimeError, Refused, TargetFailure

__all__ = ["Shared", "shrunk_together", "wrong_together"]

_TRIES = 3


@runtime_checkable
class Shared(Protocol):
    """A target that several threads can ask at once."""

    def together(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return who matches each key, each asked by a thread of its own, again and again: an answer that stands out."""


def wrong_together(
    target: Shared, judge: Judge, patterns: Sequence[str], keys: Sequence[str], tries: int = 1
) -> Disagreement | None:
    """Return what is wrong when each key is asked by a thread of its own, or None."""
    right = judge.right(patterns, keys)
    for _ in range(tries):
        try:
            told = target.together(patterns, keys)
        except Refused:
            return None
        except TargetFailure as failure:
            return Disagreement(kind=Kind.FAILS, key=0, detail=failure.reason, about="threads")
        for number, (theirs, ours) in enumerate(zip(told, right, strict=True)):
            for place in sorted(set(theirs) ^ set(ours)):
                kind = Kind.MISSES if place in ours else Kind.MATCHES
                return Disagreement(kind=kind, pattern=place, key=number, answered=theirs, about="threads")
    return None


def shrunk_together(
    target: Shared, judge: Judge, patterns: Sequence[str], keys: Sequence[str]
) -> tuple[Case, Disagreement] | None:
    """Return the simplest case with the fewest patterns and two keys, or None if nothing is wrong any more.

    Where the time is over in between, it is the simplest so far.
    """
    found = wrong_together(target, judge, patterns, keys, _TRIES)
    if found is None:
        return None
    left, asked = list(patterns), list(keys)
    for some in (left, asked):
        place, least = 0, 1 if some is left else 2
        while place < len(some) > least:
            gone = some.pop(place)
            try:
                again = wrong_together(target, judge, left, asked, _TRIES)
            except OutOfTimeError:  # a deadlock takes the whole patience at each try
                some.insert(place, gone)
                break
            if again is None:
                some.insert(place, gone)
                place += 1
            else:
                found = again
    number = found.key or 0
    others = tuple(key for place, key in enumerate(asked) if place != number)
    return Case(patterns=tuple(left), key=asked[number], together=others), found
