"""Lists of names, a list for each message, made of routes by kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.relay_tables import SLACK, Texts
from compiler.kernels.tables import frozen
from compiler.relay.plain_batches import ListsOfNames
from compiler.values import Int32s, SetBatch
from dfa_router.errors import CapacityError
from dfa_router.rabbitmq.byte_columns import MOST

__all__ = ["FEW_ROWS", "NamedLists", "Texts", "empty_lists", "named_lists", "new_block", "texts_of", "written_lists"]

_NAMES = pa.list_(pa.string())
_TRUTH = pa.bool_()
FEW_ROWS = 1 << 13
"""The most rows of empty lists that are kept."""
FEW = 4
"""Routes are few if each has so many messages, on average: then each is written once, and copied."""


def texts_of(names: Iterable[str], first: int) -> Texts:
    """Encode the names of outputs, from ``first`` on."""
    encoded = [name.encode() for name in names]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return Texts(first, frozen(offsets), frozen(np.frombuffer(b"".join(encoded) + bytes(SLACK), np.uint8)))


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
    measure_names: Any
    copy_names: Any
    repeat_names: Any
    at_once: int


@cache
def _kernels() -> _Kernels:
    """Import as late as all kernels: to ask for a module's names at each batch would take 3 us."""
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import AT_ONCE, copy_names, measure_names, repeat_names

    return _Kernels(direct, measure_names, copy_names, repeat_names, AT_ONCE)


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
    return pa.ListArray.from_buffers(_NAMES, rows, [None, whole.slice(lists, 4 * rows + 4)], children=[names])


def _lists(routes: SetBatch, names: Texts, sizes: npt.NDArray[np.int64], count: int, length: int) -> pa.ListArray:
    """Return lists of names, which have so many names and bytes in all."""
    kernels = _kernels()
    ids, offsets, outputs = routes
    if not count:
        return _few_empty_lists(len(ids)) if len(ids) <= FEW_ROWS else empty_lists(_NAMES, len(ids))
    if max(count, length) > MOST:
        raise CapacityError(
            f"these {len(ids):,} messages have {count:,} names of {length:,} bytes in all, and Arrow's columns of text "
            "have offsets of 32 bits: route fewer messages at a time, or take route_batch, which names each route once"
        )
    found = _room(len(ids), count, length)
    of_routes = sizes.reshape(-1, 3)[:, 1:].sum(axis=0).tolist() if FEW * len(offsets) <= len(ids) else [MOST]
    if sum(of_routes) < MOST:
        once = _room(len(offsets) - 1, *of_routes)
        each = np.arange(len(offsets) - 1, dtype=np.int32)
        kernels.direct(kernels.copy_names, each, outputs, sizes, *names, *once)
        kernels.direct(kernels.repeat_names, ids, sizes, *once, *found)
    else:
        kernels.direct(kernels.copy_names, ids, outputs, sizes, *names, *found)
    values = pa.StringArray.from_buffers(count, pa.py_buffer(found.starts), pa.py_buffer(found.texts))
    return lists_of(_NAMES, found.ends, values)


def _room(lists: int, names: int, length: int) -> _Lists:
    ends, starts = _new(lists + 1, np.int32), _new(names + 1 + _kernels().at_once, np.int32)
    ends[0] = starts[0] = 0
    return _Lists(ends, starts, _new(length + SLACK, np.uint8))


def _new(size: int, kind: type[np.generic]) -> npt.NDArray[Any]:
    """Return an array in Arrow's memory, where a batch gets the pages of the one before.

    From NumPy, 100,000 messages got 1,400 new pages at each call, and a message took 1.4 times as long to route.
    """
    return np.frombuffer(pa.allocate_buffer(size * np.dtype(kind).itemsize), kind)


def new_block(size: int) -> Int32s:
    """Return room for lists that take so many bytes."""
    return _new((size >> 2) + 1, np.int32)


def lists_of(kind: pa.ListType, ends: Int32s, values: pa.Array) -> pa.ListArray:
    """Return lists of values, by where each of them ends, behind a 0; pyarrow's own function takes four times as long for few."""
    return pa.ListArray.from_buffers(kind, len(ends) - 1, [None, pa.py_buffer(ends)], children=[values])


def empty_lists(kind: pa.ListType, rows: int) -> pa.ListArray:
    """Return so many lists, all of them empty."""
    return lists_of(kind, np.zeros(rows + 1, np.int32), pa.nulls(0, kind.value_type))  # pa.array would import pandas


@lru_cache(maxsize=8)
def _few_empty_lists(rows: int) -> pa.ListArray:
    """Return empty lists of names: batches have often as many rows as those before, and arrays do not change."""
    return empty_lists(_NAMES, rows)
