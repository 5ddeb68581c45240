"""Two topologies compared by the messages of a log: who gets more of them, who fewer, and which become unroutable.

Each part of the log is read once and routed by both; a batch has few pairs of an old and a new route, and these are counted. So
the work is that of routing twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from dfa_router.logs.counting import text_of
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import key_names, rows_with_problems, scanned
from dfa_router.rabbitmq import RoutedBatch, Topology, TopologyRouter
from dfa_router.rabbitmq.exchange_types import attributes_read
from dfa_router.reports import Report

__all__ = ["Comparison", "QueueChange", "Sample", "compare_messages"]

SAMPLES = 3
"""Messages that are kept of each queue's gains and losses."""


class Sample(NamedTuple):
    """A message, by what it is routed by."""

    exchange: str | None
    routing_key: str | None


@dataclass(slots=True, kw_only=True)
class QueueChange:
    """What changes for a queue."""

    vhost: str
    queue: str
    before: int = 0
    """Copies in it, by the old topology."""
    after: int = 0
    gained: int = 0
    """Messages that it gets and did not get before."""
    lost: int = 0
    gained_samples: list[Sample] = field(default_factory=list)
    lost_samples: list[Sample] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class Comparison:
    """What changes for the messages of a log."""

    messages: int = 0
    moved: int = 0
    """Messages that other queues get than before, more or fewer."""
    unroutable_before: int = 0
    unroutable_after: int = 0
    becoming_unroutable: int = 0
    becoming_routable: int = 0
    more_copies: int = 0
    """Messages that more queues get than before, and that some queue got before: these are doubled."""
    fewer_copies: int = 0
    """Messages that fewer queues get than before, and that some queue still gets."""
    undecided: int = 0
    """Messages that reach an exchange that is not simulated, before or after; what is known of them is counted."""
    problem_rows: int = 0
    """Rows with something wrong for both topologies, such as a line that could not be read; each counts above by its queues, too."""
    queues: list[QueueChange] = field(default_factory=list)
    """Those that gain or lose any message, most messages first."""
    unroutable_samples: list[Sample] = field(default_factory=list)
    """Messages that become unroutable."""


class _Counts(NamedTuple):
    """What was found in a part."""

    totals: Counter[str]
    queues: dict[tuple[str, str], QueueChange]
    unroutable: list[Sample]


def compare_messages(
    old: Topology, new: Topology, plan: Plan, *, vhost: str = "/", report: Report | None = None
) -> Comparison:
    """Route a log by two topologies and count what differs.

    Raises :class:`MessagesError` for a log without the columns to route by, and for a file that cannot be read.
    """
    exchanges = (*old.exchanges, *new.exchanges)
    names = key_names(plan.schema, attributes_read(exchange.type for exchange in exchanges))
    routers = old.compile(), new.compile()

    def work(tables: Iterator[pa.Table]) -> _Counts:
        counts = _Counts(Counter(), {}, [])
        for table in tables:
            columns: dict[str, Any] = {key: table[name] for key, name in names.items()}
            given = {key: columns[key] for key in ("exchange", "routing_key")}
            some = [columns.pop(key, None) for key in ("exchange", "routing_key", "vhost")]
            batches = [router.route_batch(*some, vhost=vhost, **columns) for router in routers]
            _count(routers, batches, given, counts)
            troubled = rows_with_problems(table, *(batch.problem for batch in batches))
            counts.totals["problem_rows"] += int(troubled.sum())
        return counts

    totals: Counter[str] = Counter()
    queues: dict[tuple[str, str], QueueChange] = {}
    found = Comparison()
    for part in scanned(plan, work, names.values(), report=report):
        totals += part.totals
        _keep(found.unroutable_samples, part.unroutable)
        for place, one in part.queues.items():
            _add(queues.setdefault(place, QueueChange(vhost=place[0], queue=place[1])), one)
    for name, count in totals.items():
        setattr(found, name, count)
    changed = (one for one in queues.values() if one.gained or one.lost)
    found.queues = sorted(changed, key=lambda one: (-one.gained - one.lost, one.vhost, one.queue))
    return found


def _count(
    routers: tuple[TopologyRouter, ...], batches: list[RoutedBatch], given: dict[str, Any], counts: _Counts
) -> None:
    old, new = (batch.routes.set_ids.astype(np.int64) for batch in batches)
    width = max(1, len(batches[1].routes.offsets) - 1)
    pairs, firsts, messages = np.unique(old * width + new, return_index=True, return_counts=True)
    gets = [_Gets(router, batch) for router, batch in zip(routers, batches, strict=True)]
    for pair, first, count in zip(pairs.tolist(), firsts.tolist(), messages.tolist(), strict=True):
        before, after = gets[0].of(pair // width), gets[1].of(pair % width)
        totals = counts.totals
        totals["messages"] += count
        totals["undecided"] += count * (before.undecided or after.undecided)
        for ends, what in ((before, "before"), (after, "after")):
            totals[f"unroutable_{what}"] += count * ends.nobody
            for place in ends.queues:
                queue = counts.queues.setdefault(place, QueueChange(vhost=place[0], queue=place[1]))
                setattr(queue, what, getattr(queue, what) + count)
        if before.queues == after.queues and before.undecided == after.undecided:
            continue
        sample = _sample(given, first)
        totals["moved"] += count * (before.queues != after.queues)
        totals["more_copies"] += count * (0 < len(before.queues) < len(after.queues))
        totals["fewer_copies"] += count * (len(before.queues) > len(after.queues) > 0)
        totals["becoming_routable"] += count * (before.nobody and not after.nobody)
        if after.nobody and not before.nobody:
            totals["becoming_unroutable"] += count
            _keep(counts.unroutable, [sample])
        for place in after.queues - before.queues:
            counts.queues[place].gained += count
            _keep(counts.queues[place].gained_samples, [sample])
        for place in before.queues - after.queues:
            counts.queues[place].lost += count
            _keep(counts.queues[place].lost_samples, [sample])


class _Ends(NamedTuple):
    queues: frozenset[tuple[str, str]]
    """As (vhost, name)."""
    undecided: bool
    nobody: bool


class _Gets:
    """Who gets the messages of each route of a batch."""

    def __init__(self, router: TopologyRouter, batch: RoutedBatch) -> None:
        self._queues = router.queues
        self._routes = batch.routes
        self._known: dict[int, _Ends] = {}

    def of(self, route: int) -> _Ends:
        known = self._known.get(route)
        if known is None:
            first, last = self._routes.offsets[route : route + 2].tolist()
            outputs = self._routes.positions[first:last].tolist()
            queues = frozenset(self._queues[one] for one in outputs if one < len(self._queues))
            undecided = len(queues) < len(outputs)
            known = self._known[route] = _Ends(queues, undecided, not outputs)
        return known


def _sample(given: dict[str, Any], row: int) -> Sample:
    return Sample(*(text_of(column.slice(row, 1))[0].as_py() for column in given.values()))


def _keep(samples: list[Sample], more: list[Sample]) -> None:
    samples += [one for one in more if one not in samples][: SAMPLES - len(samples)]


def _add(queue: QueueChange, more: QueueChange) -> None:
    for name in ("before", "after", "gained", "lost"):
        setattr(queue, name, getattr(queue, name) + getattr(more, name))
    _keep(queue.gained_samples, more.gained_samples)
    _keep(queue.lost_samples, more.lost_samples)
