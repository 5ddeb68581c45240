"""Counts of a result, made while it is routed: who got how many messages, and what nobody got.

Every count is exact. Totals are numbers; the rest are rows of (kind, vhost, name, key, messages), a few per batch, which are
added up where they are. Only keys that nobody gets, and texts of problems, can be as many as messages. A tally that holds too
many rows spills them to a file, and who adds up the tallies reads spilled rows in passes, each for a part of the names by
their checksum: so neither side holds more than a few hundred thousand rows, whatever the log.

Rejected: counts of the most frequent keys in bounded memory (space-saving). They are estimates, and for keys that hardly recur,
as of publishers with numbers in their keys, estimates of noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.arrow.dictionaries import decoded
from dfa_router.rabbitmq.columns import RoutedBatch

__all__ = ["CHECKSUM", "COUNTS", "KINDS", "Tally", "Totals", "added_up", "text_of", "with_checksums"]

Int64s = npt.NDArray[np.int64]

KINDS = ("queue", "exchange", "not_simulated", "problem", "unroutable")
"""What is counted: copies in a queue, messages published to an exchange, messages that reach an exchange that is not
simulated, those with a problem, and those that nobody gets, by exchange and routing key."""

COUNTS = pa.schema(
    [
        ("kind", pa.string()),
        ("vhost", pa.string()),
        ("name", pa.string()),
        ("key", pa.binary()),
        ("messages", pa.int64()),
    ]
)
"""A row per count; ``key`` is null but for ``unroutable``, and ``vhost`` is null for problems and where the message had none."""

CHECKSUM = "checksum"
"""The column of spilled rows by which they are divided into passes."""

_ODD = np.uint64(0x9E3779B97F4A7C15)

MOST_ROWS = 50_000
"""Rows that a tally holds before it spills."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Numbers of messages, and of copies."""

    messages: int = 0
    routed: int = 0
    unroutable: int = 0
    undecided: int = 0
    problem_rows: int = 0
    copies: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in Totals.__slots__})

    def __bool__(self) -> bool:
        return any(astuple(self))


class Keys(NamedTuple):
    """What the messages of a batch were routed by."""

    exchanges: Any
    routing_keys: Any
    vhosts: Any
    """None where the log has no such column."""
    vhost: str
    """That of all messages, where the log has no such column."""


class Tally:
    """The counts of the batches that were added; ``spill`` gets rows with checksums where they become too many."""

    def __init__(self, spill: Callable[[pa.Table], None], most_rows: int = MOST_ROWS) -> None:
        self.totals = Totals()
        self._spill = spill
        self._most = most_rows
        self._rows: list[pa.Table] = []
        self._count = 0

    def add(self, keys: Keys, batch: RoutedBatch, problem: Any = None, unread: Any = None) -> None:
        """Count a batch: by route, of which there are few, where that is possible.

        ``problem`` is that of each row, where it is not the batch's alone; rows for which ``unread`` is true are not listed among
        the keys that nobody gets.
        """
        problem = batch.problem if problem is None else problem
        places, at = _coded_vhosts(keys, len(batch.route_ids))
        pairs, messages = _pairs(at, batch.route_ids.astype(np.int64), len(places), len(batch.queues))
        at_route, route = np.divmod(pairs, max(1, len(batch.queues)))
        undecided = np.diff(batch.undecided.offsets.to_numpy()) > 0
        for kind, lists in (("queue", batch.queues), ("not_simulated", batch.undecided)):
            some = lists.take(pa.array(route))
            of = pc.list_parent_indices(some).to_numpy()
            self._hold(_counted(kind, places, at_route[of], some.flatten(), messages[of]))
        exchanges, routing_keys = text_of(keys.exchanges), _plain(keys.routing_keys).cast(pa.binary())
        self._hold(_counted("exchange", places, at, exchanges))
        if problem.null_count < len(problem):
            self._hold(_counted("problem", [None], np.zeros(len(at), np.int64), problem))
        nobody = ~(batch.routed | undecided)
        rows = pa.array(np.flatnonzero(nobody[batch.route_ids]))
        unroutable_rows = len(rows)
        if unread is not None:
            rows = rows.filter(pc.invert(unread.take(rows)))
        vhosts = pa.array(places, pa.string()).take(pa.array(at).take(rows))
        unroutable = pa.table({"name": exchanges.take(rows), "key": routing_keys.take(rows), "vhost": vhosts})
        self._hold(_grouped(unroutable.drop_null(), "unroutable"))
        self.totals += Totals(
            messages=len(at),
            routed=int(messages[batch.routed[route]].sum()),
            unroutable=unroutable_rows,
            undecided=int(messages[(undecided & ~batch.routed)[route]].sum()),
            problem_rows=len(at) - problem.null_count,
            copies=int((messages * np.diff(batch.queues.offsets.to_numpy())[route]).sum()),
        )

    def rows(self, most: int) -> pa.Table:
        """Return what was counted and not spilled: at most so many rows, or none, and the rest is spilled."""
        held = added_up(self._rows)
        if len(held) <= most:
            return held
        self._spill(with_checksums(held))
        return COUNTS.empty_table()

    def _hold(self, rows: pa.Table) -> None:
        self._rows.append(rows)
        self._count += len(rows)
        if self._count > self._most:
            held = added_up(self._rows)
            if len(held) > self._most // 2:
                self._spill(with_checksums(held))
                held = COUNTS.empty_table()
            self._rows, self._count = [held], len(held)


