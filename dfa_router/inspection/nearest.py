"""The bindings that nearly match a routing key: most messages that go astray differ by a word.

The distance of a key from a pattern is how many words have to be put in, taken out or replaced until the pattern matches; an edit
distance in which ``*`` takes any word and ``#`` any number of them, for nothing. A word that is replaced by a similar one counts a
little less than a whole.

What this leaves out: bindings that share no word with a key, in topologies that have more than :data:`MOST` bindings of an
exchange.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from difflib import SequenceMatcher

from dfa_router.rabbitmq import Topology

__all__ = ["MOST", "Nearest", "distance"]

ONE, MANY = "*", "#"
"""Any word, and any number of words."""

MOST = 5_000
"""Bindings of an exchange that are all looked at; of more, those that have a word of the key."""


def distance(pattern: str, key: str) -> float:
    """Return how far a key is from a pattern of a topic exchange; 0 where it matches.

    >>> distance("order.*.placed", "order.eu.placed"), distance("order.eu.#", "order"), distance("a.b", "a.b.c")
    (0.0, 1.0, 1.0)
    >>> distance("order.created", "order.craeted") < 1
    True
    """
    tokens = pattern.split(".") if pattern else []
    words = key.split(".") if key else []
    row = [float(place) for place in range(len(words) + 1)]
    for token in tokens:
        above, row = row, [0.0] * (len(words) + 1)
        row[0] = above[0] + (token != MANY)
        for place, word in enumerate(words, 1):
            if token == MANY:
                row[place] = min(above[place], row[place - 1])
            else:
                same = 0.0 if token in (ONE, word) else _unlike(token, word)
                row[place] = min(above[place - 1] + same, above[place] + 1, row[place - 1] + 1)
    return row[-1]


def _unlike(one: str, other: str) -> float:
    if max(len(one), len(other)) > 64:
        return 1.0
    return 1.0 - 0.75 * SequenceMatcher(None, one, other, autojunk=False).quick_ratio()


class Nearest:
    """The bindings of a topology, to find those that nearly match."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._by_source: dict[tuple[str, str], list[int]] = defaultdict(list)
        self._by_word: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for position, binding in enumerate(topology.bindings):
            self._by_source[binding.vhost, binding.source].append(position)
        for (vhost, source), positions in self._by_source.items():
            if len(positions) > MOST:
                for position in positions:
                    for word in {*topology.bindings[position].routing_key.split(".")} - {ONE, MANY}:
                        self._by_word[vhost, source, word].append(position)

    def bindings(
        self, vhost: str, exchange: str, key: str, *, destination: str | None = None, most: int = 3
    ) -> Sequence[tuple[int, float]]:
        """Return (position, distance) of the nearest bindings of an exchange, or of a destination alone, the nearest first."""
        candidates = self._by_source.get((vhost, exchange), [])
        if len(candidates) > MOST:
            shared = {one for word in key.split(".") for one in self._by_word.get((vhost, exchange, word), ())[:MOST]}
            candidates = sorted(shared)[:MOST]
        bindings = self._topology.bindings
        exact = self._topology.exchange(exchange, vhost).type == "direct" if candidates else False
        found = [
            (_unlike(bindings[one].routing_key, key) if exact else distance(bindings[one].routing_key, key), one)
            for one in candidates
            if destination is None or bindings[one].destination == destination
        ]
        return [(one, far) for far, one in sorted(found)[:most]]
