"""A topology looked over: what in its declarations can hardly be meant, and what a log of messages does to it.

Without a log this tells what no message can change: keys whose wildcard is none, queues that nothing is bound to, exchanges from
which nothing leads on, names that nobody declares, what an import would refuse. With a log it counts: messages that nobody gets,
with the bindings that nearly match them; bindings and queues that matched nothing; the hottest bindings; copies per message, per
queue and, where there is a time, per minute.

Counts are exact but for the keys of unroutable messages, of which :data:`MOST_KEYS` are told apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dfa_router.counted import counted
from dfa_router.inspection.arrows import arrow
from dfa_router.inspection.binding_counts import Marked
from dfa_router.inspection.declared_findings import Finding, findings_of
from dfa_router.inspection.nearest import MOST, Nearest
from dfa_router.inspection.times import minutes_of, time_column
from dfa_router.logs.counting import text_of
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import key_names, rows_with_problems, scanned
from dfa_router.rabbitmq import RoutedBatch, Topology
from dfa_router.rabbitmq.exchange_types import attributes_read
from dfa_router.reports import Report

__all__ = ["SIZES", "Audit", "BindingCount", "QueueTraffic", "Traffic", "Unroutable", "audit_of"]

MOST_KEYS = 200_000
"""Unroutable (vhost, exchange, key) that are told apart; what comes after them is counted together."""
NEAR = 3
"""Bindings that are told of each unroutable key."""
EXPLAINED = 1_000
"""Unroutable keys for which the nearest bindings are looked for, the most frequent first."""
SIZES = ("payload_bytes", "body_size", "size", "bytes")
"""Columns that hold the size of a message's payload, the first of which that a log has is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unroutable:
    """Messages of one key that nobody gets."""

    vhost: str | None
    exchange: str | None
    routing_key: str | None
    messages: int
    nearest: tuple[str, ...]
    """The bindings that nearly match, the nearest first; on the default exchange, queues of similar names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BindingCount:
    """The messages that a binding took."""

    position: int
    vhost: str
    binding: str
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueTraffic:
    """The copies that a queue got."""

    vhost: str
    queue: str
    messages: int
    bytes: int | None
    """Of their payloads, where the log says how large these are."""


@dataclass(slots=True, kw_only=True)
class Traffic:
    """What a log does to a topology."""

    messages: int = 0
    routed: int = 0
    unroutable: int = 0
    undecided: int = 0
    """Messages that no queue gets so far, and that reach an exchange that is not simulated."""
    problem_rows: int = 0
    """Rows with something wrong, such as a line that could not be read, or an exchange that is not there.

    Each counts above by what became of it, too: of a message to an exchange that is not there, that nobody gets it.
    """
    copies: int = 0
    fan_out: dict[int, int] = field(default_factory=dict)
    """For each number of copies the messages that have so many."""
    bindings: list[BindingCount] = field(default_factory=list)
    """All bindings, those with most messages first; without those of exchanges that choose one of theirs by chance."""
    queues: list[QueueTraffic] = field(default_factory=list)
    """All queues, those with most messages first."""
    unroutable_keys: list[Unroutable] = field(default_factory=list)
    """The most frequent first."""
    other_unroutable: int = 0
    """Unroutable messages whose keys are not told apart."""
    times: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each minute, as text, the messages and the unroutable ones; empty where the log has no times."""


@dataclass(slots=True, kw_only=True)
class Audit:
    """What was found."""

    source: str
    exchanges: int
    queues: int
    bindings: int
    findings: list[Finding]
    traffic: Traffic | None = None

    @property
    def size_in_words(self) -> str:
        """How much is declared, as people read it."""
        told = ((self.exchanges, "exchange"), (self.queues, "queue"), (self.bindings, "binding"))
        return ", ".join(counted(*one) for one in told)

    @property
    def has_found(self) -> bool:
        """Whether there is anything to look at: a warning, or messages that nobody gets."""
        warned = any(finding.severity != "note" for finding in self.findings)
        return warned or (self.traffic is not None and self.traffic.unroutable > 0)


