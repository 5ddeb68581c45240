"""How a result is written to Parquet so that it costs little: what a reader gets is the same.

Three things are chosen, of which no reader learns:

- Lists of names are written from dictionaries, a list per route that rows take, though the file says that they are lists of
  text. Arrow would hash the name of each copy otherwise: 106 ns a message of the demo, and 73 so.
- Columns of which most values occur once are written without a dictionary. Arrow would begin one, hash each value and give up
  when the dictionary is full: a time in microseconds takes 41 ns that way, 13 without, and fewer bytes.
- Values are handed over 16,384 at a time. Arrow looks at the whole dictionary for each thousand otherwise.

Rejected: no statistics for lists. That saves 7 ns more, and readers who skip row groups by them would read all.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dfa_router.rabbitmq.columns import RoutedBatch
from dfa_router.rabbitmq.routed_columns import CHOICES, routed_fields

__all__ = ["Encoding", "added_columns", "runs"]

MOST_NAMES = 1 << 24
"""Of a list column that is made at a time: a slice whose messages go to more queues becomes several row groups."""

_SAMPLED = 16
"""Of so many rows one is looked at."""
_DISTINCT = 0.85
"""Of these the share that differs, from which on a dictionary is left out. Of values that occur twice in a row group of 122,880
rows, and of no others, 0.94 would; of values that occur four times, 0.88."""
_BATCH = 16_384


class Encoding:
    """The writers of results with a schema; can be pickled.

    >>> schema = pa.schema({"queues": pa.list_(pa.string())})
    >>> sink = pa.BufferOutputStream()
    >>> with Encoding(schema).writer(sink, None) as writer:
    ...     pass
    >>> pq.read_schema(pa.BufferReader(sink.getvalue())).types[0]
    ListType(list<element: string>)
    """

    def __init__(self, schema: pa.Schema, *, old_times: bool = False) -> None:
        """``old_times`` says whether times are written in the form of 96 bits."""
        fields = list(schema)
        first = len(fields) - len(routed_fields(chooses=fields[-1].name == CHOICES.name))
        own = [field.with_type(_coded_type(field.type)) for field in fields[first:]]
        self.schema = pa.schema([*fields[:first], *own])
        """Of the tables that are written."""
        arrows = base64.b64encode(schema.serialize().to_pybytes())
        self._metadata = {**(schema.metadata or {}), b"ARROW:schema": arrows}
        self._old_times = old_times

    def writer(self, sink: Any, first: pa.Table | None) -> pq.ParquetWriter:
        """Return a writer; ``first`` is the first table that will be written, for what dictionaries are worth."""
        writer = pq.ParquetWriter(
            sink,
            self.schema,
            compression="snappy",
            use_dictionary=True if first is None else self._worth_a_dictionary(first),
            use_deprecated_int96_timestamps=self._old_times,
            write_batch_size=_BATCH,
            store_schema=False,
        )
        writer.add_key_value_metadata(self._metadata)  # the schema as readers are to have it, where Arrow looks for it
        return writer

    def _worth_a_dictionary(self, first: pa.Table) -> list[str]:
        """Return the columns of the file that get a dictionary, by their paths; parts of nested columns all do."""
        sink = pa.BufferOutputStream()
        pq.write_table(self.schema.empty_table(), sink)
        leaves = pq.ParquetFile(pa.BufferReader(sink.getvalue())).schema
        paths = [leaves.column(number).path for number in range(len(leaves))]
        distinct = {name for name in set(paths) & set(first.column_names) if _is_distinct(first[name])}
        return [path for path in paths if path not in distinct]


def _is_distinct(column: pa.ChunkedArray) -> bool:
    if pa.types.is_dictionary(column.type):
        return False
    plain = column.cast(column.type.storage_type) if isinstance(column.type, pa.BaseExtensionType) else column
    try:
        sample = plain.take(pa.array(np.arange(0, len(plain), _SAMPLED)))
        return len(pc.unique(sample)) > _DISTINCT * len(sample)
    except pa.ArrowNotImplementedError:  # text in views, decimals of 32 bits: a dictionary, which is never wrong
        return False


def added_columns(batch: RoutedBatch) -> Iterator[tuple[slice, list[pa.Array]]]:
    """Yield the columns that a result has behind those of the log, a run of rows after the other."""
    ids = batch.route_ids
    chosen = [batch.one_of] if batch.topology.chooses else []
    lists = [_coded(one) for one in (batch.queues, batch.not_simulated, *chosen)]
    names = sum(np.diff(one.offsets.to_numpy()) for one in lists)
    for rows in runs(np.cumsum(names[ids], dtype=np.int64), MOST_NAMES):
        some = pa.array(ids[rows])
        queues, unknown, *choices = (one.take(some) for one in lists)
        yield rows, [queues, pa.array(batch.routed[ids[rows]]), unknown, batch.problem[rows], *choices]


def _coded(values: pa.Array) -> pa.Array:
    """Return values with a dictionary for the texts of their lists."""
    if pa.types.is_list(values.type):
        return pa.ListArray.from_arrays(values.offsets, _coded(values.values))
    if pa.types.is_struct(values.type):
        parts = [_coded(values.field(number)) for number in range(values.type.num_fields)]
        return pa.StructArray.from_arrays(parts, names=[field.name for field in values.type])
    return values.dictionary_encode() if pa.types.is_string(values.type) else values


def _coded_type(kind: pa.DataType, *, listed: bool = False) -> pa.DataType:
    """Return the type that :func:`_coded` gives; text outside of lists stays as it is."""
    if pa.types.is_list(kind):
        return pa.list_(_coded_type(kind.value_type, listed=True))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_coded_type(field.type, listed=listed)) for field in kind])
    return pa.dictionary(pa.int32(), pa.string()) if listed and pa.types.is_string(kind) else kind


def runs(ends: np.ndarray[Any, np.dtype[np.int64]], most: int) -> Iterator[slice]:
    """Divide rows so that each run has at most so much, or is one row; ``ends`` says how much there is up to each row.

    >>> list(runs(np.array([10, 11, 12]), 10))
    [slice(0, 1, None), slice(1, 3, None)]
    """
    first = held = 0
    while first < len(ends):
        last = max(first + 1, int(np.searchsorted(ends, held + most, side="right")))
        yield slice(first, last)
        first, held = last, int(ends[last - 1])
