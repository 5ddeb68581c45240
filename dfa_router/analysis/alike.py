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
from dfa_router.analysis.questions import begins_reserved

__all__ = ["Alike", "common_key"]

_NONE = BitMap()


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
        self._all: defaultdict[tuple[bool, int], BitMap] = defaultdict(BitMap)
        """By whether their keys begin with the reserved byte, and length."""
        self._having: defaultdict[tuple[bool, int, int, Token], BitMap] = defaultdict(BitMap)
        """By the same, place and token."""

    def add(self, number: int, pattern: Sequence[Token]) -> None:
        """Enter a pattern."""
        kind = begins_reserved(pattern, self._space.reserved), len(pattern)
        self._all[kind].add(number)
        for place, token in enumerate(pattern):
            self._having[*kind, place, token].add(number)

    def sharing(self, pattern: Sequence[Token]) -> BitMap:
        """Return the numbers of those that share words with a pattern."""
        kind = begins_reserved(pattern, self._space.reserved), len(pattern)
        having, left = self._having, self._all.get(kind, _NONE)
        for place, token in enumerate(pattern):
            if token is not Wildcard.ONE:
                either = having.get((*kind, place, token), _NONE) | having.get((*kind, place, Wildcard.ONE), _NONE)
                left = left & either  # a new one: ``&=`` would change what is kept
        return left


def common_key(one: Sequence[Token], other: Sequence[Token], space: KeySpace, budget: Budget) -> Witness | None:
    """Return the words that two patterns share that :class:`Alike` found, or None where they are no key.

    It takes as many steps of the budget as :func:`compiler.automata.proofs.meeting` does, whose answer it is.

    >>> common_key([b"a", Wildcard.ONE], [Wildcard.ONE, Wildcard.ONE], KeySpace(), Budget(3)).words
    (b'a', None)
    """
    phase = start = space.starts()[begins_reserved(one, space.reserved)]
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
