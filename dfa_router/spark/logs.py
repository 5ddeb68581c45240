"""Message logs as files: Parquet, JSON lines and CSV, in and out.

Spark's readers drop or merge what they cannot parse unless they are told otherwise. Here every line of a text format is
a row: one that is no JSON object, has another number of fields than the header, or holds bytes that are no UTF-8 is kept
and says so in the column :data:`READ_PROBLEM`, which the routing job merges into ``problem``. Rows are counted apart from
the reading, on the raw lines, so that a row lost on the way would be noticed.

What this leaves out: a CSV record that runs over several lines. It is read as several malformed rows (marked), because
one stray quotation mark would otherwise swallow the rest of a file; write such logs as Parquet or JSON lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BinaryType, MapType, StringType, StructField, StructType, VariantType

from dfa_router.errors import MessagesError
from dfa_router.spark.route import free_name, quoted

__all__ = [
    "FORMATS",
    "SPARK_ERRORS",
    "cause",
    "READ_PROBLEM",
    "MessageLog",
    "format_of",
    "is_remote",
    "read_messages",
    "reading",
    "writable",
]

FORMATS = {"parquet": (".parquet", ".pq"), "jsonl": (".jsonl", ".ndjson", ".json"), "csv": (".csv",)}
"""The formats, and the file names by which each is known."""

READ_PROBLEM = "read problem"
"""The column that says what was wrong with a line; it is dropped once its text is part of ``problem``."""

UNREADABLE = "unreadable_line"
"""The column that keeps the text of lines that could not be read; a log without such lines does not get it."""

SPARK_ERRORS = (PySparkException, Py4JError, ConnectionError)
"""What PySpark raises: its own exceptions, those of its bridge to Java for exceptions of Java that it does not translate,
and connection errors where the Java process has ended."""

_CORRUPT = "line that Spark cannot parse"
"""The column in which Spark keeps the text of such lines while it reads. No log should have a column of this name, as Spark
would not read it as one of the log's."""

_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4", ".snappy")

_NO_UTF8 = "the line is not valid UTF-8: each bad byte was read as U+FFFD"
_NO_JSON = "the line is no JSON object"
_NO_FIELDS = "the line has another number of fields than the header, or a stray quotation mark"

_CSV: dict[str, bool | str] = {"header": True, "quote": '"', "escape": '"', "encoding": "UTF-8"}
"""CSV as RFC 4180 writes it: Spark's own default escapes quotation marks with a backslash."""


class MessageLog(NamedTuple):
    """A log as a DataFrame, and how many rows its files hold."""

    messages: DataFrame
    rows: int


def is_remote(path: str) -> bool:
    """Tell whether a path is a URI, such as ``s3a://bucket/log``, which only Spark can look at."""
    return "://" in path


def format_of(path: str, given: str | None = None) -> str:
    """Return the format of a log: the given one, or the one that its name or the names in its folder tell.

    Raises :class:`MessagesError` where there is nothing at that path or the names do not tell.
    """
    if not is_remote(path) and not _is_pattern(path) and not Path(path).exists():
        raise MessagesError(f"{path}: there is no such file or folder; give a message log with --messages")
    if given is not None:
        return given
    found = {kind for name in _names(path) if (kind := _known(name)) is not None}
    if len(found) == 1:
        return found.pop()
    what = (
        f"holds files of several formats ({', '.join(sorted(found))})"
        if found
        else "has no ending that tells its format"
    )
    endings = ", ".join(ending for endings in FORMATS.values() for ending in endings)
    raise MessagesError(f"{path}: {what}; known endings: {endings}. Say which with --format {'|'.join(FORMATS)}")


def read_messages(session: SparkSession, path: str, kind: str) -> MessageLog:
    """Read a log of one of the :data:`FORMATS`; raises :class:`MessagesError` for one that cannot be read."""
    with reading(path):
        if kind == "parquet":
            messages = session.read.parquet(path)
            return MessageLog(messages, messages.count())
        lines = session.read.text(path).where(sf.col("value").rlike(r"\S"))
        if kind == "jsonl":
            return MessageLog(_json_rows(session, path, lines), lines.count())
        per_file = lines.groupBy(sf.input_file_name().alias("file")).count()
        rows = per_file.agg(sf.coalesce(sf.sum(sf.col("count") - 1), sf.lit(0))).collect()[0][0]  # without the headers
        return MessageLog(_csv_rows(session, path), rows)


