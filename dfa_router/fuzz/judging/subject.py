"""A target under test, together with what may be asked of it and what it was rightly spared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dfa_router.fuzz.findings import Disagreement, Kind
from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.judging.manners import Manners, refusable, refused_what
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["Subject"]


@dataclass(slots=True)
class Subject:
    """A target, its manners, and which sorts of keys it has refused."""

    target: Target
    manners: Manners
    declined: set[str] = field(default_factory=set)
    """Why keys were refused that may be refused (see ``refusable``); keys to which one of these applies are not asked
    again."""

    def ask(
        self, patterns: Sequence[str], keys: Sequence[str], language: Language
    ) -> list[tuple[int, ...] | None] | Disagreement:
        """Return an answer for each key, None for one that was refused and may be.

        Where the target refuses what it may not, fails, or gives too few answers, there are no answers: the
        disagreement is returned instead.
        """
        reasons = [refusable(key, language) for key in keys]
        answers: list[tuple[int, ...] | None] = [None] * len(keys)
        while True:
            left = [number for number, reason in enumerate(reasons) if reason not in self.declined]
            try:
                told = self.target.answer(patterns, [keys[number] for number in left])
            except Refused as refusal:
                key = left[refusal.key] if refusal.key is not None else None
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
                return Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind)
            else:
                if len(told) != len(left):
                    detail = f"it gave {len(told)} answers to {len(left)} keys"
                    return Disagreement(kind=Kind.FAILS, detail=detail, about="nonsense")
                for number, answer in zip(left, told, strict=True):
                    answers[number] = answer
                return answers
