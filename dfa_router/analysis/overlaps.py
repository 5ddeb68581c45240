"""Where bindings meet: pairs that share keys, and the key that the most destinations get.

Overlap is no defect in itself; fan-out is what topics are for. It is one where it was not meant, and then a key shows it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from compiler import CapacityError
from compiler.automata.covering import overlapping
from compiler.automata.keyspace import Word
from compiler.automata.nfa import OTHER
from compiler.automata.positions import States
from compiler.automata.proofs import Witness
from dfa_router.analysis.questions import BUDGET, Question
from dfa_router.language.bindings import binding_set
from dfa_router.language.dialects import Dialect
from dfa_router.whole_numbers import whole_number

__all__ = ["Crowd", "Overlap", "ambiguous", "crowd"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Two bindings that a key matches both of."""

    first: int
    second: int
    key: str
    """A shortest key that both match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """A key that many bindings match."""

    key: str | None
    """None if no key matches anything."""
    bindings: tuple[int, ...]
    """The positions of the bindings that match it."""
    most: bool
    """Whether it is proven that no key matches more; else the budget was spent before."""


def ambiguous(
    bindings: Iterable[tuple[str, str]], dialect: str | Dialect = "amqp", *, most: int = 1000, budget: int = BUDGET
) -> tuple[Overlap, ...]:
    """Return pairs of bindings of different destinations that share keys, up to ``most`` of them, in order.

    One walk of each pattern through the trie of those before it finds which share words with it; only with these a key is searched.

    Raises :class:`PatternError` and :class:`BindingError` for what cannot be compiled, and :class:`CapacityError` when the
    budget is spent.

    >>> ambiguous([("orders.*", "all"), ("orders.eu", "europe"), ("stock", "s")])
    (Overlap(first=0, second=1, key='orders.eu'),)
    """
    most = whole_number("most", most, 0, "a number of pairs from 0 up")
    given = binding_set(bindings)
    question = Question([one.pattern for one in given], dialect, budget)
    if most == 0 or len({one.destination for one in given}) < 2:
        return ()
    found: list[Overlap] = []
    ended: defaultdict[int, list[int]] = defaultdict(list)
    before, taken = question.side(()), 0
    for second, two in enumerate(given):
        # The patterns before it, and as many more: a side of these alone for each would be a square.
        if second >= taken:
            taken = min(2 * second + 1, len(given))
            before = question.side(range(taken))
        ends = overlapping(question.machine, question.tokens[second], before)
        side = question.side([second])
        for first in sorted(number for end in ends for number in ended[end]):
            if given[first].destination != two.destination:
                key = question.meeting([first], side)
                if key is not None:
                    found.append(Overlap(first=first, second=second, key=key))
                    if len(found) == most:
                        return tuple(found)
        ended[question.machine.end_of(second)].append(second)
    return tuple(found)


def crowd(bindings: Iterable[tuple[str, str]], dialect: str | Dialect = "amqp", *, budget: int = BUDGET) -> Crowd:
    """Return a key that the most bindings match: the largest fan-out.

    States of the deterministic automaton are tried, the most promising first: how many bindings can still match is a bound.
    When the budget is spent, the best key so far is returned, and ``most`` is False.

    >>> crowd([("a.*", "q"), ("*.b", "r"), ("#.b.#", "s"), ("c", "t")])
    Crowd(key='a.b', bindings=(0, 1, 2), most=True)
    """
    given = binding_set(bindings)
    question = Question([one.pattern for one in given], dialect, budget)
    machine, side = question.machine, question.side(range(len(given)))
    weight: dict[int, list[int]] = {}
    for number in range(len(given)):
        weight.setdefault(machine.end_of(number), []).append(number)
    reach: dict[int, frozenset[int]] = {}

    def bound(states: States) -> int:
        ends: set[int] = set()
        for position in states:
            if position not in reach:
                reach[position] = machine.ends_below(position, side)
            ends |= reach[position]
        return sum(len(weight[end]) for end in ends)

    def matching(states: States, phase: int) -> list[int]:
        ends = states & side.accepting if machine.space.ends(phase) else ()
        return sorted(number for end in ends for number in weight[end])

    best: tuple[int, ...] = ()
    witness: Witness | None = None
    heap: list[tuple[int, int, int, States, int, tuple[Word, ...], int]] = []
    met: set[tuple[States, int]] = set()

    def add(states: States, phase: int, words: tuple[Word, ...], start: int) -> None:
        if bound(states) > len(best) and (states, phase) not in met:
            met.add((states, phase))
            now = len(matching(states, phase))  # of equal bounds, that which has got the farthest
            heappush(heap, (-bound(states), -now, len(met), states, phase, words, start))

    for root, phase in enumerate(machine.space.starts()):
        add(machine.begin(root, side), phase, (), phase)
    proven = True
    try:
        while heap and -heap[0][0] > len(best):
            _, _, _, states, phase, words, start = heappop(heap)
            here = matching(states, phase)
            if len(here) > len(best):
                best, witness = tuple(here), Witness(words, start)
            for symbol in (*machine.symbols(states, side), OTHER):
                question.budget.spend()
                word = machine.word(symbol)
                after = machine.space.step(phase, word)
                if after is not None:
                    add(machine.step_all(states, symbol, side), after, (*words, word), start)
    except CapacityError:
        proven = False
    if witness is None:
        return Crowd(key=None, bindings=(), most=proven)
    ends = [question.side([number]) for number in best]
    return Crowd(key=question.text(witness, ends, ()), bindings=best, most=proven)
