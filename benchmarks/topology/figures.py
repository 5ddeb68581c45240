"""The measurement: processor time of one thread, by medians of rounds in which all take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import dfa_router as dr
from benchmarks.topology.families import FAMILIES, Messages
from dfa_router.rabbitmq import RoutedColumns, TopologyRouter

__all__ = ["BATCHES", "TARGETS", "Figure", "run"]

BATCHES = (100_000, 4_096, 256)
"""Messages of a batch."""
TARGETS = {100_000: 0.25, 4_096: 0.4, 256: 1.5}
"""The most microseconds of a message, by the size of batches, on the demo's topology."""
CHECKED = 2_000
"""Messages whose routes are compared with those of the reference trie, exchange by exchange."""
WARMING = 2


@dataclass(frozen=True, slots=True)
class Figure:
    """What messages of a family cost in batches of a size, in nanoseconds of processor time each."""

    family: str
    batch: int
    columns: float
    """``route_columns``: all four columns."""
    routes: float
    """``route_batch``: route numbers and a table of routes."""
    matching: float
    """``match_batch`` of the same keys against one router with all patterns of all exchanges."""
    queues: float
    """Mean copies of a message."""


def run(*, messages: int, rounds: int, seed: int, progress: Callable[[str], object]) -> Iterator[Figure]:
    """Measure every family in batches of every size; raises ``AssertionError`` where routes are not the reference trie's."""
    for name, make in FAMILIES.items():
        made = make(messages, seed)
        router = made.topology.compile()
        one = dr.compile(
            [(binding.routing_key, binding.destination) for binding in made.topology.bindings if not binding.arguments]
        )
        _check(made, router, name)
        queues = len(_routed(router, *made[1:]).queues.values) / messages
        for size in BATCHES:
            columns, routes, matching = _times(made, router, one, size, rounds)
            figure = Figure(name, size, columns, routes, matching, queues)
            progress(
                f"{name}, batches of {size:,}: {figure.columns:,.0f} ns a message, {figure.routes:,.0f} without columns, "
                f"{figure.matching:,.0f} to match its key"
            )
            yield figure


def _times(made: Messages, router: TopologyRouter, one: dr.Router, size: int, rounds: int) -> list[float]:
    """Return the cost of a message in each of the three ways."""
    count = max(1, min(len(made.keys), 400 * size) // size)
    batches = [[None if one is None else one.slice(place * size, size) for one in made[1:]] for place in range(count)]
    ways: list[Callable[..., object]] = [
        lambda *batch: _routed(router, *batch),
        lambda vhosts, names, keys, headers: router.route_batch(names, keys, vhosts, **_known(headers)),
        lambda _vhosts, _names, keys, _headers: one.match_batch(keys),
    ]
    times: list[list[float]] = [[] for _ in ways]
    for turn in range(WARMING + rounds):
        for way, taken in zip(ways, times, strict=True):
            started = time.process_time_ns()
            for batch in batches:
                way(*batch)
            if turn >= WARMING:
                taken.append((time.process_time_ns() - started) / (count * len(made.keys[:size])))
    return [statistics.median(taken) for taken in times]


def _routed(router: TopologyRouter, vhosts: Any, exchanges: Any, keys: Any, headers: Any) -> RoutedColumns:
    return router.route_columns(exchanges, keys, vhosts, **_known(headers))


def _known(headers: Any) -> dict[str, Any]:
    return {} if headers is None else {"headers": headers}


def _check(made: Messages, router: TopologyRouter, name: str) -> None:
    part = [None if column is None else column[:CHECKED] for column in made[1:]]
    expected = _routed(made.topology.compile(engine="trie"), *part)
    assert _routed(router, *part) == expected, f"{name}: routes differ from the reference trie's, exchange by exchange"
