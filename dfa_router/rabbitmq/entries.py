"""The entries of a definitions file, a JSON object each, as values.

An entry that cannot be read as one is a :class:`DefinitionsError`; its text names the file, the place in it, what was
expected there and what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from dfa_router.errors import DefinitionsError
from dfa_router.rabbitmq.declared import ALTERNATE, Binding, Exchange, Policy, Queue
from dfa_router.short_strings import MAX_BYTES, fault_of

__all__ = ["Entries"]

_ABSENT = object()
"""In place of a field that an entry has not; JSON's null is None."""

_Value = TypeVar("_Value")


class Entries:
    """Makes values of the entries of one file."""

    def __init__(self, source: str, vhost: str) -> None:
        self.source = source
        self.default_vhost = vhost

    def read(
        self, document: dict[str, Any], section: str, make: Callable[[dict[str, Any], str], _Value]
    ) -> list[_Value]:
        """Return the values of a section, each made by ``make(entry, place)``; a missing section is an empty one."""
        entries = document.get(section, [])
        if not isinstance(entries, list):
            raise self._wrong(section, "a list", entries)
        values = []
        for position, entry in enumerate(entries):
            place = f"{section}[{position}]"
            if not isinstance(entry, dict):
                raise self._wrong(place, "an object", entry)
            values.append(make(entry, place))
        return values

    def vhost(self, entry: dict[str, Any], place: str) -> str:
        """Return the name of a vhost."""
        return self._name(entry, place, "name")

    def exchange(self, entry: dict[str, Any], place: str) -> Exchange:
        """Return an exchange."""
        arguments = self._arguments(entry, place, "arguments")
        if ALTERNATE in arguments and not isinstance(arguments[ALTERNATE], str):
            raise self._wrong(f"{place}.arguments.{ALTERNATE}", "the name of an exchange", arguments[ALTERNATE])
        internal = entry.get("internal", False)
        if not isinstance(internal, bool):
            raise self._wrong(f"{place}.internal", "true or false", internal)
        return Exchange(
            vhost=self._name(entry, place, "vhost", self.default_vhost),
            name=self._name(entry, place, "name"),
            type=self._name(entry, place, "type"),
            internal=internal,
            arguments=arguments,
        )

    def queue(self, entry: dict[str, Any], place: str) -> Queue:
        """Return a queue."""
        arguments = self._arguments(entry, place, "arguments")
        kind = entry.get("type", arguments.get("x-queue-type"))
        if kind is not None and not isinstance(kind, str):
            raise self._wrong(f"{place}.type", "a string", kind)
        return Queue(
            vhost=self._name(entry, place, "vhost", self.default_vhost),
            name=self._name(entry, place, "name"),
            type=kind,
            arguments=arguments,
        )

    def binding(self, entry: dict[str, Any], place: str) -> Binding:
        """Return a binding."""
        return Binding(
            vhost=self._name(entry, place, "vhost", self.default_vhost),
            source=self._name(entry, place, "source"),
            destination=self._name(entry, place, "destination"),
            destination_type=self._destination_type(entry, place),
            routing_key=self._name(entry, place, "routing_key"),
            arguments=self._arguments(entry, place, "arguments"),
        )

    def _destination_type(self, entry: dict[str, Any], place: str) -> Literal["queue", "exchange"]:
        kind = entry.get("destination_type", _ABSENT)
        if kind == "queue":
            return "queue"
        if kind == "exchange":
            return "exchange"
        raise self._wrong(f"{place}.destination_type", "'queue' or 'exchange'", kind)

    def policy(self, entry: dict[str, Any], place: str) -> Policy:
        """Return a policy."""
        priority = entry.get("priority", 0)
        if isinstance(priority, bool) or not isinstance(priority, int):
            raise self._wrong(f"{place}.priority", "a whole number", priority)
        definition = self._arguments(entry, place, "definition")
        if ALTERNATE in definition and not isinstance(definition[ALTERNATE], str):
            raise self._wrong(f"{place}.definition.{ALTERNATE}", "the name of an exchange", definition[ALTERNATE])
        pattern = entry.get("pattern", _ABSENT)
        if not isinstance(pattern, str):
            raise self._wrong(f"{place}.pattern", "a regular expression", pattern)
        return Policy(
            vhost=self._name(entry, place, "vhost", self.default_vhost),
            name=self._name(entry, place, "name"),
            pattern=pattern,
            apply_to=self._name(entry, place, "apply-to", "all"),
            priority=priority,
            definition=definition,
        )

    def _name(self, entry: dict[str, Any], place: str, field: str, default: object = _ABSENT) -> str:
        value = entry.get(field, default)
        if not isinstance(value, str):
            raise self._wrong(f"{place}.{field}", "a string", value)
        if len(value) > MAX_BYTES or not value.isascii():
            self._check_bytes(value, f"{place}.{field}")
        return value

    def _check_bytes(self, value: str, place: str) -> None:
        if (fault := fault_of(value)) is not None:
            raise DefinitionsError(
                f"{self.source}: {place}: {fault}; no broker can hold it: shorten or correct it there"
            )

    def _arguments(self, entry: dict[str, Any], place: str, field: str) -> Any:
        value = entry.get(field)
        if isinstance(value, dict):
            return value
        if value is None or value == []:  # older brokers wrote an empty table as an empty list
            return {}
        raise self._wrong(f"{place}.{field}", "an object", value)

    def _wrong(self, place: str, expected: str, found: object) -> DefinitionsError:
        if found is _ABSENT:
            what = "is missing"
        else:
            what = "is null" if found is None else f"is {str(found)[:60]!r} ({type(found).__name__})"
        return DefinitionsError(
            f"{self.source}: {place}: {what}; expected {expected}: correct it there, or export the definitions again"
        )
