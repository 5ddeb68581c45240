"""Filtering: whether any subscription matches, from bitmaps that are evaluated 64 subscriptions at a time.

From the last section of ZeroMQ's "High-speed message matching" whitepaper, with its "research ideas". To find out whether at
least one subscription matches, the bitmaps are ANDed from left to right in batches of 64 bits, up to the first bit that is
left. Likely matches belong on the left, and "the more wildcards there are in the subscription the larger set of messages it
is able to match", so subscriptions are ordered by their wildcards. A subscription that another one covers (``forex.eur``
beside ``forex.*``) cannot change the answer and is left out.

For ``forex.eur``, ``forex.*`` and ``#.usd`` the index holds ``#.usd`` and ``forex.*``, in this order. A message for
``forex.usd`` is decided in the first batch, where both bits are set; with thousands of subscriptions the other batches are
never read.

Costs: an AND for each word of the key and batch, at worst n / 64 batches. The index is built from the live subscriptions
with O(n) look-ups of patterns, and is valid until the next change: it suits sets that change rarely.

Covering is tested on the patterns' tokens (:func:`covers`), by walking a trie of all patterns with each of them. Whatever it
finds is covered; a covered pattern that it missed would stay in the index and cost a bit. Left out: batches of 128 bits or
more in vector registers, which Python cannot use.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence

from dfa_router.reference.words import MANY, ONE, Token, fits

__all__ = ["Filter", "covers", "ones_first"]

BATCH = 64
"""Subscriptions that are evaluated together."""


class CoverNode:
    """A node of a trie of patterns, which is walked with the tokens of a pattern."""

    __slots__ = ("branches", "is_many", "pattern")

    def __init__(self, is_many: bool = False) -> None:
        self.branches: dict[Token, CoverNode] = {}
        self.is_many = is_many
        self.pattern: tuple[Token, ...] | None = None
        """The pattern that ends here."""


class Cover:
    """A set of patterns that tells which of them cover a given one."""

    def __init__(self, patterns: Iterable[tuple[Token, ...]]) -> None:
        self._root = CoverNode()
        for pattern in patterns:
            node = self._root
            for token in pattern:
                node = node.branches.setdefault(token, CoverNode(token is MANY))
            node.pattern = pattern

    def of(self, narrow: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
        """Yield the patterns of the set that cover this one; all must be in the form of :func:`ones_first`."""
        reach = _with_nothing({self._root})
        for token in narrow:
            step = {node for node in reach if node.is_many}
            if token is not MANY:  # only a "#" covers a "#"
                for node in reach:
                    for branch in {ONE, token}:
                        if branch in node.branches:
                            step.add(node.branches[branch])
            reach = _with_nothing(step)
        return (node.pattern for node in reach if node.pattern is not None)


def covers(wide: Sequence[Token], narrow: Sequence[Token]) -> bool:
    """Tell whether every key that ``narrow`` matches is certainly matched by ``wide``.

    A literal covers itself, ``*`` any one word, ``#`` anything.

    >>> covers((b"forex", ONE), (b"forex", b"eur")), covers((ONE,), (MANY,)), covers((MANY, ONE), (ONE, MANY))
    (True, False, True)
    """
    return any(True for _ in Cover([ones_first(wide)]).of(ones_first(narrow)))


def ones_first(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Write each run of wildcards as its ``*`` and then at most one ``#``: the number of ``*`` is the least number of words.

    >>> ones_first((MANY, ONE, MANY, b"a"))
    (*, #, b'a')
    """
    result: list[Token] = []
    many = False
    for token in tokens:
        if many and token is not ONE and token is not MANY:
            result.append(MANY)
            many = False
        if token is MANY:
            many = True
        else:
            result.append(token)
    return (*result, MANY) if many else tuple(result)


def _with_nothing(reach: set[CoverNode]) -> set[CoverNode]:
    """Add the nodes that are reached where ``#`` stands for zero words; no ``#`` follows another."""
    return reach | {node.branches[MANY] for node in reach if MANY in node.branches}


