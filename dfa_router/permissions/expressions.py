"""Regular expressions as automata of characters, by the library ``greenery``, searched for in a text as brokers do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from dfa_router.errors import EnvironmentLacksError
from dfa_router.permissions.dialect import BEGIN, END, regular

__all__ = ["Expression", "expression", "told_apart"]

States = frozenset[Any]
_ORDINARY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"


class Expression:
    """A pattern that is searched for in texts."""

    def __init__(self, pattern: str) -> None:
        """Raises :class:`UnsupportedRegexError` for what no automaton can say, and ``EnvironmentLacksError`` without greenery."""
        try:
            import greenery
        except ModuleNotFoundError as error:
            raise EnvironmentLacksError(
                "regular expressions become automata by greenery: pip install 'dfa-router[permissions]'"
            ) from error
        self.pattern = pattern
        fsm = greenery.parse(f"[^{END}]*({regular(pattern)})[^{BEGIN}]*").to_fsm().reduce()
        self._finals = fsm.finals
        self._moves = fsm.map
        self._initial = fsm.initial
        self._classes = tuple(fsm.alphabet)

    def begin(self) -> States:
        """Return the states before a text: a mark may be read any number of times, as anchors take no character."""
        return self._marked(frozenset([self._initial]), BEGIN)

    def step(self, states: States, character: str) -> States:
        """Return the states after a character."""
        return frozenset(self._moved(state, character) for state in states)

    def ends(self, states: States) -> bool:
        """Tell whether a text that led to these states has the pattern in it."""
        return not self._finals.isdisjoint(self._marked(states, END))

    def matches(self, text: str) -> bool:
        """Tell whether a text has the pattern in it."""
        states = self.begin()
        for character in text:
            states = self.step(states, character)
        return self.ends(states)

    def characters(self, apart: Iterable[str]) -> list[str]:
        """Return ordinary characters, one for each class of characters that the expression tells apart, without those ``apart``."""
        left = [one for one in _ORDINARY if one not in set(apart)]
        found: dict[Any, str] = {}
        for one in left:
            found.setdefault(self.class_of(one), one)
        return list(found.values())

    def class_of(self, character: str) -> Any:
        """Return the class of characters, none of which the expression tells from this one."""
        return next(one for one in self._classes if one.accepts(character))

    def _moved(self, state: Any, character: str) -> Any:
        return self._moves[state][self.class_of(character)]

    def _marked(self, states: States, mark: str) -> States:
        reached, agenda = set(states), list(states)
        for state in agenda:  # it grows
            after = self._moved(state, mark)
            if after not in reached:
                reached.add(after)
                agenda.append(after)
        return frozenset(reached)


def told_apart(expressions: Sequence[Expression]) -> list[str]:
    """Return characters, one for each class that expressions tell apart together, separators and wildcards among them.

    >>> told_apart([expression("a"), expression("[ab]")])[:3]
    ['a', 'b', 'c']
    """
    written = "".join(sorted({one for expression in expressions for one in expression.pattern}))
    found: dict[tuple[Any, ...], str] = {}
    for one in dict.fromkeys(_ORDINARY + ".*#/: " + written):
        found.setdefault(tuple(expression.class_of(one) for expression in expressions), one)
    return list(found.values())


@lru_cache(maxsize=1024)
def expression(pattern: str) -> Expression:
    """Return the expression of a pattern, which is made once: that takes tens of milliseconds."""
    return Expression(pattern)
