r"""Bindings that a permission lets through, and keys that come through them against its evident intent.

RabbitMQ tests a read permission on the *text of the binding key*. The regular expression ``^[^.]+\\.public`` accepts the text
``#.public``, and that binding gets ``secret.x.public``, which the expression, asked about the key, would refuse.

:func:`leak` finds the shortest such pair: it walks all bindings and keys at once, character by character, a binding's
wildcards writing any words into the key, while the expression's automaton reads both. So a leak is found if there is one,
for keys and bindings whose literal words have no wildcard character in them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from compiler.automata.positions import Budget
from dfa_router.permissions.expressions import Expression

__all__ = ["Leak", "leak"]

_STEPS = 400_000
_WORD, _LITERAL, _STAR, _HASH, _HASH_WORD, _END = range(6)
"""Where a walk is: before a word; in a literal; in the word of a ``*``; behind a ``#``, at a boundary or in a word of it; at the end."""


class Leak(NamedTuple):
    """A binding that is allowed, and a key it gets that the permission does not speak of."""

    binding: str
    key: str


class _At(NamedTuple):
    mode: int
    binding: Any
    key: Any
    empty: bool
    """Whether the key has no word yet."""


def leak(read: Expression, *, budget: int = _STEPS) -> Leak | None:
    """Return a shortest binding that a read permission allows and a key it gets that the expression itself refuses.

    None if there is none. Raises :class:`CapacityError` when the budget is spent.
    """
    ordinary, left = read.characters(".*#"), Budget(budget)
    begin = _At(_WORD, read.begin(), read.begin(), True)
    agenda = deque([(begin, "", "")])
    met = {begin}
    while agenda:
        at, binding, key = agenda.popleft()
        if at.mode != _WORD and read.ends(at.binding) and not read.ends(at.key):
            return Leak(binding, key)
        for mode, more_binding, more_key, empty in _steps(at, ordinary):
            states, keys = at.binding, at.key
            for one in more_binding:
                states = read.step(states, one)
            for one in more_key:
                keys = read.step(keys, one)
            target = _At(mode, states, keys, empty)
            left.spend()
            if target not in met:
                met.add(target)
                agenda.append((target, binding + more_binding, key + more_key))
    return None


def _steps(at: _At, ordinary: list[str]) -> Iterator[tuple[int, str, str, bool]]:
    """Yield what can come next: the mode then, what the binding and the key get, and whether the key still has no word."""
    between = "" if at.empty else "."
    if at.mode == _WORD:  # the binding has its separator, and the key has not
        for one in ordinary:
            yield _LITERAL, one, between + one, False
            yield _STAR, "*", between + one, False
        yield _HASH, "#", "", at.empty
    elif at.mode == _LITERAL:
        for one in ordinary:
            yield _LITERAL, one, one, False
        yield _WORD, ".", "", False
    elif at.mode == _STAR:
        for one in ordinary:
            yield _STAR, "", one, False
        yield _WORD, ".", "", False
    elif at.mode in (_HASH, _HASH_WORD):
        if at.mode == _HASH_WORD:
            for one in ordinary:
                yield _HASH_WORD, "", one, False
        for one in ordinary:
            yield _HASH_WORD, "", between + one, False
        yield _WORD, ".", "", at.empty
