"""How each simulated exchange type is compiled, as one table.

An exchange of a type in :data:`SIMULATED` becomes one router over the patterns of its bindings. Types that are not in
the table (headers, x-consistent-hash and other plugins', and exchanges whose type is unknown) are named in each route
that reaches them, so that nobody takes a part of the answer for the whole. To simulate another type, enter it here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dfa_router.language.dialects import AMQP, EXACT, Dialect
from dfa_router.rabbitmq.topology import Binding

__all__ = ["SIMULATED", "ExchangeType"]


class ExchangeType(NamedTuple):
    """A way to compile an exchange: what its bindings' patterns are, and how they are read."""

    dialect: Dialect
    pattern: Callable[[Binding], str]


def _routing_key(binding: Binding) -> str:
    return binding.routing_key


def _every_key(_: Binding) -> str:
    return "#"


SIMULATED: dict[str, ExchangeType] = {
    "direct": ExchangeType(EXACT, _routing_key),  # a literal * or # in a direct binding is no wildcard
    "fanout": ExchangeType(AMQP, _every_key),
    "topic": ExchangeType(AMQP, _routing_key),
}
