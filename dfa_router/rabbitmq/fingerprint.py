"""A name for everything in a compiled topology that decides an answer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from dfa_router.rabbitmq.declared import Declarations
from dfa_router.rabbitmq.exchange_types import simulated_type
from dfa_router.rabbitmq.nodes import Node
from dfa_router.rabbitmq.rules import BrokerRules

__all__ = ["fingerprint_of"]


def fingerprint_of(
    declared: Declarations, nodes: Iterable[Node], engine: str, cache_bytes: int, rules: BrokerRules
) -> str:
    """Return a SHA-256 over everything that decides an answer; it depends on the order of declarations only where that does."""
    exchanges = sorted(
        (
            exchange.vhost,
            exchange.name,
            simulated_type(exchange, rules) or exchange.type or "",
            exchange.internal,
            declared.alternate_exchange(exchange) or "",
        )
        for exchange in declared.exchanges_by_name.values()
    )
    queues = sorted((queue.vhost, queue.name) for queue in declared.queues)
    bindings = sorted(
        (one.vhost, one.source, one.destination_type, one.destination, one.routing_key, _canonical(one.arguments))
        for one in declared.bindings
    )
    unheld = sorted(declared.unheld)
    # Of an exchange that chooses, the first of several bindings of a destination may count alone.
    chosen = [(node.vhost, node.name, node.candidates) for node in nodes if node.candidates]
    canonical = json.dumps([engine, cache_bytes, sorted(declared.vhosts), exchanges, queues, unheld, bindings, chosen])
    return hashlib.sha256(canonical.encode()).hexdigest()


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, default=str) if arguments else ""
