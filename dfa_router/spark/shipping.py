"""How a compiled topology gets from the driver to the workers: once per session and topology, not once per query.

In a classic session the automata are a file that the workers of an executor map and share, and the rest is a broadcast
variable. Spark Connect has no broadcast variables. There the router's bytes are part of the function, which goes with every
query and is unpickled by every task (the router in it only once per worker); what is larger than that deserves goes as two
artifacts, files that Spark copies to the executors.

Rejected: artifacts for all. They are more to go wrong on clusters that others manage, and a server keeps them as long as the
session lives.
"""

from __future__ import annotations

import pickle
import secrets
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from dfa_router.engines.automaton import bytes_of
from dfa_router.engines.registry import engine_spec
from dfa_router.errors import OptionError
from dfa_router.rabbitmq.routing import TopologyRouter
from dfa_router.rabbitmq.topology import Topology

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

__all__ = ["Shipment", "check_running", "check_session", "is_connect", "ship"]

LARGEST_CLOSURE = 1 << 20
"""The most bytes of a router that go with the function: Spark sends a larger function to its executors in another way, too."""

Shipment = tuple[str, tuple[Any, ...]]
"""The fingerprint of a router, and how it travels: see ``dfa_router.spark._worker``."""

_shipped: WeakKeyDictionary[Topology, dict[tuple[str, str, int | None], Shipment]] = WeakKeyDictionary()
"""What was shipped, for each topology that is still in use and (session or application, engine, cache_bytes).

An entry is dropped when its topology is, or when another Spark application has taken the place of its own.
"""

_folders: dict[str, TemporaryDirectory[str]] = {}
"""For each Spark application, the folder with the files that executors may still ask the driver for."""


def check_session(session: object) -> None:
    """Raise ``TypeError`` for what is no session, and :class:`OptionError` for one that was stopped; those of Spark Connect are of a class of their own."""
    if not hasattr(session, "conf") or not hasattr(session, "udf"):
        raise TypeError(
            f"session is {type(session).__name__}: expected a SparkSession, as dfa_router.spark.local_session() returns it"
        )
    check_running(session)


def check_running(session: Any) -> None:
    """Raise :class:`OptionError` for a session that was stopped, of which PySpark says that None has no attribute."""
    stopped = session.is_stopped if is_connect(session) else session.sparkContext._jsc is None  # noqa: SLF001  (all that tells)
    if stopped:
        raise OptionError(
            "the Spark session was stopped: start another, as dfa_router.spark.local_session() does, and read the messages "
            "with that"
        )


def is_connect(session: SparkSession) -> bool:
    """Tell whether a session is one of Spark Connect."""
    return "connect" in type(session).__module__


def ship(session: SparkSession, topology: Topology, engine: str, cache_bytes: int) -> Shipment:
    """Compile the topology, and hand it to the session if that does not have it yet."""
    engine_spec(engine)  # refuses what is none, a list also, which the key cannot hold
    connect = is_connect(session)
    place = _session_id(session) if connect else str(session.sparkContext.applicationId)
    known = _shipped.setdefault(topology, {})
    for stale in [key for key in known if key[0] != place]:
        del known[stale]
    key = (place, engine, bytes_of(cache_bytes))
    if key not in known:
        router = topology.compile(engine=engine, cache_bytes=cache_bytes)
        packed = _artifacts(session, router) if connect else _sent(session.sparkContext, router)
        known[key] = (router.fingerprint, packed)
    return known[key]


def _session_id(session: Any) -> str:
    """Return what names a session of Connect: artifacts belong to it."""
    return str(session.session_id)


def _artifacts(session: Any, router: TopologyRouter) -> tuple[Any, ...]:
    whole = pickle.dumps(router, pickle.HIGHEST_PROTOCOL)
    if len(whole) <= LARGEST_CLOSURE or engine_spec(router.engine).restore is None:
        return ("closure", whole)
    with TemporaryDirectory(prefix="dfa-router-") as folder:
        name = _free_name(router)
        automata, rest = Path(folder, f"{name}.dfar"), Path(folder, f"{name}.pickle")
        rest.write_bytes(pickle.dumps(router.detach(automata), pickle.HIGHEST_PROTOCOL))
        session.addArtifacts(str(automata), str(rest), file=True)
    return ("artifacts", rest.name, automata.name)


def _sent(context: SparkContext, router: TopologyRouter) -> tuple[Any, ...]:
    """Send the automata as a file, mapped by all workers of an executor, and the rest as a broadcast variable."""
    if engine_spec(router.engine).restore is None:
        return ("broadcast", context.broadcast(router))
    application = str(context.applicationId)
    for ended in [other for other in _folders if other != application]:
        _folders.pop(ended).cleanup()
    if application not in _folders:
        _folders[application] = TemporaryDirectory(prefix="dfa-router-", ignore_cleanup_errors=True)
    path = Path(_folders[application].name, f"{_free_name(router)}.dfar")
    rest = router.detach(path)
    context.addFile(str(path))
    return ("mapped", context.broadcast(rest), path.name)


def _free_name(router: TopologyRouter) -> str:
    """Return a name for files. Spark refuses a second file of one name, and two topologies of one fingerprint may list bindings in other orders."""
    return f"{router.fingerprint[:16]}-{secrets.token_hex(4)}"
