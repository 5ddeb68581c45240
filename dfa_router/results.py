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
from compiler.values import Int32s, SetBatch
from dfa_router.arrow.capsules import stream_of
from dfa_router.arrow.lists import MOST, int32_array, lists_of
from dfa_router.arrow.sets import NamedSets, NameTable, lists_of_members, lists_of_names, name_sets, with_nulls
from dfa_router.counted import counted
from dfa_router.errors import CapacityError

__all__ = ["Matches"]

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

    def __init__(self, batch: SetBatch, name_table: Callable[[Int32s], NameTable]) -> None:
        """Wrap a batch; ``name_table`` is called with the members of its sets when destinations are asked for."""
        self._batch = batch
        self._name_table = name_table

    def __len__(self) -> int:
        return len(self._batch.set_ids)

    def __repr__(self) -> str:
        told = ((len(self), "key"), (self.pair_count, "pair"), (len(self.sets), "set"))
        return f"<Matches: {', '.join(counted(*one) for one in told)}>"

    @once
    def set_ids(self) -> pa.Int32Array:
        """For each key the number of its set in :attr:`sets`; null for a null key."""
        return with_nulls(self._batch.set_ids)

    @once
    def sets(self) -> pa.ListArray:
        """The sets: ``sets[set_ids[i]]`` has the binding positions of key ``i``, ascending."""
        return lists_of(_EXPORTED.field(0).type, self._batch.offsets, int32_array(self._batch.positions))

    @property
    def pair_count(self) -> int:
        """The number of (key, matching binding) pairs: the sum of the row lengths."""
        return self._total(np.diff(self._batch.offsets))

    def bindings(self) -> pa.ListArray:
        """Return a list of int32 per key: the positions of the matching bindings, ascending.

        Raises :class:`CapacityError` for over 2^31 pairs: :attr:`set_ids` and :attr:`sets` have any number of them.
        """
        batch = self._batch
        if len(self) * len(batch.positions) > MOST:  # asked first, as the sizes of sets take 2 us
            self._check(np.diff(batch.offsets), "entries")
        return lists_of_members(batch)

    def destinations(self) -> pa.ListArray:
        """Return a list of strings per key: the destinations, once each, in order of their first matching binding.

        Raises :class:`CapacityError` if they are over 2^31, or have over 2 GiB of text.
        """
        named = self._named_sets
        if len(self) * max(len(named.codes), len(named.texts.data)) > MOST:
            self._check(named.counts, "entries")
            self._check(named.lengths, "bytes of names")
        return lists_of_names(self._batch.set_ids, named)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand over a table of ``bindings`` and ``destinations``, in batches that are made when they are asked for.

        Batches have so few rows that the offsets of none of them run over, however many pairs there are in all. Raises
        :class:`CapacityError` where the destinations of a single key have over 2 GiB of text.
        """
        bytes_of_names = self._named_sets.lengths
        largest = max(1, int(np.diff(self._batch.offsets).max(initial=0)), int(bytes_of_names.max(initial=0)))
        if largest > MOST:
            self._check(bytes_of_names, "bytes of names")
        return stream_of(_EXPORTED, self._batches(min(_BATCH, max(1, MOST // largest))), requested_schema)

    def _batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), rows):
            batch = self._batch._replace(set_ids=self._batch.set_ids[start : start + rows])
            lists = [lists_of_members(batch), lists_of_names(batch.set_ids, self._named_sets)]
            yield pa.record_batch(lists, schema=_EXPORTED)

    @once
    def _named_sets(self) -> NamedSets:
        """The sets as sets of destinations."""
        return name_sets(self._batch, self._name_table(self._batch.positions))

    def _total(self, sizes: npt.NDArray[np.integer[Any]]) -> int:
        """Return the sum over all rows of the size of their set."""
        ids = self._batch.set_ids
        return int(sizes.astype(np.int64)[ids[ids >= 0]].sum()) if len(sizes) else 0

    def _check(self, sizes: npt.NDArray[np.integer[Any]], what: str) -> None:
        """Refuse to make a column that is too large, given the size of each set: Arrow's offsets would run over."""
        if len(self) * int(sizes.max(initial=0)) > MOST and (total := self._total(sizes)) > MOST:
            raise CapacityError(
                f"a list per key of these {len(self):,} keys has {total:,} {what}, and Arrow's lists have offsets of 32 bits: "
                "match the keys in smaller batches, or use set_ids and sets, which name each set once"
            )
