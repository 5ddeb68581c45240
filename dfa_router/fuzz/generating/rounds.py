"""Rounds: binding sets with keys, a pure function of the dialect, a seed and a number.

Round ``number`` of a seed is the same on every machine and in every order, so a campaign repeats exactly and a range of
numbers can be worked on anywhere. The classes of bugs take turns by number. Most rounds are small, because a small set
with twenty keys that are aimed at it finds more per second than anything else. Some are large, for faults that only show
among many bindings, or among so many words that two of them share a weak hash. In one round in eight the set changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from dfa_router.errors import OptionError
from dfa_router.fuzz.generating.choices import Choices, SeededChoices
from dfa_router.fuzz.generating.classes import HISTORIES, MANY_WORDS, REFUSALS, CaseClass, classes_of
from dfa_router.fuzz.generating.histories import changing_set, following_sets
from dfa_router.fuzz.generating.language import Language, language_of
from dfa_router.fuzz.generating.making import Maker, Words
from dfa_router.fuzz.validity import invalid_pattern
from dfa_router.language.dialects import Dialect, dialect_named
from dfa_router.target import Round, Sketched
from dfa_router.whole_numbers import whole_number

__all__ = ["Size", "check_size", "make_round", "numbered_round", "ordinary_rounds", "refusal_round", "round_of"]

MEDIUM_EVERY, LARGE_EVERY, WORDS_EVERY, REFUSAL_EVERY, HISTORY_EVERY = 16, 128, 256, 32, 8
"""One round in so many is of this kind; the other rounds are small."""
_DISTINCT = 256
"""Words that differ, and keys, of a round for weak hashes: of 16 bits, one pair of 256 x 256 is expected to meet."""
_ORDINARY = 24
"""Rounds that are asked to find a more ordinary case."""
_LONGEST_BACKTRACKED = 9
"""The most words of a key where a pattern has more than two ``#``: the specification takes exponential time there."""
_MOST_DEEP = 2
"""The most patterns of a round with more than two ``#``: five of them in a hundred slow RabbitMQ down fourfold."""


@dataclass(frozen=True, slots=True)
class Size:
    """How many patterns and keys a round has, each from 1 up; raises :class:`OptionError` for other numbers."""

    patterns: int
    keys: int

    def __post_init__(self) -> None:
        for name in ("patterns", "keys"):
            object.__setattr__(self, name, whole_number(name, getattr(self, name), 1, f"a number of {name} from 1 up"))

    @classmethod
    def parse(cls, text: str) -> Size:
        """Read a size as ``--size`` takes it; raises :class:`OptionError`.

        >>> Size.parse("100x500")
        Size(patterns=100, keys=500)
        """
        found = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,6})", text) if isinstance(text, str) else None
        if found is None:
            raise OptionError(f"the size {text!r} is no PATTERNSxKEYS: write it as in 100x500")
        return cls(int(found[1]), int(found[2]))


MEDIUM, LARGE = Size(20, 60), Size(80, 160)


def check_size(size: object) -> None:
    """Raise :class:`OptionError` for what is neither a size nor None."""
    if size is not None and not isinstance(size, Size):
        raise OptionError(f"size is {size!r}: expected a Size, such as Size(100, 500)")


def round_of(seed: int, number: int, dialect: str | Dialect, size: Size | None = None) -> Round:
    """Return round ``number`` of a seed; without ``size`` small rounds are mixed with larger ones.

    Raises :class:`OptionError` for an unknown dialect, for what is no size, and for a ``seed`` or ``number`` that is no whole number from 0 up.

    >>> round_of(1, 5, "amqp") == round_of(1, 5, "amqp")
    True
    """
    seed = whole_number("seed", seed, 0, "a whole number from 0 up")
    number = whole_number("number", number, 0, "a whole number from 0 up")
    check_size(size)
    return numbered_round(language_of(dialect_named(dialect)), seed, number, size)


