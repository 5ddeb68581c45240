"""The exchange types that are simulated, as one table.

Types that are not in the table (other plugins', and exchanges whose type is unknown) are named in each route that reaches them, so
that nobody takes a part of the answer for the whole. What an entry has to say, and how to add one, is in
:mod:`dfa_router.rabbitmq.matching`. Which entry stands for an exchange depends on its arguments and on the broker's version, and
is told by :func:`simulated_type`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from dfa_router.language.dialects import AMQP, EXACT
from dfa_router.rabbitmq.copies import BCC, CC
from dfa_router.rabbitmq.declared import Binding, Exchange
from dfa_router.rabbitmq.hashing.choices import MODULUS, by_weight, each_binding, each_destination, weight_of
from dfa_router.rabbitmq.headers.matching import LOOSE, STRICT, unknown_match
from dfa_router.rabbitmq.key_matching import key_type
from dfa_router.rabbitmq.matching import FURTHER_KEYS, HEADERS, ExchangeType
from dfa_router.rabbitmq.rules import BrokerRules

__all__ = ["EVERY_TYPE_READS", "SIMULATED", "attributes_read", "check_attributes", "refusal_of", "simulated_type"]

EVERY_TYPE_READS = (BCC, CC, HEADERS)
"""What may be known of any message: further routing keys come from all of these."""

_ALL = key_type(AMQP, lambda _: "#")

SIMULATED: dict[str, ExchangeType] = {
    "direct": key_type(EXACT, attrgetter("routing_key")),  # a literal * or # in a direct binding is no wildcard
    "fanout": _ALL,
    "topic": key_type(AMQP, attrgetter("routing_key")),
    "headers": STRICT,
    "headers up to 3.12": LOOSE,
    "x-modulus-hash": MODULUS,
    "x-modulus-hash up to 4.2": replace(_ALL, choose=each_binding),
    "x-consistent-hash": replace(_ALL, choose=by_weight),
    "x-random": replace(_ALL, choose=each_binding),
    "x-local-random": replace(_ALL, choose=each_destination),
}


def simulated_type(exchange: Exchange, rules: BrokerRules) -> str | None:
    """Return which of :data:`SIMULATED` an exchange is, or None for one that is not simulated.

    The default exchange is direct, whatever a file may call it. Delayed exchanges route as the type that they wrap, only
    later, and recent-history exchanges as fanout.

    >>> from dfa_router.rabbitmq.rules import rules_of
    >>> simulated_type(Exchange(name="d", type="x-delayed-message", arguments={"x-delayed-type": "topic"}), rules_of("4.3"))
    'topic'
    """
    kind = exchange.type
    if kind == "x-delayed-message":
        kind = exchange.arguments.get("x-delayed-type")
    if kind == "x-recent-history":
        kind = "fanout"
    elif kind == "headers" and not rules.strict_values:
        kind = "headers up to 3.12"
    elif kind == "x-modulus-hash" and not rules.stable_modulus:
        kind = "x-modulus-hash up to 4.2"
    if not isinstance(kind, str) or kind not in SIMULATED or (kind == "x-local-random" and not rules.local_random):
        return None
    return kind if exchange.name else "direct"


def refusal_of(binding: Binding, kind: str | None) -> str | None:
    """Return why a broker refuses a binding of an exchange of this type, or None.

    >>> refusal_of(Binding(source="h", destination="q", routing_key="many"), "x-consistent-hash")
    "its key 'many' is no weight, a whole number of at least 1"
    """
    if kind == "headers":
        return unknown_match(binding)
    if kind == "x-consistent-hash" and weight_of(binding) is None:
        return f"its key {binding.routing_key!r} is no weight, a whole number of at least 1"
    return None


def attributes_read(types: Iterable[str | None]) -> tuple[str, ...]:
    """Return what is read of messages, besides the routing key, by exchanges of these types, once each, sorted.

    >>> attributes_read(["topic", "fanout", "x-unheard-of", None])
    ('bcc', 'cc', 'headers')
    """
    simulated = [SIMULATED[kind] for kind in types if kind in SIMULATED]
    read = {name for kind in simulated for name in kind.reads} - {FURTHER_KEYS}
    return tuple(sorted(read.union(EVERY_TYPE_READS)))


def check_attributes(given: Iterable[str]) -> None:
    """Raise ``TypeError``, as for any unknown argument, where no exchange type reads an attribute that was given."""
    for name in given:
        read = attributes_read(SIMULATED)
        if name not in read:
            raise TypeError(
                f"unexpected argument {name!r}: besides the routing key, the simulated exchange types read "
                f"{', '.join(read)} of a message"
            )
