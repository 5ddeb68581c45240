"""A small binding set as bits: the NFA in a few machine words, for simulation without any table of states.

Each pattern gets a run of bits, one per position: bit p is set when its first p tokens have been matched. A word moves
all patterns at once (Baeza-Yates and Gonnet's Shift-And, with Wu and Manber's wildcards)::

    next = (now & accepts[word]) << 1  |  now & loops        literal words and ONE step; MANY stays
    next |= (next & loops) << 1                              MANY also lets the pattern go on without a word

``accepts[word]`` has the bits of the positions whose token is that word or ONE. No pattern crosses a machine word, so no
shift carries. Unlike the trie-shaped NFA, patterns share no prefixes here: that is the price of shifting.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from compiler.automata.nfa import MANY, ONE, Nfa
from compiler.automata.paths import parents_of, path_to
from compiler.kernels.tables import MOST_LANES, frozen

__all__ = ["BitProgram", "bit_program"]

TABLE_BYTES = 1 << 20
"""The largest table of ``accepts``: it should stay in the second-level cache."""


class BitProgram(NamedTuple):
    """The tables of the bit-parallel simulation, in machine words called lanes."""

    accepts: npt.NDArray[np.uint64]
    """For each symbol a row of lanes."""
    loops: npt.NDArray[np.uint64]
    start: npt.NDArray[np.uint64]
    """For each root a row of lanes."""
    ends: npt.NDArray[np.uint64]
    """The bits at which a pattern is matched."""
    tag_offsets: npt.NDArray[np.int32]
    """The accept tags of bit b are ``tags[tag_offsets[b]:tag_offsets[b + 1]]``."""
    tags: npt.NDArray[np.int32]
    in_order: np.bool_
    """Whether ascending bits have ascending tags, so that answers need no sorting."""


def bit_program(nfa: Nfa) -> BitProgram | None:
    """Lay a binding set out as bits, or return None if it is too large or has a pattern of over 63 tokens."""
    paths = _paths(nfa)
    if paths is None:
        return None
    lanes = 0
    room = 0
    firsts = []
    for path in paths:
        if len(path) > room:
            lanes, room = lanes + 1, 64
        firsts.append(64 * lanes - room)
        room -= len(path)
    lanes = -(-lanes // 8) * 8  # eight are moved at once
    rows = len(nfa.symbols) + 1
    if lanes > MOST_LANES or 8 * lanes * rows > TABLE_BYTES:
        return None
    accepts, loops, start, ends = (np.zeros((n, lanes), np.uint64) for n in (rows, 1, len(nfa.roots), 1))
    tags: list[tuple[int, ...]] = [()] * (64 * lanes)
    for first, path in zip(firsts, paths, strict=True):
        labels = [nfa.label(position) for position in path[1:]]
        _set(start, path[0], first)
        if labels[:1] == [MANY]:
            _set(start, path[0], first + 1)
        for bit, label in enumerate(labels, first):
            if label == MANY:
                _set(loops, 0, bit)
            else:
                _set(accepts, slice(None) if label == ONE else label, bit)
        _set(ends, 0, first + len(labels))
        tags[first + len(labels)] = nfa.tags_of(path[-1])
    flat = [tag for some in tags for tag in some]
    offsets = np.zeros(len(tags) + 1, np.int32)
    np.cumsum([len(some) for some in tags], out=offsets[1:])
    return BitProgram(
        accepts=frozen(accepts.ravel()),
        loops=frozen(loops.ravel()),
        start=frozen(start.ravel()),
        ends=frozen(ends.ravel()),
        tag_offsets=frozen(offsets),
        tags=frozen(np.array(flat, np.int32)),
        in_order=np.bool_(flat == sorted(flat)),
    )


def _paths(nfa: Nfa) -> list[list[int]] | None:
    """Return each distinct pattern's positions from its root on, in the order of its first tag; None if too large."""
    ends = np.flatnonzero(np.diff(nfa.tag_offsets))
    if max(len(ends), len(nfa.tags)) > 64 * MOST_LANES:
        return None
    parents = parents_of(nfa)
    paths = []
    for end in sorted(ends.tolist(), key=lambda end: nfa.tags_of(end)[0]):
        paths.append(path_to(parents, end))
        if len(paths[-1]) > 64:
            return None
    return paths


def _set(lanes: npt.NDArray[np.uint64], row: Any, bit: int) -> None:
    lanes[row, bit >> 6] |= np.uint64(1 << (bit & 63))
