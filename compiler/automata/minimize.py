"""The smallest DFA that answers like a given one: equivalent states are merged.

Partition refinement: begin with one class of states for each accept set, and split a class whenever two of its states
lead to different classes on some word. Only the predecessors of states that changed their class are examined again. The
largest part of a split class keeps the class's number, so a state changes its class at most log n times (Hopcroft's
"process the smaller half", here on signatures of states instead of letter by letter).

The textbook's alphabet is finite and small; ours is every word. A state has a default successor and a few literal ones,
so its signature is the class of the default successor and those literals whose successor is in another class. A literal
that leads to the default's class makes no difference and is dropped. States with different accept tags are never merged,
since the tags say which binding matched: the DFA of n bindings ``#.w.#`` keeps all its 2^n states.

Rejected: Brzozowski's double reversal, which determinises twice and can need exponential space in between.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.automata.dfa import Dfa
from compiler.automata.nfa import ROOT, Nfa
from compiler.notebook import mimebundle

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["MinimalDfa", "minimize"]

_Signature = tuple[int, frozenset[tuple[int, int]]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MinimalDfa:
    """The complete DFA with the fewest states for its answers; made by :func:`minimize`."""

    nfa: Nfa
    starts: tuple[int, ...]
    """The start states, one for each root of the NFA."""
    members: tuple[tuple[int, ...], ...]
    """For each state the states of the given DFA that were merged into it, ascending; state 0 holds that DFA's start."""
    tags: tuple[tuple[int, ...], ...]
    """For each state its accept tags, ascending."""
    defaults: tuple[int, ...]
    """For each state its default successor: where every word leads that is not in its row of ``successors``."""
    successors: tuple[dict[int, int], ...]
    """For each state a row of its literal successors, by symbol; none of them equals the default successor."""

    def __len__(self) -> int:
        return len(self.members)

    def __repr__(self) -> str:
        return f"<MinimalDfa: {len(self)} states, {sum(map(len, self.successors))} literal transitions>"

    def match(self, words: list[bytes]) -> tuple[int, ...]:
        """Return the accept tags of a key given as its words, ascending."""
        state = self.starts[self.nfa.root(words[0]) if words else ROOT]
        for word in words:
            symbol = self.nfa.symbol_of.get(word)
            state = self.defaults[state] if symbol is None else self.successors[state].get(symbol, self.defaults[state])
        return self.tags[state]

    def to_networkx(self) -> nx.MultiDiGraph[int]:
        """Return the automaton as a graph.

        Nodes are state numbers with ``start`` (bool), ``members`` and ``tags`` (tuples of int) and ``dead`` (bool).
        Edges are those of :meth:`compiler.automata.dfa.Dfa.to_networkx`.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[int] = nx.MultiDiGraph(kind="minimal")
        for number, members in enumerate(self.members):
            dead = not self.tags[number] and not self.successors[number] and self.defaults[number] == number
            graph.add_node(number, start=number in self.starts, members=members, tags=self.tags[number], dead=dead)
        for number, row in enumerate(self.successors):
            for symbol, target in row.items():
                graph.add_edge(number, target, kind="literal", label=self.nfa.word(symbol))
            graph.add_edge(number, self.defaults[number], kind="default", label="*")
        return graph

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return mimebundle(self, repr(self))


def minimize(dfa: Dfa) -> MinimalDfa:
    """Merge equivalent states; the new states are numbered in the order of their first members.

    After ``a`` and one more word, ``#.a.*.#`` accepts whatever follows, but the DFA still looks for the next ``a``:

    >>> from compiler import Wildcard, build_dfa, build_nfa
    >>> dfa = build_dfa(build_nfa([[Wildcard.MANY, b"a", Wildcard.ONE, Wildcard.MANY]]))
    >>> len(dfa), len(minimize(dfa))
    (4, 3)
    """
    classes = _refine(dfa)
    numbers: dict[int, int] = {}
    members: list[list[int]] = []
    for state, label in enumerate(classes):
        number = numbers.setdefault(label, len(numbers))
        if number == len(members):
            members.append([])
        members[number].append(state)
    merged = [numbers[label] for label in classes]
    defaults = tuple(merged[dfa.defaults[states[0]]] for states in members)
    return MinimalDfa(
        nfa=dfa.nfa,
        starts=tuple(merged[state] for state in dfa.starts),
        members=tuple(map(tuple, members)),
        tags=tuple(dfa.states[states[0]].tags for states in members),
        defaults=defaults,
        successors=tuple(
            {
                symbol: merged[target]
                for symbol, target in dfa.successors[states[0]].items()
                if merged[target] != default
            }
            for states, default in zip(members, defaults, strict=True)
        ),
    )


def _refine(dfa: Dfa) -> list[int]:
    """Return for each state the number of its class in the coarsest partition that no word splits."""
    by_tags: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    before: list[set[int]] = [set() for _ in range(len(dfa))]
    for state in range(len(dfa)):
        by_tags[dfa.states[state].tags].append(state)
        for target in (dfa.defaults[state], *dfa.successors[state].values()):
            before[target].add(state)
    classes = [0] * len(dfa)
    parts = [set(states) for states in by_tags.values()]
    for number, states in enumerate(parts):
        for state in states:
            classes[state] = number

    def signature(state: int) -> _Signature:
        default = classes[dfa.defaults[state]]
        moves = ((symbol, classes[target]) for symbol, target in dfa.successors[state].items())
        return default, frozenset(move for move in moves if move[1] != default)

    touched = set(range(len(dfa)))
    while touched:
        by_class: defaultdict[int, defaultdict[_Signature, set[int]]] = defaultdict(lambda: defaultdict(set))
        for state in touched:
            by_class[classes[state]][signature(state)].add(state)
        moved: list[tuple[set[int], int]] = []
        for number, split in by_class.items():
            rest = parts[number].difference(*split.values())  # not examined: still equivalent to each other
            if rest:
                split[signature(next(iter(rest)))] |= rest
            largest, *smaller = sorted(split.values(), key=len, reverse=True)
            parts[number] = largest
            for part in smaller:
                moved.append((part, len(parts)))
                parts.append(part)
        # Classes change only here, so all signatures of a round belong to the same partition.
        for part, number in moved:
            for state in part:
                classes[state] = number
        touched = {state for part, _ in moved for target in part for state in before[target]}
    return classes
