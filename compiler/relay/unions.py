"""Messages with several keys: what they meet is the union of what each of their keys meets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from compiler.values import Int32s, KeyColumn, SetBatch

__all__ = ["FurtherKeys", "joined", "united"]


class FurtherKeys(NamedTuple):
    """The keys that messages have besides their first one."""

    offsets: Int32s
    """Message i has the keys ``range(offsets[i], offsets[i + 1])`` of the column."""
    column: KeyColumn

    def of(self, rows: Int32s) -> tuple[Int32s, Int32s]:
        """Return for all keys of some messages which of the ``rows`` has it, and the number of the key."""
        starts = self.offsets[rows]
        counts = self.offsets[rows + 1] - starts
        owners = np.repeat(np.arange(len(rows), dtype=np.int32), counts)
        before = np.cumsum(counts, dtype=np.int32) - counts
        return owners, np.arange(len(owners), dtype=np.int32) + np.repeat(starts - before, counts)


def united(found: SetBatch, owners: Int32s, more: SetBatch) -> SetBatch:
    """Return the sets of messages with those of their further keys; ``owners`` has the message of each of these, ascending.

    >>> found = SetBatch(*(np.array(part, np.int32) for part in ([0, 1], [0, 1, 2], [5, 6])))
    >>> more = SetBatch(*(np.array(part, np.int32) for part in ([0], [0, 2], [3, 5])))
    >>> ids, offsets, values = united(found, np.array([0], np.int32), more)
    >>> [values[offsets[number]:offsets[number + 1]].tolist() for number in ids]
    [[3, 5], [6]]
    """
    rows, places = np.unique(owners, return_inverse=True)
    if not len(rows):
        return found
    own, values = _expand(found, found.set_ids[rows])
    which, others = _expand(more, more.set_ids)
    width = int(max(values.max(initial=0), others.max(initial=0))) + 1
    pairs = np.unique(np.concatenate([own * width + values, places[which] * width + others]))
    ends = np.searchsorted(pairs, np.arange(1, len(rows) + 1) * width) + int(found.offsets[-1])
    ids = found.set_ids.copy()
    ids[rows] = np.arange(len(rows)) + len(found.offsets) - 1
    return SetBatch(
        ids,
        np.concatenate([found.offsets, ends]).astype(np.int32),
        np.concatenate([found.positions, pairs % width]).astype(np.int32),
    )


def joined(parts: Sequence[SetBatch]) -> SetBatch:
    """Return the answers for several runs of rows as one, for all of them in order.

    >>> part = SetBatch(*(np.array(part, np.int32) for part in ([0, 0], [0, 1], [7])))
    >>> [array.tolist() for array in joined([part, part])]
    [[0, 0, 1, 1], [0, 1, 2], [7, 7]]
    """
    if len(parts) == 1:
        return parts[0]
    sets = np.cumsum([0, *(len(part.offsets) - 1 for part in parts)], dtype=np.int32)
    ends = np.cumsum([0, *(len(part.positions) for part in parts)], dtype=np.int32)
    return SetBatch(
        np.concatenate([part.set_ids + first for part, first in zip(parts, sets, strict=False)]),
        np.concatenate([ends[:1], *(part.offsets[1:] + first for part, first in zip(parts, ends, strict=False))]),
        np.concatenate([part.positions for part in parts]),
    )


def _expand(sets: SetBatch, ids: Int32s) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Int32s]:
    """Return all pairs of a place in ``ids`` and a value of that set."""
    starts = sets.offsets[ids].astype(np.int64)
    lengths = sets.offsets[ids + 1] - starts
    owners = np.repeat(np.arange(len(ids)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, sets.positions[np.arange(len(owners)) + np.repeat(starts - before, lengths)]
