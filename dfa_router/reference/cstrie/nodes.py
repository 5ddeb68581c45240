"""The nodes of the CS-trie.

An I-node (indirection) stays where it is while what it points to is replaced: every update copies a C-node, changes the
copy and sets the I-node's reference from the old node to the new one. A C-node holds the branches, keyed by word; a
branch holds the subscriptions that end with its word, and the I-node below it, if longer ones go on. All but the
I-node's reference is immutable. A T-node (tomb) is the last thing that an I-node ever points to: after the last branch
of a C-node was removed it keeps a late insert from being put into a node that is about to be cut off.

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
    """The mark of the time between two snapshots, compared by identity."""

    __slots__ = ()


class Branch:
    """What hangs on one word of a C-node."""

    __slots__ = ("below", "positions")

    def __init__(self, positions: frozenset[int], below: INode | None) -> None:
        self.positions = positions
        self.below = below


class Failed:
    """Marks an update whose generation was over when it was to be committed; holds the node to go back to."""

    __slots__ = ("main",)

    def __init__(self, main: MainNode) -> None:
        self.main = main


class CNode:
    """Branches by word.

    ``prev`` is None in a node that is committed. In one that was just put in place it is a cell, which holds the node
    that was there before until the update is committed (then None) or failed (then :class:`Failed`).
    """

    __slots__ = ("branches", "prev")

    def __init__(self, branches: dict[Token, Branch]) -> None:
        self.branches = branches
        self.prev: Cell[MainNode | Failed | None] | None = None

    def with_branch(self, token: Token, branch: Branch) -> CNode:
        """Return a copy in which this branch is there, or another."""
        return CNode({**self.branches, token: branch})

    def without(self, token: Token) -> CNode:
        """Return a copy without the branch."""
        branches = self.branches.copy()
        del branches[token]
        return CNode(branches)


class TNode:
    """A tomb: no branch is left, and none will be added."""

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
