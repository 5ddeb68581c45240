"""Delta and Iceberg tables: which files of a folder are the table, by its log.

A table's folder also holds files that the table does not: those that were replaced, deleted from, or never committed. Whoever
takes all Parquet files in it routes messages twice, and messages that are gone. The logs are read by the libraries that keep up
with these formats, ``deltalake`` and ``pyiceberg`` (the extras ``delta`` and ``iceberg``); the files themselves are read
by whoever asks.

:func:`table_at` finds a table, :func:`read_table` reads its log. What cannot be read as plain files with columns by
name is refused with a sentence: files with deleted rows in them, renamed columns, tables of other formats (Hudi), a folder
inside of a table.

What this leaves out: catalogs, as a folder has none; and snapshots by their time.

Rejected: reading the logs here. Checkpoints, log compaction and each new feature of the protocols would have to be followed,
and what is overlooked there is a wrong answer.
"""

from __future__ import annotations

from dfa_router.tables.finding import Found, Names, local_names, table_at
from dfa_router.tables.reading import read_table
from dfa_router.tables.table import DataFile, Table

__all__ = ["DataFile", "Found", "Names", "Table", "local_names", "read_table", "table_at"]
