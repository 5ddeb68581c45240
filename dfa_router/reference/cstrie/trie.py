"""The operations of the CS-trie.

**Subscribe** walks to the I-node of the pattern's last word (or of the last word that the trie has), copies its C-node
with the subscription added, and sets the reference. **Unsubscribe** does the same with a copy that lacks it; when the
last branch of a C-node goes, the I-node points to a T-node from then on, and the branch above is pruned "if it has no
subscribers and points to nowhere", and so on upwards. Whoever meets a T-node on the way does that pruning first. An
operation whose compare-and-set fails begins again.

**Snapshot** swaps the root for one of a new generation, in constant time. A writer that meets an I-node of an older
generation copies that I-node before it goes on, so each is copied at most once per snapshot, when it is first needed.

**Match** walks as in :mod:`~dfa_router.reference.trie`. A walk reads many I-nodes one after the other, and subscribers
come and go meanwhile. Treat calls look-ups linearizable, but a plain walk is not: for the key ``a.b`` it may read the
branch ``a`` before ``a.b`` is added there and the branch ``*`` after ``*.b`` was added, later, and so return the second
without the first, a state that never was. So a match reads all I-nodes that it visited a second time: if each points
where it did, all of them did at the moment between the two readings, which is the linearization point. (Nodes are never
put back, and those that a reader holds are not recycled, so equal means unchanged: no ABA.) After three attempts the
match is answered from a snapshot. ``any`` needs no second reading to say True.

Costs: as the trie's, and for an update a copy of one C-node, O(its branches), and of the branch's set of
subscriptions; a root with 10,000 different first words makes subscribing to one more cost that much. Space: for each
inner node of the trie an I-node and a cell more.

Deviations from Treat and from the Ctrie: the second reading; matches pass through I-nodes of older generations without
copying them, because those cannot change any more; a writer copies only the I-node that it goes through, not all
children of the C-node, for a C-node here has any number of branches. Left out: the hash trie itself with its list nodes
for colliding hashes (words are the keys, there are no hashes), rolled-up branches and a Bloom filter before the trie,
which the articles name as possible improvements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from dfa_router.engines.protocol import EngineInfo, EngineSpec
from dfa_router.language.dialects import Dialect
from dfa_router.reference.cstrie.cell import CellFactory, cell_factory
from dfa_router.reference.cstrie.gcas import Root
from dfa_router.reference.cstrie.nodes import Branch, CNode, Generation, INode, MainNode, TNode
from dfa_router.reference.cstrie.snapshot import NOBODY, Snapshot, walk
from dfa_router.reference.words import END, Token, check_free, check_held, tokens_of, words_of

__all__ = ["ENGINE", "ConcurrentTrie", "Snapshot", "build"]

ATTEMPTS = 3
"""Walks that may be disturbed before a match takes a snapshot."""


class ConcurrentTrie:
    """A subscription trie for any number of readers and writers at once."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect, cell: CellFactory) -> None:
        self._dialect = dialect
        self._root = Root(cell)
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)

    def add(self, position: int, pattern: bytes) -> None:
        """Subscribe; on return every later match sees it."""
        path = _path(pattern, self._dialect)
        while not self._insert(path, position):
            pass

    def remove(self, position: int, pattern: bytes) -> None:
        """Unsubscribe, and contract what is left empty."""
        path = _path(pattern, self._dialect)
        while True:
            removed = self._remove(path, position)
            if removed is not None:
                check_held(removed, position, pattern)
                return

    def positions(self, key: bytes) -> tuple[int, ...]:
        """Return who was subscribed to the key at one moment during the call, ascending."""
        words = words_of(key, self._dialect)
        for _ in range(ATTEMPTS):
            root = self._root.read()
            seen: dict[INode, MainNode] = {}
            matching = NOBODY.union(*self._walk(root, words, seen))
            if self._unchanged(root, seen):
                return tuple(sorted(matching))
        return self.snapshot().positions(key)

    def any(self, key: bytes) -> bool:
        """Tell whether anyone was subscribed to the key at one moment during the call."""
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
        # Cells hold no pickles: what travels are the subscriptions of one moment.
        return _restored, (tuple(self.snapshot().subscriptions()), self._dialect)

    def _unchanged(self, root: INode, seen: dict[INode, MainNode]) -> bool:
        """Read everything a second time."""
        if self._root.read() is not root:
            return False
        # What was committed stays so: only an I-node that points elsewhere now may be in the middle of an update.
        return all(inode.main.get() is main or self._root.settled(inode) is main for inode, main in seen.items())

    def _walk(self, root: INode, words: Sequence[bytes], seen: dict[INode, MainNode]) -> Iterator[frozenset[int]]:
        """Yield the subscriptions on the branches where the key can end; clear tombs away when all is read."""
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
        """Try once to add a subscription; False means: begin again."""
        inode = root = self._root.read()
        parent, last = root, len(path) - 1
        for depth, token in enumerate(path):
            main = self._root.settled(inode)
            if isinstance(main, TNode):
                self._prune(parent, path[depth - 1], inode, at_root=parent is root)
                return False
            branch = main.branches.get(token)
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
        """Try once to remove a subscription: whether it was there, or None: begin again."""
        root = self._root.read()
        inodes = [root]
        last = len(path) - 1
        for depth, token in enumerate(path):
            inode = inodes[depth]
            main = self._root.settled(inode)
            if isinstance(main, TNode):
                self._prune(inodes[depth - 1], path[depth - 1], inode, at_root=depth == 1)
                return None
            branch = main.branches.get(token)
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
        """Return the I-node below a branch in the root's generation, or None if it must be looked for again."""
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
            branch = main.branches.get(token)
            if branch is None or branch.below is not tomb:
                return  # someone else has done it
            left = Branch(branch.positions, None)
            if self._root.gcas(parent, main, contracted(main, token, left, at_root=at_root)):
                return
            if not self._root.in_generation(parent):
                return  # a snapshot was taken: whoever comes by in the new generation does it

    def _chain(self, path: Sequence[Token], position: int, generation: Generation) -> INode:
        """Make the I-nodes and C-nodes for the rest of a pattern."""
        branch = Branch(frozenset((position,)), None)
        for token in reversed(path[1:]):
            branch = Branch(NOBODY, self._root.new_inode(CNode({token: branch}), generation))
        return self._root.new_inode(CNode({path[0]: branch}), generation)


def contracted(main: CNode, token: Token, left: Branch, *, at_root: bool) -> MainNode:
    """Return a copy with what is left of a branch: without it if that is nothing, a tomb if it was the last."""
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


def _restored(subscriptions: Iterable[tuple[bytes, int]], dialect: Dialect) -> ConcurrentTrie:
    trie = build((), dialect)
    for pattern, position in subscriptions:
        trie.add(position, pattern)
    return trie


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
