"""Reading what ``rabbitmqctl export_definitions`` and the management API write.

The same reader takes exports of all versions: whole-broker files, files of one vhost (which name no vhost), files whose
empty arguments are ``[]`` and files that leave ``internal`` out. Users, permissions and parameters are never looked at,
so no password hash is kept in memory once a file has been read.

What a file means is checked in :func:`topology_of`, which programs may call with values of their own: a name that a
binding uses and nobody declares is kept and becomes a :class:`TopologyWarning`, because real exports have such names (a
broker exports the bindings of internal exchanges and exclusive queues, but not these themselves). What cannot be
read as a topology at all is a :class:`DefinitionsError`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from os import PathLike
from typing import Any

from dfa_router.errors import DefinitionsError, OptionError
from dfa_router.file_names import given_path
from dfa_router.rabbitmq.checks import (
    Findings,
    check_alternates,
    check_bindings,
    check_limits,
    check_vhosts,
    declared_once,
)
from dfa_router.rabbitmq.declared import (
    Binding,
    Declarations,
    Exchange,
    Policy,
    Queue,
    TopologyWarning,
    predeclared_exchanges,
)
from dfa_router.rabbitmq.document import REMEDY, read_document
from dfa_router.rabbitmq.entries import Entries
from dfa_router.rabbitmq.exported import as_bound, note_nulls
from dfa_router.rabbitmq.given import given_name, given_names, given_values
from dfa_router.rabbitmq.listings import LISTING_REMEDY, merge_listing, read_listing
from dfa_router.rabbitmq.rules import NEWEST, rules_of
from dfa_router.rabbitmq.sources import read_source
from dfa_router.rabbitmq.topology import Topology
from dfa_router.short_strings import fault_of

__all__ = ["load_definitions", "topology_of"]

LOGGED = 3
"""How many warnings of a file are logged at level WARNING; the others are logged at level INFO."""

_log = logging.getLogger(__name__)


def load_definitions(
    path: str | PathLike[str],
    vhost: str = "/",
    *,
    broker: str | None = None,
    listings: Iterable[str | PathLike[str]] = (),
) -> Topology:
    """Read definitions: a file, ``-`` for standard input, or the address of the management API, such as ``http://localhost:15672``.

    ``vhost`` is where entries belong that name no vhost, as in an export of one vhost alone, unless an address such as
    ``http://localhost:15672/api/definitions/shop`` names it. ``broker`` is the version of
    RabbitMQ whose rules hold where versions differ; without it, that of the broker that wrote the file, or the newest one.
    ``listings`` are files, or addresses such as ``http://localhost:15672/api/exchanges``, of exchanges, queues or bindings that the
    export leaves out; whoever reads from the API gets them with it. User and password for the API are those in the environment,
    ``DFA_ROUTER_USER`` and ``DFA_ROUTER_PASSWORD``.

    Raises :class:`DefinitionsError`, whose text names the file, the place in it and what to do, and another :class:`InputError` for
    what is no path, such as the definitions themselves, or for a wrong option. What is odd but can be
    routed is listed in ``topology.warnings`` and logged.
    """
    if not isinstance(vhost, str):
        raise OptionError(f"vhost is {vhost!r}: expected the name of the vhost of entries that name none, such as '/'")
    if (fault := fault_of(vhost)) is not None:
        raise OptionError(f"vhost {fault}; no broker has such a vhost: give the name of another")
    if not isinstance(listings, Iterable):
        raise OptionError(f"listings is {listings!r}: expected a list of files or addresses; leave it out for none")
    if isinstance(listings, str | bytes | PathLike):
        raise OptionError(
            f"listings is {listings!r}: expected several files or addresses: give a list, such as [{listings!r}]"
        )
    source = read_source(given_path(path), REMEDY)
    vhost = vhost if source.vhost is None else source.vhost
    document = read_document(source)
    file = source.name
    found = [read_source(given_path(one), LISTING_REMEDY) for one in listings]
    for name, data in (*source.listings, *((one.name, one.data) for one in found)):
        merge_listing(document, name, read_listing(name, data), vhost)
    try:
        topology = _read(document, Entries(file, vhost), broker)
    except RecursionError:  # what is read of JSON takes less of the stack than what looks into it
        raise DefinitionsError(f"{file}: nests too deeply; {REMEDY}") from None
    _log_warnings(topology.warnings)
    return topology


def _read(document: dict[str, Any], entries: Entries, broker: str | None) -> Topology:
    """Return what the entries of a document declare."""
    declared = entries.read(document, "vhosts", entries.vhost)
    exchanges = entries.read(document, "exchanges", entries.exchange)
    version = _version(document) if broker is None else broker
    findings = Findings(entries.source)
    bindings = entries.read(document, "bindings", entries.binding)
    queues = entries.read(document, "queues", entries.queue)
    note_nulls("exchanges", exchanges, findings)
    note_nulls("queues", queues, findings)
    policies = entries.read(document, "policies", entries.policy)
    check_limits(queues, policies, findings)
    return _topology(
        vhosts=declared if "vhosts" in document else None,
        exchanges=exchanges,
        queues=queues,
        bindings=as_bound(bindings, exchanges, rules_of(version), findings),
        policies=policies,
        default_vhost=entries.default_vhost,
        findings=findings,
        broker=version,
    )


def topology_of(
    *,
    exchanges: Iterable[Exchange] = (),
    queues: Iterable[Queue] = (),
    bindings: Iterable[Binding] = (),
    policies: Iterable[Policy] = (),
    vhosts: Iterable[str] | None = None,
    default_vhost: str = "/",
    source: str = "",
    broker: str = NEWEST,
) -> Topology:
    """Make a topology from values; ``vhosts=None`` declares those that are used, or the default one if none is.

    ``broker`` is the version of RabbitMQ whose rules hold where versions differ.

    Raises :class:`DefinitionsError` for an exchange or queue that is declared twice with different types, and for a value that no
    broker could hold: of another kind, with a field of another type, or with a name of over 255 bytes; the text names its position,
    its name and its field. Raises :class:`OptionError` for a ``broker`` that is no version, and for what is no list, such as ``vhosts``
    that are one text, whose letters would be vhosts.
    """
    rules_of(broker)
    if not isinstance(source, str):
        raise OptionError(f"source is {source!r}: expected what the topology is called in texts, such as 'defs.json'")
    findings = Findings(source)
    return _topology(
        exchanges=given_values(exchanges, Exchange, findings),
        queues=given_values(queues, Queue, findings),
        bindings=given_values(bindings, Binding, findings),
        policies=given_values(policies, Policy, findings),
        vhosts=None if vhosts is None else given_names("vhosts", vhosts),
        default_vhost=given_name("default_vhost", default_vhost),
        findings=findings,
        broker=broker,
    )


def _topology(
    *,
    exchanges: Iterable[Exchange],
    queues: Iterable[Queue],
    bindings: Iterable[Binding],
    policies: Iterable[Policy],
    vhosts: Iterable[str] | None,
    default_vhost: str,
    findings: Findings,
    broker: str,
) -> Topology:
    """Make a topology of values, and add to what was found when they were read."""
    exchanges, queues, bindings, policies = tuple(exchanges), tuple(queues), tuple(bindings), tuple(policies)
    given: tuple[Sequence[Exchange | Queue | Binding | Policy], ...] = (exchanges, queues, bindings, policies)
    used = dict.fromkeys(value.vhost for values in given for value in values)
    known = tuple(dict.fromkeys(vhosts)) if vhosts is not None else tuple(used) or (default_vhost,)
    every_vhost = (*known, *(name for name in used if name not in known))
    if len(every_vhost) > len(known):
        check_vhosts(given, known, findings)
    kept_exchanges = declared_once(exchanges, findings)
    kept_queues = declared_once(queues, findings)
    stated = {(exchange.vhost, exchange.name) for exchange in kept_exchanges}
    implied = [
        exchange
        for vhost in every_vhost
        for exchange in predeclared_exchanges(vhost)
        if (vhost, exchange.name) not in stated
    ]
    declared = Declarations(
        vhosts=every_vhost,
        exchanges=(*kept_exchanges, *implied),
        queues=kept_queues,
        bindings=bindings,
        policies=policies,
        source=findings.source,
        exchange_positions=_positions(exchanges),
    )
    check_bindings(declared, findings)
    check_alternates(declared, findings)
    return Topology(
        vhosts=declared.vhosts,
        exchanges=declared.exchanges,
        queues=declared.queues,
        bindings=declared.bindings,
        policies=declared.policies,
        warnings=findings.warnings(),
        source=findings.source,
        broker=broker,
        exchange_positions=declared.exchange_positions,
    )


def _positions(exchanges: Sequence[Exchange]) -> dict[tuple[str, str], int]:
    positions: dict[tuple[str, str], int] = {}
    for position, exchange in enumerate(exchanges):
        positions.setdefault((exchange.vhost, exchange.name), position)
    return positions


def _version(document: dict[str, Any]) -> str:
    """Return the version of the broker that wrote a file, or the newest one where the file does not tell."""
    for name in ("rabbitmq_version", "rabbit_version"):
        version = document.get(name)
        if isinstance(version, str):
            with suppress(OptionError):
                rules_of(version)
                return version
    return NEWEST


def _log_warnings(warnings: Sequence[TopologyWarning]) -> None:
    for number, warning in enumerate(warnings):
        _log.log(logging.WARNING if number < LOGGED else logging.INFO, "%s", warning)
        if number + 1 == LOGGED < len(warnings):
            _log.warning("... and %d more warnings about this file", len(warnings) - LOGGED)
