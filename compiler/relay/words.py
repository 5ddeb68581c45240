"""Short words for stations, by which an automaton tells them apart."""

from __future__ import annotations

import numpy as np

from compiler.kernels.tables import Bytes
from compiler.values import Int32s

__all__ = ["words_of"]

DIGITS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"


def words_of(stations: int) -> tuple[Int32s, Bytes]:
    """Return a short word for each station, as offsets and bytes, with room behind them to be read 8 bytes at once.

    >>> offsets, data = words_of(100)
    >>> bytes(data[offsets[63]:offsets[65]])
    b'-10'
    """
    texts = [_word(number) for number in range(stations)]
    offsets = np.zeros(stations + 1, np.int32)
    np.cumsum([len(text) for text in texts], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(texts) + bytes(8), np.uint8)


def _word(number: int) -> bytes:
    digits = DIGITS[number % 64 : number % 64 + 1]
    return _word(number // 64) + digits if number >= 64 else digits
