"""A trace replayed: each message that a broker has traced is routed by a topology, and the queues are compared.

The broker's record says where its routing led. Where ours leads elsewhere, the definitions are not those of the broker at that
time, or something on the broker is not in them. Differences are grouped by their :data:`CAUSES` and by the binding or queue that
they hang on, each with one message.

Every message is compared. Explaining takes a walk through the topology, so at most :data:`EXPLAINED` distinct messages that differ
are explained, and the rest is counted under one heading.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from dfa_router.errors import PublishRefusedError, UnknownNameError
from dfa_router.inspection.arrows import described
from dfa_router.inspection.nearest import Nearest
from dfa_router.logs.marks import READ_PROBLEM
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import Report, scanned
from dfa_router.rabbitmq import Route, RoutedBatch, Topology, TopologyRouter

__all__ = ["CAUSES", "Difference", "Replay", "replay"]

EXPLAINED = 10_000
"""Distinct messages that are explained."""

CAUSES: Mapping[str, str] = {
    "absent-queue": "the default exchange's record names the queue of each key, whether or not there is one; the definitions have "
    "none of that name, so probably nobody got the message. No difference, unless the queue was exclusive",
    "unknown-exchange": "the definitions have no such exchange: it was declared after the export, or is left out of exports as "
    "internal ones are (--listing adds those)",
    "internal-exchange": "the definitions have the exchange as an internal one, to which nobody may publish: it was declared anew since",
    "unknown-queue": "the broker routed to a queue that the definitions do not have: an exclusive one, which exports leave out "
    "(--listing adds those), or one that was declared after the export",
    "missing-binding": "the broker routed to a queue to which no binding of the definitions leads: a binding was removed or "
    "changed since, or a plugin on the broker adds destinations",
    "binding-not-on-broker": "a binding of the definitions leads to a queue to which the broker did not route: it was added or changed "
    "since the trace",
    "queue-not-on-broker": "the definitions have a queue of that name, to which the default exchange of the broker did not route",
    "interceptor": "the message has headers that a message interceptor of the broker sets: what was routed may not be what the "
    "client published",
    "not-explained": f"more than {EXPLAINED:,} distinct messages differ; these were not looked at one by one",
}
"""Why routes differ."""

INTERCEPTED = ('"timestamp_in_ms":', '"x-routed-by":', '"x-received-by":', '"x-client-id":')
"""Headers that the broker's own message interceptors set, as they stand in JSON."""


@dataclass(slots=True, kw_only=True)
class Difference:
    """Messages that differ for one reason, and hang on one binding or queue."""

    cause: str
    """A key of :data:`CAUSES`."""
    vhost: str
    exchange: str
    queue: str | None
    binding: str | None
    """The binding of the definitions that decided about the example, or the nearest one."""
    messages: int
    example: dict[str, Any]
    """One of them: timestamp, routing_keys, recorded (queues) and ours."""


@dataclass(slots=True, kw_only=True)
class Replay:
    """What came of a trace."""

    messages: int = 0
    agreeing: int = 0
    """Messages that go to the same queues."""
    expected: int = 0
    """Messages that differ only by what a record cannot know: ``absent-queue``."""
    undecided: int = 0
    """Messages that reach exchanges that are not simulated, and do not contradict the record."""
    differing: int = 0
    unreadable: int = 0
    """Records that could not be read."""
    without_queues: int = 0
    """Records that do not say where the broker routed, as brokers before 3.6 write them."""
    problems: dict[str, int] = field(default_factory=dict)
    """What was wrong with records, with their numbers; at most a hundred texts."""
    not_simulated: dict[str, int] = field(default_factory=dict)
    """Exchanges that are not simulated, with the messages that reach them."""
    differences: list[Difference] = field(default_factory=list)
    """The most frequent first; those that are expected last."""


class _Message(NamedTuple):
    vhost: str
    exchange: str
    keys: tuple[str, ...]
    recorded: tuple[str, ...]
    headers: str
    timestamp: str


class _Part(NamedTuple):
    """What was found in a part: counts, and the messages whose queues are not those recorded, with their numbers.

    Of messages that have all in common but their headers, and that go the same way here, one stands for all.
    """

    counts: Counter[str]
    problems: Counter[str]
    suspects: dict[tuple[Hashable, ...], tuple[_Message, int]]


