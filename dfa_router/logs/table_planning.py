"""A Delta or Iceberg table as a log that Arrow reads: its files, columns and partitions are those that the table's log says.

Left to Spark, by :class:`OtherWayError`: files with columns of other types than the table has them, such as a column that was
widened later, or times of 96 bits; files that are kept apart by other columns than the rest; and tables in a store, whose
addresses and credentials its library and Arrow take from different places.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import fs

from dfa_router.logs.partitions import OtherWayError
from dfa_router.logs.planning import Footer, Plan, divided, footers_of
from dfa_router.logs.stores import Found
from dfa_router.tables import Table

__all__ = ["WidenedError", "planned_table"]


class WidenedError(OtherWayError):
    """A file has a column of a narrower type than the table; not every version of Spark reads such a file."""


def planned_table(table: Table, *, cores: int) -> Plan:
    """Plan a table, for so many cores; reads the footer of each file. Raises :class:`OtherWayError` for one that Spark has to read.

    >>> import pyarrow as pa
    >>> plan = planned_table(Table(format="delta", version=0, files=(), schema=pa.schema({"exchange": pa.string()})), cores=2)
    >>> plan.rows, plan.schema.names
    (0, ['exchange'])
    """
    remote = next((file.path for file in table.files if "://" in file.path), None)
    if remote is not None:
        raise OtherWayError(f"its files lie in a store, such as {remote}")
    if len({frozenset(file.partition) for file in table.files}) > 1:
        raise OtherWayError("its files are kept apart by other columns than they once were")
    constant = tuple(name for name in table.schema.names if table.files and name in table.files[0].partition)
    store = fs.LocalFileSystem()
    files = [Found(file.path, 0, ()) for file in table.files]
    footers = footers_of(store, files)
    for footer in footers:
        _check(footer, table.schema, constant)
    # Columns that a file lacks are null there, whatever the table says of them.
    schema = pa.schema([field.with_nullable(True) for field in table.schema])
    values = [tuple(file.partition[name].as_py() for name in constant) for file in table.files]
    return divided(store, footers, schema, constant, values, cores)


def _check(footer: Footer, schema: pa.Schema, constant: tuple[str, ...]) -> None:
    """Raise :class:`OtherWayError` for a file whose columns are not those of the table as they are."""
    names = {name.lower(): name for name in schema.names}
    held = [field for field in footer.schema if field.name.lower() in names]
    if len({field.name.lower() for field in held}) < len(held):
        raise OtherWayError(f"{footer.file.path} has columns whose names differ by their case alone, or not at all")
    if footer.old_times:
        raise OtherWayError(f"{footer.file.path} has times of 96 bits")
    for field in held:
        name = names[field.name.lower()]
        if field.name != name:
            raise OtherWayError(f"{footer.file.path} writes column {name!r} as {field.name!r}")
        kind = schema.field(name).type
        if field.type != kind and name not in constant:
            said = f"column {name!r} is {field.type} in {footer.file.path}, and {kind} in the table"
            raise (WidenedError if _is_narrower(field.type, kind) else OtherWayError)(said)


def _is_narrower(kind: pa.DataType, wide: pa.DataType) -> bool:
    """Tell whether a column of a type may be widened to another; Delta and Iceberg know such widenings of these types alone."""
    if pa.types.is_integer(kind):
        return bool(pa.types.is_int64(wide) or pa.types.is_float64(wide) or pa.types.is_decimal(wide))
    if pa.types.is_float32(kind):
        return bool(pa.types.is_float64(wide))
    return bool(
        (pa.types.is_decimal(kind) and pa.types.is_decimal(wide))
        or (pa.types.is_date(kind) and pa.types.is_timestamp(wide))
    )
