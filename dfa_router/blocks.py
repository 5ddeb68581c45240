"""A column matched in blocks of rows, so that no answer takes more than a number of bytes."""

from __future__ import annotations

from compiler.automata.fanout import most_accepted
from dfa_router.engines.automaton import Automaton
from dfa_router.engines.protocol import Matcher
from dfa_router.whole_numbers import whole_number

__all__ = ["BLOCK_BYTES", "block_rows"]

BLOCK_BYTES = 64 << 20
"""The bytes of a block's answer, where nothing else is asked for."""
_CACHED = 16
"""Numbers a row that an answer may have of the cache's accept sets, which are taken over whole where they are that few."""
_NUMBER = 4
_MOST_ROWS = 2**31 - 1
"""The most rows of an answer, whose lists have 32-bit offsets."""


def block_rows(matcher: Matcher, bindings: int, most_bytes: int) -> int:
    """Return how many keys an engine may be asked so that the arrays of the answer have ``most_bytes`` at most; at least 1.

    In the worst case each row has a set of its own, of as many bindings as one key can match: a number for the row, one for where the
    set ends, and one for each binding; and sets of the cache that no row asks for come along.
    """
    most_bytes = whole_number("most_bytes", most_bytes, 1, "a number of bytes from 1 up")
    crowd = most_accepted(matcher.nfa) if isinstance(matcher, Automaton) else bindings
    return max(1, min(most_bytes // (_NUMBER * (1 + _CACHED + 1 + crowd)), _MOST_ROWS))
