"""Lists of names, a list for each message, made of routes by kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.kernels.relay_tables import SLACK
from compiler.kernels.tables import frozen
from compiler.values import Int32s, SetBatch
from dfa_router.errors import CapacityError
from dfa_router.rabbitmq.byte_columns import MOST

__all__ = ["Texts", "lists_of", "named_lists", "no_ends", "texts_of"]

_NAMES = pa.list_(pa.string())
_NO_NAMES = pa.nulls(0, pa.string())
FEW = 4
"""Routes are few if each has so many messages, on average: then each is written once, and copied."""


class Texts(NamedTuple):
    """Names as kernels read them: name n is ``data[offsets[n]:offsets[n + 1]]``."""

    offsets: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]
    """With SLACK bytes more."""


def texts_of(names: Iterable[str]) -> Texts:
    """Encode names."""
    encoded = [name.encode() for name in names]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return Texts(frozen(offsets), frozen(np.frombuffer(b"".join(encoded) + bytes(SLACK), np.uint8)))


class _Lists(NamedTuple):
    """Lists of names, as kernels write them."""

    ends: Int32s
    """List i has the names ``range(ends[i], ends[i + 1])``."""
    starts: Int32s
    """Name n is ``texts[starts[n]:starts[n + 1]]``; there are AT_ONCE entries more."""
    texts: npt.NDArray[np.uint8]
    """With SLACK bytes more."""


def named_lists(routes: SetBatch, first: int, names: Texts) -> tuple[pa.ListArray, Int32s]:
    """Return for each message the names of its route's outputs, and where each list ends: output ``first + n`` has name n.

    Raises :class:`CapacityError` for over 2 GiB of names.
    """
    from compiler.kernels.calling import direct
    from compiler.kernels.leading import copy_names, measure_names, repeat_names

    ids, offsets, outputs = routes
    if not len(outputs) or outputs.max() < first:
        ends = no_ends(len(ids))
        return lists_of(_NAMES, ends, _NO_NAMES), ends
    sizes, totals = np.empty(3 * len(offsets), np.int64), np.empty(2, np.int64)
    direct(measure_names, ids, offsets, outputs, first, names.offsets, sizes, totals)
    count, length = totals.tolist()
    if max(count, length) > MOST:
        raise CapacityError(
            f"these {len(ids):,} messages have {count:,} names of {length:,} bytes in all, and Arrow's columns of text "
            "have offsets of 32 bits: route fewer messages at a time, or take route_batch, which names each route once"
        )
    found = _room(len(ids), count, length)
    if count:
        of_routes = sizes[:-3].reshape(-1, 3)[:, 1:].sum(axis=0).tolist() if FEW * len(offsets) <= len(ids) else [MOST]
        if sum(of_routes) < MOST:
            once = _room(len(offsets) - 1, *of_routes)
            each = np.arange(len(offsets) - 1, dtype=np.int32)
            direct(copy_names, each, outputs, first, sizes, *names, *once)
            direct(repeat_names, ids, sizes, *once, *found)
        else:
            direct(copy_names, ids, outputs, first, sizes, *names, *found)
    values = pa.StringArray.from_buffers(count, pa.py_buffer(found.starts[: count + 1]), pa.py_buffer(found.texts))
    return lists_of(_NAMES, found.ends, values), found.ends


def _room(lists: int, names: int, length: int) -> _Lists:
    from compiler.kernels.leading import AT_ONCE

    starts = np.zeros(names + 1 + AT_ONCE, np.int32)
    return _Lists(no_ends(lists), starts, np.empty(length + SLACK, np.uint8))


def lists_of(kind: pa.ListType, ends: Int32s, values: pa.Array) -> pa.ListArray:
    """Return lists of values, by where each of them ends, behind a 0; pyarrow's own function takes four times as long for few."""
    return pa.ListArray.from_buffers(kind, len(ends) - 1, [None, pa.py_buffer(ends)], children=[values])


def no_ends(rows: int) -> Int32s:
    """Return where the lists of so many rows end if all are empty."""
    return np.zeros(rows + 1, np.int32)
