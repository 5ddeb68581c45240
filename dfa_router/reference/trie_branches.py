"""Branch-indexed trie: ``*`` subscriptions copied into every branch of a known topic space.

Tyler Treat's "Fast Topic Matching" asks why a trie needs ``*`` nodes at all: "just follow all branches" and add the
subscriber to each. He rejects it, because it needs the topic space beforehand and loses the small memory of the trie. It
is here to be measured. Over the topics ``forex.usd``, ``forex.eur`` and ``stock.nyse``, with 0 = ``forex.*`` and
1 = ``*.*``::

    root ─┬─ forex ─┬─ usd    0, 1
          │         └─ eur    0, 1
          └─ stock ─── nyse   1

Costs: matching is one descent without backtracking, O(words + answer). Subscribing follows every branch that a wildcard
may take, O(topics) at worst. Space is O(words of the topics + sum of the answers' lengths).

Deviations: ``#`` is copied likewise, into every node below. A key outside of the space is an error or, with
``unknown="add"``, becomes a topic, which is tested against every subscription once; topics are never removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dfa_router.language.dialects import Dialect
from dfa_router.reference.topic_space import adds_unknown, outside, topic_bytes
from dfa_router.reference.words import MANY, ONE, Token, check_free, check_held, fits, tokens_of, words_of

__all__ = ["BranchIndexedTrie"]


class TopicNode:
    """A node of the topic space; ``positions`` is None where no topic ends."""

    __slots__ = ("branches", "positions")

    def __init__(self) -> None:
        self.branches: dict[bytes, TopicNode] = {}
        self.positions: set[int] | None = None


class BranchIndexedTrie:
    """A trie of topics; each topic has the positions that match it."""

    def __init__(
        self, patterns: Sequence[bytes], dialect: Dialect, *, topics: Iterable[bytes | str], unknown: str = "error"
    ) -> None:
        self._dialect = dialect
        self._adds_unknown = adds_unknown(unknown)
        self._root = TopicNode()
        self._subscriptions: dict[int, tuple[Token, ...]] = {}
        for topic in topic_bytes(topics):
            self._add_topic(words_of(topic, dialect))
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Follow every branch that the pattern allows, and add the position to each topic that is reached."""
        check_free(position in self._subscriptions, position)
        tokens = tokens_of(pattern, self._dialect)
        self._subscriptions[position] = tokens
        for node in self._ends(tokens):
            if node.positions is not None:
                node.positions.add(position)

    def remove(self, position: int, pattern: bytes) -> None:
        """Follow the same branches, and remove the position."""
        tokens = tokens_of(pattern, self._dialect)
        check_held(self._subscriptions.get(position) == tokens, position, pattern)
        del self._subscriptions[position]
        for node in self._ends(tokens):
            if node.positions is not None:
                node.positions.discard(position)

    def match(self, key: bytes) -> tuple[int, ...]:
        """Descend word by word, without backtracking."""
        return tuple(sorted(self._topic(key)))

    def any(self, key: bytes) -> bool:
        """Descend word by word."""
        return bool(self._topic(key))

    def __getstate__(self) -> dict[str, Any]:
        # Topic by topic: nodes that are pickled with what they refer to go deeper than Python recurses.
        return {**self.__dict__, "_root": list(self._topics())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _root=TopicNode())
        for words, positions in state["_root"]:
            self._node(words).positions = positions

    def _topics(self) -> Iterator[tuple[tuple[bytes, ...], set[int]]]:
        """Yield the words of each topic, and the positions that match it."""
        stack: list[tuple[TopicNode, tuple[bytes, ...]]] = [(self._root, ())]
        while stack:
            node, words = stack.pop()
            if node.positions is not None:
                yield words, node.positions
            stack += [(child, (*words, word)) for word, child in node.branches.items()]

    def _topic(self, key: bytes) -> set[int]:
        """Return the positions of a key's topic, which is added if the key is unknown and that is wanted."""
        words = words_of(key, self._dialect)
        node: TopicNode | None = self._root
        for word in words:
            node = None if node is None else node.branches.get(word)
        if node is not None and node.positions is not None:
            return node.positions
        if not self._adds_unknown:
            raise outside(key)
        return self._add_topic(words)

    def _node(self, words: Sequence[bytes]) -> TopicNode:
        """Return the node that words lead to, which is made if it is not there."""
        node = self._root
        for word in words:
            node = node.branches.setdefault(word, TopicNode())
        return node

    def _add_topic(self, words: Sequence[bytes]) -> set[int]:
        node = self._node(words)
        if node.positions is None:
            node.positions = {i for i, tokens in self._subscriptions.items() if fits(tokens, words)}
        return node.positions

    def _ends(self, tokens: Sequence[Token]) -> set[TopicNode]:
        """Return the nodes that words that match the pattern lead to."""
        nodes = {self._root}
        for token in tokens:
            if token is ONE:
                nodes = {child for node in nodes for child in node.branches.values()}
            elif token is MANY:
                stack = list(nodes)
                while stack:
                    fresh = [child for child in stack.pop().branches.values() if child not in nodes]
                    nodes.update(fresh)
                    stack += fresh
            else:
                assert isinstance(token, bytes)
                nodes = {node.branches[token] for node in nodes if token in node.branches}
        return nodes
