"""What the readers of message logs share: the column that Spark adds, which files it takes, and their names as it gives and takes them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from dfa_router.counted import counted
from dfa_router.errors import MessagesError

__all__ = ["CORRUPT", "as_path", "escaped", "is_utf8", "listing", "shown", "well_formed"]

CORRUPT = StructField("line that Spark cannot parse", StringType())
"""The column in which Spark keeps the text of such lines while it reads. No log should have a column of this name, as Spark
would not read it as one of the log's."""


def listing(session: SparkSession, path: str) -> dict[str, bool]:
    """Return the options with which Spark reads all files of a log, those in folders among them.

    By itself it passes over files in folders, unless these name columns; then over files beside these folders. Raises
    :class:`MessagesError` for the latter, which cannot be read together.
    """
    below = {"recursiveFileLookup": True}
    if len(session.read.schema(StructType([CORRUPT])).text(path).columns) == 1:
        return below

    def files(**options: bool) -> DataFrame:
        return session.read.format("binaryFile").options(**options).load(path).select("_metadata.file_path")

    passed_over = sorted(row[0] for row in files(**below).subtract(files()).collect())
    if passed_over:
        more = f" and {counted(len(passed_over) - 1, 'more file')} lie" if len(passed_over) > 1 else " lies"
        raise MessagesError(
            f"{path}: {shown(passed_over[0])}{more} beside folders that name columns (column=value), and would be left out: move such "
            "files into such a folder, or route them apart"
        )
    return {}


def as_path(uri: str) -> str:
    r"""Return the URI of a file, as Spark tells it, as a path that Spark reads: not encoded, and no pattern.

    >>> print(as_path("file:///logs/day%201/%5Bx%5D.csv"))
    file:///logs/day 1/\[x\].csv
    """
    return escaped(unquote(uri))


def escaped(path: str) -> str:
    """Return a path as Spark reads it: no pattern."""
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", path)


def is_utf8(line: Column) -> Column:
    """Return whether the bytes of a line, which Spark takes for text as they are, are text."""
    if hasattr(sf, "is_valid_utf8"):
        return sf.is_valid_utf8(line)
    # Before Spark 4.0, whose decode() raises at them, bad bytes are read as U+FFFD, and so come back as others.
    held = line.cast("binary")
    return sf.encode(sf.decode(held, "UTF-8"), "UTF-8") == held


def well_formed(line: Column) -> Column:
    """Return the text of a line, with U+FFFD for bytes that are none: readers of Parquet other than Spark refuse these."""
    if hasattr(sf, "make_valid_utf8"):
        return sf.make_valid_utf8(line)
    return sf.decode(line.cast("binary"), "UTF-8")


def shown(uri: str) -> str:
    """Return the URI of a file as people write it: a local one as its path.

    >>> shown("file:///logs/day%201.csv")
    '/logs/day 1.csv'
    """
    return re.sub("^file:/+", "/", unquote(uri))
