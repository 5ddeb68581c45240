"""Where bindings meet: pairs that share keys, and the key that the most destinations get.

Overlap is no defect in itself; fan-out is what topics are for. It is one where it was not meant, and then a key shows it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from compiler import CapacityError, Wildcard
from compiler.automata.covering import overlapping
from compiler.automata.keyspace import Word
from compiler.automata.nfa import OTHER
from compiler.automata.positions import States
from compiler.automata.proofs import Witness
from dfa_router.analysis.alike import Alike, common_key
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

    Which share words is looked up for those without ``#``, and found by one walk of each of the others through the trie of those
    before it; only with these a key is searched.

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
    for first, second in _sharing(question):
        if given[first].destination != given[second].destination:
            key = _common_key(question, first, second)
            if key is not None:
                found.append(Overlap(first=first, second=second, key=key))
                if len(found) == most:
                    break
    return tuple(found)


def _sharing(question: Question) -> Iterator[tuple[int, int]]:
    """Yield the pairs of patterns that share words, and so perhaps keys, ascending by the second and then the first."""
    alike = Alike(question.machine.space)
    ended: defaultdict[int, list[int]] = defaultdict(list)
    # Patterns without # are looked up among each other, so their walk is through those that have one.
    walked: tuple[list[int], list[int]] = ([*range(len(question.tokens))], [])
    walked[1].extend(number for number in walked[0] if Wildcard.MANY in question.tokens[number])
    before, taken = [question.side(()), question.side(())], [0, 0]
    for second, tokens in enumerate(question.tokens):
        plain = Wildcard.MANY not in tokens
        if second >= taken[plain]:
            # The patterns before it, and as many more: a side of these alone for each would be a square.
            taken[plain] = min(2 * second + 1, len(question.tokens))
            some = walked[plain]
            before[plain] = question.side(some[: bisect_left(some, taken[plain])])
        ends = overlapping(question.machine, tokens, before[plain]) if before[plain].accepting else ()
        firsts = [number for end in ends for number in ended[end]]
        if plain:
            firsts += alike.sharing(tokens)
            alike.add(second, tokens)
        yield from ((first, second) for first in sorted(firsts))
        ended[question.machine.end_of(second)].append(second)


def _common_key(question: Question, first: int, second: int) -> str | None:
    """Return a shortest key that two patterns which share words match both, or None."""
    one, other = question.tokens[first], question.tokens[second]
    sides = question.side([first]), question.side([second])
    if Wildcard.MANY in one or Wildcard.MANY in other:
        return question.meeting(*sides)
    witness = common_key(one, other, question.machine.space, question.budget)
    return None if witness is None else question.text(witness, sides, ())


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
