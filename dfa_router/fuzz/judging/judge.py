"""What is right: the specification's answer, computed fast, and how a target's answer differs from it.

Small rounds are answered by the specification itself. For large ones the automaton answers, as it is some hundred times
faster, and the specification checks a sample of its answers; where they differ, that is our own bug and is reported as
one. Whatever a target is accused of was decided by the specification.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler.once import once
from compiler.prepare import kernels_kept
from dfa_router.engines.registry import engine_info, engines
from dfa_router.errors import RouterError
from dfa_router.fuzz.findings import Case, Disagreement, Kind
from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.judging.manners import askable, skeleton
from dfa_router.fuzz.judging.subject import Subject
from dfa_router.fuzz.targets.engine import EngineTarget
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.language.dialects import Dialect
from dfa_router.reference.naive import matches
from dfa_router.target import Answers, Bind, Refused, Step, TargetFailure, Unbind

__all__ = ["Examination", "Judge", "right_answers", "right_through"]

_SMALL = 256
"""(pattern, key) pairs that the specification answers in no more time than it takes to build the automaton."""
_SAMPLE = 32
"""(pattern, key) pairs of a larger round that the specification checks."""
_COMPILED = ("dfa", "nfa")
_HURRIED = 5.0
"""Seconds before the end in which no kernels are loaded any more: on a busy machine that takes this long."""
_COSTLY = 2000
"""A pair is left out of the sample if there are more ways than this to lay its pattern over its key."""


def right_answers(patterns: Sequence[str], keys: Sequence[str], dialect: Dialect) -> Answers:
    """Return the specification's answers; takes time exponential in the number of ``#`` of a pattern."""
    encoded = [pattern.encode() for pattern in patterns]
    return [
        tuple([place for place, pattern in enumerate(encoded) if matches(pattern, key, dialect)])
        for key in (key.encode() for key in keys)
    ]


def right_through(patterns: Sequence[str], steps: Sequence[Step], dialect: Dialect) -> list[tuple[int, ...]]:
    """Return the specification's answer at each step, of a set that changes; for a change it is empty."""
    live = dict(enumerate(patterns))
    count, answers = len(live), []
    for step in steps:
        if isinstance(step, Bind):
            live[count] = step.pattern
            count += 1
        elif isinstance(step, Unbind):
            live.pop(step.position, None)
        else:
            places = list(live)
            found = right_answers(list(live.values()), [step], dialect)[0]
            answers.append(tuple(places[place] for place in found))
            continue
        answers.append(())
    return answers


@dataclass(slots=True)
class Examination:
    """The result of asking a target one round."""

    cases: int
    """(pattern, key) pairs that were asked; 0 if nothing was."""
    steps: Sequence[Step] = ()
    """The keys that were asked, and the changes of the set between them."""
    found: list[Disagreement] = field(default_factory=list)
    limited: bool = False
    """Whether the target refused this for a limit that it states, so that there is nothing to compare."""
    ours: list[int] = field(default_factory=list)
    """Positions of the keys at which our own engine differs from the specification."""

    @property
    def keys(self) -> int:
        """How many keys were asked."""
        return sum(isinstance(step, str) for step in self.steps)