def writable(messages: DataFrame, kind: str) -> DataFrame:
    """Return the messages with the columns that a format cannot hold as text: in CSV lists are JSON."""
    if kind == "parquet":
        return messages

    def column(field: StructField) -> Column:
        value = sf.col(quoted(field.name))
        nested = isinstance(field.dataType, ArrayType | StructType | MapType | VariantType)
        if kind == "csv" and nested:
            return sf.to_json(value).alias(field.name)
        if isinstance(field.dataType, BinaryType) and (kind == "csv" or field.name == "routing_key"):
            return value.cast(StringType()).alias(field.name)
        return value

    return messages.select(*map(column, messages.schema))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Turn what Spark says about a log that it cannot read into a :class:`MessagesError` that names it."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise MessagesError(f"{path}: cannot be read: {cause(error)}") from error


def cause(error: BaseException) -> str:
    """Return the line of a Spark error that says what happened; the other lines say where."""
    lines = [
        line.strip() for line in str(error).splitlines() if line.strip() and not line.strip().startswith("SQLSTATE")
    ]
    if not lines:
        return type(error).__name__
    if lines[0].startswith("An error occurred while calling") and len(lines) > 1:  # py4j's text of an exception of Java
        return re.sub(r"^: (?:[\w.$]+: )?", "", lines[1])
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else lines[0]


def _json_rows(session: SparkSession, path: str, lines: DataFrame) -> DataFrame:
    inferred = session.read.option("columnNameOfCorruptRecord", _CORRUPT).json(path).schema
    fields = [field for field in inferred if field.name != _CORRUPT]
    if not fields:
        raise MessagesError(f"{path}: no line is a JSON object; expected JSON lines, or another --format")
    keys = {"exchange", "routing_key", "vhost"}
    schema = StructType(
        [StructField(field.name, StringType()) if field.name in keys else field for field in fields]
        + [StructField(_CORRUPT, StringType())]
    )
    broken_lines = len(fields) < len(inferred)
    parsed = sf.from_json("value", schema, {"columnNameOfCorruptRecord": _CORRUPT})
    rows = lines.select("value", parsed.alias("row"))
    broken = sf.col("row")[_CORRUPT].isNotNull() | ~sf.col("value").rlike(r"^\s*\{")
    problem = sf.when(broken, _NO_JSON).when(~sf.is_valid_utf8("value"), _NO_UTF8)
    kept = [sf.when(~broken, sf.col("row")[field.name]).alias(field.name) for field in fields]
    if broken_lines:
        kept.append(sf.when(broken, sf.col("value")).alias(free_name(UNREADABLE, [field.name for field in fields])))
    return rows.select(*kept, problem.alias(READ_PROBLEM))


def _csv_rows(session: SparkSession, path: str) -> DataFrame:
    header = session.read.options(**_CSV).csv(path).schema
    schema = StructType([*header, StructField(_CORRUPT, StringType())])
    # Without columnPruning=False a line is checked only for the columns that are used.
    read = session.read.options(**_CSV, columnNameOfCorruptRecord=_CORRUPT, enforceSchema=False, columnPruning=False)
    rows = read.schema(schema).csv(path)
    broken = sf.col(quoted(_CORRUPT)).isNotNull()
    texts = [sf.col(quoted(field.name)) for field in header]
    damaged = sf.concat_ws("", *texts).contains("\ufffd")
    problem = sf.when(broken, _NO_FIELDS).when(damaged, _NO_UTF8)
    # CSV has no null, and the empty name is that of the default exchange.
    kept = [
        sf.when(broken | text.isNotNull(), text).otherwise("").alias(field.name)
        if field.name in {"exchange", "routing_key"}
        else text
        for field, text in zip(header, texts, strict=True)
    ]
    if rows.where(broken).limit(1).collect():
        kept.append(sf.col(quoted(_CORRUPT)).alias(free_name(UNREADABLE, header.names)))
    return rows.select(*kept, problem.alias(READ_PROBLEM))


def _names(path: str) -> Iterator[str]:
    """Yield the names that may tell a format: that of the path, or those of the data files in a folder."""
    if is_remote(path) or _is_pattern(path) or not Path(path).is_dir():
        yield path
        return
    for file in Path(path).rglob("*"):
        if file.is_file() and not file.name.startswith(("_", ".")):
            yield file.name


def _known(name: str) -> str | None:
    plain = name.lower()
    for ending in _COMPRESSED:
        plain = plain.removesuffix(ending)
    return next((kind for kind, endings in FORMATS.items() if plain.endswith(endings)), None)


def _is_pattern(path: str) -> bool:
    return any(character in path for character in "*?[{") and not Path(path).exists()
