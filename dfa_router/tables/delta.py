"""Delta tables, whose log ``deltalake`` reads.

Refused: column mapping (files have the columns by other names), deletion vectors on live files, and protocol features that
are not known here to leave the reading of files as it is. ``deltalake`` refuses versions of the protocol that it does not know.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from dfa_router.errors import MessagesError
from dfa_router.tables.finding import Found
from dfa_router.tables.table import DataFile, Table, plain_path

__all__ = ["read"]

_HARMLESS = {
    "timestampNtz",
    "vacuumProtocolCheck",
    "v2Checkpoint",
    "typeWidening",
    "typeWidening-preview",
}
"""Features of readers that do not change what a file's rows are. Widened types are those of the schema."""
_CHECKED = {"columnMapping", "deletionVectors"}
_PARTITION = "partition."


def read(found: Found) -> Table:
    """Return a Delta table; raises :class:`MessagesError`, which names the table and the remedy."""
    try:
        table = DeltaTable(plain_path(found.root))
        if found.version is not None:
            _check_version(found, table.version())
            table.load_as_version(found.version)
        _check(found.root, table)
        columns = pa.table(table.get_add_actions(flatten=True))
        schema = pa.schema(table.schema())
        version = table.version()
    except (DeltaError, OSError) as error:
        raise MessagesError(
            f"{found.root}: its Delta log cannot be read: {' '.join(str(error).split())[:300]}"
        ) from error
    keys = [name for name in columns.column_names if name.startswith(_PARTITION)]
    partitions = {key.removeprefix(_PARTITION): columns[key] for key in keys}
    types = {name: schema.field(name).type for name in partitions}
    counts = columns["num_records"].to_pylist() if "num_records" in columns.column_names else [None] * len(columns)
    files = [
        DataFile(
            path=_place(plain_path(found.root), path),
            partition={name: column[row].cast(types[name]) for name, column in partitions.items()},
            rows=count,
        )
        for row, (path, count) in enumerate(zip(columns["path"].to_pylist(), counts, strict=True))
    ]
    return Table(format="delta", version=version, files=tuple(files), schema=schema)


def _check_version(found: Found, newest: int) -> None:
    if found.version is not None and found.version > newest:
        raise MessagesError(f"{found.root}: has no version {found.version}; its newest is {newest}")


def _check(root: str, table: Any) -> None:
    protocol, settings = table.protocol(), table.metadata().configuration
    mapping = settings.get("delta.columnMapping.mode", "none")
    if mapping != "none":
        raise MessagesError(
            f"{root}: maps its columns (delta.columnMapping.mode is {mapping!r}), so that its files have them by other names: "
            "write it as Parquet or into a table without column mapping first"
        )
    features = set(protocol.reader_features or ())
    unknown = sorted(features - _HARMLESS - _CHECKED)
    if unknown:
        raise MessagesError(
            f"{root}: needs a reader with {', '.join(unknown)}, which is not known here: write it as Parquet first"
        )
    if "deletionVectors" in features and any(batch.num_rows for batch in table.deletion_vectors()):
        raise MessagesError(
            f"{root}: has deleted rows in its files (deletion vectors): run REORG TABLE ... APPLY (PURGE) on it, or write it as "
            "Parquet first"
        )


def _place(root: str, path: str) -> str:
    """Return where a file is: the log has its path in the table's folder, or a URI, encoded."""
    plain = unquote(path)
    return plain_path(plain if "://" in plain or plain.startswith(("/", "file:")) else f"{root}/{plain}")
