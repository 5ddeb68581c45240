"""A part of a log, routed: read with Arrow, matched, and written to a file of its own, with its counts.

Row groups are read one after the other, in slices of at most :data:`MOST_ROWS` rows, or :data:`MOST_BYTES`; small ones are
gathered, as a matcher is fastest on many rows. A slice becomes a row group of the result. The columns of the log are handed
through as they are, with their types and metadata, and those of the result follow. Pages are compressed by snappy, as Spark
compresses its own: the fastest that every reader has.

The file's name has a random part, so that two attempts never write to one file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from dfa_router.errors import MessagesError
from dfa_router.logs.counting import CHECKSUM, COUNTS, Keys, Tally, Totals
from dfa_router.logs.encoding import ADDED, Encoding, added_columns
from dfa_router.logs.planning import Part, Piece, Plan, with_column
from dfa_router.logs.stores import STORE_ERRORS, Place
from dfa_router.rabbitmq.columns import RoutedBatch

__all__ = ["RoutePart", "Written", "work_of"]

MOST_ROWS = 122_880
"""Of a row group of the result; DuckDB's number, which is a multiple of every vector's length."""
MOST_BYTES = 64 << 20
"""Of a slice when it is decoded, by the average row."""
INLINE_ROWS = 1_000
"""Counts that come back with the task; more are written to a file."""
SPILLED_GROUP = 8_192
"""Rows of a row group of spilled counts: what a pass need not read is left out by the row group."""
BUFFER = 1 << 20
"""Bytes that are read of a local file's column at a time."""


class Router(Protocol):
    """A compiled topology; :class:`dfa_router.rabbitmq.routing.TopologyRouter` is one."""

    def route_batch(
        self, exchanges: Any, keys: Any, vhosts: Any = None, *, vhost: str = "/", **attributes: Any
    ) -> RoutedBatch:
        """Tell who gets each message of a batch."""


