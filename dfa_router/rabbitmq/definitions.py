"""Reading what ``rabbitmqctl export_definitions`` and the management API write.

The same reader takes exports of all ages: whole-broker files, files of one vhost (which name no vhost), files whose
empty arguments are ``[]`` and files that leave ``internal`` out. Users, permissions and parameters are never looked at,
so no password hash gets into memory that lives on.

What a file means is checked in :func:`topology_of`, which programs may call with values of their own: a name that a
binding uses and nobody declares is kept and becomes a :class:`TopologyWarning`, because real exports have such names (a
broker exports the bindings of internal exchanges and exclusive queues, but not these themselves). What cannot be
understood at all is a :class:`DefinitionsError`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar

from dfa_router.errors import DefinitionsError
from dfa_router.rabbitmq.document import read_document
from dfa_router.rabbitmq.topology import (
    ALTERNATE,
    Binding,
    Exchange,
    Policy,
    Queue,
    Topology,
    TopologyWarning,
    predeclared_exchanges,
)

__all__ = ["load_definitions", "topology_of"]

MAX_BYTES = 255
"""AMQP 0-9-1 carries names and binding keys as short strings: a length byte and up to 255 bytes."""

LOGGED = 3
"""So many warnings of a file are logged as warnings; the others at level INFO."""

_log = logging.getLogger(__name__)
_Value = TypeVar("_Value")


def load_definitions(path: str | PathLike[str], vhost: str = "/") -> Topology:
    """Read a definitions file.

    ``vhost`` is where entries belong that name no vhost, as in an export of one vhost alone.

    Raises :class:`DefinitionsError`, whose text names the file, the place in it and what to do. What is odd but can be
    routed is listed in ``topology.warnings`` and logged.
    """
    file = Path(path)
    document = read_document(file)
    entries = _Entries(str(file), vhost)
    declared = entries.read(document, "vhosts", entries.vhost)
    topology = topology_of(
        vhosts=declared if "vhosts" in document else None,
        exchanges=entries.read(document, "exchanges", entries.exchange),
        queues=entries.read(document, "queues", entries.queue),
        bindings=entries.read(document, "bindings", entries.binding),
        policies=entries.read(document, "policies", entries.policy),
        default_vhost=vhost,
        source=str(file),
    )
    _log_warnings(topology.warnings)
    return topology


def topology_of(
    *,
    exchanges: Iterable[Exchange] = (),
    queues: Iterable[Queue] = (),
    bindings: Iterable[Binding] = (),
    policies: Iterable[Policy] = (),
    vhosts: Iterable[str] | None = None,
    default_vhost: str = "/",
    source: str = "",
) -> Topology:
    """Make a topology from values; ``vhosts=None`` declares those that are used, or the default one if none is.

    Raises :class:`DefinitionsError` for an exchange or queue that is declared twice with different types.
    """
    exchanges, queues, bindings, policies = tuple(exchanges), tuple(queues), tuple(bindings), tuple(policies)
    given: tuple[Sequence[Exchange | Queue | Binding | Policy], ...] = (exchanges, queues, bindings, policies)
    used = dict.fromkeys(value.vhost for values in given for value in values)
    declared = tuple(dict.fromkeys(vhosts)) if vhosts is not None else tuple(used) or (default_vhost,)
    every_vhost = (*declared, *(name for name in used if name not in declared))
    findings = _Findings(source)
    if len(every_vhost) > len(declared):
        for values in given:
            for position, value in enumerate(values):
                section = _SECTION[type(value)]
                if value.vhost not in declared:
                    findings.add("undeclared-vhost", value.vhost, value.vhost, f"{section}[{position}].vhost")
    kept_exchanges = _declared_once(exchanges, findings)
    kept_queues = _declared_once(queues, findings)
    stated = {(exchange.vhost, exchange.name) for exchange in kept_exchanges}
    implied = [
        exchange
        for vhost in every_vhost
        for exchange in predeclared_exchanges(vhost)
        if (vhost, exchange.name) not in stated
    ]
    topology = Topology(
        vhosts=every_vhost,
        exchanges=(*kept_exchanges, *implied),
        queues=kept_queues,
        bindings=bindings,
        policies=policies,
        source=source,
    )
    _check_bindings(topology, findings)
    _check_alternates(topology, findings)
    object.__setattr__(topology, "warnings", findings.warnings())  # the one writer, before anyone has seen the value
    return topology


_SECTION: dict[type, str] = {Exchange: "exchanges", Queue: "queues", Binding: "bindings", Policy: "policies"}

_ADVICE = {
    "undeclared-vhost": "used, but not declared; it is routed in as if it were",
    "undeclared-queue": "bound, but not declared (an exclusive queue, or a typing error?); its copies are counted, "
    "but the default exchange does not know it; declare it to be sure",
    "undeclared-exchange": "used by a binding, but not declared (exports leave internal exchanges out); its type is "
    "unknown, so routes that reach it name it as not simulated; add it to the file with its type",
    "undeclared-alternate-exchange": "named as alternate exchange, but not declared; the broker drops what would go there",
    "repeated-declaration": "declared more than once; the first declaration is used, as on import",
    "default-exchange-binding": "a binding of the default exchange, which has none but its own; the broker refuses it",
    "unreadable-policy": "its pattern is no regular expression that can be read here as the broker reads it; "
    "the policy is ignored: rewrite the pattern",
    "tied-policies": "several policies of one priority match it and differ in the alternate exchange; the first in the "
    "file is used, but a broker may choose another: give them different priorities",
}


class _Findings:
    """Warnings in the making: one per (kind, vhost, name), with its first place and a count."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._found: dict[tuple[str, str, str], list[Any]] = {}

    def add(self, kind: str, vhost: str, name: str, place: str) -> None:
        entry = self._found.setdefault((kind, vhost, name), [place, 0])
        entry[1] += 1

    def at(self, place: str) -> str:
        return f"{self.source}: {place}" if self.source else place

    def warnings(self) -> tuple[TopologyWarning, ...]:
        return tuple(
            TopologyWarning(kind=kind, vhost=vhost, name=name, place=self.at(place), count=count, advice=_ADVICE[kind])
            for (kind, vhost, name), (place, count) in self._found.items()
        )


