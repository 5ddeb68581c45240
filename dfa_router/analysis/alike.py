"""Which patterns without ``#`` share keys, found without a walk: two of them do if they are as long, and at each place equal or a ``*``.

For each length, place and word there is a compressed bitmap of the patterns that take the word there. What shares
keys with a pattern is in all bitmaps of its words, one *and* for each place, so ten thousand patterns are asked in a
few microseconds. A walk through their trie looked at each literal below each ``*``, for every pattern anew.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pyroaring import BitMap

from compiler import Token, Wildcard
from compiler.automata.keyspace import KeySpace, Word
from compiler.automata.positions import Budget
from compiler.automata.proofs import Witness

__all__ = ["Alike", "common_key", "root_of"]

_NONE = BitMap()


def root_of(pattern: Sequence[Token], space: KeySpace) -> int:
    """Return the number of the root at which a pattern's keys start, of those that ``space`` has.

    >>> root_of([b"$a"], KeySpace(reserved=b"$")), root_of([Wildcard.ONE], KeySpace(reserved=b"$"))
    (1, 0)
    """
    first = pattern[0] if pattern else None
    return int(bool(space.reserved) and isinstance(first, bytes) and first.startswith(space.reserved))


class Alike:
    """Patterns without ``#`` by their numbers, which ascend.

    >>> alike = Alike(KeySpace())
    >>> alike.add(0, [b"a", Wildcard.ONE])
    >>> alike.add(3, [b"b", b"c"])
    >>> list(alike.sharing([Wildcard.ONE, b"c"])), list(alike.sharing([b"a"]))
    ([0, 3], [])
    """

    def __init__(self, space: KeySpace) -> None:
        self._space = space
        self._all: defaultdict[tuple[int, int], BitMap] = defaultdict(BitMap)
        """By root and length."""
        self._having: defaultdict[tuple[int, int, int, Token], BitMap] = defaultdict(BitMap)
        """By root, length, place and token."""

    def add(self, number: int, pattern: Sequence[Token]) -> None:
        """Enter a pattern."""
        kind = root_of(pattern, self._space), len(pattern)
        self._all[kind].add(number)
        for place, token in enumerate(pattern):
            self._having[*kind, place, token].add(number)

    def sharing(self, pattern: Sequence[Token]) -> BitMap:
        """Return the numbers of those that share words with a pattern."""
        kind = root_of(pattern, self._space), len(pattern)
        having, left = self._having, self._all.get(kind, _NONE)
        for place, token in enumerate(pattern):
            if token is not Wildcard.ONE:
                any_word = having.get((*kind, place, Wildcard.ONE), _NONE)
                left = left & (
                    having.get((*kind, place, token), _NONE) | any_word
                )  # a new one: ``&=`` would change what is kept
        return left


def common_key(one: Sequence[Token], other: Sequence[Token], space: KeySpace, budget: Budget) -> Witness | None:
    """Return the words that two patterns share that :class:`Alike` found, or None where they are no key.

    It takes as many steps of the budget as :func:`compiler.automata.proofs.meeting` does, whose answer it is.

    >>> common_key([b"a", Wildcard.ONE], [Wildcard.ONE, Wildcard.ONE], KeySpace(), Budget(3)).words
    (b'a', None)
    """
    phase = start = space.starts()[root_of(one, space)]
    budget.spend()
    words: list[Word] = []
    for token, another in zip(one, other, strict=True):
        either = another if isinstance(token, Wildcard) else token
        word = None if isinstance(either, Wildcard) else either
        after = space.step(phase, word)
        if after is None:
            return None
        phase = after
        budget.spend()
        words.append(word)
    return Witness(tuple(words), start) if space.ends(phase) else None
