"""What a campaign finds, as plain values: cases, disagreements in them, and findings with their minimal case.

These values pickle, so that they can be sent to other processes and machines, and compare equal by content, so that equal
findings can be merged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from dfa_router.fuzz.places import Place
from dfa_router.language.dialects import Dialect
from dfa_router.target import Bind, Chapter, Step, bound

__all__ = [
    "CONFIRMS",
    "UNASKED",
    "Case",
    "Disagreement",
    "Finding",
    "Kind",
    "Rank",
    "canonical",
    "oddity_of",
    "rank",
    "shape_of",
    "spelt",
]

CONFIRMS, UNASKED = "confirms", "cannot be asked"
"""A live broker's word on a finding, where it answers as the specification does, and how it begins where it gives no answer."""


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
    SLOW = "takes too long"
    """The target's time grows exponentially with the pattern."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A binding set and a key that is asked of it, with as much of what happened before as the answer depends on."""

    patterns: tuple[str, ...]
    key: str
    before: tuple[Step, ...] = ()
    """What the target is asked and told between the set and the key: keys, and changes of the set."""
    earlier: tuple[Chapter, ...] = ()
    """Sets that it was given before, each with what was asked of it."""
    together: tuple[str, ...] = ()
    """Keys that other threads ask at the same time."""

    @property
    def table(self) -> tuple[str, ...]:
        """The pattern of each position that an answer may name, those included that were taken out again."""
        return tuple(bound(self.patterns, self.before)[0])

    @property
    def gone(self) -> frozenset[int]:
        """The positions that were taken out before the key is asked."""
        return frozenset(bound(self.patterns, self.before)[1])

    @property
    def stateful(self) -> bool:
        """Whether the set and the key alone do not show it."""
        return bool(self.before or self.earlier)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every pattern and key of the case, in order."""
        told = [Chapter(self.patterns, (*self.before, self.key)), *self.earlier]
        steps = [(step.pattern if isinstance(step, Bind) else step) for chapter in told for step in chapter.steps]
        return (
            *(pattern for chapter in told for pattern in chapter.patterns),
            *(step for step in steps if isinstance(step, str)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """One difference between a target's answer and the right one, before it is shrunk."""

    kind: Kind
    pattern: int | None = None
    """The position of the pattern that it is about, where that is known."""
    key: int | None = None
    """The position of the key that it is about, among the steps of its chapter, where that is known."""
    answered: tuple[int, ...] | None = None
    """The positions that the target named, or None where it named none."""
    detail: str = ""
    """What the target said, for a refusal or a failure."""
    about: str = ""
    """The sort of a refusal or failure, such as ``key`` or ``hung``: two of different sorts are two findings."""
    suspects: tuple[str, ...] = ()
    """The keys that may have caused a failure, the most suspect one first, where that is known."""


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
    """Whether the accused does not answer this case in the same way every time; or, if it is not ``complete``, whether there
    was no time to see it again."""
    fresh: bool = True
    """Whether the case was seen to show it in a target that was started anew; False where that cannot be done."""
    complete: bool = True
    """Whether shrinking ended by itself; if it ran out of time a smaller case may exist."""
    broker: str = field(default="", compare=False)
    """What a live broker says of it: ``confirms`` it, answers otherwise, or ``cannot be asked``; empty where none was to be."""
    known: bool = field(default=False, compare=False)
    """Whether a baseline has it."""
    decided: tuple[Place, ...] = field(default=(), compare=False)
    """Where in its source the target decided, which is asked where no line is more suspect than others."""
    suspects: tuple[tuple[str, int], ...] = field(default=(), compare=False)
    """(file, line) of the lines of the target's source that are suspect; empty where none is more so than others."""
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

    @property
    def counts(self) -> bool:
        """Whether the target is accused of it: no baseline has it, and no broker answers otherwise."""
        return not self.known and (self.broker in ("", CONFIRMS) or self.broker.startswith(UNASKED))


class Rank(NamedTuple):
    """A sort key that orders cases from ordinary and simple to odd and complex; see :func:`rank`."""

    oddity: int
    bindings: int
    history: int
    words: int
    characters: int
    patterns: tuple[str, ...]
    key: str


def rank(case: Case, dialect: Dialect) -> Rank:
    """Return a sort key that orders cases from simple to complex.

    It compares how odd the words are (:func:`oddity_of`), the number of bindings, the length of what goes before, the
    numbers of words and characters, and last the texts in an alphabet in which a-z come first.

    >>> from dfa_router.language.dialects import AMQP
    >>> simple, other = Case(patterns=("a.#",), key="a"), Case(patterns=("a.b",), key="a")
    >>> rank(other, AMQP) < rank(simple, AMQP) < rank(Case(patterns=("a.#",), key="a.b"), AMQP)
    True
    """
    separator, texts = dialect.separator.decode(), case.texts
    steps = len(case.before) + sum(1 + len(one.patterns) + len(one.steps) for one in case.earlier)
    return Rank(
        oddity=max(*(oddity_of(text, dialect) for text in texts), int(_has_wildcards(case.key, dialect))),
        bindings=len(case.table),
        history=steps,
        words=sum(text.count(separator) + 1 for text in texts if text),
        characters=sum(map(len, texts)),
        patterns=tuple(pattern.translate(_LETTERS_FIRST) for pattern in case.patterns),
        key=case.key.translate(_LETTERS_FIRST),
    )


