"""The counts of all parts added up: the longest queues, the most frequent problems, and all of them for a file.

Rows that were spilled are read in passes, so many that each holds about :data:`PASS_ROWS`. What a kind has beyond the rows that
are listed is counted, and not held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dfa_router.logs.counting import CHECKSUM, COUNTS, KINDS, Totals, added_up, with_checksums
from dfa_router.logs.routing import Written
from dfa_router.logs.stores import Place

__all__ = ["Ranked", "counts_of", "ranked"]

PASS_ROWS = 100_000
"""Rows of counts, not yet added up, that a pass reads. With 250,000, a process of 80 files grew from 86 to 380 MiB, and takes 239 now."""

_ORDER = [("messages", "descending"), ("name", "ascending"), ("key", "ascending"), ("vhost", "ascending")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The counts of a kind."""

    rows: pa.Table
    """The most frequent, the first ones first."""
    distinct: int
    """How many there are, with those that are not listed."""
    messages: int
    """Of all of them."""


def counts_of(written: Sequence[Written], attempts: Place) -> tuple[Totals, Iterator[pa.Table]]:
    """Return the totals of what was written, and all counts added up, in tables of which no two have the same row."""
    inline = [pa.ipc.open_stream(one.counts).read_all() for one in written]
    spilled = [attempts.beside(one.spilled) for one in written if one.spilled is not None]
    return sum((one.totals for one in written), Totals()), _in_passes(inline, spilled)


def _in_passes(inline: Sequence[pa.Table], spilled: Sequence[Place]) -> Iterator[pa.Table]:
    files = [_Spilled(place) for place in spilled]
    passes = -(-(sum(map(len, inline)) + sum(file.rows for file in files)) // PASS_ROWS)
    if passes <= 1:
        yield added_up([*inline, *(file.read(0, 1 << 32) for file in files)])
        return
    with_sums = with_checksums(pa.concat_tables([COUNTS.empty_table(), *inline]))
    bounds = [(1 << 32) * number // passes for number in range(passes + 1)]
    for first, end in pairwise(bounds):
        here = pc.and_(pc.greater_equal(with_sums[CHECKSUM], first), pc.less(with_sums[CHECKSUM], end))
        yield added_up([with_sums.filter(here).drop([CHECKSUM]), *(file.read(first, end) for file in files)])
        pa.default_memory_pool().release_unused()  # else the process grows with the number of passes


def ranked(
    tables: Iterable[pa.Table], limits: Mapping[str, int | None], write: Callable[[pa.Table], None] | None = None
) -> dict[str, Ranked]:
    """Return the most frequent of each kind: as many as its limit says, or all.

    ``write`` is called with all rows, a kind at a time; of kind ``unroutable`` it gets those that are listed.

    >>> rows = {"kind": ["queue"] * 2, "vhost": ["/"] * 2, "name": ["q", "p"], "key": pa.nulls(2, pa.binary())}
    >>> found = ranked([pa.table({**rows, "messages": [2, 3]}, schema=COUNTS)], {"queue": 1})["queue"]
    >>> found.rows["name"].to_pylist(), found.distinct, found.messages
    (['p'], 2, 5)
    """
    best = dict.fromkeys(KINDS, COUNTS.empty_table())
    distinct, messages = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for table in tables:
        for kind in KINDS:
            some = table.filter(pc.equal(table["kind"], kind))
            distinct[kind] += len(some)
            messages[kind] += pc.sum(some["messages"]).as_py() or 0
            best[kind] = _first(pa.concat_tables([best[kind], some]), limits.get(kind))
            if write is not None and kind != "unroutable":
                write(some.sort_by(_ORDER))
    if write is not None:
        write(best["unroutable"])
    return {kind: Ranked(rows=best[kind], distinct=distinct[kind], messages=messages[kind]) for kind in KINDS}


def _first(rows: pa.Table, limit: int | None) -> pa.Table:
    """Return the most frequent rows, so many or all; to choose 20 of half a million takes a fiftieth of sorting them."""
    if not limit or limit >= len(rows):
        return rows.sort_by(_ORDER)[:limit]
    return rows.take(pc.select_k_unstable(rows, limit, _ORDER))


class _Spilled:
    """A file of spilled counts, sorted by checksum in runs. Its footer is read once: passes times files may be many thousand."""

    def __init__(self, place: Place) -> None:
        self._place = place
        with place.store.open_input_file(place.path) as file:
            self._footer = pq.read_metadata(file)
        self.rows = self._footer.num_rows
        column = self._footer.schema.names.index(CHECKSUM)
        groups = (self._footer.row_group(number) for number in range(self._footer.num_row_groups))
        known = [group.column(column).statistics for group in groups]
        self._bounds = [(one.min, one.max) for one in known]

    def read(self, first: int, end: int) -> pa.Table:
        """Return the rows whose checksum is from ``first`` on, and below ``end``."""
        groups = [number for number, (low, high) in enumerate(self._bounds) if low < end and high >= first]
        if not groups:
            return COUNTS.empty_table()
        with self._place.store.open_input_file(self._place.path) as file:
            rows = pq.ParquetFile(file, metadata=self._footer).read_row_groups(groups, use_threads=False)
        sums = rows[CHECKSUM]
        here = pc.and_(pc.greater_equal(sums, first), pc.less(sums, end))
        return rows.filter(here).select(COUNTS.names)
