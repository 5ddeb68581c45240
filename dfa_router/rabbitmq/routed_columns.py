"""The answer for a batch as Arrow columns: who gets each message."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from dfa_router.arrow.capsules import stream_of

__all__ = ["CHOICE", "CHOICES", "ROUTED", "RoutedColumns", "routed_fields"]

CHOICE = pa.struct(
    [
        ("exchange", pa.string()),
        (
            "candidates",
            pa.list_(
                pa.struct([("destination", pa.string()), ("destination_type", pa.string()), ("share", pa.float64())])
            ),
        ),
    ]
)
"""An exchange that takes one of its destinations, and these."""
_NAMES = pa.list_(pa.string())
ROUTED = (
    pa.field("queues", _NAMES),
    pa.field("routed", pa.bool_()),
    pa.field("not_simulated", _NAMES),
    pa.field("problem", pa.string()),
)
"""The columns that every result has."""
CHOICES = pa.field("one_of", pa.list_(CHOICE))
"""The column behind these, where a topology has exchanges that choose."""


def routed_fields(chooses: bool) -> tuple[pa.Field, ...]:
    """Return the columns of a result; ``chooses`` says whether the topology has exchanges that choose."""
    return (*ROUTED, CHOICES) if chooses else ROUTED


@dataclass(frozen=True, slots=True)
class RoutedColumns:
    """A row per message, as Arrow arrays of one length.

    Libraries that read Arrow's PyCapsule interface take it as a table of these columns: ``polars.DataFrame(columns)``,
    ``pyarrow.table(columns)``, ``duckdb.from_arrow(columns)``. It is no tuple: polars would take the columns for rows.

    >>> import pyarrow as pa
    >>> from dfa_router.rabbitmq import Queue, topology_of
    >>> router = topology_of(queues=[Queue(name="q")]).compile()
    >>> pa.table(router.route_columns(["", ""], ["q", "r"])).select(["queues", "routed"]).to_pylist()
    [{'queues': ['q'], 'routed': True}, {'queues': [], 'routed': False}]
    """

    _fields: ClassVar = tuple(field.name for field in ROUTED)
    """The names of the first columns. ``one_of`` follows them where the topology has exchanges that choose."""

    queues: pa.ListArray
    """list<string>: the queues that get a copy, sorted; empty, never null, where none does."""
    routed: pa.BooleanArray
    """Whether any queue gets the message, be it one of several."""
    not_simulated: pa.ListArray
    """list<string>: exchanges on the way whose type is not simulated, or that go by headers which are not known."""
    problem: pa.StringArray
    """What was wrong with the row, or null."""
    one_of: pa.ListArray
    """list<struct<exchange, candidates>>: exchanges on the way that hand the message to one of their destinations, and nobody can
    tell which; ``candidates`` has destination, destination_type and share of each. Empty where there are no such exchanges."""
    chooses: bool = False
    """Whether there are any in the topology."""

    def __getitem__(self, place: int) -> pa.Array:
        """Return a column by its place."""
        return tuple(self)[place]

    def __iter__(self) -> Iterator[pa.Array]:
        """Yield the columns in this order; ``one_of`` only where there is something to choose."""
        return (getattr(self, name) for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that the table has."""
        return (*self._fields, "one_of") if self.chooses else self._fields

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Hand over the columns as a table."""
        table = pa.record_batch(list(self), list(self.names))
        return stream_of(table.schema, [table], requested_schema)
