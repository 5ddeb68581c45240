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
        made = make(messages * (WARMING + rounds), seed)
        _check(made, name)
        queues = len(_routed(made.topology.compile(), *(_part(one, 0, messages) for one in made[1:])).queues.values)
        for size in BATCHES:
            columns, routes, matching = _times(made, messages, size, rounds)
            figure = Figure(name, size, columns, routes, matching, queues / messages)
            progress(
                f"{name}, batches of {size:,}: {figure.columns:,.0f} ns a message, {figure.routes:,.0f} without columns, "
                f"{figure.matching:,.0f} to match its key"
            )
            yield figure


def _times(made: Messages, messages: int, size: int, rounds: int) -> list[float]:
    """Return the cost of a message in each of the three ways.

    Each way has a router of its own, and each round has messages of its own: so nothing is known of a message but what messages like it
    have told.
    """
    whole, compact = made.topology.compile(), made.topology.compile()
    one = dr.compile(
        [(binding.routing_key, binding.destination) for binding in made.topology.bindings if not binding.arguments]
    )
    ways: list[Callable[..., object]] = [
        lambda *batch: _routed(whole, *batch),
        lambda vhosts, names, keys, headers: compact.route_batch(names, keys, vhosts, **_known(headers)),
        lambda _vhosts, _names, keys, _headers: one.match_batch(keys),
    ]
    times: list[list[float]] = [[] for _ in ways]
    count = max(1, messages // size)
    for turn in range(WARMING + rounds):
        first = turn * messages
        batches = [[_part(one, first + place * size, size) for one in made[1:]] for place in range(count)]
        for way, taken in zip(ways, times, strict=True):
            started = time.process_time_ns()
            for batch in batches:
                way(*batch)
            if turn >= WARMING:
                taken.append((time.process_time_ns() - started) / (count * len(batches[0][1])))
    return [statistics.median(taken) for taken in times]


def _part(column: Any, first: int, size: int) -> Any:
    return None if column is None else column.slice(first, size)


def _routed(router: TopologyRouter, vhosts: Any, exchanges: Any, keys: Any, headers: Any) -> RoutedColumns:
    return router.route_columns(exchanges, keys, vhosts, **_known(headers))


def _known(headers: Any) -> dict[str, Any]:
    return {} if headers is None else {"headers": headers}


def _check(made: Messages, name: str) -> None:
    part = [_part(column, 0, CHECKED) for column in made[1:]]
    expected = _routed(made.topology.compile(engine="trie"), *part)
    assert _routed(made.topology.compile(), *part) == expected, (
        f"{name}: routes differ from the reference trie's, exchange by exchange"
    )
