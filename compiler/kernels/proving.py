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

from compiler.kernels._jit import inlined, kernel, prefetch, trailing_zeros
from compiler.kernels.advance import advance, begin, close, enter
from compiler.kernels.filters import marks, word_of
from compiler.kernels.interning import same
from compiler.kernels.records import (
    COMPLETE_BIT,
    NO_RECORD,
    REFERENCE_MASK,
    accept_of,
    buckets_of,
    find_entry,
    pair_of,
    state_of,
)
from compiler.kernels.seal_tables import PAIRS, Seal
from compiler.kernels.tables import BLOCK, START, START_RESERVED, Program, Signed, Unsigned
from compiler.kernels.transitions import child_of, mix
from compiler.kernels.unsigned import (
    FINAL_BIT,
    LOW_HALF,
    NONE,
    ONE,
    STATE_MASK,
    TWO,
    UPPER_HALF,
    WIDE_FILTER,
    ZERO,
)
from compiler.kernels.work import FINAL_FLAG, MEMBER_COUNT, TAG_COUNT, Work

__all__ = ["RIGHT", "first_wrong", "malformed"]

PART = np.uint64(BLOCK // 2)
"""Transitions that are asked for together: with the members of their states they are about BLOCK positions."""
WORD_PAIRS = np.uint64(PAIRS)
RIGHT = -1
"""No state is wrong."""


@kernel
def malformed(seal: Seal, share: Signed, shares: Signed) -> Signed:
    """Return a state whose record must not be read, or RIGHT: of one of equal ``shares`` of the records.

    Buckets and filters must be where there are some, and references be to records and accept sets that there are. There must be as
    many states as bits in ``starts``, and no bit for pair 0 or behind the last pair.
    """
    records, starts = seal.records, seal.starts
    words, sets = np.uint64(starts.size), np.uint64(seal.set_end.size)
    for word in range(_part(words, share, shares), _part(words, share + 1, shares)):
        state, left = np.uint64(seal.before[word]), starts[word]
        while left != ZERO:
            pair = word * WORD_PAIRS + trailing_zeros(left)
            left &= left - ONE
            state += ONE
            head, literals = records[TWO * pair], records[TWO * pair + ONE]
            end = pair + ONE + buckets_of(head, literals)
            accept = accept_of(records, pair)
            if accept == ZERO or accept >= sets or TWO * end > np.uint64(records.size):
                return np.int64(state)
            if literals & WIDE_FILTER != ZERO and (
                ((literals & ~WIDE_FILTER) >> UPPER_HALF) + (literals & LOW_HALF) >= np.uint64(seal.filters.size)
            ):
                return np.int64(state)
            if not _refers(seal, sets, head & REFERENCE_MASK):
                return np.int64(state)
            for at in range(TWO * (pair + ONE), TWO * end):
                if not _refers(seal, sets, records[at] & REFERENCE_MASK):
                    return np.int64(state)
    for start in (START, START_RESERVED):
        if not _refers(seal, sets, np.uint64(seal.meta[start])):
            return 0
    return RIGHT


@kernel
def first_wrong(program: Program, seal: Seal, work: Work, share: Signed, shares: Signed) -> Signed:
    """Return a state from which something is wrong, 0 for the start states, or RIGHT.

    That is proven of one of equal ``shares`` of the records; of the start states by each of them.
    """
    meta, records, starts = seal.meta, seal.records, seal.starts
    words = np.uint64(starts.size)
    for root in range(program.roots):
        begin(program, np.int64(root), work)
        if not _is(seal, work, np.uint64(meta[START_RESERVED if root else START])):
            return 0
    n = ZERO
    for word in range(_part(words, share, shares), _part(words, share + 1, shares)):
        first, left = np.uint64(seal.before[word]), starts[word]
        _ask_for_states(program, seal, word)
        state = first
        while left != ZERO:
            pair = word * WORD_PAIRS + trailing_zeros(left)
            left &= left - ONE
            state += ONE
            head, literals = records[TWO * pair], records[TWO * pair + ONE]
            default = head & REFERENCE_MASK
            if default != ZERO:
                begins, ends = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
                advance(program, seal.members, begins, ends, np.int64(0), work)
                if not _is(seal, work, default):
                    return np.int64(state)
            if not _literals_are_found(program, seal, state, pair):
                return np.int64(state)
            for at in range(TWO * (pair + ONE), TWO * (pair + ONE + buckets_of(head, literals))):
                entry = records[at]
                if entry & REFERENCE_MASK != ZERO:
                    work.states[n], work.symbols[n] = state, entry >> UPPER_HALF
                    work.mixed[n], work.defaults[n] = entry & REFERENCE_MASK, default
                    n += ONE
                    if n == PART:
                        wrong = _wrong_transition(program, seal, work, n)
                        if wrong != RIGHT:
                            return wrong
                        n = ZERO
    return _wrong_transition(program, seal, work, n)


@inlined
def _refers(seal: Seal, sets: Unsigned, reference: Unsigned) -> bool:
    """Tell whether a reference is 0, or to a record or an accept set that there is."""
    if reference & NO_RECORD == ZERO:
        return bool(reference == ZERO or state_of(seal, reference) != ZERO)
    number = reference & STATE_MASK
    return bool(reference & NO_RECORD != NO_RECORD and reference <= REFERENCE_MASK and ZERO < number < sets)


@kernel
def _wrong_transition(program: Program, seal: Seal, work: Work, n: Unsigned) -> Signed:
    """Return the state of a transition that is wrong, among ``n`` whose parts are in ``work``, or RIGHT."""
    symbols = np.uint64(program.word_offsets.size)
    _ask_for_transitions(program, seal, work, n)
    for i in range(n):
        state, symbol, target = work.states[i], work.symbols[i], work.mixed[i]
        if symbol == ZERO or symbol >= symbols:
            return np.int64(state)
        begins, ends = np.int64(seal.state_end[state - ONE]), np.int64(seal.state_end[state])
        if enter(program, seal.members, begins, ends, np.int64(symbol), work) == 0:
            if target != work.defaults[i]:
                return np.int64(state)
        else:
            close(program, work)
            if not _is(seal, work, target):
                return np.int64(state)
    return RIGHT


@inlined
def _ask_for_states(program: Program, seal: Seal, word: Unsigned) -> None:
    """Ask for what checking the default successors and the literals of the states of a word of ``starts`` reads."""
    records, first, left = seal.records, np.uint64(seal.before[word]), seal.starts[word]
    while left != ZERO:
        default = records[TWO * (word * WORD_PAIRS + trailing_zeros(left))] & REFERENCE_MASK
        left &= left - ONE
        prefetch(records, TWO * pair_of(default))
        prefetch(seal.state_end, state_of(seal, default))
        if seal.state_end[first] != seal.state_end[first + ONE]:
            prefetch(program.nodes, TWO * np.uint64(seal.members[np.uint64(seal.state_end[first])]))
        first += ONE
    left = seal.starts[word]
    while left != ZERO:
        _ask_for_sets(seal, records[TWO * (word * WORD_PAIRS + trailing_zeros(left))] & REFERENCE_MASK)
        left &= left - ONE


@inlined
def _ask_for_transitions(program: Program, seal: Seal, work: Work, n: Unsigned) -> None:
    """Ask for what checking ``n`` transitions reads, whose parts are in ``work``, of the first member of each state."""
    ends, members, nodes = seal.state_end, seal.members, program.nodes
    positions, symbols, children = work.froms, work.stops, work.begins
    symbol_bits, key_shift = np.uint64(program.edge_symbol_bits), np.uint64(program.edge_key_shift)
    for i in range(n):
        target = work.mixed[i]
        prefetch(ends, work.states[i] - ONE)
        prefetch(ends, state_of(seal, target))
        prefetch(seal.records, TWO * pair_of(target))
    for i in range(n):
        _ask_for_sets(seal, work.mixed[i])
        prefetch(members, np.uint64(ends[work.states[i] - ONE]))
    pairs = ZERO
    for i in range(n):
        prefetch(seal.tags, np.uint64(seal.set_end[accept_of(seal.records, work.mixed[i]) - ONE]))
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
def _ask_for_sets(seal: Seal, target: Unsigned) -> None:
    """Ask for the members and the accept set of what a reference refers to, whose record has been asked for."""
    state = state_of(seal, target)
    if state != ZERO:
        prefetch(seal.members, np.uint64(seal.state_end[state - ONE]))
    if target != ZERO:
        prefetch(seal.set_end, accept_of(seal.records, target) - ONE)


@inlined
def _part(count: Unsigned, share: Signed, shares: Signed) -> Unsigned:
    """Return where a share of so many begins."""
    return count * np.uint64(share) // np.uint64(shares)


@inlined
def _is(seal: Seal, work: Work, target: Unsigned) -> bool:
    """Tell whether the set that was made in ``work`` is that of a reference."""
    if target == ZERO or (target & FINAL_BIT != ZERO) != (work.counts[FINAL_FLAG] != 0):
        return False
    accept = accept_of(seal.records, target)
    if not same(seal.tags, seal.set_end[accept - ONE], seal.set_end[accept], work.tags, 0, work.counts[TAG_COUNT]):
        return False
    if target & NO_RECORD != ZERO:
        return bool(target & FINAL_BIT != ZERO or work.counts[MEMBER_COUNT] == 0)
    state = state_of(seal, target)
    return same(
        seal.members, seal.state_end[state - ONE], seal.state_end[state], work.members, 0, work.counts[MEMBER_COUNT]
    )


@inlined
def _literals_are_found(program: Program, seal: Seal, state: Unsigned, pair: Unsigned) -> bool:
    """Tell whether all literals of a state pass its filter, and have entries if its record is complete."""
    nodes, literals = program.nodes, seal.records[TWO * pair + ONE]
    complete, wide = seal.records[TWO * pair] & COMPLETE_BIT != ZERO, literals & WIDE_FILTER != ZERO
    for i in range(np.uint64(seal.state_end[state - ONE]), np.uint64(seal.state_end[state])):
        at = TWO * np.uint64(seal.members[i])
        if not wide and nodes[at + ONE] & ~literals != ZERO:
            return False
        if not wide and not complete:
            continue
        for child in range(nodes[at] >> UPPER_HALF, nodes[at + TWO] >> UPPER_HALF):
            label = program.labels[child]
            if label > 0:
                wanted = marks(np.uint64(label))
                if wide and seal.filters[word_of(literals, np.uint64(label))] & wanted != wanted:
                    return False
                if complete and find_entry(seal.records, pair, np.uint64(label)) == NONE:
                    return False
    return True
