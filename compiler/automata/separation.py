"""What one set of patterns matches and another does not: the shortest keys of it, as many as are asked for.

Both sides are determinised together, lazily and within a budget, as :mod:`compiler.automata.powerset` does one; then the
distance of every pair of states to the nearest key of the difference is known, and keys are read off in the order of their
lengths (A* with exact distances), without ever leaving the ways that lead to one.

Keys that differ only in words that no pattern of the left has as a literal there count as one key: the others would say the
same again. For a single witness :func:`compiler.automata.proofs.escape` is the cheaper question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

from compiler.automata.keyspace import Word
from compiler.automata.nfa import OTHER
from compiler.automata.positions import Budget, Positions, Side, States
from compiler.automata.proofs import Witness

__all__ = ["separations"]

_Pair = tuple[States, States, int]


def separations(machine: Positions, one: Side, other: Side, most: int, budget: Budget) -> tuple[Witness, ...]:
    """Return up to ``most`` of the shortest keys that one side matches and the other does not.

    Raises :class:`CapacityError` when the budget is spent.
    """
    starts = [
        (machine.begin(root, one), machine.begin(root, other), phase)
        for root, phase in enumerate(machine.space.starts())
    ]
    edges = _graph(machine, one, other, starts, budget)
    distance = _distances(machine, one, other, edges)
    heap: list[tuple[int, int, tuple[Word, ...], int, _Pair, bool]] = []
    made = 0
    for pair in starts:
        if pair in distance:
            heappush(heap, (distance[pair], made, (), pair[2], pair, False))
            made += 1
    found: list[Witness] = []
    while heap and len(found) < most:
        _, _, words, start, pair, whole = heappop(heap)
        budget.spend()
        if whole:
            found.append(Witness(words, start))
            continue
        if _separated(machine, one, other, pair):
            heappush(heap, (len(words), made, words, start, pair, True))
            made += 1
        for symbol, target in edges[pair]:
            if target in distance:
                estimate = len(words) + 1 + distance[target]
                heappush(heap, (estimate, made, (*words, machine.word(symbol)), start, target, False))
                made += 1
    return tuple(found)


def _graph(
    machine: Positions, one: Side, other: Side, starts: list[_Pair], budget: Budget
) -> dict[_Pair, list[tuple[int, _Pair]]]:
    """Determinise both sides together, as far as the left can still accept."""
    edges: dict[_Pair, list[tuple[int, _Pair]]] = {}
    agenda = deque(pair for pair in starts if pair[0])
    while agenda:
        pair = agenda.popleft()
        if pair in edges:
            continue
        edges[pair] = []
        for symbol in _symbols(machine, pair[0], one):
            budget.spend()
            phase = machine.space.step(pair[2], machine.word(symbol))
            if phase is None:
                continue
            ours = machine.step_all(pair[0], symbol, one)
            if ours:
                target = (ours, machine.step_all(pair[1], symbol, other), phase)
                edges[pair].append((symbol, target))
                agenda.append(target)
    return edges


def _distances(
    machine: Positions, one: Side, other: Side, edges: dict[_Pair, list[tuple[int, _Pair]]]
) -> dict[_Pair, int]:
    """Return how many words it takes from each pair of states to a key of the difference, where there is one."""
    before: dict[_Pair, list[_Pair]] = {}
    for pair, targets in edges.items():
        for _, target in targets:
            before.setdefault(target, []).append(pair)
    agenda = deque(pair for pair in edges if _separated(machine, one, other, pair))
    distance = dict.fromkeys(agenda, 0)
    while agenda:
        pair = agenda.popleft()
        for source in before.get(pair, ()):
            if source not in distance:
                distance[source] = distance[pair] + 1
                agenda.append(source)
    return distance


def _separated(machine: Positions, one: Side, other: Side, pair: _Pair) -> bool:
    ours, theirs, phase = pair
    return machine.space.ends(phase) and not one.accepting.isdisjoint(ours) and other.accepting.isdisjoint(theirs)


def _symbols(machine: Positions, states: States, side: Side) -> Iterator[int]:
    yield from machine.symbols(states, side)
    if any(machine.wild(position) for position in states):
        yield OTHER
