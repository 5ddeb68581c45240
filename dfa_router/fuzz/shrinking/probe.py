"""Asks a target whether cases still show the disagreement that is being shrunk, within a budget of calls and time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from dfa_router.fuzz.findings import Case, Disagreement, Kind, rank
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import refused_what, skeleton
from dfa_router.fuzz.validity import invalid_key, invalid_pattern
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["Probe", "StoppedError"]


class StoppedError(Exception):
    """The budget is used up."""


class Probe:
    """Asks a target whether cases show one disagreement, and counts the calls."""

    def __init__(self, target: Target, judge: Judge, disagreement: Disagreement, deadline: float) -> None:
        """Take a target, and the time (of the monotonic clock) after which it is not asked any more."""
        self.target, self.judge, self.kind, self.about = target, judge, disagreement.kind, disagreement.about
        self.language, self.dialect = judge.language, judge.dialect
        self.best: Case | None = None
        """The simplest case so far that shows the disagreement, set by whoever shrinks."""
        self._calls_left, self._deadline = float("inf"), deadline

    def allow(self, calls: int) -> None:
        """Let the target be called this many times from now on."""
        self._calls_left = calls

    def unlimited(self) -> None:
        """Let the target be called as often and as long as one likes."""
        self._calls_left = self._deadline = float("inf")

    def shows(self, case: Case) -> bool:
        """Tell whether a case shows the disagreement."""
        return self.first(case.patterns, case.before, [case.key]) is not None

    def allowed(self, case: Case, like: Case) -> bool:
        """Tell whether a case may take the place of another: it must be as valid, or invalid for the same reason."""
        dialect = self.dialect
        if self.kind is Kind.ACCEPTS:
            reason = invalid_pattern(case.patterns[0], dialect) if len(case.patterns) == 1 else None
            return reason is not None and skeleton(reason) == self.about
        if any(invalid_pattern(pattern, dialect) is not None for pattern in case.patterns):
            return False
        return invalid_key(case.key, dialect) is None or invalid_key(like.key, dialect) is not None

    def first(self, patterns: Sequence[str], before: Sequence[str], keys: Sequence[str]) -> int | None:
        """Return the position of the first key that shows the disagreement, or None.

        ``before`` is asked before each key. Keys are asked in one call where the kind of disagreement allows that.
        """
        if self.kind in (Kind.MISSES, Kind.MATCHES) and not before and len(keys) > 1:
            try:
                answers = self._ask(patterns, keys)
            except (Refused, TargetFailure):
                return self._one_by_one(patterns, before, keys)
            wrong = (number for number, key in enumerate(keys) if self._differs(patterns, key, answers[number]))
            return next(wrong, None)
        return self._one_by_one(patterns, before, keys)

    def _one_by_one(self, patterns: Sequence[str], before: Sequence[str], keys: Sequence[str]) -> int | None:
        for number, key in enumerate(keys):
            try:
                answers = self._ask(patterns, [*before, key])
            except Refused as refusal:
                if self.kind is Kind.REFUSES and refused_what(refusal) == self.about:
                    return number
            except TargetFailure as failure:
                if self.kind is Kind.FAILS and failure.kind == self.about:
                    return number
            else:
                if self.kind is Kind.ACCEPTS:
                    return number
                if len(answers) != len(before) + 1:
                    if self.kind is Kind.FAILS and self.about == "nonsense":
                        return number
                elif self.kind in (Kind.MISSES, Kind.MATCHES) and self._differs(patterns, key, answers[-1]):
                    return number
        return None

    def _ask(self, patterns: Sequence[str], keys: Sequence[str]) -> Sequence[tuple[int, ...]]:
        self._calls_left -= 1
        if self._calls_left < 0 or time.monotonic() > self._deadline:
            raise StoppedError
        return self.target.answer(patterns, keys)

    def _differs(self, patterns: Sequence[str], key: str, theirs: tuple[int, ...]) -> bool:
        right = self.judge.right(patterns, [key])[0]
        one, other = (right, theirs) if self.kind is Kind.MISSES else (theirs, right)
        return not set(one) <= set(other)

    def simplest(self, case: Case, candidates: Iterator[Case]) -> Case | None:
        """Return a candidate that shows the disagreement and is simpler than the case, or None.

        Candidates with the same patterns are asked in one call, as a call costs more than a key. Such groups are tried in
        the order of their simplest candidates, so the result is often, and not always, the simplest that there is.
        """
        now = rank(case, self.dialect)
        groups: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, tuple[object, ...]]] = {}
        for candidate in candidates:
            place = rank(candidate, self.dialect)
            if place < now and self.allowed(candidate, case):
                groups.setdefault((candidate.patterns, candidate.before), {})[candidate.key] = place
        ordered = sorted(groups.items(), key=lambda entry: min(entry[1].values()))
        for (patterns, before), places in ordered:
            keys = sorted(places, key=lambda key: places[key])
            hit = self.first(patterns, before, keys)
            if hit is not None:
                return Case(patterns=patterns, key=keys[hit], before=before)
        return None
