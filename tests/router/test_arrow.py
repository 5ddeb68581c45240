"""Columns of keys in every form that Arrow has: dictionaries in chunks, views, and more bytes than 32-bit offsets can address.

Large columns lie over memory that is reserved and never touched, so they cost nothing.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dfa_router as dr
from dfa_router.arrow import key_array, key_columns

ROUTER = dr.compile([("a.*", "x"), ("#", "y")])
TEXTS = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
GIB = 1 << 30


def rows(keys: Any) -> list[list[int] | None]:
    found: list[list[int] | None] = ROUTER.match_batch(keys).bindings().to_pylist()
    return found


def encoded(indices: list[int | None], keys: list[str | None], kind: Any = None, width: Any = None) -> pa.Array:
    """A dictionary column as files have them: with whatever indices, in a dictionary of whatever values."""
    return pa.DictionaryArray.from_arrays(
        pa.array(indices, width or pa.int8()), pa.array(keys, pa.string()).cast(kind or pa.string()), safe=False
    )


def reserved(size: int) -> pa.Buffer:
    """Zero bytes that take no memory as long as nobody writes to them."""
    return pa.py_buffer(mmap.mmap(-1, size))


def large(offsets: list[int]) -> pa.Array:
    wide = pa.py_buffer(np.array(offsets, np.int64))
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, [None, wide, reserved(offsets[-1])])


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_chunks_may_have_different_dictionaries_with_nulls_among_their_values(kind: Any) -> None:
    """Arrow's own unification of dictionaries takes no nulls."""
    chunks = [
        encoded([0, 1, None], ["a.b", None], kind),
        encoded([], [], kind),
        encoded([2, 1, 0], ["c", None, "a.c"], kind),
        encoded([None, None], [], kind),
        encoded([1, 0], ["a.b", "c"], kind),
    ]
    column = pa.chunked_array(chunks)
    expected = [[0, 1], None, None, [0, 1], None, [1], None, None, [1], [0, 1]]
    assert rows(column) == expected
    assert rows(column.slice(1, 6)) == expected[1:7]
    assert rows(pa.chunked_array([chunks[1], chunks[1]])) == rows(pa.chunked_array([], chunks[1].type)) == []


@pytest.mark.parametrize("width", [pa.int16(), pa.int32(), pa.int64()], ids=str)
@pytest.mark.parametrize("kind", [*TEXTS, pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_keys_that_repeat_may_be_run_end_encoded(kind: Any, width: Any) -> None:
    text = pa.array(["a.b", None, "c", "a.b"])
    keys = text.dictionary_encode() if pa.types.is_dictionary(kind) else text.cast(kind)
    column = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 4, 7], width), keys)
    expected = [[0, 1], [0, 1], None, [1], [0, 1], [0, 1], [0, 1]]
    assert rows(column) == expected
    for begin in range(8):
        for end in range(begin, 8):
            assert rows(column[begin:end]) == expected[begin:end]
    assert rows(pa.chunked_array([column[1:1], column[5:], column[:3]])) == expected[5:] + expected[:3]
    assert rows(pa.table({"key": column}).slice(2, 3)) == expected[2:5]
    assert rows(pa.chunked_array([], column.type)) == []
    before = ROUTER.stats().keys
    assert rows(pa.RunEndEncodedArray.from_arrays(pa.array([30_000], width), ["once.1"])) == [[1]] * 30_000
    assert ROUTER.stats().keys - before == 1


@pytest.mark.parametrize("ends", [[2, 1], [0, 2], [2, 2], [-1, 2], [1, 1], [5, -32768, -1, 32766]], ids=str)
def test_runs_that_do_not_follow_each_other_are_refused(ends: list[int]) -> None:
    """Arrow looks at the last alone."""
    written = np.arange(1, len(ends) + 1, dtype=np.int16)
    run_ends = pa.Array.from_buffers(pa.int16(), len(ends), [None, pa.py_buffer(written)])
    column = pa.RunEndEncodedArray.from_arrays(run_ends, pa.array(["a", "b", "c", "d"][: len(ends)]))[:2]
    written[:] = ends
    for keys in (column, pa.chunked_array([column[:0], column])):
        with pytest.raises(dr.KeyTypeError, match=r"keys is a damaged Arrow column \(.*\): make or write it again"):
            ROUTER.match_batch(keys)


