"""The operations of the CS-trie.

**Subscribe** walks to the I-node of the pattern's last word (or of the last word that the trie has), copies its C-node
with the subscription added, and sets the reference. **Unsubscribe** does the same with a copy without the subscription. When
the last branch of a C-node has been removed, its I-node points to a T-node from then on, and the branch above is pruned "if
it has no subscribers and points to nowhere", and so on upwards. An operation that reads a T-node on its way does this pruning
first. An operation whose compare-and-set fails begins again.

**Snapshot** swaps the root for one of a new generation, in constant time. A writer that reaches an I-node of an older
generation copies that I-node before it goes on, so each is copied at most once for a snapshot, when it is first needed.

**Match** walks as in :mod:`~dfa_router.reference.trie`. A walk reads many I-nodes one after the other, while subscribers come
and go. Treat calls look-ups linearizable, but a plain walk is not: for the key ``a.b`` it may read the branch ``a`` before
``a.b`` is added there, and the branch ``*`` after ``*.b`` was added, which was later. So it returns the second without the
first, a state that never existed. Therefore a match reads all I-nodes that it visited a second time. If each still points to
the same node, all of them did so at the moment between the two readings, which is the linearization point. (A node that
was replaced is never put back, and a node that a reader refers to is not recycled, so the same node means that nothing has
changed: there is no ABA problem.) After three attempts the match is answered from a snapshot. ``any`` needs no second
reading to return True.

Costs: those of the trie, and for an update a copy of one C-node, O(its branches), and of the branch's set of subscriptions.
With 10,000 different first words at the root, a subscription with one more copies all of them. Space: an I-node and a cell
more for each inner node of the trie.

Deviations from Treat and from the Ctrie: the second reading. Matches pass through I-nodes of older generations without
copying them, as these cannot change any more. A writer copies only the I-node that it goes through, not all children of the
C-node, as a C-node has any number of branches here. Left out: the hash trie itself with its list nodes for colliding hashes
(branches are keyed by whole words, so there are no hashes); rolled-up branches, and a Bloom filter before the trie, which the
articles name as possible improvements.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import Dialect
from dfa_router.reference.cstrie.cell import CellFactory, cell_factory, cells_of
from dfa_router.reference.cstrie.gcas import Root
from dfa_router.reference.cstrie.nodes import Branch, CNode, Generation, INode, MainNode, TNode
from dfa_router.reference.cstrie.snapshot import NOBODY, Snapshot, walk
from dfa_router.reference.words import END, Token, check_free, check_held, tokens_of, words_of

__all__ = ["ENGINE", "ConcurrentTrie", "Snapshot", "build"]

ATTEMPTS = 3
"""Walks that updates may disturb before a match takes a snapshot."""


class ConcurrentTrie:
    """A subscription trie for any number of threads that read and write at the same time."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect, cell: CellFactory) -> None:
        self._dialect = dialect
        self._root = Root(cell)
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Subscribe; every match that begins after the return sees it."""
        path = _path(pattern, self._dialect)
        while not self._insert(path, position):
            pass

    def remove(self, position: int, pattern: bytes) -> None:
        """Unsubscribe, and prune nodes that are left empty."""
        check_held(self.discard(position, pattern), position, pattern)

    def discard(self, position: int, pattern: bytes) -> bool:
        """Unsubscribe as :meth:`remove` does if the subscription is there, and tell whether it was."""
        path = _path(pattern, self._dialect)
        while (removed := self._remove(path, position)) is None:
            pass
        return removed

    def held(self, pattern: bytes) -> tuple[int, ...]:
        """Return the positions that were subscribed with this very pattern at one moment during the call, ascending."""
        inode: INode | None = self._root.read()
        positions = NOBODY
        for token in _path(pattern, self._dialect):
            main = None if inode is None else self._root.settled(inode)
            branch = main.branch(token) if isinstance(main, CNode) else None
            if branch is None:
                return ()
            positions, inode = branch.positions, branch.below
        return tuple(sorted(positions))

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions that matched the key at one moment during the call, ascending."""
        words = words_of(key, self._dialect)
        for _ in range(ATTEMPTS):
            root = self._root.read()
            seen: dict[INode, MainNode] = {}
            matching = NOBODY.union(*self._walk(root, words, seen))
            if self._unchanged(root, seen):
                return tuple(sorted(matching))
        return self.snapshot().match(key)

    def any(self, key: bytes) -> bool:
        """Tell whether any position matched the key at one moment during the call."""
        words = words_of(key, self._dialect)
        for _ in range(ATTEMPTS):
            root = self._root.read()
            seen: dict[INode, MainNode] = {}
            if next(self._walk(root, words, seen), NOBODY):
                return True
            if self._unchanged(root, seen):
                return False
        return self.snapshot().any(key)

    def snapshot(self) -> Snapshot:
        """Return the subscriptions of this moment, in constant time; they never change."""
        while True:
            old = self._root.read()
            main = self._root.settled(old)
            if self._root.swap(old, main, self._root.new_inode(main, Generation())):
                return Snapshot(old, self._root, self._dialect)

    def __reduce__(self) -> tuple[Callable[..., ConcurrentTrie], tuple[Any, ...]]:
        # Cells cannot be pickled: the subscriptions of one moment are.
        return _restored, _reduced(self.snapshot())

    def _unchanged(self, root: INode, seen: dict[INode, MainNode]) -> bool:
        """Read all I-nodes that were seen a second time; tell whether they point to the same nodes."""
        if self._root.read() is not root:
            return False
        # A node that was committed stays committed. Only an I-node that points to another one now may be in an update.
        return all(inode.main.get() is main or self._root.settled(inode) is main for inode, main in seen.items())

    def _walk(self, root: INode, words: Sequence[bytes], seen: dict[INode, MainNode]) -> Iterator[frozenset[int]]:
        """Yield the subscriptions on the branches where the key can end; prune tombs when all is read."""
        yield from walk(root, words, self._root, seen)
        for inode, main in seen.items():
            if isinstance(main, TNode):
                self._clear_tomb(inode, root, seen)

    def _clear_tomb(self, tomb: INode, root: INode, seen: dict[INode, MainNode]) -> None:
        for parent, main in seen.items():
            if isinstance(main, CNode):
                for token, branch in main.branches.items():
                    if branch.below is tomb:
                        self._prune(parent, token, tomb, at_root=parent is root)
                        return

    def _insert(self, path: Sequence[Token], position: int) -> bool:
        """Try once to add a subscription; False means that the caller must begin again."""
        inode = root = self._root.read()
        parent, last = root, len(path) - 1
        for depth, token in enumerate(path):
            main = self._root.settled(inode)
            if isinstance(main, TNode):
                self._prune(parent, path[depth - 1], inode, at_root=parent is root)
                return False
            branch = main.branch(token)
            positions, below = (branch.positions, branch.below) if branch is not None else (NOBODY, None)
            if depth == last:
                check_free(position in positions, position)
                return self._root.gcas(inode, main, main.with_branch(token, Branch(positions | {position}, below)))
            if below is None:
                below = self._chain(path[depth + 1 :], position, root.generation)
                return self._root.gcas(inode, main, main.with_branch(token, Branch(positions, below)))
            renewed = self._renewed(inode, main, token, root)
            if renewed is None:
                return False
            parent, inode = inode, renewed
        raise AssertionError("a path has at least one token")

    def _remove(self, path: Sequence[Token], position: int) -> bool | None:
        """Try once to remove a subscription; return whether it was there, or None if the caller must begin again."""
        root = self._root.read()
        inodes = [root]
        last = len(path) - 1
        for depth, token in enumerate(path):
            inode = inodes[depth]
            main = self._root.settled(inode)
            if isinstance(main, TNode):
                self._prune(inodes[depth - 1], path[depth - 1], inode, at_root=depth == 1)
                return None
            branch = main.branch(token)
            if branch is None:
                return False
            if depth < last:
                if branch.below is None:
                    return False
                below = self._renewed(inode, main, token, root)
                if below is None:
                    return None
                inodes.append(below)
            else:
                if position not in branch.positions:
                    return False
                left = Branch(branch.positions - {position}, branch.below)
                if not self._root.gcas(inode, main, contracted(main, token, left, at_root=depth == 0)):
                    return None
        for depth in range(last, 0, -1):
            if not isinstance(self._root.settled(inodes[depth]), TNode):
                break
            self._prune(inodes[depth - 1], path[depth - 1], inodes[depth], at_root=depth == 1)
        return True

    def _renewed(self, inode: INode, main: CNode, token: Token, root: INode) -> INode | None:
        """Return the I-node below a branch in the root's generation, or None if the caller must begin again."""
        branch = main.branches[token]
        below = branch.below
        assert below is not None
        if below.generation is root.generation:
            return below
        main_below = self._root.settled(below)
        if isinstance(main_below, TNode):
            self._prune(inode, token, below, at_root=inode is root)
            return None
        renewed = self._root.new_inode(main_below, root.generation)
        return (
            renewed
            if self._root.gcas(inode, main, main.with_branch(token, Branch(branch.positions, renewed)))
            else None
        )

    def _prune(self, parent: INode, token: Token, tomb: INode, *, at_root: bool) -> None:
        """Cut a tombed I-node off its branch, and the branch off if nothing else hangs on it."""
        while True:
            main = self._root.settled(parent)
            if isinstance(main, TNode):
                return
            branch = main.branch(token)
            if branch is None or branch.below is not tomb:
                return  # another thread has done it
            left = Branch(branch.positions, None)
            if self._root.gcas(parent, main, contracted(main, token, left, at_root=at_root)):
                return
            if not self._root.in_generation(parent):
                return  # a snapshot was taken: an operation of the new generation will do it

    def _chain(self, path: Sequence[Token], position: int, generation: Generation) -> INode:
        """Make the I-nodes and C-nodes for the rest of a pattern."""
        branch = Branch(frozenset((position,)), None)
        for token in reversed(path[1:]):
            branch = Branch(NOBODY, self._root.new_inode(CNode({token: branch}), generation))
        return self._root.new_inode(CNode({path[0]: branch}), generation)


