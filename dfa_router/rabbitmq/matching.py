"""What an exchange type is: how the bindings of an exchange are compiled, and what they read of a message.

An exchange type turns each binding of an exchange into a *condition* on messages: a pattern that the routing key must
match, say. Bindings with equal conditions match the same messages, so each distinct condition is compiled once, and has a
number. A compiled exchange is a :class:`Matcher`: it tells which conditions a message meets. Where these lead to, and
everything else about routing, is the same for all types, and is done elsewhere.

To simulate another type: write its matcher and an :class:`ExchangeType` in a module of its own, and enter it in the table
of :mod:`dfa_router.rabbitmq.exchange_types`. A type that reads more of a message than its routing key names what it reads
(``reads=("headers",)``). Callers then hand that over by name, to ``Topology.route``, to ``TopologyRouter.route_columns``
or as a column of a DataFrame on Spark, and it arrives in the matcher.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from compiler.automata.pattern import Pattern
from compiler.values import CacheStats
from dfa_router.rabbitmq.declared import Binding
from dfa_router.rabbitmq.route import Candidate
from dfa_router.rabbitmq.traversal import Sets

__all__ = [
    "FURTHER_KEYS",
    "HEADERS",
    "ROUTING_KEY",
    "Columns",
    "ExchangeType",
    "MatchedColumns",
    "Matcher",
    "Message",
    "keys_of",
]

ROUTING_KEY, FURTHER_KEYS, HEADERS = "routing_key", "further_keys", "headers"
"""What messages have that types read, by name."""

Message = Mapping[str, Any]
"""What is known of a message, by name: its ``routing_key`` (str or bytes), its ``further_keys`` (a tuple of bytes, those of CC and
BCC; absent where there are none), and those attributes that the caller gave."""

Columns = Mapping[str, Any]
"""What is known of a batch of messages, by name: Arrow arrays of one length.

``routing_key`` is always there, an array of bytes without nulls; of other attributes those that the type reads and the
caller gave, in the Arrow type that the caller gave, nulls included. ``further_keys`` is a list of bytes for each message, and absent
where no message of the batch has any. ``headers`` are no Arrow array, but a
:class:`dfa_router.rabbitmq.headers.columns.MetCriteria`.
"""


def keys_of(message: Message) -> tuple[str | bytes, ...]:
    """Return all routing keys of a message: its own, then those of CC and BCC.

    >>> keys_of({"routing_key": "a", "further_keys": (b"b",)})
    ('a', b'b')
    """
    return message[ROUTING_KEY], *message.get(FURTHER_KEYS, ())


class MatchedColumns(NamedTuple):
    """Which conditions the messages of a batch meet."""

    set_ids: npt.NDArray[np.int64]
    """For each message the number of its set."""
    sets: Sets
    """The numbers of the conditions in each set, ascending. Equal sets may occur more than once."""


class Matcher(Protocol):
    """A compiled exchange. It is pickled, unless its type can store it in a file, and may be used by several threads."""

    def match(self, message: Message) -> Iterable[int]:
        """Return the numbers of the conditions that the message meets."""

    def match_columns(self, columns: Columns) -> MatchedColumns:
        """Return the numbers of the conditions that each message of a batch meets."""

    def stats(self) -> CacheStats:
        """Describe its cache, and count what was asked of it; all zero where there is neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeType:
    """How exchanges of a type are compiled."""

    condition: Callable[[Binding], Hashable]
    """Returns what a binding demands of a message. Its text tells how much of the caches' bytes it deserves; None is met by no
    message."""
    compile: Callable[[Sequence[Any], str, int], Matcher]
    """``compile(conditions, engine, cache_bytes)``: condition i has the number i. A type need not use the other two."""
    reads: tuple[str, ...] = ()
    """The attributes of a message that it reads besides the routing key."""
    tokens: Callable[[Any, int], Pattern] | None = None
    """Returns a condition, which has a number, as a pattern of the routing key, for a type that reads nothing else: then one
    automaton reads the keys for all exchanges of such types, and ``compile`` serves the engines that are no automata."""
    strict: bool | None = None
    """For a type whose conditions are demands on headers, whether values are compared as since 3.13. One vocabulary of
    criteria serves all exchanges of such types, and ``compile`` is not asked."""
    arrange: Callable[[Sequence[Binding]], Sequence[tuple[Hashable, Binding]]] | None = None
    """Returns the condition of every binding of an exchange, for a type in which it depends on the other bindings."""
    choose: Callable[[Sequence[Binding]], Sequence[Candidate]] | None = None
    """Returns the destinations of which each message goes to one, for a type of which nobody can tell which."""
