"""Inverted bitmap: one bitmap of subscriptions for each topic of a known topic space.

Leif Svalgaard and Bo Tveden invented the technique for a telephone directory in 1980-81; ZeroMQ's "High-speed message
matching" whitepaper applies it to messages, and Tyler Treat's "Fast Topic Matching" measures it. Subscriptions are numbered;
each topic has the bitmap of those that match it. For Treat's topics and 0 = ``forex.*``, 1 = ``stock.nyse``, 2 = ``*.*``,
3 = ``stock.*``:

================  =  =  =  =
topic             0  1  2  3
================  =  =  =  =
``forex.usd``     1  0  1  0
``stock.nasdaq``  0  0  1  1
``stock.nyse``    0  1  1  1
================  =  =  =  =

and a message for ``stock.nyse`` is one look-up and three bits: 1, 2, 3.

Costs: matching is one look-up in a hash table, and the bits that are set. Subscribing tests the pattern against every topic,
O(topics * words); unsubscribing clears a bit in every topic, O(topics). Space is a compressed bitmap for each topic.

Deviations: the bitmaps are roaring bitmaps. A key outside of the topic space is an error or, with ``unknown="add"``, becomes
a topic, which is tested against every subscription once. Topics are never removed, so an endless stream of new keys lets
the index grow without end. Without ``topics`` the space is empty at first, and keys are added. The whitepaper lets
``forex.*`` match ``forex`` in this section and not in its next; here ``*`` is exactly one word. ``any`` tests whether the
bitmap is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyroaring import BitMap

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import Dialect
from dfa_router.reference.topic_space import adds_unknown, outside, topic_bytes
from dfa_router.reference.words import Token, check_free, check_held, fits, tokens_of, words_of

__all__ = ["ENGINE", "InvertedBitmap"]


class InvertedBitmap:
    """A bitmap of matching positions for each topic."""

    def __init__(
        self,
        patterns: Sequence[bytes],
        dialect: Dialect,
        *,
        topics: Iterable[bytes | str] | None = None,
        unknown: str | None = None,
    ) -> None:
        self._dialect = dialect
        self._adds_unknown = adds_unknown(unknown or ("add" if topics is None else "error"))
        self._subscriptions: dict[int, tuple[Token, ...]] = {}
        self._rows = {topic: BitMap() for topic in topic_bytes(() if topics is None else topics)}
        self._topics = [(words_of(topic, dialect), row) for topic, row in self._rows.items()]
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Set the position's bit in the row of each topic that the pattern matches."""
        check_free(position in self._subscriptions, position)
        tokens = tokens_of(pattern, self._dialect)
        self._subscriptions[position] = tokens
        for words, row in self._topics:
            if fits(tokens, words):
                row.add(position)

    def remove(self, position: int, pattern: bytes) -> None:
        """Clear the position's bit in every row."""
        check_held(self._subscriptions.get(position) == tokens_of(pattern, self._dialect), position, pattern)
        del self._subscriptions[position]
        for _, row in self._topics:
            row.discard(position)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Look the topic up, and return its bits that are set."""
        return tuple(self._row(key))

    def any(self, key: bytes) -> bool:
        """Look the topic up, and tell whether a bit is set."""
        return bool(self._row(key))

    def to_table(self) -> list[list[str]]:
        """Return the bitmaps as text: a header, then a row for each topic with a column for each position, 1 if it matches.

        >>> from dfa_router.language.dialects import AMQP
        >>> InvertedBitmap([b"forex.*"], AMQP, topics=["forex.usd", "stock"]).to_table()
        [['topic', '0'], ['forex.usd', '1'], ['stock', '0']]
        """
        positions = sorted(self._subscriptions)
        rows = [["topic", *map(str, positions)]]
        for topic, row in self._rows.items():
            rows.append([topic.decode("utf-8", "backslashreplace"), *("1" if i in row else "0" for i in positions)])
        return rows

    def _row(self, key: bytes) -> BitMap:
        row = self._rows.get(key)
        if row is not None:
            return row
        if not self._adds_unknown:
            raise outside(key)
        words = words_of(key, self._dialect)
        row = BitMap(position for position, tokens in self._subscriptions.items() if fits(tokens, words))
        self._topics.append((words, row))
        self._rows[key] = row
        return row


ENGINE = EngineSpec(
    info=EngineInfo(
        name="inverted",
        summary="a roaring bitmap of bindings per topic of a known topic space",
        dynamic=True,
        needs_topics=True,
        options=("topics", "unknown"),
    ),
    build=InvertedBitmap,
)
