"""Lists of names for the rows of a batch, written by kernels into Arrow's memory."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.relay_tables import SLACK, Texts
from compiler.kernels.tables import Int64s, frozen
from compiler.values import Int32s

__all__ = [
    "MOST",
    "NAMES",
    "Texts",
    "empty_lists",
    "int32_array",
    "joined",
    "lists_of",
    "new",
    "texts_from",
    "texts_of",
    "written_names",
]

_INT32 = pa.int32()
MOST = 2**31 - 1
"""The most entries of a list column, and bytes of a text column: what their 32-bit offsets can address."""
NAMES = pa.list_(pa.string())
FEW = 4
"""Sets are few if each has so many rows, on average: then the names of each are written once, and copied."""


def texts_of(names: Iterable[str], first: int) -> Texts:
    """Encode the names of outputs, from ``first`` on."""
    return texts_from(*joined(names), first)


def joined(texts: Iterable[str]) -> tuple[Int64s, npt.NDArray[np.uint8]]:
    """Encode texts one behind the other: return where each ends, behind a 0, and the bytes of all.

    >>> [part.tolist() for part in joined(["a", "", "bc"])]
    [[0, 1, 1, 3], [97, 98, 99]]
    """
    encoded = [text.encode() for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return offsets, np.frombuffer(b"".join(encoded), np.uint8)


def texts_from(offsets: Int64s, data: npt.NDArray[np.uint8], first: int) -> Texts:
    """Return names that are encoded already, with as much behind them as kernels read."""
    return Texts(first, frozen(offsets), frozen(np.concatenate((data, np.zeros(SLACK, np.uint8)))))


def int32_array(values: Int32s, valid: pa.Buffer | None = None, count: int | None = None) -> pa.Int32Array:
    """Return numbers where they lie, or the first of them, as Arrow's; pyarrow's own function imports pandas, which takes 150 ms."""
    return pa.Int32Array.from_buffers(_INT32, len(values) if count is None else count, [valid, pa.py_buffer(values)])


def lists_of(kind: pa.ListType, ends: Int32s, values: pa.Array, valid: pa.Buffer | None = None) -> pa.ListArray:
    """Return lists of values, by where each of them ends, behind a 0; pyarrow's own function takes four times as long for few."""
    return pa.ListArray.from_buffers(kind, len(ends) - 1, [valid, pa.py_buffer(ends)], children=[values])


def empty_lists(kind: pa.ListType, rows: int, valid: pa.Buffer | None = None) -> pa.ListArray:
    """Return so many lists, all of them empty."""
    return lists_of(kind, np.zeros(rows + 1, np.int32), pa.nulls(0, kind.value_type), valid)


def new(size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array in Arrow's memory, where a batch gets the pages of the one before.

    From NumPy, 100,000 messages got 1,400 new pages at each call, and a message took 1.4 times as long to route.
    """
    return np.frombuffer(pa.allocate_buffer(size * np.dtype(kind).itemsize), kind)


class _Lists(NamedTuple):
    """Lists of names, as kernels write them."""

    ends: Int32s
    """List i has the names ``range(ends[i], ends[i + 1])``."""
    starts: Int32s
    """Name n is ``texts[starts[n]:starts[n + 1]]``; there are AT_ONCE entries more."""
    texts: npt.NDArray[np.uint8]
    """With SLACK bytes more."""


class _Kernels(NamedTuple):
    direct: Any
    copy_names: Any
    repeat_names: Any
    at_once: int


@cache
def _kernels() -> _Kernels:
    """Import as late as all kernels: to ask for a module's names at each batch would take 3 us."""
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import AT_ONCE, copy_names, repeat_names

    return _Kernels(direct, copy_names, repeat_names, AT_ONCE)


def written_names(
    set_ids: Int32s,
    members: Int32s,
    sizes: Int64s,
    names: Texts,
    count: int,
    length: int,
    valid: pa.Buffer | None = None,
) -> pa.ListArray:
    """Return for each row the names of its set's members: ``count`` names of ``length`` bytes in all, each at most MOST.

    ``sizes`` has three entries for each set: the index of its first member with a name, how many have one, and the bytes of these.
    """
    kernels, sets = _kernels(), len(sizes) // 3
    set_ids, members = frozen(set_ids), frozen(members)
    names = Texts(names.first, frozen(names.offsets), frozen(names.data))
    found = _room(len(set_ids), count, length)
    once = sizes.reshape(-1, 3)[:, 1:].sum(axis=0).tolist() if FEW * sets <= len(set_ids) else [MOST]
    if sum(once) < MOST:
        of_sets = _room(sets, *once)
        kernels.direct(kernels.copy_names, frozen(np.arange(sets, dtype=np.int32)), members, sizes, *names, *of_sets)
        kernels.direct(kernels.repeat_names, set_ids, sizes, *of_sets, *found)
    else:
        kernels.direct(kernels.copy_names, set_ids, members, sizes, *names, *found)
    values = pa.StringArray.from_buffers(count, pa.py_buffer(found.starts), pa.py_buffer(found.texts))
    return lists_of(NAMES, found.ends, values, valid)


def _room(lists: int, names: int, length: int) -> _Lists:
    ends, starts = new(lists + 1, np.int32), new(names + 1 + _kernels().at_once, np.int32)
    ends[0] = starts[0] = 0
    return _Lists(ends, starts, new(length + SLACK, np.uint8))
