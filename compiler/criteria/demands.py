"""What a demand on the fields of a message is, as plain values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["PRESENCE", "Criterion", "Demand", "Field", "criteria_of"]

PRESENCE = 0
"""The kind of a value that there is not: as a criterion, only the field's presence is asked for."""

Field = tuple[bytes, int, bytes]
"""A field of a message: its name, the kind of its value from 0 to 255, and the value's bytes. Values of different kinds are
different, whatever their bytes; what the kinds mean is up to those that make fields."""

Criterion = Field
"""What a demand asks of a message: a field with this name, kind and value; or, with the kind PRESENCE and no bytes, with this
name and any value."""


class Demand(NamedTuple):
    """Criteria, of which a message must meet all, or one."""

    criteria: tuple[Criterion, ...]
    """Ascending, without repetition."""
    every: bool
    """Whether all must be met. Of no criteria all are met, and none."""


def criteria_of(fields: Iterable[Field]) -> set[Criterion]:
    """Return all criteria that a message of these fields meets.

    >>> sorted(criteria_of([(b"a", 1, b"x"), (b"b", PRESENCE, b"")]))
    [(b'a', 0, b''), (b'a', 1, b'x'), (b'b', 0, b'')]
    """
    fields = list(fields)
    return {(name, PRESENCE, b"") for name, _, _ in fields} | {field for field in fields if field[1] != PRESENCE}
