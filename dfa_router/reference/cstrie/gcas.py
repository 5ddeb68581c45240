"""GCAS: compare-and-set of an I-node that fails when a snapshot was taken in between.

A snapshot is the old root, kept, and a new root of a new generation over the same nodes. From then on the old nodes
must not change, although writers that read the old root may be about to. So an update has to compare two things at
once: that the I-node still points to the node that was copied, and that its generation is still the root's. No
processor has a compare-and-set for two places, hence two steps (Prokopec et al. 2012, after Harris, Fraser and Pratt's
RDCSS, 2002): put the new node in place with a note of the old one, then look at the root's generation, and either
commit by erasing the note or go back. Whoever reads a node with a note finishes the step for its writer, so nobody
waits.

The root is swapped likewise: a descriptor is put in its place, and whoever meets it checks that the old root still has
the expected node, and completes the swap or undoes it. A writer that must decide on its own update undoes it at once
instead: the one who takes the snapshot tries again.
"""

from __future__ import annotations

from dfa_router.reference.cstrie.cell import CellFactory
from dfa_router.reference.cstrie.nodes import CNode, Failed, Generation, INode, MainNode

__all__ = ["Root", "RootSwap"]


class RootSwap:
    """The descriptor of a swap of the root that is under way."""

    __slots__ = ("committed", "expected", "new", "old")

    def __init__(self, old: INode, expected: MainNode, new: INode) -> None:
        self.old = old
        self.expected = expected
        self.new = new
        self.committed = False


class Root:
    """The root of a trie, with the two compare-and-set operations that depend on it."""

    def __init__(self, cell: CellFactory) -> None:
        self._cell = cell
        self._root = cell(self.new_inode(CNode({}), Generation()))

    def new_inode(self, main: MainNode, generation: Generation) -> INode:
        """Make an I-node that points to a committed node."""
        return INode(self._cell(main), generation)

    def read(self, *, abort: bool = False) -> INode:
        """Return the root; a swap that is under way is completed, or undone with ``abort``."""
        while True:
            value = self._root.get()
            if isinstance(value, INode):
                return value
            assert isinstance(value, RootSwap)
            if not abort and self.settled(value.old) is value.expected:
                if self._root.compare_and_set(value, value.new):
                    value.committed = True
                    return value.new
            elif self._root.compare_and_set(value, value.old):
                return value.old

    def swap(self, old: INode, expected: MainNode, new: INode) -> bool:
        """Replace the root if it is ``old`` and points to ``expected``.

        Where another thread has completed the swap and not yet said so, the answer is False: the caller swaps once
        more, which costs a generation and changes nothing.
        """
        swap = RootSwap(old, expected, new)
        if not self._root.compare_and_set(old, swap):
            return False
        self.read()
        return swap.committed

    def gcas(self, inode: INode, old: MainNode, new: MainNode) -> bool:
        """Let the I-node point to ``new`` if it points to ``old`` and belongs to the root's generation."""
        prev = self._cell(old)
        new.prev = prev
        if not inode.main.compare_and_set(old, new):
            return False
        self.settle(inode, new)
        committed = prev.get() is None
        if committed:
            new.prev = None  # the cell has served
        return committed

    def settled(self, inode: INode) -> MainNode:
        """Return the committed node that the I-node points to."""
        main: MainNode = inode.main.get()
        return main if main.prev is None else self.settle(inode, main)

    def settle(self, inode: INode, main: MainNode) -> MainNode:
        """Commit or undo the update that put ``main`` in place, whoever began it, and return what is committed."""
        while True:
            prev = main.prev
            before = None if prev is None else prev.get()
            if prev is None or before is None:
                return main
            if isinstance(before, Failed):
                if inode.main.compare_and_set(main, before.main):
                    return before.main
                main = inode.main.get()
            elif self.in_generation(inode):
                if prev.compare_and_set(before, None):
                    return main
            else:
                prev.compare_and_set(before, Failed(before))
                main = inode.main.get()

    def in_generation(self, inode: INode) -> bool:
        """Tell whether the I-node may still change: no snapshot was taken since it was made."""
        return self.read(abort=True).generation is inode.generation
