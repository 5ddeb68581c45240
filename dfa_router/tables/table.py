"""A table at one version: its live data files, and the columns that they have together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

__all__ = ["DataFile", "Table", "plain_path"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    """A live Parquet file of a table."""

    path: str
    """Its absolute path, if it is local, or its URI. Nothing in it is encoded, and nothing is a pattern."""
    partition: Mapping[str, pa.Scalar]
    """The values of columns that are the same in all its rows, of the types that the schema says. The file may lack them, and
    where it has them these count."""
    rows: int | None
    """How many rows it has, as far as the log says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The files and columns of a table. A column that a file has neither among its own nor in its partition is null there."""

    format: str
    """``"delta"`` or ``"iceberg"``."""
    version: int
    """The version of a Delta table; the snapshot of an Iceberg table, or -1 where it has none yet."""
    files: tuple[DataFile, ...]
    schema: pa.Schema
    """The columns in their order; a file may have others as well, which are none of the table's."""


def plain_path(path: str) -> str:
    """Return a path or URI with nothing encoded: a local one as an absolute path, another one as it is.

    >>> plain_path("file:///logs/day 1"), plain_path("s3://bucket/logs")
    ('/logs/day 1', 's3://bucket/logs')
    """
    if path.startswith("file:"):
        return "/" + path.removeprefix("file:").lstrip("/")
    return path if "://" in path else str(Path(path).absolute())
