"""The dialects as plain values, for the page, whose script reads them as this package does."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from dfa_router.language.dialects import DIALECTS, Dialect

__all__ = ["page_dialect", "page_dialects"]


def page_dialect(dialect: Dialect) -> dict[str, Any]:
    """Return the fields of a dialect, with text in place of bytes.

    >>> from dfa_router.language.dialects import MQTT
    >>> page_dialect(MQTT)["separator"]
    '/'
    """
    values = {one.name: getattr(dialect, one.name) for one in fields(dialect) if one.init}
    return {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()}


def page_dialects() -> list[dict[str, Any]]:
    """Return all dialects that have a name, in the order in which commands list them."""
    return [page_dialect(dialect) for dialect in DIALECTS.values()]