def _has_wildcards(key: str, dialect: Dialect) -> bool:
    wild = {word.decode() for word in (dialect.one, dialect.many, dialect.some) if word}
    return not wild.isdisjoint(key.split(dialect.separator.decode()))


@lru_cache(maxsize=1 << 15)
def oddity_of(text: str, dialect: Dialect) -> int:
    """Return how odd a pattern or key is: 0 for letters, digits and wildcards, 1 for other words, 2 for empty ones.

    >>> from dfa_router.language.dialects import AMQP
    >>> [oddity_of(text, AMQP) for text in ("stock.*", "a-b.#", "a.", "")]
    [0, 1, 2, 2]
    """
    wild = {word.decode() for word in (dialect.one, dialect.many, dialect.some) if word}
    words = text.split(dialect.separator.decode())
    if "" in words:
        return 2
    return int(not all(word in wild or _ORDINARY.match(word) for word in words))


_LETTERS_FIRST = {ord(letter): number for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz", 1)}
_ORDINARY = re.compile(r"\w{1,40}\Z", re.ASCII)
_PLAIN = re.compile(r"[a-z0-9]+\Z", re.ASCII)


def canonical(case: Case, dialect: Dialect) -> Case:
    """Return the case with its plain words renamed to a, b, c ... in order of appearance.

    Two cases that differ in their choice of words only become equal. A word is plain if it consists of a-z and 0-9;
    others, wildcards and the empty word among them, keep their spelling, as a rule of the dialect may concern them.

    >>> from dfa_router.language.dialects import AMQP
    >>> canonical(Case(patterns=("stock.*.nyse",), key="stock..x-y.nyse"), AMQP)
    Case(patterns=('a.*.b',), key='a..x-y.b', before=(), earlier=(), together=())
    """
    separator = dialect.separator.decode()
    names: dict[str, str] = {}

    def renamed(text: str) -> str:
        words = text.split(separator)
        return separator.join(
            names.setdefault(word, _name(len(names))) if _PLAIN.match(word) else word for word in words
        )

    return spelt(case, renamed)


def spelt(case: Case, change: Callable[[str], str]) -> Case:
    """Return the case with every pattern and key of it changed, in order: the set, the key, and what goes before."""

    def step(one: Step) -> Step:
        if isinstance(one, Bind):
            return Bind(change(one.pattern))
        return change(one) if isinstance(one, str) else one

    def chapter(one: Chapter) -> Chapter:
        return Chapter(tuple(map(change, one.patterns)), tuple(map(step, one.steps)))

    patterns, key = tuple(map(change, case.patterns)), change(case.key)
    return Case(
        patterns=patterns,
        key=key,
        before=tuple(map(step, case.before)),
        earlier=tuple(map(chapter, case.earlier)),
        together=tuple(map(change, case.together)),
    )


def _name(number: int) -> str:
    return chr(97 + number) if number < 26 else f"w{number}"


def shape_of(kind: Kind, case: Case, dialect: Dialect, about: str = "") -> str:
    """Return a text that is equal for findings that probably have one cause.

    It holds the kind and the case, made less specific: words of letters and digits are renamed, whatever their length, a
    run of equal words is one, all marks of punctuation become one, and so do all characters beyond ASCII. What has a
    meaning in the dialect stays. Of a case with a history it holds which steps there are, and not how many; of a failure and
    a refusal what was said (``about``), and not the case.

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
        words: list[str] = []
        for word in text.split(separator):
            if word.isascii() and word.isalnum():
                words.append(names.setdefault(word, _name(len(names))))
            else:
                words.append("".join(map(alike, word)))
        runs = [word for place, word in enumerate(words) if place < 2 or words[place - 2 : place] != [word, word]]
        return separator.join(runs)

    def alike(character: str) -> str:
        if character in meaningful or (character.isascii() and character.isalnum()):
            return character
        return "!" if character.isascii() else "é"

    if kind in (Kind.FAILS, Kind.REFUSES):
        return f"{str(kind)!r} | {about!r}"
    if kind is Kind.SLOW or case.together:
        return f"{str(kind)!r} | {'threads' if case.together else 'growth'!r}"
    if case.stateful:
        changes = sorted({type(step).__name__.lower() for step in case.before})
        parts = ["history", *changes, "earlier sets" if case.earlier else "one set"]
    else:
        parts = [plain(text) for text in (*case.patterns, case.key)]
    return " | ".join(repr(part) for part in (str(kind), about, *parts))
