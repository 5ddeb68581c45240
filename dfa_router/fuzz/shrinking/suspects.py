"""Where in its source a target is probably wrong: the lines that a case runs, and that cases beside it which pass do not.

The case is changed a little in every way (a word less, another, one more), and of the changed cases that the target answers
right the nearest are taken. A line of the case is the more suspect the fewer of them run it: fault localisation by spectra
(Jones, Harrold, Stasko 2002), with one failing run. It needs a target that tells which lines run.

What it cannot find is a fault in a table or in the text of a regular expression: there the cases beside it run the same lines.
Then nothing is suspect, and what the case runs is all that can be said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, runtime_checkable

from dfa_router.fuzz.findings import Case, Kind
from dfa_router.fuzz.shrinking.neighbours import smaller_cases
from dfa_router.fuzz.shrinking.probe import Probe, StoppedError
from dfa_router.target import OutOfTimeError, TargetFailure

__all__ = ["Suspects", "TellsLines", "suspects"]

Line = tuple[str, int]

_PASSING = 8
"""Cases beside it that are compared; each takes a start of the target."""
_TRIED = 300


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
    """(file, line) in the order of the source: what the fewest of the passing cases run, or all that the case runs."""
    passing: int
    """How many cases that pass were compared."""
    running: int
    """How many of these run the lines as well; where that is all of them, no line is more suspect than another."""

    @property
    def found(self) -> bool:
        """Whether these lines are more suspect than the others of the case."""
        return self.running < self.passing


def suspects(probe: Probe, case: Case) -> Suspects | None:
    """Return the suspect lines of a case, or None where the target cannot tell them."""
    target = probe.target
    if case.stateful or case.together or probe.kind is Kind.SLOW:
        return None
    if not isinstance(target, TellsLines) or not target.tells_lines:
        return None
    probe.allow(_TRIED)
    ran: list[Line] = []
    others: list[set[Line]] = []
    try:
        ran = _lines(probe, target, case)
        others.extend(set(_lines(probe, target, other)) for other in islice(_passing(probe, case), _PASSING))
    except (StoppedError, OutOfTimeError):
        pass  # there is no time for more: what was compared until then counts
    except TargetFailure:
        return None
    if not ran or not others:
        return None
    counts: Counter[Line] = Counter({line: sum(line in other for other in others) for line in ran})
    fewest = min(counts.values())
    return Suspects(tuple(sorted(line for line in counts if counts[line] == fewest)), len(others), fewest)


def _lines(probe: Probe, target: TellsLines, case: Case) -> list[Line]:
    probe.restart()  # what is kept of a set that was asked before would not run again
    return target.lines(case.patterns, case.key)


def _passing(probe: Probe, case: Case) -> Iterator[Case]:
    """Yield cases beside it that the target answers right, the nearest first."""
    seen = {case}
    for other in (*_changed(probe, case), *smaller_cases(case, probe.language)):
        if other not in seen and other.patterns and probe.allowed(other, case):
            seen.add(other)
            if probe.right(other):
                yield other


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
