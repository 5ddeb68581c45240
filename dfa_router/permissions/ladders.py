"""Rules of which the first that matches a key decides, compared as sets of keys.

Each broker's rules are such a ladder: Mosquitto's denials of a user stand before what it is allowed, and both before the rules
for everybody; NATS' denials before its allowances; EMQX' rules in the order of their file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dfa_router.analysis.intersections import intersection
from dfa_router.analysis.questions import Question
from dfa_router.language.dialects import Dialect
from dfa_router.reference.naive import matches

__all__ = ["Ladder", "beyond", "ladder_of"]

Rung = tuple[bool, tuple[str, ...]]
"""Whether a rule allows, and its patterns."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """What each key is told: by the first rung that matches it, or by ``otherwise``."""

    rungs: tuple[Rung, ...]
    otherwise: bool
    dialect: Dialect

    def allows(self, key: str) -> bool:
        """Tell whether a key is allowed."""
        for allowed, patterns in self.rungs:
            if any(matches(one.encode(), key.encode(), self.dialect) for one in patterns):
                return allowed
        return self.otherwise


def ladder_of(rules: Iterable[Rung], otherwise: bool, dialect: Dialect) -> Ladder:
    """Return the ladder of some rules; neighbours that say the same are one rung.

    >>> from dfa_router.language.dialects import MQTT
    >>> ladder_of([(False, ("a/b",)), (True, ("a/#",)), (True, ("c",))], False, MQTT).rungs
    ((False, ('a/b',)), (True, ('a/#', 'c')))
    """
    rungs: list[Rung] = []
    for allowed, patterns in rules:
        if not patterns:
            continue
        if rungs and rungs[-1][0] == allowed:
            rungs[-1] = (allowed, tuple(dict.fromkeys(rungs[-1][1] + patterns)))
        else:
            rungs.append((allowed, patterns))
    return Ladder(tuple(rungs), otherwise, dialect)


def beyond(one: Ladder, other: Ladder, *, within: tuple[str, ...] | None = None) -> str | None:
    """Return a shortest key that one ladder allows and the other does not, or None; ``within`` are patterns it must match.

    >>> from dfa_router.language.dialects import MQTT
    >>> new = ladder_of([(False, ("a/b",)), (True, ("a/#",))], False, MQTT)
    >>> old = ladder_of([(True, ("a/+",))], False, MQTT)
    >>> beyond(new, old), beyond(old, new)
    ('a', 'a/b')
    """
    separator = one.dialect.separator.decode()
    found = (
        _shortest([allowed, refused, within], (*before, *also), one.dialect)
        for allowed, before in _parts(one, True)
        for refused, also in _parts(other, False)
    )
    return min(
        (key for key in found if key is not None), key=lambda key: (key.count(separator), len(key), key), default=None
    )


def _parts(ladder: Ladder, wanted: bool) -> list[tuple[tuple[str, ...] | None, tuple[str, ...]]]:
    """Return the keys that get one answer: patterns, None being all, less the patterns of other rungs before."""
    parts: list[tuple[tuple[str, ...] | None, tuple[str, ...]]] = []
    before: tuple[str, ...] = ()
    for allowed, patterns in ladder.rungs:
        if allowed == wanted:
            parts.append((patterns, before))
        else:
            before += patterns
    if ladder.otherwise == wanted:
        parts.append((None, before))  # what the same answer is given to before is no loss
    return parts


def _shortest(unions: list[tuple[str, ...] | None], lacks: tuple[str, ...], dialect: Dialect) -> str | None:
    """Return a shortest key that is in each union, None being all keys, and in none of ``lacks``."""
    given = [one for one in unions if one is not None]
    common = given[0] if given else (_everything(dialect),)
    for union in given[1:]:
        common = tuple(dict.fromkeys(one for a in common for b in union for one in intersection(a, b, dialect)))
    if not common:
        return None
    question = Question((*common, *lacks), dialect)
    return question.escape(range(len(common)), range(len(common), len(common) + len(lacks)))


def _everything(dialect: Dialect) -> str:
    """Return a pattern for all keys.

    Only NATS' rules decide about what none of them names. To the others that is a setting of the broker, the same in both ladders,
    and their words that begin apart have no pattern for all of them.
    """
    assert dialect.some is not None
    assert dialect.reserved is None
    return dialect.some.decode()
