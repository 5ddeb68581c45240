"""Where in its source a target is probably wrong: the lines that a case runs, and that cases beside it which pass do not.

The case is changed a little in every way (a word less, another, one more). The nearest of the changed cases that the target
answers right are compared with the case and with the nearest that it gets wrong as well: a line is the more suspect the more of
the wrong ones run it and the fewer of the right ones. This is fault localisation by spectra (Jones, Harrold, Stasko 2002), with
Ochiai's measure (Abreu, Zoeteweij, van Gemund 2006). It needs a target that tells which lines run.

Right matches and right refusals to match are counted apart, and of the two parts the larger one counts: what runs behind the
matcher whenever something matches would else be suspect wherever a match is false.

What it cannot find is a fault in a table or in the text of a regular expression: there the cases beside it run the same lines.
Then nothing is suspect, and what the case runs is all that can be said.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from dfa_router.fuzz.findings import Case, Kind
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.target import OutOfTimeError, TargetFailure

__all__ = ["Suspects", "TellsLines", "suspects"]

Line = tuple[str, int]

_COMPARED = {"matches": 6, "others": 6, "wrong": 3}
"""How many cases beside it are compared: right matches, other right answers, and wrong ones. Each takes a start of the target."""
_TRIED = 300
_EQUAL = 1e-9


@runtime_checkable
class TellsLines(Protocol):
    """A target that can tell which lines run."""

    tells_lines: bool

    def lines(self, patterns: Sequence[str], key: str) -> list[Line]:
        """Return (file, line) of the lines that run when a key is asked of a new set."""


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

    @property
    def found(self) -> bool:
        """Whether these lines are more suspect than the others of the case."""
        return self.shared < 1


def suspects(probe: Probe, case: Case) -> Suspects | None:
    """Return the suspect lines of a case, or None where the target cannot tell them."""
    target = probe.target
    if case.stateful or case.together or probe.kind is Kind.SLOW:
        return None
    if not isinstance(target, TellsLines) or not target.tells_lines:
        return None
    probe.allow(_TRIED)
    ran: dict[str, list[set[Line]]] = {sort: [] for sort in _COMPARED}
    try:
        ran["wrong"].append(_lines(probe, target, case))
        for other, sort in _beside(probe, case):
            ran[sort].append(_lines(probe, target, other))
    except (StoppedError, OutOfTimeError):
        pass  # there is no time for more: what was compared until then counts
    except TargetFailure:
        return None
    passing = len(ran["matches"]) + len(ran["others"])
    if not ran["wrong"] or not ran["wrong"][0] or not passing:
        return None

    def part(line: Line, *sorts: str) -> float:
        return max(sum(line in one for one in ran[sort]) / len(ran[sort]) for sort in sorts if ran[sort])

    def ochiai(line: Line) -> float:
        failing = part(line, "wrong")
        return failing / math.sqrt(failing + part(line, "matches", "others"))

    measures = {line: ochiai(line) for line in ran["wrong"][0]}
    most = max(measures.values())
    lines = tuple(sorted(line for line, measure in measures.items() if measure > most - _EQUAL))
    return Suspects(lines, passing, len(ran["wrong"]), max(part(line, "matches", "others") for line in lines))


def _lines(probe: Probe, target: TellsLines, case: Case) -> set[Line]:
    probe.restart()  # what is kept of a set that was asked before would not run again
    return set(target.lines(case.patterns, case.key))


def _beside(probe: Probe, case: Case) -> Iterator[tuple[Case, str]]:
    """Yield cases beside it with their sort, the nearest first."""
    seen, left = {case}, dict(_COMPARED)
    for other in (*_changed(probe, case), *smaller_cases(case, probe.language)):
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
