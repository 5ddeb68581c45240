"""A topology as a relay: what kernels need to send whole columns of messages from exchange to exchange.

Every exchange is a station of :mod:`compiler.relay`, and one automaton has the patterns of all exchanges whose type reads the
routing key: each pattern behind its exchange's word. A message is read once for each exchange that it visits, unless what it
meets there is known already:

* an exchange that every message matches in the same way (fanout, or nothing bound) is not asked;
* where an exchange leads on to others, the patterns of these are entered behind its own word, too, each *narrowed* to the keys
  that get there: what is bound with ``stock.#`` to an exchange that has ``*.nyse`` is ``stock.nyse`` there. So one reading
  answers for all of them, and accept sets hold nothing of exchanges that the message does not reach. That takes room, so there
  is a limit; what is beyond it is read in another round, like exchanges on a cycle.

Rejected: all patterns behind one exchange's word without narrowing them. With ``tenant7.#`` leading to the exchange of a tenant,
each key would meet the patterns of a thousand tenants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from compiler.automata.pattern import Pattern, Token, Wildcard, covers, intersection
from compiler.kernels.relay_tables import ASKS, CONSTANT, Network
from compiler.kernels.tables import Bytes, frozen
from compiler.relay.words import words_of
from compiler.values import Int32s
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.nodes import Node

__all__ = ["Stations", "plan"]

MOST_WAYS = 8
"""A pattern is narrowed to at most so many patterns, and an exchange is reached under at most so many."""
MOST_CONDITIONS = 4096
"""The most narrowed patterns of one exchange behind another."""
MOST_NARROWED = 1 << 16
"""The most narrowed patterns in all; the fewer patterns there are, the fewer of these: see :func:`plan`."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stations:
    """A plan; immutable, and quickly pickled."""

    network: Network
    """Outputs below ``queues`` are queues; those from there on say that the exchange of that number is not simulated."""
    queues: int
    outputs: int
    tags: Int32s
    """The condition that each accept tag of the automaton stands for."""
    words: tuple[Int32s, Bytes]
    """The word of each exchange."""
    asked: Int32s
    """The exchanges whose matcher has to be asked, as their type reads more than the routing key."""

    def word(self, number: int) -> bytes:
        """Return the word of an exchange."""
        offsets, data = self.words
        return data[offsets[number] : offsets[number + 1]].tobytes()


class Plan(NamedTuple):
    """A plan and the patterns of its automaton, in the order of the accept tags."""

    stations: Stations
    patterns: Iterator[Pattern]


class _Narrowings(NamedTuple):
    """What one exchange's word is followed by beside its own patterns."""

    group: list[int]
    """The other exchanges that are answered for, ascending."""
    patterns: list[tuple[int, tuple[Token, ...]]]
    """Conditions and patterns of these."""


def plan(nodes: Sequence[Node], queues: int) -> Plan:
    """Lay exchanges out as stations; there are so many ``queues``."""
    conditions = np.zeros(len(nodes) + 1, np.int32)
    np.cumsum([1 if node.type is None else len(node.conditions) for node in nodes], out=conditions[1:])
    tokens = [_tokens(node) for node in nodes]
    constant = [_is_constant(node, own) for node, own in zip(nodes, tokens, strict=True)]
    narrowed = _narrow_all(nodes, queues, conditions, tokens, constant)
    outputs = queues + len(nodes)
    group_offsets = np.zeros(len(nodes) + 1, np.int32)
    np.cumsum([len(one.group) for one in narrowed], out=group_offsets[1:])
    targets = [
        np.array([queues + number]) if node.type is None else node.targets + (node.targets >= queues) * len(nodes)
        for number, node in enumerate(nodes)
    ]
    sizes = [np.ones(1, np.int32) if node.type is None else np.diff(node.offsets) for node in nodes]
    network = Network(
        kinds=frozen(np.where(constant, CONSTANT, ASKS).astype(np.uint8)),
        conditions=frozen(conditions),
        offsets=frozen(np.concatenate([[0], *sizes]).cumsum().astype(np.int32)),
        targets=frozen(np.concatenate([np.empty(0, np.int32), *targets]).astype(np.int32)),
        alternates=frozen(np.array([node.alternate for node in nodes], np.int32)),
        group_offsets=frozen(group_offsets),
        groups=frozen(np.array([one for each in narrowed for one in each.group], np.int32)),
    )
    tags: list[Int32s] = [np.empty(0, np.int32)]
    for number, own in enumerate(tokens):
        if own is not None and not constant[number]:
            tags.append(np.arange(conditions[number], conditions[number + 1], dtype=np.int32))
        tags.append(np.array([condition for condition, _ in narrowed[number].patterns], np.int32))
    asked = [number for number, own in enumerate(tokens) if own is None and not constant[number]]
    stations = Stations(
        network=network,
        queues=queues,
        outputs=outputs,
        tags=np.concatenate(tags),
        words=words_of(len(nodes)),
        asked=np.array(asked, np.int32),
    )
    return Plan(stations, _patterns(stations, tokens, constant, narrowed))


