"""All successors of a state of a large automaton, each from what any word leads to and the little that its literal adds.

:mod:`compiler.automata.powerset` makes each successor by itself, from all positions that are reached: a state of a thousand
positions with three hundred literals takes three hundred thousand. Most of these are the same for every word, so here they
are found once for a state, and a literal adds its own. The states are the same, which tests hold it to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from compiler.automata.nfa import MANY, ONE, OTHER, Nfa
from compiler.automata.powerset import State

__all__ = ["Steps"]


class Steps:
    """The successors of states of one automaton.

    >>> from compiler import Wildcard, build_nfa
    >>> from compiler.automata.powerset import start
    >>> nfa = build_nfa([[b"a", b"b"], [Wildcard.ONE, Wildcard.ONE]])
    >>> list(Steps(nfa).successors(start(nfa)))
    [(0, State(positions=(1,), tags=())), (1, State(positions=(1, 2), tags=()))]
    """

    def __init__(self, nfa: Nfa) -> None:
        self._labels: list[int] = nfa.labels.tolist()
        self._children: list[int] = nfa.children.tolist()
        self._tag_offsets: list[int] = nfa.tag_offsets.tolist()
        self._tags: list[int] = nfa.tags.tolist()

    def successors(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield the default successor, under ``OTHER``, and that of each literal, by symbols that ascend."""
        labels, children = self._labels, self._children
        any_word: list[int] = []
        literals: defaultdict[int, list[int]] = defaultdict(list)
        for position in state.positions:
            if labels[position] == MANY:
                any_word.append(position)
            for child in range(children[position], children[position + 1]):
                label = labels[child]
                if label > OTHER:
                    literals[label].append(child)
                elif label == ONE:
                    any_word.append(child)
        reached = self._closed(any_word)
        positions = sorted(filter(self._live, reached))
        tags = self._tags_of(reached)
        yield OTHER, State(tuple(positions), tuple(sorted(tags)))
        for symbol in sorted(literals):
            further = self._closed(literals[symbol]) - reached
            # No two positions have a tag in common.
            yield (
                symbol,
                State(
                    tuple(sorted([*positions, *filter(self._live, further)])),
                    tuple(sorted([*tags, *self._tags_of(further)])),
                ),
            )

    def _closed(self, positions: Iterable[int]) -> set[int]:
        reached = set(positions)
        firsts = [(self._children[one], self._children[one + 1]) for one in reached]
        reached.update(first for first, last in firsts if first < last and self._labels[first] == MANY)
        return reached

    def _live(self, position: int) -> bool:
        """Tell whether any word leads on from a position."""
        first, last = self._children[position], self._children[position + 1]
        return self._labels[position] == MANY or last - first > (first < last and self._labels[first] == MANY)

    def _tags_of(self, positions: Iterable[int]) -> list[int]:
        offsets = self._tag_offsets
        return [tag for one in positions for tag in self._tags[offsets[one] : offsets[one + 1]]]
