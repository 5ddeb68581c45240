"""Tables of their own mappings, and what they take of the machine: nothing before they are written, and nothing when they are dropped."""

from __future__ import annotations

import gc
import mmap
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from compiler.mappings import TIGHT, in_huge_pages, reserved, zeros

MIB = 1 << 20
needs_mappings = pytest.mark.skipif(
    not Path("/proc/self/statm").exists() or not hasattr(mmap, "MAP_PRIVATE"),
    reason="memory is read from /proc, which this system has not",
)


@pytest.fixture
def no_garbage() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def resident() -> int:
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@needs_mappings
@pytest.mark.usefixtures("no_garbage")
@pytest.mark.parametrize("size", [MIB, 8 * MIB])
def test_a_table_that_is_dropped_is_the_systems_again(size: int) -> None:
    """malloc would keep them: once it has mapped 31 MiB and they were freed, it makes smaller ones in its heap."""
    np.empty(31 * MIB, np.int8)
    before = resident()
    tables = [zeros(size // 8, np.uint64, 16 * MIB) for _ in range(4)]
    for table in tables:
        table[:] = 1
    assert resident() - before > 3.5 * size
    del table, tables
    assert resident() - before < size // 2


@needs_mappings
@pytest.mark.usefixtures("no_garbage")
def test_what_is_not_written_takes_nothing() -> None:
    before = resident()
    table, room = zeros(64 * MIB // 8, np.uint64, 0), reserved(64 * MIB)
    assert resident() - before < MIB
    room[:1000] = 1
    assert resident() - before < MIB
    assert not table.any()


@needs_mappings
@pytest.mark.usefixtures("no_garbage")
@pytest.mark.parametrize("size", [0, MIB, 5 * MIB])
def test_huge_pages_reach_no_further_than_was_said(size: int) -> None:
    """One byte is written in each page of the first MiB, and in each huge page up to ``size``."""
    before = resident()
    room = in_huge_pages(reserved(64 * MIB), size)
    room[: MIB // 8 : mmap.PAGESIZE // 8] = 1
    room[: size // 8 : 2 * MIB // 8] = 1
    assert resident() - before < max(size, MIB) + MIB // 2


def contents(table: npt.NDArray[np.uint64]) -> list[int]:
    table[1] = 7
    return [len(table), int(table[:3].sum()), table.itemsize, table.ctypes.data % 8]


@pytest.mark.parametrize("lacking", ["mapping", "kind of mapping"])
def test_numpy_makes_tables_where_the_system_has_no_mapping(lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may have 65,530 of them on Linux."""
    size = 1 << 17
    expected = contents(zeros(size, np.uint64, 0)), contents(reserved(8 * size))

    def refused(*_: object) -> mmap.mmap:
        raise OSError(12, "Cannot allocate memory")

    if lacking == "mapping":
        monkeypatch.setattr(mmap, "mmap", refused)
    else:
        monkeypatch.delattr(mmap, "MAP_PRIVATE", raising=False)
    made = zeros(size, np.uint64, 0), reserved(8 * size)
    assert (contents(made[0]), contents(made[1])) == expected
    assert all(table.flags.owndata for table in made)


def test_small_tables_and_those_within_large_bounds_stay_with_numpy() -> None:
    assert zeros(100, np.int32, 0).flags.owndata
    assert zeros(MIB // 2 - 1, np.int8, TIGHT).flags.owndata
    assert zeros(MIB, np.int8, TIGHT + 1).flags.owndata
    assert not hasattr(mmap, "MAP_PRIVATE") or not zeros(MIB // 2, np.int8, TIGHT).flags.owndata