def replay(topology: Topology, plan: Plan, *, report: Report | None = None) -> Replay:
    """Route what a trace's clients published, and compare; ``plan`` is that of a log of the format ``trace``.

    Raises :class:`MessagesError` for a file that cannot be read.
    """
    router = topology.compile()

    def work(tables: Iterator[pa.Table]) -> _Part:
        part = _Part(Counter(), Counter(), {})
        for table in tables:
            _compare(router, table, part)
        return part

    found = Replay()
    explaining = _Explaining(topology, router, found)
    for part in scanned(plan, work, report=report):
        found.messages += part.counts["messages"]
        found.agreeing += part.counts["agreeing"]
        found.unreadable += part.counts["unreadable"]
        found.without_queues += part.counts["without queues"]
        for problem, count in part.problems.items():
            if problem in found.problems or len(found.problems) < 100:
                found.problems[problem] = found.problems.get(problem, 0) + count
        for message, count in part.suspects.values():
            explaining.add(message, count)
    expected = {"absent-queue": 1}
    found.differences = sorted(explaining.groups.values(), key=lambda one: (expected.get(one.cause, 0), -one.messages))
    return found


def _compare(router: TopologyRouter, table: pa.Table, part: _Part) -> None:
    """Count the messages of a table that go where the broker routed them, and keep the others."""
    read = {name: table[name] for name in ("cc", "headers")}
    batch = router.route_batch(table["exchange"], table["routing_key"], table["vhost"], **read)
    ends = [_ends(batch, route) for route in range(len(batch.routes.offsets) - 1)]
    sent = [_queues_alone(router, outputs) for outputs in ends]
    troubled = batch.problem.is_valid().to_pylist()  # such as an exchange that is not there
    said = table[READ_PROBLEM].to_pylist() if READ_PROBLEM in table.schema.names else [None] * len(table)
    names = ("exchange", "vhost", "routing_keys", "routed_queues")
    rows = zip(batch.route_ids.tolist(), said, *(table[name].to_pylist() for name in names), strict=True)
    for number, (route, problem, exchange, vhost, keys, recorded) in enumerate(rows):
        part.counts["messages"] += 1
        if problem is not None:
            part.problems[problem.partition(":")[0]] += 1
        if keys is None:
            part.counts["unreadable"] += 1
            continue
        if recorded is None:
            part.counts["without queues"] += 1
            continue
        got = tuple(sorted(set(recorded)))
        if sent[route] == got and not troubled[number]:
            part.counts["agreeing"] += 1
            continue
        marked = any(name in (table["headers"][number].as_py() or "") for name in INTERCEPTED)
        # Headers may be different in each message; where it goes by them is all that matters of them.
        place = (vhost, exchange, tuple(keys), got, marked, ends[route])
        known = part.suspects.get(place)
        if known is None:
            headers, timestamp = (table[name][number].as_py() or "" for name in ("headers", "timestamp"))
            part.suspects[place] = (_Message(vhost, exchange, tuple(keys), got, headers, timestamp), 1)
        else:
            part.suspects[place] = (known[0], known[1] + 1)


def _ends(batch: RoutedBatch, route: int) -> tuple[int, ...]:
    """Return the numbers of the queues of a route, and of its remarks on exchanges."""
    return tuple(batch.routes.positions[slice(*batch.routes.offsets[route : route + 2])].tolist())


def _queues_alone(router: TopologyRouter, outputs: Sequence[int]) -> tuple[str, ...] | None:
    """Return the queues of a route, or None for one of which not all is known."""
    known = all(one < len(router.queues) for one in outputs)
    return tuple(sorted(router.queue_names[one] for one in outputs)) if known else None


