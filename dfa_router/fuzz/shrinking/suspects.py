"""Where in its source a target is probably wrong: the lines that a case runs, and that cases beside it which pass do not.

The case is changed a little in every way (a word less, another, one more). The nearest of the changed cases that the target
answers right are compared with the case and with the nearest that it gets wrong as well: a line is the more suspect the more of
the wrong ones run it and the fewer of the right ones. This is fault localisation by spectra (Jones, Harrold, Stasko 2002), with
Ochiai's measure (Abreu, Zoeteweij, van Gemund 2006). It needs a target that tells which lines run.

Right matches and right refusals to match are counted apart, and of the two parts the larger one counts: what runs behind the
matcher whenever something matches would else be suspect wherever a match is false.

What it cannot find is a fault in a table or in the text of a regular expression: there the cases beside it run the same lines.
Where a pattern becomes an expression, only lines of the functions that build or run it are suspects: others run behind its answer.
Where no line is suspect, :mod:`dfa_router.fuzz.shrinking.deciding` says in which functions it was decided. A case that
cannot be run for its lines, as it hangs or needs a history, is represented by the plainest case that is answered right, and
its places are marked as those of plain cases: the fault may lie in a function that these do not run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

from dfa_router.fuzz.findings import Case, Kind
from dfa_router.fuzz.places import Place, Why
from dfa_router.fuzz.shrinking.deciding import decided, raised_at, within
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.target import OutOfTimeError, Ran, TargetFailure

__all__ = ["Suspects", "TellsLines", "suspects"]

Line = tuple[str, int]

_COMPARED = {"matches": 6, "others": 6, "wrong": 3}
"""How many cases beside it are compared: right matches, other right answers, and wrong ones. Each takes a start of the target."""
_TRIED = 300
_EQUAL = 1e-9
_FEWEST = 4
"""Right cases that have to be compared: what few of them do not run says little."""
_MOST = 12
"""So many lines with nothing between them to choose by are no place to look at."""


@runtime_checkable
class TellsLines(Protocol):
    """A target that can tell which lines run."""

    tells_lines: bool

    def lines(self, patterns: Sequence[str], key: str) -> Ran:
        """Return what of its source runs when a key is asked of a new set."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """The lines of a case that are the most suspect."""

    lines: tuple[Line, ...]
    """(file, line) in the order of the source: the most suspect ones, or all that the case runs."""
    passing: int
    """How many cases that pass were compared."""
    failing: int
    """How many cases that fail were compared, the case itself included."""
    shared: float
    """The part of the passing matches that run the lines as well, or of the others if that is more; at 1, no line is more
    suspect than another."""
    places: tuple[Place, ...] = ()
    """Where it was decided, which says less."""

    @property
    def found(self) -> bool:
        """Whether these lines are more suspect than the others of the case."""
        return self.shared < 1

    @property
    def told(self) -> bool:
        """Whether they are worth telling: found, few, and compared with enough others."""
        return self.found and self.passing >= _FEWEST and len(self.lines) <= _MOST


def suspects(probe: Probe, case: Case, said: str = "", own: Callable[[str], bool] = lambda _: True) -> Suspects | None:
    """Return the suspect lines of a case, or None where the target cannot tell them.

    ``said`` is what a target said that raised an error; ``own`` tells which files are those that are under test.
    """
    target = probe.target
    if not isinstance(target, TellsLines) or not target.tells_lines:
        return None
    ordinary = not (case.stateful or case.together or probe.kind is Kind.SLOW)
    runs = ordinary and (probe.kind in (Kind.MISSES, Kind.MATCHES) or probe.about == "raised")
    probe.allow(_TRIED)
    ran: dict[str, list[Ran]] = {sort: [] for sort in _COMPARED}
    try:
        if runs:
            ran["wrong"].append(_ran(probe, target, case, own))
        for other, sort in _beside(probe, case) if runs else _plain(probe):
            ran[sort].append(_ran(probe, target, other, own))
    except (StoppedError, OutOfTimeError, TargetFailure):
        pass  # there is no time for more, or nobody to ask: what was compared until then counts
    places = raised_at(said, [*ran["wrong"], *ran["matches"]]) or decided(ran["wrong"], ran["matches"], ran["others"])
    if not runs:
        places = tuple(replace(one, why=Why.PLAIN) if one.why is Why.DECIDES else one for one in places)
    passing = len(ran["matches"]) + len(ran["others"])
    if not runs or not ran["wrong"] or not ran["wrong"][0].lines or not passing:
        return Suspects((), passing, len(ran["wrong"]), 1.0, places) if places else None

    def part(line: Line, *sorts: str) -> float:
        return max(sum(line in one.lines for one in ran[sort]) / len(ran[sort]) for sort in sorts if ran[sort])

    def ochiai(line: Line) -> float:
        failing = part(line, "wrong")
        return failing / math.sqrt(failing + part(line, "matches", "others"))

    candidates = within(places, ran["wrong"][0]) or ran["wrong"][0].lines
    measures = {line: ochiai(line) for line in candidates}
    most = max(measures.values())
    lines = tuple(sorted(line for line, measure in measures.items() if measure > most - _EQUAL))
    shared = max(part(line, "matches", "others") for line in lines)
    return Suspects(lines, passing, len(ran["wrong"]), shared, places)


def _ran(probe: Probe, target: TellsLines, case: Case, own: Callable[[str], bool]) -> Ran:
    probe.restart()  # what is kept of a set that was asked before would not run again
    ran = target.lines(case.patterns, case.key)
    return Ran(
        frozenset(one for one in ran.lines if own(one[0])),
        tuple(one for one in ran.functions if own(one[0])),
        frozenset(one for one in ran.expressions if own(one[0])),
    )


def _plain(probe: Probe) -> Iterator[tuple[Case, str]]:
    """Yield plain cases that are answered right, with their sort."""
    plain = Case(patterns=("a",), key="a")
    return _sorted(probe, plain, (plain, *_changed(probe, plain)), {**_COMPARED, "wrong": 0})


def _beside(probe: Probe, case: Case) -> Iterator[tuple[Case, str]]:
    """Yield cases beside it with their sort, the nearest first."""
    others = (other for other in (*_changed(probe, case), *smaller_cases(case, probe.language)) if other != case)
    return _sorted(probe, case, others, dict(_COMPARED))


def _sorted(probe: Probe, case: Case, others: Iterable[Case], left: dict[str, int]) -> Iterator[tuple[Case, str]]:
    """Yield as many of these cases as are ``left`` to be compared of each sort, each with its sort."""
    seen: set[Case] = set()
    for other in others:
        if not any(left.values()):
            return
        if other in seen or not other.patterns or not probe.allowed(other, case):
            continue
        seen.add(other)
        passes = probe.right(other)
        sort = "wrong" if not passes else "matches" if probe.judge.right_of(other) else "others"
        if left[sort] and (passes or probe.shows(other)):
            left[sort] -= 1
            yield other, sort


def _changed(probe: Probe, case: Case) -> Iterator[Case]:
    """Yield cases with one word more, or another one, in the key or in a pattern."""
    separator = probe.language.separator

    def texts(text: str, words: Sequence[str]) -> Iterator[str]:
        parts = text.split(separator) if text else []
        for place in range(len(parts) + 1):
            for word in words:
                if place < len(parts) and parts[place] != word:
                    yield separator.join([*parts[:place], word, *parts[place + 1 :]])
                yield separator.join([*parts[:place], word, *parts[place:]])

    for key in texts(case.key, ("a", "b")):
        yield Case(patterns=case.patterns, key=key)
    for place, pattern in enumerate(case.patterns):
        for changed in texts(pattern, ("a", *probe.language.wildcards)):
            yield Case(patterns=(*case.patterns[:place], changed, *case.patterns[place + 1 :]), key=case.key)