_Declared = TypeVar("_Declared", Exchange, Queue)


def _declared_once(values: Sequence[_Declared], findings: _Findings) -> tuple[_Declared, ...]:
    first: dict[tuple[str, str], tuple[int, _Declared]] = {}
    for position, value in enumerate(values):
        earlier, kept = first.setdefault((value.vhost, value.name), (position, value))
        if earlier == position:
            continue
        section = _SECTION[type(value)]
        place = f"{section}[{position}]"
        if kept.type != value.type:
            raise DefinitionsError(
                f"{findings.at(place)}.type: {section[:-1]} {value.name!r} of vhost {value.vhost!r} is {value.type!r} here "
                f"and {kept.type!r} in {section}[{earlier}]; a broker has one of them: remove the other"
            )
        findings.add("repeated-declaration", value.vhost, value.name, place)
    return tuple(value for _, value in first.values())


def _check_bindings(topology: Topology, findings: _Findings) -> None:
    queues = {(queue.vhost, queue.name) for queue in topology.queues}
    exchanges = {(exchange.vhost, exchange.name) for exchange in topology.exchanges}
    for position, binding in enumerate(topology.bindings):
        vhost = binding.vhost
        if (vhost, binding.source) not in exchanges:
            findings.add("undeclared-exchange", vhost, binding.source, f"bindings[{position}].source")
        elif not binding.source and (binding.routing_key != binding.destination or binding.destination_type != "queue"):
            findings.add("default-exchange-binding", vhost, binding.destination, f"bindings[{position}]")
        known = queues if binding.destination_type == "queue" else exchanges
        if (vhost, binding.destination) not in known:
            kind = f"undeclared-{binding.destination_type}"
            findings.add(kind, vhost, binding.destination, f"bindings[{position}].destination")


def _check_alternates(topology: Topology, findings: _Findings) -> None:
    for position, policy in enumerate(topology.policies):
        if policy.apply_to in {"all", "exchanges"} and policy.expression() is None:
            findings.add("unreadable-policy", policy.vhost, policy.name, f"policies[{position}].pattern")
    places = {(policy.vhost, policy.name): position for position, policy in enumerate(topology.policies)}
    by_policy = any(ALTERNATE in policy.definition for policy in topology.policies)
    for position, exchange in enumerate(topology.exchanges):
        if not exchange.name or (not by_policy and ALTERNATE not in exchange.arguments):
            continue
        place = f"exchanges[{position}].arguments.{ALTERNATE}"
        if ALTERNATE not in exchange.arguments:
            tied = next((list(group) for _, group in groupby(topology.matching_policies(exchange), _priority)), None)
            if tied is None:
                continue
            place = f"policies[{places[tied[0].vhost, tied[0].name]}].definition.{ALTERNATE}"
            if len({policy.definition.get(ALTERNATE) for policy in tied}) > 1:
                findings.add("tied-policies", exchange.vhost, exchange.name, place)
        alternate = topology.alternate_exchange(exchange)
        if alternate is not None and (exchange.vhost, alternate) not in topology.exchanges_by_name:
            findings.add("undeclared-alternate-exchange", exchange.vhost, alternate, place)


def _priority(policy: Policy) -> int:
    return policy.priority


def _log_warnings(warnings: Sequence[TopologyWarning]) -> None:
    for number, warning in enumerate(warnings):
        _log.log(logging.WARNING if number < LOGGED else logging.INFO, "%s", warning)
        if number + 1 == LOGGED < len(warnings):
            _log.warning("... and %d more warnings about this file", len(warnings) - LOGGED)


