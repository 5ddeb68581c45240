"""What one set of patterns matches and another does not: the shortest keys of it, as many as are asked for.

Both sides are determinised together, a word further at a time and within a budget, as :mod:`compiler.automata.powerset` does
one. Then the distance of every pair of states to the nearest key of the difference is known as far as that goes, and keys are
read off in the order of their lengths (A* with exact distances), without ever leaving the ways that lead to one. So sets
whose automata are exponential cost no more than their shortest keys ask for.

Keys that differ only in words that no pattern of the left has as a literal there count as one key: the others would say the
same again. For a single witness :func:`compiler.automata.proofs.escape` is the cheaper question.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
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
    starts = tuple(
        (machine.begin(root, one), machine.begin(root, other), phase)
        for root, phase in enumerate(machine.space.starts())
    )
    graph = _Graph(machine, one, other, starts, budget)
    agenda: list[_Pair] = [pair for pair in starts if pair[0]]
    found: tuple[Witness, ...] = ()
    words = known = 0
    while agenda and len(found) < most:
        agenda = graph.grow(agenda)
        if len(graph.edges) >= 2 * known or not agenda:  # reading again at each doubling costs about as much as once
            known = len(graph.edges)
            found = graph.shortest(most, words if agenda else None)
        words += 1
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Graph:
    """Pairs of states of both sides, and the words that lead from one to the next, as far as they have been asked for."""

    machine: Positions
    one: Side
    other: Side
    starts: tuple[_Pair, ...]
    budget: Budget
    edges: dict[_Pair, list[tuple[int, _Pair]]] = field(default_factory=dict)

    def grow(self, pairs: list[_Pair]) -> list[_Pair]:
        """Determinise at these pairs, as far as the left can still accept; return the pairs that are a word further."""
        machine, further = self.machine, []
        for pair in pairs:
            if pair in self.edges:
                continue
            self.edges[pair] = []
            for symbol in _symbols(machine, pair[0], self.one):
                self.budget.spend()
                phase = machine.space.step(pair[2], machine.word(symbol))
                if phase is None:
                    continue
                ours = machine.step_all(pair[0], symbol, self.one)
                if ours:
                    target = (ours, machine.step_all(pair[1], symbol, self.other), phase)
                    self.edges[pair].append((symbol, target))
                    further.append(target)
        return further

    def shortest(self, most: int, words: int | None) -> tuple[Witness, ...]:
        """Return the shortest keys of up to so many words; all pairs that these lead to have to be known."""
        distance = self._distances()
        heap: list[tuple[int, int, tuple[Word, ...], int, _Pair, bool]] = []
        made = 0
        for pair in self.starts:
            if pair in distance:
                heappush(heap, (distance[pair], made, (), pair[2], pair, False))
                made += 1
        found: list[Witness] = []
        while heap and len(found) < most and (words is None or heap[0][0] <= words):
            _, _, read, start, pair, whole = heappop(heap)
            self.budget.spend()
            if whole:
                found.append(Witness(read, start))
                continue
            if self._separated(pair):
                heappush(heap, (len(read), made, read, start, pair, True))
                made += 1
            for symbol, target in self.edges[pair]:
                if target in distance:
                    estimate = len(read) + 1 + distance[target]
                    heappush(heap, (estimate, made, (*read, self.machine.word(symbol)), start, target, False))
                    made += 1
        return tuple(found)

    def _distances(self) -> dict[_Pair, int]:
        """Return how many words it takes from each pair of states to a key of the difference, where there is one."""
        before: dict[_Pair, list[_Pair]] = {}
        for pair, targets in self.edges.items():
            for _, target in targets:
                before.setdefault(target, []).append(pair)
        agenda = deque(pair for pair in self.edges if self._separated(pair))
        distance = dict.fromkeys(agenda, 0)
        while agenda:
            pair = agenda.popleft()
            for source in before.get(pair, ()):
                if source not in distance:
                    distance[source] = distance[pair] + 1
                    agenda.append(source)
        return distance

    def _separated(self, pair: _Pair) -> bool:
        ours, theirs, phase = pair
        ends = self.machine.space.ends(phase)
        return ends and not self.one.accepting.isdisjoint(ours) and self.other.accepting.isdisjoint(theirs)


def _symbols(machine: Positions, states: States, side: Side) -> Iterator[int]:
    yield from machine.symbols(states, side)
    if any(machine.wild(position) for position in states):
        yield OTHER
