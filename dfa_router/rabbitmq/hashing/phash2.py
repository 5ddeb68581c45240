"""Erlang's portable hash of a list of binaries, ``erlang:phash2``, by which RabbitMQ's ``x-modulus-hash`` chooses.

A binary is hashed twelve bytes at a time by Bob Jenkins' function of 1996 ("A hash function for hash table lookup",
Dr. Dobb's Journal, September 1997), which begins with the hash of what came before it; the list's end is mixed in last.
The numbers are those of Erlang/OTP, the same since release 5.2 and on every machine, which is what "portable" promises.

:func:`phash2` is the plain form. :func:`phash2_column` does the same for whole columns with one key each, in numpy: a pass over the
rows for each twelve bytes of the longest key.

Left out: all other terms of Erlang.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["phash2", "phash2_column"]

GOLDEN = 0x9E3779B9
OF_BINARY, OF_END = (GOLDEN * 13) & 0xFFFFFFFF, (GOLDEN * 2) & 0xFFFFFFFF
"""What Erlang mixes in with a binary, and with the end of a list."""
END = 2
"""The number of the empty list among Erlang's kinds of terms."""
NOTHING = 3468870702
"""The hash of an empty list, and of what hashes to 0 before its end."""
BLOCK = 12
MASK = 0xFFFFFFFF
RANGE = 1 << 27
"""Hashes are below this, as ``phash2`` gives them unless it is asked for another range."""
ROUNDS = ((13, 8, 13), (12, 16, 5), (3, 10, 15))
"""By how many bits the three words are shifted in each round of mixing."""


def phash2(binaries: Iterable[bytes]) -> int:
    """Return ``erlang:phash2`` of a list of binaries, below 2^27.

    >>> phash2([b"a"]), phash2([b"a", b"b"]), phash2([])
    (53691870, 3094894, 113427502)
    """
    hashed = 0
    for binary in binaries:
        start = (OF_BINARY + hashed) & MASK
        hashed = _hashed(binary, start) if binary else start
    if not hashed:
        return NOTHING % RANGE
    return int(_mixed((OF_END + END) & MASK, OF_END, hashed)[2]) % RANGE


def phash2_column(offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    """Return ``erlang:phash2([key])`` for each key of a column, which is ``data[offsets[i]:offsets[i + 1]]``.

    >>> phash2_column(np.array([0, 1, 1], np.int32), np.frombuffer(b"a", np.uint8)).tolist() == [phash2([b"a"]), phash2([b""])]
    True
    """
    starts, lengths = offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)
    padded = np.concatenate([data, np.zeros(BLOCK, np.uint8)])
    a = np.full(len(starts), GOLDEN, np.uint32)
    b, c = a.copy(), np.full(len(starts), OF_BINARY, np.uint32)
    for begin in range(0, int(lengths.max(initial=0)), BLOCK):
        more = np.flatnonzero(lengths - begin >= BLOCK)
        if not len(more):
            break
        words = _words(padded, starts[more] + begin, np.full(len(more), BLOCK))
        a[more], b[more], c[more] = _mixed(*(old[more] + new for old, new in zip((a, b, c), words, strict=True)))
    left = lengths % BLOCK
    words = _words(padded, starts + lengths - left, left)
    last = (words[2] << np.uint32(8)) + lengths.astype(np.uint32)  # the lowest byte is that of the length
    c = np.where(lengths > 0, _mixed(a + words[0], b + words[1], c + last)[2], c)
    ends = np.full(len(c), OF_END, np.uint32)
    hashed = np.where(c > 0, _mixed(ends + np.uint32(END), ends, c)[2], np.uint32(NOTHING))
    return (hashed % np.uint32(RANGE)).astype(np.int64)


def _hashed(binary: bytes, start: int) -> int:
    a = b = GOLDEN
    c = start
    rest = len(binary) - len(binary) % BLOCK
    for at in range(0, rest, BLOCK):
        a, b, c = _mixed(*((old + new) & MASK for old, new in zip((a, b, c), _three(binary[at:]), strict=True)))
    first, second, third = _three(binary[rest:])
    return int(_mixed((a + first) & MASK, (b + second) & MASK, (c + (third << 8) + len(binary)) & MASK)[2])


def _three(binary: bytes) -> tuple[int, int, int]:
    """Return the first twelve bytes as little-endian words; bytes that are not there are 0."""
    first, second, third = (int.from_bytes(binary[at : at + 4], "little") for at in (0, 4, 8))
    return first, second, third


def _words(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Any:
    """Return the first bytes of each row as three little-endian words."""
    places = np.arange(BLOCK)
    block = np.where(places < lengths[:, None], data[np.minimum(starts[:, None] + places, len(data) - 1)], np.uint8(0))
    return [np.ascontiguousarray(block[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint32) for at in (0, 4, 8)]


def _mixed(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """Mix three words of 32 bits: numbers, or arrays of uint32, which lose what does not fit by themselves."""
    for right, left, last in ROUNDS:
        a = ((a - b - c) & MASK) ^ (c >> right)
        b = ((b - c - a) & MASK) ^ ((a << left) & MASK)
        c = ((c - a - b) & MASK) ^ (b >> last)
    return a, b, c
