"""Values of headers, in the kinds that RabbitMQ tells apart.

The broker compares values as Erlang does and not the names of their AMQP types: 5 is 5, whether it came in 8 bits or 64, a
``longstr`` is a ``binary`` of the same bytes, an empty array is an empty table, and ``"5"`` is no 5. Up to 3.12 it compares
with ``==``, so that 1 is 1.0; since 3.13 with ``=:=``, so that it is not. Timestamps of messages are whole numbers of seconds up
to 3.12, and since then of milliseconds, while those of bindings stay seconds.

Each value is a kind and bytes, equal where the broker says that the values are. What this leaves out: the types within arrays
and tables. They are compared as JSON, with numbers as they are written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any

from compiler.criteria.demands import PRESENCE, Field
from dfa_router.errors import MessagesError

__all__ = ["FALSE", "FLOAT", "INTEGER", "NESTED", "TEXT", "TRUE", "fields_of", "value_of"]

TEXT, INTEGER, FLOAT, TRUE, FALSE, DECIMAL, NESTED = range(1, 8)
"""The kinds of values; without one (AMQP's void) there is only the header's presence."""


def value_of(value: Any, *, strict: bool, name: object = "") -> tuple[int, bytes]:
    """Return the kind and the bytes of a header's value, as of 3.13 if ``strict``.

    Raises :class:`MessagesError` for a value that no header has.

    >>> value_of(1.0, strict=False) == value_of(1, strict=False), value_of(1.0, strict=True) == value_of(1, strict=True)
    (True, False)
    """
    if value is None:
        return PRESENCE, b""
    if isinstance(value, str):
        return TEXT, value.encode(errors="surrogatepass")
    if isinstance(value, bytes):
        return TEXT, value
    if isinstance(value, bool):
        return (TRUE if value else FALSE), b""
    if isinstance(value, int):
        return INTEGER, b"%d" % value
    if isinstance(value, float):
        whole = not strict and isfinite(value) and value.is_integer()
        return (INTEGER, b"%d" % int(value)) if whole else (FLOAT, repr(value + 0.0).encode())
    if isinstance(value, Decimal):
        return DECIMAL, str(value).encode()
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        return INTEGER, b"%d" % (int(moment.timestamp()) * (1000 if strict else 1))
    if isinstance(value, list | tuple | dict):
        # An empty array and an empty table are both Erlang's empty list.
        return NESTED, json.dumps(value or [], default=_as_text, separators=(",", ":")).encode()
    raise MessagesError(
        f"the header {name!r} has a value of type {type(value).__name__}: expected text, bytes, a number, a truth value, a "
        "datetime, None, or a list or dict of these"
    )


def fields_of(headers: Mapping[Any, Any] | None, *, strict: bool) -> list[Field]:
    """Return the headers of a message as fields; without BCC, which the broker takes away before it routes."""
    fields = []
    for name, value in (headers or {}).items():
        key = name.encode(errors="surrogatepass") if isinstance(name, str) else bytes(name)
        if key != b"BCC":
            kind, text = value_of(value, strict=strict, name=name)
            fields.append((key, kind, text))
    return fields


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="surrogateescape")
    if isinstance(value, date | Decimal):
        return str(value)
    raise MessagesError(
        f"a header holds a value of type {type(value).__name__} in a list or dict: no broker carries it"
    )
