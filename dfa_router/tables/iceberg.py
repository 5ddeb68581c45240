"""Iceberg tables, whose metadata and manifests ``pyiceberg`` reads.

Iceberg knows columns by number, and files have them by the name of the day on which they were written. Here they are read by
name, so a table where a name ever stood for another column is refused. So are columns with a value for rows that are older than
they, which stands in no file, delete files, and data that is not in Parquet.
In the URIs of this format nothing is encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyiceberg.exceptions import (
    NoSuchTableError,
    NotInstalledError,
    ValidationError,
)
from pyiceberg.table import StaticTable
from pyiceberg.transforms import IdentityTransform

from dfa_router.errors import EnvironmentLacksError, MessagesError
from dfa_router.tables.finding import Found
from dfa_router.tables.table import DataFile, Table, plain_path

__all__ = ["read"]


def read(found: Found) -> Table:
    """Return an Iceberg table; raises :class:`MessagesError`, which names the table and the remedy."""
    assert found.metadata is not None
    with _reading(found.root):
        table = StaticTable.from_metadata(plain_path(found.metadata))
    snapshot = _snapshot(found, table)
    with _reading(found.root):
        scan = table.scan(snapshot_id=found.version)
        schema = scan.projection()
        tasks = [] if snapshot is None else list(scan.plan_files())
    _check_names(found.root, schema, list(table.schemas().values()))
    _check_defaults(found.root, schema)
    for task in tasks:
        _check(found.root, task)
    columns = _plain(schema.as_arrow())
    files = tuple(
        DataFile(
            path=plain_path(task.file.file_path),
            partition=_partition(task.file, table.specs()[task.file.spec_id], schema, columns),
            rows=task.file.record_count,
        )
        for task in tasks
    )
    return Table(format="iceberg", version=-1 if snapshot is None else snapshot, files=files, schema=columns)


@contextmanager
def _reading(root: str) -> Iterator[None]:
    try:
        yield
    except NotInstalledError as error:  # what a remote file system needs
        raise EnvironmentLacksError(f"{root}: {error}") from error
    except (OSError, ValueError, NoSuchTableError, ValidationError, NotImplementedError) as error:
        told = " ".join(str(error).split())[:300]
        raise MessagesError(f"{root}: its Iceberg metadata cannot be read: {told}") from error


def _snapshot(found: Found, table: Any) -> int | None:
    if found.version is None:
        return table.metadata.current_snapshot_id  # type: ignore[no-any-return]
    if table.snapshot_by_id(found.version) is None:
        known = ", ".join(str(one.snapshot_id) for one in table.metadata.snapshots[-5:]) or "none"
        raise MessagesError(f"{found.root}: has no snapshot {found.version}; its newest ones: {known}")
    return found.version


def _check_names(root: str, schema: Any, schemas: list[Any]) -> None:
    """Refuse a table in whose files a name may stand for another column, or a column for another name."""
    now = {field_id: schema.find_column_name(field_id) for field_id in schema.field_ids}
    for other in schemas:
        before = {field_id: other.find_column_name(field_id) for field_id in other.field_ids}
        for field_id, name in before.items():
            present = now.get(field_id)
            if (present is not None and present != name) or (present is None and name in now.values()):
                raise MessagesError(
                    f"{root}: its column {name!r} was renamed or replaced, so that older files have columns by other names: write "
                    "it as Parquet or into a new table first"
                )


def _check_defaults(root: str, schema: Any) -> None:
    for field_id in sorted(schema.field_ids):
        default = schema.find_field(field_id).initial_default
        if default is not None:
            raise MessagesError(
                f"{root}: its column {schema.find_column_name(field_id)!r} is {default!r} in files that are older than it, which is "
                "not read: have these rewritten into a new table, or write it as Parquet first"
            )


def _check(root: str, task: Any) -> None:
    if task.delete_files:
        raise MessagesError(
            f"{root}: has deleted rows in its files (delete files): run rewrite_data_files on it, or write it as Parquet first"
        )
    if task.file.file_format.value.lower() != "parquet":
        raise MessagesError(
            f"{root}: has data in {task.file.file_format.value}, and only Parquet is read: write it as Parquet first"
        )


def _plain(columns: pa.Schema) -> pa.Schema:
    """Return the columns with text of 32-bit offsets, as files have it, and without the numbers of fields."""
    narrow = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return pa.schema([pa.field(field.name, narrow.get(field.type, field.type), field.nullable) for field in columns])


def _partition(file: Any, spec: Any, schema: Any, columns: pa.Schema) -> dict[str, pa.Scalar]:
    """Return the columns by whose values files are kept apart; a file that was added to the table may lack these."""
    found = {}
    for place, field in enumerate(spec.fields):
        name = schema.find_column_name(field.source_id)
        if isinstance(field.transform, IdentityTransform) and name in columns.names:
            value = _scalar(file.partition[place], columns.field(name).type)
            if value is not None:
                found[name] = value
    return found


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    """Return a value as a manifest has it, which knows days and microseconds as numbers; None for a type of another kind."""
    number = pa.int32() if pa.types.is_date(kind) else pa.int64()
    if isinstance(value, int) and pa.types.is_temporal(kind):
        return pa.scalar(value, number).cast(kind)
    try:
        return pa.scalar(value, kind)
    except (pa.ArrowInvalid, TypeError, ValueError):  # a UUID: it is in the file
        return None
