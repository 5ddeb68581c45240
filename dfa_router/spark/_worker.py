"""What a Python worker keeps from task to task: compiled topologies with their warm caches, by fingerprint.

Spark reuses its Python workers, but unpickles a task's function, and all that it holds, for each task; only the globals of
an imported module stay. So routers are kept here, by content, and every batch, task and query that uses the same topology
finds the caches as the one before it left them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyspark import SparkFiles

from dfa_router.rabbitmq.columns import RoutedColumns
from dfa_router.rabbitmq.routing import Detached, TopologyRouter

__all__ = ["RouteBatches", "RouteKeys", "Shipped", "ShippedInFile", "router_for"]

KEPT = 4
"""How many topologies a worker keeps; the least recently used is dropped first."""

_routers: OrderedDict[str, TopologyRouter] = OrderedDict()


class Shipped(Protocol):
    """A router on its way to the workers: a Spark broadcast variable, or anything that holds one."""

    @property
    def value(self) -> TopologyRouter:
        """The router."""


class ShippedRest(Protocol):
    """A topology without its automata on its way to the workers: a Spark broadcast variable, or anything that holds one."""

    @property
    def value(self) -> Detached:
        """All but the automata."""


@dataclass(frozen=True, kw_only=True)
class ShippedInFile:
    """A router whose automata are in a file that Spark copies to each executor once; its workers share the mapped pages."""

    rest: ShippedRest
    file: str
    """The name by which Spark knows the file."""

    @property
    def value(self) -> TopologyRouter:
        """The router, made anew."""
        return self.rest.value.attach(SparkFiles.get(self.file))


def router_for(fingerprint: str, shipped: Shipped) -> TopologyRouter:
    """Return this worker's router for the topology, unpacking the shipped one at its first use."""
    router = _routers.get(fingerprint)
    if router is None:
        router = _routers[fingerprint] = shipped.value
        while len(_routers) > KEPT:
            _routers.popitem(last=False)
    _routers.move_to_end(fingerprint)
    return router


@dataclass(frozen=True, kw_only=True)
class RouteBatches:
    """For ``mapInArrow``: each batch of messages with the columns of its routes appended."""

    shipped: Shipped
    fingerprint: str
    keys: tuple[str, ...]
    """The names of the columns to route by: exchange, routing_key and, where there are such columns, vhost and attributes."""
    vhost: str

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Route batch by batch."""
        router = router_for(self.fingerprint, self.shipped)
        for batch in batches:
            routed = _routed(router, self.keys, [batch.column(name) for name in self.keys], self.vhost)
            yield pa.RecordBatch.from_arrays(
                [*batch.columns, *routed], names=[*batch.schema.names, *RoutedColumns._fields]
            )


@dataclass(frozen=True, kw_only=True)
class RouteKeys:
    """For an Arrow UDF of the iterator form: the columns to route by, to a column of structs."""

    shipped: Shipped
    fingerprint: str
    keys: tuple[str, ...]
    """The names of the columns, as for :class:`RouteBatches`."""
    vhost: str

    def __call__(self, columns: Iterable[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        """Route batch by batch."""
        router = router_for(self.fingerprint, self.shipped)
        for arrays in columns:
            routed = _routed(router, self.keys, arrays, self.vhost)
            yield pa.StructArray.from_arrays(list(routed), list(RoutedColumns._fields))


def _routed(router: TopologyRouter, names: Sequence[str], columns: Sequence[Any], vhost: str) -> RoutedColumns:
    attributes = dict(zip(names, columns, strict=True))
    exchanges, keys, vhosts = (attributes.pop(name, None) for name in ("exchange", "routing_key", "vhost"))
    return router.route_columns(exchanges, keys, vhosts, vhost=vhost, **attributes)
