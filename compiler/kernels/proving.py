"""Whether tables of a DFA are what subset construction makes of an NFA: each transition is made once more and compared.

That is done for tables from a file, which anybody may have changed. It is a proof by induction: the start states are right, and
from a state that is right each transition leads to one that is, with the right accept set. So answers are right, whatever
the states' numbers are. Tables may lack transitions; they have none too many.

The tables must be well formed before (:mod:`compiler.machine.seals`), as kernels check no index.

Nothing here is computed for long, but each step reads a dozen places that the one before it names, and in a file of a million states
each is far from the processor. So PART states, or transitions, are asked for together, place by place, before the first is checked.
"""

from __future__ import annotations

import numpy as np

from compiler.kernels._jit import inlined, kernel, prefetch
from compiler.kernels.advance import advance, begin, close, enter
from compiler.kernels.filters import marks, word_of
from compiler.kernels.interning import same
from compiler.kernels.tables import BLOCK, START, START_RESERVED, Cache, Program, Signed, Unsigned
from compiler.kernels.transitions import child_of, mix, mixed_of, unmix
from compiler.kernels.unsigned import FINAL_BIT, LOW_HALF, ONE, STATE_MASK, TWO, UPPER_HALF, WIDE_FILTER, ZERO
from compiler.kernels.work import FINAL_FLAG, MEMBER_COUNT, TAG_COUNT, Work

__all__ = ["RIGHT", "first_wrong"]

PART = np.uint64(BLOCK // 2)
"""States, or transitions, that are asked for together: with their members they are about BLOCK positions."""
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
    first, last = ONE + _part(states - ONE, share, shares), ONE + _part(states - ONE, share + 1, shares)
    while first < last:
        end = min(first + PART, last)
        _ask_for_states(program, seal, first, end)
        for state in range(first, end):
            default = info[TWO * state] & LOW_HALF
            if default != ZERO:
                begins, ends = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
                advance(program, seal.members, begins, ends, np.int64(0), work)
                if not _is(seal, work, default):
                    return np.int64(state)
            if not _filter_passes(program, seal, state):
                return np.int64(state)
        first = end
    slot, last = (
        _part(np.uint64(transitions.size), share, shares),
        _part(np.uint64(transitions.size), share + 1, shares),
    )
    while slot < last:
        n = ZERO
        while slot < last and n < PART:
            entry = transitions[slot]
            if entry != ZERO:
                key = unmix(mixed_of(entry, slot, np.uint64(seal.transition_shift)), np.uint64(seal.key_shift))
                state, symbol = key >> np.uint64(seal.symbol_bits), key & (ONE << np.uint64(seal.symbol_bits)) - ONE
                if state == ZERO or state >= states or symbol == ZERO or symbol >= symbols:
                    return 0
                work.states[n], work.symbols[n], work.mixed[n] = state, symbol, entry & (STATE_MASK | FINAL_BIT)
                n += ONE
            slot += ONE
        _ask_for_transitions(program, seal, work, n)
        for i in range(n):
            state, symbol, target = work.states[i], np.int64(work.symbols[i]), work.mixed[i]
            begins, ends = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
            if enter(program, seal.members, begins, ends, symbol, work) == 0:
                if target & STATE_MASK != info[TWO * state] & STATE_MASK:
                    return np.int64(state)
            else:
                close(program, work)
                if not _is(seal, work, target):
                    return np.int64(state)
    return RIGHT


@inlined
def _ask_for_states(program: Program, seal: Cache, first: Unsigned, last: Unsigned) -> None:
    """Ask for what checking the default successors and the filters of some states reads."""
    info = seal.info
    for state in range(first, last):
        default = info[TWO * state] & STATE_MASK
        prefetch(info, TWO * default)
        prefetch(seal.state_end, max(default, ONE) - ONE)
        if seal.state_end[state - ONE] != seal.state_end[state]:
            prefetch(program.nodes, TWO * np.uint64(seal.members[np.uint64(seal.state_end[state - ONE])]))
    for state in range(first, last):
        _ask_for_sets(seal, info[TWO * state] & STATE_MASK)


@inlined
def _ask_for_transitions(program: Program, seal: Cache, work: Work, n: Unsigned) -> None:
    """Ask for what checking ``n`` transitions reads, whose parts are in ``work``, of the first member of each state."""
    info, ends, members, nodes = seal.info, seal.state_end, seal.members, program.nodes
    positions, symbols, children = work.froms, work.stops, work.begins
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    for i in range(n):
        target = work.mixed[i] & STATE_MASK
        prefetch(ends, work.states[i] - ONE)
        prefetch(ends, target - ONE)
        prefetch(info, TWO * target)
    for i in range(n):
        _ask_for_sets(seal, work.mixed[i] & STATE_MASK)
        prefetch(members, np.uint64(ends[work.states[i] - ONE]))
    pairs = ZERO
    for i in range(n):
        prefetch(seal.tags, np.uint64(seal.set_end[(info[TWO * (work.mixed[i] & STATE_MASK)] >> UPPER_HALF) - ONE]))
        for at in range(np.uint64(ends[work.states[i] - ONE]), np.uint64(ends[work.states[i]])):
            if pairs < np.uint64(BLOCK):
                positions[pairs], symbols[pairs] = np.uint64(members[at]), work.symbols[i]
                prefetch(nodes, TWO * positions[pairs])
                mixed = mix(positions[pairs], symbols[pairs], symbol_bits, key_shift)
                prefetch(program.edges, mixed >> np.uint64(program.edge_shift))
                pairs += ONE
    for i in range(pairs):
        first_child = nodes[TWO * positions[i]] >> UPPER_HALF
        prefetch(program.labels, first_child)
        prefetch(nodes, TWO * first_child)
    for i in range(pairs):
        children[i] = child_of(program, positions[i], symbols[i])
        prefetch(nodes, TWO * children[i])
        prefetch(program.tag_offsets, children[i])
    for i in range(pairs):
        prefetch(program.tags, np.uint64(program.tag_offsets[children[i]]))


@inlined
def _ask_for_sets(seal: Cache, target: Unsigned) -> None:
    """Ask for the members and the accept set of a state, or of none, whose numbers have been asked for."""
    if target != ZERO:
        prefetch(seal.members, np.uint64(seal.state_end[target - ONE]))
        prefetch(seal.set_end, (seal.info[TWO * target] >> UPPER_HALF) - ONE)


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
