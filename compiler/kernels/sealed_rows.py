"""Small sealed tables written out as rows of successors, for the walk of :mod:`compiler.kernels.walk_rows`.

Rows are numbered: those of states with records first, as these states are, and then one for each reference to an accept set that occurs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.kernels._jit import inlined, kernel, trailing_zeros
from compiler.kernels.filters import may_be_literal
from compiler.kernels.records import (
    COMPLETE_BIT,
    NO_RECORD,
    REFERENCE_MASK,
    accept_of,
    buckets_of,
    find_entry,
    state_of,
)
from compiler.kernels.seal_tables import PAIRS, Seal
from compiler.kernels.strays import children_if_stray
from compiler.kernels.tables import Int32s, Program, Signed, Uint64s, Unsigned
from compiler.kernels.unsigned import FINAL_BIT, NONE, ONE, STATE_MASK, TWO, UPPER_HALF, ZERO

__all__ = ["fill_sealed_rows", "mark_references", "row_of", "row_of_reference"]

WORD_PAIRS = np.uint64(PAIRS)


@kernel
def mark_references(seal: Seal, marks: Int32s) -> None:
    """Set ``marks[2a + 1]`` for each accept set a that a reference with FINAL is to, and ``marks[2a]`` for one with ENDED."""
    records = seal.records
    _mark(marks, records[0] & REFERENCE_MASK)
    for word in range(np.uint64(seal.starts.size)):
        left = seal.starts[word]
        while left != ZERO:
            pair = word * WORD_PAIRS + trailing_zeros(left)
            left &= left - ONE
            head, literals = records[TWO * pair], records[TWO * pair + ONE]
            _mark(marks, head & REFERENCE_MASK)
            for at in range(TWO * (pair + ONE), TWO * (pair + ONE + buckets_of(head, literals))):
                _mark(marks, records[at] & REFERENCE_MASK)


@kernel
def fill_sealed_rows(
    program: Program,
    seal: Seal,
    numbers: Int32s,
    table: npt.NDArray[np.uint32],
    info: Uint64s,
    bits: Signed,
) -> None:
    """Write rows as :func:`compiler.kernels.walk_rows.fill_dense_rows` does, and what that walk wants in ``info``.

    ``numbers[2a + 1]`` and ``numbers[2a]`` are the rows of references to accept set a with FINAL and with ENDED.
    """
    records, width = seal.records, ONE << np.uint64(bits)
    symbols = np.uint64(program.word_offsets.size)
    nothing = row_of(seal, numbers, records[0] & REFERENCE_MASK)
    for at in range(np.uint64(numbers.size)):
        row = np.uint64(numbers[at])
        if row != ZERO:
            final = at & ONE != ZERO
            target = row | FINAL_BIT if final else nothing
            info[TWO * row] = at >> ONE << UPPER_HALF | target
            for symbol in range(width):
                table[row << np.uint64(bits) | symbol] = target
    for word in range(np.uint64(seal.starts.size)):
        state, left = np.uint64(seal.before[word]), seal.starts[word]
        while left != ZERO:
            pair = word * WORD_PAIRS + trailing_zeros(left)
            left &= left - ONE
            state += ONE
            head, literals = records[TWO * pair], records[TWO * pair + ONE]
            default = row_of(seal, numbers, head & REFERENCE_MASK)
            info[TWO * state] = accept_of(records, pair) << UPPER_HALF | default
            for symbol in range(width):
                target = default
                if symbol < symbols and may_be_literal(seal.filters, literals, symbol):
                    found = find_entry(records, pair, symbol)
                    if found != NONE:
                        target = row_of(seal, numbers, found)
                    elif head & COMPLETE_BIT == ZERO and (
                        children_if_stray(program, seal.members, seal.state_end, state, symbol) == ZERO
                    ):
                        target = ZERO
                table[state << np.uint64(bits) | symbol] = target


@kernel
def row_of_reference(seal: Seal, numbers: Int32s, reference: Signed) -> Signed:
    """Return the row of what a reference refers to, as :func:`row_of` does."""
    return np.int64(row_of(seal, numbers, np.uint64(reference)))


@inlined
def row_of(seal: Seal, numbers: Int32s, reference: Unsigned) -> Unsigned:
    """Return the row of what a reference refers to, 0 for none."""
    if reference & NO_RECORD == ZERO:
        return state_of(seal, reference)
    at = TWO * (reference & STATE_MASK) + np.uint64(reference & FINAL_BIT != ZERO)
    return np.uint64(numbers[at])


@inlined
def _mark(marks: Int32s, reference: Unsigned) -> None:
    if reference & NO_RECORD != ZERO:
        marks[TWO * (reference & STATE_MASK) + np.uint64(reference & FINAL_BIT != ZERO)] = 1
