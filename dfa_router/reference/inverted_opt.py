"""Optimised inverted bitmap: a table of bitmaps for each word position, instead of one bitmap for each topic.

From ZeroMQ's "High-speed message matching" whitepaper and Tyler Treat's "Fast Topic Matching". Each word position has a
table of rows: one for each word that some subscription has there, a row ``other`` of the subscriptions that take any word
there, and a row ``null`` of those that match if the key ends before it. The answer for a key is the AND over its positions of
``row[word] | other``. For Treat's 0 = ``forex.*``, 1 = ``stock.nyse``, 2 = ``index``, 3 = ``stock.*``:

===========  =  =  =  =        ===========  =  =  =  =
position 0   0  1  2  3        position 1   0  1  2  3
===========  =  =  =  =        ===========  =  =  =  =
``forex``    1  0  0  0        ``nyse``     0  1  0  0
``stock``    0  1  0  1        other        1  0  0  1
``index``    0  0  1  0        null         0  0  1  0
===========  =  =  =  =        ===========  =  =  =  =

``stock.nyse`` gives ``0101 & (0100 | 1001) = 0101``: bindings 1 and 3. The walk stops at the first empty AND. If a key has
fewer words than there are tables, only ``null`` of the first table beyond it is read, because a subscription that accepts the
end there accepts it at every later position, too (the whitepaper's trailing-null rule, whose proof it leaves to the reader).
Of a key with more words than there are tables the rest is not read: only subscriptions with ``#`` can match, and these take
any word there.

``#`` **at any place**, which both sources leave out. A pattern with one ``#`` is a prefix, a suffix that is counted from the
key's end, and a least number of words. In the tables from its prefix on it takes any word or the end; its suffix is in a
second set of tables, counted from the end; and a bitmap for each least number of words removes the patterns whose prefix
and suffix would overlap in the key. A pattern with several ``#`` is treated as its prefix, its suffix and its number of
words. That admits too many keys, so each key that is left is tested; except if only ``*`` stand between the ``#``, as in
``#.*.#``, where it is exact.

Costs, for m words and n subscriptions: matching is at most 2 m + 2 operations on compressed bitmaps of n bits.
Subscribing sets O(tables) bits. Space is O(n * tables) bits before compression, while the plain inverted bitmap has O(topics)
rows. ``any`` asks the index of :mod:`~dfa_router.reference.filtering`, which is rebuilt after a change.

Deviations: the bitmaps are roaring bitmaps, and the tables grow with the longest pattern instead of having a fixed number.
Unsubscribing clears every row, and removes tables that only this binding needed; Treat's code leaves bits of ``null``
behind, which a number that is used again inherits. There "absent" and "empty word" also share a row; here an empty word is a
word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyroaring import BitMap

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import Dialect
from dfa_router.reference.filtering import Filter
from dfa_router.reference.words import MANY, ONE, Token, check_free, check_held, fits, tokens_of, words_of

__all__ = ["ENGINE", "OptimisedInvertedBitmap"]


class Ends(NamedTuple):
    """A pattern as it is entered into the tables."""

    prefix: tuple[Token, ...]
    """The tokens before the first ``#``, or all."""
    suffix: tuple[Token, ...]
    """The tokens after the last ``#``, last first; empty without a ``#``."""
    bounded: bool
    """True without a ``#``: the key ends where the prefix does."""
    least: int
    """The fewest words that a key can have."""
    exact: bool
    """Whether a key with this prefix, this suffix and enough words always matches."""


def ends_of(tokens: tuple[Token, ...]) -> Ends:
    """Take a pattern apart.

    >>> ends_of((b"a", MANY, ONE, MANY, b"b", b"c"))
    Ends(prefix=(b'a',), suffix=(b'c', b'b'), bounded=False, least=4, exact=True)
    """
    if MANY not in tokens:
        return Ends(tokens, (), True, len(tokens), True)
    first = tokens.index(MANY)
    last = len(tokens) - 1 - tokens[::-1].index(MANY)
    between = [token for token in tokens[first:last] if token is not MANY]
    suffix = tokens[last + 1 :][::-1]
    return Ends(
        tokens[:first], suffix, False, first + len(between) + len(suffix), all(token is ONE for token in between)
    )


class Table:
    """The rows of one word position."""

    __slots__ = ("null", "other", "words")

    def __init__(self, other: BitMap, null: BitMap) -> None:
        self.words: dict[bytes, BitMap] = {}
        self.other = other
        """Subscriptions that take any word here."""
        self.null = null
        """Subscriptions that match if the key ends before this position."""

    def require(self, position: int, token: Token) -> None:
        """Enter a subscription by its token at this position."""
        if token is ONE:
            self.other.add(position)
        else:
            assert isinstance(token, bytes)
            self.words.setdefault(token, BitMap()).add(position)

    def forget(self, position: int, token: Token | None) -> None:
        """Clear all bits of a subscription, and remove the row of a word that no other has."""
        self.other.discard(position)
        self.null.discard(position)
        if isinstance(token, bytes):
            row = self.words[token]
            row.discard(position)
            if not row:
                del self.words[token]

    def row(self, word: bytes) -> BitMap:
        """Return the subscriptions that take this word here."""
        row = self.words.get(word)
        return self.other if row is None else row | self.other


