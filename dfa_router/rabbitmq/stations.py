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

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compiler.automata.pattern import Pattern, Wildcard
from compiler.kernels.relay_tables import ASKS, CONSTANT, Network
from compiler.kernels.tables import Bytes, frozen
from compiler.relay.words import words_of
from compiler.values import Int32s
from dfa_router.rabbitmq.exchange_types import SIMULATED
from dfa_router.rabbitmq.narrowing import Layout, Narrowed, narrowed
from dfa_router.rabbitmq.nodes import Node, Numbering

__all__ = ["Stations", "plan"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stations:
    """A plan; immutable, and quickly pickled."""

    network: Network
    """Its outputs are queues and remarks, as :class:`dfa_router.rabbitmq.nodes.Numbering` counts."""
    outputs: int
    tags: Int32s
    """The condition that each accept tag of the automaton stands for."""
    words: tuple[Int32s, Bytes]
    """The word of each exchange."""
    asked: Int32s
    """The exchanges whose matcher has to be asked, as their type reads more than the routing key."""
    by_headers: Int32s
    """Those of them that go by headers: where no headers are known, they treat all messages alike."""

    def without_headers(self, met: Callable[[int], Iterable[int]]) -> Network:
        """Return the network for messages whose headers are not known; ``met`` tells which conditions an exchange takes for met then.

        Each of the exchanges is one that is not asked; conditions that are not met lead nowhere.
        """
        network = self.network
        sizes, kinds = np.diff(network.offsets), network.kinds.copy()
        for number in self.by_headers.tolist():
            kinds[number] = CONSTANT
            first, last = network.conditions[number : number + 2].tolist()
            leads = np.isin(np.arange(last - first), list(met(number)))
            sizes[first:last] = np.where(leads, sizes[first:last], 0)
        kept = np.repeat(sizes > 0, np.diff(network.offsets))
        ends = np.concatenate([[0], sizes]).cumsum().astype(np.int32)
        return network._replace(kinds=frozen(kinds), offsets=frozen(ends), targets=frozen(network.targets[kept]))

    def word(self, number: int) -> bytes:
        """Return the word of an exchange."""
        offsets, data = self.words
        return data[offsets[number] : offsets[number + 1]].tobytes()


class Plan(NamedTuple):
    """A plan and the patterns of its automaton, in the order of the accept tags."""

    stations: Stations
    patterns: Iterator[Pattern]


def plan(nodes: Sequence[Node], queues: int) -> Plan:
    """Lay exchanges out as stations; there are so many ``queues``."""
    numbering = Numbering(queues, len(nodes))
    conditions = np.zeros(len(nodes) + 1, np.int32)
    np.cumsum([1 if node.type is None else len(node.offsets) - 1 for node in nodes], out=conditions[1:])
    tokens = [_tokens(node) for node in nodes]
    constant = [_is_constant(node, own) for node, own in zip(nodes, tokens, strict=True)]
    by_headers = [_reads_headers(node) for node in nodes]
    behind = narrowed(
        Layout(
            nodes=nodes,
            outputs=numbering.outputs,
            conditions=conditions,
            tokens=tokens,
            constant=constant,
            by_headers=by_headers,
        )
    )
    group_offsets = np.zeros(len(nodes) + 1, np.int32)
    np.cumsum([len(one.group) for one in behind], out=group_offsets[1:])
    targets = [
        np.array([numbering.unsimulated(number)]) if node.type is None else node.targets
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
        groups=frozen(np.array([one for each in behind for one in each.group], np.int32)),
    )
    tags: list[Int32s] = [np.empty(0, np.int32)]
    for number, own in enumerate(tokens):
        if own is not None and not constant[number]:
            tags.append(np.arange(conditions[number], conditions[number + 1], dtype=np.int32))
        tags.append(np.array([condition for condition, _ in behind[number].patterns], np.int32))
    asked = [number for number, own in enumerate(tokens) if own is None and not constant[number]]
    stations = Stations(
        network=network,
        outputs=numbering.outputs,
        tags=np.concatenate(tags),
        words=words_of(len(nodes)),
        asked=np.array(asked, np.int32),
        by_headers=np.array([number for number in asked if by_headers[number]], np.int32),
    )
    return Plan(stations, _patterns(stations, tokens, constant, behind))


def _patterns(
    stations: Stations,
    tokens: Sequence[Sequence[Pattern] | None],
    constant: Sequence[bool],
    behind: Sequence[Narrowed],
) -> Iterator[Pattern]:
    for number, own in enumerate(tokens):
        word = stations.word(number)
        if own is not None and not constant[number]:
            for pattern in own:
                yield [word, *pattern]
        for _, narrow in behind[number].patterns:
            yield [word, *narrow]


def _tokens(node: Node) -> list[Pattern] | None:
    """Return what each condition of an exchange asks of the routing key; None if its type reads more than that."""
    if node.type is None:
        return None
    tokens = SIMULATED[node.type].tokens
    return None if tokens is None else [tokens(condition, number) for number, condition in enumerate(node.conditions)]


def _reads_headers(node: Node) -> bool:
    return node.type is not None and SIMULATED[node.type].strict is not None


def _is_constant(node: Node, tokens: Sequence[Pattern] | None) -> bool:
    """Tell whether all messages meet the same conditions."""
    if node.type is None or not node.conditions:
        return True
    return tokens is not None and all(tuple(pattern) == (Wildcard.MANY,) for pattern in tokens)
