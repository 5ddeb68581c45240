"""Listings of exchanges, queues and bindings, merged into an export: what exports leave out.

A broker exports no internal exchange, no exclusive queue and, depending on its version, not the bindings of these. Listings have all
of them: ``/api/exchanges``, ``/api/queues`` and ``/api/bindings`` of the management API, or what ``rabbitmqctl list_exchanges``,
``list_queues`` and ``list_bindings`` write with ``--formatter json``. What the export says stands; a listing adds what it does not
say, and that an exchange is internal, which newer exports leave out, too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dfa_router.errors import DefinitionsError
from dfa_router.rabbitmq.declared import predeclared_exchanges
from dfa_router.rabbitmq.document import parsed

__all__ = ["LISTING_REMEDY", "merge_listing", "read_listing"]

LISTING_REMEDY = "write it with 'rabbitmqctl -q list_exchanges --formatter json'"

_QUEUE_TYPES = ("classic", "quorum", "stream", "rabbit_classic_queue", "rabbit_quorum_queue", "rabbit_stream_queue")
_OF_QUEUES = {"messages", "messages_ready", "exclusive", "consumers", "state", "pid", "owner_pid", "owner_pid_details"}
_TYPES = frozenset(
    {"array", "binary", "bool", "byte", "decimal", "double", "float", "long", "longstr", "short", "signedint", "table"}
    | {"timestamp", "unsignedbyte", "unsignedint", "unsignedlong", "unsignedshort", "void"}
)
"""What ``rabbitmqctl`` calls the types of arguments."""
_PREDECLARED = {exchange.name for exchange in predeclared_exchanges("/")}


def read_listing(source: str, raw: bytes) -> Any:
    """Return the JSON value of a listing; raises :class:`DefinitionsError` with file, place and remedy."""
    return parsed(source, raw, LISTING_REMEDY, _elements)


def merge_listing(document: dict[str, Any], source: str, listing: Any, vhost: str) -> None:
    """Add to a definitions document what a listing has and it has not; ``vhost`` is that of entries that name none.

    Raises :class:`DefinitionsError` for what is no listing.

    >>> document = {"exchanges": [{"name": "x", "vhost": "/", "type": "topic"}]}
    >>> merge_listing(document, "x.json", [{"name": "i", "vhost": "/", "type": "fanout", "internal": True}], "/")
    >>> [entry["name"] for entry in document["exchanges"]]
    ['x', 'i']
    """
    if isinstance(listing, dict) and isinstance(listing.get("items"), list):
        listing = listing["items"]  # as the API writes pages
    if not isinstance(listing, list) or not all(isinstance(entry, dict) for entry in listing):
        raise DefinitionsError(
            f"{source}: is no listing; expected what /api/exchanges, /api/queues or /api/bindings of the management API writes, or "
            "'rabbitmqctl list_exchanges --formatter json'"
        )
    entries = [{name: value for name, value in entry.items() if value is not None} for entry in listing]
    for entry in entries:
        _check_binding(entry, source)
    for section, add in (("bindings", _bindings), ("queues", _queues), ("exchanges", _exchanges)):
        of_section = [entry for entry in entries if _section(entry, source) == section]
        if of_section:
            known = document.setdefault(section, [])
            if isinstance(known, list):  # else who reads the document says what is wrong with it
                add(known, of_section, vhost)


def _elements(pairs: list[tuple[str, Any]]) -> list[Any] | None:
    """Return an array of which two elements have one type: ``rabbitmqctl`` writes an object, whose keys are the types."""
    return [list(one) for one in pairs] if {kind for kind, _ in pairs} <= _TYPES else None


def _section(entry: Mapping[str, Any], source: str) -> str:
    if {"source", "destination"} <= entry.keys() or {"source_name", "destination_name"} <= entry.keys():
        return "bindings"
    if "name" in entry and (entry.keys() & _OF_QUEUES or entry.get("type") in _QUEUE_TYPES):
        return "queues"
    if "name" in entry and isinstance(entry.get("type"), str):
        return "exchanges"
    raise DefinitionsError(
        f"{source}: an entry with the keys {', '.join(map(repr, list(entry)[:5])) or 'none'} is no exchange, queue or binding; list "
        "at least name and type, or source, destination, its kind and routing_key"
    )


def _check_binding(entry: Mapping[str, Any], source: str) -> None:
    """Refuse a binding that lacks what decides where it leads, as ``rabbitmqctl`` writes where columns are named."""
    lacks = [
        name
        for name, other in (("destination_type", "destination_kind"), ("routing_key", "routing_key"))
        if name not in entry and other not in entry
    ]
    if lacks and _section(entry, source) == "bindings":
        raise DefinitionsError(
            f"{source}: a binding without {' and '.join(lacks)}: list bindings with all of their columns, as 'rabbitmqctl list_bindings "
            "--formatter json' does where none is named"
        )


def _exchanges(known: list[Any], listed: Iterable[Mapping[str, Any]], vhost: str) -> None:
    by_name = {_place(entry, vhost): entry for entry in known if isinstance(entry, dict)}
    for entry in listed:
        place = _place(entry, vhost)
        if place in by_name:
            if entry.get("internal") is True:
                by_name[place].setdefault("internal", True)
        elif place[1] not in _PREDECLARED:
            by_name[place] = _kept(entry, vhost, ("name", "type", "internal", "durable", "auto_delete"))
            known.append(by_name[place])


def _queues(known: list[Any], listed: Iterable[Mapping[str, Any]], vhost: str) -> None:
    places = {_place(entry, vhost) for entry in known if isinstance(entry, dict)}
    for entry in listed:
        if _place(entry, vhost) not in places:
            places.add(_place(entry, vhost))
            known.append(_kept(entry, vhost, ("name", "type", "durable", "auto_delete")))


def _bindings(known: list[Any], listed: Iterable[Mapping[str, Any]], vhost: str) -> None:
    places = {_ends(entry, vhost) for entry in known if isinstance(entry, dict)}
    bare = {ends[:-1] for ends in places}
    for entry in listed:
        kept = {
            "vhost": entry.get("vhost", vhost),
            "source": entry.get("source", entry.get("source_name", "")),
            "destination": entry.get("destination", entry.get("destination_name")),
            "destination_type": entry.get("destination_type", entry.get("destination_kind")),
            "routing_key": entry.get("routing_key", ""),
            "arguments": _arguments(entry),
        }
        ends = _ends(kept, vhost)
        # Where arguments are not listed, a binding with any is the same one, and not another that asks for nothing.
        if kept["source"] and ends not in places and ("arguments" in entry or ends[:-1] not in bare):
            places.add(ends)
            bare.add(ends[:-1])
            known.append(kept)


def _place(entry: Mapping[str, Any], vhost: str) -> tuple[Any, Any]:
    return str(entry.get("vhost", vhost)), str(entry.get("name"))


def _ends(entry: Mapping[str, Any], vhost: str) -> tuple[str, ...]:
    names = ("source", "destination", "destination_type", "routing_key")
    arguments = json.dumps(_arguments(entry), sort_keys=True, default=str)
    return (str(entry.get("vhost", vhost)), *(str(entry.get(name)) for name in names), arguments)


def _kept(entry: Mapping[str, Any], vhost: str, names: Iterable[str]) -> dict[str, Any]:
    kept = {name: entry[name] for name in names if name in entry}
    return {"vhost": entry.get("vhost", vhost), **kept, "arguments": _arguments(entry)}


def _arguments(entry: Mapping[str, Any]) -> Any:
    """Return arguments as an object: ``rabbitmqctl`` writes them as a list of (name, type, value)."""
    arguments = entry.get("arguments") or {}
    if isinstance(arguments, list) and all(isinstance(one, list) and len(one) == 3 for one in arguments):
        return {str(name): _exported(kind, value) for name, kind, value in arguments}
    return arguments


def _exported(kind: Any, value: Any) -> Any:
    """Return a value that ``rabbitmqctl`` lists with its type as an export has it: so one binding is not taken for two."""
    if kind == "table" and isinstance(value, list):
        return _arguments({"arguments": value})
    if kind == "array" and isinstance(value, dict):  # the types of the elements with the elements
        return [_exported(*one) for one in value.items()]
    if kind == "array" and isinstance(value, list):
        return [_exported(*one) for one in value if isinstance(one, list) and len(one) == 2]
    if kind == "decimal" and isinstance(value, list):
        return float(".".join(map(str, value)))  # 1.5 is 1 place and 15, and is exported as 1.15
    return value
