"""Opening a definitions file: bytes to a JSON object, or an error that says what the file is instead.

People point tools at the wrong file more often than at a broken one, so a file of another kind is recognised by what it
looks like (another listing of the broker, an error page of its API, an export in another format), and the error names the
command that writes the right one.
"""

from __future__ import annotations

import json
from typing import Any

from dfa_router.errors import DefinitionsError
from dfa_router.no_text import no_text
from dfa_router.rabbitmq.sources import Source
from dfa_router.strict_json import Repeated, RepeatedKeyError, loads

__all__ = ["KNOWN_KEYS", "REMEDY", "parsed", "read_document"]

REMEDY = "write it with 'rabbitmqctl export_definitions defs.json' or download /api/definitions of the management API"

KNOWN_KEYS = frozenset(
    {"bindings", "exchanges", "queues", "vhosts", "policies", "permissions", "topic_permissions", "users"}
    | {"parameters", "global_parameters", "operator_policies", "rabbit_version", "rabbitmq_version"}
)
"""Keys that a definitions file may have; one that has none of them is something else."""

_LISTINGS = (
    ({"source_name", "destination_name"}, "the output of 'rabbitmqctl list_bindings'"),
    ({"properties_key"}, "a list of bindings from /api/bindings"),
    ({"source", "destination"}, "a list of bindings"),
    ({"name", "type", "internal"}, "a list of exchanges, as 'rabbitmqctl list_exchanges' or /api/exchanges write it"),
    ({"name", "messages"}, "a list of queues, as 'rabbitmqctl list_queues' or /api/queues write it"),
    ({"exchange", "routing_key"}, "a log of messages, not the topology that they went through"),
)


def read_document(source: Source) -> dict[str, Any]:
    """Return the JSON object in definitions.

    Raises :class:`DefinitionsError` with file, place and remedy where there is none.
    """
    path = source.name
    document = parsed(path, source.data)
    if isinstance(document, list):
        raise DefinitionsError(f"{path}: {_listing(document)}; expected a definitions file: {REMEDY}")
    if not isinstance(document, dict):
        raise DefinitionsError(
            f"{path}: holds a JSON {_kind(document)}; expected an object with exchanges and bindings: {REMEDY}"
        )
    if not document.keys() & KNOWN_KEYS:
        raise DefinitionsError(
            f"{path}: {_foreign(document)}; expected one with exchanges, queues and bindings: {REMEDY}"
        )
    return document


def parsed(path: str, raw: bytes, remedy: str = REMEDY, repeated: Repeated | None = None) -> Any:
    """Return the value of a JSON text; raises :class:`DefinitionsError` with file, place and what to do.

    ``remedy`` tells how to have the whole file, and ``repeated`` is that of :func:`~dfa_router.strict_json.loads`.
    """
    if (meaning := no_text(raw)) is not None:
        raise DefinitionsError(f"{path}: {meaning}")
    if not raw.strip():
        raise DefinitionsError(f"{path}: is empty; {remedy}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DefinitionsError(
            f"{path}: is not UTF-8: byte 0x{raw[error.start]:02x} at offset {error.start} (line {line}); "
            "JSON is UTF-8 by its standard: save the file as UTF-8, or export it again"
        ) from None
    try:
        return loads(text, repeated, finite=True)
    except RepeatedKeyError as error:
        raise DefinitionsError(
            f"{path}: {error}; no broker wrote that, and readers differ in which of the two they take: remove one"
        ) from None
    except json.JSONDecodeError as error:
        raise DefinitionsError(
            f"{path}: line {error.lineno}, column {error.colno}: {_not_json(text, error, remedy)}"
        ) from None
    except RecursionError:
        raise DefinitionsError(f"{path}: nests too deeply; {remedy}") from None
    except ValueError as error:  # such as an integer of more digits than Python reads
        raise DefinitionsError(f"{path}: is not JSON that can be read: {error}; {remedy}") from None


def _not_json(text: str, error: json.JSONDecodeError, remedy: str) -> str:
    if error.pos >= len(text.rstrip()):
        return f"ends in the middle of the JSON; copy the whole file, or {remedy}"
    shown = text[max(0, error.pos - 20) : error.pos + 20].strip()
    if text.lstrip().startswith(("Exporting definitions", "Listing ")):
        return "holds rabbitmqctl's progress message before the JSON: write it again with '-q'"
    if text.lstrip().startswith("<"):
        return "is HTML or XML, perhaps an error page of a proxy; log in to the management API and download again"
    first = text.lstrip().splitlines()[0]
    if error.msg == "Extra data" and first.startswith("{") and first.rstrip().endswith("}"):
        return f"holds more than one JSON document, as JSON lines do; {remedy}"
    return f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}, near {shown!r}; repair it there, or export it again"


def _listing(document: list[Any]) -> str:
    first = document[0] if document else None
    if isinstance(first, dict):
        for keys, meaning in _LISTINGS:
            if keys <= first.keys():
                return f"looks like {meaning}"
        return f"holds a list of objects with the keys {_some(first)}"
    return (
        f"holds a list of {len(document)} {'entry' if len(document) == 1 else 'entries'}"
        if document
        else "holds an empty list"
    )


def _foreign(document: dict[str, Any]) -> str:
    if "error" in document:
        reason = str(document.get("reason", document["error"]))[:200]
        return f"looks like an error of the management API ({reason!r})"
    if {"exchange", "routing_key"} <= document.keys():
        return "looks like a message of a log"
    return f"is an object with the keys {_some(document)}" if document else "is an empty object"


def _some(document: dict[str, Any]) -> str:
    keys = [repr(key) for key in document][:5]
    return ", ".join(keys) + (", ..." if len(document) > 5 else "")


def _kind(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "number", float: "number", type(None): "null"}
    return names.get(type(value), type(value).__name__)
