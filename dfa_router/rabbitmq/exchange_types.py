"""The exchange types that are simulated, as one table.

Types that are not in the table (headers, x-consistent-hash and other plugins', and exchanges whose type is unknown) are
named in each route that reaches them, so that nobody takes a part of the answer for the whole. What an entry has to say,
and how to add one, is in :mod:`dfa_router.rabbitmq.matching`.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from dfa_router.language.dialects import AMQP, EXACT
from dfa_router.rabbitmq.key_matching import key_type
from dfa_router.rabbitmq.matching import ExchangeType

__all__ = ["SIMULATED", "attributes_read", "check_attributes"]

SIMULATED: dict[str, ExchangeType] = {
    "direct": key_type(EXACT, attrgetter("routing_key")),  # a literal * or # in a direct binding is no wildcard
    "fanout": key_type(AMQP, lambda _: "#"),
    "topic": key_type(AMQP, attrgetter("routing_key")),
}


def attributes_read(types: Iterable[str | None]) -> tuple[str, ...]:
    """Return what exchanges of these types read of a message besides its routing key, once each, sorted.

    >>> attributes_read(["topic", "fanout", "x-unheard-of", None])
    ()
    """
    simulated = [SIMULATED[kind] for kind in types if kind in SIMULATED]
    return tuple(sorted({name for kind in simulated for name in kind.reads}))


def check_attributes(given: Iterable[str]) -> None:
    """Raise ``TypeError``, as for any unknown argument, where no exchange type reads an attribute that was given."""
    for name in given:
        read = attributes_read(SIMULATED)
        if name not in read:
            raise TypeError(
                f"unexpected argument {name!r}: besides the routing key, the simulated exchange types read "
                f"{', '.join(read) or 'nothing'} of a message"
            )
