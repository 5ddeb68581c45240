"""Word index: for each word that patterns have at a level, the bindings that have it there.

The second of the approaches in RabbitMQ's articles on topic routing (2011), "indexing patterns on a per-word basis":
like the first (:mod:`~dfa_router.reference.word_cache`), "except we prepare the patterns beforehand". For ``a.b.c``,
``a.*.b.c`` and ``b.b.c`` the index is, with "any" for the patterns that take any word there:

=======  ============  ============  ============  =======
level 0  level 1       level 2       level 3       length
=======  ============  ============  ============  =======
a: 0, 1  b: 0, 2       c: 0, 2       c: 1          3: 0, 2
b: 2     any: 1        b: 1                        4: 1
=======  ============  ============  ============  =======

The key ``a.b.c`` has three words, so its answer is the intersection of {0, 2}, {0, 1}, {0, 1, 2} and {0, 2}, which is {0}.

Costs: subscribing O(words). Matching intersects a set for each level, O(m n) at worst, as a set has all bindings that take
the word. Space is O(sum of the patterns' lengths). The optimised inverted bitmap is the same idea with bitmaps instead of
sets, and with the key's end and the words behind a ``#`` among the tables.

Deviations: the authors left ``#`` out. Here a pattern with ``#`` takes any word from there on, and is tested if it is left
at the end. ``any`` cannot stop early.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import Dialect
from dfa_router.reference.words import MANY, ONE, Token, check_free, check_held, fits, tokens_of, words_of

__all__ = ["ENGINE", "WordIndex"]


class WordIndex:
    """Sets of positions for each (level, word) of the patterns."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect) -> None:
        self._dialect = dialect
        self._tokens: dict[int, tuple[Token, ...]] = {}
        self._index: defaultdict[tuple[int, Token], set[int]] = defaultdict(set)
        """(level, token) -> positions of the patterns that have it there; the token is a word, ``*``, or the first ``#``."""
        self._lengths: defaultdict[int, set[int]] = defaultdict(set)
        """Number of words -> positions of the patterns without ``#`` that have it."""
        self._unbounded: set[int] = set()
        """Positions of the patterns with ``#``."""
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Enter each word of the pattern."""
        check_free(position in self._tokens, position)
        tokens = tokens_of(pattern, self._dialect)
        self._tokens[position] = tokens
        (self._unbounded if MANY in tokens else self._lengths[len(tokens)]).add(position)
        for entry in _entries(tokens):
            self._index[entry].add(position)

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the position from the entry of each word, and entries that are empty then."""
        tokens = tokens_of(pattern, self._dialect)
        check_held(self._tokens.get(position) == tokens, position, pattern)
        del self._tokens[position]
        if MANY in tokens:
            self._unbounded.discard(position)
        else:
            self._lengths[len(tokens)].discard(position)
            if not self._lengths[len(tokens)]:
                del self._lengths[len(tokens)]
        for entry in _entries(tokens):
            self._index[entry].discard(position)
            if not self._index[entry]:
                del self._index[entry]

    def match(self, key: bytes) -> tuple[int, ...]:
        """Intersect the sets of the key's words, and test the bindings with ``#`` that are left."""
        words = words_of(key, self._dialect)
        nobody: set[int] = set()
        result = self._lengths.get(len(words), nobody) | self._unbounded
        passed: set[int] = set()  # bindings with their first "#" at this level or before
        for level, word in enumerate(words):
            passed = passed | self._index.get((level, MANY), nobody)
            result &= self._index.get((level, word), nobody) | self._index.get((level, ONE), nobody) | passed
        return tuple(sorted(i for i in result if i not in self._unbounded or fits(self._tokens[i], words)))

    def any(self, key: bytes) -> bool:
        """Intersect as for a match."""
        return bool(self.match(key))


def _entries(tokens: tuple[Token, ...]) -> Iterator[tuple[int, Token]]:
    """Yield the index entries of a pattern: its tokens up to the first ``#``."""
    for level, token in enumerate(tokens):
        yield level, token
        if token is MANY:
            return


ENGINE = EngineSpec(
    info=EngineInfo(
        name="word_index",
        summary="sets of bindings per word of the patterns, intersected level by level",
        dynamic=True,
    ),
    build=WordIndex,
)