class _Explaining:
    """Finds why messages differ, and groups them."""

    def __init__(self, topology: Topology, router: TopologyRouter, found: Replay) -> None:
        self.groups: dict[tuple[str | None, ...], Difference] = {}
        self._topology, self._router, self._found = topology, router, found
        self._nearest = Nearest(topology)
        self._queues = {(queue.vhost, queue.name) for queue in topology.queues} | {
            (one.vhost, one.destination) for one in topology.bindings if one.destination_type == "queue"
        }
        self._explained = 0

    def add(self, message: _Message, count: int) -> None:
        """Explain so many equal messages."""
        key, *cc = message.keys
        try:
            route = self._router.route(
                message.exchange, key, message.vhost, cc=cc, headers=json.loads(message.headers or "{}")
            )
        except UnknownNameError:
            self._differs([("unknown-exchange", None, None)], message, (), count)
            return
        except PublishRefusedError:
            self._differs([("internal-exchange", None, None)], message, (), count)
            return
        unknown = {*route.not_simulated, *(choice.exchange for choice in route.one_of)}
        for name in unknown:
            self._found.not_simulated[name] = self._found.not_simulated.get(name, 0) + count
        ours = set(route.queues)
        extra, lost = ours - set(message.recorded), set(message.recorded) - ours
        if unknown and not extra:
            self._found.undecided += count
        elif not extra and not lost:
            self._found.agreeing += count
        elif not message.exchange and not extra and not any((message.vhost, name) in self._queues for name in lost):
            self._found.expected += count
            self._group([("absent-queue", name, None) for name in sorted(lost)], message, tuple(sorted(ours)), count)
        elif self._explained >= EXPLAINED:
            self._differs([("not-explained", None, None)], message, tuple(sorted(ours)), count)
        else:
            self._explained += 1
            self._differs(self._reasons(message, route, extra, lost), message, tuple(sorted(ours)), count)

    def _reasons(
        self, message: _Message, route: Route, extra: set[str], lost: set[str]
    ) -> list[tuple[str, str | None, str | None]]:
        """Return (cause, queue, binding) for each queue that differs."""
        if any(name in message.headers for name in INTERCEPTED):
            return [("interceptor", queue, None) for queue in sorted(extra | lost)]
        reasons: list[tuple[str, str | None, str | None]] = []
        for queue in sorted(extra):
            by = [one for one in route.bindings if self._topology.bindings[one].destination == queue]
            if by:
                reasons.append(("binding-not-on-broker", queue, described(self._topology, by[0])))
            else:
                reasons.append(("queue-not-on-broker", queue, None))
        for queue in sorted(lost):
            if (message.vhost, queue) not in self._queues:
                reasons.append(("unknown-queue", queue, None))
            elif not route.not_simulated and not route.one_of:
                reasons.append(("missing-binding", queue, self._near(message, route, queue)))
        return reasons or [("missing-binding", None, None)]

    def _near(self, message: _Message, route: Route, queue: str) -> str | None:
        """Return the binding of a queue that is nearest to a message, of those at exchanges that it visits."""
        found: list[tuple[float, int]] = []
        for exchange in route.exchanges:
            for key in message.keys:
                near = self._nearest.bindings(message.vhost, exchange, key, destination=queue, most=1)
                found += [(far, one) for one, far in near]
        return f"nearest: {described(self._topology, min(found)[1])}" if found else None

    def _differs(
        self,
        reasons: Sequence[tuple[str, str | None, str | None]],
        message: _Message,
        ours: tuple[str, ...],
        count: int,
    ) -> None:
        self._found.differing += count
        self._group(reasons, message, ours, count)

    def _group(
        self,
        reasons: Sequence[tuple[str, str | None, str | None]],
        message: _Message,
        ours: tuple[str, ...],
        count: int,
    ) -> None:
        for cause, queue, binding in reasons:
            # A nearest binding is one of an example, and tells no groups apart.
            place = (cause, message.vhost, message.exchange, queue, None if cause == "missing-binding" else binding)
            known = self.groups.get(place)
            if known is not None:
                known.messages += count
            else:
                example = {
                    "timestamp": message.timestamp,
                    "routing_keys": list(message.keys),
                    "recorded": list(message.recorded),
                    "ours": list(ours),
                }
                self.groups[place] = Difference(
                    cause=cause,
                    vhost=message.vhost,
                    exchange=message.exchange,
                    queue=queue,
                    binding=binding,
                    messages=count,
                    example=example,
                )
