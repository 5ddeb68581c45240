"""A target under test, together with what may be asked of it, what it was rightly spared, and what it was told so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dfa_router.counted import counted
from dfa_router.fuzz.findings import Disagreement, Kind
from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.judging.manners import Manners, refusable, refused_what
from dfa_router.target import Answers, Chapter, Refused, Step, Target, TargetFailure

__all__ = ["Subject", "played"]

_REMEMBERED = 200_000
"""Texts of what a target was told since it was started that are remembered: some ten megabytes."""


def played(target: Target, patterns: Sequence[str], steps: Sequence[Step]) -> Answers:
    """Give a target a set and go through the steps; return an answer for each key. Only changes need ``replay``."""
    if all(isinstance(step, str) for step in steps):
        return target.answer(patterns, [step for step in steps if isinstance(step, str)])
    return target.replay(patterns, steps)  # type: ignore[attr-defined, no-any-return]


@dataclass(slots=True)
class Subject:
    """A target, its manners, which sorts of keys it has refused, and what it was told since it was started."""

    target: Target
    manners: Manners
    declined: set[str] = field(default_factory=set)
    """Why keys were refused that may be refused (see ``refusable``); keys to which one of these applies are not asked
    again."""
    told: list[Chapter] = field(default_factory=list)
    """All that it was told since it was started: an answer may depend on it."""
    limited: bool = False
    """Whether what was asked last was refused for a limit that it states."""
    _size: int = 0
    _ended: bool = False
    """Whether it ended, so that what it is told next is told to a new process."""

    def tell(self, patterns: Sequence[str], steps: Sequence[Step]) -> Answers:
        """Ask the target, and remember what it was asked."""
        if self._ended:
            self.told.clear()
            self._size, self._ended = 0, False
        if self._size > _REMEMBERED:  # what is older than that is lost, and a case that needs it is called flaky
            del self.told[: len(self.told) // 2]
            self._size //= 2
        self.told.append(Chapter(tuple(patterns), tuple(steps)))
        self._size += len(patterns) + len(steps)
        return played(self.target, patterns, steps)

    def renew(self) -> None:
        """Start the target anew, where that can be done."""
        if hasattr(self.target, "restart"):
            self.target.restart()
            self.told.clear()
            self._size, self._ended = 0, False

    def ask(
        self, patterns: Sequence[str], steps: Sequence[Step], language: Language
    ) -> list[tuple[int, ...] | None] | Disagreement:
        """Return an answer for each step: None for a key that was refused and may be, and nothing for a change.

        Where the target refuses what it may not, fails, or gives too few answers, there are no answers: the
        disagreement is returned instead.
        """
        reasons = [refusable(step, language) if isinstance(step, str) else None for step in steps]
        answers: list[tuple[int, ...] | None] = [None if isinstance(step, str) else () for step in steps]
        self.limited = False
        while True:
            left = [number for number, reason in enumerate(reasons) if reason not in self.declined]
            keys = [number for number in left if isinstance(steps[number], str)]
            try:
                told = self.tell(patterns, [steps[number] for number in left])
            except Refused as refusal:
                if refusal.limit:
                    self.limited = True
                    self.declined.add(f"a limit that it states: {refusal.reason}")
                    return [None if isinstance(step, str) else () for step in steps]
                key = keys[refusal.key] if refusal.key is not None else None
                # A target that does not tell which key it refuses may mean any of those that may be refused.
                excuses = {reasons[key]} if key is not None else {reasons[number] for number in left}
                excuses.discard(None)
                if refusal.pattern is not None or not excuses:
                    return Disagreement(
                        kind=Kind.REFUSES,
                        pattern=refusal.pattern,
                        key=key,
                        detail=refusal.reason,
                        about=refused_what(refusal),
                    )
                self.declined.update(reason for reason in excuses if reason is not None)
            except TargetFailure as failure:
                self._ended = failure.kind != "raised" and hasattr(self.target, "restart")
                return Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind, suspects=failure.keys)
            else:
                if len(told) != len(keys):
                    detail = f"it gave {counted(len(told), 'answer')} to {counted(len(keys), 'key')}"
                    return Disagreement(kind=Kind.FAILS, detail=detail, about="nonsense")
                for number, answer in zip(keys, told, strict=True):
                    answers[number] = answer
                return answers
