"""A topology as a networkx graph, for pictures and for graph algorithms.

Nodes are ``("exchange", vhost, name)`` and ``("queue", vhost, name)``; edges run the way a message goes. The implicit
bindings of the default exchange (every queue under its own name) are left out: they would double the picture and say
nothing about the topology.
"""

from __future__ import annotations

from typing import Any

import networkx as nx

from dfa_router.rabbitmq.declared import Declarations

__all__ = ["topology_graph"]


def topology_graph(topology: Declarations) -> nx.MultiDiGraph:
    """Return a directed multigraph with a node per exchange and queue, an edge per binding, alternate and dead-letter exchange.

    =====  ========================================================================================
    >>> from dfa_router.rabbitmq import Binding, Exchange, topology_of
    >>> graph = topology_graph(topology_of(exchanges=[Exchange(name="x", type="topic")],
    ...                                    bindings=[Binding(source="x", destination="q", routing_key="a.#")]))
    >>> graph.edges[("exchange", "/", "x"), ("queue", "/", "q"), 0]["label"]
    'a.#'
    """
    graph = nx.MultiDiGraph(title="Topology", source=topology.source, edge_noun="bindings", cluster_noun="vhost")
    for (vhost, name), exchange in topology.exchanges_by_name.items():
        node = _node("exchange", vhost, name or "(default)", exchange.type, declared=exchange.type is not None)
        graph.add_node(("exchange", vhost, name), **node, internal=exchange.internal)
    for queue in topology.queues:
        node = _node("queue", queue.vhost, queue.name, queue.type, declared=True)
        node["lines"] += topology.limits(queue.vhost, queue.name).lines()
        graph.add_node(("queue", queue.vhost, queue.name), **node)
    for position, binding in enumerate(topology.bindings):
        target = (binding.destination_type, binding.vhost, binding.destination)
        if target not in graph:
            graph.add_node(target, **_node("queue", binding.vhost, binding.destination, None, declared=False))
        to_queue = binding.destination_type == "queue"
        graph.add_edge(
            ("exchange", binding.vhost, binding.source),
            target,
            role="binding" if to_queue else "exchange-binding",
            classes=() if to_queue else ("trunk",),
            label=binding.routing_key,
            position=position,
        )
    _add_dead_letters(graph, topology)
    for (vhost, name), exchange in topology.exchanges_by_name.items():
        alternate = topology.alternate_exchange(exchange)
        if alternate and (vhost, alternate) in topology.exchanges_by_name and name:
            graph.add_edge(
                ("exchange", vhost, name),
                ("exchange", vhost, alternate),
                role="alternate",
                classes=("fallback",),
                label="alternate exchange",
                tooltip="alternate exchange: messages that match no binding",
            )
    for node, data in graph.nodes(data=True):
        predeclared = data["role"] == "exchange" and (not node[2] or node[2].startswith("amq."))
        data["idle"] = data["hidden"] = predeclared and graph.degree(node) == 0
    return graph


def _add_dead_letters(graph: nx.MultiDiGraph, topology: Declarations) -> None:
    """Add an edge from each queue to where its dead letters go; not simulated, as it happens in time."""
    for queue in topology.queues:
        limits = topology.limits(queue.vhost, queue.name)
        exchange, key = limits.dead_letter_exchange, limits.dead_letter_routing_key
        target = ("exchange", queue.vhost, exchange)
        if (
            exchange == "" and ("queue", queue.vhost, key or queue.name) in graph
        ):  # the default exchange knows queues by name
            target = ("queue", queue.vhost, key or queue.name)
        if exchange is not None and target in graph:
            graph.add_edge(
                ("queue", queue.vhost, queue.name),
                target,
                role="dead-letter",
                classes=("fallback",),
                label="dead letters" if key is None else f"dead letters: {key}",
                tooltip="dead-letter exchange: messages that expire, are rejected or are too many",
            )


def _node(role: str, vhost: str, label: str, type_: str | None, *, declared: bool) -> dict[str, Any]:
    """Return the attributes of a node: what it is, and how it is drawn."""
    style = ("relay",) if role == "exchange" else ("store",)
    return {
        "role": role,
        "label": label,
        "vhost": vhost,
        "type": type_,
        "declared": declared,
        "lines": () if type_ is None else (str(type_),),
        "cluster": vhost,
        "classes": style if declared else (*style, "missing", "undeclared"),
    }
