"""A large binding set in two parts: keys that are looked up whole, and an automaton for the patterns with wildcards.

Each key of the first part is stored with all that matches it, patterns with wildcards among them, when the bindings are compiled. So
neither part asks the other.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from compiler.automata.exact import exact_ends, key_sizes, without
from compiler.automata.nfa import Nfa
from compiler.automata.paths import parents_of
from compiler.kernels.store_tables import RECORDS_BEHIND, STORED_BYTES, Exact
from compiler.kernels.tables import PADDING, Keys, Program, frozen
from compiler.kernels.work import SHARED_FROM
from compiler.machine.bit_program import bit_program
from compiler.machine.memory import LEAST
from compiler.machine.parts import Parts
from compiler.machine.policy import AUTO, Policy
from compiler.machine.program import make_program
from compiler.machine.small_batches import SmallBatchWalker
from compiler.mappings import in_huge_pages, reserved
from compiler.values import Int32s, KeyColumn

__all__ = ["parts_of"]

ROWS = 1 << 14
"""Keys whose answers are found at once."""
FIRST, MOST_LIVE = 256, 64.0
"""Keys whose answers are found first; and the live positions of a state, on average, above which that takes long: it is given up then."""
CAPACITY = 64 << 20
"""The bytes of the cache by which the answers of these keys are found; it is gone afterwards."""
MOST_BYTES = 2**31 - 1
"""Of all keys together: their offsets have 32 bits."""


def parts_of(nfa: Nfa, separator: bytes, policy: Policy, capacity: int | None = None) -> Parts:
    """Lay an NFA out for kernels; in two parts if the policy says so, and at least half of the patterns are to be looked up.

    ``capacity`` is that of the cache, in bytes; None for the default.
    """
    ends = exact_ends(nfa, separator)
    sizes = key_sizes(nfa)[ends]
    patterns = int(np.count_nonzero(np.diff(nfa.tag_offsets)))
    if len(ends) and 2 * len(ends) >= patterns:
        size = int(np.sum(sizes, dtype=np.int64))
        if size <= MOST_BYTES and policy.divides(len(nfa), size / len(ends), LEAST if capacity is None else capacity):
            rest, kept = without(nfa, ends)
            program = make_program(rest, separator)
            exact, left = _exact_keys(nfa, ends, _spelled(nfa, separator, ends, sizes), program)
            if 2 * np.count_nonzero(~left) >= patterns:
                if left.any():
                    rest, kept = without(nfa, ends[~left])
                    program = make_program(rest, separator)
                return Parts(program, None, exact, kept)
    return Parts(make_program(nfa, separator), bit_program(nfa))


def _exact_keys(nfa: Nfa, ends: Int32s, keys: Keys, program: Program) -> tuple[Exact, npt.NDArray[np.bool_]]:
    """Make tables of the keys that lead to these positions; return, too, which of them have no place there.

    Those have a hash that another one has, or that begins as too many do, more bytes than are stored, or more tags than should be written
    down for each key. All of them have none where finding their answers would take long.
    """
    from compiler.kernels.exact_tables import enter_exact, unite_tags

    walker = SmallBatchWalker(Parts(program, None), CAPACITY, AUTO)
    own, ids = np.zeros(len(ends) + 1, np.int32), np.empty(len(ends), np.int32)
    np.cumsum(np.diff(nfa.tag_offsets)[ends], out=own[1:])
    own_tags = nfa.tags[np.repeat(nfa.tag_offsets[ends] - own[:-1], np.diff(own)) + np.arange(own[-1])]
    offsets, tags = np.zeros(len(ends) + 1, np.int32), [np.empty(0, np.int32)]
    united = reserved(4 * ROWS * SHARED_FROM).view(np.int32)  # of which most is never written
    row, stop = 0, min(FIRST, len(ends))
    while row < stop and walker.live_positions <= MOST_LIVE:
        found = walker.run([KeyColumn(keys.offsets[row : stop + 1], keys.data, None)], ids[row:stop], [])
        end = offsets[row : stop + 1]
        size = int(unite_tags(own[row : stop + 1], own_tags, *found, SHARED_FROM, end[0], end[1:], united))
        tags.append(united[:size].copy())
        row, stop = stop, min(len(ends), stop + min(stop, ROWS))
    offsets[row + 1 :] = offsets[row]
    left, exact = np.zeros(len(ends), np.bool_), _empty(keys, offsets)
    enter_exact(exact, keys, offsets, np.concatenate(tags), left)
    return Exact(*map(frozen, exact)), left


def _empty(keys: Keys, offsets: Int32s) -> Exact:
    """Return tables with room for these keys, and for their tags, which begin at these offsets."""
    count, sizes = len(offsets) - 1, np.diff(keys.offsets)
    numbers = count + int(np.sum((sizes[sizes <= STORED_BYTES] + 7) >> 3, dtype=np.int64))
    numbers += int(np.sum((np.diff(offsets) + 1) >> 1, dtype=np.int64)) + 1 + RECORDS_BEHIND
    return Exact(
        slots=np.zeros(1 << (2 * count + 1).bit_length(), np.uint64),
        records=in_huge_pages(reserved(8 * numbers), 8 * numbers)[:numbers],
        marks=np.zeros(
            1 << max(1, (count >> 3).bit_length()), np.uint64
        ),  # two at least, as a shift by 64 bits is none
    )


def _spelled(nfa: Nfa, separator: bytes, ends: Int32s, sizes: Int32s) -> Keys:
    """Return the keys that lead to these positions, which have so many bytes."""
    from compiler.kernels.exact_tables import spell_keys

    offsets = np.zeros(len(ends) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    data = np.zeros(int(offsets[-1]) + PADDING, np.uint8)
    words = frozen(nfa.symbols.data), frozen(nfa.symbols.offsets), np.uint8(separator[0])
    spell_keys(frozen(nfa.labels), frozen(parents_of(nfa)), *words, ends, offsets, data)
    return Keys(frozen(offsets), frozen(data), frozen(np.empty(0, np.bool_)))
