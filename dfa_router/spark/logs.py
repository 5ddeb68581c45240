"""Message logs as files: Parquet, JSON lines and CSV, in and out; Delta and Iceberg tables and traces of RabbitMQ, in.

Spark's readers drop or merge what they cannot parse unless they are told otherwise. Here every line of a text format is
a row: one that is no JSON object, has another number of fields than the header, or holds bytes that are no UTF-8 is kept
and says so in a column of its own, which the routing job merges into ``problem``. Rows are counted apart from the reading,
on the raw lines, so that a row lost on the way would be noticed. The files of a log need not have the same columns: one
that a file lacks is null there.

What this leaves out: a CSV record that runs over several lines. It is read as several rows, because one stray quotation mark
would otherwise swallow the rest of a file; those with another number of fields than the header are marked, the others are not.
Write such logs as Parquet or JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructField, StructType

from dfa_router.errors import MessagesError
from dfa_router.logs.hadoop_codecs import check_codecs
from dfa_router.logs.stores import is_pattern
from dfa_router.spark.csv_logs import csv_rows
from dfa_router.spark.errors import SPARK_ERRORS, cause
from dfa_router.spark.json_logs import json_rows
from dfa_router.spark.log_lines import listing
from dfa_router.spark.parquet_logs import parquet_rows
from dfa_router.spark.route import quoted
from dfa_router.spark.table_logs import found_table, table_rows
from dfa_router.spark.trace_logs import trace_rows

__all__ = ["MessageLog", "SparkReadError", "read_messages", "reading", "writable"]


class SparkReadError(MessagesError):
    """Spark could not read a log."""


class MessageLog(NamedTuple):
    """A log as a DataFrame, and how many rows its files hold."""

    messages: DataFrame
    rows: int


def read_messages(session: SparkSession, path: str, kind: str) -> MessageLog:
    """Read a log of one of the :data:`FORMATS`; raises :class:`MessagesError` for one that cannot be read."""
    with reading(path):
        if kind == "parquet":
            found = found_table(session, path)
            messages = parquet_rows(session, path) if found is None else table_rows(session, found)
            return MessageLog(messages, messages.count())
        if kind == "trace":
            return MessageLog(*trace_rows(session, path))
        check_codecs(path)
        lines = session.read.options(**listing(session, path)).text(path).where(sf.col("value").rlike(r"\S"))
        if kind == "jsonl":
            return MessageLog(*json_rows(session, path, lines))
        return MessageLog(*csv_rows(session, path, lines, is_pattern=is_pattern(path)))


def writable(messages: DataFrame, kind: str) -> DataFrame:
    """Return the messages with the columns that a format cannot hold as text: in CSV lists are JSON."""
    if kind == "parquet":
        return messages

    def column(field: StructField) -> Column:
        value = sf.col(quoted(field.name))
        nested = isinstance(field.dataType, ArrayType | StructType | MapType) or field.dataType.typeName() == "variant"
        if kind == "csv" and nested:
            return sf.to_json(value).alias(field.name)
        if isinstance(field.dataType, BinaryType) and (kind == "csv" or field.name == "routing_key"):
            return value.cast(StringType()).alias(field.name)
        return value

    return messages.select(*map(column, messages.schema))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what Spark says about a log that it cannot read into a :class:`SparkReadError` that names it."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise SparkReadError(f"{path}: cannot be read: {cause(error)}") from error
