"""From the disagreement that a campaign met to the simplest case that shows one of its kind.

First everything that can be left out is left out, greedily: bindings, keys, words of patterns and key, alone and
together, then letters of words. The simplest candidate that still shows the disagreement is taken, until none does. Then
:mod:`dfa_router.fuzz.shrinking.search` tries all smaller cases that the result's own words can make.

A case counts only if a target that was started anew shows it. Where the set and the key alone do not, what the target was
told before is gone through again, and the shortest history is looked for (:mod:`dfa_router.fuzz.shrinking.history`).

Calls are counted and not timed, so that a deterministic target is shrunk to the same case everywhere. Only a target that
takes seconds for an answer is stopped by the clock, and the finding says so. A disagreement that does not come back is
*flaky*: it is reported as it was met.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from dfa_router.fuzz.findings import Case, Disagreement, Kind
from dfa_router.fuzz.judging.judge import Judge
from dfa_router.fuzz.judging.manners import Manners
from dfa_router.fuzz.shrinking.history import fewer, shorter_history
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.fuzz.shrinking.search import search
from dfa_router.target import Chapter, Step, Target, bound

__all__ = ["Met", "Shrunk", "shrink"]

_CALLS = 4000
"""Calls of the target that greedy deletion may take; it takes tens to hundreds."""
_STARTS = 1500
"""Cases that may be tried with a target that is started anew for each; a history takes a hundred or two."""
_REPEATS = 3
"""Times in a row that a minimal case must show the disagreement to count as repeatable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A minimal case, and how it was reached."""

    case: Case
    flaky: bool = False
    """Whether the disagreement does not show every time, or, if shrinking is not complete, had no time to show again."""
    complete: bool = True
    """Whether shrinking ended by itself; else a smaller case may exist."""
    fresh: bool = True
    """Whether a target that was started anew showed it; False where a target cannot be."""
    interrupted: bool = False
    """Whether Ctrl-C ended the shrinking; the caller keeps the case and then raises KeyboardInterrupt again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What a target had been told when it disagreed."""

    patterns: Sequence[str]
    steps: Sequence[Step]
    """What it was asked and told of this set, all at once."""
    round: Sequence[Chapter] = ()
    """The sets of the same round before."""
    told: Sequence[Chapter] = ()
    """Everything before, since the target was started."""


def shrink(
    target: Target,
    judge: Judge,
    disagreement: Disagreement,
    patterns: Sequence[str],
    steps: Sequence[Step],
    *,
    met: Met | None = None,
    manners: Manners | None = None,
    known: Container[Case] = (),
    histories: bool = True,
    seconds: float = 30.0,
) -> Shrunk:
    """Return the simplest case that shows a disagreement of the same kind.

    ``patterns`` and ``steps`` are what the target was asked when it disagreed, ``met`` what it had been told before. A case
    that is ``known`` was seen to come back, and is not tried again in a process of its own. After ``seconds`` a slow target is
    not asked any more. Without ``histories`` a case that needs one is called flaky.
    """
    manners = Manners(patterns=True, keys=True) if manners is None else manners
    probe = Probe(target, judge, disagreement, time.monotonic() + seconds, manners)
    probe.allow(_CALLS)
    met = Met(patterns=patterns, steps=steps) if met is None else met
    best = _as_met(disagreement, met)
    try:
        shrunk = _without_history(probe, disagreement, met, known)
        if shrunk is None and not histories:
            return Shrunk(case=best, flaky=True, fresh=probe.restarts)
        return shrunk if shrunk is not None else _with_history(probe, disagreement, met)
    except KeyboardInterrupt:
        return Shrunk(case=probe.best or best, complete=False, interrupted=True)


def _without_history(probe: Probe, disagreement: Disagreement, met: Met, known: Container[Case]) -> Shrunk | None:
    """Shrink a case that shows it as it is, in the process that runs; None if a new process does not show the result.

    Starting a process takes longer than all the calls, so this is tried first, with one start.
    """
    if met.told and disagreement.kind is Kind.FAILS and disagreement.about != "raised":
        return None  # the process that runs is another one by now
    try:
        start = next((case for case in _starts(disagreement, met) if not case.stateful and probe.shows(case)), None)
    except StoppedError:
        start = None
    if start is None:
        return None
    best, complete = start, True
    try:
        best = search(probe, _greedy(probe, start))
    except StoppedError:
        best, complete = probe.best or start, False
    if best in known or _repeats(probe, best):
        return Shrunk(case=best, complete=complete, fresh=probe.restarts)
    return None


def _with_history(probe: Probe, disagreement: Disagreement, met: Met) -> Shrunk:
    """Shrink with a process that is started anew for each case."""
    probe.allow(_CALLS)
    try:
        start = _isolated(probe, disagreement, met)
    except StoppedError:
        return Shrunk(case=_as_met(disagreement, met), flaky=True, complete=False, fresh=probe.restarts)
    if start is None:
        return Shrunk(case=_as_met(disagreement, met), flaky=True, fresh=probe.restarts)
    best, complete = start, True
    try:
        best = _least(probe, start)
    except StoppedError:
        best, complete = probe.best or start, False
    flaky = not _repeats(probe, best)
    if flaky and best != start and _repeats(probe, start):  # cases that were tried before have spoilt the answers
        best, flaky, complete = start, False, False
    return Shrunk(case=best, flaky=flaky, complete=complete or flaky, fresh=probe.restarts)


def _as_met(disagreement: Disagreement, met: Met) -> Case:
    """Return the case as far as it is known: of a failure, the first key that may have caused it."""
    keys = [number for number, step in enumerate(met.steps) if isinstance(step, str)]
    likely = _suspected(disagreement, met) + (keys[-1:] if len(keys) < len(met.steps) else keys[:1])
    number = disagreement.key if disagreement.key is not None else next(iter(likely), None)
    key = met.steps[number] if number is not None else ""
    changes = tuple(step for step in met.steps[: number or 0] if not isinstance(step, str))
    return Case(patterns=tuple(met.patterns), key=str(key), before=changes)


def _least(probe: Probe, start: Case) -> Case:
    """Return the simplest case, which the target shows also if it is started anew."""
    if start.stateful:
        probe.anew = probe.restarts
        probe.allow(_STARTS)
        best = shorter_history(probe, start)
        if best.stateful:
            return best
        start = best
    try:
        best = search(probe, _greedy(probe, start))
        if probe.anew or not probe.restarts or _repeats(probe, best):
            return best
    finally:
        probe.anew = probe.restarts
    probe.allow(_STARTS)
    return _greedy(probe, start)


def _repeats(probe: Probe, case: Case) -> bool:
    """Tell whether the target shows the disagreement every time, started anew for the first of them."""
    probe.allow(_CALLS)
    anew, probe.anew = probe.anew, probe.restarts and case.stateful
    try:
        probe.restart(wholly=True)
        return all(probe.shows(case) for _ in range(_REPEATS))
    except StoppedError:
        return True  # there is no time to ask: what was seen before counts
    finally:
        probe.anew = anew


def _isolated(probe: Probe, disagreement: Disagreement, met: Met) -> Case | None:
    """Return a case of one key that shows the disagreement, or None if none does.

    Tried in turn, each with a target that is started anew: the key with its pattern alone, with all patterns, with what
    was asked and told before it, with the sets of its round before it, and with everything that the target was told.
    Raises :class:`StoppedError`.
    """
    probe.anew = probe.restarts
    try:
        return next((case for case in _starts(disagreement, met) if probe.shows(case)), None)
    finally:
        probe.anew = False


def _starts(disagreement: Disagreement, met: Met) -> Iterator[Case]:
    keys = [number for number, step in enumerate(met.steps) if isinstance(step, str)]
    places = keys if disagreement.key is None else [disagreement.key]
    if not keys and disagreement.pattern is None:
        yield Case(patterns=tuple(met.patterns), key="")
    if disagreement.kind is Kind.FAILS and len(keys) < len(met.steps):
        # It may have failed at a change, which no key shows by itself: of these only the most suspect one is tried first.
        first = _suspected(disagreement, met)[:1]
        yield from _alone(disagreement, met, first)
        yield from _behind(disagreement, met, keys)
        yield from _alone(disagreement, met, [number for number in keys if number not in first])
    else:
        yield from _alone(disagreement, met, places)
        yield from _behind(disagreement, met, places)


def _suspected(disagreement: Disagreement, met: Met) -> list[int]:
    """Return where the key that most likely caused a failure was asked."""
    return [number for number, step in enumerate(met.steps) if step in disagreement.suspects[:1]]


def _alone(disagreement: Disagreement, met: Met, places: Sequence[int]) -> Iterator[Case]:
    """Yield cases of keys without what was asked before them."""
    for number in places:
        table, gone = bound(tuple(met.patterns), tuple(met.steps[:number]))
        key = str(met.steps[number])
        if disagreement.pattern is not None and disagreement.pattern < len(table):
            yield Case(patterns=(table[disagreement.pattern],), key=key)
        live = tuple(pattern for place, pattern in enumerate(table) if place not in gone)
        if live or disagreement.kind in (Kind.REFUSES, Kind.FAILS):  # no patterns are none to miss, nor to name
            yield Case(patterns=live, key=key)


def _behind(disagreement: Disagreement, met: Met, places: Sequence[int]) -> Iterator[Case]:
    """Yield cases of the last key with what was asked and told before it."""
    patterns, steps = tuple(met.patterns), tuple(met.steps)
    for number in places[-1:]:
        before, key = steps[:number], str(steps[number])
        if before:
            yield Case(patterns=patterns, key=key, before=before)
        unchanged = all(isinstance(step, str) for step in steps)
        if unchanged and len(steps) > 1 and number < len(steps) - 1 and disagreement.key is not None:
            # Later keys of the batch may matter too, so this key is asked after all others.
            yield Case(patterns=patterns, key=key, before=(*before, *steps[number + 1 :]))
        for earlier in (tuple(met.round), tuple(met.told)):
            if earlier:
                yield Case(patterns=patterns, key=key, before=before, earlier=earlier)


def _greedy(probe: Probe, case: Case) -> Case:
    """Return a case that shows the disagreement, of which nothing can be left out."""
    probe.best = case

    def only(kept: Sequence[int]) -> Case:
        return Case(patterns=tuple(case.patterns[place] for place in kept), key=case.key)

    def shows(kept: Sequence[int]) -> bool:
        candidate = only(kept)
        if not candidate.patterns or not probe.shows(candidate):
            return False
        probe.best = candidate
        return True

    best = only(fewer(len(case.patterns), shows))
    while True:
        better = probe.simplest(best, smaller_cases(best, probe.language))
        if better is None:
            return best
        best = probe.best = better
