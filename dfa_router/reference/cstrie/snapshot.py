"""Reading the CS-trie: the walk of a key through its nodes, and snapshots, which are read and never change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dfa_router.language.dialects import Dialect
from dfa_router.reference.cstrie.gcas import Root
from dfa_router.reference.cstrie.nodes import INode, MainNode, TNode
from dfa_router.reference.words import END, MANY, ONE, Token, words_of

__all__ = ["NOBODY", "Snapshot", "walk"]

NOBODY: frozenset[int] = frozenset()
"""No subscriptions."""


class Snapshot:
    """The subscriptions at one moment, for reading; later changes do not affect it."""

    def __init__(self, root: INode, roots: Root, dialect: Dialect) -> None:
        self._inode = root
        self.root = roots
        self.dialect = dialect
        """The pattern language of the subscriptions."""

    def match(self, key: bytes) -> tuple[int, ...]:
        """Return the positions whose patterns match, ascending."""
        return tuple(sorted(NOBODY.union(*walk(self._inode, words_of(key, self.dialect), self.root, {}))))

    def any(self, key: bytes) -> bool:
        """Tell whether a pattern matches."""
        return next(walk(self._inode, words_of(key, self.dialect), self.root, {}), None) is not None

    def subscriptions(self) -> Iterator[tuple[bytes, int]]:
        """Yield each subscription's pattern and position, in no particular order."""
        texts = {ONE: self.dialect.one, MANY: self.dialect.many}
        stack: list[tuple[INode, tuple[Token, ...]]] = [(self._inode, ())]
        while stack:
            inode, path = stack.pop()
            main = self.root.settled(inode)
            if isinstance(main, TNode):
                continue
            for token, branch in main.branches.items():
                tokens = () if token is END else (*path, token)
                if branch.positions:
                    words = [texts[word] if not isinstance(word, bytes) else word for word in tokens]
                    pattern = self.dialect.separator.join(word for word in words if word is not None)
                    yield from ((pattern, position) for position in branch.positions)
                if branch.below is not None:
                    stack.append((branch.below, tokens))


def walk(root: INode, words: Sequence[bytes], roots: Root, seen: dict[INode, MainNode]) -> Iterator[frozenset[int]]:
    """Yield the subscriptions on each branch where the key can end, and record in ``seen`` what each I-node pointed to.

    An I-node is read once, however often the walk reaches it. As in the backtracking trie, visited pairs are only remembered
    below a second ``#``.
    """
    visited: set[tuple[INode, int]] = set()
    stack = [(root, 0, 0, False)]
    while stack:
        inode, read, manys, is_many = stack.pop()
        if manys > 1:
            if (inode, read) in visited:
                continue
            visited.add((inode, read))
        main = seen.get(inode)
        if main is None:
            main = seen[inode] = roots.settled(inode)
        if isinstance(main, TNode):
            continue
        branches = main.branches
        if read < len(words):
            for token in (words[read], ONE):
                if token in branches:  # as in CNode.branch, without a call
                    branch = branches[token]
                    if read + 1 == len(words) and branch.positions:
                        yield branch.positions
                    if branch.below is not None:
                        stack.append((branch.below, read + 1, manys, False))
            if is_many:
                stack.append((inode, read + 1, manys, True))
        elif not words and END in branches:
            yield branches[END].positions
        if MANY in branches:
            branch = branches[MANY]
            if branch.positions:
                yield branch.positions
            if branch.below is not None:
                stack.append((branch.below, read, manys + 1, True))
