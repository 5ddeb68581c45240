"""Patterns of exchanges behind an exchange, narrowed to the keys that get there: see :mod:`dfa_router.rabbitmq.stations`.

An exchange is reached under *ways*: patterns of which a message's key matches one. What is bound there is narrowed to each way, by
:func:`compiler.automata.pattern.intersection`. That can take many patterns and much time, whatever the definitions, so both are
limited; an exchange beyond the limits is *left out*, and its messages are read in another round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

from compiler.automata.pattern import Pattern, Token, Wildcard, covers, intersection
from compiler.values import Int32s
from dfa_router.rabbitmq.nodes import Node

__all__ = ["Layout", "Narrowed", "narrowed"]

MOST_WAYS = 8
"""A pattern is narrowed to at most so many patterns, and an exchange is reached under at most so many ways."""
MOST_CONDITIONS = 4096
"""The most narrowed patterns of the exchanges behind one."""
MOST_NARROWED = 1 << 16
"""The most narrowed patterns in all; of few bindings, at most two for each and MOST_CONDITIONS."""
MOST_STEPS = 1 << 21
"""The most steps of all intersections, of a microsecond or two: one for each pair of tokens of two patterns."""

Tokens = tuple[Token, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The exchanges and their patterns."""

    nodes: Sequence[Node]
    outputs: int
    """Targets below this are no exchanges; exchange n is ``outputs + n``."""
    conditions: Int32s
    """The conditions of exchange n are ``range(conditions[n], conditions[n + 1])`` of all exchanges."""
    tokens: Sequence[Sequence[Pattern] | None]
    """What each exchange's conditions ask of the routing key; None if its type reads more than that."""
    constant: Sequence[bool]
    """Whether every message meets the same conditions of an exchange, so that it is not asked."""
    by_headers: Sequence[bool]
    """Whether an exchange goes by headers: messages whose headers are not known meet the same conditions, and it is not asked then."""


class Narrowed(NamedTuple):
    """What one exchange's word is followed by beside its own patterns."""

    group: list[int]
    """The other exchanges that are answered for, ascending."""
    patterns: list[tuple[int, Tokens]]
    """Conditions and patterns of these."""


class _Room:
    """What the limits leave."""

    def __init__(self, bindings: int) -> None:
        self.patterns = min(MOST_NARROWED, MOST_CONDITIONS + 2 * bindings)
        self.steps = MOST_STEPS


def narrowed(layout: Layout) -> list[Narrowed]:
    """Narrow behind each exchange that clients publish to the patterns of those that it leads to."""
    onward = [node.onward(layout.outputs) for node in layout.nodes]
    order = _topological(onward)
    room = _Room(int(layout.conditions[-1]))
    found = []
    for number, node in enumerate(layout.nodes):
        leads = onward[number] and number in order and not layout.constant[number] and not node.internal
        found.append(_behind(number, layout, onward, order, room) if leads else Narrowed([], []))
    return found


def _behind(
    start: int, layout: Layout, onward: Sequence[Sequence[int]], order: dict[int, int], room: _Room
) -> Narrowed:
    """Narrow the patterns of all exchanges behind one.

    Left out are those on or behind a cycle, those whose type reads more than the key, and those beyond the limits. An exchange
    that is not asked, or not always, lets messages pass even if it is left out, so whatever it leads to is left out with it.
    """
    ways: dict[int, list[Tokens]] = {start: [(Wildcard.MANY,)]}
    left_out: set[int] = set()
    found = Narrowed([], [])
    agenda = [(order[start], start)]
    while agenda:
        _, number = heappop(agenda)
        node, constant = layout.nodes[number], layout.constant[number]
        own = None
        if number not in left_out:
            most = min(room.patterns, MOST_CONDITIONS - len(found.patterns))
            own = _own(number, start, layout, ways[number], most, room)
        reached: list[tuple[int, Tokens]] = []
        if own is not None:
            if number != start and not constant:
                found.group.append(number)
                found.patterns.extend((int(layout.conditions[number]) + one, pattern) for one, pattern in own)
                room.patterns -= len(own)
            reached = [(target, pattern) for one, pattern in own for target in _leads_on(node, one, layout.outputs)]
            reached += [(node.alternate, way) for way in ways[number] if node.alternate >= 0]
        elif constant or layout.by_headers[number]:
            left_out.update(onward[number])
            reached = [(target, (Wildcard.MANY,)) for target in onward[number]]
        for target, pattern in reached:
            if target not in ways and target in order:
                heappush(agenda, (order[target], target))
            if not _add_way(ways.setdefault(target, []), pattern):
                left_out.add(target)
    found.group.sort()
    return found


def _own(
    number: int, start: int, layout: Layout, ways: Sequence[Tokens], most: int, room: _Room
) -> list[tuple[int, Tokens]] | None:
    """Return an exchange's conditions with their patterns, narrowed to the ways; None if it is left out.

    Of the exchange where messages begin, only those that lead on: the others are there in any case.
    """
    node, tokens = layout.nodes[number], layout.tokens[number]
    if node.type is None:
        return []
    if tokens is None:
        return None
    found: list[tuple[int, Tokens]] = []
    for condition, pattern in enumerate(tokens):
        if number == start and next(_leads_on(node, condition, layout.outputs), None) is None:
            continue
        for way in ways:
            room.steps -= (1 + len(way)) * (1 + len(pattern))
            if room.steps < 0:
                return None
            narrow = intersection(way, pattern, MOST_WAYS)
            if narrow is None:
                return None
            found.extend((condition, one) for one in narrow)
        if len(found) > most and number != start and not layout.constant[number]:
            return None
    return found


def _add_way(ways: list[Tokens], way: Tokens) -> bool:
    """Add one more pattern under which an exchange is reached; tell whether they are not too many."""
    if not any(covers(known, way) for known in ways):
        ways[:] = [known for known in ways if not covers(way, known)] + [way]
    return len(ways) <= MOST_WAYS


def _leads_on(node: Node, condition: int, outputs: int) -> Iterator[int]:
    """Yield the exchanges that a condition of an exchange leads to."""
    for target in node.targets[node.offsets[condition] : node.offsets[condition + 1]].tolist():
        if target >= outputs:
            yield target - outputs


def _topological(onward: Sequence[Sequence[int]]) -> dict[int, int]:
    """Return the place of each exchange in an order in which messages only go forwards; without those on or behind a cycle."""
    arriving = [0] * len(onward)
    for targets in onward:
        for target in targets:
            arriving[target] += 1
    ready = [number for number, count in enumerate(arriving) if not count]
    for number in ready:  # it grows
        for target in onward[number]:
            arriving[target] -= 1
            if not arriving[target]:
                ready.append(target)
    return {number: place for place, number in enumerate(ready)}
