"""The walk of a whole batch through a topology, exchange by exchange, in numpy.

All rows that wait at an exchange are matched at once. Exchanges are visited in topological order of the strongly
connected components, so that an exchange outside of cycles is matched once per batch. A row that comes back, on a cycle, to
an exchange where it was before is dropped there.

What a row has collected so far is a *signature*, a small number. When a row collects the targets of a set of patterns, the
pair of its signature and the set gets the next free number, which is the row's new signature. The rows of a log share few
signatures, so lists of queues are made once per signature, at the end, by following each one back through the steps that
made it. Nothing is kept between batches.

Rejected: collecting (row, queue) pairs. It is simpler, but sorts every pair of the batch where signatures sort one
number per row and exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Ranks", "Sets", "Stop", "Walked", "compact", "expand", "order", "walk"]

Ints = npt.NDArray[np.int64]


class Sets(NamedTuple):
    """Sets of numbers as a CSR table: set s is ``values[offsets[s]:offsets[s + 1]]``."""

    offsets: npt.NDArray[np.integer[Any]]
    values: npt.NDArray[np.integer[Any]]


class Stop(NamedTuple):
    """What an exchange does with the rows that wait at it."""

    set_ids: Ints
    """For each row the number of its set."""
    sets: Sets
    """What is collected there, per set."""
    onward: Sets
    """The exchanges that rows go on to, per set."""


class Ranks(NamedTuple):
    """The order in which exchanges are visited."""

    rank: Sequence[int]
    """An exchange's component, in topological order."""
    cyclic: Sequence[bool]
    """Whether a row may come back to this exchange."""


class Walked(NamedTuple):
    """What the rows of a batch have collected."""

    set_ids: Ints
    sets: Sets
    """Ascending, without repetition."""


class _Step(NamedTuple):
    """Signatures ``first``, ``first + 1``, ...: each is a parent signature plus what a set collects."""

    first: int
    parents: Ints
    set_ids: Ints
    sets: Sets


def walk(starts: Ints, ranks: Ranks, visit: Callable[[int, Ints], Stop], width: int) -> Walked:
    """Send row i from exchange ``starts[i]`` (-1: nowhere) and return what every row collects on its way.

    ``visit(exchange, rows)`` matches some rows at an exchange; collected values are below ``width``.
    """
    signatures = np.zeros(len(starts), np.int64)
    steps: list[_Step] = []
    waiting: dict[int, list[Ints]] = {}
    seen: dict[int, Ints] = {}
    agenda: list[tuple[int, int]] = []

    def send(exchanges: Ints, rows: Ints) -> None:
        """Queue each row at its exchange."""
        order = np.argsort(exchanges, kind="stable")
        names, firsts = np.unique(exchanges[order], return_index=True)
        for exchange, group in zip(names.tolist(), np.split(rows[order], firsts[1:]), strict=True):
            if exchange not in waiting:
                waiting[exchange] = []
                heappush(agenda, (ranks.rank[exchange], exchange))
            waiting[exchange].append(group)

    started = np.flatnonzero(starts >= 0)
    if len(started):
        send(starts[started], started)
    while agenda:
        _, exchange = heappop(agenda)
        groups = waiting.pop(exchange)
        rows = groups[0] if len(groups) == 1 else np.unique(np.concatenate(groups))
        if ranks.cyclic[exchange]:
            before = seen.get(exchange, np.empty(0, np.int64))
            rows = np.setdiff1d(rows, before)
            seen[exchange] = np.union1d(before, rows)
        if not len(rows):
            continue
        stop = visit(exchange, rows)
        collecting = np.diff(stop.sets.offsets)[stop.set_ids] > 0
        if collecting.any():
            first = 1 + (steps[-1].first + len(steps[-1].parents) - 1 if steps else 0)
            steps.append(_collect(signatures, rows[collecting], stop.set_ids[collecting], stop.sets, first))
        owners, exchanges = expand(stop.set_ids, stop.onward)
        if len(owners):
            send(exchanges, rows[owners])
    distinct, set_ids = compact(signatures)
    return Walked(set_ids, _resolve(distinct, steps, width))


def _collect(signatures: Ints, rows: Ints, set_ids: Ints, sets: Sets, first: int) -> _Step:
    """Give the rows new signatures, in place."""
    count = len(sets.offsets) - 1
    pairs, numbers = compact(signatures[rows] * count + set_ids)
    signatures[rows] = first + numbers
    return _Step(first, pairs // count, pairs % count, sets)


def _resolve(distinct: Ints, steps: list[_Step], width: int) -> Sets:
    """Return what each of these signatures has collected, following them back to signature 0."""
    current = distinct.copy()
    pairs = [np.empty(0, np.int64)]
    for step in reversed(steps):
        here = np.flatnonzero(current >= step.first)
        made = current[here] - step.first
        owners, values = expand(step.set_ids[made], step.sets)
        pairs.append(here[owners] * width + values)
        current[here] = step.parents[made]
    merged = np.unique(np.concatenate(pairs))
    offsets = np.searchsorted(merged, np.arange(len(distinct) + 1) * width)
    return Sets(offsets.astype(np.int64), merged % width if width else merged)


def order(onward: Sequence[Iterable[int]]) -> Ranks:
    """Rank exchanges by the topological order of the strongly connected components of "leads on to"."""
    import networkx as nx  # slow to import, and single messages are routed without it

    graph = nx.DiGraph((number, target) for number, targets in enumerate(onward) for target in targets)
    graph.add_nodes_from(range(len(onward)))
    components = nx.condensation(graph)
    rank = [0] * len(onward)
    cyclic = [False] * len(onward)
    for place, component in enumerate(nx.topological_sort(components)):
        members = components.nodes[component]["members"]
        for number in members:
            rank[number] = place
            cyclic[number] = len(members) > 1 or graph.has_edge(number, number)
    return Ranks(rank, cyclic)


def compact(codes: Ints) -> tuple[Ints, Ints]:
    """Return the distinct codes, ascending, and for each code its place among them.

    The same as ``np.unique(..., return_inverse=True)``, but without a sort where a table of all codes between the least and the
    largest is small, and without a table where each code is the one before plus 1, as where combinations of headers hardly recur.
    """
    least, most = (int(codes.min()), int(codes.max())) if len(codes) else (0, -1)
    if most - least == len(codes) - 1 and (codes[1:] > codes[:-1]).all():
        return codes, np.arange(len(codes))
    if most - least >= 4 * len(codes) + 1024:
        distinct, places = np.unique(codes, return_inverse=True)
        return distinct, places.astype(np.int64)
    used = np.zeros(most + 1 - least, np.bool_)
    codes = codes - least
    used[codes] = True
    return np.flatnonzero(used) + least, (np.cumsum(used) - 1)[codes]


def expand(set_ids: Ints, sets: Sets) -> tuple[Ints, Ints]:
    """Return all pairs (index into ``set_ids``, value of that set).

    >>> expand(np.array([1, 0, 1]), Sets(np.array([0, 1, 3]), np.array([7, 8, 9])))
    (array([0, 0, 1, 2, 2]), array([8, 9, 7, 8, 9]))
    """
    starts = sets.offsets[set_ids]
    lengths = sets.offsets[set_ids + 1] - starts
    owners = np.repeat(np.arange(len(set_ids)), lengths)
    before = np.cumsum(lengths) - lengths
    return owners, sets.values[np.arange(len(owners)) + np.repeat(starts - before, lengths)]
