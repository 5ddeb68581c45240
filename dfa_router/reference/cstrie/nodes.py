"""The nodes of the CS-trie.

An I-node (indirection) stays in its place, and the node that it points to is replaced: every update copies a C-node,
changes the copy, and sets the I-node's reference from the old node to the new one. A C-node has branches by word. A branch
has the subscriptions that end with its word, and the I-node below it if there are longer ones. Everything but the reference of
an I-node is immutable. A T-node (tomb) is the last node that an I-node points to: when the last branch of a C-node has been
removed, it prevents that a late insert puts a subscription into a node that is about to be cut off.

For Treat's subscriptions x = ``foo``, ``bar``, ``bar.baz``; y = ``foo``, ``bar.qux``; z = ``bar.*``::

    I ── C ─┬─ foo {x, y}
            └─ bar {x} ── I ── C ─┬─ baz {x}
                                  ├─ qux {y}
                                  └─ *   {z}
"""

from __future__ import annotations

from dfa_router.reference.cstrie.cell import Cell
from dfa_router.reference.words import Token

__all__ = ["Branch", "CNode", "Failed", "Generation", "INode", "MainNode", "TNode"]


class Generation:
    """Marks the nodes made between two snapshots; compared by identity."""

    __slots__ = ()


class Branch:
    """The subscriptions that end with one word of a C-node, and the I-node below it."""

    __slots__ = ("below", "positions")

    def __init__(self, positions: frozenset[int], below: INode | None) -> None:
        self.positions = positions
        self.below = below


class Failed:
    """Marks an update that a snapshot made invalid before it was committed; ``main`` is the node to go back to."""

    __slots__ = ("main",)

    def __init__(self, main: MainNode) -> None:
        self.main = main


class CNode:
    """Branches by word.

    ``prev`` is None in a node that is committed. In a node that was just put in place it is a cell that has the node before
    it, until the update is committed (then None) or has failed (then :class:`Failed`).
    """

    __slots__ = ("branches", "prev")

    def __init__(self, branches: dict[Token, Branch]) -> None:
        self.branches = branches
        self.prev: Cell[MainNode | Failed | None] | None = None

    def branch(self, token: Token) -> Branch | None:
        """Return the branch of a token, or None."""
        # Not get(): in a free-threaded Python 3.13 it takes the dictionary's lock twice where another thread made the value, and
        # waits for itself, 40 us each time.
        if token in self.branches:
            return self.branches[token]
        return None

    def with_branch(self, token: Token, branch: Branch) -> CNode:
        """Return a copy with this branch added, or in the place of the one that the token had."""
        return CNode({**self.branches, token: branch})

    def without(self, token: Token) -> CNode:
        """Return a copy without the branch."""
        branches = self.branches.copy()
        del branches[token]
        return CNode(branches)


class TNode:
    """A tomb: there is no branch left, and none will be added."""

    __slots__ = ("prev",)

    def __init__(self) -> None:
        self.prev: Cell[MainNode | Failed | None] | None = None


MainNode = CNode | TNode
"""What an I-node points to."""


class INode:
    """A reference to a C-node or T-node, and the generation in which it may be changed."""

    __slots__ = ("generation", "main")

    def __init__(self, main: Cell[MainNode], generation: Generation) -> None:
        self.main = main
        self.generation = generation
