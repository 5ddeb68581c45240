"""Word cache: for each word that messages had at a level, the bindings that take it there.

The first of the approaches in RabbitMQ's articles on topic routing (2011), "caching messages' topics on a per-word
basis", which the AMQP specification suggests. For ``a.b.c``, ``a.*.b.c``, ``b.b.c`` and a first message ``a.b.c``, the
words ``a`` at level 0, ``b`` at level 1 and ``c`` at level 2 are new, and each is compared with that level of every
pattern: {0, 1}, {0, 1, 2} and {0, 2}. The patterns of three words are {0, 2}. The intersection of these sets is the answer,
{0}. The next message with one of these words at that level finds its set in the cache.

Costs: matching intersects a set for each level, and a set has all bindings that take the word: O(m n) for m words and n
bindings, however few match. That is why it is slow. The first message with a word costs O(n) more. Any change of bindings
drops the cache. Space is a set of up to n bindings for each (level, word) of the messages, so ``max_words`` limits their
number: a full cache is dropped.

Deviations: the authors report that the approach "can not be adapted" to ``#``. It can, at a price: a pattern with ``#``
takes any word from there on, and the bindings with ``#`` that are left at the end are tested one by one. ``any`` cannot stop
early: it intersects all sets.
"""

from __future__ import annotations

from collections.abc import Sequence

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.reference.words import MANY, ONE, Token, check_free, check_held, fits, tokens_of, words_of

__all__ = ["ENGINE", "WordCache"]


class WordCache:
    """Sets of positions for each (level, word) of the keys seen so far."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect, *, max_words: int = 100_000) -> None:
        if isinstance(max_words, bool) or not isinstance(max_words, int) or max_words < 1:
            raise OptionError(f"max_words is {max_words!r}: expected a number of cached words, 1 or more")
        self._dialect = dialect
        self._max_words = max_words
        self._tokens = {position: tokens_of(pattern, dialect) for position, pattern in enumerate(patterns)}
        self._cache: dict[tuple[int, bytes], set[int]] = {}
        self._ends: dict[int, set[int]] = {}

    def add(self, position: int, pattern: bytes) -> None:
        """Add the pattern, and drop the cache."""
        check_free(position in self._tokens, position)
        self._tokens[position] = tokens_of(pattern, self._dialect)
        self._drop()

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the pattern, and drop the cache."""
        check_held(self._tokens.get(position) == tokens_of(pattern, self._dialect), position, pattern)
        del self._tokens[position]
        self._drop()

    def match(self, key: bytes) -> tuple[int, ...]:
        """Intersect the sets of the key's words, and test the bindings with ``#`` that are left."""
        words = words_of(key, self._dialect)
        # A copy: the sets in the cache are shared by all keys.
        result = set(self._ending(len(words)))
        for level, word in enumerate(words):
            result &= self._taking(level, word)
        return tuple(sorted(i for i in result if MANY not in self._tokens[i] or fits(self._tokens[i], words)))

    def any(self, key: bytes) -> bool:
        """Intersect as for a match."""
        return bool(self.match(key))

    def _drop(self) -> None:
        self._cache = {}
        self._ends = {}

    def _taking(self, level: int, word: bytes) -> set[int]:
        """Return the positions that take this word at this level, from the cache or by comparing all patterns."""
        taking = self._cache.get((level, word))
        if taking is None:
            taking = {i for i, tokens in self._tokens.items() if _takes(tokens, level, word)}
            if len(self._cache) >= self._max_words:
                self._cache = {}
            self._cache[level, word] = taking
        return taking

    def _ending(self, length: int) -> set[int]:
        """Return the positions that take a key of ``length`` words, whatever they are."""
        ending = self._ends.get(length)
        if ending is None:
            ending = {i for i, tokens in self._tokens.items() if len(tokens) == length or MANY in tokens}
            if len(self._ends) >= self._max_words:
                self._ends = {}
            self._ends[length] = ending
        return ending


def _takes(tokens: tuple[Token, ...], level: int, word: bytes) -> bool:
    """Tell whether a pattern takes this word at this level; from a ``#`` on it takes any."""
    if MANY in tokens[: level + 1]:
        return True
    return level < len(tokens) and (tokens[level] is ONE or tokens[level] == word)


ENGINE = EngineSpec(
    info=EngineInfo(
        name="word_cache",
        summary="sets of bindings per word of the keys seen so far, intersected level by level",
        dynamic=True,
        options=("max_words",),
    ),
    build=WordCache,
)
