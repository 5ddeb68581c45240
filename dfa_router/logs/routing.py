"""A part of a log, routed: read with Arrow, matched, and written to a file of its own, with its counts.

It is read in slices of at most :data:`MOST_ROWS` rows, or :data:`MOST_BYTES`; small ones are gathered, as a matcher is fastest
on many rows. A slice becomes a row group of the result. The columns of the log are handed through as they are, with their types
and metadata, and those of the result follow. What was wrong with a line of text becomes part of ``problem``.

The file's name has a random part, so that two attempts never write to one file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dfa_router.logs.counting import CHECKSUM, COUNTS, Keys, Tally, Totals
from dfa_router.logs.marks import NO_FIELDS, NO_JSON, NO_RECORD, READ_PROBLEM
from dfa_router.logs.parts import Part, Read
from dfa_router.logs.planning import Plan, with_column
from dfa_router.logs.stores import Place, unwritable
from dfa_router.logs.writing import ENDINGS, opened
from dfa_router.rabbitmq.columns import RoutedBatch
from dfa_router.rabbitmq.routed_columns import routed_fields

__all__ = ["MOST_ROWS", "RoutePart", "Written", "gathered", "work_of"]

MOST_ROWS = 122_880
"""Of a row group of the result; DuckDB's number, which is a multiple of every vector's length."""
MOST_BYTES = 64 << 20
"""Of a slice when it is decoded, unless what is read at once is larger."""
INLINE_ROWS = 1_000
"""Counts that come back with the task; more are written to a file."""
SPILLED_GROUP = 2_048
"""Rows of a row group of spilled counts: what a pass need not read is left out by the row group."""

UNREAD = rf"^({NO_JSON}|{NO_FIELDS})$|^{NO_RECORD}"
"""What is said of lines that have no columns, or not all: that these are absent is not worth a word."""


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

    read: Read
    attempts: Place
    """The folder that attempts write to; it exists."""
    schema: pa.Schema
    """Of the result."""
    old_times: bool
    kind: str
    """The format of the result, one of :data:`~dfa_router.logs.writing.ENDINGS`."""
    keys: Mapping[str, str]
    """The names of the columns of exchange, routing_key and, where there are such columns, vhost and attributes."""
    vhost: str

    def __call__(self, router: Router, part: Part[Any]) -> Written:
        """Route a part; raises :class:`MessagesError` for a file that cannot be read, and ``OSError`` where the
        result cannot be written; its own file is removed then.
        """
        name = f"part-{part.number:05}-{uuid4().hex}.{ENDINGS[self.kind]}"
        spill = _Spill(self.attempts.beside(f"counts-{name}.parquet"))
        tally = Tally(spill)
        place = self.attempts.beside(name)
        try:
            with (
                place.store.open_output_stream(place.path) as sink,
                opened(self.kind, sink, self.schema, old_times=self.old_times) as write,
            ):
                most = _most_rows(part)
                for table in gathered(self.read(part, most), most):
                    write(*self._routed(router, table, tally))
            rows = tally.rows(INLINE_ROWS)
            spilled = spill.close()
        except BaseException as error:
            for leftover in (place, spill.place):
                with suppress(OSError):
                    leftover.store.delete_file(leftover.path)
            if isinstance(error, OSError):
                raise unwritable(place.path, error) from error
            raise
        return Written(part.number, name, tally.totals, _as_stream(rows), spilled)

    def _routed(self, router: Router, table: pa.Table, tally: Tally) -> tuple[pa.Table, RoutedBatch]:
        """Return the columns of the log, and what became of each row."""
        said = None
        if READ_PROBLEM in table.schema.names:
            said = table[READ_PROBLEM].combine_chunks()
            table = table.drop([READ_PROBLEM])
        columns: dict[str, Any] = {key: table[name] for key, name in self.keys.items()}
        exchanges, routing_keys, vhosts = (columns.pop(name, None) for name in ("exchange", "routing_key", "vhost"))
        batch = router.route_batch(exchanges, routing_keys, vhosts, vhost=self.vhost, **columns)
        keys = Keys(exchanges, routing_keys, vhosts, self.vhost)
        if said is None or said.null_count == len(said):
            tally.add(keys, batch)
            return table, batch
        unread = pc.fill_null(pc.match_substring_regex(said, UNREAD), False)
        both = pc.binary_join_element_wise(said, batch.problem, "; ")  # null where either is
        problem = pc.if_else(unread, said, pc.coalesce(both, said, batch.problem))
        tally.add(keys, batch, problem, unread)
        return table, replace(batch, problem=problem)


def work_of(
    plan: Plan, attempts: Place, *, keys: Mapping[str, str], vhost: str, kind: str = "parquet", chooses: bool = False
) -> RoutePart:
    """Return how the parts of a plan are routed into a folder; ``chooses`` is :attr:`Topology.chooses`."""
    schema = plan.schema
    for column in routed_fields(chooses):
        schema = with_column(schema, column)
    return RoutePart(
        read=plan.read,
        attempts=attempts,
        schema=schema,
        old_times=plan.old_times,
        kind=kind,
        keys=keys,
        vhost=vhost,
    )


def _most_rows(part: Part[Any]) -> int:
    return max(1, min(MOST_ROWS, MOST_BYTES * part.rows // max(1, part.bytes)))


def gathered(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Join small tables until they have about so many rows, or :data:`MOST_BYTES`."""
    held: list[pa.Table] = []
    count = size = 0
    for table in tables:
        more = table.nbytes
        if held and (count + len(table) > rows or size + more > MOST_BYTES):
            whole = _joined(held)
            held, count, size = [], 0, 0  # not held while whoever asks works on the whole of them
            yield whole
            del whole
        held.append(table)
        count, size = count + len(table), size + more
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
