"""How a key fits a pattern, or nearly does, by dynamic programming over tokens and words.

The distance is the fewest *word edits* that make the key match: to put in a word, to leave one out, to replace one. It is
Levenshtein's, where ``*`` takes any word for nothing and ``#`` any number of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler import Token, Wildcard

__all__ = ["Fit", "fitted", "longest_prefix"]

_KEEP, _SKIP, _LEAVE, _END = "keep", "skip", "leave", "end"


@dataclass(frozen=True, slots=True)
class Fit:
    """How a key, with the fewest edits, fits a pattern."""

    edits: int
    taken: tuple[tuple[bytes, ...], ...]
    """For each token the words it takes, after the edits; None of the bytes are fresh words but where edits put them in."""

    def key(self) -> tuple[bytes, ...]:
        """Return the words of the edited key."""
        return tuple(word for words in self.taken for word in words)


def fitted(pattern: Sequence[Token], words: Sequence[bytes], kept: Sequence[bool], fresh: bytes) -> Fit:
    """Return the nearest key of a pattern, and what each token takes of it.

    ``kept[i]`` tells whether word i may stay as it is (a literal of the pattern may always stand in its place), and
    ``fresh`` is put in where any word will do. Of equally near keys, one with more of the given words is chosen.

    >>> fitted([b"a", Wildcard.MANY, b"c"], [b"a", b"b"], [True, True], b"x")
    Fit(edits=1, taken=((b'a',), (b'b',), (b'c',)))
    """
    rows, columns = len(pattern), len(words)
    far = rows + columns + 1
    best = [[far] * (columns + 1) for _ in range(rows + 1)]
    how = [[_END] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            if i == rows and j == columns:
                best[i][j] = 0
                continue
            for cost, way in _ways(pattern, words, kept, i, j, best):
                if cost < best[i][j]:
                    best[i][j], how[i][j] = cost, way
    taken: list[list[bytes]] = [[] for _ in pattern]
    i = j = 0
    while (way := how[i][j]) != _END:
        token = pattern[i] if i < rows else None
        if way == _KEEP:
            taken[i].append(token if isinstance(token, bytes) else words[j] if kept[j] else fresh)
            i, j = (i if token is Wildcard.MANY else i + 1), j + 1
        elif way == _SKIP:
            if token is not Wildcard.MANY:
                taken[i].append(token if isinstance(token, bytes) else fresh)
            i += 1
        else:
            j += 1
    return Fit(best[0][0], tuple(map(tuple, taken)))


def _ways(
    pattern: Sequence[Token], words: Sequence[bytes], kept: Sequence[bool], i: int, j: int, best: list[list[int]]
) -> list[tuple[int, str]]:
    """Return what can be done at a token and a word, with what it costs from there on; better ones come first."""
    ways: list[tuple[int, str]] = []
    if i < len(pattern):
        token = pattern[i]
        if j < len(words):
            same = words[j] == token if isinstance(token, bytes) else kept[j]
            ways.append((best[i if token is Wildcard.MANY else i + 1][j + 1] + (not same), _KEEP))
        ways.append((best[i + 1][j] + (token is not Wildcard.MANY), _SKIP))
    if j < len(words):
        ways.append((best[i][j + 1] + 1, _LEAVE))
    return ways


def longest_prefix(pattern: Sequence[Token], words: Sequence[bytes]) -> tuple[int, frozenset[int]]:
    """Return how many words of a key could begin a key of the pattern, and which tokens may come next there.

    The number ``len(pattern)`` among the tokens stands for the pattern's end.

    >>> longest_prefix([b"a", Wildcard.ONE], [b"a", b"b", b"c"])
    (2, frozenset({2}))
    """
    states = _closed({0}, pattern)
    for number, word in enumerate(words):
        after = set()
        for at in states:
            token = pattern[at] if at < len(pattern) else None
            if token is Wildcard.MANY:
                after.add(at)
            elif token is Wildcard.ONE or (token is not None and token == word):
                after.add(at + 1)
        if not after:
            return number, states
        states = _closed(after, pattern)
    return len(words), states


def _closed(states: set[int], pattern: Sequence[Token]) -> frozenset[int]:
    reached, agenda = set(states), list(states)
    for at in agenda:  # it grows
        if at < len(pattern) and pattern[at] is Wildcard.MANY and at + 1 not in reached:
            reached.add(at + 1)
            agenda.append(at + 1)
    return frozenset(reached)
