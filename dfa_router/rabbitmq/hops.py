"""Routing exchange by exchange, with each one's own matcher: the way of engines that are no automata.

It shares nothing with the relay (:mod:`dfa_router.rabbitmq.stations`) but the exchanges, so one is held to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from compiler.values import Int32s, SetBatch
from dfa_router.arrow import Rows
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.matching import ROUTING_KEY, MatchedColumns, Matcher
from dfa_router.rabbitmq.nodes import Node, Numbering
from dfa_router.rabbitmq.traversal import Ranks, Sets, Stop, expand, walk

__all__ = ["route_by_hops"]


def route_by_hops(
    nodes: Sequence[Node],
    numbering: Numbering,
    ranks: Ranks,
    matcher: Callable[[int], Matcher | None],
    starts: Int32s,
    columns: Mapping[str, Any],
) -> SetBatch:
    """Send row i from exchange ``starts[i]``, or nowhere if that is below 0.

    Returns sets of queues and of remarks on the exchanges on the way, as ``numbering`` counts them.
    """
    rows = len(starts)

    def visit(number: int, at: npt.NDArray[np.int64]) -> Stop:
        node, own = nodes[number], matcher(number)
        if own is None or node.type is None:
            alone = Sets(np.array([0, 1]), np.array([numbering.unsimulated(number)]))
            return Stop(np.zeros(len(at), np.int64), alone, Sets(np.zeros(2, np.int64), np.empty(0, np.int64)))
        read: Mapping[str, Any] = {
            name: columns[name] for name in (ROUTING_KEY, *SIMULATED[node.type].reads) if name in columns
        }
        if len(at) != rows:
            read = Rows(read, at)
        return _stop(node, own.match_columns(read), numbering.outputs)

    walked = walk(starts.astype(np.int64), ranks, visit, numbering.outputs)
    return SetBatch(*(array.astype(np.int32) for array in (walked.set_ids, *walked.sets)))


def _stop(node: Node, matched: MatchedColumns, outputs: int) -> Stop:
    """Turn sets of conditions that are met into what they lead to."""
    sets = len(matched.sets.offsets) - 1
    owners, matching = expand(np.arange(sets), matched.sets)
    which, targets = expand(matching, Sets(node.offsets, node.targets))
    owners = owners[which]
    is_output = targets < outputs
    onward_owners, onward = owners[~is_output], targets[~is_output] - outputs
    if node.alternate >= 0:
        empty = np.setdiff1d(np.arange(sets), owners)
        onward_owners = np.concatenate([onward_owners, empty])
        onward = np.concatenate([onward, np.full(len(empty), node.alternate)])
    return Stop(
        matched.set_ids, _grouped(owners[is_output], targets[is_output], sets), _grouped(onward_owners, onward, sets)
    )


def _grouped(owners: npt.NDArray[np.int64], values: npt.NDArray[np.int64], sets: int) -> Sets:
    """Return the distinct values of each owner."""
    width = int(values.max(initial=0)) + 1
    pairs = np.unique(owners * width + values)
    offsets = np.searchsorted(pairs, np.arange(sets + 1) * width).astype(np.int64)
    return Sets(offsets, pairs % width)
