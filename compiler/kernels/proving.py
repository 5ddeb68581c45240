"""Whether tables of a DFA are what subset construction makes of an NFA: each transition is made once more and compared.

That is done for tables from a file, which anybody may have changed. It is a proof by induction: the start states are right, and
from a state that is right each transition leads to one that is, with the right accept set. So answers are right, whatever
the states' numbers are. Tables may lack transitions; they have none too many.

The tables must be well formed before (:mod:`compiler.machine.seals`), as kernels check no index.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel
from compiler.kernels.advance import advance, begin, close, enter
from compiler.kernels.filters import marks, word_of
from compiler.kernels.interning import same
from compiler.kernels.tables import START, START_RESERVED, Cache, Program, Signed, Unsigned
from compiler.kernels.transitions import mixed_of, unmix
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, WIDE_FILTER, ZERO
from compiler.kernels.work import FINAL_FLAG, MEMBER_COUNT, TAG_COUNT, Work

__all__ = ["RIGHT", "first_wrong"]

RIGHT = -1
"""No state is wrong."""


@kernel
def first_wrong(program: Program, seal: Cache, work: Work, share: Signed, shares: Signed) -> Signed:
    """Return a state from which something is wrong, 0 for the start states, or RIGHT.

    That is proven of one of equal ``shares`` of the states and of the transitions; of the start states by each of them.
    """
    meta, info, transitions = seal.meta, seal.info, seal.transitions
    symbols, states = np.uint64(program.word_offsets.size), np.uint64(seal.state_end.size)
    for root in range(program.roots):
        begin(program, np.int64(root), work)
        if not _is(seal, work, np.uint64(meta[START_RESERVED if root else START])):
            return 0
    for state in range(ONE + _part(states - ONE, share, shares), ONE + _part(states - ONE, share + 1, shares)):
        default = info[TWO * state] & LOW_HALF
        first, last = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
        if default != ZERO:
            advance(program, seal.members, first, last, np.int64(0), work)
            if not _is(seal, work, default):
                return np.int64(state)
        if not _filter_passes(program, seal, state):
            return np.int64(state)
    slots = np.uint64(transitions.size)
    for slot in range(_part(slots, share, shares), _part(slots, share + 1, shares)):
        entry = transitions[slot]
        if entry == ZERO:
            continue
        key = unmix(mixed_of(entry, slot, np.uint64(seal.transition_shift)), np.uint64(seal.key_shift))
        state, symbol = key >> np.uint64(seal.symbol_bits), key & (ONE << np.uint64(seal.symbol_bits)) - ONE
        if state == ZERO or state >= states or symbol == ZERO or symbol >= symbols:
            return 0
        first, last = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
        target = entry & (STATE_MASK | FINAL_BIT)
        if enter(program, seal.members, first, last, np.int64(symbol), work) == 0:
            if target & STATE_MASK != info[TWO * state] & STATE_MASK:
                return np.int64(state)
        else:
            close(program, work)
            if not _is(seal, work, target):
                return np.int64(state)
    return RIGHT


@inlined
def _part(count: Unsigned, share: Signed, shares: Signed) -> Unsigned:
    """Return where a share of so many begins."""
    return count * np.uint64(share) // np.uint64(shares)


@inlined
def _is(seal: Cache, work: Work, target: Unsigned) -> bool:
    """Tell whether the set that was work is that of a state, and whether the state's FINAL bit is right."""
    state, info = target & STATE_MASK, seal.info
    accept = info[TWO * state] >> UPPER_HALF
    return bool(
        (target & FINAL_BIT != ZERO) == (work.counts[FINAL_FLAG] != 0)
        and same(
            seal.members, seal.state_end[state - ONE], seal.state_end[state], work.members, 0, work.counts[MEMBER_COUNT]
        )
        and same(seal.tags, seal.set_end[accept - ONE], seal.set_end[accept], work.tags, 0, work.counts[TAG_COUNT])
    )


@inlined
def _filter_passes(program: Program, seal: Cache, state: Unsigned) -> bool:
    """Tell whether all literals of a state pass its filter."""
    nodes, literals = program.nodes, seal.info[TWO * state + ONE]
    for i in range(np.uint64(seal.state_end[state - ONE]), np.uint64(seal.state_end[state])):
        at = TWO * np.uint64(seal.members[i])
        if literals & WIDE_FILTER == ZERO:
            if nodes[at + ONE] & ~literals != ZERO:
                return False
            continue
        for child in range(nodes[at] >> UPPER_HALF, nodes[at + TWO] >> UPPER_HALF):
            label = program.labels[child]
            if label > 0:
                wanted = marks(np.uint64(label))
                if seal.filters[word_of(literals, np.uint64(label))] & wanted != wanted:
                    return False
    return True
