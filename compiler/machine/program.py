"""From an NFA to the flat tables of a :class:`compiler.kernels.tables.Program`.

Everything here is made from the NFA's two arrays, by whole-array arithmetic and two kernels that fill hash tables; it takes
about half a second for a million bindings.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import MANY, ONE, Nfa
from compiler.automata.paths import levels_of, parents_of
from compiler.kernels.aside import aside
from compiler.kernels.tables import (
    CROWDED,
    FIRST_IS_MANY,
    FIRST_MARK,
    HAS_ONE,
    HAS_TAGS,
    LAST_MARK,
    LEADS_ON,
    LOOPS,
    MARK,
    NESTED,
    SCRAMBLE,
    SECOND_MARK,
    Int32s,
    Program,
    Uint64s,
    frozen,
)
from compiler.machine.hashing import edge_table, word_table

__all__ = ["make_program", "marks_of"]

FEW_CHILDREN = 4
"""So many labels lie in a line of the processor's cache or two, and take no room in the hash table. Without that table,
simulating takes a third more time (``python -m benchmarks ablations``)."""


def make_program(nfa: Nfa, separator: bytes) -> Program:
    """Lay an NFA out for kernels; its own arrays are shared, not copied."""
    aside(import_module, "compiler.kernels._jit")  # and so numba, before anything here imports a kernel
    parents = parents_of(nfa)
    crowded = np.diff(nfa.children) > FEW_CHILDREN
    words, edges = word_table(nfa.symbols), edge_table(nfa, parents, crowded)
    nested = _nested(nfa, parents)
    return Program(
        separator=np.uint8(separator[0]),
        reserved=np.int64(nfa.reserved[0] if nfa.reserved else -1),
        roots=np.int64(len(nfa.roots)),
        labels=frozen(nfa.labels),
        nodes=frozen(_nodes(nfa, nested, crowded & ~edges.left_out)),
        tag_offsets=frozen(nfa.tag_offsets),
        tags=frozen(nfa.tags),
        words=frozen(words.words),
        word_shift=np.int64(words.shift),
        word_multiplier=words.multiplier,
        word_data=words.data,
        word_offsets=frozen(nfa.symbols.offsets),
        edges=frozen(edges.edges),
        edge_shift=np.int64(edges.shift),
        edge_symbol_bits=np.int64(edges.symbol_bits),
        edge_key_shift=np.int64(edges.key_shift),
        nested=frozen(nested),
        nested_count=np.int64(nested.max(initial=0)),
    )


def _nodes(nfa: Nfa, nested: Int32s, crowded: npt.NDArray[np.bool_]) -> Uint64s:
    """Gather what a step asks of each position."""
    labels, first, count = nfa.labels, nfa.children[:-1], np.diff(nfa.children)
    has = np.flatnonzero(count)
    many = np.zeros(len(nfa), np.bool_)
    many[has] = labels[first[has]] == MANY
    one = np.zeros(len(nfa), np.bool_)
    beyond = np.flatnonzero(count > many)
    one[beyond] = labels[first[beyond] + many[beyond]] == ONE
    flags = np.where(labels == MANY, LOOPS, 0) | np.where(many, FIRST_IS_MANY, 0) | np.where(one, HAS_ONE, 0)
    flags |= np.where(count > many, LEADS_ON, 0) | np.where(np.diff(nfa.tag_offsets), HAS_TAGS, 0)
    if len(nested):
        flags |= np.where(nested, NESTED, 0)
    flags |= np.where(crowded, CROWDED, 0)
    nodes = np.zeros(2 * len(nfa) + 2, np.uint64)
    nodes[0::2] = nfa.children.astype(np.uint64) << np.uint64(32)
    nodes[0:-2:2] |= flags.astype(np.uint64)
    bits = np.where(labels > 0, marks_of(labels), np.uint64(0))
    if len(has):
        nodes[1:-2:2][has] = np.bitwise_or.reduceat(bits, first[has])
    return nodes


def marks_of(symbols: Int32s) -> Uint64s:
    """Return the bits that stand for symbols in filters, as :func:`compiler.kernels.filters.marks` does."""
    hashed = symbols.astype(np.uint64) * np.uint64(SCRAMBLE)  # modulo 2^64
    last = np.uint64(LAST_MARK)
    first = np.minimum(hashed >> np.uint64(FIRST_MARK), last)
    second = np.minimum(hashed >> np.uint64(SECOND_MARK) & np.uint64(MARK), last)
    marks: Uint64s = np.uint64(1) << first | np.uint64(1) << second
    return marks


def _nested(nfa: Nfa, parents: Int32s) -> Int32s:
    """Number the MANY positions below another MANY, from 1 on, in an array of all positions; it is empty without any."""
    many = nfa.labels == MANY
    below = np.zeros(len(nfa), np.bool_)
    for first, last in levels_of(nfa):
        above = parents[first:last]
        below[first:last] = below[above] | many[above]
    found = np.flatnonzero(many & below)
    if not len(found):
        return np.zeros(0, np.int32)
    numbers = np.zeros(len(nfa), np.int32)
    numbers[found] = np.arange(1, len(found) + 1)
    return numbers
