"""A case whose answer depends on what the target was told before: to the shortest history that shows it.

The target is started anew before each try. Left out in turn are sets, then single keys, changes and bindings, long runs
first; then words are made simpler and equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dfa_router.fuzz.findings import Case, rank, spelt
from dfa_router.fuzz.generating.language import Language
from dfa_router.fuzz.shrinking.probe import Probe
from dfa_router.target import Bind, Chapter, Step, Unbind

__all__ = ["fewer", "shorter_history"]


def shorter_history(probe: Probe, case: Case) -> Case:
    """Return a case that shows the disagreement, of whose history nothing can be left out."""
    probe.best = case
    case = _sets(probe, case)
    while True:
        before = case
        case = _joined(probe, case)
        for number in range(len(case.earlier) + 1):
            case = _steps(probe, case, number)
            case = _patterns(probe, case, number)
        case = _sets(probe, _everywhere(probe, case))
        for candidate in _spelt(case, probe.language):
            if rank(candidate, probe.dialect) < rank(case, probe.dialect) and _holds(probe, candidate, case):
                case = probe.best = candidate
        if case == before:
            return case


def fewer(count: int, shows: Callable[[Sequence[int]], bool]) -> list[int]:
    """Return which of ``count`` parts have to stay; long runs are left out first (delta debugging, Zeller 1999).

    ``shows`` is asked about lists of positions that are kept.

    >>> fewer(10, lambda kept: 3 in kept and 7 in kept)
    [3, 7]
    """
    kept = list(range(count))
    run = max(1, count // 2)
    while kept:
        place, dropped = 0, False
        if run == len(kept) and shows([]):
            return []
        while place < len(kept):
            less = kept[:place] + kept[place + run :]
            if shows(less):
                kept, dropped = less, True
            else:
                place += run
        if run == 1 and not dropped:
            break
        run = max(1, run // 2)
    return kept


def _holds(probe: Probe, candidate: Case, case: Case) -> bool:
    if case.table and not candidate.table:
        return False
    if not probe.allowed(candidate, case) or not probe.shows(candidate):
        return False
    probe.best = candidate
    return True


def _sets(probe: Probe, case: Case) -> Case:
    def build(kept: Sequence[int]) -> Case:
        return _with(case, [case.earlier[place] for place in kept])

    if not case.earlier:
        return case
    return build(fewer(len(case.earlier), lambda kept: _holds(probe, build(kept), case)))


def _with(case: Case, earlier: Sequence[Chapter]) -> Case:
    return Case(patterns=case.patterns, key=case.key, before=case.before, earlier=tuple(earlier))


def _joined(probe: Probe, case: Case) -> Case:
    """Try the history without sets of its own: all keys that were asked before, asked of the last set."""
    keys = tuple(step for one in case.earlier for step in one.steps if isinstance(step, str))
    if case.earlier:
        for before in ((*keys, *case.before), case.before):
            candidate = Case(patterns=case.patterns, key=case.key, before=before)
            if _holds(probe, candidate, case):
                return candidate
    return case


def _chapters(case: Case) -> list[Chapter]:
    return [*case.earlier, Chapter(case.patterns, case.before)]


def _built(case: Case, chapters: Sequence[Chapter]) -> Case:
    *earlier, last = chapters
    return Case(patterns=last.patterns, key=case.key, before=last.steps, earlier=tuple(earlier))


def _steps(probe: Probe, case: Case, number: int) -> Case:
    chapters = _chapters(case)
    chapter = chapters[number]

    def build(kept: Sequence[int]) -> Case:
        gone = {place for place in range(len(chapter.steps)) if place not in set(kept)}
        changed = list(chapters)
        changed[number] = _without_steps(chapter, gone)
        return _built(case, changed)

    return build(fewer(len(chapter.steps), lambda kept: _holds(probe, build(kept), case)))


def _patterns(probe: Probe, case: Case, number: int) -> Case:
    chapters = _chapters(case)
    chapter = chapters[number]

    def build(kept: Sequence[int]) -> Case:
        places = {place: new for new, place in enumerate(kept)}
        changed = list(chapters)
        steps = _renumbered(chapter.steps, len(chapter.patterns), places)
        changed[number] = Chapter(tuple(chapter.patterns[place] for place in kept), steps)
        return _built(case, changed)

    return build(fewer(len(chapter.patterns), lambda kept: _holds(probe, build(kept), case)))


def _everywhere(probe: Probe, case: Case) -> Case:
    """Leave out the pattern at one place in every set at once: caches may go by how many there are."""
    place = 0
    while place < max(len(one.patterns) for one in _chapters(case)):
        changed = []
        for one in _chapters(case):
            kept = [number for number in range(len(one.patterns)) if number != place]
            steps = _renumbered(one.steps, len(one.patterns), {number: new for new, number in enumerate(kept)})
            changed.append(Chapter(tuple(one.patterns[number] for number in kept), steps))
        candidate = _built(case, changed)
        if _holds(probe, candidate, case):
            case = candidate
        else:
            place += 1
    return case


def _without_steps(chapter: Chapter, gone: set[int]) -> Chapter:
    """Return the chapter without some steps; a pattern that does not join is not taken out either."""
    places = {place: place for place in range(len(chapter.patterns))}
    old = new = len(chapter.patterns)
    for place, step in enumerate(chapter.steps):
        if isinstance(step, Bind):
            if place not in gone:
                places[old] = new
                new += 1
            old += 1
    steps: list[Step] = []
    for place, step in enumerate(chapter.steps):
        if place in gone:
            continue
        if isinstance(step, Unbind):
            if step.position in places:
                steps.append(Unbind(places[step.position]))
        else:
            steps.append(step)
    return Chapter(chapter.patterns, tuple(steps))


def _renumbered(steps: Sequence[Step], count: int, places: dict[int, int]) -> tuple[Step, ...]:
    """Return the steps for a set of which only some of the ``count`` patterns are left, at new places."""
    lost = count - len(places)
    made: list[Step] = []
    for step in steps:
        if not isinstance(step, Unbind):
            made.append(step)
        elif step.position >= count:
            made.append(Unbind(step.position - lost))
        elif step.position in places:
            made.append(Unbind(places[step.position]))
    return tuple(made)


def _spelt(case: Case, language: Language) -> Iterator[Case]:
    """Yield the case with simpler words: all texts alike, a word less everywhere, a word renamed everywhere."""
    wild, separator = set(language.wildcards), language.separator
    yield Case(
        patterns=case.patterns,
        key=case.key,
        before=tuple(case.key if isinstance(step, str) else step for step in case.before),
        earlier=tuple(
            Chapter(one.patterns, tuple(case.key if isinstance(step, str) else step for step in one.steps))
            for one in case.earlier
        ),
    )
    yield spelt(case, lambda _: "a")
    texts = list(dict.fromkeys(case.texts))
    for text in texts[:40]:
        words = text.split(separator)
        others = ["a", "b", *(separator.join(words[:place] + words[place + 1 :]) for place in range(len(words)))]
        for other in others:
            yield spelt(case, lambda one, text=text, other=other: other if one == text else one)  # type: ignore[misc]
    for word in sorted({word for text in texts for word in text.split(separator)} - wild):
        for simpler in ("a", "b", "c"):
            if simpler != word:
                yield spelt(
                    case,
                    lambda one, word=word, simpler=simpler: separator.join(  # type: ignore[misc]
                        simpler if part == word else part for part in one.split(separator)
                    ),
                )
