"""The answer for a batch of keys: a set of bindings per key, in a compact form.

The keys of a log have few distinct sets of bindings. So the answer is a set number per key and a table of sets; lists per
key are made of them with one ``take``, and only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from compiler.once import once
from compiler.values import SetBatch
from dfa_router.arrow.capsules import stream_of
from dfa_router.errors import CapacityError

__all__ = ["Matches", "name_table"]

_MOST = 2**31 - 1
"""The most entries of a list column, and bytes of a text column: what their 32-bit offsets can address."""
_BATCH = 1 << 17
"""The most rows of a batch that is handed to another library."""
_EXPORTED = pa.schema([("bindings", pa.list_(pa.int32())), ("destinations", pa.list_(pa.string()))])


class Matches:
    """The matching bindings of each key of a batch, in the order of the keys.

    A null key has a null row in every result. Set numbers are valid for this object only: an equal set of another batch
    may have another number, and equal sets may occur more than once in one batch.

    Libraries that read Arrow's PyCapsule interface take it as a table of two columns, ``bindings`` and ``destinations``,
    as these methods return them: ``polars.DataFrame(matches)``, ``pyarrow.table(matches)``, ``duckdb.from_arrow(matches)``.

    >>> import dfa_router as dr
    >>> matches = dr.compile([("a.*", "x"), ("#", "y")]).match_batch(["a.b", None, "c"])
    >>> matches.bindings().to_pylist()
    [[0, 1], None, [1]]
    >>> matches.destinations().to_pylist()
    [['x', 'y'], None, ['y']]
    >>> matches.pair_count
    3
    """

    __slots__ = ("__dict__", "_batch", "_name_table")

    def __init__(self, batch: SetBatch, name_table: Callable[[], tuple[npt.NDArray[np.int32], pa.Array]]) -> None:
        """Wrap a batch; ``name_table`` is called when destinations are asked for, and returns what :func:`name_table` does."""
        self._batch = batch
        self._name_table = name_table

    def __len__(self) -> int:
        return len(self._batch.set_ids)

    def __repr__(self) -> str:
        return f"<Matches: {len(self)} keys, {self.pair_count} pairs, {len(self.sets)} sets>"

    @once
    def set_ids(self) -> pa.Int32Array:
        """For each key the number of its set in :attr:`sets`; null for a null key."""
        ids = self._batch.set_ids
        has_nulls = ids.min(initial=0) < 0  # takes a third of the time that the mask takes
        return pa.array(ids, pa.int32(), mask=ids < 0 if has_nulls else None)

    @once
    def sets(self) -> pa.ListArray:
        """The sets: ``sets[set_ids[i]]`` has the binding positions of key ``i``, ascending."""
        return pa.ListArray.from_arrays(
            pa.array(self._batch.offsets, pa.int32()), pa.array(self._batch.positions, pa.int32())
        )

    @property
    def pair_count(self) -> int:
        """The number of (key, matching binding) pairs: the sum of the row lengths."""
        return self._total(np.diff(self._batch.offsets))

    def bindings(self) -> pa.ListArray:
        """Return a list of int32 per key: the positions of the matching bindings, ascending.

        Raises :class:`CapacityError` for over 2^31 pairs: :attr:`set_ids` and :attr:`sets` have any number of them.
        """
        self._check(np.diff(self._batch.offsets), "entries")
        return self.sets.take(self.set_ids)

    def destinations(self) -> pa.ListArray:
        """Return a list of strings per key: the destinations, once each, in order of their first matching binding.

        Raises :class:`CapacityError` if they are over 2^31, or have over 2 GiB of text.
        """
        codes, _, sizes = self._destination_sets
        self._check(np.diff(codes.offsets.to_numpy()), "entries")
        self._check(sizes, "bytes of names")
        return self._named(self.set_ids)

    def _named(self, set_ids: pa.Int32Array) -> pa.ListArray:
        codes, names, _ = self._destination_sets
        rows = codes.take(set_ids)
        texts = names.take(rows.values).cast(pa.string())
        return pa.ListArray.from_arrays(rows.offsets, texts, mask=rows.is_null() if rows.null_count else None)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand over a table of ``bindings`` and ``destinations``, in batches that are made when they are asked for.

        Batches have so few rows that the offsets of none of them run over, however many pairs there are in all. Raises
        :class:`CapacityError` where the destinations of a single key have over 2 GiB of text.
        """
        _, _, bytes_of_names = self._destination_sets
        largest = max(1, int(np.diff(self._batch.offsets).max(initial=0)), int(bytes_of_names.max(initial=0)))
        if largest > _MOST:
            self._check(bytes_of_names, "bytes of names")
        return stream_of(_EXPORTED, self._batches(min(_BATCH, max(1, _MOST // largest))), requested_schema)

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), rows):
            ids = self.set_ids[start : start + rows]
            yield pa.record_batch([self.sets.take(ids), self._named(ids)], schema=_EXPORTED)

    @once
    def _destination_sets(self) -> tuple[pa.ListArray, pa.LargeStringArray, npt.NDArray[np.int64]]:
        """The sets as codes of destinations, each destination once; the names by code; how many bytes each set's names have."""
        code_of, names = self._name_table()
        codes, offsets = code_of[self._batch.positions], self._batch.offsets
        if len(names) < len(code_of):  # some have several bindings: of equal pairs (set, destination) the first is kept
            sets = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            _, first = np.unique(sets * np.int64(max(1, len(names))) + codes, return_index=True)
            first.sort()
            codes = codes[first]
            offsets = np.zeros(len(offsets), np.int32)
            np.cumsum(np.bincount(sets[first], minlength=len(offsets) - 1), out=offsets[1:])
        ends = np.zeros(len(codes) + 1, np.int64)
        ends_of_names = np.frombuffer(
            names.buffers()[1], np.int64
        )  # not the lengths of all names, of which a batch may need few
        np.cumsum(ends_of_names[codes + 1] - ends_of_names[codes], out=ends[1:])
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(codes)), names, np.diff(ends[offsets])

    def _total(self, sizes: npt.NDArray[np.integer[Any]]) -> int:
        """Return the sum over all rows of the size of their set."""
        ids = self._batch.set_ids
        return int(sizes.astype(np.int64)[ids[ids >= 0]].sum()) if len(sizes) else 0

    def _check(self, sizes: npt.NDArray[np.integer[Any]], what: str) -> None:
        """Refuse to make a column that is too large, given the size of each set: Arrow's offsets would run over."""
        if len(self) * int(sizes.max(initial=0)) > _MOST and (total := self._total(sizes)) > _MOST:
            raise CapacityError(
                f"a list per key of these {len(self):,} keys has {total:,} {what}, and Arrow's lists have offsets of 32 bits: "
                "match the keys in smaller batches, or use set_ids and sets, which name each set once"
            )


def name_table(destinations: Any) -> tuple[npt.NDArray[np.int32], pa.LargeStringArray]:
    """Number the distinct destinations: return a code per binding, and the Arrow column of names by code."""
    numbers: dict[str, int] = {}
    codes = np.fromiter((numbers.setdefault(name, len(numbers)) for name in destinations), np.int32)
    return codes, pa.array(list(numbers), pa.large_string())
