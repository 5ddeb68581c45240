"""How two patterns, or two sets of them, relate: equal, one covers the other, they overlap, or they share no key.

Decided by proof, not by samples: inclusion both ways by antichains, overlap by the product of the two automata
(:mod:`compiler.automata.proofs`). Each claim that something is *not* so comes with a shortest key that shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from dfa_router.analysis.questions import BUDGET, Question, checked_patterns
from dfa_router.language.dialects import Dialect, dialect_named

__all__ = ["Relation", "RelationKind", "relation"]


class RelationKind(StrEnum):
    """What two sets of keys have in common; the first that is true."""

    EQUAL = "equal"
    COVERS = "covers"
    """The first has all keys of the second, and others."""
    COVERED = "covered"
    """The second has all keys of the first, and others."""
    OVERLAPS = "overlaps"
    """Some keys are common, and each has keys of its own."""
    DISJOINT = "disjoint"
    """No key is common, and each has some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """An answer of :func:`relation`, with shortest keys as witnesses."""

    kind: RelationKind
    only_first: str | None
    """A key that the first matches and the second does not; None if there is none."""
    only_second: str | None
    """A key that the second matches and the first does not; None if there is none."""
    both: str | None
    """A key that both match; None if there is none."""


def relation(
    first: str | Iterable[str], second: str | Iterable[str], dialect: str | Dialect = "amqp", *, budget: int = BUDGET
) -> Relation:
    """Compare two patterns, or two sets of patterns.

    A set without patterns matches nothing: it is covered by any other. ``budget`` is the most steps of all three proofs.

    Raises :class:`PatternError` for a pattern that the dialect refuses, and :class:`CapacityError` when the budget is spent.

    >>> relation("stock.#", "stock.*.ibm")
    Relation(kind=<RelationKind.COVERS: 'covers'>, only_first='stock', only_second=None, both='stock.ibm.ibm')
    >>> relation("a.#", ["a", "a.*.#"]).kind.value
    'equal'
    """
    language = dialect_named(dialect)
    one, other = checked_patterns(first, language), checked_patterns(second, language)
    question = Question((*one, *other), language, budget)
    ours, theirs = range(len(one)), range(len(one), len(one) + len(other))
    only_first = question.escape(ours, theirs)
    only_second = question.escape(theirs, ours)
    both = question.meeting(ours, theirs)
    if only_first is None or only_second is None:
        covered = RelationKind.EQUAL if only_second is None else RelationKind.COVERED
        kind = covered if only_first is None else RelationKind.COVERS
    else:
        kind = RelationKind.DISJOINT if both is None else RelationKind.OVERLAPS
    return Relation(kind=kind, only_first=only_first, only_second=only_second, both=both)
