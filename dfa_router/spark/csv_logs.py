"""Message logs in CSV: every line is a row, and each file is read by its own first line.

Files of one log may name their columns in another order, or have other columns; one that a file lacks is null there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from dfa_router.errors import MessagesError
from dfa_router.logs.csv_lines import has_empty_text
from dfa_router.logs.marks import NO_FIELDS, NO_UTF8, READ_PROBLEM, UNREADABLE, free_name
from dfa_router.spark.log_lines import CORRUPT, as_path, shown
from dfa_router.spark.route import quoted

__all__ = ["csv_rows"]

_OPTIONS: dict[str, bool | str] = {"header": True, "quote": '"', "escape": '"', "encoding": "UTF-8"}
"""CSV as RFC 4180 writes it: Spark's own default escapes quotation marks with a backslash."""


def csv_rows(session: SparkSession, path: str, lines: DataFrame, *, is_pattern: bool) -> tuple[DataFrame, int]:
    """Return the rows of all files and how many there must be; ``lines`` are those of the files, in the column ``value``.

    Raises :class:`MessagesError` for files with different headers in partition folders that a pattern names.
    """
    numbered = lines.select(
        "value",
        _is_record(sf.col("value")).alias("record"),
        sf.col("_metadata.file_path").alias("file"),
        sf.struct("_metadata.file_block_start", sf.monotonically_increasing_id()).alias("place"),
    )
    files = numbered.groupBy("file").agg(
        sf.count("*").alias("lines"),
        sf.min_by("value", sf.when(sf.col("record"), sf.col("place"))).alias("header"),
        sf.count_if(~sf.col("record")).alias("others"),
    )
    found = files.orderBy("file").collect()
    if not found:
        raise MessagesError(
            f"{path}: there is no line in it; expected CSV, whose first line names columns, or another --format"
        )
    groups: dict[str, list[str]] = {}
    for file, _, header, _ in found:
        if header is None:
            raise MessagesError(f"{shown(file)}: no line of it is text; expected CSV, whose first line names columns")
        groups.setdefault(header.strip(), []).append(as_path(file))
    options: dict[str, bool | str] = dict(_OPTIONS)
    if len(lines.columns) == 1:  # as the lines were found: no folder names a column
        options["recursiveFileLookup"] = True
    if len(groups) < 2:
        parts = [[path]]
    elif len(lines.columns) > 1 and is_pattern:
        raise MessagesError(
            f"{path}: the files have different headers, and lie in folders such as {lines.columns[1]}=...: "
            "give the folder above these, and no pattern"
        )
    else:
        parts = list(groups.values())
        if len(lines.columns) > 1:
            options["basePath"] = path
    schemas = [session.read.options(**options).csv(part).schema for part in parts]
    taken = [name for schema in schemas for name in schema.names]
    rows = [_rows(session, part, schema, options, taken) for part, schema in zip(parts, schemas, strict=True)]
    if any(others for *_, others in found):
        rows.append(_no_records(lines, taken))
    together = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), rows)
    last = [free_name(UNREADABLE, taken), READ_PROBLEM]
    names = [name for name in together.columns if name not in last]
    ordered = [*names, *(name for name in last if name in together.columns)]
    return together.select(*map(quoted, ordered)), sum(count - 1 for _, count, *_ in found)


def _is_record(line: Column) -> Column:
    """Tell whether a line holds more than blanks and controls: Spark's reader passes over one that does not, as crashes leave them."""
    return line.rlike(r"[^\x00-\x20]")


def _no_records(lines: DataFrame, taken: Sequence[str]) -> DataFrame:
    """Return rows for the lines that Spark's reader passes over."""
    folders = [sf.col(quoted(name)) for name in lines.columns[1:]]
    kept = sf.col("value").alias(free_name(UNREADABLE, taken))
    return lines.where(~_is_record(sf.col("value"))).select(*folders, kept, sf.lit(NO_FIELDS).alias(READ_PROBLEM))


def _rows(
    session: SparkSession,
    paths: Sequence[str],
    header: StructType,
    options: dict[str, bool | str],
    taken: Sequence[str],
) -> DataFrame:
    """Return the rows of files that have one header."""
    # Without columnPruning=False a line is checked only for the columns that are used.
    read = session.read.options(
        **options, columnNameOfCorruptRecord=CORRUPT.name, enforceSchema=False, columnPruning=False
    )
    rows = read.schema(StructType([*header, CORRUPT])).csv(list(paths))
    broken = sf.col(quoted(CORRUPT.name)).isNotNull()
    texts = [sf.col(quoted(field.name)) for field in header]
    damaged = sf.concat_ws("", *texts).contains("\ufffd")
    problem = sf.when(broken, NO_FIELDS).when(damaged, NO_UTF8)
    # CSV has no null, and the empty name is that of the default exchange.
    kept = [
        sf.when(broken | text.isNotNull(), text).otherwise("").alias(field.name) if has_empty_text(field.name) else text
        for field, text in zip(header, texts, strict=True)
    ]
    if rows.where(broken).limit(1).collect():
        kept.append(sf.col(quoted(CORRUPT.name)).alias(free_name(UNREADABLE, taken)))
    return rows.select(*kept, problem.alias(READ_PROBLEM))
