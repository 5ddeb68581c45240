"""What is right: the specification's answer, got fast, and what a target's answer is worth.

Small rounds are answered by the specification itself. For large ones the automaton answers, as it is some hundred times
faster, and a sample of its answers is checked; where it disagrees, that is our own bug, and reported as one. Whatever a
target is accused of was decided by the specification.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import RouterError
from dfa_router.fuzz.findings import Disagreement, Kind
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.generating.rounds import invalid_pattern
from dfa_router.fuzz.judging.manners import Manners, askable, refusable, refused_what, skeleton
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.language.dialects import Dialect
from dfa_router.reference.naive import matches
from dfa_router.target import Answers, Refused, Target, TargetFailure

__all__ = ["Examination", "Judge"]

_SMALL = 256
"""Cases of a round that the specification answers in no more time than the automaton takes to be built."""
_SAMPLE = 32
"""Cases of a larger round that both answer."""
_COSTLY = 2000
"""Ways to lay a pattern over a key, at which a case is left out of the sample."""


class Judge:
    """Decides about answers in one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._engine = EngineTarget("dfa", dialect)
        self.declined: set[str] = set()
        """Why keys were refused, rightly: keys of which the same is true are not asked again."""
        language = language_of(dialect)
        self._separator = language.separator
        self._wild = (language.many, language.some)

    def right(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return the specification's answers; exponential in the number of ``#``."""
        dialect = self.dialect
        encoded = [pattern.encode() for pattern in patterns]
        return [
            tuple([place for place, pattern in enumerate(encoded) if matches(pattern, key, dialect)])
            for key in (key.encode() for key in keys)
        ]

    def expected(self, patterns: Sequence[str], keys: Sequence[str]) -> tuple[Answers, list[int]]:
        """Return the answers, and the positions of the keys at which our own automaton has been wrong."""
        if len(patterns) * len(keys) <= _SMALL:
            return self.right(patterns, keys), []
        try:
            answers = self._engine.answer(patterns, keys)
        except RouterError:  # a valid pattern that our own engine refuses: every engine will be asked, and named
            return self.right(patterns, keys), list(range(len(keys)))
        wrong = []
        step = max(1, len(patterns) * len(keys) // _SAMPLE)
        for number in range(step // 2, len(patterns) * len(keys), step):
            key, place = divmod(number, len(patterns))
            if self._ways(patterns[place], keys[key]) > _COSTLY:
                continue
            if matches(patterns[place].encode(), keys[key].encode(), self.dialect) is not (place in answers[key]):
                wrong.append(key)
                answers[key] = self.right(patterns, [keys[key]])[0]
        return answers, wrong

    def _ways(self, pattern: str, key: str) -> int:
        manies = sum(pattern.count(word) for word in self._wild if word)
        return math.comb(key.count(self._separator) + 1 + manies, manies)

    def examine(
        self,
        target: Target,
        patterns: Sequence[str],
        keys: Sequence[str],
        manners: Manners,
        *,
        exactly: bool = False,
    ) -> Examination:
        """Ask a target and compare, ``exactly`` without the automaton. Of an invalid pattern only its refusal
        counts.
        """
        dialect = self.dialect
        bad = next((place for place, pattern in enumerate(patterns) if invalid_pattern(pattern, dialect)), None)
        if bad is not None:
            return _refusal_of(target, patterns, keys, bad, manners, dialect)
        if not manners.keys:
            keys = [key for key in keys if askable(key, dialect)]
        if not keys:
            return Examination(cases=0)
        answered = self._ask(target, patterns, keys)
        if isinstance(answered, Disagreement):
            return Examination(cases=len(patterns) * len(keys), keys=keys, found=[answered])
        expected, wrong = (self.right(patterns, keys), []) if exactly else self.expected(patterns, keys)
        result = Examination(cases=len(patterns) * len(keys), keys=keys, ours=wrong)
        if answered == expected:
            return result
        for number, (theirs, ours) in enumerate(zip(answered, expected, strict=True)):
            if theirs == ours or theirs is None:
                continue
            key = keys[number]
            right = set(self.right(patterns, [key])[0] if len(patterns) * len(keys) > _SMALL else ours)
            if right != set(ours):
                result.ours.append(number)
            for place in sorted(right - set(theirs)):
                result.found.append(Disagreement(kind=Kind.MISSES, pattern=place, key=number, answered=theirs))
            for place in sorted(set(theirs) - right):
                result.found.append(Disagreement(kind=Kind.MATCHES, pattern=place, key=number, answered=theirs))
        return result

    def _ask(
        self, target: Target, patterns: Sequence[str], keys: Sequence[str]
    ) -> list[tuple[int, ...] | None] | Disagreement:
        """Return the answers, None for a key that may be refused and was; or the disagreement that left us without
        any.
        """
        whys = [refusable(key, self.dialect) for key in keys]
        answers: list[tuple[int, ...] | None] = [None] * len(keys)
        while True:
            left = [number for number, why in enumerate(whys) if why not in self.declined]
            try:
                told = target.answer(patterns, [keys[number] for number in left])
            except Refused as refusal:
                about = refused_what(refusal)
                key = left[refusal.key] if refusal.key is not None else None
                refused = Disagreement(
                    kind=Kind.REFUSES, pattern=refusal.pattern, key=key, detail=refusal.reason, about=about
                )
                why = {whys[key]} if key is not None else {whys[number] for number in left}
                if refusal.pattern is not None or not why - {None}:
                    return refused
                self.declined |= {reason for reason in why if reason is not None}
            except TargetFailure as failure:
                return Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind)
            else:
                if len(told) != len(left):
                    detail = f"it gave {len(told)} answers to {len(left)} keys"
                    return Disagreement(kind=Kind.FAILS, detail=detail, about="nonsense")
                for number, answer in zip(left, told, strict=True):
                    answers[number] = answer
                return answers

    def verdicts(self, patterns: Sequence[str], key: str) -> tuple[tuple[str, str], ...]:
        """Return what every engine of ours that speaks the dialect says."""
        said = []
        for name in engines():
            if engine_info(name).speaks(self.dialect):
                try:
                    answer = str(list(EngineTarget(name, self.dialect).answer(patterns, [key])[0]))
                except Refused as refusal:
                    answer = f"refuses: {refusal}"
                except RouterError as error:  # a limit of that engine, which is no fault
                    answer = f"cannot tell: {error}"
                said.append((name, answer))
        return tuple(said)


@dataclass(slots=True)
class Examination:
    """What came of asking a target one round."""

    cases: int
    keys: Sequence[str] = ()
    """The keys that were asked."""
    found: list[Disagreement] = field(default_factory=list)
    ours: list[int] = field(default_factory=list)
    """Positions of the keys at which our own automaton disagrees with the specification."""


def _refusal_of(
    target: Target, patterns: Sequence[str], keys: Sequence[str], bad: int, manners: Manners, dialect: Dialect
) -> Examination:
    """Ask a set that has an invalid pattern: it must be refused, by a target that refuses at all."""
    if not manners.patterns:
        return Examination(cases=0)
    result = Examination(cases=len(patterns), keys=keys)
    try:
        answer = target.answer(patterns, keys)
    except Refused:
        return result
    except TargetFailure as failure:
        if failure.kind != "raised":
            result.found.append(Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind))
        return result
    reason = invalid_pattern(patterns[bad], dialect) or ""
    detail = f"it answered {[list(positions) for positions in answer]}"
    result.found.append(Disagreement(kind=Kind.ACCEPTS, pattern=bad, detail=detail, about=skeleton(reason)))
    return result
