"""Bindings as people write them."""

from __future__ import annotations

from dfa_router.rabbitmq import Binding, Topology

__all__ = ["arrow", "described"]


def arrow(binding: Binding) -> str:
    """Return a binding as an arrow.

    >>> arrow(Binding(source="x", destination="q", routing_key="a.#"))
    'x --a.#--> q'
    """
    kind = "exchange " if binding.destination_type == "exchange" else ""
    return f"{binding.source} --{binding.routing_key}--> {kind}{binding.destination}"


def described(topology: Topology, position: int) -> str:
    """Return a binding with its place in the file.

    >>> from dfa_router.rabbitmq import Exchange, topology_of
    >>> topology = topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                        bindings=[Binding(source="x", destination="q", routing_key="a.#")])
    >>> described(topology, 0)
    'bindings[0]: x --a.#--> q'
    """
    return f"bindings[{position}]: {arrow(topology.bindings[position])}"
