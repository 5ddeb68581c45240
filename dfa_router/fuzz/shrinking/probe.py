"""Asks a target whether cases still show the disagreement that is being shrunk, within a budget of calls and time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from dfa_router.fuzz.findings import Case, Disagreement, Kind, Rank, rank
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners, askable, refused_what, skeleton
from dfa_router.fuzz.judging.subject import played
from dfa_router.fuzz.validity import invalid_key, invalid_pattern
from dfa_router.target import Answers, Bind, Chapter, OutOfTimeError, Refused, Step, Target, TargetFailure

__all__ = ["Probe", "StoppedError"]


class StoppedError(Exception):
    """The budget is used up."""


class Probe:
    """Asks a target whether cases show one disagreement, and counts the calls."""

    def __init__(
        self, target: Target, judge: Judge, disagreement: Disagreement, deadline: float, manners: Manners
    ) -> None:
        """Take a target, and the time (of the monotonic clock) after which it is not asked any more."""
        self.target, self.judge, self.kind, self.about = target, judge, disagreement.kind, disagreement.about
        self.language, self.dialect, self.manners = judge.language, judge.dialect, manners
        self.best: Case | None = None
        """The simplest case so far that shows the disagreement, set by whoever shrinks."""
        self.anew = False
        """Whether the target is started anew before each case, as its answers depend on what it was told before."""
        self.restarts = hasattr(target, "restart")
        """Whether it can be."""
        self._calls_left, self._deadline = float("inf"), deadline

    def allow(self, calls: int) -> None:
        """Let the target be called this many times from now on."""
        self._calls_left = calls

    def restart(self, *, wholly: bool = False) -> None:
        """Start the target anew, where that can be done."""
        if self.restarts:
            self.target.restart(wholly=wholly)  # type: ignore[attr-defined]

    def shows(self, case: Case) -> bool:
        """Tell whether a case shows the disagreement."""
        return self.first(case.patterns, case.before, [case.key], case.earlier) is not None

    def right(self, case: Case) -> bool:
        """Tell whether the target answers a case without a history right."""
        try:
            return self._ask(case.patterns, [case.key]) == [self.judge.right_of(case)]
        except (Refused, TargetFailure):
            return False

    def wrong_pairs(self, patterns: Sequence[str], keys: Sequence[str]) -> set[tuple[int, int]]:
        """Return (pattern, key) of the pairs that the target answers wrong: all of them if it refuses or fails at one."""
        try:
            told = self._ask(patterns, keys)
        except (Refused, TargetFailure):
            return {(place, number) for place in range(len(patterns)) for number in range(len(keys))}
        right = self.judge.right(patterns, keys)
        return {
            (place, number)
            for number, (theirs, ours) in enumerate(zip(told, right, strict=True))
            for place in set(theirs) ^ set(ours)
        }

    def sides(self, patterns: Sequence[str], keys: Sequence[str]) -> set[Kind]:
        """Return in which ways the target answers some pairs wrong: it misses, or it matches falsely."""
        found = set()
        for theirs, ours in zip(self._ask(patterns, keys), self.judge.right(patterns, keys), strict=True):
            found |= {Kind.MISSES} if set(ours) - set(theirs) else set()
            found |= {Kind.MATCHES} if set(theirs) - set(ours) else set()
        return found

    def allowed(self, case: Case, like: Case) -> bool:
        """Tell whether a case may take the place of another: it must be as valid, and something that may be asked."""
        dialect, scope = self.dialect, self.manners.scope
        if self.kind is Kind.ACCEPTS:
            reason = invalid_pattern(case.patterns[0], dialect) if len(case.patterns) == 1 else None
            return reason is not None and skeleton(reason) == self.about
        told = (Chapter(case.patterns, (*case.before, case.key)), *case.earlier)
        patterns = {pattern for one in told for pattern in (*one.patterns, *_joined(one.steps))}
        if any(
            invalid_pattern(pattern, dialect) is not None or not scope.takes_pattern(pattern, self.language)
            for pattern in patterns
        ):
            return False
        asked = {step for one in told for step in one.steps if isinstance(step, str)}
        if not all(scope.takes(key, self.language) for key in asked):
            return False
        return all(self._askable(key, like.key) for key in asked)

    def _askable(self, key: str, like: str) -> bool:
        """Tell whether a key may be asked in the place of another: one that is invalid only for the same reason."""
        problem = invalid_key(key, self.dialect)
        if problem is None:
            return True
        other = invalid_key(like, self.dialect)
        if other is None or skeleton(problem) != skeleton(other):
            return False
        return self.manners.keys or askable(key, self.language)

    def first(
        self,
        patterns: Sequence[str],
        before: Sequence[Step],
        keys: Sequence[str],
        earlier: Sequence[Chapter] = (),
    ) -> int | None:
        """Return the position of the first key that shows the disagreement, or None.

        ``earlier`` and ``before`` are gone through before each key. Keys are asked in one call where the kind of
        disagreement allows that.
        """
        plain = not before and not earlier and not self.anew
        if self.kind in (Kind.MISSES, Kind.MATCHES) and plain and len(keys) > 1:
            try:
                answers = self._ask(patterns, keys)
            except (Refused, TargetFailure):
                return self._one_by_one(patterns, before, keys, earlier)
            wrong = (
                number
                for number, key in enumerate(keys)
                if self._differs(Case(patterns=tuple(patterns), key=key), answers[number])
            )
            return next(wrong, None)
        return self._one_by_one(patterns, before, keys, earlier)

    def _one_by_one(
        self, patterns: Sequence[str], before: Sequence[Step], keys: Sequence[str], earlier: Sequence[Chapter]
    ) -> int | None:
        wanted = sum(isinstance(step, str) for step in before) + 1
        for number, key in enumerate(keys):
            if self.anew:
                self.restart()
            self._go_through(earlier)
            try:
                answers = self._ask(patterns, [*before, key])
            except Refused as refusal:
                if self.kind is Kind.REFUSES and refused_what(refusal) == self.about and not refusal.limit:
                    return number
            except TargetFailure as failure:
                if self.kind is Kind.FAILS and failure.kind == self.about:
                    return number
            else:
                case = Case(patterns=tuple(patterns), key=key, before=tuple(before))
                if self.kind is Kind.ACCEPTS:
                    return number
                if len(answers) != wanted:
                    if self.kind is Kind.FAILS and self.about == "nonsense":
                        return number
                elif self.kind in (Kind.MISSES, Kind.MATCHES) and self._differs(case, answers[-1]):
                    return number
        return None

    def _go_through(self, earlier: Sequence[Chapter]) -> None:
        """Tell the target what it was told before; what it says to that does not matter."""
        for chapter in earlier:
            try:
                self._ask(chapter.patterns, chapter.steps, counts=False)
            except (Refused, TargetFailure):
                continue

    def _ask(self, patterns: Sequence[str], steps: Sequence[Step], *, counts: bool = True) -> Answers:
        self._calls_left -= counts
        if self._calls_left < 0 or time.monotonic() > self._deadline:
            raise StoppedError
        try:
            return played(self.target, patterns, steps)
        except OutOfTimeError:
            raise StoppedError from None

    def _differs(self, case: Case, theirs: tuple[int, ...]) -> bool:
        right = self.judge.right_of(case)
        one, other = (right, theirs) if self.kind is Kind.MISSES else (theirs, right)
        return not set(one) <= set(other)

    def simplest(self, case: Case, candidates: Iterator[Case]) -> Case | None:
        """Return a candidate that shows the disagreement and is simpler than the case, or None.

        Candidates with the same patterns are asked in one call, as a call costs more than a key. Such groups are tried in
        the order of their simplest candidates, so the result is often, and not always, the simplest that there is.
        """
        now = rank(case, self.dialect)
        groups: dict[tuple[tuple[str, ...], tuple[Step, ...], tuple[Chapter, ...]], dict[str, Rank]] = {}
        for candidate in candidates:
            place = rank(candidate, self.dialect)
            if place < now and self.allowed(candidate, case):
                told = candidate.patterns, candidate.before, candidate.earlier
                groups.setdefault(told, {})[candidate.key] = place
        ordered = sorted(groups.items(), key=lambda entry: min(entry[1].values()))
        for (patterns, before, earlier), places in ordered:
            keys = sorted(places, key=lambda key: places[key])
            hit = self.first(patterns, before, keys, earlier)
            if hit is not None:
                return Case(patterns=patterns, key=keys[hit], before=before, earlier=earlier)
        return None


def _joined(steps: Sequence[Step]) -> list[str]:
    return [step.pattern for step in steps if isinstance(step, Bind)]
