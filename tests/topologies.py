"""A topology that tests of several rooms route by."""

from __future__ import annotations

from dfa_router.rabbitmq import Binding, Exchange, Queue, topology_of

__all__ = ["TWO_VHOSTS"]

TWO_VHOSTS = topology_of(
    vhosts=["/", "b"],
    exchanges=[
        Exchange(name="x", type="topic"),
        Exchange(name="h", type="headers"),
        Exchange(vhost="b", name="x", type="topic"),
    ],
    queues=[Queue(name="q"), Queue(name="q (b)"), Queue(name='p "1"\\\n'), Queue(vhost="b", name="q")],
    bindings=[
        Binding(source="x", destination="q", routing_key="a.#"),
        Binding(source="x", destination="q (b)", routing_key="#.a"),
        Binding(source="x", destination='p "1"\\\n', routing_key="*.b"),
        Binding(vhost="b", source="x", destination="q", routing_key="#.a.#"),
    ],
)
"""Names that have to be told apart and escaped: a queue ``q`` in each vhost, and one whose name reads like that of the second."""
