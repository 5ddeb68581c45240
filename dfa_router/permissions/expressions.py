"""Regular expressions as automata of bytes, by the library ``greenery``, searched for in a text as brokers do.

RabbitMQ and EMQX hand bytes to Erlang's ``re``, and do not say that they are UTF-8: a dot or a class takes one byte, so ``^caf.$``
does not match ``café``. The automata read what these bytes are in Latin-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dfa_router.errors import EnvironmentLacksError
from dfa_router.permissions.dialect import BEGIN, END, as_bytes, regular

__all__ = ["Expression", "expression", "told_apart"]

States = frozenset[Any]
_ORDINARY = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_OTHERS = ".*#/: !\"$%&'()+,;<=>?@[\\]^`{|}~é€\t\r\x7f" + "".join(map(chr, (*range(9), 11, 12, *range(14, 32))))
"""The rest of ASCII, and characters of two and three bytes. Without the line end: ``^.*$`` is written by who means everything."""


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
        self._initial = fsm.initial
        # The library takes neighbours in Unicode for classes; these are one where all states move on alike.
        columns: dict[tuple[Any, ...], int] = {}
        classes = {
            one: columns.setdefault(tuple(row[one] for row in fsm.map.values()), len(columns)) for one in fsm.alphabet
        }
        self._moves = {state: {classes[one]: to for one, to in row.items()} for state, row in fsm.map.items()}
        self._class_of = {
            one: next(number for members, number in classes.items() if members.accepts(one))
            for one in (*map(chr, range(256)), BEGIN, END)
        }

    def begin(self) -> States:
        """Return the states before a text: a mark may be read any number of times, as anchors take no character."""
        return self._marked(frozenset([self._initial]), BEGIN)

    def step(self, states: States, character: str) -> States:
        """Return the states after a character, of however many bytes."""
        for byte in as_bytes(character):
            states = frozenset(self._moved(state, byte) for state in states)
        return states

    def ends(self, states: States) -> bool:
        """Tell whether a text that led to these states has the pattern in it."""
        return not self._finals.isdisjoint(self._marked(states, END))

    def matches(self, text: str) -> bool:
        """Tell whether a text has the pattern in it."""
        states = self.begin()
        for character in text:
            states = self.step(states, character)
        return self.ends(states)

    def class_of(self, character: str) -> tuple[int, ...]:
        """Return the class of characters, none of which the expression tells from this one: those of their bytes."""
        return tuple(self._class_of[byte] for byte in as_bytes(character))

    def _moved(self, state: Any, byte: str) -> Any:
        return self._moves[state][self._class_of[byte]]

    def _marked(self, states: States, mark: str) -> States:
        reached, agenda = set(states), list(states)
        for state in agenda:  # it grows
            after = self._moved(state, mark)
            if after not in reached:
                reached.add(after)
                agenda.append(after)
        return frozenset(reached)


def told_apart(expressions: Sequence[Expression], *, without: str = "") -> list[str]:
    """Return characters, one for each class that expressions tell apart together, the most ordinary of it, ``without`` some.

    >>> told_apart([expression("a"), expression("[ab]:")])
    ['a', 'b', 'c', ':', 'é', '€']
    """
    written = "".join(sorted({one for expression in expressions for one in expression.pattern}))
    found: dict[tuple[Any, ...], str] = {}
    for one in dict.fromkeys(_ORDINARY + _OTHERS + written):
        if one not in without:
            found.setdefault(tuple(expression.class_of(one) for expression in expressions), one)
    return list(found.values())


@lru_cache(maxsize=1024)
def expression(pattern: str) -> Expression:
    """Return the expression of a pattern, which is made once: that takes tens of milliseconds."""
    return Expression(pattern)
