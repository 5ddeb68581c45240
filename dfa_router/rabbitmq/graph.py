"""A topology as a networkx graph, for pictures and for graph algorithms.

Nodes are ``("exchange", vhost, name)`` and ``("queue", vhost, name)``; edges run the way a message goes. The implicit
bindings of the default exchange (every queue under its own name) are left out: they would double the picture and say
nothing about the topology.
"""

from __future__ import annotations

import networkx as nx

from dfa_router.rabbitmq.topology import Topology

__all__ = ["topology_graph"]


def topology_graph(topology: Topology) -> nx.MultiDiGraph:
    """Return a directed multigraph with a node per exchange and queue and an edge per binding and alternate exchange.

    Node attributes: ``role`` (``exchange`` | ``queue``), ``label``, ``vhost``, ``type``, ``declared``, and for
    exchanges ``internal``; ``idle`` says that it is an exchange that every broker has and nobody uses. Edge attributes: ``role`` (``binding`` | ``exchange-binding`` | ``alternate``), ``label``
    (the binding key), and for bindings ``position``, the index in ``topology.bindings``.

    >>> from dfa_router.rabbitmq import Binding, Exchange, topology_of
    >>> graph = topology_graph(topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                                    bindings=[Binding(source="x", destination="q", routing_key="a.#")]))
    >>> graph.edges[("exchange", "/", "x"), ("queue", "/", "q"), 0]["label"]
    'a.#'
    """
    graph = nx.MultiDiGraph(title="Topology", source=topology.source)
    for (vhost, name), exchange in topology.exchanges_by_name.items():
        graph.add_node(
            ("exchange", vhost, name),
            role="exchange",
            label=name or "(default)",
            vhost=vhost,
            type=exchange.type,
            declared=exchange.type is not None,
            internal=exchange.internal,
        )
    for queue in topology.queues:
        node = ("queue", queue.vhost, queue.name)
        graph.add_node(node, role="queue", label=queue.name, vhost=queue.vhost, type=queue.type, declared=True)
    for position, binding in enumerate(topology.bindings):
        target = (binding.destination_type, binding.vhost, binding.destination)
        if target not in graph:
            graph.add_node(
                target, role="queue", label=binding.destination, vhost=binding.vhost, type=None, declared=False
            )
        role = "binding" if binding.destination_type == "queue" else "exchange-binding"
        source = ("exchange", binding.vhost, binding.source)
        graph.add_edge(source, target, role=role, label=binding.routing_key, position=position)
    for (vhost, name), exchange in topology.exchanges_by_name.items():
        alternate = topology.alternate_exchange(exchange)
        if alternate is not None and (vhost, alternate) in topology.exchanges_by_name and name:
            graph.add_edge(
                ("exchange", vhost, name), ("exchange", vhost, alternate), role="alternate", label="alternate exchange"
            )
    for node, data in graph.nodes(data=True):
        predeclared = data["role"] == "exchange" and (not node[2] or node[2].startswith("amq."))
        data["idle"] = predeclared and graph.degree(node) == 0
    return graph