def contracted(main: CNode, token: Token, left: Branch, *, at_root: bool) -> MainNode:
    """Return a copy of the C-node with ``left`` for a branch.

    An empty branch is left out. If it was the last one, the copy is a tomb, except at the root.
    """
    if left.positions or left.below is not None:
        return main.with_branch(token, left)
    if len(main.branches) == 1 and not at_root:
        return TNode()
    return main.without(token)


def _path(pattern: bytes, dialect: Dialect) -> tuple[Token, ...]:
    return tokens_of(pattern, dialect) or (END,)


def build(patterns: Sequence[bytes], dialect: Dialect, *, cells: str = "auto") -> ConcurrentTrie:
    """Build a CS-trie; ``cells`` is "auto", "atomic" (cereggii) or "locked"."""
    return ConcurrentTrie(patterns, dialect, cell_factory(cells))


def _restored(subscriptions: Iterable[tuple[bytes, int]], dialect: Dialect, cells: str) -> ConcurrentTrie:
    trie = build((), dialect, cells=cells)
    for pattern, position in subscriptions:
        trie.add(position, pattern)
    return trie


def _restored_snapshot(subscriptions: Iterable[tuple[bytes, int]], dialect: Dialect, cells: str) -> Snapshot:
    return _restored(subscriptions, dialect, cells).snapshot()


def _reduced(snapshot: Snapshot) -> tuple[tuple[tuple[bytes, int], ...], Dialect, str]:
    return tuple(snapshot.subscriptions()), snapshot.dialect, cells_of(snapshot.root.cell)


# Here and not in its class, as it is made anew by way of a trie, of which that class knows nothing.
copyreg.pickle(Snapshot, lambda snapshot: (_restored_snapshot, _reduced(snapshot)))


ENGINE = EngineSpec(
    info=EngineInfo(
        name="cstrie",
        summary="a lock-free concurrent trie of words with constant-time snapshots",
        dynamic=True,
        concurrent=True,
        options=("cells",),
    ),
    build=build,
)
