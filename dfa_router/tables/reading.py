"""From a table's log to its files, by the library of its format."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from dfa_router.errors import EnvironmentLacksError, MessagesError
from dfa_router.tables.finding import Found
from dfa_router.tables.table import Table

__all__ = ["read_table"]

_LIBRARIES = {"delta": "deltalake", "iceberg": "pyiceberg"}


class _Reader(Protocol):
    def read(self, found: Found) -> Table: ...


def read_table(found: Found) -> Table:
    """Return the files and columns of a table that :func:`table_at` found.

    Credentials and endpoints of remote tables are taken from the environment, as the two libraries document. Raises
    :class:`EnvironmentLacksError` where the library is not installed, and :class:`MessagesError` for a table that cannot
    be read, that has deleted rows in its files or renamed columns, or whose files are not there.

    >>> import pyarrow as pa, tempfile
    >>> from deltalake import write_deltalake
    >>> from dfa_router.tables import table_at
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_deltalake(folder.name, pa.table({"exchange": ["x"], "routing_key": ["a"], "day": [1]}), partition_by=["day"])
    >>> table = read_table(table_at(folder.name))
    >>> table.version, table.schema.names, [file.partition for file in table.files]
    (0, ['exchange', 'routing_key', 'day'], [{'day': <pyarrow.Int64Scalar: 1>}])
    >>> folder.cleanup()
    """
    library = _LIBRARIES[found.format]
    try:
        reader = cast("_Reader", import_module(f"dfa_router.tables.{found.format}"))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != library:
            raise
        raise EnvironmentLacksError(
            f"{found.root}: is {'a Delta' if found.format == 'delta' else 'an Iceberg'} table, whose log the package {library} "
            f"reads: install dfa-router[{found.format}], or write the table as Parquet first"
        ) from None
    table = reader.read(found)
    for file in table.files:
        if "://" not in file.path and not Path(file.path).is_file():
            raise MessagesError(
                f"{found.root}: its log names {file.path}, which is not there: the table was moved, or a vacuum removed old "
                "versions; route one that is whole"
            )
    return table
