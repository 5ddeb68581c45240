"""What a campaign finds, as plain values: cases, disagreements in them, and findings with their minimal case.

All of it pickles, so that findings travel between processes and machines, and compares, so that equal ones merge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum

from dfa_router.language.dialects import Dialect

__all__ = ["Case", "Disagreement", "Finding", "Kind", "canonical", "rank", "shape_of"]


class Kind(StrEnum):
    """In which way a target and the specification disagree."""

    MISSES = "misses"
    """A pattern matches the key, and the target says it does not."""
    MATCHES = "falsely matches"
    """A pattern does not match the key, and the target says it does."""
    REFUSES = "refuses"
    """The target refuses a pattern or key that the dialect allows."""
    ACCEPTS = "accepts"
    """The target takes a pattern that the dialect refuses."""
    FAILS = "fails"
    """The target hung, died, raised an error or answered nonsense."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A binding set and a key that is asked of it."""

    patterns: tuple[str, ...]
    key: str
    before: tuple[str, ...] = ()
    """Keys that are asked first, in the same call, where the answer depends on them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One answer that differs, before anything is shrunk."""

    kind: Kind
    pattern: int | None = None
    """The position of the pattern that it is about, where that is known."""
    key: int | None = None
    """The position of the key that it is about, where that is known."""
    answered: tuple[int, ...] | None = None
    """The positions that the target named, or None where it named none."""
    detail: str = ""
    """What the target said, for a refusal or a failure."""
    about: str = ""
    """What keeps failures and refusals of different sorts apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A disagreement that was shrunk, and what everybody says to its minimal case."""

    accused: str
    """The target's name, or that of an engine of ours that disagrees with the specification."""
    kind: Kind
    case: Case
    dialect: Dialect
    expected: tuple[int, ...] | None
    """The positions that match, or None for a case that the dialect refuses."""
    answered: tuple[int, ...] | None
    """The positions that the accused named, or None where it gave none."""
    detail: str = ""
    """What the target said, for a refusal or a failure."""
    found_as: Case | None = field(default=None, compare=False)
    """The case before it was shrunk."""
    flaky: bool = False
    """Whether the accused answers this case now so, now otherwise."""
    complete: bool = True
    """Whether the shrinker came to its end; else a smaller case may exist."""
    verdicts: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """What each engine of ours says, by name."""
    seed: int | None = field(default=None, compare=False)
    number: int | None = field(default=None, compare=False)
    """The seed and the number of the round in which it came up."""
    place: str | None = field(default=None, compare=False)
    """The file that it was replayed from."""
    shape: str
    """What findings are told apart by: the kind, and the minimal case with its plain words renamed."""


def rank(case: Case, dialect: Dialect) -> tuple[int, int, int, int, tuple[str, ...], str]:
    """Return what cases are ordered by, the simplest first.

    Bindings, keys that are asked before, words of patterns and key, characters, and then the alphabet, in which a-z
    come first.

    >>> from dfa_router.language.dialects import AMQP
    >>> simple, other = Case(patterns=("a.#",), key="a"), Case(patterns=("a.b",), key="a")
    >>> rank(other, AMQP) < rank(simple, AMQP) < rank(Case(patterns=("a.#",), key="a.b"), AMQP)
    True
    """
    separator = dialect.separator.decode()
    texts = (*case.patterns, case.key, *case.before)
    words = sum(text.count(separator) + 1 for text in texts if text)
    alphabetical = tuple(pattern.translate(_LETTERS_FIRST) for pattern in case.patterns)
    key = case.key.translate(_LETTERS_FIRST)
    return len(case.patterns), len(case.before), words, sum(map(len, texts)), alphabetical, key


_LETTERS_FIRST = {ord(letter): number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 1)}
_PLAIN = re.compile(r"[a-z0-9]+\Z", re.ASCII)


def canonical(case: Case, dialect: Dialect) -> Case:
    """Return the case with its plain words renamed in order of appearance: equal shapes become equal cases.

    Words that a rule may concern keep their spelling: wildcards, the empty word, whatever is more than a-z and 0-9.

    >>> from dfa_router.language.dialects import AMQP
    >>> canonical(Case(patterns=("stock.*.nyse",), key="stock..x-y.nyse"), AMQP)
    Case(patterns=('a.*.b',), key='a..x-y.b', before=())
    """
    separator = dialect.separator.decode()
    names: dict[str, str] = {}

    def renamed(text: str) -> str:
        words = text.split(separator)
        return separator.join(
            names.setdefault(word, _name(len(names))) if _PLAIN.match(word) else word for word in words
        )

    patterns = tuple(map(renamed, case.patterns))
    return Case(patterns=patterns, key=renamed(case.key), before=tuple(map(renamed, case.before)))


def _name(number: int) -> str:
    return chr(97 + number) if number < 26 else f"w{number}"


def shape_of(kind: Kind, case: Case, dialect: Dialect, about: str = "") -> str:
    """Return the text that findings of one fault share.

    Letters and digits that are words by themselves are renamed, one mark of punctuation is as good as another, and so
    is one character beyond ASCII; bytes with a meaning in the dialect stay.

    >>> from dfa_router.language.dialects import AMQP
    >>> one, other = Case(patterns=("(",), key="("), Case(patterns=("[",), key="[")
    >>> shape_of(Kind.MISSES, one, AMQP) == shape_of(Kind.MISSES, other, AMQP)
    True
    """
    separator = dialect.separator.decode()
    meant = {separator, dialect.reserved, dialect.one, dialect.many, dialect.some}
    kept = "".join(text.decode() if isinstance(text, bytes) else text for text in meant if text is not None)
    names: dict[str, str] = {}

    def plain(text: str) -> str:
        words = []
        for word in text.split(separator):
            if len(word) == 1 and word.isascii() and word.isalnum():
                words.append(names.setdefault(word, _name(len(names))))
            else:
                words.append("".join(map(alike, word)))
        return separator.join(words)

    def alike(character: str) -> str:
        if character in kept or (character.isascii() and character.isalnum()):
            return character
        return "!" if character.isascii() else "é"

    return " | ".join(repr(part) for part in (str(kind), about, *map(plain, (*case.patterns, case.key, *case.before))))
