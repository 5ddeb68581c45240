"""CS-tries that are broken on purpose: each lacks one safeguard of the real one, and the checks must notice."""

from __future__ import annotations

from collections.abc import Sequence

from dfa_router.language.dialects import Dialect
from dfa_router.reference.cstrie.cell import CellFactory
from dfa_router.reference.cstrie.gcas import Root
from dfa_router.reference.cstrie.nodes import Branch, CNode, INode, MainNode, TNode
from dfa_router.reference.cstrie.snapshot import Snapshot
from dfa_router.reference.cstrie.trie import ConcurrentTrie
from dfa_router.reference.words import Token

__all__ = ["OneReading", "WithoutGenerations", "WithoutNewGeneration", "WithoutTombs"]


class _CommitsAlways(Root):
    def in_generation(self, inode: INode) -> bool:
        self.read(abort=True)
        return True


class WithoutGenerations(ConcurrentTrie):
    """Compare-and-set alone: an update commits although a snapshot was taken since its root was read."""

    def __init__(self, patterns: Sequence[bytes], dialect: Dialect, cell: CellFactory) -> None:
        super().__init__((), dialect, cell)
        self._root = _CommitsAlways(cell)
        for position, pattern in enumerate(patterns):
            self.add(position, pattern)


class WithoutNewGeneration(ConcurrentTrie):
    """A snapshot that keeps the root's generation, so that writers go on changing the nodes that it shares."""

    def snapshot(self) -> Snapshot:
        while True:
            old = self._root.read()
            main = self._root.settled(old)
            if self._root.swap(old, main, self._root.new_inode(main, old.generation)):
                return Snapshot(old, self._root, self._dialect)


class OneReading(ConcurrentTrie):
    """A match without the second reading: Treat's look-up."""

    def _unchanged(self, root: INode, seen: dict[INode, MainNode]) -> bool:
        return True


class WithoutTombs(ConcurrentTrie):
    """Cuts an empty C-node off without a tomb: an insert into it in the meantime is lost."""

    def _remove(self, path: Sequence[Token], position: int) -> bool | None:
        root = self._root.read()
        inodes = [root]
        for depth, token in enumerate(path):
            main = self._root.settled(inodes[depth])
            assert not isinstance(main, TNode)
            branch = main.branches.get(token)
            if branch is None or (depth < len(path) - 1 and branch.below is None):
                return False
            if depth < len(path) - 1:
                below = self._renewed(inodes[depth], main, token, root)
                if below is None:
                    return None
                inodes.append(below)
            else:
                left = Branch(branch.positions - {position}, branch.below)
                keeps = left.positions or left.below is not None
                if not self._root.gcas(
                    inodes[depth], main, main.with_branch(token, left) if keeps else main.without(token)
                ):
                    return None
        for depth in range(len(path) - 1, 0, -1):
            main = self._root.settled(inodes[depth])
            if isinstance(main, CNode) and not main.branches:
                parent = self._root.settled(inodes[depth - 1])
                assert isinstance(parent, CNode)
                branch = parent.branches.get(path[depth - 1])
                if branch is not None and branch.below is inodes[depth]:
                    keeps = bool(branch.positions)
                    left = Branch(branch.positions, None)
                    token = path[depth - 1]
                    self._root.gcas(
                        inodes[depth - 1], parent, parent.with_branch(token, left) if keeps else parent.without(token)
                    )
        return True
