r"""Message logs in JSON lines: every line is a row, whatever it holds.

A line that is no JSON object is kept as it is, but for bytes that are no UTF-8. Where Spark would read something else than the line says, it is kept as well,
and is read as far as it goes: a key that stands twice, where the last value counts, as in most programs; a key that differs
from another only by its case, which Spark does not tell apart; ``\ud800``, half of a character, which no text holds.

Objects within a column may have such keys, too. Then the column holds the JSON text, in which nothing is lost.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from dfa_router.errors import MessagesError
from dfa_router.logs.marks import NO_CHARACTER, NO_JSON, NO_UTF8, OTHER_CASE, READ_PROBLEM, TWICE, UNREADABLE, free_name
from dfa_router.spark.log_lines import CORRUPT, is_utf8, well_formed
from dfa_router.spark.shapes import KEYS

__all__ = ["json_rows"]


_HIGH, _LOW = r"\\u[dD][89abAB][0-9a-fA-F]{2}", r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
"""The two escapes of which JSON makes one character beyond U+FFFF."""


def json_rows(session: SparkSession, path: str, lines: DataFrame) -> tuple[DataFrame, int]:
    """Return a row for each line, of a DataFrame with the column ``value``, and how many there must be.

    Raises :class:`MessagesError` if no line is a JSON object.
    """
    half, whole = _whole_characters(sf.col("value"))
    count, any_half, any_other = lines.agg(sf.count("*"), sf.max(half), sf.max(~_begins_object("value"))).collect()[0]
    lines = lines.select(
        "value", *((half.alias("half"), whole.alias("text")) if any_half else (sf.col("value").alias("text"),))
    )
    # Spark would find columns in arrays, and behind a byte order mark, of lines that become no rows with columns.
    inferred = _inferred(session, lines.select("text").where(_begins_object("text")))
    found = [field for field in inferred if field.name != CORRUPT.name]
    fields, dropped = _told_apart(found, _counts(lines, found))
    if not fields:
        raise MessagesError(f"{path}: no line is a JSON object; expected JSON lines, or another --format")
    options = {"columnNameOfCorruptRecord": CORRUPT.name}
    parsed = sf.from_json("text", StructType([*fields, CORRUPT]), options)
    rows = lines.select(*lines.columns, parsed.alias("row"))
    broken = sf.col("row")[CORRUPT.name].isNotNull() | ~_begins_object("text")
    odd: list[tuple[Column, str]] = []
    keys = sf.json_object_keys("text")
    if len({field.name for field in inferred}) < len(inferred):
        odd.append((sf.size(keys) > sf.size(sf.array_distinct(keys)), TWICE))
    if dropped:
        odd.append((sf.arrays_overlap(keys, sf.array(*map(sf.lit, dropped))), OTHER_CASE))
    problems = [(~is_utf8(sf.col("value")), NO_UTF8), *odd]
    if any_half:
        problems.append((sf.col("half"), NO_CHARACTER))
    problem = sf.when(broken, NO_JSON).otherwise(
        sf.nullif(sf.concat_ws("; ", *(sf.when(where, text) for where, text in problems)), sf.lit(""))
    )
    kept = [sf.when(~broken, sf.col("row")[field.name]).alias(field.name) for field in fields]
    if odd or any_other or CORRUPT.name in inferred.names:
        unread = broken
        for where, _ in odd:
            unread |= sf.coalesce(where, sf.lit(False))
        kept.append(
            sf.when(unread, well_formed(sf.col("value"))).alias(free_name(UNREADABLE, [field.name for field in fields]))
        )
    return rows.select(*kept, problem.alias(READ_PROBLEM)), count


def _begins_object(name: str) -> Column:
    return sf.col(name).rlike(r"^\s*\{")


def _inferred(session: SparkSession, texts: DataFrame) -> StructType:
    """Return the columns that Spark finds, with names that stand twice, at which it would raise if it read the file itself."""
    # Of the reader of a DataFrame; in Python it is there from Spark 4.2 on.
    java = session._jvm  # noqa: SLF001
    assert java is not None
    strings = getattr(texts._jdf, "as")(java.org.apache.spark.sql.Encoders.STRING())  # noqa: SLF001
    reader = session._jsparkSession.read().option("columnNameOfCorruptRecord", CORRUPT.name)  # noqa: SLF001
    return StructType.fromJson(json.loads(reader.json(strings).schema().json()))


def _counts(lines: DataFrame, inferred: Sequence[StructField]) -> dict[str, int]:
    """Count the lines that have each of the keys that differ by their case alone."""
    spellings: dict[str, set[str]] = {}
    for field in inferred:
        spellings.setdefault(field.name.lower(), set()).add(field.name)
    several = [name for names in spellings.values() if len(names) > 1 for name in names]
    if not several:
        return {}
    keys = lines.select(sf.explode(sf.json_object_keys("text")).alias("key")).where(sf.col("key").isin(several))
    return dict(keys.groupBy("key").count().collect())


def _told_apart(inferred: Sequence[StructField], counts: Mapping[str, int]) -> tuple[list[StructField], list[str]]:
    """Return the columns to read, and the names of those that are left out because they differ from one by its case alone.

    Of several spellings that is kept by which routing goes, or else the most frequent one.
    """
    kept: dict[str, StructField] = {}
    dropped = []
    for field in sorted(inferred, key=lambda field: (field.name not in KEYS, -counts.get(field.name, 0))):
        known = kept.get(field.name.lower())
        if known is not None and known.name != field.name:
            dropped.append(field.name)
            continue
        several = known is not None and known.dataType != field.dataType
        as_text = several or field.name in KEYS or _has_equal_names(field.dataType)
        kept[field.name.lower()] = StructField(field.name, StringType()) if as_text else field
    order = {field.name: place for place, field in enumerate(inferred)}
    return sorted(kept.values(), key=lambda field: order[field.name]), dropped


def _has_equal_names(kind: DataType) -> bool:
    """Tell whether an object anywhere in a type has two fields that Spark does not tell apart."""
    if isinstance(kind, StructType):
        return len({name.lower() for name in kind.names}) < len(kind) or any(
            _has_equal_names(field.dataType) for field in kind
        )
    if isinstance(kind, ArrayType):
        return _has_equal_names(kind.elementType)
    return isinstance(kind, MapType) and _has_equal_names(kind.valueType)


def _whole_characters(line: Column) -> tuple[Column, Column]:
    r"""Return whether a line of JSON has escapes of half a character, and the line with ``\ufffd`` in their place.

    A line holds no line feed. So one is put behind each escaped backslash and each pair of escapes that make a character,
    and what of the halves is then not followed by one stands alone. One expression that skips what is right would run out
    of Java's stack on long lines.
    """
    marked = sf.regexp_replace(line, rf"(\\\\|{_HIGH}{_LOW})", "$1\n")
    alone = rf"(?:{_HIGH}|{_LOW})(?!(?:{_LOW})?\n)"
    half = line.contains(r"\u") & line.rlike(r"\\u[dD][89a-fA-F]") & marked.rlike(alone)  # most lines have no escape
    whole = sf.regexp_replace(sf.regexp_replace(marked, alone, r"\\ufffd"), "\n", "")
    return half, sf.when(half, whole).otherwise(line)
