"""Rounds: binding sets with keys, a pure function of the dialect, a seed and a number.

Round ``number`` of a seed is the same on every machine and in every order, so a campaign repeats exactly and a range of
numbers can be worked on anywhere. Classes take turns by number; most rounds are small, because a small set with twenty
keys that are aimed at it finds more per second than anything else, and every now and then one is large, for what only
shows among many bindings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dfa_router.errors import OptionError
from dfa_router.fuzz.generating.choices import Choices, SeededChoices
from dfa_router.fuzz.generating.classes import REFUSALS, CaseClass, classes_of
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.making import Maker, Words
from dfa_router.language.dialects import Dialect
from dfa_router.language.validity import key_problem, pattern_problem
from dfa_router.target import Round

__all__ = ["Size", "invalid_key", "invalid_pattern", "make_round", "refusal_round", "round_of"]

MEDIUM_EVERY, LARGE_EVERY, REFUSAL_EVERY = 16, 128, 32
_BACKTRACKED = 9
"""Words of a key at most where a pattern has more than two ``#``: the specification is exponential in them."""
_DEEP = 2
"""Patterns of a round with more than two ``#``: five of them in a hundred slow RabbitMQ down fourfold."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many patterns and keys a round has."""

    patterns: int
    keys: int

    @classmethod
    def parse(cls, text: str) -> Size:
        """Read what ``--size`` takes; raises :class:`OptionError`.

        >>> Size.parse("100x500")
        Size(patterns=100, keys=500)
        """
        found = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,6})", text)
        if found is None:
            raise OptionError(f"the size {text!r} is no PATTERNSxKEYS: write it as in 100x500")
        return cls(int(found[1]), int(found[2]))


MEDIUM, LARGE = Size(20, 60), Size(50, 200)


@lru_cache(maxsize=1 << 14)
def invalid_pattern(pattern: str, dialect: Dialect) -> str | None:
    """Return why the dialect refuses a pattern, as :func:`dfa_router.language.validity.pattern_problem`; remembers."""
    return pattern_problem(pattern, dialect)


@lru_cache(maxsize=1 << 16)
def invalid_key(key: str, dialect: Dialect) -> str | None:
    """Return why the dialect refuses a key, as :func:`dfa_router.language.validity.key_problem`; remembers."""
    return key_problem(key, dialect)


def round_of(seed: int, number: int, dialect: Dialect, size: Size | None = None) -> Round:
    """Return round ``number`` of a seed; without ``size`` small ones are mixed with larger ones.

    >>> from dfa_router.language.dialects import AMQP
    >>> round_of(1, 5, AMQP) == round_of(1, 5, AMQP)
    True
    """
    language = language_of(dialect)
    choices = SeededChoices(f"{seed}/{number}")
    if number % REFUSAL_EVERY == REFUSAL_EVERY - 3 and language.refused:
        return refusal_round(choices, language)
    classes = classes_of(language)
    if size is None:
        if number % LARGE_EVERY == LARGE_EVERY - 1:
            size = LARGE
        elif number % MEDIUM_EVERY == MEDIUM_EVERY // 2 - 1:
            size = MEDIUM
        else:
            size = Size(1 + choices.below(6), 20)
    return make_round(choices, language, classes[number % len(classes)], size)


def refusal_round(choices: Choices, language: Language) -> Round:
    """Return a round of one pattern that the dialect refuses, by itself or behind plain words."""
    pattern = choices.pick(language.refused)
    longer = f"{choices.pick(language.plain)}{language.separator}{pattern}"
    if choices.once_in(3) and invalid_pattern(longer, language.dialect) is not None:
        pattern = longer
    return Round(patterns=(pattern,), keys=("a",), classes=frozenset((REFUSALS,)))


def make_round(choices: Choices, language: Language, first: CaseClass, size: Size) -> Round:
    """Return a round that begins with a sketch of class ``first``; others follow until it has its size."""
    make = Maker(choices, language)
    separator, dialect = language.separator, language.dialect
    classes = classes_of(language)
    patterns: list[Words] = []
    aimed: list[Words] = []
    names = {first.name}
    wanted = first
    while True:
        sketched, keys = wanted.sketch(make)
        for pattern in sketched:
            if len(patterns) < size.patterns or wanted is first:
                # Anywhere but always at the end: a matcher may look at the first, or forget the last.
                patterns.insert(make.below(len(patterns) + 1), make.allowed(pattern))
        aimed += keys
        if len(patterns) >= size.patterns:
            break
        if make.below(3):
            patterns.append(make.pattern())
        if len(patterns) >= size.patterns:
            break
        wanted = make.pick(classes)
        names.add(wanted.name)
    joined = [separator.join(pattern) for pattern in patterns]
    kept = [place for place, pattern in enumerate(joined) if invalid_pattern(pattern, dialect) is None]
    patterns = [patterns[place] for place in kept] or [["a"]]
    deep = [place for place, pattern in enumerate(patterns) if pattern.count(language.many or "") > 2]
    patterns = [pattern for place, pattern in enumerate(patterns) if place not in deep[_DEEP:]]
    most = _BACKTRACKED if deep else None
    return Round(
        patterns=tuple(map(separator.join, patterns)),
        keys=tuple(_keys(make, patterns, aimed, size.keys, most)),
        classes=frozenset(names),
    )


def _keys(make: Maker, patterns: Sequence[Words], aimed: list[Words], wanted: int, most: int | None) -> list[str]:
    """Return distinct keys: those that were aimed, then keys of the patterns, near misses of them, and others."""
    separator = make.language.separator
    keys: dict[str, None] = {}
    if len(aimed) > wanted:
        aimed = [make.pick(aimed) for _ in range(wanted)]
    for words in aimed:
        keys[separator.join(words[:most])] = None
    tries = 2 * wanted
    while len(keys) < wanted and tries:
        tries -= 1
        kind = make.below(16)
        if kind == 15:
            words = make.key()
        else:
            words = make.matching(make.pick(patterns))
            if kind >= 7:
                words = make.changed(words)
            if kind >= 13:
                words = make.changed(words)
        keys[separator.join(words[:most])] = None
    limit = make.language.dialect.max_bytes
    return [key for key in keys if limit is None or len(key) * 4 <= limit or len(key.encode()) <= limit]