class Side:
    """Tables counted from one end of the key."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.everyone = BitMap()
        """All subscriptions."""
        self.unbounded = BitMap()
        """Subscriptions that take any words beyond their tokens on this side."""

    def add(self, position: int, tokens: Sequence[Token], bounded: bool) -> None:
        """Enter a subscription by its tokens on this side; if it is not bounded, it takes any words beyond them."""
        while len(self.tables) < len(tokens):
            # No subscription so far has a token at this position: all accept the end there, the unbounded ones any word.
            self.tables.append(Table(self.unbounded.copy(), self.everyone.copy()))
        for table, token in zip(self.tables, tokens, strict=False):
            table.require(position, token)
        for table in self.tables[len(tokens) :]:
            table.null.add(position)
            if not bounded:
                table.other.add(position)
        self.everyone.add(position)
        if not bounded:
            self.unbounded.add(position)

    def remove(self, position: int, tokens: Sequence[Token]) -> None:
        """Clear a subscription's bits everywhere, and remove tables that no other needs."""
        self.everyone.discard(position)
        self.unbounded.discard(position)
        for index, table in enumerate(self.tables):
            table.forget(position, tokens[index] if index < len(tokens) else None)
        while self.tables and len(self.tables[-1].null) == len(self.everyone):
            self.tables.pop()

    def narrow(self, result: BitMap, words: Sequence[bytes]) -> BitMap:
        """Return the AND of ``result`` and the rows of a key's words; stops where it is empty."""
        for table, word in zip(self.tables, words, strict=False):
            result = result & table.row(word)
            if not result:
                return result
        if len(words) < len(self.tables):
            return result & self.tables[len(words)].null
        return result & self.unbounded if len(words) > len(self.tables) else result


class OptimisedInvertedBitmap:
    """Bitmaps per word position, counted from both ends of the key."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect) -> None:
        self._dialect = dialect
        self._tokens: dict[int, tuple[Token, ...]] = {}
        self._front = Side()
        self._back = Side()
        self._least: dict[int, BitMap] = {}
        """Least number of words -> subscriptions with a ``#`` that have it."""
        self._inexact = BitMap()
        """Subscriptions that must be tested after all."""
        self._filter: Filter | None = None
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Set the subscription's bits in the tables of both ends."""
        check_free(position in self._tokens, position)
        tokens = tokens_of(pattern, self._dialect)
        ends = ends_of(tokens)
        self._tokens[position] = tokens
        self._front.add(position, ends.prefix, ends.bounded)
        self._back.add(position, ends.suffix, False)
        if not ends.bounded:
            self._least.setdefault(ends.least, BitMap()).add(position)
        if not ends.exact:
            self._inexact.add(position)
        self._filter = None

    def remove(self, position: int, pattern: bytes) -> None:
        """Clear every bit of the subscription."""
        tokens = tokens_of(pattern, self._dialect)
        check_held(self._tokens.get(position) == tokens, position, pattern)
        ends = ends_of(tokens)
        del self._tokens[position]
        self._front.remove(position, ends.prefix)
        self._back.remove(position, ends.suffix)
        if not ends.bounded:
            self._least[ends.least].discard(position)
            if not self._least[ends.least]:
                del self._least[ends.least]
        self._inexact.discard(position)
        self._filter = None

    def match(self, key: bytes) -> tuple[int, ...]:
        """AND the rows, remove patterns that need more words than the key has, and test those that the rows cannot decide."""
        words = words_of(key, self._dialect)
        result = self._front.narrow(self._front.everyone, words)
        if result and self._back.tables:
            result = self._back.narrow(result, words[::-1])
        for least, subscriptions in self._least.items():
            if result and least > len(words):
                result = result - subscriptions
        doubtful = result & self._inexact
        if doubtful:
            result = result - BitMap(position for position in doubtful if not fits(self._tokens[position], words))
        return tuple(result)

    def any(self, key: bytes) -> bool:
        """Tell whether any subscription matches, by the index that evaluates 64 of them at a time."""
        if self._filter is None:
            self._filter = Filter(self._tokens.values())
        return self._filter.any(words_of(key, self._dialect))

    def rows(self, index: int) -> dict[Token | None, tuple[int, ...]]:
        """Return the table of a word position as the sources draw it: word -> positions; ``*`` is other, None is null."""
        table = self._front.tables[index]
        words: dict[Token | None, tuple[int, ...]] = {word: tuple(bits) for word, bits in table.words.items()}
        return words | {ONE: tuple(table.other), None: tuple(table.null)}


ENGINE = EngineSpec(
    info=EngineInfo(
        name="inverted_opt",
        summary="roaring bitmaps of bindings per word position, from both ends of the key",
        dynamic=True,
    ),
    build=OptimisedInvertedBitmap,
)
