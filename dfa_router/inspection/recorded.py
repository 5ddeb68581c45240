"""The messages of a trace, table by table, compared with the queues of the broker's record: counts, and the messages that differ.

Most messages agree, or differ as many others do, so rows are looked at by columns: each pair of a route and of a list of queues is
compared once, and Python sees each distinct message that differs once for each table. Of messages that merely count, and of those that nobody will
explain, one stands for all that go the same way: what a part keeps is bounded by what is explained, not by the length of the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.logs.marks import READ_PROBLEM
from dfa_router.rabbitmq import RoutedBatch, TopologyRouter
from dfa_router.rabbitmq.copies import CC, COPIES
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.matching import HEADERS

__all__ = ["INTERCEPTED", "READ", "Message", "Part", "Recorded", "fate_of"]

INTERCEPTED = ('"timestamp_in_ms":', '"x-routed-by":', '"x-received-by":', '"x-client-id":')
"""Headers that the broker's own message interceptors set, as they stand in JSON."""

_COPYING = "|".join(f'"{name}":' for name in COPIES)
"""What stands in headers that have further keys, as JSON."""

READ = (
    "exchange",
    "vhost",
    "routing_key",
    "routing_keys",
    "cc",
    "headers",
    "routed_queues",
    "timestamp",
    READ_PROBLEM,
)
"""The columns that are looked at."""

Ints = npt.NDArray[np.int64]


class Message(NamedTuple):
    """A message of the trace that does not go where the broker routed it."""

    vhost: str
    exchange: str
    keys: tuple[str, ...]
    recorded: tuple[str, ...]
    headers: str
    timestamp: str


@dataclass(slots=True)
class Part:
    """What was found in a part of a trace: counts, and the messages whose queues are not those recorded, with their numbers.

    Of messages that have all in common but their headers, and that go the same way here, one stands for all; of those that nobody
    explains one by one, whatever their keys are.
    """

    explained: int
    """How many distinct messages are kept to be explained; what differs beyond them is counted alone."""
    counts: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    suspects: dict[tuple[Hashable, ...], tuple[Message, int]] = field(default_factory=dict)
    """In the order in which they were first met."""
    differing: int = 0
    """How many of them are kept to be explained."""


def fate_of(
    ours: AbstractSet[str],
    recorded: AbstractSet[str],
    vhost: str,
    exchange: str,
    *,
    undecided: bool,
    queues: AbstractSet[tuple[str, str]],
) -> str:
    """Tell what becomes of a message, by the queues here and those recorded; ``undecided`` is one that reaches what is not simulated.

    >>> fate_of({"a"}, {"a", "b"}, "/", "x", undecided=True, queues=set())
    'undecided'
    >>> [fate_of(set(), {"b"}, "/", "", undecided=False, queues=there) for there in (set(), {("/", "b")})]
    ['expected', 'differing']
    """
    if undecided and ours <= recorded:
        return "undecided"
    if ours == recorded:
        return "agreeing"
    # The default exchange's record names the queue of each key, whether or not there is one.
    absent = not exchange and ours <= recorded and not any((vhost, name) in queues for name in recorded - ours)
    return "expected" if absent else "differing"