class Judge:
    """Decides about answers in one dialect."""

    def __init__(self, language: Language, ends: float = math.inf) -> None:
        """``ends`` is the time, of the monotonic clock, after which nothing more is to be asked."""
        self.language, self.dialect, self._ends = language, language.dialect, ends
        self._without_kernels = "trie" if engine_info("trie").speaks(language.dialect) else "naive"
        self.engine = "dfa" if kernels_kept() else self._without_kernels
        """The engine of ours that answers large rounds: one that is not compiled where compiling would take a minute, or where
        there is no time to load what is compiled."""

    @once
    def _engine(self) -> EngineTarget:
        if self._hurried:
            self.engine = self._without_kernels
        return EngineTarget(self.engine, self.dialect)  # it is loaded when it is needed, as that takes a second

    @property
    def _hurried(self) -> bool:
        return self._ends - time.monotonic() < _HURRIED

    def right(self, patterns: Sequence[str], keys: Sequence[str]) -> Answers:
        """Return the specification's answers, as :func:`right_answers`."""
        return right_answers(patterns, keys, self.dialect)

    def expected(self, patterns: Sequence[str], keys: Sequence[str]) -> tuple[Answers, list[int]]:
        """Return the answers, and the positions of the keys at which our own engine was found to be wrong."""
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
        """Return in how many ways the pattern's wildcards for several words can share the key's words."""
        language = self.language
        manies = sum(pattern.count(word) for word in (language.many, language.some) if word)
        return math.comb(key.count(language.separator) + 1 + manies, manies)

    def examine(
        self, subject: Subject, patterns: Sequence[str], steps: Sequence[Step], *, exactly: bool = False
    ) -> Examination:
        """Ask a chapter of a target and compare; ``exactly`` has the specification alone decide, whatever the size.

        Where a pattern is invalid, all that counts is whether the target refuses it.
        """
        bad = next((place for place, pattern in enumerate(patterns) if invalid_pattern(pattern, self.dialect)), None)
        if bad is not None:
            return self._refusal(subject, patterns, [step for step in steps if isinstance(step, str)], bad)
        if not subject.manners.keys:
            steps = [step for step in steps if not isinstance(step, str) or askable(step, self.language)]
        result = Examination(cases=0, steps=steps)
        if not result.keys:
            return result
        result.cases = len(patterns) * result.keys
        answered = subject.ask(patterns, steps, self.language)
        result.limited = subject.limited
        if isinstance(answered, Disagreement):
            result.found.append(answered)
            return result
        if result.keys < len(steps):
            right = right_through(patterns, steps, self.dialect)
        else:
            keys = [step for step in steps if isinstance(step, str)]
            right, result.ours = (self.right(patterns, keys), []) if exactly else self.expected(patterns, keys)
            if answered == right:
                return result
        for number, (theirs, ours) in enumerate(zip(answered, right, strict=True)):
            if theirs == ours or theirs is None:
                continue
            truth = set(ours)
            if result.keys == len(steps) and result.cases > _SMALL:
                truth = set(self.right(patterns, [str(steps[number])])[0])
            if truth != set(ours):
                result.ours.append(number)
            for place in sorted(truth - set(theirs)):
                result.found.append(Disagreement(kind=Kind.MISSES, pattern=place, key=number, answered=theirs))
            for place in sorted(set(theirs) - truth):
                result.found.append(Disagreement(kind=Kind.MATCHES, pattern=place, key=number, answered=theirs))
        return result

    def swiftly(self, case: Case) -> tuple[int, ...]:
        """Return the automaton's answer to a case for which the specification would take too long."""
        return self._engine.answer(case.patterns, [case.key])[0]

    def right_of(self, case: Case) -> tuple[int, ...]:
        """Return the specification's answer to the key of a case."""
        return right_through(case.patterns, (*case.before, case.key), self.dialect)[-1]

    def _refusal(self, subject: Subject, patterns: Sequence[str], keys: Sequence[str], bad: int) -> Examination:
        """Ask a round whose pattern ``bad`` is invalid: a target that checks patterns must refuse it."""
        if not subject.manners.patterns:
            return Examination(cases=0)
        result = Examination(cases=len(patterns), steps=keys)
        try:
            answer = subject.tell(patterns, keys)
        except Refused as refusal:
            result.limited = refusal.limit
            return result
        except TargetFailure as failure:
            if failure.kind != "raised":
                result.found.append(Disagreement(kind=Kind.FAILS, detail=failure.reason, about=failure.kind))
            return result
        reason = invalid_pattern(patterns[bad], self.dialect) or ""
        detail = f"it took it, and answered {[list(positions) for positions in answer]}"
        result.found.append(Disagreement(kind=Kind.ACCEPTS, pattern=bad, detail=detail, about=skeleton(reason)))
        return result

    def verdicts(self, case: Case) -> tuple[tuple[str, str], ...]:
        """Return (name, answer as text) of every engine of ours that speaks the dialect, and need not be compiled first.

        Near the end those are left out whose kernels take a second to load.
        """
        hurried = self._hurried
        live = [place for place in range(len(case.table)) if place not in case.gone]
        patterns = [case.table[place] for place in live]
        said = []
        for name in engines():
            if engine_info(name).speaks(self.dialect) and (
                name not in _COMPILED or (self.engine == "dfa" and not hurried)
            ):
                try:
                    found = EngineTarget(name, self.dialect).answer(patterns, [case.key])[0]
                    answer = str([live[place] for place in found])
                except Refused as refusal:
                    answer = f"refuses: {refusal}"
                except RouterError as error:  # a limit of that engine, which is no fault
                    answer = f"cannot tell: {error}"
                said.append((name, answer))
        return tuple(said)