def test_slices_of_a_table_whose_keys_are_a_dictionary_may_be_empty() -> None:
    """What comes over the C interface has buffers that are cut short, and Arrow concatenates no slice of nothing of them."""
    batch = pa.record_batch({"key": encoded([0, 1, 0, 2] * 4, ["a.b", "c", None])})
    slices = [batch.slice(9, 0), batch.slice(9, 2), batch.slice(12, 0), batch.slice(11)]
    expected = [[1], [0, 1], None, [0, 1], [1], [0, 1], None]
    tables: list[Callable[[list[Any]], Any]] = [
        pa.Table.from_batches,
        lambda batches: pa.RecordBatchReader.from_batches(batch.schema, batches),
    ]
    for table in tables:
        assert rows(table(slices)) == expected
        assert rows(table(slices[:1])) == rows(table([slices[0], slices[2]])) == []
        assert [row for block in ROUTER.match_blocks(table(slices)) for row in block.bindings().to_pylist()] == expected


def test_dictionaries_of_nothing_but_nulls() -> None:
    nothing = pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int8()), pa.nulls(1))
    assert rows(nothing) == [None, None]
    assert rows(pa.chunked_array([nothing, nothing[:1]])) == [None, None, None]
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.nulls(2))
    assert rows(pa.chunked_array([nothing, other])) == [None] * 4


@pytest.mark.parametrize("width", [pa.int8(), pa.uint8()], ids=str)
def test_chunks_may_have_more_keys_together_than_their_indices_can_count(width: Any) -> None:
    numbers: list[int | None] = list(range(100))
    chunks = [encoded(numbers, [f"{word}.{i}" for i in range(100)], width=width) for word in "abcd"]
    assert rows(pa.chunked_array(chunks)) == [[0, 1]] * 100 + [[1]] * 300


def test_equal_keys_of_all_chunks_are_matched_once() -> None:
    before = ROUTER.stats().keys
    one, other = encoded([0, 1, 1], ["once.1", "once.2"]), encoded([1, 2, 0], ["once.2", "once.1", None])
    assert rows(pa.chunked_array([one, other, one, other])) == [[1], [1], [1], [1], None, [1]] * 2
    assert ROUTER.stats().keys - before <= 3


@pytest.mark.parametrize("kind", TEXTS, ids=str)
def test_a_few_rows_of_a_long_dictionary_are_matched_whatever_its_type(kind: Any) -> None:
    keys: list[str | None] = [None if i == 7 else f"{'ab'[i % 2]}.{i}" for i in range(1000)]
    column = encoded([999, 8, 7, None], keys, kind, pa.int16())
    assert rows(column) == [[1], [0, 1], None, None]
    assert rows(pa.chunked_array([column, encoded([0], ["a.x"], kind, pa.int16())])) == [
        [1],
        [0, 1],
        None,
        None,
        [0, 1],
    ]


def test_indices_beyond_a_dictionary_are_named_by_row() -> None:
    """Arrow looks at indices only where it makes them, and trusts those of files: also when it unifies dictionaries."""
    good = encoded([0, 1], ["a", "b"], width=pa.int32())
    huge = encoded([0, 1 << 63], ["a"], width=pa.uint64())
    with pytest.raises(dr.KeyTypeError, match="row 1 has the index 9223372036854775808, in a dictionary of 1 key:"):
        ROUTER.match_batch(huge)
    for index in (2, -1, 2**31 - 1, -(2**31)):
        bad = encoded([None, index, 0], ["c", "d"], width=pa.int32())
        few = encoded([None, index if abs(index) > 2 else -9], ["c"] * 100, width=pa.int32())
        for keys, row in ((bad, 1), (few, 1), (pa.chunked_array([good, bad]), 3), (pa.chunked_array([bad, bad]), 1)):
            with pytest.raises(
                dr.KeyTypeError, match=f"damaged Arrow column: row {row} has the index -?[0-9]+, in a dict"
            ):
                ROUTER.match_batch(keys)


