"""The two hash tables of a :class:`compiler.kernels.tables.Program`, within bounds that no choice of words can exceed.

Whoever writes bindings may choose them so that they meet in a hash table: either for want of luck, or to make others wait or
pay for memory. Neither may happen. The table of words is filled with one multiplier after the other until no entry is
far from its home slot; all but the first depend on the words themselves, so that nobody can choose words against them.
The table of children grows to a fixed number of slots for each child; positions whose children have no place even then
are left out, and their children are found by binary search.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import Nfa, Symbols
from compiler.kernels.tables import META, PADDING, PROBES, SCRAMBLE, Bools, Bytes, Int32s, Uint64s, frozen

__all__ = ["EdgeTable", "WordTable", "edge_table", "word_table"]

FEW_WORDS = 4096
ATTEMPTS = 4
"""Multipliers that are tried at a size of the table of words, before it is doubled."""
DOUBLINGS = 2
"""How often the table of children is doubled to find a place for all: it then has 8 to 16 slots for each."""


class WordTable(NamedTuple):
    """The literal words by their names; the fields are those of :class:`compiler.kernels.tables.Program`."""

    words: Uint64s
    shift: int
    multiplier: np.uint64
    data: Bytes


class EdgeTable(NamedTuple):
    """The children of crowded positions."""

    edges: Uint64s
    shift: int
    symbol_bits: int
    key_shift: int
    left_out: Bools
    """The positions among these that are not in the table."""


def word_table(symbols: Symbols) -> WordTable:
    """Enter all literal words into a table; in bytes, it takes 32 to 64 for each word, and more for few words."""
    from compiler.kernels.words import fill_words

    count = len(symbols)
    data = frozen(np.concatenate((symbols.data, np.zeros(PADDING, np.uint8))))
    offsets = frozen(symbols.offsets)
    # Few words get a table in which hardly any two meet, as long as it stays near the processor.
    slots = 1 << max(8, ((8 if count <= FEW_WORDS else 2) * count).bit_length())
    attempt, multipliers = 0, _multipliers(symbols)
    while True:
        words, shift, multiplier = np.zeros(2 * slots, np.uint64), 64 - (slots.bit_length() - 1), next(multipliers)
        if fill_words(words, np.int64(shift), multiplier, data, offsets):
            return WordTable(words, shift, multiplier, data)
        attempt += 1
        slots <<= attempt % ATTEMPTS == 0


def edge_table(nfa: Nfa, parents: Int32s, crowded: npt.NDArray[np.bool_]) -> EdgeTable:
    """Enter all children that literal words lead to from the crowded positions; it takes at most 128 bytes for each."""
    from compiler.kernels.transitions import fill_edges

    literal = np.flatnonzero((nfa.labels > 0) & crowded[parents]).astype(np.int32)
    symbol_bits = max(1, len(nfa.symbols).bit_length())
    key_bits = symbol_bits + len(nfa).bit_length()
    slot_bits = max(4, key_bits - 32, (2 * len(literal)).bit_length())
    last = slot_bits + DOUBLINGS
    while True:
        edges, left_out = np.zeros((1 << slot_bits) + PROBES - 1, np.uint64), np.zeros(len(nfa), np.bool_)
        fill_edges(
            edges, 64 - slot_bits, literal, parents[literal], nfa.labels[literal], symbol_bits, 64 - key_bits,
            np.zeros(META, np.int64), left_out,
        )  # fmt: skip
        if slot_bits == last or not left_out.any():
            return EdgeTable(edges, 64 - slot_bits, symbol_bits, 64 - key_bits, left_out)
        slot_bits += 1


def _multipliers(symbols: Symbols) -> Iterator[np.uint64]:
    """Yield odd numbers: first the one of all other hashing, which keeps regular words apart best, and then of the words' own."""
    yield np.uint64(SCRAMBLE)
    content = blake2b(symbols.offsets.tobytes() + symbols.data.tobytes(), digest_size=8)
    while True:
        yield np.uint64(int.from_bytes(content.digest(), "little") | 1)
        content.update(b"another")
