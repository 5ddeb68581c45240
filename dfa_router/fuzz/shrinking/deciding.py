"""In which functions of a target's source a case was decided, where no single line can be blamed.

A pattern that becomes a regular expression is decided by its text: then the lines count that build or run an expression which depends on
what is asked. Else a function decides in which right matches and other right answers run different lines, and the more so the more
they differ. Where none does, as in a function of one line, all functions that the case runs are named, the first few.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dfa_router.fuzz.places import Place, Why
from dfa_router.target import Ran

__all__ = ["decided", "raised_at", "within"]

Function = tuple[str, int, int, str]

_NAMED = 3
"""So many functions are named at most."""
_FRAME = re.compile(
    r'File "(?P<python>[^"\n]+)", line (?P<number>\d+)|(?P<other>/[^\s():]+):(?P<line>\d+)(?::\d+)?\)?$', re.MULTILINE
)


def decided(wrong: Sequence[Ran], matches: Sequence[Ran], others: Sequence[Ran]) -> tuple[Place, ...]:
    """Return where cases were decided, given what of the source wrong cases, right matches and other right ones ran."""
    case = [*wrong[:1], *matches, *others][:1]
    if not case:
        return ()
    every = [*wrong, *matches, *others]
    built = case[0].expressions or {line for ran in every for line in ran.expressions}
    if built:
        return _places_of(sorted(built), [one for ran in every for one in _named_of(ran)])
    functions = _named_of(case[0])
    named = sorted(functions, key=lambda one: -_parted(one, functions, matches, others))
    most = _parted(named[0], functions, matches, others) if named else 0.0
    best = [one for one in named if _parted(one, functions, matches, others) >= most]
    return tuple(
        Place(file, tuple(range(first, last + 1)), name, Why.DECIDES) for file, first, last, name in best[:_NAMED]
    )


def raised_at(said: str, ran: Sequence[Ran]) -> tuple[Place, ...]:
    """Return the innermost line of a traceback, Python's or Node.js's, that is in a file of the target; none if there is no such."""
    files = {file for one in ran for file, _ in one.lines}
    frames = [
        (found["python"] or found["other"], int(found["number"] or found["line"])) for found in _FRAME.finditer(said)
    ]
    own = [frame for frame in frames if frame[0] in files]
    if not own:
        return ()
    innermost = own[-1] if 'File "' in said else own[0]
    functions = [one for each in ran for one in _named_of(each)]
    return tuple(Place(one.file, one.lines, one.name, Why.RAISED) for one in _places_of([innermost], functions))


def within(places: Sequence[Place], ran: Ran) -> frozenset[tuple[str, int]]:
    """Return the lines that ran of the functions that build or run an expression; none where no place is one of these."""
    named = {(place.file, place.name) for place in places if place.why is Why.EXPRESSION}
    around = {line: _around(line, _named_of(ran)) for line in ran.lines}
    return frozenset(line for line, one in around.items() if one is not None and (one[0], one[3]) in named)


def _named_of(ran: Ran) -> list[Function]:
    """Return the functions with names; a lambda and the like is part of the function around it."""
    return [one for one in ran.functions if not one[3].startswith("<")]


def _parted(function: Function, functions: Sequence[Function], matches: Sequence[Ran], others: Sequence[Ran]) -> float:
    """Return how far right matches and other right answers part in a function: the most that the shares of a line differ."""
    own = {line for ran in (*matches, *others) for line in ran.lines if _around(line, functions) == function}
    if not matches or not others:
        return 0.0
    return max((abs(_share(line, matches) - _share(line, others)) for line in own), default=0.0)


def _share(line: tuple[str, int], ran: Sequence[Ran]) -> float:
    return sum(line in one.lines for one in ran) / len(ran)


def _around(line: tuple[str, int], functions: Sequence[Function]) -> Function | None:
    """Return the innermost function that has a line."""
    around = [one for one in functions if one[0] == line[0] and one[1] <= line[1] <= one[2]]
    return min(around, key=lambda one: one[2] - one[1], default=None)


def _places_of(lines: Sequence[tuple[str, int]], functions: Sequence[Function]) -> tuple[Place, ...]:
    """Return a place for each function that has some of the lines."""
    grouped: dict[tuple[str, str], list[int]] = {}
    for line in lines:
        around = _around(line, functions)
        grouped.setdefault((line[0], around[3] if around else ""), []).append(line[1])
    return tuple(Place(file, tuple(numbers), name, Why.EXPRESSION) for (file, name), numbers in grouped.items())