def test_a_column_may_have_more_bytes_than_offsets_of_32_bits_can_address() -> None:
    column = large([0, GIB, GIB, 2 * GIB, 3 * GIB, 3 * GIB + 5])
    parts = list(key_columns(key_array(column)))
    assert [part.offsets.tolist() for part in parts] == [[0, GIB, GIB], [0, GIB], [0, GIB, GIB + 5]]
    (last,) = key_columns(key_array(column.slice(4)))
    assert last.data[last.offsets[0] : last.offsets[1]].tobytes() == bytes(5)
    assert rows(column.slice(4)) == [[1]]


@pytest.mark.parametrize("rows_before", [0, 3])
def test_a_key_of_two_gib_is_refused_by_its_row(rows_before: int) -> None:
    column = large([0, 1, 2 * GIB + 1, 2 * GIB + 2])
    chunked = pa.chunked_array([pa.array([b""] * rows_before, pa.large_binary()), column])
    told = f"keys\\[{rows_before + 1}\\] has 2,147,483,648 bytes: at most 2,147,483,647 can be matched"
    with pytest.raises(dr.KeyTypeError, match=told):
        ROUTER.match_batch(chunked)
    with pytest.raises(dr.KeyTypeError, match="value 1 of the dictionary of keys has 2,147,483,648 bytes"):
        ROUTER.match_batch(pa.DictionaryArray.from_arrays(pa.array([0, 2]), column))
    for ask in (ROUTER.match, ROUTER.match_bindings, ROUTER.any):
        with pytest.raises(dr.KeyTypeError, match="the routing key has 2,147,483,648 bytes"):
            ask(bytes(2 * GIB))


def test_large_offsets_are_cut_into_addressable_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limit lowered to 10 bytes: parts of at most that, and nothing lost."""
    for module in ("checks", "columns", "keys"):
        monkeypatch.setattr(f"dfa_router.arrow.{module}.LONGEST_KEY", 10)
    array = pa.array(["aaaa", "bbbb", None, "a.cc", "dddddddddd", ""], pa.large_string())[1:]
    parts = list(key_columns(key_array(array)))
    assert [len(part.offsets) - 1 for part in parts] == [3, 2]
    assert rows(array) == [[1], None, [0, 1], [1], [1]]
    for keys in (pa.array(["a", "b" * 11], pa.large_string()), ["a", "b" * 11], ["a", b"b" * 11]):
        with pytest.raises(dr.KeyTypeError, match=r"keys\[1\] has 11 bytes: at most 10 can be matched"):
            key_array(keys)


class Odd(str):
    """A text that says something else of its length, and of its bytes."""

    __slots__ = ()

    def __len__(self) -> int:
        return 7

    def encode(self, *_: Any) -> bytes:
        return b"other"


ODD_LISTS: list[list[Any]] = [
    ["a.b", "", "c"],
    ["a.ä", "", "ä", "c\0d", "\0"],
    ["a.b", Odd("c"), Odd("ä")],
    ["a.b", None, b"c", ""],
    ["a.b", b"\xff", "ä"],
    [None, Odd("ä"), None],
    [None, None],
]


@pytest.mark.parametrize("keys", ODD_LISTS, ids=repr)
def test_a_list_is_a_column_of_its_texts(keys: list[Any]) -> None:
    """Whether texts are joined, or looked at one by one."""
    expected = [str.encode(key) if isinstance(key, str) else key for key in keys]
    for times in (1, 200):
        column = key_array(keys * times)
        column.validate(full=True)
        assert column.cast(pa.large_binary()).to_pylist() == expected * times


@pytest.mark.long
def test_a_list_may_have_keys_of_more_than_two_gib_in_all() -> None:
    """Each of them is the same object, but a column of them is 2 GiB of memory."""
    column = key_array([b"a." + bytes(16 << 20)] * 129)
    assert [len(part.offsets) - 1 for part in key_columns(column)] == [127, 2]
