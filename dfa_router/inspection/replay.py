"""A trace replayed: each message that a broker has traced is routed by a topology, and the queues are compared.

The broker's record says where its routing led. Where ours leads elsewhere, the definitions are not those of the broker at that
time, or something on the broker is not in them. Differences are grouped by their :data:`CAUSES` and by the binding or queue that
they hang on, each with one message.

Every message is compared. Explaining takes a walk through the topology, so at most :data:`EXPLAINED` distinct messages that differ
are explained, and the rest is counted under one heading. What is held at once is a few blocks of the log, without payloads, and of the
messages that differ at most :data:`EXPLAINED` for each part that is gone through or waits to be taken, four parts with two threads, and
one of all others that have an exchange, recorded queues and a way in common.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dfa_router.errors import PublishRefusedError, UnknownNameError
from dfa_router.inspection.arrows import described
from dfa_router.inspection.nearest import Nearest
from dfa_router.inspection.recorded import INTERCEPTED, READ, Message, Part, Recorded, fate_of
from dfa_router.logs.planning import Plan
from dfa_router.logs.scanning import scanned
from dfa_router.rabbitmq import Route, Topology, TopologyRouter
from dfa_router.reports import Report

__all__ = ["CAUSES", "Difference", "Replay", "replay"]

EXPLAINED = 10_000
"""Distinct messages that are explained."""

BLOCK_ROWS = 16_384
"""Messages that are compared at once. Those that differ become Python's objects for as long: blocks of 122,880 took 126 MB more
where five of six differ, and about as long."""

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


def replay(topology: Topology, plan: Plan, *, report: Report | None = None) -> Replay:
    """Route what a trace's clients published, and compare; ``plan`` is that of a log of the format ``trace``.

    Raises :class:`MessagesError` for a file that cannot be read.
    """
    router = topology.compile()

    found = Replay()
    explaining = _Explaining(topology, router, found)
    recorded = Recorded(router, explaining.queues)

    def work(tables: Iterator[pa.Table]) -> Part:
        # Parts are taken in the log's order, so once enough was explained nothing of any part that begins now will be.
        part = Part(EXPLAINED if explaining.explained < EXPLAINED else 0)
        for table in tables:
            recorded.compare(table, part)
        return part

    for part in scanned(plan, work, READ, rows=BLOCK_ROWS, report=report):
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


class _Explaining:
    """Finds why messages differ, and groups them."""

    def __init__(self, topology: Topology, router: TopologyRouter, found: Replay) -> None:
        self.groups: dict[tuple[str | None, ...], Difference] = {}
        self._topology, self._router, self._found = topology, router, found
        self._nearest = Nearest(topology)
        self.queues = {(queue.vhost, queue.name) for queue in topology.queues} | {
            (one.vhost, one.destination) for one in topology.bindings if one.destination_type == "queue"
        }
        self.explained = 0

    def add(self, message: Message, count: int) -> None:
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
        ours, recorded = set(route.queues), set(message.recorded)
        extra, lost = ours - recorded, recorded - ours
        fate = fate_of(ours, recorded, message.vhost, message.exchange, undecided=bool(unknown), queues=self.queues)
        if fate == "undecided":
            self._found.undecided += count
        elif fate == "agreeing":
            self._found.agreeing += count
        elif fate == "expected":
            self._found.expected += count
            self._group([("absent-queue", name, None) for name in sorted(lost)], message, tuple(sorted(ours)), count)
        elif self.explained >= EXPLAINED:
            self._differs([("not-explained", None, None)], message, tuple(sorted(ours)), count)
        else:
            self.explained += 1
            self._differs(self._reasons(message, route, extra, lost), message, tuple(sorted(ours)), count)

    def _reasons(
        self, message: Message, route: Route, extra: set[str], lost: set[str]
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
            if (message.vhost, queue) not in self.queues:
                reasons.append(("unknown-queue", queue, None))
            elif not route.not_simulated and not route.one_of:
                reasons.append(("missing-binding", queue, self._near(message, route, queue)))
        return reasons or [("missing-binding", None, None)]

    def _near(self, message: Message, route: Route, queue: str) -> str | None:
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
        message: Message,
        ours: tuple[str, ...],
        count: int,
    ) -> None:
        self._found.differing += count
        self._group(reasons, message, ours, count)

    def _group(
        self,
        reasons: Sequence[tuple[str, str | None, str | None]],
        message: Message,
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
