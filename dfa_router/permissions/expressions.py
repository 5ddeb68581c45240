"""Regular expressions as automata of bytes, parsed by the library ``greenery``, searched for in a text as brokers do.

RabbitMQ and EMQX hand bytes to Erlang's ``re``, and do not say that they are UTF-8: a dot or a class takes one byte, so ``^caf.$``
does not match ``café``. The automata read what these bytes are in Latin-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dfa_router.errors import EnvironmentLacksError
from dfa_router.permissions.dialect import BEGIN, END, UnsupportedRegexError, as_bytes, regular
from dfa_router.permissions.positions import MOST, Positions, TooLargeError

__all__ = ["Expression", "expression", "told_apart"]

States = int
"""A set of positions of an expression; see :mod:`dfa_router.permissions.positions`."""
_MOST_MOVES = 1 << 16
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
        try:
            self._positions = Positions(greenery.parse(f"[^{END}]*({regular(pattern)})[^{BEGIN}]*"))
        except (TooLargeError, RecursionError):
            raise UnsupportedRegexError(
                f"{pattern[:60]!r} has over {MOST:,} places that take a character, each counted as often as a quantifier repeats it, or "
                "nests too deeply: nothing is proven of it; write it with '*' or '+' in place of large bounds"
            ) from None
        taking = {one: self._positions.taking(one) for one in (*map(chr, range(256)), BEGIN, END)}
        numbers = {positions: number for number, positions in enumerate(dict.fromkeys(taking.values()))}
        self._taking = list(numbers)
        self._class_of = {one: numbers[positions] for one, positions in taking.items()}
        self._endless = self._positions.endless()
        self._moves: dict[tuple[States, int], States] = {}

    def begin(self) -> States:
        """Return the state before a text: a mark may be read any number of times, as anchors take no character."""
        return self._marked(self._positions.initial, BEGIN)

    def step(self, state: States, character: str) -> States:
        """Return the state after a character, of however many bytes."""
        for byte in as_bytes(character):
            state = self._moved(state, byte)
        # What is found stays found, whatever else may be found further on.
        return state & self._endless or state

    def ends(self, state: States) -> bool:
        """Tell whether a text that led to this state has the pattern in it."""
        return self._positions.is_final(self._marked(state, END))

    def matches(self, text: str) -> bool:
        """Tell whether a text has the pattern in it."""
        state = self.begin()
        for character in text:
            state = self.step(state, character)
        return self.ends(state)

    def class_of(self, character: str) -> tuple[int, ...]:
        """Return the class of characters, none of which the expression tells from this one: those of their bytes."""
        return tuple(self._class_of[byte] for byte in as_bytes(character))

    def _moved(self, state: States, byte: str) -> States:
        number = self._class_of[byte]
        known = self._moves.get((state, number))
        if known is None:
            if len(self._moves) >= _MOST_MOVES:
                self._moves.clear()
            known = self._moves[state, number] = self._positions.step(state, self._taking[number])
        return known

    def _marked(self, state: States, mark: str) -> States:
        reached = state
        while (further := reached | self._moved(reached, mark)) != reached:
            reached = further
        return reached


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
    """Return the expression of a pattern, which is made once: that takes milliseconds."""
    return Expression(pattern)
