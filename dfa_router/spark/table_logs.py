"""Message logs in Delta and Iceberg tables: the files that the table's log names, with the columns that it says.

The values of partitions are those of the log, and are joined by the files' names: what folders are called is encoded in
several ways, and is no text but ``null`` where a value is null.

Rejected: Spark's own readers for these tables. They are packages of the JVM, which plain PySpark does not have.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from urllib.parse import unquote

import pyarrow as pa
from pyarrow import fs
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from dfa_router.logs.marks import free_name
from dfa_router.logs.stores import STORE_ERRORS, is_remote, place_of
from dfa_router.spark.log_lines import escaped
from dfa_router.spark.route import quoted
from dfa_router.tables import Found, Table, read_table, table_at

__all__ = ["found_table", "table_rows"]


def found_table(session: SparkSession, path: str) -> Found | None:
    """Return the table at a path or URI; raises :class:`MessagesError` as :func:`table_at` does.

    In a store that Arrow knows, Arrow looks: plain Spark has no connector for most of them. Else Spark does.
    """
    if not is_remote(path):
        return table_at(path)
    try:
        known = place_of(path) is not None
    except STORE_ERRORS:
        known = False
    if known:
        uri, mark, options = path.partition("?")
        return table_at(uri, lambda folder, pattern: _names_in_store(folder + mark + options, pattern))
    jvm, configuration = session._jvm, session._jsc.hadoopConfiguration()  # noqa: SLF001

    assert jvm is not None

    def names(folder: str, pattern: str) -> Sequence[str]:
        place = jvm.org.apache.hadoop.fs.Path(f"{escaped(folder)}/{pattern}")
        return [status.getPath().getName() for status in place.getFileSystem(configuration).globStatus(place) or ()]

    return table_at(path, names)


def _names_in_store(folder: str, pattern: str) -> Sequence[str]:
    """Return the names in a folder that a pattern has; none where the folder may not be looked at, as above a log."""
    place = place_of(folder)
    assert place is not None, "of the scheme of the log"
    try:
        if "*" not in pattern:
            return [pattern] * (place.store.get_file_info(place.beside(pattern).path).type != fs.FileType.NotFound)
        infos = place.store.get_file_info(fs.FileSelector(place.path, allow_not_found=True))
    except STORE_ERRORS:
        return []
    return fnmatch.filter([info.base_name for info in infos], pattern)


def table_rows(session: SparkSession, found: Found) -> DataFrame:
    """Return the rows of a table, with the columns of its schema; raises :class:`MessagesError` for one that is refused."""
    table = read_table(found)
    columns = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    if not table.files:
        return session.createDataFrame([], columns)
    rows = session.read.schema(columns).parquet(*(escaped(file.path) for file in table.files))
    names = [name for name in table.schema.names if any(name in file.partition for file in table.files)]
    if not names:
        return rows
    place = free_name("file", table.schema.names)
    parts = _frame(session, _partitions(table, names, place, rows.inputFiles()))
    # Two equal names would be two columns: those of the partition have another until the end.
    parts = parts.withColumnsRenamed({name: f"{place}.{name}" for name in names})
    placed = rows.withColumn(place, sf.regexp_replace("_metadata.file_path", "^file:/+", "/"))
    joined = placed.join(sf.broadcast(parts), place, "left")
    return joined.select(*(_column(name, place, is_partition=name in names) for name in table.schema.names))


def _frame(session: SparkSession, rows: pa.Table) -> DataFrame:
    columns = from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)
    if int(session.version.split(".")[0]) >= 4:  # before, no table of Arrow is taken
        return session.createDataFrame(rows, columns)
    return session.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], columns)


def _column(name: str, place: str, *, is_partition: bool) -> Column:
    own = sf.col(quoted(name))
    if not is_partition:
        return own
    given = sf.col(quoted(f"{place}.{name}"))
    return sf.when(given.isNotNull(), given["value"]).otherwise(own).alias(name)


def _partitions(table: Table, names: Sequence[str], place: str, uris: Sequence[str]) -> pa.Table:
    """Return a row for each file: its URI as Spark tells it, and the values of the columns; a null where there is no value."""
    files = {file.path: file for file in table.files}
    places = [re.sub("^file:/+", "/", uri) for uri in uris]
    parts = [files[unquote(at)].partition for at in places]

    def values(name: str) -> pa.StructArray:
        kind = table.schema.field(name).type
        given = [{"value": part[name].as_py()} if name in part else None for part in parts]
        return pa.array(given, pa.struct([("value", kind)]))

    return pa.table([places, *map(values, names)], [place, *names])
