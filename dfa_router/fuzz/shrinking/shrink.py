"""From the disagreement that a campaign met to the simplest case that shows one of its kind.

First whatever can be left out is left out, greedily: bindings, keys, words of patterns and key, alone and together,
then letters of words; the simplest candidate that still shows the disagreement is taken, until none does. Then all
cases smaller than the result are tried that can be made of its own words, layer by layer, as far as a budget allows:
deletion alone stays where two words have to change at once.

Steps are counted and not timed, so that a deterministic target is shrunk to the same case everywhere; only a target
that takes seconds for an answer meets the clock, and the finding says so. A disagreement that does not come back is
*flaky*: it is reported as it was met.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dfa_router.fuzz.findings import Case, Disagreement, Kind, rank
from dfa_router.fuzz.generating.language import language_of
from dfa_router.fuzz.generating.rounds import invalid_key, invalid_pattern
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import refused_what, skeleton
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.target import Refused, Target, TargetFailure

__all__ = ["Shrunk", "shrink"]

_GREEDY_ASKS = 4000
"""Calls of the target that greedy deletion may take; it takes tens to hundreds."""
_SEARCH_ASKS, _SEARCH_CASES = 1500, 20_000
"""Calls and cases that the search of smaller cases may take."""
_REPEATS = 3
"""How often a minimal case must show itself to count as repeatable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A minimal case, and how it was reached."""

    case: Case
    flaky: bool = False
    complete: bool = True
    interrupted: bool = False
    """Whether Ctrl-C ended the shrinking; whoever keeps the case passes it on."""


class _StoppedError(Exception):
    """The budget is used up."""


def shrink(
    target: Target,
    judge: Judge,
    disagreement: Disagreement,
    patterns: Sequence[str],
    keys: Sequence[str],
    *,
    seconds: float = 30.0,
) -> Shrunk:
    """Return the simplest case that shows a disagreement of the same kind.

    ``patterns`` and ``keys`` are what the target was asked when it disagreed. ``seconds`` bounds the time that a slow
    target may take.
    """
    probe = _Probe(target, judge, disagreement, time.monotonic() + seconds)
    key = keys[disagreement.key] if disagreement.key is not None else keys[0] if keys else ""
    met = Case(patterns=tuple(patterns), key=key)
    try:
        start = _isolated(probe, disagreement, patterns, keys)
        if start is None:
            return Shrunk(case=met, flaky=True)
        best, complete = start, True
        try:
            best = _greedy(probe, start)
        except _StoppedError:
            best, complete = probe.best or start, False
        if complete:
            best = _searched(probe, best)
        probe.unlimited()
        flaky = not all(probe.shows(best) for _ in range(_REPEATS))
    except KeyboardInterrupt:
        return Shrunk(case=probe.best or met, complete=False, interrupted=True)
    return Shrunk(case=best, flaky=flaky, complete=complete)


class _Probe:
    """Asks a target whether cases show the disagreement, and counts."""

    def __init__(self, target: Target, judge: Judge, disagreement: Disagreement, deadline: float) -> None:
        self.target, self.judge, self.kind, self.about = target, judge, disagreement.kind, disagreement.about
        self.dialect = judge.dialect
        self.asks, self.limit, self.deadline = 0, _GREEDY_ASKS, deadline
        self.best: Case | None = None

    def unlimited(self) -> None:
        self.limit, self.deadline = 1 << 60, float("inf")

    def shows(self, case: Case) -> bool:
        """Tell whether one case shows it."""
        return self.first(case.patterns, case.before, [case.key]) is not None

    def allowed(self, case: Case, like: Case) -> bool:
        """Tell whether a case is as valid as another one."""
        dialect = self.dialect
        if self.kind is Kind.ACCEPTS:
            reason = invalid_pattern(case.patterns[0], dialect) if len(case.patterns) == 1 else None
            return reason is not None and skeleton(reason) == self.about
        if any(invalid_pattern(pattern, dialect) is not None for pattern in case.patterns):
            return False
        return invalid_key(case.key, dialect) is None or invalid_key(like.key, dialect) is not None

    def first(self, patterns: Sequence[str], before: Sequence[str], keys: Sequence[str]) -> int | None:
        """Return the position of the first of the keys that shows it."""
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
        self.asks += 1
        if self.asks > self.limit or time.monotonic() > self.deadline:
            raise _StoppedError
        return self.target.answer(patterns, keys)

    def _differs(self, patterns: Sequence[str], key: str, theirs: tuple[int, ...]) -> bool:
        right = self.judge.right(patterns, [key])[0]
        one, other = (right, theirs) if self.kind is Kind.MISSES else (theirs, right)
        return not set(one) <= set(other)


def _isolated(probe: _Probe, disagreement: Disagreement, patterns: Sequence[str], keys: Sequence[str]) -> Case | None:
    """Return one key and, as few as a first look allows, the patterns and earlier keys that it needs."""
    places = range(len(keys)) if disagreement.key is None else [disagreement.key]
    place = disagreement.pattern
    try:
        for number in places:
            if place is not None:
                alone = Case(patterns=(patterns[place],), key=keys[number])
                if probe.shows(alone):
                    return alone
            case = Case(patterns=tuple(patterns), key=keys[number])
            if probe.shows(case):
                return case
        last = Case(patterns=tuple(patterns), key=keys[places[-1]], before=tuple(keys[: places[-1]])) if keys else None
        if last is not None and probe.shows(last):
            return last
        if keys and len(keys) > 1 and disagreement.key is not None and disagreement.key < len(keys) - 1:
            # Keys behind it in the batch may matter too: it is then asked last, after all of them.
            others = (*keys[: disagreement.key], *keys[disagreement.key + 1 :])
            case = Case(patterns=tuple(patterns), key=keys[disagreement.key], before=others)
            if probe.shows(case):
                return case
        if place is None and not keys:
            case = Case(patterns=tuple(patterns), key="")
            return case if probe.shows(case) else None
    except _StoppedError:
        return None
    return None


def _greedy(probe: _Probe, case: Case) -> Case:
    """Return a case of which nothing can be left out."""
    probe.best = case
    case = _fewer(probe, case, len(case.before), lambda kept: _with(case, before=tuple(case.before[i] for i in kept)))
    start = case
    case = _fewer(
        probe, case, len(case.patterns), lambda kept: _with(start, patterns=tuple(start.patterns[i] for i in kept))
    )
    while True:
        better = _best_of(probe, case, smaller_cases(case, probe.dialect))
        if better is None:
            return case
        case = probe.best = better


def _with(case: Case, *, patterns: tuple[str, ...] | None = None, before: tuple[str, ...] | None = None) -> Case:
    return Case(
        patterns=case.patterns if patterns is None else patterns,
        key=case.key,
        before=case.before if before is None else before,
    )


def _fewer(probe: _Probe, case: Case, count: int, build: Callable[[Sequence[int]], Case]) -> Case:
    """Leave out runs of bindings or keys, long runs first (delta debugging, Zeller 1999)."""
    kept = list(range(count))
    run = max(1, count // 2)
    while kept:
        place, dropped = 0, False
        while place < len(kept):
            fewer = kept[:place] + kept[place + run :]
            candidate = build(fewer)
            if candidate.patterns and probe.shows(candidate):
                kept, case, dropped = fewer, candidate, True
                probe.best = case
            else:
                place += run
        if run == 1 and not dropped:
            break
        run = max(1, run // 2)
    return case


def _best_of(probe: _Probe, case: Case, candidates: Iterator[Case]) -> Case | None:
    """Return the first candidate that shows the disagreement, of those that are simpler than the case.

    Candidates of the same patterns are asked together, as a call costs more than a key.
    """
    now = rank(case, probe.dialect)
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, tuple[object, ...]]] = {}
    for candidate in candidates:
        place = rank(candidate, probe.dialect)
        if place < now and probe.allowed(candidate, case):
            groups.setdefault((candidate.patterns, candidate.before), {})[candidate.key] = place
    ordered = sorted(groups.items(), key=lambda entry: min(entry[1].values()))
    for (patterns, before), places in ordered:
        keys = sorted(places, key=lambda key: places[key])
        hit = probe.first(patterns, before, keys)
        if hit is not None:
            return Case(patterns=patterns, key=keys[hit], before=before)
    return None


def _searched(probe: _Probe, case: Case) -> Case:
    """Return the simplest case made of the case's own words and ``a``, as far as the budget goes."""
    if case.before:
        return case
    separator = probe.dialect.separator.decode()
    wild = set(language_of(probe.dialect).wildcards)
    spelt = {word for text in (*case.patterns, case.key) if text for word in text.split(separator)} | {"a"}
    tokens, words = sorted(spelt), sorted((spelt - wild) | {word for word in case.key.split(separator) if case.key})
    total = rank(case, probe.dialect)[2]
    probe.asks, probe.limit = 0, _SEARCH_ASKS
    left = _SEARCH_CASES
    best = case
    try:
        for bindings in range(1, len(case.patterns) + 1):
            for count in range(total + 1 if bindings == len(case.patterns) else total):
                layer = list(_layer(bindings, count))
                cost = sum(len(tokens) ** sum(split[:-1]) * len(words) ** split[-1] for split in layer)
                left -= cost
                if left < 0:
                    break
                found = _best_of(probe, best, _layer_cases(layer, tokens, words, separator))
                if found is not None:
                    best = found
                    break
            if rank(best, probe.dialect)[0] == bindings and best is not case:
                break
    except _StoppedError:
        pass  # the greedy result stands: the search is for what greed cannot reach, and has a bound by design
    return best


def _layer(bindings: int, count: int) -> Iterator[tuple[int, ...]]:
    """Return the ways to share ``count`` words out among so many patterns and a key."""
    for parts in itertools.product(range(count + 1), repeat=bindings):
        if sum(parts) <= count:
            yield (*parts, count - sum(parts))


def _layer_cases(
    layer: Sequence[tuple[int, ...]], tokens: Sequence[str], words: Sequence[str], separator: str
) -> Iterator[Case]:
    for *lengths, length in layer:
        choices = [[separator.join(made) for made in itertools.product(tokens, repeat=n)] for n in lengths]
        keys = [separator.join(made) for made in itertools.product(words, repeat=length)]
        for patterns in itertools.product(*choices):
            for key in keys:
                yield Case(patterns=patterns, key=key)
