"""What a campaign finds, as plain values: cases, disagreements in them, and findings with their minimal case.

These values pickle, so that they can be sent to other processes and machines, and compare equal by content, so that equal
findings can be merged.
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
    """Keys that are asked before it in the same call, if the answer depends on them; else none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One difference between a target's answer and the right one, before it is shrunk."""

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
    """The sort of a refusal or failure, such as ``key`` or ``hung``: two of different sorts are two findings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A disagreement that was shrunk, with all answers to its minimal case.

    Of two findings that are compared, neither where they were found nor what our engines say of them counts.
    """

    accused: str
    """The name of the target, or of an engine of ours that disagrees with the specification."""
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
    """Whether the accused does not answer this case in the same way every time."""
    complete: bool = True
    """Whether shrinking ended by itself; if it ran out of time a smaller case may exist."""
    verdicts: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """(name, answer as text) of each engine of ours."""
    seed: int | None = field(default=None, compare=False)
    """The seed of the round in which it was found; None for one from a corpus."""
    number: int | None = field(default=None, compare=False)
    """The number of that round; None for one from a corpus."""
    place: str | None = field(default=None, compare=False)
    """``file:line`` of the corpus from which it was replayed."""
    shape: str
    """The same text for all findings that probably have one cause; see :func:`shape_of`."""


def rank(case: Case, dialect: Dialect) -> tuple[int, int, int, int, tuple[str, ...], str]:
    """Return a sort key that orders cases from simple to complex.

    It compares the number of bindings, of keys that are asked before, of words, of characters, and last the texts in an
    alphabet in which a-z come first.

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
    """Return the case with its plain words renamed to a, b, c ... in order of appearance.

    Two cases that differ in their choice of words only become equal. A word is plain if it consists of a-z and 0-9;
    others, wildcards and the empty word among them, keep their spelling, as a rule of the dialect may concern them.

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
    """Return a text that is equal for findings that probably have one cause.

    It holds the kind and the case, made less specific: words of a single letter or digit are renamed, all marks of
    punctuation become one, and so do all characters beyond ASCII. What has a meaning in the dialect stays.

    >>> from dfa_router.language.dialects import AMQP
    >>> one, other = Case(patterns=("(",), key="("), Case(patterns=("[",), key="[")
    >>> shape_of(Kind.MISSES, one, AMQP) == shape_of(Kind.MISSES, other, AMQP)
    True
    """
    separator = dialect.separator.decode()
    special = (dialect.separator, dialect.reserved, dialect.one, dialect.many, dialect.some)
    meaningful = b"".join(text for text in special if text is not None).decode()
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
        if character in meaningful or (character.isascii() and character.isalnum()):
            return character
        return "!" if character.isascii() else "é"

    return " | ".join(repr(part) for part in (str(kind), about, *map(plain, (*case.patterns, case.key, *case.before))))
