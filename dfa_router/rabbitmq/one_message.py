"""One message on its way from exchange to exchange, step by step: what columns of messages do in kernels.

This is the worklist of RabbitMQ's ``rabbit_exchange:route``: an exchange is visited once, and where none of its bindings' conditions
is met the message goes to its alternate exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dfa_router.errors import MessagesError
from dfa_router.rabbitmq.copies import BCC, CC, further_keys
from dfa_router.rabbitmq.matching import FURTHER_KEYS, HEADERS, ROUTING_KEY, Matcher, Message
from dfa_router.rabbitmq.nodes import Node, Numbering

__all__ = ["Way", "message_of", "way_of"]


class Way(NamedTuple):
    """Where a message has been."""

    found: list[int]
    """What it has collected, as numbers of a :class:`~dfa_router.rabbitmq.nodes.Numbering`, ascending."""
    visits: list[int]
    """The nodes, in the order of their visits."""
    bindings: tuple[int, ...]
    """The bindings that led on, as positions among the declared ones, ascending."""


def way_of(
    message: Message, start: int, nodes: Sequence[Node], numbering: Numbering, matcher: Callable[[int], Matcher | None]
) -> Way:
    """Follow a message from a node; ``matcher`` returns the matcher of a node, or None for a type that is not simulated."""
    found: set[int] = set()
    bindings: set[int] = set()
    visits = [start]
    seen = {start}
    for number in visits:  # a worklist: the loop appends to it
        asked = matcher(number)
        if asked is None:
            found.add(numbering.unsimulated(number))
            continue
        for target, binding in _targets(nodes[number], numbering, asked.match(message)):
            bindings.add(binding)
            if target < numbering.outputs:
                found.add(target)
            elif target - numbering.outputs not in seen:
                seen.add(target - numbering.outputs)
                visits.append(target - numbering.outputs)
    return Way(sorted(found), visits, tuple(sorted(bindings - {-1})))


def message_of(routing_key: str | bytes, attributes: Mapping[str, Any]) -> Message:
    """Return what matchers read of a message; raises :class:`MessagesError` for headers that are no mapping."""
    headers = attributes.get(HEADERS)
    if headers is not None and not isinstance(headers, Mapping):
        raise MessagesError(f"headers is {type(headers).__name__}: expected a mapping of names to values")
    message = {name: value for name, value in attributes.items() if name not in (CC, BCC)} | {ROUTING_KEY: routing_key}
    further = further_keys(headers, attributes.get(CC), attributes.get(BCC))
    return {**message, FURTHER_KEYS: further} if further else message


def _targets(node: Node, numbering: Numbering, matching: Iterable[int]) -> Iterable[tuple[int, int]]:
    """Yield where a message goes from a node, and by which binding: where met conditions lead to, or else the alternate."""
    places = [place for c in matching for place in range(int(node.offsets[c]), int(node.offsets[c + 1]))]
    for place in places:
        yield int(node.targets[place]), int(node.bindings[place])
    if not places and node.alternate >= 0:
        yield numbering.outputs + node.alternate, -1
