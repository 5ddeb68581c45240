"""How a key fits a pattern, or nearly does, by dynamic programming over tokens and words.

The distance is the fewest *word edits* that make the key match: to put in a word, to leave one out, to replace one. It is
Levenshtein's, where ``*`` takes any word for nothing and ``#`` any number of them. Beside the tokens runs the dialect's
:class:`KeySpace`, whose phase says which words may come next and whether a key may end: what an edited word may be depends on
the words in front of it, as a word that may stand inside a key may be none to begin one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compiler import Token, Wildcard
from compiler.automata.keyspace import INSIDE, START_RESERVED, KeySpace

__all__ = ["Fit", "could_fit", "fitted", "longest_prefix"]


@dataclass(frozen=True, slots=True)
class Fit:
    """How a key, with the fewest edits, fits a pattern."""

    edits: int
    taken: tuple[tuple[bytes, ...], ...]
    """For each token the words it takes, after the edits; None of the bytes are fresh words but where edits put them in."""

    def key(self) -> tuple[bytes, ...]:
        """Return the words of the edited key."""
        return tuple(word for words in self.taken for word in words)


@dataclass(frozen=True, slots=True)
class _Step:
    """What is done at a place of the table."""

    cost: int
    word: bytes | None
    """What the token takes, or None if it takes nothing."""
    tokens: int
    """By how many tokens it goes on; 0 where ``#`` may take more, or a word is left out."""
    words: int
    """By how many of the given words it goes on."""
    phase: int


def fitted(pattern: Sequence[Token], words: Sequence[bytes], space: KeySpace, fresh: bytes) -> Fit | None:
    """Return the nearest key of a pattern, and what each token takes of it; None where no key matches the pattern.

    ``fresh``, a word that is no literal and under no rule of the space, is put in where any word will do. Of equally near keys,
    one with more of the given words is chosen.

    >>> fitted([b"a", Wildcard.MANY, b"c"], [b"a", b"b"], KeySpace(), b"x")
    Fit(edits=1, taken=((b'a',), (b'b',), (b'c',)))
    >>> fitted([Wildcard.ONE], [b"", b"$b", b"c"], KeySpace(reserved=b"$"), b"x")
    Fit(edits=2, taken=((b'c',),))
    """
    rows, columns = len(pattern), len(words)
    far = rows + columns + 1
    # No wildcard at the beginning of a pattern takes part in a key that begins with the reserved byte.
    wild = bool(pattern) and isinstance(pattern[0], Wildcard)
    starts = [start for start in space.starts() if not (wild and start == START_RESERVED)]
    phases = _phases(pattern, {*words, fresh}, space, starts)
    best: list[dict[int, list[int]]] = [{phase: [far] * (columns + 1) for phase in at} for at in phases]
    how: list[dict[int, list[_Step | None]]] = [{phase: [None] * (columns + 1) for phase in at} for at in phases]
    for phase in phases[rows]:
        if space.ends(phase):
            best[rows][phase][columns] = 0
    for i in range(rows, -1, -1):
        for j in range(columns, -1, -1):
            for phase in phases[i]:
                for step in _steps(pattern, words, space, fresh, i, j, phase):
                    cost = best[i + step.tokens][step.phase][j + step.words] + step.cost
                    if cost < best[i][phase][j]:
                        best[i][phase][j], how[i][phase][j] = cost, step
    phase = min(starts, key=lambda start: best[0][start][0])
    edits = best[0][phase][0]
    if edits >= far:
        return None
    taken: list[list[bytes]] = [[] for _ in pattern]
    i = j = 0
    while (found := how[i][phase][j]) is not None:
        if found.word is not None:
            taken[i].append(found.word)
        i, j, phase = i + found.tokens, j + found.words, found.phase
    return Fit(edits, tuple(map(tuple, taken)))


def _phases(
    pattern: Sequence[Token], words: set[bytes], space: KeySpace, starts: Sequence[int]
) -> list[tuple[int, ...]]:
    """Return the phases in which a key of these words and the literals can be in front of each token, and at the end.

    ``INSIDE`` comes first: within a place of the table, others depend on it.
    """
    phases: list[tuple[int, ...]] = []
    reached = {*starts}
    for token in pattern:
        agenda = [*reached]
        after = set() if token is not Wildcard.MANY else reached
        for phase in agenda:  # it grows
            for word in (token,) if isinstance(token, bytes) else words:
                to = space.step(phase, word)
                if to is not None and to not in after:
                    after.add(to)
                    if token is Wildcard.MANY:
                        agenda.append(to)
        phases.append(_inside_first(reached))
        reached = {*after}
    phases.append(_inside_first(reached))
    return phases


def _inside_first(phases: set[int]) -> tuple[int, ...]:
    return tuple(sorted(phases, key=lambda phase: (phase != INSIDE, phase)))


def _steps(
    pattern: Sequence[Token], words: Sequence[bytes], space: KeySpace, fresh: bytes, i: int, j: int, phase: int
) -> Iterator[_Step]:
    """Yield what can be done at a token and a word; what keeps more of the given words comes first."""
    token = pattern[i] if i < len(pattern) else None
    on = int(token is not Wildcard.MANY)
    if token is not None:
        new = token if isinstance(token, bytes) else fresh
        put = space.step(phase, new)
        if j < len(words):
            if isinstance(token, Wildcard) and (kept := space.step(phase, words[j])) is not None:
                yield _Step(0, words[j], on, 1, kept)
            if put is not None:
                yield _Step(int(words[j] != new), new, on, 1, put)
        if token is Wildcard.MANY:
            yield _Step(0, None, 1, 0, phase)
        if put is not None and (on or phase != put):
            yield _Step(1, new, on, 0, put)
    if j < len(words):
        yield _Step(1, None, 0, 1, phase)


def could_fit(pattern: Sequence[Token], words: Sequence[bytes]) -> bool:
    """Tell whether a key's words are those of a pattern as they are, but for what a dialect's rules say of words.

    :func:`fitted` takes fifty times as long.

    >>> could_fit([b"a", Wildcard.MANY], [b"a", b"b"]), could_fit([Wildcard.ONE], [b"a", b"b"])
    (True, False)
    """
    if pattern and isinstance(pattern[0], bytes) and [pattern[0]] != words[:1]:
        return False  # as of nearly all patterns of a large set
    length, states = longest_prefix(pattern, words)
    return length == len(words) and len(pattern) in states


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