class Recorded:
    """Compares tables of a trace with what a topology does; safe to use from several threads."""

    def __init__(self, router: TopologyRouter, queues: AbstractSet[tuple[str, str]]) -> None:
        """Take a compiled topology, and all (vhost, name) that are queues of it."""
        self._router, self._queues = router, queues
        self._reads_headers = any(
            node.conditions and node.type is not None and HEADERS in SIMULATED[node.type].reads for node in router.nodes
        )

    def compare(self, table: pa.Table, part: Part) -> None:
        """Count the messages of a table that go where the broker routed them, and keep the others."""
        columns = {name: table[name].combine_chunks() for name in READ if name in table.schema.names}
        batch = self._routed(columns)
        if READ_PROBLEM in columns:
            for said in pc.value_counts(columns[READ_PROBLEM].drop_null()).to_pylist():
                part.problems[said["values"].partition(":")[0]] += said["counts"]
        keys, recorded = columns["routing_keys"], columns["routed_queues"]
        readable = ~_is_null(keys)
        compared = np.flatnonzero(readable & ~_is_null(recorded))
        part.counts["messages"] += len(table)
        part.counts["unreadable"] += len(table) - int(readable.sum())
        part.counts["without queues"] += int(readable.sum()) - len(compared)
        numbers, lists = _numbered(recorded)
        pairs = batch.route_ids[compared].astype(np.int64) * len(lists) + numbers[compared]
        used, at = np.unique(pairs, return_inverse=True)
        ways = [self._way(batch, one // len(lists), lists[one % len(lists)]) for one in used.tolist()]
        agrees = np.array([way.agrees for way in ways], np.bool_)[at] & _is_null(batch.problem)[compared]
        part.counts["agreeing"] += int(agrees.sum())
        if not agrees.all():
            self._keep(columns, batch.problem, compared[~agrees], [ways[one] for one in at[~agrees].tolist()], part)

    def _routed(self, columns: dict[str, pa.Array]) -> RoutedBatch:
        """Route messages, with those attributes alone that can change their way.

        Headers were read in Python for each message, and an empty list of CC was, too: of 200,000 messages with a header each and 3 % that
        differ, all but planning took 7.7 s of processor time, and takes 2.8 s.
        """
        read: dict[str, Any] = {}
        cc, headers = columns["cc"], columns["headers"]
        copied = pc.greater(pc.list_value_length(cc), 0)
        if pc.any(copied).as_py():
            read[CC] = pc.if_else(copied, cc, pa.scalar(None, cc.type))
        if self._reads_headers:
            read[HEADERS] = headers
        else:
            copying = pc.match_substring_regex(headers, _COPYING)
            if pc.any(copying).as_py():
                read[HEADERS] = pc.if_else(copying, headers, None)
        return self._router.route_batch(columns["exchange"], columns["routing_key"], columns["vhost"], **read)

    def _keep(
        self, columns: dict[str, pa.Array], problems: pa.Array, rows: Ints, ways: Sequence[_Way], part: Part
    ) -> None:
        """Keep messages that do not agree."""
        headers = columns["headers"].take(pa.array(rows)).fill_null("")
        marked = pc.match_substring_regex(headers, "|".join(INTERCEPTED)).to_pylist()
        some = [columns[name].take(pa.array(rows)).to_pylist() for name in ("vhost", "exchange", "routing_keys")]
        said = problems.take(pa.array(rows)).to_pylist()
        for row, way, mark, problem, vhost, exchange, keys in zip(
            rows.tolist(), ways, marked, said, *some, strict=True
        ):
            # Headers may be different in each message; where it goes by them is all that matters of them.
            place: tuple[Hashable, ...] = (vhost, exchange, tuple(keys), way.recorded, mark, way.ends)
            known = part.suspects.get(place)
            if known is None:
                fate = self._fate(way, vhost, exchange)
                if fate == "differing" and (part.differing < part.explained or problem is not None):
                    part.differing += problem is None  # one that the broker refuses for its CC is never explained
                else:  # all that is said of it is said of others that go the same way, too
                    place = (vhost, exchange, way.recorded, way.ends, problem)
                    known = part.suspects.get(place)
            if known is None:
                texts = (columns[name][row].as_py() or "" for name in ("headers", "timestamp"))
                part.suspects[place] = (Message(vhost, exchange, tuple(keys), way.recorded, *texts), 1)
            else:
                part.suspects[place] = (known[0], known[1] + 1)

    def _way(self, batch: RoutedBatch, route: int, recorded: tuple[str, ...]) -> _Way:
        """Return the way of messages of a route whose queues were these."""
        ends = tuple(batch.routes.positions[slice(*batch.routes.offsets[route : route + 2])].tolist())
        known = all(one < len(self._router.queues) for one in ends)
        agrees = known and recorded == tuple(sorted(self._router.queue_names[one] for one in ends))
        return _Way(ends, recorded, agrees)

    def _fate(self, way: _Way, vhost: str, exchange: str) -> str:
        """Tell what becomes of a message that goes a way."""
        start = self._router.node_numbers.get((vhost, exchange))
        if start is None or self._router.nodes[start].internal:
            return "refused"
        named = {self._router.queue_names[one] for one in way.ends if one < len(self._router.queues)}
        undecided = len(named) < len(way.ends)
        return fate_of(named, set(way.recorded), vhost, exchange, undecided=undecided, queues=self._queues)


@dataclass(frozen=True, slots=True)
class _Way:
    """Where messages go here, and where the broker routed them."""

    ends: tuple[int, ...]
    """The numbers of the queues of the route, and of its remarks on exchanges."""
    recorded: tuple[str, ...]
    agrees: bool


def _numbered(column: pa.ListArray) -> tuple[Ints, list[tuple[str, ...]]]:
    """Return a number for each list of names, and each distinct one, sorted and without repeats.

    Arrow numbers no lists. So the names are numbered, and their numbers' bytes are taken for texts.
    """
    values = column.values.dictionary_encode("encode")
    codes = values.indices.fill_null(0).to_numpy().astype(np.int32)
    ends = (column.offsets.to_numpy().astype(np.int64) * codes.itemsize).astype(np.int32)
    texts = pa.Array.from_buffers(pa.binary(), len(column), [None, pa.py_buffer(ends), pa.py_buffer(codes)])
    encoded = texts.dictionary_encode()
    names = values.dictionary.to_pylist()
    lists = [
        tuple(sorted({names[one] for one in memoryview(text).cast("i").tolist()}))
        for text in encoded.dictionary.to_pylist()
    ]
    return encoded.indices.to_numpy().astype(np.int64), lists


def _is_null(column: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = column.is_null().to_numpy(zero_copy_only=False)
    return found
