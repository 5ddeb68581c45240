"""Bindings, and the exchanges and queues at their ends, as people write them: the default exchange, whose name is empty, in words."""

from __future__ import annotations

from dfa_router.rabbitmq import Binding, Topology
from dfa_router.rabbitmq.route import Candidate

__all__ = ["DEFAULT_EXCHANGE", "arrow", "described", "destination_of", "quoted_exchange"]

DEFAULT_EXCHANGE = "the default exchange"
"""What stands where a name would be empty."""


def quoted_exchange(name: str) -> str:
    """Return the name of an exchange within a sentence.

    >>> quoted_exchange("orders"), quoted_exchange("")
    ("'orders'", 'the default exchange')
    """
    return repr(name) if name else DEFAULT_EXCHANGE


def destination_of(one: Binding | Candidate) -> str:
    """Return where a binding or a choice leads: a queue by its name alone, an exchange as that.

    >>> destination_of(Binding(source="x", destination="y", destination_type="exchange", routing_key="a"))
    'exchange y'
    """
    if one.destination_type == "queue":
        return one.destination
    return f"exchange {one.destination}" if one.destination else DEFAULT_EXCHANGE


def arrow(binding: Binding) -> str:
    """Return a binding as an arrow.

    >>> arrow(Binding(source="x", destination="q", routing_key="a.#"))
    'x --a.#--> q'
    """
    return f"{binding.source or DEFAULT_EXCHANGE} --{binding.routing_key}--> {destination_of(binding)}"


def described(topology: Topology, position: int) -> str:
    """Return a binding with its place in the file.

    >>> from dfa_router.rabbitmq import Exchange, topology_of
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
    >>> described(topology, 0)
    'bindings[0]: x --a.#--> q'
    """
    return f"bindings[{position}]: {arrow(topology.bindings[position])}"
