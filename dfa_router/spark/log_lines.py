"""What the readers of message logs share: the column that Spark adds, and the names of files as Spark gives and takes them."""

from __future__ import annotations

import re
from urllib.parse import unquote

from pyspark.sql.types import StringType, StructField

__all__ = ["CORRUPT", "as_path", "shown"]

CORRUPT = StructField("line that Spark cannot parse", StringType())
"""The column in which Spark keeps the text of such lines while it reads. No log should have a column of this name, as Spark
would not read it as one of the log's."""


def as_path(uri: str) -> str:
    r"""Return the URI of a file, as Spark tells it, as a path that Spark reads: not encoded, and no pattern.

    >>> print(as_path("file:///logs/day%201/%5Bx%5D.csv"))
    file:///logs/day 1/\[x\].csv
    """
    return re.sub(r"([*?{}\[\]\\])", r"\\\1", unquote(uri))


def shown(uri: str) -> str:
    """Return the URI of a file as people write it: a local one as its path.

    >>> shown("file:///logs/day%201.csv")
    '/logs/day 1.csv'
    """
    return unquote(uri).removeprefix("file://")
