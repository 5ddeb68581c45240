"""From the disagreement that a campaign met to the simplest case that shows one of its kind.

First everything that can be left out is left out, greedily: bindings, keys, words of patterns and key, alone and
together, then letters of words. The simplest candidate that still shows the disagreement is taken, until none does. Then
:mod:`dfa_router.fuzz.shrinking.search` tries all smaller cases that the result's own words can make.

Calls are counted and not timed, so that a deterministic target is shrunk to the same case everywhere. Only a target that
takes seconds for an answer is stopped by the clock, and the finding says so. A disagreement that does not come back is
*flaky*: it is reported as it was met.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dfa_router.fuzz.findings import Case, Disagreement
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.fuzz.shrinking.search import search
from dfa_router.target import Target

__all__ = ["Shrunk", "shrink"]

_CALLS = 4000
"""Calls of the target that greedy deletion may take; it takes tens to hundreds."""
_REPEATS = 3
"""Times in a row that a minimal case must show the disagreement to count as repeatable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A minimal case, and how it was reached."""

    case: Case
    flaky: bool = False
    """Whether the disagreement does not show every time."""
    complete: bool = True
    """Whether shrinking ended by itself; else a smaller case may exist."""
    interrupted: bool = False
    """Whether Ctrl-C ended the shrinking; the caller keeps the case and then raises KeyboardInterrupt again."""


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

    ``patterns`` and ``keys`` are what the target was asked when it disagreed. After ``seconds`` a slow target is not
    asked any more.
    """
    probe = Probe(target, judge, disagreement, time.monotonic() + seconds)
    probe.allow(_CALLS)
    key = keys[disagreement.key] if disagreement.key is not None else keys[0] if keys else ""
    met = Case(patterns=tuple(patterns), key=key)
    try:
        start = _isolated(probe, disagreement, patterns, keys)
        if start is None:
            return Shrunk(case=met, flaky=True)
        best, complete = start, True
        try:
            best = _greedy(probe, start)
        except StoppedError:
            best, complete = probe.best or start, False
        if complete:
            best = search(probe, best)
        probe.unlimited()
        flaky = not all(probe.shows(best) for _ in range(_REPEATS))
    except KeyboardInterrupt:
        return Shrunk(case=probe.best or met, complete=False, interrupted=True)
    return Shrunk(case=best, flaky=flaky, complete=complete)


def _isolated(probe: Probe, disagreement: Disagreement, patterns: Sequence[str], keys: Sequence[str]) -> Case | None:
    """Return a case of one key that shows the disagreement, or None if none does.

    Tried in turn: the key with its pattern alone, with all patterns, and with the other keys asked before it as well.
    """
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
            # Later keys of the batch may matter too, so this key is asked after all others.
            others = (*keys[: disagreement.key], *keys[disagreement.key + 1 :])
            case = Case(patterns=tuple(patterns), key=keys[disagreement.key], before=others)
            if probe.shows(case):
                return case
        if place is None and not keys:
            case = Case(patterns=tuple(patterns), key="")
            return case if probe.shows(case) else None
    except StoppedError:
        return None
    return None


def _greedy(probe: Probe, case: Case) -> Case:
    """Return a case that shows the disagreement, of which nothing can be left out."""
    probe.best = case
    case = _fewer(probe, case, len(case.before), lambda kept: _with(case, before=tuple(case.before[i] for i in kept)))
    start = case
    case = _fewer(
        probe, case, len(case.patterns), lambda kept: _with(start, patterns=tuple(start.patterns[i] for i in kept))
    )
    while True:
        better = probe.simplest(case, smaller_cases(case, probe.language))
        if better is None:
            return case
        case = probe.best = better


def _with(case: Case, *, patterns: tuple[str, ...] | None = None, before: tuple[str, ...] | None = None) -> Case:
    return Case(
        patterns=case.patterns if patterns is None else patterns,
        key=case.key,
        before=case.before if before is None else before,
    )


def _fewer(probe: Probe, case: Case, count: int, build: Callable[[Sequence[int]], Case]) -> Case:
    """Leave out runs of bindings or of keys asked before, long runs first (delta debugging, Zeller 1999).

    ``build`` makes the case of which only the listed positions, out of ``count``, are kept.
    """
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
