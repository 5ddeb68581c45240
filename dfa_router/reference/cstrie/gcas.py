"""GCAS: compare-and-set of an I-node that fails if a snapshot was taken in between.

A snapshot keeps the old root, and the trie goes on with a new root of a new generation over the same nodes. From then on the
old nodes must not change, though a writer that has read the old root may be about to change one. So an update has to compare
two things at once: that the I-node still points to the node that was copied, and that its generation is still the root's. No
processor has a compare-and-set for two places, so there are two steps (Prokopec et al. 2012, after Harris, Fraser and Pratt's
RDCSS, 2002). The new node is put in place with a reference to the old one, its ``prev``. Then the root's generation is
compared, and the update is committed by clearing ``prev``, or undone. A thread that reads a node with ``prev`` finishes the
update for its writer, so no thread waits for another.

The root is swapped in a similar way: a descriptor is put in its place, and a thread that reads it checks that the old root
still points to the expected node, and completes the swap or undoes it. A writer that is deciding on its own update undoes the
swap at once; the thread that takes the snapshot then tries again.
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
        self.cell = cell
        """What makes the cells."""
        self._root = cell(self.new_inode(CNode({}), Generation()))

    def new_inode(self, main: MainNode, generation: Generation) -> INode:
        """Make an I-node that points to a committed node."""
        return INode(self.cell(main), generation)

    def read(self, *, abort: bool = False) -> INode:
        """Return the root; a swap that is under way is completed, or with ``abort`` undone."""
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

        The result may be False although another thread has completed the swap, if that thread has not set ``committed`` yet.
        Then the caller swaps once more, which uses up a generation and changes nothing else.
        """
        swap = RootSwap(old, expected, new)
        if not self._root.compare_and_set(old, swap):
            return False
        self.read()
        return swap.committed

    def gcas(self, inode: INode, old: MainNode, new: MainNode) -> bool:
        """Let the I-node point to ``new`` if it points to ``old`` and belongs to the root's generation."""
        prev = self.cell(old)
        new.prev = prev
        if not inode.main.compare_and_set(old, new):
            return False
        self.settle(inode, new)
        committed = prev.get() is None
        if committed:
            new.prev = None  # the cell is not needed any more
        return committed

    def settled(self, inode: INode) -> MainNode:
        """Return the committed node that the I-node points to."""
        main: MainNode = inode.main.get()
        return main if main.prev is None else self.settle(inode, main)

    def settle(self, inode: INode, main: MainNode) -> MainNode:
        """Commit or undo the update that put ``main`` in place, whichever thread began it; return the committed node."""
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
