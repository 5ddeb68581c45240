"""Exchange types that choose one of their destinations for each message, and what can be said of their choice.

``x-consistent-hash``
    hashes the key, a header or a property onto a ring on which each destination has as many places as its binding key says. The
    ring is laid out as bindings come and go, so definitions do not tell who gets a message; shares follow the weights.
``x-random``, ``x-local-random``
    throw dice. The second prefers queues of the node that a client is connected to, which definitions do not tell.
``x-modulus-hash``
    hashes the routing keys (:mod:`dfa_router.rabbitmq.hashing.phash2`) and counts off that many destinations. Since 4.3 these are
    sorted, so one can tell which; before, their order is that of a table inside of the broker.

A destination that is bound twice is counted twice by ``x-random`` and ``x-modulus-hash``, and once, by its first binding,
by the others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from compiler.values import CacheStats
from dfa_router.arrow import key_column
from dfa_router.key_bytes import key_bytes
from dfa_router.rabbitmq.copies import keys_of_column
from dfa_router.rabbitmq.declared import Binding
from dfa_router.rabbitmq.hashing.phash2 import phash2, phash2_column
from dfa_router.rabbitmq.matching import (
    FURTHER_KEYS,
    ROUTING_KEY,
    Columns,
    ExchangeType,
    MatchedColumns,
    Message,
    keys_of,
)
from dfa_router.rabbitmq.route import Candidate
from dfa_router.rabbitmq.traversal import Sets

__all__ = ["MODULUS", "by_weight", "each_binding", "each_destination", "weight_of"]


def by_weight(bindings: Sequence[Binding]) -> list[Candidate]:
    """Return the destinations of an ``x-consistent-hash``: binding keys are weights, and the first of a destination counts.

    >>> bound = [Binding(source="h", destination=name, routing_key=key) for name, key in [("p", "1"), ("q", "3"), ("p", "9")]]
    >>> [(one.destination, one.share) for one in by_weight(bound)]
    [('p', 0.25), ('q', 0.75)]
    """
    weights: dict[tuple[str, str], int] = {}
    for one in bindings:
        weights.setdefault(_end(one), weight_of(one) or 1)
    return _shared(weights)


def each_binding(bindings: Sequence[Binding]) -> list[Candidate]:
    """Return the destinations of an ``x-random``: all bindings have the same chance."""
    counts: dict[tuple[str, str], int] = {}
    for one in bindings:
        counts[_end(one)] = counts.get(_end(one), 0) + 1
    return _shared(counts)


def each_destination(bindings: Sequence[Binding]) -> list[Candidate]:
    """Return the destinations of an ``x-local-random``, as if the client's node had all of them or none."""
    return _shared(dict.fromkeys(map(_end, bindings), 1))


def weight_of(binding: Binding) -> int | None:
    """Return the weight that a binding of an ``x-consistent-hash`` has; None where the broker refuses it."""
    if not re.fullmatch(r"\+?[0-9]+", binding.routing_key, re.ASCII):
        return None
    return int(binding.routing_key) or None


def _end(binding: Binding) -> tuple[str, str]:
    return binding.destination_type, binding.destination


def _shared(weights: dict[tuple[str, str], int]) -> list[Candidate]:
    whole = sum(weights.values())
    return [Candidate(name, kind, weight / whole) for (kind, name), weight in sorted(weights.items())]


@dataclass(frozen=True, slots=True)
class ModulusMatcher:
    """An ``x-modulus-hash`` with a condition for each of its bindings, of which each message meets one."""

    count: int

    def match(self, message: Message) -> tuple[int, ...]:
        """Return the number of the binding that the hash takes."""
        if not self.count:
            return ()
        return (phash2(map(key_bytes, keys_of(message))) % self.count,)

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the number of the binding that each message's hash takes."""
        keys = columns[ROUTING_KEY]
        if not self.count:
            return MatchedColumns(np.zeros(len(keys), np.int64), Sets(np.zeros(2, np.int64), np.empty(0, np.int64)))
        offsets, data, _ = key_column(keys)
        hashes = phash2_column(offsets, data)
        further = columns.get(FURTHER_KEYS)
        if further is not None:
            several = np.flatnonzero(np.diff(keys_of_column(further).offsets))
            for row in several.tolist():
                hashes[row] = phash2(chain([keys[row].as_py() or b""], further[row].as_py()))
        return MatchedColumns(hashes % self.count, Sets(np.arange(self.count + 1), np.arange(self.count)))

    def stats(self) -> CacheStats:
        """Return zeros: there is no cache."""
        return CacheStats()


def _sorted(bindings: Iterable[Binding]) -> list[tuple[int, Binding]]:
    """Number bindings as Erlang orders their destinations: exchanges before queues, names by their bytes."""
    return list(enumerate(sorted(bindings, key=lambda one: (one.destination_type, one.destination.encode()))))


MODULUS = ExchangeType(
    condition=lambda _: None,  # depends on all bindings
    compile=lambda conditions, _engine, _bytes: ModulusMatcher(len(conditions)),
    reads=(FURTHER_KEYS,),
    arrange=_sorted,
)
"""``x-modulus-hash`` since 4.3."""
