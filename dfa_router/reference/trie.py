"""Trie: the words of all patterns in one tree, walked with backtracking at ``*`` and ``#``.

The structure that RabbitMQ (articles of 2011), ZeroMQ and most brokers settled on, described in Tyler Treat's "Fast
Topic Matching" for ``*``. For the articles' patterns ``a.b.c``, ``a.*.b.c``, ``a.#.c`` and ``b.b.c``::

    root ─┬─ a ─┬─ b ── c            0
          │     ├─ * ── b ── c       1
          │     └─ # ── c            2
          └─ b ── b ── c             3

A walk for ``a.d.d.d.c`` goes to ``a``. It finds no ``d`` there; it takes ``*`` for the first ``d``, and finds no ``b`` for
the second; and at ``#`` it tries every rest of the key, ``d.d.d.c``, ``d.d.c``, ``d.c``, ``c`` and the empty one, of which
``c`` leads to binding 2.

Costs: subscribing and unsubscribing O(words). Matching visits each pair (node, words read) at most once, so it is
O(nodes on matching paths * words) even for patterns with many ``#``, where a plain walk is exponential: fifteen ``#``
against 31 words are C(46, 15) paths. A pair can only be reached twice below a second ``#`` on one path, so visited pairs are
only remembered there; RabbitMQ has done the same since 4.3.5. Space is O(distinct prefixes); removing a binding
prunes the nodes that only it used (RabbitMQ leaked these until 4.2.3).

Deviations: a ``#`` at the end of a path accepts at once instead of trying every rest of the key. ``any`` stops at the first
node that accepts.

A variant that Treat considers and rejects, without ``*`` nodes but over a known topic space, is the option ``topics``: see
:mod:`~dfa_router.reference.trie_branches`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dfa_router.engines.protocol import DynamicMatcher, EngineInfo, EngineSpec
from dfa_router.errors import OptionError
from dfa_router.language.dialects import Dialect
from dfa_router.reference.trie_branches import BranchIndexedTrie
from dfa_router.reference.words import (
    MANY,
    ONE,
    Token,
    check_free,
    check_held,
    routed,
    tokens_of,
    unseen_by_wildcards,
    words_of,
)

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["ENGINE", "Trie"]


class Node:
    """A node of the trie: the positions of the patterns that end here, and the children."""

    __slots__ = ("branches", "is_many", "many", "manys", "one", "positions")

    def __init__(self, manys: int, is_many: bool) -> None:
        self.branches: dict[bytes, Node] = {}
        self.one: Node | None = None
        self.many: Node | None = None
        self.manys = manys
        """The number of ``#`` on the path to this node."""
        self.is_many = is_many
        """Whether the path ends in ``#``, so that a walk may read words and stay here."""
        self.positions: set[int] = set()

    def child(self, token: Token) -> Node | None:
        """Return the child by a token, or None."""
        if token is ONE:
            return self.one
        if token is MANY:
            return self.many
        assert isinstance(token, bytes)
        if token in self.branches:  # not get(): see CNode.branch
            return self.branches[token]
        return None

    def make_child(self, token: Token) -> Node:
        """Return the child by a token, which is made if it is not there."""
        child = self.child(token)
        if child is None:
            child = Node(self.manys + (token is MANY), token is MANY)
            if token is ONE:
                self.one = child
            elif token is MANY:
                self.many = child
            else:
                assert isinstance(token, bytes)
                self.branches[token] = child
        return child

    def cut(self, token: Token) -> None:
        """Remove the child by a token."""
        if token is ONE:
            self.one = None
        elif token is MANY:
            self.many = None
        else:
            assert isinstance(token, bytes)
            del self.branches[token]

    @property
    def leads_on(self) -> bool:
        """Whether the node has children."""
        return bool(self.branches) or self.one is not None or self.many is not None