class Written(NamedTuple):
    """What an attempt has written, and counted."""

    number: int
    """Of the part."""
    file: str
    """The name of its file, in the folder of attempts."""
    totals: Totals
    counts: bytes
    """Rows of :data:`~dfa_router.logs.counting.COUNTS`, as an Arrow stream."""
    spilled: str | None
    """The name of the file with further counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutePart:
    """How the parts of a plan are routed; it can be pickled, and is called with a router and a part."""

    source: Any
    """The ``pyarrow.fs.FileSystem`` of the log."""
    attempts: Place
    """The folder that attempts write to; it exists."""
    schema: pa.Schema
    """Of the result."""
    partitions: tuple[str, ...]
    """The columns that folders name."""
    old_times: bool
    keys: Mapping[str, str]
    """The names of the columns of exchange, routing_key and, where there are such columns, vhost and attributes."""
    vhost: str

    def __call__(self, router: Router, part: Part) -> Written:
        """Route a part; raises :class:`MessagesError` for a file that cannot be read, and ``OSError`` where the
        result cannot be written; its own file is removed then.
        """
        name = f"part-{part.number:05}-{uuid4().hex}.parquet"
        spill = _Spill(self.attempts.beside(name.replace("part-", "counts-")))
        tally = Tally(spill)
        place = self.attempts.beside(name)
        try:
            with (
                place.store.open_output_stream(place.path) as sink,
                ExitStack() as closing,
            ):
                encoding = Encoding(self.schema, old_times=self.old_times)
                writer: pq.ParquetWriter | None = None
                for table in _gathered(self._tables(part), _most_rows(part)):
                    if writer is None:
                        writer = closing.enter_context(encoding.writer(sink, table))
                    for rows, added in added_columns(self._routed(router, table, tally)):
                        some = table.slice(rows.start, rows.stop - rows.start)
                        whole = pa.table([*some.columns, *added], schema=encoding.schema)
                        writer.write_table(whole, row_group_size=max(1, len(whole)))
                if writer is None:
                    closing.enter_context(encoding.writer(sink, None))
            rows = tally.rows(INLINE_ROWS)
            spilled = spill.close()
        except BaseException:
            for leftover in (place, spill.place):
                with suppress(OSError):
                    leftover.store.delete_file(leftover.path)
            raise
        return Written(part.number, name, tally.totals, _as_stream(rows), spilled)

    def _routed(self, router: Router, table: pa.Table, tally: Tally) -> RoutedBatch:
        columns: dict[str, Any] = {key: table[name] for key, name in self.keys.items()}
        exchanges, routing_keys, vhosts = (columns.pop(name, None) for name in ("exchange", "routing_key", "vhost"))
        batch = router.route_batch(exchanges, routing_keys, vhosts, vhost=self.vhost, **columns)
        tally.add(Keys(exchanges, routing_keys, vhosts, self.vhost), batch)
        return batch

    def _tables(self, part: Part) -> Iterator[pa.Table]:
        rows = _most_rows(part)
        for piece in part.pieces:
            local = self.source.type_name == "local"
            try:
                with (
                    self.source.open_input_file(piece.path) as file,
                    pq.ParquetFile(
                        file, coerce_int96_timestamp_unit="us", buffer_size=BUFFER if local else 0, pre_buffer=not local
                    ) as opened,
                ):
                    for group in piece.row_groups:
                        for batch in opened.iter_batches(rows, row_groups=[group], use_threads=False):
                            yield self._with_all_columns(batch, piece)
            except (*STORE_ERRORS, ValueError) as error:
                raise MessagesError(f"{piece.path}: cannot be read: {error}") from error

    def _with_all_columns(self, batch: pa.RecordBatch, piece: Piece) -> pa.Table:
        fields = list(self.schema)[: -len(ADDED)]
        named = dict(zip(self.partitions, piece.partition, strict=True))
        held = dict(zip(batch.schema.names, batch.columns, strict=True))
        columns = [
            pa.repeat(pa.scalar(named[one.name], one.type), len(batch))
            if one.name in named
            else held[one.name]
            if one.name in held
            else pa.nulls(len(batch), one.type)
            for one in fields
        ]
        return pa.table(columns, schema=pa.schema(fields))


def work_of(plan: Plan, attempts: Place, *, keys: Mapping[str, str], vhost: str) -> RoutePart:
    """Return how the parts of a plan are routed into a folder."""
    schema = plan.schema
    for column in ADDED:
        schema = with_column(schema, column)
    return RoutePart(
        source=plan.store,
        attempts=attempts,
        schema=schema,
        partitions=plan.partitions,
        old_times=plan.old_times,
        keys=keys,
        vhost=vhost,
    )


def _most_rows(part: Part) -> int:
    decoded = sum(piece.bytes for piece in part.pieces)
    return max(1, min(MOST_ROWS, MOST_BYTES * part.rows // max(1, decoded)))


def _gathered(tables: Iterator[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Join small tables until they have about so many rows."""
    held: list[pa.Table] = []
    count = 0
    for table in tables:
        if held and count + len(table) > rows:
            yield _joined(held)
            held, count = [], 0
        held.append(table)
        count += len(table)
    if held:
        yield _joined(held)


def _joined(tables: list[pa.Table]) -> pa.Table:
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables).combine_chunks()


def _as_stream(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    held: bytes = sink.getvalue().to_pybytes()
    return held


@dataclass(slots=True)
class _Spill:
    """A file for counts, made when there is the first to be spilled."""

    place: Place
    _open: list[Any] = field(default_factory=list)

    def __call__(self, rows: pa.Table) -> None:
        if not self._open:
            sink = self.place.store.open_output_stream(self.place.path)
            schema = COUNTS.append(pa.field(CHECKSUM, pa.int64()))
            self._open += [sink, pq.ParquetWriter(sink, schema, compression="snappy")]
        self._open[1].write_table(rows, row_group_size=SPILLED_GROUP)

    def close(self) -> str | None:
        """Complete the file; return its name, or None where there is none."""
        if not self._open:
            return None
        sink, writer = self._open
        writer.close()
        sink.close()
        return self.place.path.rpartition("/")[2]