class _Entries:
    """The entries of one file as values; an entry that cannot be one is an error that names its place."""

    def __init__(self, source: str, vhost: str) -> None:
        self.source = source
        self.default_vhost = vhost

    def read(
        self, document: dict[str, Any], section: str, make: Callable[[dict[str, Any], str], _Value]
    ) -> list[_Value]:
        entries = document.get(section, [])
        if not isinstance(entries, list):
            raise self.wrong(section, "a list", entries)
        values = []
        for position, entry in enumerate(entries):
            place = f"{section}[{position}]"
            if not isinstance(entry, dict):
                raise self.wrong(place, "an object", entry)
            values.append(make(entry, place))
        return values

    def vhost(self, entry: dict[str, Any], place: str) -> str:
        return self.name(entry, place, "name")

    def exchange(self, entry: dict[str, Any], place: str) -> Exchange:
        arguments = self.arguments(entry, place, "arguments")
        if ALTERNATE in arguments and not isinstance(arguments[ALTERNATE], str):
            raise self.wrong(f"{place}.arguments.{ALTERNATE}", "the name of an exchange", arguments[ALTERNATE])
        internal = entry.get("internal", False)
        if not isinstance(internal, bool):
            raise self.wrong(f"{place}.internal", "true or false", internal)
        return Exchange(
            vhost=self.name(entry, place, "vhost", self.default_vhost),
            name=self.name(entry, place, "name"),
            type=self.name(entry, place, "type"),
            internal=internal,
            arguments=arguments,
        )

    def queue(self, entry: dict[str, Any], place: str) -> Queue:
        arguments = self.arguments(entry, place, "arguments")
        kind = entry.get("type", arguments.get("x-queue-type"))
        if kind is not None and not isinstance(kind, str):
            raise self.wrong(f"{place}.type", "a string", kind)
        return Queue(
            vhost=self.name(entry, place, "vhost", self.default_vhost),
            name=self.name(entry, place, "name"),
            type=kind,
            arguments=arguments,
        )

    def binding(self, entry: dict[str, Any], place: str) -> Binding:
        return Binding(
            vhost=self.name(entry, place, "vhost", self.default_vhost),
            source=self.name(entry, place, "source"),
            destination=self.name(entry, place, "destination"),
            destination_type=self.destination_type(entry, place),
            routing_key=self.name(entry, place, "routing_key"),
            arguments=self.arguments(entry, place, "arguments"),
        )

    def destination_type(self, entry: dict[str, Any], place: str) -> Literal["queue", "exchange"]:
        kind = entry.get("destination_type")
        if kind == "queue":
            return "queue"
        if kind == "exchange":
            return "exchange"
        raise self.wrong(f"{place}.destination_type", "'queue' or 'exchange'", kind)

    def policy(self, entry: dict[str, Any], place: str) -> Policy:
        priority = entry.get("priority", 0)
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise self.wrong(f"{place}.priority", "a whole number", priority)
        definition = self.arguments(entry, place, "definition")
        if ALTERNATE in definition and not isinstance(definition[ALTERNATE], str):
            raise self.wrong(f"{place}.definition.{ALTERNATE}", "the name of an exchange", definition[ALTERNATE])
        pattern = entry.get("pattern")
        if not isinstance(pattern, str):
            raise self.wrong(f"{place}.pattern", "a regular expression", pattern)
        return Policy(
            vhost=self.name(entry, place, "vhost", self.default_vhost),
            name=self.name(entry, place, "name"),
            pattern=pattern,
            apply_to=self.name(entry, place, "apply-to", "all"),
            priority=priority,
            definition=definition,
        )

    def name(self, entry: dict[str, Any], place: str, field: str, default: str | None = None) -> str:
        value = entry.get(field, default)
        if not isinstance(value, str):
            raise self.wrong(f"{place}.{field}", "a string", value)
        if len(value) > MAX_BYTES or not value.isascii():
            self.check_bytes(value, f"{place}.{field}")
        return value

    def check_bytes(self, value: str, place: str) -> None:
        try:
            size = len(value.encode())
        except UnicodeEncodeError as error:
            raise DefinitionsError(
                f"{self.source}: {place}: has half of a surrogate pair at character {error.start}, which has no UTF-8 "
                "form; no broker wrote that: correct the escape \\ud8.. there"
            ) from None
        if size > MAX_BYTES:
            raise DefinitionsError(
                f"{self.source}: {place}: has {size} bytes ({value[:30]!r}...), but AMQP carries at most {MAX_BYTES}; "
                "no broker can hold it: shorten it"
            )

    def arguments(self, entry: dict[str, Any], place: str, field: str) -> Any:
        value = entry.get(field)
        if isinstance(value, dict):
            return value
        if value is None or value == []:  # older brokers wrote an empty table as an empty list
            return {}
        raise self.wrong(f"{place}.{field}", "an object", value)

    def wrong(self, place: str, expected: str, found: object) -> DefinitionsError:
        what = "is missing" if found is None else f"is {str(found)[:60]!r} ({type(found).__name__})"
        return DefinitionsError(
            f"{self.source}: {place}: {what}; expected {expected}: correct it there, or export the definitions again"
        )