def numbered_round(language: Language, seed: int, number: int, size: Size | None = None) -> Round:
    """Return round ``number`` of a seed, as :func:`round_of`."""
    choices = SeededChoices(f"{seed}/{number}")
    if number % REFUSAL_EVERY == REFUSAL_EVERY - 3 and language.refused:
        return refusal_round(choices, language)
    classes = classes_of(language)
    if size is None:
        if number % WORDS_EVERY == WORDS_EVERY - 6:
            return _many_words(choices, language)
        if number % HISTORY_EVERY == HISTORY_EVERY - 4:
            made = make_round(
                choices, language, classes[number // HISTORY_EVERY % len(classes)], Size(1 + choices.below(4), 8)
            )
            return _with_history(choices, language, made)
        if number % LARGE_EVERY == LARGE_EVERY - 1:
            size = LARGE
        elif number % MEDIUM_EVERY == MEDIUM_EVERY // 2 - 1:
            size = MEDIUM
        else:
            size = Size(1 + choices.below(6), 20)
    return make_round(choices, language, classes[number % len(classes)], size)


def ordinary_rounds(language: Language, seed: int, number: int, size: Size | None) -> Iterator[Round]:
    """Yield further rounds that belong to a number, small ones of all classes, to find a more ordinary case in."""
    classes = classes_of(language)
    for extra in range(_ORDINARY):
        choices = SeededChoices(f"{seed}/{number}/{extra}")
        yield make_round(choices, language, classes[extra % len(classes)], size or Size(1 + choices.below(4), 20))


def _with_history(choices: Choices, language: Language, made: Round) -> Round:
    """Return the round with sets that follow its set, and with changes of it."""
    make = Maker(choices, language)
    then = following_sets(make, made.patterns, made.keys)
    then.append(changing_set(make, made.patterns, made.keys))
    return replace(made, classes=made.classes | {HISTORIES}, then=tuple(then))


def _many_words(choices: Choices, language: Language) -> Round:
    """Return a round of many literal words and as many keys that differ from them, so that a weak hash of words collides."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"

    def word() -> str:
        return "".join(choices.pick(letters) for _ in range(3 + choices.below(4)))

    head = [choices.pick(language.plain)] if choices.below(2) else []
    words = list(dict.fromkeys(word() for _ in range(2 * _DISTINCT)))
    texts = [language.separator.join([*head, one]) for one in words]
    half = len(texts) // 2
    patterns, keys = tuple(texts[:half]), tuple(texts[half - 4 :])
    return _sketched(patterns, keys, Sketched(MANY_WORDS, patterns, keys[0]))


def _sketched(patterns: tuple[str, ...], keys: tuple[str, ...], *sketched: Sketched) -> Round:
    classes = frozenset(one.name for one in sketched)
    return Round(patterns=patterns, keys=keys, classes=classes, sketched=sketched)


def refusal_round(choices: Choices, language: Language) -> Round:
    """Return a round of one pattern that the dialect refuses, sometimes with a plain word before it."""
    pattern = choices.pick(language.refused)
    longer = f"{choices.pick(language.plain)}{language.separator}{pattern}"
    if choices.once_in(3) and invalid_pattern(longer, language.dialect) is not None:
        pattern = longer
    return _sketched((pattern,), ("a",), Sketched(REFUSALS, (pattern,), "a"))


def make_round(choices: Choices, language: Language, first: CaseClass, size: Size) -> Round:
    """Return a round of the given size that begins with a sketch of class ``first``, followed by sketches of others.

    It has fewer patterns where some turn out to be invalid.
    """
    make = Maker(choices, language)
    separator, dialect = language.separator, language.dialect
    classes = classes_of(language)
    patterns: list[Words] = []
    aimed: list[Words] = []
    sketches: list[tuple[str, list[Words], Words]] = []
    wanted = first
    while True:
        sketched, keys = wanted.sketch(make)
        for pattern in sketched:
            if len(patterns) < size.patterns or wanted is first:
                # At a random place, so that a fault which depends on being the first or the last binding shows.
                patterns.insert(make.below(len(patterns) + 1), make.allowed(pattern))
        sketches.append((wanted.name, sketched, keys[wanted.telling]))
        aimed += keys
        if len(patterns) >= size.patterns:
            break
        if make.below(3):
            patterns.append(make.pattern())
        if len(patterns) >= size.patterns:
            break
        wanted = make.pick(classes)
    joined = [separator.join(pattern) for pattern in patterns]
    kept = [place for place, pattern in enumerate(joined) if invalid_pattern(pattern, dialect) is None]
    patterns = [patterns[place] for place in kept] or [["a"]]
    deep = [place for place, pattern in enumerate(patterns) if pattern.count(language.many or "") > 2]
    patterns = [pattern for place, pattern in enumerate(patterns) if place not in deep[_MOST_DEEP:]]
    most = _LONGEST_BACKTRACKED if deep else None
    return _sketched(
        tuple(map(separator.join, patterns)),
        tuple(_keys(make, patterns, aimed, size.keys, most)),
        *(Sketched(name, tuple(map(separator.join, own)), separator.join(key[:most])) for name, own, key in sketches),
    )


def _keys(make: Maker, patterns: Sequence[Words], aimed: list[Words], wanted: int, most: int | None) -> list[str]:
    """Return distinct keys: those aimed at a sketch, then matches of the patterns, near misses, and unrelated keys.

    ``most`` limits the words of a key.
    """
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
