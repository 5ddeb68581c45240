"""What a change of bindings changes: for each destination the keys that it gains and loses.

Keys gained are those that a new pattern matches and no old one does. They are told in two ways: as patterns, each with the
patterns that are taken off it (``a.#`` without ``a.b``), which is exact; and as the shortest keys, which are easier to read
and can be tried on a broker.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from compiler import CapacityError
from dfa_router.analysis.coverage import known_cover
from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.questions import BUDGET, Question, budget_of
from dfa_router.errors import ConversionError
from dfa_router.language.bindings import binding_set
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.whole_numbers import whole_number

__all__ = ["Change", "Keys", "Remainder", "difference"]

_WAYS = 64
"""The most patterns that are written out as taken off one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remainder:
    """The keys that a pattern matches and none of some others does."""

    pattern: str
    without: tuple[str, ...] = ()
    """Patterns that match keys of it, and whose keys are not meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """A set of keys."""

    patterns: tuple[Remainder, ...] | None
    """Which together are exactly these keys; None where that would take too many patterns, or a dialect of your own has none."""
    shortest: tuple[str, ...]
    """The shortest keys of it, as many as were asked for; fewer only if the others say the same again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What changes for a destination; None where nothing is gained, or nothing lost."""

    gained: Keys | None
    lost: Keys | None


def difference(
    old: Iterable[tuple[str, str]],
    new: Iterable[tuple[str, str]],
    dialect: str | Dialect = "amqp",
    *,
    most: int = 3,
    budget: int = BUDGET,
) -> Mapping[str, Change]:
    """Compare two binding sets; return what changes for each destination for which anything does, by its name.

    ``most`` is how many shortest keys are told for what is gained and what is lost, ``budget`` the most steps for each
    destination. Destinations come in the order of the new set, then those that only the old one has.

    Raises :class:`PatternError` and :class:`BindingError` for what cannot be compiled, and :class:`CapacityError` when the
    budget is spent; the text names the destination.

    >>> change = difference([("a.#", "q"), ("b", "q")], [("a.*", "q"), ("b", "q"), ("b", "r")])
    >>> change["q"].lost.patterns, change["q"].lost.shortest, change["q"].gained is None
    ((Remainder(pattern='a.#', without=('a.*',)),), ('a', 'a.a.a', 'a.a.a.a'), True)
    >>> change["r"].gained.shortest
    ('b',)
    """
    most = whole_number("most", most, 0, "a number of keys from 0 up")
    budget_of(budget)  # refused also where nothing has to be proven
    language = dialect_named(dialect)
    before, after = _by_destination(old), _by_destination(new)
    found: dict[str, Change] = {}
    for destination in (*after, *(name for name in before if name not in after)):
        ours, theirs = before.get(destination, ()), after.get(destination, ())
        if set(ours) == set(theirs):
            continue
        try:
            gained = _keys(theirs, ours, language, most, budget)
            lost = _keys(ours, theirs, language, most, budget)
        except CapacityError as error:
            raise CapacityError(f"what changes for {destination!r}: {error}") from None
        if gained is not None or lost is not None:
            found[destination] = Change(gained=gained, lost=lost)
    return found


def _by_destination(bindings: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    patterns: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for pattern, destination in binding_set(bindings):
        patterns[destination][pattern] = None
    return {destination: tuple(listed) for destination, listed in patterns.items()}


def _keys(having: Sequence[str], lacking: Sequence[str], dialect: Dialect, most: int, budget: int) -> Keys | None:
    """Return the keys that one set matches and the other does not, or None if there are none."""
    known = set(lacking)
    own = [pattern for pattern in having if pattern not in known]
    question = Question((*own, *lacking), dialect, budget)
    numbers = range(len(own), len(own) + len(lacking))
    others = question.side(numbers)
    escaping = [number for number in range(len(own)) if question.escape([number], others) is not None]
    if not escaping:
        return None
    kept = known_cover([own[number] for number in escaping], dialect)
    remainders = [_remainder(question, own.index(pattern), numbers) for pattern in kept]
    exact = None if None in remainders else tuple(one for one in remainders if one is not None)
    return Keys(patterns=exact, shortest=question.separations(escaping, others, most))


def _remainder(question: Question, number: int, others: Iterable[int]) -> Remainder | None:
    """Return a pattern without what the others match of it; None if that takes too many patterns, or the dialect has none."""
    pattern, side = question.patterns[number], question.side([number])
    taken: list[str] = []
    for other in others:
        if question.meeting(side, [other]) is not None:
            try:
                taken += intersection(pattern, question.patterns[other], question.dialect, most=_WAYS)
            except (CapacityError, ConversionError):
                return None
            if len(taken) > _WAYS:
                return None
    return Remainder(pattern=pattern, without=known_cover(taken, question.dialect))
