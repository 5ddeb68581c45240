r"""Bindings that a permission lets through, and keys that come through them against its evident intent.

RabbitMQ tests a read permission on the *text of the binding key*. The regular expression ``^[^.]+\\.public`` accepts the text
``#.public``, and that binding gets ``secret.x.public``, which the expression, asked about the key, would refuse.

:func:`leak` finds the shortest such pair: it walks all bindings and keys at once, character by character, a binding's
wildcards writing any words into the key, empty ones among them, while the expression's automaton reads both. So a leak is found
if there is one, for keys and bindings whose words have no line end and, but for the binding's wildcards, no ``*`` and ``#``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from compiler.automata.positions import Budget
from dfa_router.permissions.expressions import Expression, told_apart

__all__ = ["Leak", "leak"]

_STEPS = 400_000
_WORD, _LITERAL, _STAR, _HASH, _HASH_WORD = range(5)
"""Where a walk is: before a word; in a literal; in the word of a ``*``; behind a ``#``, at a boundary or in a word of it."""
_NOTHING, _EMPTY_WORD, _TEXT = range(3)
"""What the key has: no word; an empty one alone, whose text is that of no word, so that one more has to come; or anything else."""


class Leak(NamedTuple):
    """A binding that is allowed, and a key it gets that the permission does not speak of."""

    binding: str
    key: str


class _At(NamedTuple):
    mode: int
    binding: Any
    key: Any
    words: int


def leak(read: Expression, *, budget: int = _STEPS) -> Leak | None:
    """Return a shortest binding that a read permission allows and a key it gets that the expression itself refuses.

    None if there is none. Raises :class:`CapacityError` when the budget is spent.
    """
    ordinary, left = told_apart([read], without=".*#"), Budget(budget)
    begin = _At(_WORD, read.begin(), read.begin(), _NOTHING)
    agenda = deque([(begin, "", "")])
    met = {begin}
    while agenda:
        at, binding, key = agenda.popleft()
        complete = at.mode != _WORD and at.words != _EMPTY_WORD
        if complete and read.ends(at.binding) and not read.ends(at.key):
            return Leak(binding, key)
        for mode, more_binding, more_key, words in _steps(at, ordinary):
            states, keys = at.binding, at.key
            for one in more_binding:
                states = read.step(states, one)
            for one in more_key:
                keys = read.step(keys, one)
            target = _At(mode, states, keys, words)
            left.spend()
            if target not in met:
                met.add(target)
                agenda.append((target, binding + more_binding, key + more_key))
    return None


def _steps(at: _At, ordinary: list[str]) -> Iterator[tuple[int, str, str, int]]:
    """Yield what can come next: the mode then, what the binding and the key get, and what words the key has then."""
    between = "" if at.words == _NOTHING else "."
    begun = _EMPTY_WORD if at.words == _NOTHING else _TEXT
    if at.mode == _WORD:  # the binding has its separator, and the key has not
        for one in ordinary:
            yield _LITERAL, one, between + one, _TEXT
            yield _STAR, "*", between + one, _TEXT
        yield _HASH, "#", "", at.words
        yield _LITERAL, "", between, begun
        yield _STAR, "*", between, begun
    elif at.mode == _LITERAL:
        for one in ordinary:
            yield _LITERAL, one, one, _TEXT
        yield _WORD, ".", "", at.words
    elif at.mode == _STAR:
        for one in ordinary:
            yield _STAR, "", one, _TEXT
        yield _WORD, ".", "", at.words
    elif at.mode in (_HASH, _HASH_WORD):
        if at.mode == _HASH_WORD:
            for one in ordinary:
                yield _HASH_WORD, "", one, _TEXT
        for one in ordinary:
            yield _HASH_WORD, "", between + one, _TEXT
        yield _HASH_WORD, "", between, begun
        yield _WORD, ".", "", at.words