def _patterns(
    stations: Stations,
    tokens: Sequence[Sequence[Pattern] | None],
    constant: Sequence[bool],
    narrowed: Sequence[_Narrowings],
) -> Iterator[Pattern]:
    for number, own in enumerate(tokens):
        word = stations.word(number)
        if own is not None and not constant[number]:
            for pattern in own:
                yield [word, *pattern]
        for _, narrow in narrowed[number].patterns:
            yield [word, *narrow]


def _tokens(node: Node) -> list[Pattern] | None:
    """Return what each condition of an exchange asks of the routing key; None if its type reads more than that."""
    if node.type is None:
        return None
    tokens = SIMULATED[node.type].tokens
    return None if tokens is None else [tokens(condition, number) for number, condition in enumerate(node.conditions)]


def _is_constant(node: Node, tokens: Sequence[Pattern] | None) -> bool:
    """Tell whether all messages meet the same conditions."""
    if node.type is None or not node.conditions:
        return True
    return tokens is not None and all(tuple(pattern) == (Wildcard.MANY,) for pattern in tokens)


def _narrow_all(
    nodes: Sequence[Node],
    queues: int,
    conditions: Int32s,
    tokens: Sequence[Sequence[Pattern] | None],
    constant: Sequence[bool],
) -> list[_Narrowings]:
    """Narrow behind each exchange the patterns of those that it leads to, as far as the limits go."""
    onward = [_onward(node, queues) for node in nodes]
    order = _topological(onward)
    room = min(MOST_NARROWED, MOST_CONDITIONS + 2 * int(conditions[-1]))
    narrowed = []
    for number, node in enumerate(nodes):
        found = _Narrowings([], [])
        if room and onward[number] and not constant[number] and not node.internal and number in order:
            limit = min(room, MOST_CONDITIONS)
            found = _narrow(number, nodes, queues, conditions, tokens, constant, onward, order, limit)
            room -= len(found.patterns)
        narrowed.append(found)
    return narrowed


def _narrow(
    start: int,
    nodes: Sequence[Node],
    queues: int,
    conditions: Int32s,
    tokens: Sequence[Sequence[Pattern] | None],
    constant: Sequence[bool],
    onward: Sequence[Sequence[int]],
    order: dict[int, int],
    room: int,
) -> _Narrowings:
    """Narrow the patterns of all exchanges behind one, each by the patterns under which messages get there.

    An exchange is *left out* if it lies on a cycle, is asked in another way, or would take too many patterns. Whoever gets
    there waits for another round. Only an exchange that is not asked lets messages pass nevertheless, so whatever it leads to
    is left out with it.
    """
    ways: dict[int, list[tuple[Token, ...]]] = {start: [(Wildcard.MANY,)]}
    left_out: set[int] = set()
    found = _Narrowings([], [])
    agenda = [(order[start], start)]
    while agenda:
        _, number = heappop(agenda)
        node, reached = nodes[number], list[tuple[int, tuple[Token, ...]]]()
        narrow = None if number in left_out else _narrowed(ways[number], node, tokens[number], constant[number], room)
        if narrow is not None:
            if number != start and not constant[number]:
                found.group.append(number)
                found.patterns.extend((int(conditions[number]) + one, pattern) for one, pattern in narrow)
                room -= len(narrow)
            reached = [(target, pattern) for one, pattern in narrow for target in _leads_on(node, one, queues)]
            reached += [(node.alternate, way) for way in ways[number] if node.alternate >= 0]
        elif constant[number]:
            left_out.update(onward[number])
            reached = [(target, (Wildcard.MANY,)) for target in onward[number]]
        for target, pattern in reached:
            if target not in ways and target in order:
                heappush(agenda, (order[target], target))
            if not _add_way(ways.setdefault(target, []), pattern):
                left_out.add(target)
    found.group.sort()
    return found


def _narrowed(
    ways: Sequence[Pattern], node: Node, tokens: Sequence[Pattern] | None, constant: bool, room: int
) -> list[tuple[int, tuple[Token, ...]]] | None:
    """Return an exchange's conditions with their patterns, narrowed to those of ``ways``; None if these are over ``room``."""
    if node.type is None:
        return []
    if tokens is None:
        return None
    found: list[tuple[int, tuple[Token, ...]]] = []
    for condition, pattern in enumerate(tokens):
        for way in ways:
            narrow = intersection(way, pattern, MOST_WAYS)
            if narrow is None or (len(found) > room and not constant):
                return None
            found.extend((condition, one) for one in narrow)
    return found


def _add_way(ways: list[tuple[Token, ...]], way: tuple[Token, ...]) -> bool:
    """Add one more pattern under which an exchange is reached; tell whether they are not too many."""
    if not any(covers(known, way) for known in ways):
        ways[:] = [known for known in ways if not covers(way, known)] + [way]
    return len(ways) <= MOST_WAYS


def _leads_on(node: Node, condition: int, queues: int) -> Iterator[int]:
    """Yield the exchanges that a condition of an exchange leads to."""
    for target in node.targets[node.offsets[condition] : node.offsets[condition + 1]].tolist():
        if target >= queues:
            yield target - queues


def _onward(node: Node, queues: int) -> list[int]:
    """Return the exchanges that messages may go on to, ascending."""
    found = set((np.unique(node.targets[node.targets >= queues]) - queues).tolist())
    return sorted(found | ({node.alternate} if node.alternate >= 0 else set()))


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
