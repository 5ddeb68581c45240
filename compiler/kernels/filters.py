"""Filters of literals: whether a word may lead a state elsewhere than all other words do.

A Bloom filter (Bloom 1970) with two bits for each literal: a word passes if both of its bits are set. A literal always passes;
another word, a *stray*, may pass, and then it must be asked of the NFA whether it is a literal (:mod:`compiler.kernels.strays`).

The filter of an NFA position, and of a state that has few literals, is *narrow*: one number, of whose 64 bits the last is not
used. That of a state with many literals would be full, and every word pass. So a state that is met by strays gets a *wide*
filter: a run of such numbers in ``Cache.filters``, one of which is chosen by the word. What stands in the place of the narrow
filter then says where the run begins, and has the bit WIDE.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined
from compiler.kernels.tables import FILTER_WORD, FIRST_MARK, LAST_MARK, MARK, SECOND_MARK, Uint64s, Unsigned
from compiler.kernels.unsigned import GOLDEN, LOW_HALF, NONE, ONE, UPPER_HALF, WIDE_FILTER, ZERO

__all__ = ["marks", "may_be_literal", "word_of"]

FIRST, SECOND, PLACE = np.uint64(FIRST_MARK), np.uint64(SECOND_MARK), np.uint64(FILTER_WORD)
BITS, LAST = np.uint64(MARK), np.uint64(LAST_MARK)


@inlined
def marks(symbol: Unsigned) -> Unsigned:
    """Return the bits that stand for a literal in filters; a word that is no literal of any pattern passes none."""
    hashed = symbol * GOLDEN
    bits = ONE << min(hashed >> FIRST, LAST) | ONE << min(hashed >> SECOND & BITS, LAST)
    return bits if symbol != ZERO else NONE


@inlined
def word_of(literals: Unsigned, symbol: Unsigned) -> Unsigned:
    """Return the index of the number in a wide filter that has the bits of a symbol."""
    return ((literals & ~WIDE_FILTER) >> UPPER_HALF) + (symbol * GOLDEN >> PLACE & literals & LOW_HALF)


@inlined
def may_be_literal(filters: Uint64s, literals: Unsigned, symbol: Unsigned) -> bool:
    """Tell whether a word passes the filter ``literals`` of a state; ``filters`` are the cache's."""
    wanted = marks(symbol)
    if literals & WIDE_FILTER != ZERO:
        literals = filters[word_of(literals, symbol)]
    return bool(literals & wanted == wanted)
