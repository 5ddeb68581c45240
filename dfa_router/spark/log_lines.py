"""What the readers of message logs share: the column that Spark adds, and the names of files as Spark gives and takes them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pyspark.sql import Column
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField

__all__ = ["CORRUPT", "as_path", "escaped", "is_utf8", "shown"]

CORRUPT = StructField("line that Spark cannot parse", StringType())
"""The column in which Spark keeps the text of such lines while it reads. No log should have a column of this name, as Spark
would not read it as one of the log's."""


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


def shown(uri: str) -> str:
    """Return the URI of a file as people write it: a local one as its path.

    >>> shown("file:///logs/day%201.csv")
    '/logs/day 1.csv'
    """
    return unquote(uri).removeprefix("file://")
