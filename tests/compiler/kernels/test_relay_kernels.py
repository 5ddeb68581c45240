"""Kernels of the two ends of a relay, held to plain Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from compiler.kernels.leading import screen_keys
from compiler.kernels.relay import set_aside
from compiler.kernels.tables import Keys, frozen
from tests.compiler.guarded import guarded

NO_NULLS = frozen(np.empty(0, np.bool_))


@pytest.mark.parametrize("side", ["before", "behind"])
def test_the_longest_key_and_bytes_that_are_no_ascii_are_seen(side: str) -> None:
    """Of the keys between the first and the last offset alone, and nothing beyond them is read."""
    chance = random.Random(side)
    for _ in range(60):
        texts = [bytes(chance.choice(b"ab\x7f") for _ in range(chance.choice([0, 1, 7, 30, 300]))) for _ in range(9)]
        strange = chance.choice([None, 0, 4, 8])
        if strange is not None:
            texts[strange] += b"\x80"
        offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
        first, last = chance.choice([(0, 9), (1, 8), (4, 4), (3, 5)])
        data = np.frombuffer(b"".join(texts), np.uint8)[: offsets[last]]
        keys = Keys(frozen(guarded(offsets[first : last + 1], side)), frozen(guarded(data, side)), NO_NULLS)
        read = texts[first:last]
        expected = max(map(len, read), default=0) + (1 << 32 if any(not text.isascii() for text in read) else 0)
        assert screen_keys(keys) == expected


@pytest.mark.parametrize("side", ["before", "behind"])
def test_rows_are_parted_by_the_station_at_which_they_wait(side: str) -> None:
    chance = random.Random(3)
    for count in (0, 1, 2, 9, 40):
        asked = np.array([chance.random() < 0.5 for _ in range(6)])
        rows = sorted(chance.sample(range(100), count))
        at = [chance.randrange(6) for _ in rows]
        parts = guarded(np.zeros(4 * count, np.int32), side)
        own, where = guarded(np.array(rows, np.int32), side), guarded(np.array(at, np.int32), side)
        kept = set_aside(frozen(guarded(asked, side)), own, where, parts)
        waiting = list(zip(rows, at, strict=True))
        for special, begin, size in ((False, 0, kept), (True, 2 * count, count - kept)):
            expected = [(row, station) for row, station in waiting if bool(asked[station]) == special]
            found = zip(parts[begin : begin + size], parts[begin + count : begin + count + size], strict=True)
            assert [(int(row), int(station)) for row, station in found] == expected