def added_up(tables: Sequence[pa.Table]) -> pa.Table:
    """Return the rows of all tables, those of one kind, vhost, name and key added up.

    >>> rows = {"kind": ["queue"] * 2, "vhost": ["/"] * 2, "name": ["q"] * 2, "key": pa.nulls(2, pa.binary())}
    >>> added_up([pa.table({**rows, "messages": [2, 3]}, schema=COUNTS)])["messages"].to_pylist()
    [5]
    """
    if not tables:
        return COUNTS.empty_table()
    names = COUNTS.names[:-1]
    grouped = pa.concat_tables(tables).group_by(names, use_threads=False).aggregate([("messages", "sum")])
    return pa.table([grouped[name] for name in (*names, "messages_sum")], schema=COUNTS)


def with_checksums(rows: pa.Table) -> pa.Table:
    """Return the rows with a checksum of what they are about, and sorted by it."""
    names, keys = (_polynomials(rows[name]) for name in ("name", "key"))
    mixed = (names ^ (keys * _ODD)) * _ODD
    sums = ((mixed ^ (mixed >> 29)) * _ODD) >> 32
    return rows.append_column(CHECKSUM, pa.array(sums.astype(np.int64))).sort_by(CHECKSUM)


def _polynomials(column: pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Return a number for each text, made of all its bytes and their places; null is as the empty text.

    Python's own checksums, a row at a time, took a tenth of the time of routing.
    """
    array = pc.fill_null(_plain(column).cast(pa.large_binary()), b"")
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64, len(array) + 1, 8 * array.offset) if len(array) else np.zeros(1, np.int64)
    lengths = np.diff(ends)
    if not lengths.any():
        return np.zeros(len(array), np.uint64)
    powers = np.cumprod(np.full(lengths.max(), _ODD))
    places = np.arange(ends[0], ends[-1]) - np.repeat(ends[:-1], lengths)
    terms = (np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] + np.uint64(1)) * powers[places]
    sums = np.concatenate(([np.uint64(0)], np.cumsum(terms)))
    return np.asarray(sums[ends[1:] - ends[0]] - sums[ends[:-1] - ends[0]])


def _counted(
    kind: str, places: Sequence[str | None], at: Int64s, names: Any, messages: Int64s | None = None
) -> pa.Table:
    """Count (place, name), each row for one message or for so many; rows whose name is null are left out."""
    coded = names.dictionary_encode()
    if coded.null_count:
        valid = coded.is_valid().to_numpy(zero_copy_only=False)
        at, coded = at[valid], coded.drop_null()
    distinct, counts = _pairs(at, coded.indices.to_numpy(), len(places), len(coded.dictionary), messages)
    place, name = np.divmod(distinct, max(1, len(coded.dictionary)))
    columns = [
        pa.repeat(kind, len(distinct)),
        pa.array(places, pa.string()).take(pa.array(place)),
        coded.dictionary.take(pa.array(name)),
        pa.nulls(len(distinct), pa.binary()),
        pa.array(counts, pa.int64()),
    ]
    return pa.table(columns, schema=COUNTS)


def _pairs(
    first: Int64s, second: Int64s, firsts: int, seconds: int, messages: Int64s | None = None
) -> tuple[Int64s, Int64s]:
    """Return the distinct pairs of numbers, as ``first * seconds + second``, and how often each occurs."""
    seconds = max(1, seconds)
    pairs = first * seconds + second
    if firsts * seconds > 4 * len(pairs) + 1024:
        distinct, pairs = np.unique(pairs, return_inverse=True)
        return distinct, np.bincount(pairs, messages, len(distinct)).astype(np.int64)
    counts = np.bincount(pairs, messages, firsts * seconds)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct].astype(np.int64)


def _grouped(rows: pa.Table, kind: str) -> pa.Table:
    grouped = rows.group_by(["vhost", "name", "key"], use_threads=False).aggregate([([], "count_all")])
    columns = [grouped[name] for name in ("vhost", "name", "key", "count_all")]
    return pa.table([pa.repeat(kind, len(grouped)), *columns], schema=COUNTS)


def _coded_vhosts(keys: Keys, rows: int) -> tuple[list[str | None], Int64s]:
    """Return the distinct vhosts, null at the end, and the number of each row's."""
    if keys.vhosts is None:
        return [keys.vhost], np.zeros(rows, np.int64)
    coded = text_of(keys.vhosts).dictionary_encode()
    places = [*coded.dictionary.to_pylist(), None]
    return places, pc.fill_null(coded.indices, len(places) - 1).to_numpy().astype(np.int64)


def text_of(column: Any) -> Any:
    """Return a column of text as one array of well-formed text: files may hold anything."""
    array = _plain(column).cast(pa.string())
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        decoded = [None if one is None else one.decode(errors="replace") for one in array.cast(pa.binary()).to_pylist()]
        return pa.array(decoded, pa.string())
    return array


def _plain(column: Any) -> Any:
    """Return a column as one array of its values."""
    return decoded(column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])).combine_chunks()