class _Part(NamedTuple):
    """What was counted in a part."""

    totals: Counter[str]
    fan_out: Counter[int]
    bindings: Any
    queues: Any
    bytes: Any
    keys: Counter[tuple[str | None, str | None, str | None]]
    times: Counter[tuple[str, bool]]


def audit_of(topology: Topology, plan: Plan | None = None, *, vhost: str = "/", report: Report | None = None) -> Audit:
    """Look a topology over, and what a log does to it.

    Raises :class:`MessagesError` for a log without the columns to route by, and for a file that cannot be read.

    >>> from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")], queues=[Queue(name="q")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="order*.#")])
    >>> [finding.rule for finding in audit_of(topology).findings]
    ['wildcard-in-word']
    """
    own = [one for one in topology.exchanges if one.name and not one.name.startswith("amq.")]
    found = Audit(
        source=topology.source,
        exchanges=len(own),
        queues=len(topology.queues),
        bindings=len(topology.bindings),
        findings=findings_of(topology),
    )
    if plan is not None:
        found.traffic = _traffic(topology, plan, vhost, report)
    return found


def _traffic(topology: Topology, plan: Plan, vhost: str, report: Report | None) -> Traffic:
    names = key_names(plan.schema, attributes_read(exchange.type for exchange in topology.exchanges))
    size = next((name for name in SIZES if name in plan.schema.names and _is_whole(plan.schema.field(name).type)), None)
    time = time_column(plan.schema)
    read = {*names.values(), *(name for name in (size, time) if name is not None)}
    marked = Marked(topology)

    def work(tables: Iterator[pa.Table]) -> _Part:
        part = _Part(
            Counter(),
            Counter(),
            np.zeros(len(topology.bindings), np.int64),
            np.zeros(len(marked.queues), np.int64),
            np.zeros(len(marked.queues), np.int64),
            Counter(),
            Counter(),
        )
        for table in tables:
            columns: dict[str, Any] = {key: table[name] for key, name in names.items()}
            batch = _count(marked, columns, table[size] if size else None, table[time] if time else None, vhost, part)
            part.totals["problem_rows"] += int(rows_with_problems(table, batch.problem).sum())
        return part

    found = Traffic()
    whole = None
    keys: Counter[tuple[str | None, str | None, str | None]] = Counter()
    times: dict[str, tuple[int, int]] = {}
    for part in scanned(plan, work, read, report=report):
        for name, count in part.totals.items():
            setattr(found, name, getattr(found, name) + count)
        for copies, count in part.fan_out.items():
            found.fan_out[copies] = found.fan_out.get(copies, 0) + count
        sums = (part.bindings, part.queues, part.bytes)
        whole = sums if whole is None else tuple(one + more for one, more in zip(whole, sums, strict=True))
        found.other_unroutable += _add(keys, part.keys)
        for (minute, unroutable), count in part.times.items():
            before = times.get(minute, (0, 0))
            times[minute] = (before[0] + count, before[1] + count * unroutable)
    found.fan_out = dict(sorted(found.fan_out.items()))
    found.times = dict(sorted(times.items()))
    if whole is not None:
        _rank(found, topology, marked, whole, sized=size is not None)
    found.unroutable_keys = list(_explained(topology, keys, report))
    return found


