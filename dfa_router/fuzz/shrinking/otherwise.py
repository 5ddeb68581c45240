"""A failure of another kind, which a target shows when the question at which it failed is asked alone.

Answers of a program are read a round at a time, so what is wrong with one of them may show at the next: an answer without the end
of its line becomes one with its successor, and a program that has given up its output ends when more is asked. Asked alone, such
a program hangs. It fails every time, though not as it was met: the failure that it shows alone is the one to shrink and to tell.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfa_router.fuzz.findings import Disagreement, Kind
from dfa_router.fuzz.judging.subject import played
from dfa_router.target import OutOfTimeError, Refused, Step, Target, TargetFailure, bound

__all__ = ["fails_otherwise"]


def fails_otherwise(
    target: Target, disagreement: Disagreement, patterns: Sequence[str], steps: Sequence[Step]
) -> tuple[Disagreement, tuple[str, ...]] | None:
    """Return how a target fails, started anew, that is asked the suspect key alone, and the patterns that it is asked of.

    None where it fails as it was met, or answers. A hang is no sign of another failure, and an error that is said in an answer
    belongs to the question, so neither is asked again.
    """
    asked = disagreement.suspects[:1]
    if (
        disagreement.kind is not Kind.FAILS
        or disagreement.about in ("hung", "raised")
        or not hasattr(target, "restart")
    ):
        return None
    place = next((place for place, step in enumerate(steps) if step in asked), None)
    if place is None:
        return None
    table, gone = bound(tuple(patterns), tuple(steps[:place]))
    live = tuple(pattern for number, pattern in enumerate(table) if number not in gone)
    target.restart()
    try:
        played(target, live, asked)
    except TargetFailure as failure:
        if failure.kind not in (disagreement.about, "raised"):
            return Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind, suspects=asked), live
    except (Refused, OutOfTimeError):
        pass  # it is a failure of what went before, or there is no time to ask
    return None
