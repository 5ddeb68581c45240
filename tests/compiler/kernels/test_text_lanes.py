"""Texts in vectors against their plain twins, and the look-up of places against that of one place, on texts drawn at random."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from compiler.kernels._jit import kernel
from compiler.kernels._place_vectors import stations_of_eight
from compiler.kernels._text_vectors import hash_line, same_line, write_line
from compiler.kernels.key_cache import write_key
from compiler.kernels.leading import copy_ends, copy_text
from compiler.kernels.places import ends_within, fill_places, station_of
from compiler.kernels.relay_messages import hash_plainly, same_plainly
from compiler.kernels.relay_tables import SLACK, Directory
from compiler.kernels.tables import Keys, frozen
from compiler.machine.columns import whole
from compiler.prepare import jit_enabled
from compiler.values import KeyColumn
from tests.borders import LENGTHS

pytestmark = pytest.mark.skipif(not jit_enabled(), reason="vectors are for compiled kernels")

LANES = 8
SHORT = [length for length in LENGTHS if length < 64]


@kernel
def hashed(data: Any, begin: Any, length: Any) -> Any:
    return hash_line(data, np.uint64(begin), np.uint64(length))


@kernel
def hashed_plainly(data: Any, begin: Any, length: Any) -> Any:
    return hash_plainly(data, np.uint64(begin), np.uint64(length))


@kernel
def same(table: Any, slot: Any, data: Any, begin: Any, length: Any) -> Any:
    return same_line(table, np.uint64(slot), data, np.uint64(begin), np.uint64(length))


@kernel
def written(table: Any, at: Any, data: Any, begin: Any, length: Any) -> None:
    write_line(table, np.uint64(at), data, np.uint64(begin), np.uint64(length))


@kernel
def written_plainly(table: Any, at: Any, data: Any, begin: Any, length: Any) -> None:
    write_key(table, np.uint64(at), data, np.uint64(begin), np.uint64(length))


@kernel
def equal_plainly(table: Any, slot: Any, data: Any, begin: Any, length: Any) -> Any:
    return same_plainly(table, np.uint64(slot), data, np.uint64(begin), np.uint64(length))


@kernel
def copied(source: Any, begin: Any, end: Any, target: Any, at: Any) -> None:
    copy_text(source, np.uint64(begin), np.uint64(end), target, np.uint64(at))


@kernel
def shifted(source: Any, first: Any, count: Any, shift: Any, target: Any, at: Any) -> None:
    copy_ends(source, np.uint64(first), np.uint64(count), np.uint64(shift), target, np.uint64(at))


@kernel
def stations(several: Any, places: Any, names: Any, row: Any, directory: Any, out: Any) -> None:
    lists = places.offsets, places.data, names.offsets, names.data
    stations_of_eight(several, *lists, np.uint64(row), directory.table, directory.multiplier, out)


@kernel
def station(several: Any, places: Any, names: Any, row: Any, directory: Any) -> Any:
    at = np.uint64(row)
    place = ends_within(places.offsets, places.data, at if several else np.uint64(0))
    return station_of(place, ends_within(names.offsets, names.data, at), places.data, names.data, directory)


def test_a_line_is_written_as_a_key_is_eight_bytes_at_a_time() -> None:
    """With zeros behind its end up to the eighth number, and nothing beyond; of a longer text the first 64 bytes."""
    rng = np.random.default_rng(4)
    for length in [*LENGTHS, 255]:
        data = rng.integers(0, 256, 9 + length + 64, np.uint8)
        table, plain = np.full(12, 7, np.uint64), np.full(12, 7, np.uint64)
        plain[2:10] = 0
        written(table, 2, data, 9, length)
        written_plainly(plain, 2, data, 9, min(length, 64))
        assert table.tolist() == plain.tolist()


def test_a_line_is_hashed_as_eight_numbers_are() -> None:
    """Of all lengths, and whatever stands behind a text."""
    rng = np.random.default_rng(3)
    for length in [*LENGTHS, 255]:
        data = rng.integers(0, 256, 9 + length + 64, np.uint8)
        own = int(hashed(data, 9, length))
        assert own == int(hashed_plainly(data, 9, length))
        data[9 + length :] ^= 0xFF
        assert int(hashed(data, 9, length)) == own
        for place in range(min(length, 64)):
            data[9 + place] ^= 1 << rng.integers(0, 8)
            assert int(hashed(data, 9, length)) != own
            own = int(hashed(data, 9, length))


@pytest.mark.parametrize("differs", [False, True])
def test_a_line_is_compared_to_its_end(differs: bool) -> None:
    """To no byte more, and to none less."""
    rng = np.random.default_rng(4)
    for length in range(57):
        data = rng.integers(0, 256, 5 + length + 64, np.uint8)
        line = rng.integers(0, 256, 128, np.uint8)
        line[72 : 72 + length] = data[5 : 5 + length]
        places = range(length) if differs else [-1]
        for place in places:
            other = line.copy()
            if differs:
                other[72 + place] ^= 1 << rng.integers(0, 8)
            table = other.view(np.uint64)
            assert same(table, 8, data, 5, length) == equal_plainly(table, 8, data, 5, length) == (not differs)


def test_texts_and_ends_are_copied_whole() -> None:
    rng = np.random.default_rng(5)
    for length in [*LENGTHS, 200]:
        source = rng.integers(0, 256, 7 + length + SLACK, np.uint8)
        target = np.zeros(11 + length + SLACK, np.uint8)
        copied(source, 7, 7 + length, target, 11)
        assert target[11 : 11 + length].tolist() == source[7 : 7 + length].tolist()
        assert not target[:11].any()
    for count in range(40):
        ends = rng.integers(0, 2**20, 3 + count + LANES).astype(np.int32)
        numbers = np.zeros(2 + count + LANES, np.int32)
        shifted(ends, 3, count, 1000, numbers, 2)
        assert numbers[2 : 2 + count].tolist() == (ends[3 : 3 + count] + 1000).tolist()
        assert not numbers[:2].any()


def column(texts: list[bytes]) -> Keys:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    return whole(KeyColumn(offsets, np.frombuffer(b"".join(texts) or b"x", np.uint8), None))


def test_eight_places_are_those_of_one_after_the_other() -> None:
    """Of texts of all lengths, some of which differ in one byte; nothing is found that is not there, and what is short is found nearly always."""
    rng = np.random.default_rng(6)
    found = asked = 0
    for _ in range(400):
        known = sorted({(drawn(rng), drawn(rng)) for _ in range(rng.integers(1, 40))})
        texts = column([place for place, _ in known]), column([name for _, name in known])
        table = np.zeros(6 << 8, np.uint64)
        multiplier = np.uint64(2 * int(rng.integers(0, 2**63)) + 1)
        if not fill_places(*texts, multiplier, table):
            continue
        directory = Directory(*texts, frozen(table), multiplier, frozen(np.arange(len(known), dtype=np.int32)))
        rows = [
            known[number] if number < len(known) else (drawn(rng), drawn(rng)) for number in rng.integers(0, 50, 11)
        ]
        for several in (True, False):
            some = rows if several else [(rows[0][0], name) for _, name in rows]
            places, names = (
                column([place for place, _ in some][: None if several else 1]),
                column([name for _, name in some]),
            )
            out = np.full(16, -7, np.int32)
            stations(several, places, names, 2, directory, out)
            assert out[:2].tolist() == [-7, -7]
            assert out[10:].tolist() == [-7] * 6
            for row in range(2, 10):
                expected = known.index(some[row]) if some[row] in known else -1
                assert station(several, places, names, row, directory) == expected
                assert out[row] in (expected, -1)
                short = max(map(len, some[row])) <= 16
                found += short and expected >= 0 and int(out[row]) == expected
                asked += short and expected >= 0
    assert asked > 500
    assert found > 0.9 * asked


def drawn(rng: np.random.Generator) -> bytes:
    """Return a text about the lengths at which it is read otherwise, of few letters."""
    length = int(rng.choice([0, 1, 3, 7, 8, 9, 15, 16, 17, 40]))
    text = bytearray(b"a" * length)
    if length:
        text[int(rng.choice([0, length - 1]))] = int(rng.choice([97, 98, 0]))
    return bytes(text)
