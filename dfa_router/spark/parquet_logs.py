"""Message logs in Parquet: files of one log may have different columns, and a column that a file lacks is null there.

Spark alone takes the columns of one file for those of all: where that file lacks ``vhost``, it drops the others'.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import ArrayType, DataType, DecimalType, MapType, StructType

from dfa_router.errors import MessagesError
from dfa_router.spark.errors import SPARK_ERRORS
from dfa_router.spark.log_lines import as_path, listing, shown

__all__ = ["parquet_rows"]


def parquet_rows(session: SparkSession, path: str) -> DataFrame:
    """Return the rows of all files with the columns of all files; reads the footer of each file.

    Raises :class:`MessagesError` for a column that has different types, which names two files, the types and the remedy.
    """
    options = listing(session, path)
    try:
        return _reader(session, path, **options)
    except SPARK_ERRORS as error:
        if not _is_conflict(error):
            raise
        raise _conflict(session, path, options) from error


def _reader(session: SparkSession, *paths: str, **options: bool) -> DataFrame:
    return session.read.options(mergeSchema=True, **options).parquet(*paths)


def _is_conflict(error: BaseException) -> bool:
    return "CANNOT_MERGE_SCHEMAS" in str(error)


def _conflict(session: SparkSession, path: str, options: Mapping[str, bool]) -> MessagesError:
    """Find two files that differ, by halving: Spark merges the footers of many files in one job."""
    files = sorted(session.read.options(**options).parquet(path).inputFiles())
    later = _smallest(len(files), lambda count: _columns(session, files[:count]) is None)
    own = _columns(session, files[later - 1 : later])
    earlier = _smallest(later - 1, lambda count: _differing(_columns(session, files[:count]), own) is not None)
    before = _columns(session, files[earlier - 1 : earlier])
    name = _differing(before, own)
    if own is None or before is None or name is None:
        return MessagesError(f"{path}: its files were changed while they were read: route a copy of the folder")
    types = [schema[name].dataType.simpleString() for schema in (own, before)]
    hint = "; a column of nothing but nulls is written as int where no type is given" if "int" in types else ""
    return MessagesError(
        f"{shown(files[later - 1])}: column {name!r} is {types[0]}, but {types[1]} in {shown(files[earlier - 1])}: "
        f"write it with one type in all files, or route these files apart{hint}"
    )


def _smallest(count: int, holds: Callable[[int], bool]) -> int:
    """Return the smallest number up to ``count`` from which on a condition holds, or ``count``."""
    return min(bisect_left(range(1, count + 1), True, key=holds) + 1, count)


def _columns(session: SparkSession, files: Sequence[str]) -> StructType | None:
    """Return the columns of several files, or None where they do not go together."""
    try:
        return _reader(session, *map(as_path, files)).schema
    except SPARK_ERRORS as error:
        if not _is_conflict(error):
            raise
        return None


def _differing(one: StructType | None, other: StructType | None) -> str | None:
    """Return the name of the first column whose types do not go together, or None."""
    if one is None or other is None:
        return None
    types = {field.name: field.dataType for field in one}
    return next((field.name for field in other if not _fit(types.get(field.name), field.dataType)), None)


def _fit(one: DataType | None, other: DataType) -> bool:
    """Tell whether Spark makes one type of two."""
    if isinstance(one, StructType) and isinstance(other, StructType):
        return _differing(one, other) is None
    if isinstance(one, ArrayType) and isinstance(other, ArrayType):
        return _fit(one.elementType, other.elementType)
    if isinstance(one, MapType) and isinstance(other, MapType):
        return _fit(one.keyType, other.keyType) and _fit(one.valueType, other.valueType)
    if isinstance(one, DecimalType) and isinstance(other, DecimalType):
        return one.scale == other.scale
    return one is None or one == other
