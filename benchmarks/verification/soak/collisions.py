"""Words that were crafted to collide in the compiler's tables, as whoever knows its hash functions can do.

A word of seven bytes is its own number; the slot it is looked up at is the top of that number times a constant. A longer
word is named by a hash, and two words of equal names are told apart by their bytes alone. Here, words of one slot are picked
from random ones, and words of one name are solved for: their second half is what the hash of the first half leaves.
"""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import numpy.typing as npt

from compiler.kernels.tables import SCRAMBLE

__all__ = ["draw_colliding_pairs", "draw_colliding_words", "one_name", "one_slot"]

SLOT_BITS = 13
"""Words of one slot share this many bits of the hash: more than the table of a set of them has."""
DRAWS = 1 << 22


def _letters(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Tell of which numbers all bytes are between ``0`` and ``z``, where no separator and no wildcard is."""
    data = numbers.astype("<u8").view(np.uint8).reshape(-1, 8)
    return np.asarray(((data >= ord("0")) & (data <= ord("z"))).all(axis=1), np.bool_)


@cache
def one_slot(seed: int) -> list[str]:
    """Return words of seven letters that are all looked up at one slot of any table of words, and share a filter bit."""
    rng = np.random.default_rng(seed)
    data = np.full((DRAWS, 8), 7, np.uint8)  # the length is the top byte of a name
    data[:, :7] = rng.integers(ord("0"), ord("z") + 1, size=(DRAWS, 7), dtype=np.uint8)
    slots = data.view("<u8").ravel() * np.uint64(SCRAMBLE) >> np.uint64(64 - SLOT_BITS)
    return sorted({bytes(row[:7]).decode("ascii") for row in data[slots == slots[0]]})


@cache
def one_name(seed: int) -> list[str]:
    """Return words of sixteen letters that have one name, so that only their bytes tell them apart."""
    rng = np.random.default_rng(seed)
    first = (
        rng.integers(ord("0"), ord("z") + 1, size=(DRAWS >> 2, 8), dtype=np.uint8).view("<u8").ravel().astype(np.uint64)
    )
    mixed = _folded_product(first ^ np.uint64(16))  # the length of the word
    second = mixed ^ mixed[0] ^ np.uint64(int.from_bytes(b"together", "little"))
    fits = _letters(second)
    pairs = np.stack([first[fits], second[fits]], axis=1).astype("<u8")
    return sorted({pair.tobytes().decode("ascii") for pair in pairs})


def _folded_product(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return the two halves of the product of each number and the multiplier, combined by exclusive or."""
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = numbers >> half, numbers & low
    c, d = np.uint64(SCRAMBLE >> 32), np.uint64(SCRAMBLE & 0xFFFFFFFF)
    middle = (b * d >> half) + (a * d & low) + (b * c & low)
    upper = a * c + (a * d >> half) + (b * c >> half) + (middle >> half)
    return np.asarray(upper ^ numbers * np.uint64(SCRAMBLE), np.uint64)


def draw_colliding_pairs(rng: random.Random) -> list[str]:
    """Draw patterns of two words whose (position, symbol) meet in the table of children.

    The first patterns are of one word each, and give the words their numbers.
    """
    words, parents, number = 500, 100, rng.choice([300, 1000, 3000])
    symbol, parent = np.meshgrid(np.arange(1, words + 1, dtype=np.uint64), np.arange(1, parents + 1, dtype=np.uint64))
    bits = words.bit_length() + (1 + words + number).bit_length()
    key = parent << np.uint64(words.bit_length()) | symbol
    mixed = ((key ^ key >> np.uint64(1 + bits >> 1)) << np.uint64(64 - bits)) * np.uint64(SCRAMBLE)
    chosen = np.argsort(mixed, axis=None)[:number]
    return [f"w{i}" for i in range(1, words + 1)] + [f"w{parent.flat[i]}.w{symbol.flat[i]}" for i in chosen]


def draw_colliding_words(rng: random.Random) -> list[str]:
    """Draw patterns of words that collide, some of which are left out: keys may have those as well."""
    words = rng.choice([one_slot, one_name])(rng.randrange(3))
    some = rng.sample(words, rng.randint(2, min(len(words), 400)))
    patterns = [rng.choice(["{}", "{}.*", "#.{}", "*.{}", "{}.#", "a.{}.b"]).format(word) for word in some]
    return patterns + [f"{one}.{rng.choice(some)}" for one in some[:20]]