def _count(marked: Marked, columns: dict[str, Any], sizes: Any, times: Any, vhost: str, part: _Part) -> RoutedBatch:
    """Count the messages of a table, and return where they go."""
    exchanges, keys, vhosts = (columns.pop(name, None) for name in ("exchange", "routing_key", "vhost"))
    batch = marked.router.route_batch(exchanges, keys, vhosts, vhost=vhost, **columns)
    routes = len(batch.routes.offsets) - 1
    messages = np.bincount(batch.route_ids, minlength=routes)
    bindings, queues = marked.counts(batch, messages)
    np.add(part.bindings, bindings, out=part.bindings)
    np.add(part.queues, queues, out=part.queues)
    if sizes is not None:
        known = np.clip(pc.fill_null(pc.cast(sizes.combine_chunks(), pa.int64()), 0).to_numpy(), 0, None)
        held = np.bincount(batch.route_ids, weights=known, minlength=routes).astype(np.int64)
        np.add(part.bytes, marked.counts(batch, held)[1], out=part.bytes)
    copies, undecided = marked.copies(batch), marked.undecided(batch)
    for copy, count in zip(*_grouped(copies, messages), strict=True):
        part.fan_out[copy] += count
    nobody = (copies == 0) & ~undecided
    unroutable = nobody[batch.route_ids]
    part.totals.update(
        messages=len(unroutable),
        routed=int(messages[copies > 0].sum()),
        unroutable=int(unroutable.sum()),
        undecided=int(messages[(copies == 0) & undecided].sum()),
        copies=int((messages * copies).sum()),
    )
    if unroutable.any():
        # A line that could not be read names nothing that anybody could look for.
        named = ~(_is_null(exchanges) & _is_null(keys))
        part.totals["other_unroutable"] += int((unroutable & ~named).sum())
        rows = pa.array(np.flatnonzero(unroutable & named))
        place = pa.nulls(len(rows), pa.string()).fill_null(vhost) if vhosts is None else text_of(vhosts).take(rows)
        some = pa.table({"v": place, "x": text_of(exchanges).take(rows), "k": text_of(keys).take(rows)})
        grouped = some.group_by(["v", "x", "k"], use_threads=False).aggregate([([], "count_all")])
        told = zip(*(grouped[name].to_pylist() for name in ("v", "x", "k")), strict=True)
        counts = dict(zip(told, grouped["count_all"].to_pylist(), strict=True))
        part.totals["other_unroutable"] += _add(part.keys, Counter(counts))
    if times is not None:
        part.times.update(minutes_of(times, unroutable))
    return batch


def _add(keys: Counter[Any], more: Counter[Any]) -> int:
    """Add counts of keys, as long as they are not too many; return how many messages were left out."""
    left = 0
    for key, count in more.items():
        if key in keys or len(keys) < MOST_KEYS:
            keys[key] += count
        else:
            left += count
    return left


def _is_null(column: Any) -> Any:
    return column.is_null().combine_chunks().to_numpy(zero_copy_only=False)


def _grouped(values: Any, weights: Any) -> tuple[list[int], list[int]]:
    distinct, at = np.unique(values, return_inverse=True)
    return distinct.tolist(), np.bincount(at, weights, len(distinct)).astype(np.int64).tolist()


def _rank(found: Traffic, topology: Topology, marked: Marked, whole: tuple[Any, ...], *, sized: bool) -> None:
    bindings, queues, sizes = (one.tolist() for one in whole)
    found.bindings = sorted(
        (
            BindingCount(position=place, vhost=one.vhost, binding=arrow(one), messages=bindings[place])
            for place, one in enumerate(topology.bindings)
            if marked.is_marked[place]
        ),
        key=lambda one: (-one.messages, one.position),
    )
    found.queues = sorted(
        (
            QueueTraffic(vhost=where[0], queue=where[1], messages=queues[place], bytes=sizes[place] if sized else None)
            for place, where in enumerate(marked.queues)
        ),
        key=lambda one: (-one.messages, one.vhost, one.queue),
    )


def _explained(
    topology: Topology, keys: Counter[tuple[str | None, str | None, str | None]], report: Report | None
) -> Iterator[Unroutable]:
    near = Nearest(topology)
    queues = [(queue.vhost, queue.name) for queue in topology.queues[:MOST]]
    for number, ((vhost, exchange, key), count) in enumerate(keys.most_common()):
        nearest: tuple[str, ...] = ()
        if report is not None and number < EXPLAINED:
            report("looking for the nearest bindings", number, min(EXPLAINED, len(keys)))
        if number < EXPLAINED and exchange == "" and key is not None:
            names = [name for place, name in queues if place == vhost]
            nearest = tuple(f"queue {name}" for name in get_close_matches(key, names, NEAR))
        elif number < EXPLAINED and None not in (vhost, exchange, key):
            found = near.bindings(str(vhost), str(exchange), str(key), most=NEAR)
            nearest = tuple(f"bindings[{one}]: {arrow(topology.bindings[one])}" for one, _ in found)
        yield Unroutable(vhost=vhost, exchange=exchange, routing_key=key, messages=count, nearest=nearest)


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind))
