"""Lists of names, a list for each message, made of routes by kernels."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.relay.plain_batches import ListsOfNames
from compiler.values import Int32s, SetBatch
from dfa_router.arrow.lists import MOST, NAMES, Texts, empty_lists, new, written_names
from dfa_router.errors import CapacityError

__all__ = ["FEW_ROWS", "NamedLists", "named_lists", "new_block", "written_lists"]

_TRUTH = pa.bool_()
FEW_ROWS = 1 << 13
"""The most rows of empty lists that are kept."""


class _Kernels(NamedTuple):
    direct: Any
    measure_names: Any


@cache
def _kernels() -> _Kernels:
    """Import as late as all kernels: to ask for a module's names at each batch would take 3 us."""
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import measure_names

    return _Kernels(direct, measure_names)


class NamedLists(NamedTuple):
    """A row for each message."""

    lists: pa.ListArray
    """The names of its route's outputs of the first sort."""
    others: pa.ListArray
    """Those of the second sort."""
    named: pa.BooleanArray
    """Whether it has any of the first sort."""


def named_lists(routes: SetBatch, names: Texts, others: Texts) -> NamedLists:
    """Return for each message the names of its route's outputs: those among ``names``, and those among ``others``.

    Raises :class:`CapacityError` for over 2 GiB of names.
    """
    kernels = _kernels()
    rows, entries = len(routes.set_ids), 3 * len(routes.offsets) - 3
    sizes, totals = np.empty(2 * entries, np.int64), np.empty(4, np.int64)
    bits = np.empty((rows + 7) // 8, np.uint8)
    kernels.direct(kernels.measure_names, *routes, *names[:2], *others[:2], sizes, totals, bits)
    count, length, more, more_length = totals.tolist()
    return NamedLists(
        _lists(routes, names, sizes[:entries], count, length),
        _lists(routes, others, sizes[entries:], more, more_length),
        pa.BooleanArray.from_buffers(_TRUTH, rows, [None, pa.py_buffer(bits)]),
    )


def written_lists(found: ListsOfNames) -> NamedLists:
    """Return lists that a kernel has written as Arrow's, where they lie."""
    rows, block, places, (count, size, more, more_size) = found
    whole = pa.py_buffer(block)
    return NamedLists(
        _written(whole, places[:3], rows, count, size),
        _written(whole, places[3:6], rows, more, more_size) if more else _few_empty_lists(rows),
        pa.BooleanArray.from_buffers(_TRUTH, rows, [None, whole.slice(places[6], (rows + 7) >> 3)]),
    )


def _written(whole: pa.Buffer, places: list[int], rows: int, count: int, size: int) -> pa.ListArray:
    lists, ends, texts = places
    names = pa.StringArray.from_buffers(count, whole.slice(ends, 4 * count + 4), whole.slice(texts, size))
    return pa.ListArray.from_buffers(NAMES, rows, [None, whole.slice(lists, 4 * rows + 4)], children=[names])


def _lists(routes: SetBatch, names: Texts, sizes: npt.NDArray[np.int64], count: int, length: int) -> pa.ListArray:
    """Return lists of names, which have so many names and bytes in all."""
    rows = len(routes.set_ids)
    if not count:
        return _few_empty_lists(rows) if rows <= FEW_ROWS else empty_lists(NAMES, rows)
    if max(count, length) > MOST:
        raise CapacityError(
            f"these {rows:,} messages have {count:,} names of {length:,} bytes in all, and Arrow's columns of text "
            "have offsets of 32 bits: route fewer messages at a time, or take route_batch, which names each route once"
        )
    return written_names(routes.set_ids, routes.positions, sizes, names, count, length)


def new_block(size: int) -> Int32s:
    """Return room for lists that take so many bytes."""
    return new((size >> 2) + 1, np.int32)


@lru_cache(maxsize=8)
def _few_empty_lists(rows: int) -> pa.ListArray:
    """Return empty lists of names: batches have often as many rows as those before, and arrays do not change."""
    return empty_lists(NAMES, rows)