class Row:
    """The bits of one row of a table, in batches of 64 from the left."""

    __slots__ = ("batches",)

    def __init__(self, batches: int) -> None:
        self.batches = array("Q", bytes(8 * batches))

    def set(self, column: int) -> None:
        """Set the bit of a column."""
        self.batches[column // BATCH] |= 1 << (column % BATCH)


class Filter:
    """Bitmaps over the subscriptions that no other covers, those with the most wildcards on the left."""

    def __init__(self, subscriptions: Iterable[tuple[Token, ...]]) -> None:
        self.columns = _kept(subscriptions)
        """The tokens of the subscriptions in the index, from left to right."""
        self._batches = -(-len(self.columns) // BATCH)
        self._words: list[dict[bytes, Row]] = []
        self._others: list[Row] = []
        self._nulls: list[Row] = []
        self._beyond = Row(self._batches)
        """Subscriptions that match keys with more words than there are tables."""
        self._doubtful = Row(self._batches)
        """Subscriptions with words after a ``#``, of which the tables hold the prefix only: they must be tested."""
        prefixes = [tokens[: tokens.index(MANY)] if MANY in tokens else tokens for tokens in self.columns]
        for at in range(max(map(len, prefixes), default=0)):
            self._add_table(at, prefixes)
        for column, (tokens, prefix) in enumerate(zip(self.columns, prefixes, strict=True)):
            if len(prefix) < len(tokens):
                self._beyond.set(column)
                if len(prefix) + 1 < len(tokens):
                    self._doubtful.set(column)

    def _add_table(self, at: int, prefixes: Sequence[Sequence[Token]]) -> None:
        """Make the rows of a word position; as in the whitepaper, a word's row includes subscriptions that take any word."""
        literals = {word for prefix in prefixes if at < len(prefix) for word in [prefix[at]] if isinstance(word, bytes)}
        words = {word: Row(self._batches) for word in literals}
        other, null = Row(self._batches), Row(self._batches)
        for column, prefix in enumerate(prefixes):
            token = prefix[at] if at < len(prefix) else None
            if isinstance(token, bytes):
                words[token].set(column)
                continue
            if token is None:
                null.set(column)
            if token is ONE or len(prefix) < len(self.columns[column]):
                other.set(column)
                for row in words.values():
                    row.set(column)
        self._words.append(words)
        self._others.append(other)
        self._nulls.append(null)

    def any(self, words: Sequence[bytes]) -> bool:
        """Tell whether any subscription matches; stops at the first batch that has one."""
        rows = [
            table.get(word, other).batches for table, other, word in zip(self._words, self._others, words, strict=False)
        ]
        if len(words) < len(self._nulls):
            rows.append(self._nulls[len(words)].batches)
        elif len(words) > len(self._words):
            rows.append(self._beyond.batches)
        for batch in range(self._batches):
            bits = (1 << min(BATCH, len(self.columns) - batch * BATCH)) - 1
            for row in rows:
                bits &= row[batch]
                if not bits:
                    break
            if bits & ~self._doubtful.batches[batch]:
                return True
            while bits:
                lowest = bits & -bits
                if fits(self.columns[batch * BATCH + lowest.bit_length() - 1], words):
                    return True
                bits ^= lowest
        return False


def _kept(subscriptions: Iterable[tuple[Token, ...]]) -> list[tuple[Token, ...]]:
    """Return the distinct patterns that no other covers, those with the most ``#`` first, and then with the most ``*``."""
    patterns = dict.fromkeys(ones_first(tokens) for tokens in subscriptions)
    cover = Cover(patterns)
    for pattern in list(patterns):
        # Covering is transitive: what a pattern covers that was left out is also covered by one that was kept.
        if any(other != pattern and other in patterns for other in cover.of(pattern)):
            del patterns[pattern]
    return sorted(patterns, key=lambda tokens: (-tokens.count(MANY), -tokens.count(ONE), len(tokens)))