class Trie:
    """A trie of the words of patterns, with children for both wildcards."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect) -> None:
        self._dialect = dialect
        self._root = Node(0, is_many=False)
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Descend, making nodes where there are none, and add the position to the last node."""
        node = self._node(tokens_of(pattern, self._dialect))
        check_free(position in node.positions, position)
        node.positions.add(position)

    def _node(self, tokens: Sequence[Token]) -> Node:
        """Return the node at the end of a path, whose nodes are made where they are not there."""
        node = self._root
        for token in tokens:
            node = node.make_child(token)
        return node

    def remove(self, position: int, pattern: bytes) -> None:
        """Remove the position, and prune the nodes that no other pattern needs."""
        path: list[tuple[Node, Token]] = []
        node: Node | None = self._root
        for token in tokens_of(pattern, self._dialect):
            if node is None:
                break
            path.append((node, token))
            node = node.child(token)
        check_held(node is not None and position in node.positions, position, pattern)
        assert node is not None
        node.positions.discard(position)
        for parent, token in reversed(path):
            if node.positions or node.leads_on:
                break
            parent.cut(token)
            node = parent

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions of all nodes at which the key can end."""
        accepted: set[int] = set()
        for node in self._accepting(key):
            accepted |= node.positions
        return tuple(sorted(accepted))

    def any(self, key: bytes) -> bool:
        """Walk up to the first node at which the key can end."""
        return next(self._accepting(key), None) is not None

    def __getstate__(self) -> tuple[Dialect, list[tuple[tuple[Token, ...], set[int]]]]:
        # Path by path: nodes that are pickled with what they refer to go deeper than Python recurses.
        return self._dialect, list(self._paths())

    def __setstate__(self, state: tuple[Dialect, list[tuple[tuple[Token, ...], set[int]]]]) -> None:
        self._dialect, paths = state
        self._root = Node(0, is_many=False)
        for path, positions in paths:
            self._node(path).positions |= positions

    def _paths(self) -> Iterator[tuple[tuple[Token, ...], set[int]]]:
        """Yield the path to each node at which patterns end, and their positions."""
        stack: list[tuple[Node, tuple[Token, ...]]] = [(self._root, ())]
        while stack:
            node, path = stack.pop()
            if node.positions:
                yield path, node.positions
            wildcards = ((ONE, node.one), (MANY, node.many))
            stack += [(child, (*path, word)) for word, child in node.branches.items()]
            stack += [(child, (*path, token)) for token, child in wildcards if child is not None]

    def node_count(self) -> int:
        """Return the number of nodes with the root; an empty trie has one."""
        count = 0
        stack = [self._root]
        while stack:
            node = stack.pop()
            count += 1
            stack += [*node.branches.values(), *(child for child in (node.one, node.many) if child is not None)]
        return count

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the trie as a graph: nodes with ``start``, ``loops`` and ``tags``, edges with ``kind`` and ``label``.

        ``tags`` are the positions that end at a node; ``kind`` is ``literal``, ``one`` or ``many``.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(kind="trie")
        graph.add_node(0, start=True, loops=False, tags=tuple(sorted(self._root.positions)))
        stack = [(self._root, 0)]
        while stack:
            node, number = stack.pop()
            ways: list[tuple[str, str, Node | None]] = [("many", "#", node.many), ("one", "*", node.one)]
            ways += [
                ("literal", word.decode("utf-8", "backslashreplace"), child) for word, child in node.branches.items()
            ]
            for kind, label, child in ways:
                if child is not None:
                    below = len(graph)
                    graph.add_node(below, start=False, loops=child.is_many, tags=tuple(sorted(child.positions)))
                    graph.add_edge(number, below, kind=kind, label=label)
                    stack.append((child, below))
        return graph

    def _accepting(self, key: bytes) -> Iterator[Node]:
        """Yield the nodes with bindings at which the key can end; a node below a ``#`` may be yielded more than once."""
        if not routed(key, self._dialect):
            return
        words = words_of(key, self._dialect)
        visited: set[tuple[Node, int]] = set()
        stack = [(self._root, 0)]
        if unseen_by_wildcards(key, self._dialect):
            first = self._root.branches.get(words[0])
            stack = [(first, 1)] if first is not None else []
        while stack:
            node, read = stack.pop()
            if node.manys > 1:
                if (node, read) in visited:
                    continue
                visited.add((node, read))
            if read < len(words):
                if words[read] in node.branches:  # not get(): see CNode.branch
                    stack.append((node.branches[words[read]], read + 1))
                if node.one is not None:
                    stack.append((node.one, read + 1))
                if node.is_many:
                    stack.append((node, read + 1))
            elif node.positions and not node.is_many:
                yield node
            many = node.many
            if many is not None:
                if many.positions:
                    yield many
                if many.leads_on:
                    stack.append((many, read))


def build(
    patterns: Sequence[bytes],
    dialect: Dialect,
    *,
    topics: Iterable[bytes | str] | None = None,
    unknown: str | None = None,
) -> DynamicMatcher:
    """Build a backtracking trie, or the branch-indexed one over ``topics``."""
    if topics is not None:
        if not dialect.plain:
            raise OptionError(f"a trie with topics does not know the rules of {dialect.name!r}: leave topics out")
        return BranchIndexedTrie(patterns, dialect, topics=topics, unknown=unknown or "error")
    if unknown is not None:
        raise OptionError(
            "unknown says what to do with a key outside the topic space: pass topics= as well, or neither"
        )
    return Trie(patterns, dialect)


ENGINE = EngineSpec(
    info=EngineInfo(
        name="trie",
        summary="a trie of words, walked with backtracking at wildcards",
        rules=True,
        dynamic=True,
        options=("topics", "unknown"),
    ),
    build=build,
)
